// Round brackets that a line does not need. Around the value of `return`, of an assignment, of a
// condition, of an iterable or around imported names they mean nothing; they are taken away, and
// come back where they let a line be broken.
#include "lang/format/pieces.h"

namespace tsc::lang {

namespace {

bool is_assignment(TokenKind kind) {
  switch (kind) {
    case TokenKind::EQUAL:
    case TokenKind::PLUSEQUAL:
    case TokenKind::MINEQUAL:
    case TokenKind::STAREQUAL:
    case TokenKind::SLASHEQUAL:
    case TokenKind::DOUBLESLASHEQUAL:
    case TokenKind::PERCENTEQUAL:
    case TokenKind::ATEQUAL:
    case TokenKind::AMPEREQUAL:
    case TokenKind::VBAREQUAL:
    case TokenKind::CIRCUMFLEXEQUAL:
    case TokenKind::LEFTSHIFTEQUAL:
    case TokenKind::RIGHTSHIFTEQUAL:
    case TokenKind::DOUBLESTAREQUAL: return true;
    default: return false;
  }
}

void link(std::vector<Piece>& pieces) {
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].opens()) {
      open.push_back(i);
    } else if (pieces[i].closes() && !open.empty()) {
      pieces[i].match = open.back();
      pieces[open.back()].match = i;
      open.pop_back();
    }
  }
}

// A range of pieces that brackets may stand around.
struct Range {
  size_t begin = 0, end = 0;
  bool allows_commas = false;  // the brackets are the statement's own, no tuple's
};

class Brackets {
 public:
  explicit Brackets(std::vector<Piece>& pieces) : pieces_(pieces) {}

  void run() {
    link(pieces_);
    Range range = find();
    if (range.begin >= range.end) return;
    const bool stripped = strip(range);
    // Real brackets that are not redundant can be broken as they are.
    if (!stripped && is_one_bracket(range)) return;
    insert(range);
    link(pieces_);
  }

 private:
  TokenKind kind(size_t i) const { return pieces_[i].kind; }

  Range find() const {
    const size_t size = pieces_.size();
    switch (kind(0)) {
      case TokenKind::RETURN: return {1, size};
      case TokenKind::IF:
      case TokenKind::ELIF:
      case TokenKind::WHILE: return {1, header_colon(pieces_)};
      case TokenKind::FOR: return {first(TokenKind::IN) + 1, header_colon(pieces_)};
      case TokenKind::ASSERT: {
        const size_t comma = first(TokenKind::COMMA);
        return {comma < size ? comma + 1 : 1, size};
      }
      case TokenKind::FROM: {
        const size_t names = first(TokenKind::IMPORT) + 1;
        if (names < size && kind(names) == TokenKind::STAR) return {};
        return {names, size, true};
      }
      case TokenKind::WITH: return with_items();
      default: return begins_compound(kind(0)) ? Range{} : Range{last_assignment(), size};
    }
  }

  // Calls back with each piece outside brackets and lambdas' parameters until it answers true.
  template <class Visit>
  void each_outside(size_t begin, size_t end, Visit visit) const {
    size_t lambdas = 0;
    for (size_t i = begin; i < end; ++i) {
      if (pieces_[i].kind == TokenKind::LAMBDA) ++lambdas;
      const bool ends_lambda = lambdas && pieces_[i].kind == TokenKind::COLON;
      if (!lambdas && visit(i)) return;
      if (ends_lambda) --lambdas;
      if (pieces_[i].opens()) i = pieces_[i].match;
    }
  }

  size_t first(TokenKind wanted) const {
    size_t found = pieces_.size();
    each_outside(0, pieces_.size(), [&](size_t i) {
      if (kind(i) == wanted) found = i;
      return kind(i) == wanted;
    });
    return found;
  }

  // Index after the last '=' of an assignment, or the line's size.
  size_t last_assignment() const {
    size_t found = pieces_.size();
    each_outside(0, pieces_.size(), [&](size_t i) {
      if (is_assignment(kind(i))) found = i + 1;
      return false;
    });
    return found;
  }

  // `with a as b, c as d:`; without any `as` the brackets would make a tuple.
  Range with_items() const {
    if (pieces_.size() > 1 && kind(1) == TokenKind::WITH_OPEN) return {};
    bool has_as = false, has_comma = false;
    const size_t colon = header_colon(pieces_);
    each_outside(1, colon, [&](size_t i) {
      has_as |= kind(i) == TokenKind::AS;
      has_comma |= kind(i) == TokenKind::COMMA;
      return false;
    });
    return has_as && has_comma ? Range{1, colon, true} : Range{};
  }

  bool is_one_bracket(const Range& range) const {
    return pieces_[range.begin].opens() && pieces_[range.begin].match + 1 == range.end;
  }

  // Takes redundant brackets away; `range` then is what stood inside.
  bool strip(Range& range) {
    bool any = false;
    while (kind(range.begin) == TokenKind::LPAR && is_one_bracket(range) && is_redundant(range)) {
      const size_t close = range.end - 1;
      for (std::string_view comment : pieces_[close].trailing) pieces_[close - 1].trailing.push_back(comment);
      pieces_[range.begin + 1].space = pieces_[range.begin].space;
      pieces_.erase(pieces_.begin() + static_cast<long>(close));
      pieces_.erase(pieces_.begin() + static_cast<long>(range.begin));
      range.end -= 2;
      link(pieces_);
      any = true;
    }
    return any;
  }

  bool is_redundant(const Range& range) const {
    const size_t close = range.end - 1;
    if (close == range.begin + 1) return false;
    if (!pieces_[range.begin].trailing.empty()) return false;
    for (size_t i = range.begin + 1; i <= close; ++i)
      if (!pieces_[i].leading.empty() || (i < close && !pieces_[i].trailing.empty())) return false;
    if (range.allows_commas && kind(close - 1) == TokenKind::COMMA) return false;
    for (size_t i = range.begin + 1; i < close; ++i) {
      switch (kind(i)) {
        case TokenKind::COMMA:
          if (!range.allows_commas) return false;
          break;
        case TokenKind::YIELD:
        case TokenKind::WALRUS:
        case TokenKind::FOR:
        case TokenKind::LAMBDA: return false;
        default: break;
      }
      if (pieces_[i].opens()) i = pieces_[i].match;
    }
    return true;
  }

  void insert(const Range& range) {
    Piece open, close;
    open.kind = TokenKind::LPAR;
    open.text = "(";
    open.optional = close.optional = true;
    open.space = pieces_[range.begin].space;
    close.kind = TokenKind::RPAR;
    close.text = ")";
    close.trailing = std::move(pieces_[range.end - 1].trailing);
    pieces_[range.end - 1].trailing.clear();
    pieces_.insert(pieces_.begin() + static_cast<long>(range.end), std::move(close));
    pieces_.insert(pieces_.begin() + static_cast<long>(range.begin), std::move(open));
  }

  std::vector<Piece>& pieces_;
};

}  // namespace

void set_brackets(std::vector<Piece>& pieces) { Brackets(pieces).run(); }

}  // namespace tsc::lang
