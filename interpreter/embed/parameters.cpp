#include "interpreter/embed/parameters.h"

#include <cstdio>
#include <set>

#include "interpreter/embed/arguments.h"
#include "lang/parse.h"

namespace tsc::embed {
namespace {

using namespace lang;

class Checker {
 public:
  explicit Checker(const std::string& given) : given_(given), source_("<parameters>", "def f(" + given + "): pass") {}

  std::string run() {
    const Arguments& args = *definition().args;
    const size_t positional = args.posonlyargs.size() + args.args.size();
    for (size_t i = 0; i < positional; ++i) {
      if (i == args.posonlyargs.size() && i > 0) add("/");
      const Parameter* parameter =
          i < args.posonlyargs.size() ? args.posonlyargs[i] : args.args[i - args.posonlyargs.size()];
      const size_t without = positional - args.defaults.size();
      add_parameter(*parameter, i < without ? nullptr : args.defaults[i - without]);
    }
    if (!args.posonlyargs.empty() && args.args.empty()) add("/");
    if (args.vararg != nullptr) add_parameter(*args.vararg, nullptr, "*");
    else if (!args.kwonlyargs.empty()) add("*");
    for (size_t i = 0; i < args.kwonlyargs.size(); ++i) add_parameter(*args.kwonlyargs[i], args.kw_defaults[i]);
    if (args.kwarg != nullptr) add_parameter(*args.kwarg, nullptr, "**");
    return out_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw Misuse{"'parameters' is '" + given_ + "': " + why}; }

  // The text is what stands between the brackets of one definition, and no more.
  const FunctionDef& definition() {
    const ParseResult parsed = parse_module(source_, arena_);
    for (const Diagnostic& found : parsed.diagnostics.all())
      if (found.severity == Severity::Error) refuse(found.message);
    const auto* function = parsed.module != nullptr && parsed.module->body.size() == 1
                               ? try_as<FunctionDef>(parsed.module->body[0])
                               : nullptr;
    const bool whole = function != nullptr && function->returns == nullptr && function->body.size() == 1 &&
                       function->body[0]->span.end == source_.text().size();
    if (!whole || try_as<Pass>(function->body[0]) == nullptr)
      refuse("it goes on behind the last parameter; write the list alone, as in \"x, by=2.0\"");
    return *function;
  }

  void add(const std::string& item) { out_ += (out_.empty() ? "" : ", ") + item; }

  void add_parameter(const Parameter& parameter, const Expr* value, const char* stars = "") {
    const std::string name(parameter.name);
    if (!names_.insert(name).second) refuse("two parameters are named '" + name + "'");
    add(stars + name + (value == nullptr ? "" : "=" + default_text(name, *value)));
  }

  std::string default_text(const std::string& name, const Expr& value) const {
    const Expr* node = &value;
    const auto* sign = try_as<const UnaryOp>(node);
    const bool minus = sign != nullptr && sign->op == UnaryOperator::USub;
    const auto* constant = try_as<const Constant>(minus ? sign->operand : node);
    const std::string text = constant == nullptr ? "" : minus ? number_text(*constant, true) : constant_text(*constant);
    if (text.empty())
      refuse("the default of '" + name +
             "' must be None, True, False, a number or a text without both kinds of quotes: no script code runs "
             "for it; leave other defaults to the function");
    return text;
  }

  static std::string constant_text(const Constant& constant) {
    switch (constant.value_kind) {
      case ConstantKind::None: return "None";
      case ConstantKind::False: return "False";
      case ConstantKind::True: return "True";
      case ConstantKind::Str: return quoted(constant.text);
      default: return number_text(constant, false);
    }
  }

  static std::string number_text(const Constant& constant, bool minus) {
    if (constant.value_kind == ConstantKind::Int) {
      if (constant.needs_negation) return std::to_string(INT64_MIN);
      return (minus ? "-" : "") + std::to_string(constant.integer);
    }
    const bool imaginary = constant.value_kind == ConstantKind::Imaginary;
    if (constant.value_kind != ConstantKind::Float && !imaginary) return "";
    char text[40];
    std::snprintf(text, sizeof text, "%s%.17g", minus ? "-" : "", constant.floating);
    const std::string number = text;
    if (imaginary) return number + "j";
    return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
  }

  static std::string quoted(std::string_view text) {
    const char quote = text.find('\'') == text.npos ? '\'' : '"';
    if (text.find(quote) != text.npos) return "";
    return quote + std::string(text) + quote;
  }

  const std::string& given_;
  const Source source_;
  Arena arena_;
  std::set<std::string> names_;
  std::string out_;
};

}  // namespace

std::string checked_parameters(const std::string& parameters) { return Checker(parameters).run(); }

}  // namespace tsc::embed
