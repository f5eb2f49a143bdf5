#pragma once
// What the formatter lays out: the logical lines of a text, each a row of pieces (a token, or a
// whole f-string), with the comments that stand around them.
// Knows: tokens and their gaps. Must not know: where lines are broken.
// Keeps: every token and every comment of the text is in exactly one piece.
#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/token.h"

namespace tsc::lang {

struct Piece {
  static constexpr uint32_t kNone = UINT32_MAX;
  TokenKind kind = TokenKind::END;
  bool space = false;                      // a blank stands before it when it is not the first of its line
  bool tight = false;                      // a unary operator or a keyword argument's '=': no blank after it
  bool optional = false;                   // a bracket that is written only where the line is broken
  uint8_t priority = 0;                    // how gladly a line is broken here; 0: not at all
  uint32_t match = kNone;                  // of a bracket: its partner
  std::string_view text;                   // of an f-string: from its prefix to its closing quote
  std::vector<std::string_view> leading;   // comments on lines of their own before it
  std::vector<std::string_view> trailing;  // comments after it on its line

  bool opens() const {
    return kind == TokenKind::LPAR || kind == TokenKind::LSQB || kind == TokenKind::LBRACE ||
           kind == TokenKind::WITH_OPEN;
  }
  bool closes() const { return kind == TokenKind::RPAR || kind == TokenKind::RSQB || kind == TokenKind::RBRACE; }
};

// Breaking after a comma is preferred to all but the clauses of a comprehension.
inline constexpr uint8_t kCommaPriority = 18;
inline constexpr uint8_t kComprehensionPriority = 20;

struct OwnComment {
  std::string_view text;
  uint32_t depth = 0;
  uint32_t blanks = 0;  // empty lines before it
};

struct LogicalLine {
  uint32_t depth = 0;
  uint32_t blanks = 0;
  std::vector<OwnComment> before;  // comment lines between the line before and this one
  std::vector<Piece> pieces;       // empty: the end of the text
};

std::vector<LogicalLine> read_lines(const TokenList& tokens, const Source& source);

// Sets spaces and break priorities of a line's pieces (spacing.cpp).
void set_spaces(std::vector<Piece>& pieces);
// Finds the brackets that the line has without need and those that would help to break it, and
// makes them optional; then links all brackets (optional_brackets.cpp).
void set_brackets(std::vector<Piece>& pieces);

bool begins_compound(TokenKind kind);
// Index of the ':' that ends a compound statement's header, or pieces.size().
size_t header_colon(const std::vector<Piece>& pieces);

}  // namespace tsc::lang
