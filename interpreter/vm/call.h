#pragma once
// Calling: the arguments of a native function, the signature strings that describe them, and calls
// from C++ into the script.
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "interpreter/value/exception.h"

namespace tsc::interp {

// What a call passes. A function with a signature receives its parameters in order as `positional`:
// omitted ones hold their default, or Undefined when the signature gives none (`x=?`).
struct Args {
  const Value* positional = nullptr;
  uint32_t count = 0;
  uint32_t keyword_count = 0;
  StrObject* const* keyword_names = nullptr;
  const Value* keyword_values = nullptr;
  NativeFunction* callee = nullptr;

  const Value& operator[](size_t i) const { return positional[i]; }
  bool has(size_t i) const { return i < count && !positional[i].is_undefined(); }
  std::span<const Value> span() const { return {positional, count}; }
};

// "self, dim=None, *, keepdim=False", "*values, **options", "x, /". Defaults: None, True, False, an
// int, a float, a quoted string, or ? for Undefined. "x|input" may be passed as input= too; text() names it x. Parsed
// once.
class Signature {
 public:
  explicit Signature(std::string_view text);
  struct Parameter {
    std::string name;
    std::string other_name;  // empty: it has one name
    bool required = true;
    Value default_value;
    std::string text_default;
    bool has_text_default = false;
    bool is_named(std::string_view keyword) const { return name == keyword || other_name == keyword; }
  };
  // Binds a call; raises TypeError as Python does. `out` receives one value per parameter, then the
  // tuple of *args and the dict of **kwargs where the signature has them.
  void bind(Vm& vm, std::string_view function_name, const Args& args, std::vector<Value>& out) const;
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::string& text() const { return text_; }
  size_t positional_count() const { return positional_count_; }
  // Neither *args nor **kwargs: a call with every parameter given by position needs no binding.
  bool is_plain() const { return !rest_ && !rest_keywords_; }

 private:
  void parse_parameter(std::string_view item, bool keyword_only);
  void take_extra_keywords(Vm& vm, std::string_view function_name, const Args& args, std::vector<Value>& out) const;
  [[noreturn]] void wrong_count(Vm& vm, std::string_view function_name, const Args& args) const;
  void fill_missing(Vm& vm, std::string_view function_name, const Args& args, std::vector<Value>& out) const;

  std::string text_;
  std::vector<Parameter> parameters_;
  size_t positional_count_ = 0;  // parameters before *
  size_t positional_only_ = 0;
  bool rest_ = false, rest_keywords_ = false;
  bool parsed_style_ = false;  // a leading @: "f() takes at least 1 argument (0 given)"
};

Value call(Vm& vm, const Value& callee, std::span<const Value> args = {});
Value call(Vm& vm, const Value& callee, std::initializer_list<Value> args);
Value call(Vm& vm, const Value& callee, Args& args);
// What stands after * and ** of a call to `callee` may be any iterable and mapping: makes them a tuple
// and a dict with str keys. `keywords` is null when there is no **.
void settle_unpacked(Vm& vm, const Value& callee, Value& positional, Value* keywords);
// value.name(args); raises AttributeError when absent.
Value call_method(Vm& vm, const Value& self, std::string_view name, std::initializer_list<Value> args = {});

}  // namespace tsc::interp
