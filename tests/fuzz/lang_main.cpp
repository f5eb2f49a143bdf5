// Fuzz targets of the language's front: whatever the text, no crash, no hang, every report well
// formed, and the laws of the formatter and the compiler. Usage: see command.h.
#include <algorithm>
#include <memory>

#include "command.h"
#include "lang/ast_print.h"
#include "lang/bytecode/disassemble.h"
#include "lang/bytecode/serialize.h"
#include "lang/check/check.h"
#include "lang/emit/compile.h"
#include "lang/format/format.h"
#include "lang/layout.h"
#include "lang/parse.h"
#include "mutate.h"

namespace {

using namespace tsc::lang;
using tsc::fuzz::Corpus;
using tsc::fuzz::Random;

// The end of a text may be pointed at, one behind its last byte.
bool is_inside(Span span, const Source& source) {
  return span.begin <= span.end && span.begin <= source.text().size() && span.end <= source.text().size() + 1;
}

std::string fault_of(const Diagnostics& diagnostics, const Source& source) {
  for (const Diagnostic& d : diagnostics.all()) {
    if (!is_inside(d.primary.span, source)) return "a report stands outside the text: " + d.message;
    for (const Label& label : d.secondary)
      if (!is_inside(label.span, source)) return "a label stands outside the text: " + label.text;
    if (d.message.empty()) return "a report without a message";
    for (const unsigned width : {20u, 100u})
      if (render(d, source, {.color = width == 20, .width = width}).empty())
        return "a report renders as nothing: " + d.message;
    if (render_json(d, source).empty()) return "a report without JSON: " + d.message;
  }
  return "";
}

std::string fault_of_tokens(const Source& source) {
  Diagnostics diagnostics;
  const TokenList list = tokenize(source, diagnostics);
  uint32_t at = 0;
  for (const Token& token : list.tokens) {
    if (!is_inside(token.span, source)) return "a token outside the text";
    // The closing brackets that repair a fault stand where the fault was found.
    if (token.span.begin < at && !diagnostics.has_errors()) return "tokens go backwards";
    at = token.span.begin;
  }
  return print_tokens(list, source).empty() ? "no tokens printed" : fault_of(diagnostics, source);
}

std::string try_parser(const std::string& text) {
  const Source source("fuzz.tsc", text);
  if (std::string fault = fault_of_tokens(source); !fault.empty()) return fault;
  Arena arena;
  const ParseResult parsed = parse_module(source, arena);
  if (!parsed.module != parsed.diagnostics.has_errors()) return "neither tree nor errors, or both";
  if (parsed.module && print_ast(*parsed.module).empty()) return "an empty tree";
  if (std::string fault = fault_of(parsed.diagnostics, source); !fault.empty()) return fault;
  const ParseResult expression = parse_expression(source, arena);
  if (!expression.module != expression.diagnostics.has_errors()) return "neither expression nor errors, or both";
  return fault_of(expression.diagnostics, source);
}

std::string fault_of_code(const CodeObject& code, const Source& source) {
  for (const std::string& fault : verify(code)) return code.qualname + ": " + fault;
  for (const InstructionSpan& span : code.spans)
    if (!is_inside(span.whole, source) || !is_inside(span.anchor, source))
      return code.qualname + ": an instruction stands outside the text";
  for (const CodeRef& inner : code.codes)
    if (std::string fault = fault_of_code(*inner, source); !fault.empty()) return fault;
  return "";
}

std::string try_compiler(const std::string& text) {
  const auto source = std::make_shared<const Source>("fuzz.tsc", text);
  CompileOptions options;
  options.interactive = text.size() % 2 == 1;
  options.explain_asserts = text.size() % 3 == 1;
  options.check_shapes = text.size() % 5 == 2;
  const CompileResult compiled = compile_module(source, options);
  if (std::string fault = fault_of(compiled.diagnostics, *source); !fault.empty()) return fault;
  if (!compiled.code != compiled.diagnostics.has_errors()) return "neither code nor errors, or both";
  if (!compiled.code) return "";
  if (std::string fault = fault_of_code(*compiled.code, *source); !fault.empty()) return fault;
  const std::string bytes = serialize(*compiled.code);
  const DeserializeResult again = deserialize(bytes, source);
  if (!again.code) return "its own bytes are refused: " + again.error;
  if (serialize(*again.code) != bytes) return "read back, it writes other bytes";
  return disassemble(*again.code) == disassemble(*compiled.code) ? "" : "read back, it is other code";
}

std::string tree_of(const Source& source) {
  Arena arena;
  const ParseResult parsed = parse_module(source, arena);
  return parsed.module ? print_ast(*parsed.module) : "";
}

std::string try_formatter(const std::string& text) {
  const Source source("fuzz.tsc", text);
  const std::string tree = tree_of(source);
  for (const uint32_t width : {100u, static_cast<uint32_t>(10 + text.size() % 70)}) {
    const FormatResult once = format(source, {width});
    if (std::string fault = fault_of(once.diagnostics, source); !fault.empty()) return fault;
    if (once.ok == tree.empty())
      return once.ok ? "formatted what is no program" : "refused a program:\n" + render_all(once.diagnostics, source);
    if (!once.ok) return "";
    const Source formatted("fuzz.tsc", once.text);
    if (tree_of(formatted) != tree) return "another tree:\n" + once.text;
    const FormatResult twice = format(formatted, {width});
    if (!twice.ok) return "its own output is refused:\n" + once.text;
    if (twice.text != once.text) return "not idempotent:\n---- once\n" + once.text + "---- twice\n" + twice.text;
  }
  return "";
}

std::string try_checker(const std::string& text) {
  static constexpr std::string_view kBuiltins[] = {"print", "len", "range", "ValueError", "super"};
  const Source source("fuzz.tsc", text);
  CheckOptions options;
  options.builtins = kBuiltins;
  options.exports_imports = text.size() % 2 == 0;
  options.is_private = text.size() % 3 == 0;
  const Diagnostics found = check(source, options);
  if (std::string fault = fault_of(found, source); !fault.empty()) return fault;
  if (tree_of(source).empty() && !found.has_errors()) return "no report of what is no program";
  return render_all(found, source) == render_all(check(source, options), source) ? ""
                                                                                 : "checking twice gives two answers";
}

}  // namespace

int main(int count, char** words) {
  const Corpus corpus = tsc::fuzz::load_corpus({"tests", "stdlib", "examples"});
  const auto make = [&](Random& random, uint64_t) {
    return tsc::fuzz::mutated_program(corpus, random, tsc::fuzz::Temper::Any);
  };
  return tsc::fuzz::fuzz_main(count, words,
                              {{"parser", ".tsc", make, try_parser},
                               {"compiler", ".tsc", make, try_compiler},
                               {"formatter", ".tsc", make, try_formatter},
                               {"checker", ".tsc", make, try_checker}});
}
