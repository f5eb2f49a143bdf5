-- The programs of programs.tsc in Lua, for Lua 5.4 and for LuaJIT (Lua 5.1): the same work, the same
-- answers. `programs.lua NAME SIZE` prints the answer and the processor milliseconds it took.
local programs, floor, format = {}, math.floor, string.format

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
programs.fib = fib

function programs.loops(n)
  local total, i = 0, 0
  while i < n do
    total = total + i % 7 * 3 - 1
    i = i + 1
  end
  for k = 0, n - 1 do total = total + k % 4 end
  return total
end

function programs.mandelbrot(n)
  local inside = 0
  for row = 0, n - 1 do
    local ci = 2.0 * row / n - 1.0
    for column = 0, n - 1 do
      local cr = 2.0 * column / n - 1.5
      local zr, zi, steps = 0.0, 0.0, 0
      while steps < 50 and zr * zr + zi * zi <= 4.0 do
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        steps = steps + 1
      end
      inside = inside + steps
    end
  end
  return inside
end

function programs.sieve(n)
  local prime, count = {}, 0
  for i = 0, n do prime[i] = true end
  for i = 2, n do
    if prime[i] then
      count = count + 1
      for k = i * i, n, i do prime[k] = false end
    end
  end
  return count
end

local function planet(k)
  return {
    x = 1.0 + 1.7 * k, y = 0.3 * k * (k % 3 - 1), z = 0.05 * k,
    vx = 0.02 * k, vy = 1.0 / (1.0 + k), vz = 0.001 * k,
    mass = k == 0 and 1.0 or 0.001 * k,
  }
end

function programs.nbody(steps)
  local planets = {}
  for k = 0, 4 do planets[k] = planet(k) end
  for _ = 1, steps do
    for i = 0, 4 do
      local p = planets[i]
      for k = i + 1, 4 do
        local q = planets[k]
        local dx, dy, dz = p.x - q.x, p.y - q.y, p.z - q.z
        local square = dx * dx + dy * dy + dz * dz + 0.01
        local pull = 0.001 / (square * square ^ 0.5)
        p.vx = p.vx - dx * q.mass * pull
        p.vy = p.vy - dy * q.mass * pull
        p.vz = p.vz - dz * q.mass * pull
        q.vx = q.vx + dx * p.mass * pull
        q.vy = q.vy + dy * p.mass * pull
        q.vz = q.vz + dz * p.mass * pull
      end
    end
    for i = 0, 4 do
      local p = planets[i]
      p.x = p.x + 0.001 * p.vx
      p.y = p.y + 0.001 * p.vy
      p.z = p.z + 0.001 * p.vz
    end
  end
  local total = 0
  for i = 0, 4 do total = total + planets[i].x end
  return format('%.9f', total)
end

function programs.spectral(n)
  local function entry(i, k) return 1.0 / ((i + k) * (i + k + 1) / 2 + i + 1) end
  local function times(v, transposed)
    local out = {}
    for i = 0, n - 1 do
      local total = 0.0
      for k = 0, n - 1 do
        total = total + (transposed and entry(k, i) or entry(i, k)) * v[k]
      end
      out[i] = total
    end
    return out
  end
  local u, v = {}, nil
  for i = 0, n - 1 do u[i] = 1.0 end
  for _ = 1, 5 do
    v = times(times(u, false), true)
    u = times(times(v, false), true)
  end
  local top, bottom = 0.0, 0.0
  for i = 0, n - 1 do
    top = top + u[i] * v[i]
    bottom = bottom + v[i] * v[i]
  end
  return format('%.9f', (top / bottom) ^ 0.5)
end

local Account = {}
Account.__index = Account
function Account.new(class, rate) return setmetatable({rate = rate, total = 0}, class) end
function Account:share() return 1 end
function Account:take(amount)
  self.total = (self.total + amount * self:share()) % 1000003
  return self
end
local Saver = setmetatable({}, {__index = Account})
Saver.__index = Saver
function Saver:share() return self.rate * 2 end

function programs.methods(n)
  local plain, saver = Account.new(Account, 3), Account.new(Saver, 5)
  for i = 0, n - 1 do
    plain:take(i % 5)
    saver:take(i % 3)
  end
  return plain.total + saver.total
end

function programs.attributes(n)
  local p, q = {x = 1, y = 2}, {x = 3, y = 4}
  for i = 0, n - 1 do
    p.x = (p.x + q.y) % 1009
    q.y = (q.y + p.y + i) % 1013
    p.y = (p.y + q.x) % 1019
    q.x = (q.x + p.x) % 1021
  end
  return p.x + p.y + q.x + q.y
end

function programs.closures(n)
  local function adder(k) return function(x) return x + k end end
  local adders, total = {}, 0
  for k = 0, 9 do adders[k] = adder(k) end
  for i = 0, n - 1 do total = adders[i % 10](total) % 1000003 end
  return total
end

function programs.trees(depth)
  local function make(d)
    if d == 0 then return {} end
    return {make(d - 1), make(d - 1)}
  end
  local function count(tree)
    if tree[1] == nil then return 1 end
    return 1 + count(tree[1]) + count(tree[2])
  end
  local total = 0
  for _ = 1, 20 do total = total + count(make(depth)) end
  return total
end

function programs.words(n)
  local counts, state = {}, 12345
  for _ = 1, n do
    state = state * 16807 % 2147483647
    local key = 'key' .. format('%d', state % 5000)
    counts[key] = (counts[key] or 0) + 1
  end
  local keys, parts, total = {}, {}, 0
  for key in pairs(counts) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do parts[#parts + 1] = key .. '=' .. format('%d', counts[key]) end
  local text = table.concat(parts, ',')
  for part in string.gmatch(text, '[^,]+') do
    local key, value = string.match(part, '([^=]+)=(.+)')
    if counts[key] then total = total + tonumber(value) end
  end
  return format('%d:%d', total, #text)
end

function programs.dicts(n)
  local counts, keys, total = {}, {}, 0
  for i = 0, n - 1 do
    local key = i * 7919 % 10007
    local value = counts[key]
    if value then
      counts[key] = value + i % 3
    else
      counts[key] = 1
      keys[#keys + 1] = key
    end
  end
  for _, key in ipairs(keys) do total = (total + key * counts[key]) % 1000003 end
  return total
end

function programs.formats(n)
  local length = 0
  for i = 0, n - 1 do length = length + #format('%d: %.2f %5d', i, i * 0.5, i % 100) end
  return length
end

function programs.exceptions(n)
  local function checked(i)
    if i % 3 == 0 then error({i}) end
    return i
  end
  local caught, total = 0, 0
  for i = 0, n - 1 do
    local fine, value = pcall(checked, i)
    if fine then total = total + value % 10 else caught = caught + 1 end
  end
  return total * 1000 + caught % 1000
end

function programs.generators(n)
  local yield = coroutine.yield
  local function numbers(count)
    return coroutine.wrap(function() for i = 0, count - 1 do yield(i) end end)
  end
  local function even(source)
    return coroutine.wrap(function()
      for i in source do if i % 2 == 0 then yield(i) end end
    end)
  end
  local total = 0
  for i in even(numbers(n)) do total = (total + i) % 1000003 end
  return total
end

function programs.sort(n)
  local state, items, pairs_ = 42, {}, {}
  for i = 1, n do
    state = state * 16807 % 2147483647
    items[i] = state
  end
  table.sort(items)
  for i, x in ipairs(items) do pairs_[i] = {x % 1009, x} end
  table.sort(pairs_, function(a, b)
    return a[1] * 2147483647 + a[2] < b[1] * 2147483647 + b[2]
  end)
  return items[floor(n / 2) + 1] + pairs_[floor(n / 3) + 1][2]
end

local start = os.clock()
local answer = programs[arg[1]](tonumber(arg[2]))
local milliseconds = (os.clock() - start) * 1000
if type(answer) == 'number' then answer = format('%d', answer) end
print(answer, milliseconds)
