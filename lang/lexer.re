// Expression mode of the lexer. The whole text is in memory and ends with a NUL, which no rule but
// the last ones accepts, so no rule can run past the end.
#include "lang/lexer.h"

namespace tsc::lang {

/*!re2c
  re2c:define:YYCTYPE = "unsigned char";
  re2c:define:YYCURSOR = cursor;
  re2c:define:YYMARKER = marker;
  re2c:yyfill:enable = 0;

  line_break = "\r\n" | "\n" | "\r";
  digits     = [0-9] ("_"? [0-9])*;
  exponent   = [eE] [+-]? digits;
  float      = digits "." digits? exponent? | "." digits exponent? | digits exponent;
  based      = "0" [xX] ("_"? [0-9a-fA-F])+ | "0" [oO] ("_"? [0-7])+ | "0" [bB] ("_"? [01])+;
  prefix     = [rR] | [bB] | [uU] | [fF] | [bB][rR] | [rR][bB] | [fF][rR] | [rR][fF];
*/

Token Lexer::scan_code() {
  for (;;) {
    const uint32_t begin = at_;
    const char* cursor = text_ + at_;
    const char* marker = cursor;
    const auto advance = [&] { at_ = static_cast<uint32_t>(cursor - text_); };
    /*!re2c
      [ \t\f]+                { advance(); continue; }
      "#" [^\r\n\x00]*        { advance(); continue; }
      "\\" line_break         { advance(); continuation(begin, true); continue; }
      "\\"                    { advance(); continuation(begin, false); continue; }
      line_break              { advance(); return make(TokenKind::NEWLINE, begin); }
      prefix? ['"]            { return string(begin); }
      [A-Za-z_\x80-\xff] [A-Za-z0-9_\x80-\xff]*
                              { advance(); return name(begin); }
      digits | based          { advance(); return number(TokenKind::INTEGER, begin); }
      float                   { advance(); return number(TokenKind::FLOAT, begin); }
      (digits | float) [jJ]   { advance(); return number(TokenKind::FLOAT, begin); }
      [()[\]{}:;,.=!<>+\-*\x2f%&|^~@]
                              { return scan_operator(); }
      "\x00"                  {
        if (begin >= limit_) return make(TokenKind::END, begin);
        advance(); invalid_character(begin); continue;
      }
      *                       { advance(); invalid_character(begin); continue; }
    */
  }
}

Token Lexer::scan_operator() {
  const uint32_t begin = at_;
  const char* cursor = text_ + at_;
  const char* marker = cursor;
  const auto advance = [&] { at_ = static_cast<uint32_t>(cursor - text_); };
  const auto token = [&](TokenKind kind) { advance(); return make(kind, begin); };
  const auto paired = [&](TokenKind kind) { advance(); return bracket(kind, begin); };
  const auto field = [&](TokenKind kind) { advance(); return operator_in_field(kind, begin); };
  /*!re2c
    "("    { return paired(TokenKind::LPAR); }
    ")"    { return paired(TokenKind::RPAR); }
    "["    { return paired(TokenKind::LSQB); }
    "]"    { return paired(TokenKind::RSQB); }
    "{"    { return paired(TokenKind::LBRACE); }
    "}"    { return paired(TokenKind::RBRACE); }
    ":"    { return field(TokenKind::COLON); }
    ":="   { return field(TokenKind::WALRUS); }
    "="    { return field(TokenKind::EQUAL); }
    "!"    { return field(TokenKind::BANG); }
    ","    { return token(TokenKind::COMMA); }
    ";"    { return token(TokenKind::SEMICOLON); }
    "."    { return token(TokenKind::DOT); }
    "..."  { return token(TokenKind::ELLIPSIS); }
    "->"   { return token(TokenKind::ARROW); }
    "+"    { return token(TokenKind::PLUS); }
    "-"    { return token(TokenKind::MINUS); }
    "*"    { return token(TokenKind::STAR); }
    "**"   { return token(TokenKind::DOUBLESTAR); }
    "/"    { return token(TokenKind::SLASH); }
    "//"   { return token(TokenKind::DOUBLESLASH); }
    "%"    { return token(TokenKind::PERCENT); }
    "@"    { return token(TokenKind::AT); }
    "|"    { return token(TokenKind::VBAR); }
    "&"    { return token(TokenKind::AMPER); }
    "^"    { return token(TokenKind::CIRCUMFLEX); }
    "~"    { return token(TokenKind::TILDE); }
    "<<"   { return token(TokenKind::LEFTSHIFT); }
    ">>"   { return token(TokenKind::RIGHTSHIFT); }
    "<"    { return token(TokenKind::LESS); }
    ">"    { return token(TokenKind::GREATER); }
    "<="   { return token(TokenKind::LESSEQUAL); }
    ">="   { return token(TokenKind::GREATEREQUAL); }
    "=="   { return token(TokenKind::EQEQUAL); }
    "!="   { return token(TokenKind::NOTEQUAL); }
    "+="   { return token(TokenKind::PLUSEQUAL); }
    "-="   { return token(TokenKind::MINEQUAL); }
    "*="   { return token(TokenKind::STAREQUAL); }
    "/="   { return token(TokenKind::SLASHEQUAL); }
    "//="  { return token(TokenKind::DOUBLESLASHEQUAL); }
    "%="   { return token(TokenKind::PERCENTEQUAL); }
    "@="   { return token(TokenKind::ATEQUAL); }
    "&="   { return token(TokenKind::AMPEREQUAL); }
    "|="   { return token(TokenKind::VBAREQUAL); }
    "^="   { return token(TokenKind::CIRCUMFLEXEQUAL); }
    "<<="  { return token(TokenKind::LEFTSHIFTEQUAL); }
    ">>="  { return token(TokenKind::RIGHTSHIFTEQUAL); }
    "**="  { return token(TokenKind::DOUBLESTAREQUAL); }
    *      { advance(); return make(TokenKind::END, begin, true); }
  */
}

TokenKind Lexer::keyword_or_name(Span span) const {
  const char* cursor = text_ + span.begin;
  const char* marker = cursor;
  const char* const end = text_ + span.end;
  const auto whole = [&](TokenKind kind) { return cursor == end ? kind : TokenKind::NAME; };
  /*!re2c
    "False"    { return whole(TokenKind::FALSE); }
    "None"     { return whole(TokenKind::NONE); }
    "True"     { return whole(TokenKind::TRUE); }
    "and"      { return whole(TokenKind::AND); }
    "as"       { return whole(TokenKind::AS); }
    "assert"   { return whole(TokenKind::ASSERT); }
    "async"    { return whole(TokenKind::ASYNC); }
    "await"    { return whole(TokenKind::AWAIT); }
    "break"    { return whole(TokenKind::BREAK); }
    "class"    { return whole(TokenKind::CLASS); }
    "continue" { return whole(TokenKind::CONTINUE); }
    "def"      { return whole(TokenKind::DEF); }
    "del"      { return whole(TokenKind::DEL); }
    "elif"     { return whole(TokenKind::ELIF); }
    "else"     { return whole(TokenKind::ELSE); }
    "except"   { return whole(TokenKind::EXCEPT); }
    "finally"  { return whole(TokenKind::FINALLY); }
    "for"      { return whole(TokenKind::FOR); }
    "from"     { return whole(TokenKind::FROM); }
    "global"   { return whole(TokenKind::GLOBAL); }
    "if"       { return whole(TokenKind::IF); }
    "import"   { return whole(TokenKind::IMPORT); }
    "in"       { return whole(TokenKind::IN); }
    "is"       { return whole(TokenKind::IS); }
    "lambda"   { return whole(TokenKind::LAMBDA); }
    "nonlocal" { return whole(TokenKind::NONLOCAL); }
    "not"      { return whole(TokenKind::NOT); }
    "or"       { return whole(TokenKind::OR); }
    "pass"     { return whole(TokenKind::PASS); }
    "raise"    { return whole(TokenKind::RAISE); }
    "return"   { return whole(TokenKind::RETURN); }
    "try"      { return whole(TokenKind::TRY); }
    "while"    { return whole(TokenKind::WHILE); }
    "with"     { return whole(TokenKind::WITH); }
    "yield"    { return whole(TokenKind::YIELD); }
    *          { return TokenKind::NAME; }
  */
}

}  // namespace tsc::lang
