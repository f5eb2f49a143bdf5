#include "interpreter/embed/arguments.h"

#include "lang/diagnostic.h"
#include "lang/layout.h"

namespace tsc::embed {

void refuse_null(const std::string& what) {
  throw Misuse{"'" + what + "' is NULL, and this function cannot do without it"};
}

void refuse_word(const std::string& kind, std::string_view word, const std::vector<std::string_view>& names) {
  std::string message = "there is no " + kind + " '" + std::string(word) + "'";
  const std::string_view near = lang::nearest_word(word, names);
  if (!near.empty()) message += "; did you mean '" + std::string(near) + "'?";
  std::string known;
  for (std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  const char* plural = kind.ends_with("s") ? "es" : "s";
  throw Misuse{message + "; the " + kind + plural + " are " + known};
}

std::string required_text(const char* text, const char* what) { return required(text, what); }

std::string_view required_text(const char* text, size_t size, const char* what) {
  if (size == 0) return {};
  return {required(text, what), size};
}

namespace {

bool is_name(const std::string& name) {
  lang::Diagnostics diagnostics;
  const lang::Source source("<name>", name);
  const lang::TokenList list = lang::tokenize(source, diagnostics);
  const lang::Token& first = list.tokens.front();
  return !diagnostics.has_errors() && first.kind == lang::TokenKind::NAME && first.span.begin == 0 &&
         first.span.end == name.size();
}

[[noreturn]] void refuse_name(const std::string& name, const char* what) {
  throw Misuse{"'" + std::string(what) + "' is '" + name +
               "', which no script can write as a name: a name is letters, digits and _, does not begin "
               "with a digit and is no keyword"};
}

}  // namespace

std::string required_name(const char* name, const char* what) {
  std::string text = required_text(name, what);
  if (!is_name(text)) refuse_name(text, what);
  return text;
}

std::string required_dotted_name(const char* name, const char* what) {
  std::string text = required_text(name, what);
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find('.', begin);
    if (!is_name(text.substr(begin, end == std::string::npos ? end : end - begin))) refuse_name(text, what);
  }
  return text;
}

std::vector<std::string> texts_of(const char* const* texts, size_t count, const char* what) {
  std::vector<std::string> copies;
  if (count != 0) required(texts, what);
  for (size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) refuse_null(std::string(what) + "[" + std::to_string(i) + "]");
    copies.emplace_back(texts[i]);
  }
  return copies;
}

const interp::Value& value_of(const tsc_engine* engine, const tsc_value* handle, const std::string& what) {
  if (handle == nullptr) refuse_null(what);
  if (handle->engine != engine)
    throw Misuse{"'" + what +
                 "' is a value of another engine: engines share no values; make it anew in "
                 "this one from the number, text or memory that it holds"};
  return handle->value;
}

std::vector<interp::Value> values_of(const tsc_engine* engine, const tsc_value* const* handles, size_t count,
                                     const char* what) {
  std::vector<interp::Value> values;
  if (count != 0) required(handles, what);
  for (size_t i = 0; i < count; ++i)
    values.push_back(value_of(engine, handles[i], std::string(what) + "[" + std::to_string(i) + "]"));
  return values;
}

}  // namespace tsc::embed
