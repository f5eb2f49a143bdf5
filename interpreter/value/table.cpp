#include "interpreter/value/table.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "interpreter/heap/patience.h"
#include "interpreter/vm/vm.h"

namespace tsc::interp {

namespace {
constexpr int32_t kEmpty = -1;
constexpr int32_t kRemoved = -2;

// Odd, and another one in each process.
uint64_t random_multiplier() {
  uint64_t bits = 0x9e3779b97f4a7c15u;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) bits ^= reinterpret_cast<uintptr_t>(&bits);
  return bits | 1;
}
const uint64_t kMultiplier = random_multiplier();

// Where the search for a hash begins. The hash of a number is the number: small ones keep their order, which
// the processor's cache likes. Numbers may be chosen by others, too: what lies beyond the mask is spread by a
// factor that nobody knows.
uint32_t first_place(uint64_t hash, uint32_t mask) {
  const int spare = __builtin_clzll(mask);
  const uint64_t beyond = hash >> (64 - spare);
  return static_cast<uint32_t>(hash ^ ((beyond * kMultiplier) >> spare)) & mask;
}

// True where nothing was removed before.
bool put_in(int32_t* index, uint32_t mask, uint64_t hash, uint32_t place) {
  uint32_t i = first_place(hash, mask);
  for (uint32_t step = 1; index[i] >= 0; ++step) i = (i + step) & mask;
  const bool fresh = index[i] == kEmpty;
  index[i] = static_cast<int32_t>(place);
  return fresh;
}

// What the place of one entry costs, in steps of Patience: memory far apart.
constexpr size_t kWork = 8;
}  // namespace

Table::~Table() { clear(); }

void Table::clear() {
  Entry* entries = entries_;
  uint32_t used = used_, capacity = capacity_;
  counted_free(index_, index_bytes());
  entries_ = nullptr;
  index_ = nullptr;
  capacity_ = used_ = live_ = first_ = index_mask_ = filled_ = 0;
  ++layout_version_;
  for (uint32_t i = 0; i < used; ++i) entries[i].~Entry();
  counted_free(entries, capacity * sizeof(Entry));
}

size_t Table::index_bytes() const { return index_ ? (size_t{index_mask_} + 1) * sizeof(int32_t) : 0; }

size_t Table::bytes() const { return capacity_ * sizeof(Entry) + index_bytes(); }

namespace {

// Where the entries of a table go, until they are the table's.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes), begin_(bytes ? counted_allocate(bytes) : nullptr) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { counted_free(begin_, bytes_); }
  template <class T>
  T* begin() const {
    return static_cast<T*>(begin_);
  }
  template <class T>
  T* release() {
    return static_cast<T*>(std::exchange(begin_, nullptr));
  }

 private:
  size_t bytes_;
  void* begin_;
};

}  // namespace

// Gives the entries another capacity, without those that were removed. A stop is heard on the way: until the end the
// table stays as it was.
void Table::rebuild(uint32_t capacity) {
  Patience patience;
  uint32_t index_size = 16;
  while (index_size < capacity * 2) index_size *= 2;
  if (capacity <= kScanLimit) index_size = 0;
  Memory index(index_size * sizeof(int32_t));
  in_pieces(index_size * sizeof(int32_t),
            [&](size_t begin, size_t end) { std::memset(index.begin<char>() + begin, 0xFF, end - begin); });
  uint32_t live = 0;
  for (uint32_t i = 0; i < used_; ++i) {
    if (!entries_[i].key) continue;
    if (index_size) put_in(index.begin<int32_t>(), index_size - 1, entries_[i].hash, live);
    ++live;
    patience.step(kWork);
  }
  if (live == used_) {
    entries_ = static_cast<Entry*>(counted_reallocate(entries_, capacity_ * sizeof(Entry), capacity * sizeof(Entry)));
  } else {
    Memory entries(capacity * sizeof(Entry));
    Entry* to = entries.begin<Entry>();
    for (uint32_t i = 0; i < used_; ++i) {
      if (entries_[i].key) std::memcpy(static_cast<void*>(to++), &entries_[i], sizeof(Entry));
      patience.step();
    }
    counted_free(entries_, capacity_ * sizeof(Entry));
    entries_ = entries.release<Entry>();
    ++layout_version_;
  }
  counted_free(index_, index_bytes());
  index_ = index.release<int32_t>();
  first_ = 0;
  capacity_ = capacity;
  used_ = filled_ = live;
  index_mask_ = index_size ? index_size - 1 : 0;
}

void Table::grow() {
  if (live_ >= (uint32_t{1} << 29)) throw std::bad_alloc();
  rebuild(live_ < 4 ? 4 : live_ < 8 ? 8 : live_ * 2);
}

int64_t Table::find(Vm& vm, StrObject* key) const {
  if (!index_) {
    for (uint32_t i = 0; i < used_; ++i)
      if (entries_[i].key.is_object() && entries_[i].key.object() == key) return i;
    if (!used_) return -1;
  }
  uint64_t h = str_hash(vm, key);
  // A key of a class of the program is asked: its __eq__ may know texts.
  bool asks = false;
  auto matches = [&](const Entry& e) {
    if (e.hash != h || !e.key.is_object()) return false;
    if (e.key.object() == key) return true;
    if (e.key.object()->type == vm.types().str) return str_equal(cast<StrObject>(e.key), key);
    asks = true;
    return false;
  };
  const auto otherwise = [&] { return asks ? find(vm, Value(key), h) : -1; };
  if (!index_) {
    for (uint32_t i = 0; i < used_; ++i)
      if (matches(entries_[i])) return i;
    return otherwise();
  }
  uint32_t i = first_place(h, index_mask_);
  for (uint32_t step = 1; index_[i] != kEmpty; ++step) {
    if (index_[i] >= 0 && matches(entries_[index_[i]])) return index_[i];
    i = (i + step) & index_mask_;
  }
  return otherwise();
}

int64_t Table::find_text(Vm& vm, std::string_view key) const { return find(vm, make_str(vm, key).get()); }

int64_t Table::find(Vm& vm, const Value& key) const {
  if (is_kind(key, Kind::Str) && key.object()->type == vm.types().str) return find(vm, cast<StrObject>(key));
  return find(vm, key, hash(vm, key));
}

int64_t Table::find(Vm& vm, const Value& key, uint64_t h) const {
  if (key.is_int() && index_) {
    // Mostly among its like, where no code of the script runs.
    uint32_t i = first_place(h, index_mask_);
    for (uint32_t step = 1; index_[i] != kEmpty; ++step) {
      if (index_[i] >= 0) {
        const Entry& e = entries_[index_[i]];
        if (e.hash == h) {
          if (!e.key.is_int()) break;
          if (e.key.as_int() == key.as_int()) return index_[i];
        }
      }
      i = (i + step) & index_mask_;
    }
    if (index_[i] == kEmpty) return -1;
  }
  // A key's __eq__ may change this very table: then start again.
  for (;;) {
    uint32_t version = layout_version_;
    bool changed = false;
    auto matches = [&](uint32_t place) {
      const Entry& e = entries_[place];
      if (e.hash != h || !e.key) return false;
      if (e.key.is(key)) return true;
      if (e.key.is_int() && key.is_int()) return false;
      Value candidate = e.key;
      bool same = equal(vm, candidate, key);
      changed = layout_version_ != version;
      return same && !changed;
    };
    int64_t found = -1;
    if (!index_) {
      for (uint32_t i = 0; i < used_ && found < 0 && !changed; ++i)
        if (matches(i)) found = i;
    } else {
      uint32_t i = first_place(h, index_mask_);
      for (uint32_t step = 1; !changed && index_[i] != kEmpty; ++step) {
        if (index_[i] >= 0 && matches(static_cast<uint32_t>(index_[i]))) {
          found = index_[i];
          break;
        }
        if (changed) break;
        i = (i + step) & index_mask_;
      }
    }
    if (!changed) return found;
  }
}

void Table::append_new(const Value& key, uint64_t h, const Value& value) {
  if (used_ == capacity_) grow();
  if (index_ && filled_ > index_mask_ - index_mask_ / 4) rebuild(capacity_);
  new (&entries_[used_]) Entry{key, value, h};
  if (index_ && put_in(index_, index_mask_, h, used_)) ++filled_;
  ++used_;
  ++live_;
  ++layout_version_;
}

bool Table::insert(Vm& vm, const Value& key, const Value& value) { return insert(vm, key, hash(vm, key), value); }

bool Table::insert(Vm& vm, const Value& key, uint64_t h, const Value& value) {
  int64_t place = is_kind(key, Kind::Str) && key.object()->type == vm.types().str ? find(vm, cast<StrObject>(key))
                                                                                  : find(vm, key, h);
  if (place >= 0) {
    Value old = std::move(entries_[place].value);  // dropped after the store: it may run code
    entries_[place].value = value;
    return false;
  }
  append_new(key, h, value);
  return true;
}

void Table::remove_at(uint32_t place) {
  if (index_) {
    uint32_t i = first_place(entries_[place].hash, index_mask_);
    for (uint32_t step = 1; index_[i] != static_cast<int32_t>(place); ++step) i = (i + step) & index_mask_;
    index_[i] = kRemoved;
  }
  Value key = std::move(entries_[place].key);
  Value value = std::move(entries_[place].value);
  --live_;
  ++layout_version_;
  if (live_ * 4 < used_ && used_ > 32) {
    try {
      rebuild(live_ * 2 < 8 ? 8 : live_ * 2);
    } catch (const std::bad_alloc&) {
      // Without the memory to become smaller it stays as large as it is.
    } catch (const Error&) {
    }
  }
}

void Table::drop_tail() {
  while (used_ && !entries_[used_ - 1].key) entries_[--used_].~Entry();
  first_ = std::min(first_, used_);
}

void Table::copy_from(const Table& other) {
  clear();
  if (!other.live_) return;
  rebuild(other.live_ < 4 ? 4 : other.live_);
  Patience patience;
  for (uint32_t i = 0; i < other.used_; ++i)
    if (patience.step(); other.entries_[i].key)
      append_new(other.entries_[i].key, other.entries_[i].hash, other.entries_[i].value);
}

}  // namespace tsc::interp
