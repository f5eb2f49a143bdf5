#pragma once
// The insertion-ordered hash table under dict and set: a dense array of entries and an index into it.
// An entry keeps its place until a removal compacts the table, so a cached entry index is proven valid
// by comparing the key's address; `layout_version` changes when a key is added or removed (not when a
// value is replaced), which proves a cached miss. Up to 8 entries there is no index, only a scan.
#include <cstdint>
#include <vector>

#include "interpreter/value/string.h"

namespace tsc::interp {

class Table {
 public:
  struct Entry {
    Value key;  // Undefined: removed
    Value value;
    uint64_t hash;
  };
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();

  size_t size() const { return live_; }
  // The place of the first entry, or used(). Taking the first one again and again costs the same each time.
  uint32_t first() {
    while (first_ < used_ && !entries_[first_].key) ++first_;
    return first_;
  }
  // Entries by place, removed ones included.
  uint32_t used() const { return used_; }
  Entry& entry(uint32_t place) { return entries_[place]; }
  const Entry& entry(uint32_t place) const { return entries_[place]; }
  uint32_t layout_version() const { return layout_version_; }

  // Place of the key or -1. May run script code (__eq__, __hash__) for keys that are not plain.
  int64_t find(Vm& vm, const Value& key) const;
  int64_t find(Vm& vm, const Value& key, uint64_t hash) const;
  // Interned or not; never runs script code.
  int64_t find(Vm& vm, StrObject* key) const;
  int64_t find_text(Vm& vm, std::string_view key) const;
  // Adds or replaces; returns true when the key is new.
  bool insert(Vm& vm, const Value& key, const Value& value);
  bool insert(Vm& vm, const Value& key, uint64_t hash, const Value& value);
  void append_new(const Value& key, uint64_t hash, const Value& value);  // key known to be absent
  // The place stays empty, so that an iteration can tell a key that is added later from those before it.
  void remove_at(uint32_t place);
  // Gives up the empty places behind the last entry: taking the last one again and again costs the same each time.
  void drop_tail();
  void clear();
  // Lets go of the last place of a table that nobody will look into again: the index goes on naming it.
  void drop_last() { entries_[--used_].~Entry(); }
  void copy_from(const Table& other);
  size_t bytes() const;

 private:
  static constexpr uint32_t kScanLimit = 8;
  size_t index_bytes() const;
  void grow();
  void rebuild(uint32_t capacity);

  Entry* entries_ = nullptr;
  int32_t* index_ = nullptr;  // -1 empty, -2 removed
  uint32_t index_mask_ = 0;
  uint32_t capacity_ = 0;
  uint32_t used_ = 0;
  uint32_t live_ = 0;
  uint32_t first_ = 0;   // no entry is in front of it
  uint32_t filled_ = 0;  // index places that are not empty, removed ones included
  uint32_t layout_version_ = 1;
};

}  // namespace tsc::interp
