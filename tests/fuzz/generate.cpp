#include "generate.h"

#include <algorithm>
#include <vector>

namespace tsc::fuzz {
namespace {

// splitmix64: small, and the same on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T, std::size_t N>
  const T& pick(const T (&items)[N]) {
    return items[below(static_cast<int>(N))];
  }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
  }

 private:
  uint64_t state_;
};

using Shape = std::vector<int>;

struct Variable {
  std::string name;
  Shape shape;
};

constexpr const char* kUnary[] = {"torch.relu({})",
                                  "torch.tanh({})",
                                  "torch.sigmoid({})",
                                  "torch.abs({})",
                                  "-{}",
                                  "torch.exp({} * 0.1)",
                                  "torch.sin({})",
                                  "torch.cos({})",
                                  "({} * {})",
                                  "torch.sqrt(torch.abs({}) + 0.5)",
                                  "F.gelu({})",
                                  "{}.clamp(-1.0, 1.0)",
                                  "(torch.floor({}) + {})",
                                  "{}.float()"};
constexpr const char* kBinary[] = {"({} + {})", "({} - {})", "({} * {})", "torch.where({} > {}, 1.0, 0.5)"};
// Both operands must be tensors.
constexpr const char* kTensorBinary[] = {"({} / ({}.abs() + 1))", "torch.maximum({}, {})", "torch.minimum({}, {})"};
constexpr const char* kNumbers[] = {"0.5", "2", "-1.25", "3.0", "k", "(k + 1)", "0.0", "1e-3"};
constexpr int kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 65};

std::string fill(std::string pattern, const std::string& a, const std::string& b) {
  bool first = true;
  for (std::size_t at = pattern.find("{}"); at != std::string::npos; at = pattern.find("{}", at)) {
    const std::string& value = first ? a : b;
    pattern.replace(at, 2, value);
    at += value.size();
    first = false;
  }
  return pattern;
}

std::string sizes_text(const Shape& shape) {
  std::string text;
  for (int size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string run() {
    out_ = "import torch\nimport torch.nn.functional as F\n\n";
    gradients_ = random_.chance(50);
    if (random_.chance(40)) helper();
    helpers_of_history();
    const int inputs = 1 + random_.below(3);
    std::string parameters = "k, log";
    for (int i = 0; i < inputs; ++i) {
      arguments_.push_back({"x" + std::to_string(i), shape()});
      parameters += ", " + arguments_.back().name;
    }
    if (random_.chance(60)) repeated_function();
    line("@torch.compile");
    line("def f(" + parameters + "):");
    variables_ = arguments_;
    ++indent_;
    const int count = 3 + random_.below(10);
    for (int i = 0; i < count; ++i) statement(0);
    line("return " + result());
    --indent_;
    line("");
    calls();
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += std::string(static_cast<std::size_t>(indent_) * 4, ' ') + text + "\n"; }

  Shape shape() {
    Shape made;
    const int rank = random_.below(10) < 7 ? 2 : random_.below(4);
    for (int i = 0; i < rank; ++i) made.push_back(random_.pick(kSizes));
    return made;
  }

  Variable& variable() {
    return variables_[static_cast<std::size_t>(random_.below(static_cast<int>(variables_.size())))];
  }

  // Another variable that broadcasts with `shape`, or a number.
  std::string partner(const Shape& with) { return random_.chance(40) ? random_.pick(kNumbers) : tensor_partner(with); }

  // There is always one: the variable itself.
  std::string tensor_partner(const Shape& with) {
    std::vector<std::string> fitting;
    for (const Variable& v : variables_)
      if (v.shape == with || v.shape.empty()) fitting.push_back(v.name);
    return random_.pick(fitting);
  }

  void define(const std::string& expression, Shape made) {
    // Sometimes an old name gets the new value.
    if (random_.chance(20)) {
      Variable& old = variable();
      if (old.name[0] == 'v') {
        line(old.name + " = " + expression);
        old.shape = std::move(made);
        return;
      }
    }
    const std::string name = "v" + std::to_string(made_++);
    line(name + " = " + expression);
    variables_.push_back({name, std::move(made)});
  }

  void helper() {
    out_ +=
        "class Block:\n"
        "    def __init__(self, scale):\n"
        "        self.scale = scale\n"
        "        self.calls = 0\n\n"
        "    def __call__(self, x):\n"
        "        self.calls += 1\n"
        "        return torch.tanh(x * self.scale)\n\n"
        "block = Block(0.75)\n\n";
    has_helper_ = true;
  }

  // A function of two tensors like the first argument, long enough that the compiler follows it once for all calls of
  // one form; what it reads of its object may differ from call to call.
  void repeated_function() {
    out_ +=
        "class Part:\n"
        "    def __init__(self, scale, flag):\n"
        "        self.scale = scale\n"
        "        self.flag = flag\n"
        "        self.bias = torch.ones(1) * scale\n"
        "        self.steps = [scale, 2]\n\n"
        "parts = [Part(s, f) for s, f in [(2, True), (2, True), (2, True), (2, False), (3, True), (2, True), (0.5, "
        "True)]]\n"
        "parts.append(parts[1])\n\n";
    const Shape& shape = arguments_[0].shape;
    line("def work(part, k, log, a, b):");
    ++indent_;
    variables_ = {{"a", shape}, {"b", shape}};
    line("c = a * part.scale + part.bias if part.flag else b - a");
    line("for n in range(5):");
    line("    for s in part.steps:");
    line("        c = c * 0.5 + b * s - n");
    variables_.push_back({"c", shape});
    const int count = 1 + random_.below(6);
    for (int i = 0; i < count; ++i) statement(1);
    std::vector<std::string> fitting;
    for (const Variable& v : variables_)
      if (v.shape == shape) fitting.push_back(v.name);
    line("return " + random_.pick(fitting));
    --indent_;
    line("");
    has_repeated_ = true;
  }

  // Calls of it, one on the results of the other or on the same tensors.
  void call_repeated() {
    if (!has_repeated_ || indent_ == 0 || variables_[0].name == "a") return elementwise();
    const Shape& shape = arguments_[0].shape;
    std::vector<std::string> names;
    for (const Variable& v : variables_)
      if (v.shape == shape) names.push_back(v.name);
    if (names.empty()) return elementwise();
    const std::string own = "w" + std::to_string(made_++);
    line(own + " = " + random_.pick(names) + " * 1.5");
    std::string other = random_.pick(names);
    if (random_.chance(60)) {
      line("for part in parts" + std::string(random_.chance(50) ? "" : "[1:6]") + ":");
      line("    " + own + " = work(part, k, log, " + own + ", " + other + ")");
    } else {
      const int count = 3 + random_.below(4);
      for (int i = 0; i < count; ++i) {
        if (random_.chance(30)) other = random_.chance(30) ? own : random_.pick(names);
        line(own + " = work(parts[" + std::to_string(random_.below(8)) + "], k, log, " + own + ", " + other + ")");
      }
    }
    variables_.push_back({own, shape});
  }

  // What leaves the compiler, and a second compiled function, which makes the history one of two calls.
  void helpers_of_history() {
    out_ +=
        "leaves = []\n\n"
        "@torch.compiler.disable\n"
        "def opaque(x):\n"
        "    return torch.sin(x) + x * 0.25\n\n"
        "@torch.compile\n"
        "def after(a):\n"
        "    b = torch.tanh(a)\n"
        "    c = b.reshape(-1)\n"
        "    d = a * b + b\n"
        "    return d, c, a.unsqueeze(0)\n\n";
  }

  void statement(int depth) {
    if (depth == 0 && random_.chance(20)) return call_repeated();
    switch (random_.below(depth < 2 ? 20 : 14)) {
      case 0:
      case 1:
      case 2: return elementwise();
      case 3: return binary();
      case 4: return reduction();
      case 5: return view();
      case 6: return product();
      case 7: return in_place();
      case 8: return row_function();
      case 9: return effect();
      case 10: return call_helper();
      case 11: return leave();
      case 12: return leaf();
      case 13: return view();
      case 14: return branch_on_number(depth);
      case 15: return branch_on_tensor(depth);
      case 16: return loop(depth);
      case 17: return guarded(depth);
      default: return binary();
    }
  }

  void elementwise() {
    const Variable v = variable();
    define(fill(random_.pick(kUnary), v.name, v.name), v.shape);
  }

  void binary() {
    const Variable v = variable();
    if (random_.chance(40)) define(fill(random_.pick(kTensorBinary), v.name, tensor_partner(v.shape)), v.shape);
    else define(fill(random_.pick(kBinary), v.name, partner(v.shape)), v.shape);
  }

  void reduction() {
    const Variable v = variable();
    static constexpr const char* kNames[] = {"sum", "mean"};
    const std::string name = random_.pick(kNames);
    if (!v.shape.empty() && random_.chance(20)) return define(found(v) + "." + name + "()", {});
    if (v.shape.empty() || random_.chance(30)) return define(v.name + "." + name + "()", {});
    const int dim = random_.below(static_cast<int>(v.shape.size()));
    Shape made = v.shape;
    const bool keep = random_.chance(50);
    if (keep) made[static_cast<std::size_t>(dim)] = 1;
    else made.erase(made.begin() + dim);
    const std::string axis = std::to_string(random_.chance(50) ? dim : dim - static_cast<int>(v.shape.size()));
    define(v.name + "." + name + "(dim=" + axis + (keep ? ", keepdim=True)" : ")"), made);
    if (keep) define(v.name + " - " + variables_.back().name, v.shape);
  }

  // Elements that a condition finds: how many there are only the run knows.
  std::string found(const Variable& v) {
    const std::string mask = "[" + v.name + " > " + (random_.chance(50) ? "0" : "-0.5") + "]";
    switch (random_.below(4)) {
      case 0: return v.name + mask;
      case 1: return "(" + v.name + mask + " * " + v.name + mask + ")";
      case 2: return "torch.cat([" + v.name + mask + ", " + v.name + ".flatten()[:1]])";
      default: return v.name + ".flatten()[(" + v.name + ".flatten() < 1).nonzero().flatten()]";
    }
  }

  void view() {
    const Variable v = variable();
    if (v.shape.size() < 2) return define(v.name + ".unsqueeze(0)", prepend(v.shape));
    Shape made = v.shape;
    switch (random_.below(4)) {
      case 0: std::swap(made[0], made[1]); return define(v.name + ".transpose(0, 1)", made);
      case 1: {
        int count = 1;
        for (int size : made) count *= size;
        return define(v.name + ".reshape(" + std::to_string(count) + ")", {count});
      }
      case 2:
        if (made[0] < 2) return elementwise();
        made[0] = (made[0] - 1 + 1) / 2;
        return define(v.name + "[1::2]", made);
      default:
        if (made[0] < 1) return elementwise();
        made.erase(made.begin());
        return define(v.name + "[" + std::to_string(random_.below(v.shape[0])) + "]", made);
    }
  }

  static Shape prepend(const Shape& shape) {
    Shape made = {1};
    made.insert(made.end(), shape.begin(), shape.end());
    return made;
  }

  void product() {
    const Variable v = variable();
    if (v.shape.size() != 2) return binary();
    define("(" + v.name + " @ " + v.name + ".t()) * 0.125", {v.shape[0], v.shape[0]});
  }

  void in_place() {
    Variable& v = variable();
    static constexpr const char* kForms[] = {"{}.mul_(0.5)", "{}.add_({})",  "{} += 1",  "{}.mul_({})",
                                             "{} -= {}",     "{}[...] = {}", "{}.sin_()"};
    // An argument may be a leaf with a gradient, which may not be written.
    if (v.name[0] == 'x') return elementwise();
    line(fill(random_.pick(kForms), v.name, random_.chance(50) ? "0.25" : tensor_partner(v.shape)));
  }

  // The compiler is left in the middle: what follows is another region.
  void leave() {
    const Variable v = variable();
    switch (random_.below(3)) {
      case 0: return define("opaque(" + v.name + ")", v.shape);
      case 1: return line("print(" + v.name + ".sum())");
      default: return line("log.append(" + v.name + ".sum() * 0.5)");
    }
  }

  // A leaf of the function's own.
  void leaf() {
    if (!gradients_) return elementwise();
    const Variable v = variable();
    line("own = torch.ones(" + tuple(v.shape) + ").requires_grad_()");
    line("leaves.append(own)");
    define("(" + v.name + " * own)", v.shape);
  }

  void row_function() {
    const Variable v = variable();
    if (v.shape.empty() || v.shape.back() == 0) return elementwise();
    static constexpr const char* kForms[] = {"torch.softmax({}, dim=-1)", "F.log_softmax({}, dim=-1)",
                                             "F.layer_norm({}, ({}.shape[-1],))"};
    define(fill(random_.pick(kForms), v.name, v.name), v.shape);
  }

  void effect() {
    const Variable v = variable();
    switch (random_.below(4)) {
      case 0: return line("print('at', k, " + v.name + ".shape)");
      case 1: return line("log.append(k)");
      case 2: return line("print('sum', " + v.name + ".sum().item())");
      default: return line("log.append(" + v.name + ".mean())");
    }
  }

  void call_helper() {
    if (!has_helper_) return elementwise();
    const Variable v = variable();
    define("block(" + v.name + ")", v.shape);
  }

  // A nested block: what it defines is not visible afterwards.
  void block(int depth) {
    ++indent_;
    const std::vector<Variable> outer = variables_;
    const int count = 1 + random_.below(2);
    for (int i = 0; i < count; ++i) statement(depth + 1);
    // A name that changes its shape inside may not be used outside: give every outer name back.
    for (const Variable& before : outer)
      for (const Variable& after : variables_)
        if (before.name == after.name && before.shape != after.shape)
          line(before.name + " = torch.zeros(" + tuple(before.shape) + ")");
    variables_ = outer;
    --indent_;
  }

  static std::string tuple(const Shape& shape) { return "(" + sizes_text(shape) + (shape.size() == 1 ? ",)" : ")"); }

  void branch_on_number(int depth) {
    line("if k " + std::string(random_.chance(50) ? "> 1" : "== 0") + ":");
    block(depth);
    if (!random_.chance(50)) return;
    line("else:");
    block(depth);
  }

  void branch_on_tensor(int depth) {
    const std::string name = variable().name;
    const char* conditions[] = {".sum() > 0:", ".abs().max() < 3:", ".sum().item() < 100:", ".isnan().any():"};
    line((random_.chance(30) ? "if not " : "if ") + name + random_.pick(conditions));
    block(depth);
    if (random_.chance(20)) line("assert " + name + ".mean() < 50, 'large'");
    if (!random_.chance(40)) return;
    line("else:");
    block(depth);
  }

  void loop(int depth) {
    line("for i in range(" + std::string(random_.chance(50) ? "k" : "3") + "):");
    block(depth);
  }

  void guarded(int depth) {
    line("try:");
    block(depth);
    line("except RuntimeError as e:");
    ++indent_;
    line("print('caught', e)");
    --indent_;
  }

  std::string result() {
    std::string text;
    const int count = 1 + random_.below(3);
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + variable().name;
    returns_ = count;
    return text;
  }

  // Uses of the results, each more than once: uncompiled, compiled, or both.
  void history_of_results() {
    if (random_.chance(40)) line("results = results + tuple(torch.cos(r) * r for r in results)");
    if (random_.chance(60)) line("results = results + after(results[0])");
    if (random_.chance(30)) line("results = results + after(results[-1])");
    if (random_.chance(30)) line("results = results + (results[0] * 2, results[0].exp() * 0.1)");
    if (random_.chance(30)) line("results = results + tuple(x for x in log if not isinstance(x, int))");
  }

  // Looks at gradients in the middle of what the call computed.
  void look_inside() {
    line("inner = [r for r in results if r.requires_grad and not r.is_leaf]");
    if (random_.chance(30)) line("for r in inner: handle = r.register_hook(lambda g: seen.append(g))");
    if (random_.chance(20)) line("for r in inner[::2]: handle = r.register_hook(lambda g: g * 0.5)");
    if (random_.chance(15)) line("for r in inner: r.retain_grad()");
    if (random_.chance(60)) {
      const char* subsets[] = {"inner", "inner[::2]", "inner[-1:]", "inner[:1]", "[]"};
      line(std::string("asked = ") + subsets[random_.below(5)]);
      for (const Variable& v : arguments_)
        if (random_.chance(40)) line("asked.append(" + v.name + ")");
      line("if loss.requires_grad and asked:");
      line("    for g in torch.autograd.grad(loss, asked, retain_graph=True, allow_unused=True):");
      line("        show('inner', torch.zeros(1) if g is None else g)");
    }
  }

  void calls() {
    line("def show(name, value):");
    line("    print(name, value.dtype, tuple(value.shape), value.tolist())");
    line("");
    line("torch.manual_seed(" + std::to_string(random_.below(1000)) + ")");
    line("log = []");
    const int count = random_.chance(25) ? 6 : 2 + random_.below(3);
    for (int call = 0; call < count; ++call) {
      std::string arguments = std::to_string(random_.below(4)) + ", log";
      for (const Variable& v : arguments_) {
        line(v.name + " = torch.randn(" + tuple(v.shape) + ")");
        if (gradients_) line(v.name + ".requires_grad_()");
        arguments += ", " + v.name;
      }
      line("log.clear()");
      line("seen = []");
      line("results = f(" + arguments + ")");
      if (returns_ == 1) line("results = (results,)");
      line("for r in results: show('result', r.detach())");
      if (!gradients_) continue;
      history_of_results();
      line("loss = sum((r * r * 0.5).sum() for r in results)");
      if (random_.chance(30)) look_inside();
      line("if loss.requires_grad:");
      line("    loss.backward()");
      line("    for g in seen: show('seen', g)");
      for (const Variable& v : arguments_)
        line("    if " + v.name + ".grad is not None: show('grad', " + v.name + ".grad)");
    }
    line("for own in leaves: print('own', None if own.grad is None else own.grad.tolist())");
    line("print([x if isinstance(x, int) else x.detach().item() for x in log])");
    if (has_helper_) line("print(block.calls)");
  }

  Random random_;
  std::string out_;
  int indent_ = 0, made_ = 0, returns_ = 1;
  bool has_helper_ = false, has_repeated_ = false, gradients_ = false;
  std::vector<Variable> arguments_, variables_;
};

}  // namespace

std::string generate_program(uint64_t seed) { return Generator(seed).run(); }

}  // namespace tsc::fuzz
