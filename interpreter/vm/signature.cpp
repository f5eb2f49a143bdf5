// Signature strings of native functions and the binding of calls to them.
#include <charconv>

#include "interpreter/vm/vm.h"
#include "lang/diagnostic.h"
#include "runtime/base/error.h"

namespace tsc::interp {

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// Splits at commas outside quotes.
std::vector<std::string_view> split_items(std::string_view text) {
  std::vector<std::string_view> items;
  size_t begin = 0;
  char quote = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ',') {
      std::string_view item = trim(text.substr(begin, i - begin));
      if (!item.empty()) items.push_back(item);
      begin = i + 1;
    }
  }
  return items;
}

}  // namespace

Signature::Signature(std::string_view text) : text_(text) {
  bool keyword_only = false;
  if (!text.empty() && text[0] == '@') {
    parsed_style_ = true;
    text.remove_prefix(1);
  }
  std::string_view whole = text;
  // "self" alone can only be given by position.
  if (whole == "self" || whole == "self, /") positional_only_ = 1;
  for (std::string_view item : split_items(text)) {
    if (item == "/") {
      positional_only_ = parameters_.size();
    } else if (item == "*") {
      keyword_only = true;
    } else if (item.substr(0, 2) == "**") {
      rest_keywords_ = true;
    } else if (item[0] == '*') {
      rest_ = keyword_only = true;
    } else {
      parse_parameter(item, keyword_only);
    }
  }
}

void Signature::parse_parameter(std::string_view item, bool keyword_only) {
  Parameter p;
  size_t equals = item.find('=');
  p.name = std::string(trim(item.substr(0, equals)));
  if (const size_t bar = p.name.find('|'); bar != std::string::npos) {
    p.other_name = p.name.substr(bar + 1);
    text_.erase(text_.find(p.name) + bar, p.name.size() - bar);
    p.name.resize(bar);
  }
  if (equals != std::string_view::npos) {
    p.required = false;
    std::string_view text = trim(item.substr(equals + 1));
    if (text == "None") {
      p.default_value = Value::none();
    } else if (text == "True" || text == "False") {
      p.default_value = Value::boolean(text == "True");
    } else if (text[0] == '\'' || text[0] == '"') {
      p.has_text_default = true;
      p.text_default = std::string(text.substr(1, text.size() - 2));
    } else if (text != "?") {
      bool real = text.find_first_of(".en") != std::string_view::npos;
      double d = 0;
      int64_t i = 0;
      auto end = real ? std::from_chars(text.data(), text.data() + text.size(), d).ptr
                      : std::from_chars(text.data(), text.data() + text.size(), i).ptr;
      TSC_CHECK(end == text.data() + text.size(), "bad default in signature: " + text_);
      p.default_value = real ? Value::real(d) : Value::integer(i);
    }
  }
  parameters_.push_back(std::move(p));
  if (!keyword_only) positional_count_ = parameters_.size();
}

namespace {

// "list.append" in messages that count arguments.
std::string counted_name(std::string_view name, const Args& args) {
  if (!args.callee || !args.callee->is_method) return std::string(name);
  return args.callee->owner + "." + std::string(name);
}

std::string arguments_text(size_t n) { return std::to_string(n) + " argument" + (n == 1 ? "" : "s"); }

}  // namespace

namespace {

[[noreturn]] void unknown_keyword(Vm& vm, std::string_view name, std::string_view function,
                                  std::span<const Signature::Parameter> parameters) {
  Local<ExceptionObject> e =
      make_exception(vm, vm.exceptions().TypeError,
                     "'" + std::string(name) + "' is an invalid keyword argument for " + std::string(function) + "()");
  std::vector<std::string_view> names;
  for (const Signature::Parameter& p : parameters) names.push_back(p.name);
  std::string_view near = lang::nearest_word(name, names);
  if (!near.empty()) e->hint = "Did you mean: '" + std::string(near) + "'?";
  throw ScriptException(std::move(e));
}

}  // namespace

void Signature::wrong_count(Vm& vm, std::string_view name, const Args& args) const {
  size_t required = 0;
  for (size_t i = 0; i < positional_count_; ++i) required += parameters_[i].required;
  size_t self = !parameters_.empty() && (parameters_[0].name == "self" || parameters_[0].name == "cls");
  size_t takes = positional_count_ - self, needs = required - std::min(self, required);
  size_t given = args.count - std::min<size_t>(self, args.count);
  std::string count = std::to_string(given);
  if (takes == 0)
    raise_type_error(vm, parameters_.size() > positional_count_
                             ? std::string(name) + "() takes no positional arguments"
                             : counted_name(name, args) + "() takes no arguments (" + count + " given)");
  bool by_position = positional_only_ == positional_count_ && !parsed_style_;
  if (by_position && positional_count_ == parameters_.size() && takes == 1 && needs == 1)
    raise_type_error(vm, counted_name(name, args) + "() takes exactly one argument (" + count + " given)");
  if (by_position)
    raise_type_error(vm, std::string(name) + " expected " +
                             (needs == takes  ? ""
                              : given < needs ? "at least "
                                              : "at most ") +
                             arguments_text(given < needs ? needs : takes) + ", got " + count);
  const bool few = given < needs;
  raise_type_error(vm, std::string(name) + "() takes " +
                           (needs == takes ? "exactly "
                            : few          ? "at least "
                                           : "at most ") +
                           arguments_text(few ? needs : takes) + " (" + count + " given)");
}

void Signature::take_extra_keywords(Vm& vm, std::string_view function_name, const Args& args,
                                    std::vector<Value>& out) const {
  if (positional_only_ == parameters_.size() && !rest_keywords_ && !rest_)
    raise_type_error(vm, counted_name(function_name, args) + "() takes no keyword arguments");
  Local<DictObject> rest;
  if (rest_keywords_) rest = make_dict(vm);
  for (uint32_t k = 0; k < args.keyword_count; ++k) {
    std::string_view name = args.keyword_names[k]->view();
    size_t i = positional_only_;
    while (i < parameters_.size() && !parameters_[i].is_named(name)) ++i;
    if (i == parameters_.size()) {
      if (!rest) unknown_keyword(vm, name, function_name, std::span(parameters_).subspan(positional_only_));
      dict_set(vm, rest, Value(args.keyword_names[k]), args.keyword_values[k]);
      continue;
    }
    if (out[i])
      raise_type_error(vm, "argument for " + std::string(function_name) + "() given by name ('" + std::string(name) +
                               "') and position (" + std::to_string(i + 1) + ")");
    out[i] = args.keyword_values[k];
  }
  if (rest) out.push_back(rest.take());
}

void Signature::fill_missing(Vm& vm, std::string_view function_name, const Args& args, std::vector<Value>& out) const {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (out[i]) continue;
    const Parameter& p = parameters_[i];
    if (p.required) {
      if (i < positional_count_ && positional_only_ == positional_count_) wrong_count(vm, function_name, args);
      if (i < positional_only_)
        raise_type_error(vm, std::string(function_name) + "() takes at least " + std::to_string(positional_only_) +
                                 " positional argument" + (positional_only_ == 1 ? "" : "s") + " (" +
                                 std::to_string(args.count) + " given)");
      raise_type_error(vm, std::string(function_name) + "() missing required argument '" + p.name + "' (pos " +
                               std::to_string(i + 1) + ")");
    }
    if (p.has_text_default) out[i] = str_value(vm, p.text_default);
    else out[i] = p.default_value;
  }
}

void Signature::bind(Vm& vm, std::string_view function_name, const Args& args, std::vector<Value>& out) const {
  out.assign(parameters_.size(), Value());
  size_t direct = std::min<size_t>(args.count, positional_count_);
  for (size_t i = 0; i < direct; ++i) out[i] = args.positional[i];
  if (args.count > positional_count_ && !rest_) wrong_count(vm, function_name, args);
  if (rest_)
    out.push_back(make_tuple(vm, std::span<const Value>(args.positional + direct, args.count - direct)).take());
  if (args.keyword_count || rest_keywords_) take_extra_keywords(vm, function_name, args, out);
  fill_missing(vm, function_name, args, out);
}

}  // namespace tsc::interp
