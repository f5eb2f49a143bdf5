// Any bytes give a tree or a report, never a crash; whatever is accepted can be resolved and
// printed.
#include <random>

#include "front_testing.h"

namespace tsc::lang {

namespace {

const char* const kSeeds[] = {
    "def f(a, /, b=1, *c, d, **e) -> int:\n    '''doc'''\n    return [x + 1 for x in a if x]\n",
    "class A(B, metaclass=C):\n    x: int = 3\n    def m(self):\n        return "
    "super().m(f'{self.x!r:>{w}} {{}}')\n",
    "try:\n    with (a as b, c as d):\n        raise E from e\nexcept (A, B) as x:\n    "
    "pass\nelse:\n    y\nfinally:\n    z\n",
    "match p:\n    case [q, *r] | {'k': r, **q} if r:\n        pass\n    case P(x=1, y=-2.5) as "
    "n:\n        pass\n    case _:\n        pass\n",
    "x = lambda *a, k=2: (yield a)\nwhile not x < y <= z:\n    del q[1:2, ...], r.s\n    "
    "break\nelse:\n    a @= b ** -c\n",
    "s = '''multi\nline''' r'raw' \"\\x41\\u00e9\" f\"{a = } {b!s:{c}.{d}f}\"\nn = 0xFF + 1_000 - "
    "1e-5 if t else {**u, 'v': 1}\n",
};

void survives(const std::string& text) {
  Source source("fuzz.tsc", text);
  Arena arena;
  ParseResult result = parse_module(source, arena);
  if (result.module) {
    resolve(*result.module, arena, result.diagnostics);
    print_ast(*result.module);
  } else {
    CHECK(result.diagnostics.has_errors());
  }
  for (const Diagnostic& d : result.diagnostics.all()) {
    CHECK(render(d, source).size() > 0);
    CHECK(d.primary.span.begin <= text.size() + 1);
    render_json(d, source);
  }
}

// Tokens of a hostile text still balance: the grammar's recovery relies on it.
void balances(const std::string& text) {
  Source source("fuzz.tsc", text);
  Diagnostics diagnostics;
  TokenList list = tokenize(source, diagnostics);
  std::string open;
  int blocks = 0;
  for (const Token& token : list.tokens) {
    const auto opens = [&](TokenKind kind, char c) {
      if (token.kind == kind) open += c;
    };
    opens(TokenKind::LPAR, '('), opens(TokenKind::WITH_OPEN, '('), opens(TokenKind::LSQB, '[');
    opens(TokenKind::LBRACE, '{'), opens(TokenKind::FIELD_OPEN, 'f'), opens(TokenKind::FSTRING_START, 's');
    const auto closes = [&](TokenKind kind, char c) {
      if (token.kind != kind) return;
      REQUIRE(!open.empty());
      REQUIRE(open.back() == c);
      open.pop_back();
    };
    closes(TokenKind::RPAR, '('), closes(TokenKind::RSQB, '['), closes(TokenKind::RBRACE, '{');
    closes(TokenKind::FIELD_CLOSE, 'f'), closes(TokenKind::FSTRING_END, 's');
    if (token.kind == TokenKind::NEWLINE) REQUIRE(open.empty());
    blocks += token.kind == TokenKind::INDENT;
    blocks -= token.kind == TokenKind::DEDENT;
    REQUIRE(blocks >= 0);
  }
  bool cut = false;
  for (const Diagnostic& d : diagnostics.all())
    cut |= d.code == Code::TooManyBrackets || d.code == Code::TooManyIndents;
  if (!cut) CHECK(open.empty());
}

}  // namespace

TEST_CASE("random bytes") {
  std::mt19937 random(1);
  for (int round = 0; round < 1500; ++round) {
    std::string text(random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(random());
    INFO(round);
    survives(text);
    balances(text);
  }
}

TEST_CASE("random tokens") {
  static const char* const kPieces[] = {"if ",    "x",     "(",       ")",      "[",       "]",         "{",
                                        "}",      ":",     "\n",      "\n  ",   "\n    ",  "f'",        "'",
                                        "\"\"\"", "=",     "==",      "def ",   "class ",  "lambda ",   "for ",
                                        "in ",    "*",     "**",      ",",      ".",       "1",         "1.5",
                                        "else",   "try:",  "except",  "match ", "case ",   "_",         "|",
                                        "as ",    "with ", "import ", "from ",  "yield ",  "return ",   "\\\n",
                                        ":=",     "@",     "not ",    "is ",    "async ",  "type ",     "!r",
                                        "{{",     "#",     "\t",      ";",      "global ", "nonlocal ", "del "};
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (size_t i = random() % 60; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    INFO(text);
    survives(text);
    balances(text);
  }
}

TEST_CASE("mutations of good programs") {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = kSeeds[random() % std::size(kSeeds)];
    for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
      size_t at = random() % text.size(), length = random() % 8;
      switch (random() % 4) {
        case 0: text.erase(at, length + 1); break;
        case 1: text.insert(at, text.substr(random() % text.size(), length)); break;
        case 2: text[at] = "()[]{}'\":,=*\n \t\\fx1"[random() % 19]; break;
        default: text += kSeeds[random() % std::size(kSeeds)];
      }
      if (text.empty()) text = "x";
    }
    INFO(text);
    survives(text);
    balances(text);
  }
}

TEST_CASE("every beginning of a good program") {
  for (const char* seed : kSeeds) {
    CHECK(faults(seed) == Faults{});
    std::string text = seed;
    for (size_t i = 0; i <= text.size(); ++i) survives(text.substr(0, i));
  }
}

TEST_CASE("long runs of one byte") {
  for (char c : std::string("()[]{}'\"\\\n \t:;,.=+-*/%@<>!~^&|#$?`0a\x80\xFF")) {
    INFO(static_cast<int>(c));
    survives(std::string(100000, c));
    survives("x = " + std::string(100000, c) + "\ny = 1\n");
  }
  std::string fields;
  for (int i = 0; i < 100000; ++i) fields += "f'{";
  survives(fields);
  std::string errors;
  for (int i = 0; i < 20000; ++i) errors += "x = = 1\n";
  CHECK(faults(errors).size() == 100);
  std::string one_line, strays, attributes = "match x:\n  case A(";
  for (int i = 0; i < 100000; ++i) one_line += "[a b],";
  for (int i = 0; i < 100000; ++i) strays += ") x y\n";
  for (int i = 0; i < 50000; ++i) attributes += "a" + std::to_string(i) + "=_,";
  CHECK(faults(one_line).size() == 100);
  CHECK(faults(strays).size() == 100);
  CHECK(faults(attributes + "): pass\n").empty());
}

}  // namespace tsc::lang
