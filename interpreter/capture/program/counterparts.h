#pragma once
// Which object stands in whose place where what was captured for some objects is to serve others of the same form:
// equal numbers and strings, classes and functions themselves, and a counterpart for every module, list, dict and
// tensor, the same one wherever it is met. Knows script objects; must not know plans, regions or what is done with the
// counterparts.
#include <span>
#include <unordered_map>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

// A text that is no more than what it says. One of a class of the script may have attributes, as the members of an
// enumeration do; such a one is known by identity.
bool is_bare_text(const Value& v);
// Two such texts of one class that say the same: one stands for the other, except where `is` asks.
bool are_one_text(const Value& a, const Value& b);

class Counterparts {
 public:
  explicit Counterparts(Vm& vm) : vm_(vm) {}
  // Whether `now` may stand in the place of `old`; if so it does from here on.
  bool match(const Value& old, const Value& now);
  // Whether the content of the two holders that `key` names (a name, an index of a list, or Undefined: all of it) does.
  bool match_content(const Value& old, const Value& now, const Value& key);
  // False: nothing else ever stands in its place.
  static bool may_move(const Value& v);
  Value of(const Value& old) const;  // Undefined: none is known
  bool is_taken(const Value& now) const { return origins_.count(now.object()) != 0; }
  size_t size() const { return objects_.size(); }
  size_t moved() const { return moved_; }  // how many are other objects

 private:
  bool have_one_form(const Value& old, const Value& now) const;
  bool match_items(std::span<const Value> old, std::span<const Value> now);
  bool match_named(const Value& old, const Value& now, StrObject* name);
  bool match_all(const Value& old, const Value& now);

  Vm& vm_;
  std::unordered_map<Object*, Value> objects_;
  std::unordered_map<Object*, Object*> origins_;  // the other way round
  size_t moved_ = 0;
};

}  // namespace tsc::interp
