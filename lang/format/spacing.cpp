// Blanks between two pieces and places where a line may be broken. Both follow from the piece, the
// one before it and the bracket around it.
#include <algorithm>

#include "lang/format/pieces.h"

namespace tsc::lang {

namespace {

// Ends an operand: what follows is a binary operator, a call or a subscript.
bool ends_operand(const Piece& p) {
  switch (p.kind) {
    case TokenKind::NAME:
    case TokenKind::INTEGER:
    case TokenKind::FLOAT:
    case TokenKind::STRING:
    case TokenKind::FSTRING_START:
    case TokenKind::NONE:
    case TokenKind::TRUE:
    case TokenKind::FALSE:
    case TokenKind::ELLIPSIS: return true;
    default: return p.closes();
  }
}

bool is_text(TokenKind kind) { return kind == TokenKind::STRING || kind == TokenKind::FSTRING_START; }

// Binary where it follows an operand: how gladly a line is broken before it.
uint8_t operator_priority(TokenKind kind) {
  switch (kind) {
    case TokenKind::OR: return 15;
    case TokenKind::AND: return 14;
    case TokenKind::LESS:
    case TokenKind::GREATER:
    case TokenKind::LESSEQUAL:
    case TokenKind::GREATEREQUAL:
    case TokenKind::EQEQUAL:
    case TokenKind::NOTEQUAL:
    case TokenKind::IS: return 10;
    case TokenKind::VBAR: return 9;
    case TokenKind::CIRCUMFLEX: return 8;
    case TokenKind::AMPER: return 7;
    case TokenKind::LEFTSHIFT:
    case TokenKind::RIGHTSHIFT: return 6;
    case TokenKind::PLUS:
    case TokenKind::MINUS: return 5;
    case TokenKind::STAR:
    case TokenKind::SLASH:
    case TokenKind::DOUBLESLASH:
    case TokenKind::PERCENT:
    case TokenKind::AT: return 4;
    case TokenKind::DOUBLESTAR: return 2;
    default: return 0;
  }
}

constexpr uint8_t kTernaryPriority = 16;
constexpr uint8_t kTextPriority = 12;
constexpr uint8_t kComparisonPriority = 10;

// What surrounds a piece inside one bracket.
struct Context {
  TokenKind opener = TokenKind::END;
  bool subscript = false;
  bool parameters = false;     // of a def
  bool annotated = false;      // the current parameter has an annotation
  bool comprehension = false;  // a `for` was seen: `if` filters
  bool target = false;         // between `for` and its `in`
  bool lambda_body = false;
  unsigned lambdas = 0;  // whose ':' is still to come
};

class Spacer {
 public:
  explicit Spacer(std::vector<Piece>& pieces) : pieces_(pieces) {
    contexts_.emplace_back();
    is_from_ = !pieces.empty() && pieces[0].kind == TokenKind::FROM;
  }

  void run() {
    for (at_ = 0; at_ < pieces_.size(); ++at_) {
      Piece& piece = pieces_[at_];
      const Piece* before = at_ ? &pieces_[at_ - 1] : nullptr;
      const bool operand_before = before && ends_operand(*before);
      if (piece.closes() && contexts_.size() > 1) contexts_.pop_back();
      piece.priority = priority(piece, operand_before);
      update(piece, operand_before);
      piece.space = before && space(*before, piece);
      if (piece.opens()) open(piece, operand_before);
    }
  }

 private:
  Context& here() { return contexts_.back(); }

  void open(const Piece& piece, bool operand_before) {
    Context context;
    context.opener = piece.kind;
    context.subscript = piece.kind == TokenKind::LSQB && operand_before;
    context.parameters =
        piece.kind == TokenKind::LPAR && contexts_.size() == 1 && at_ == 2 && pieces_[0].kind == TokenKind::DEF;
    contexts_.push_back(context);
  }

  uint8_t priority(const Piece& piece, bool operand_before) {
    const Context& c = here();
    if (at_ == 0) return 0;
    if (piece.kind == TokenKind::FOR && !c.lambdas) return kComprehensionPriority;
    if (c.lambdas) return 0;
    if (piece.kind == TokenKind::COMMA) return kCommaPriority;
    if (c.lambda_body) return 0;
    switch (piece.kind) {
      case TokenKind::IF: return c.comprehension ? kComprehensionPriority : kTernaryPriority;
      case TokenKind::ELSE: return kTernaryPriority;
      case TokenKind::IN: return c.target || pieces_[at_ - 1].kind == TokenKind::NOT ? 0 : kComparisonPriority;
      case TokenKind::NOT: return operand_before ? kComparisonPriority : 0;
      case TokenKind::STRING:
      case TokenKind::FSTRING_START: return is_text(pieces_[at_ - 1].kind) ? kTextPriority : 0;
      default: return operand_before ? operator_priority(piece.kind) : 0;
    }
  }

  // Follows lambdas, targets and annotations, and marks what binds tightly.
  void update(Piece& piece, bool operand_before) {
    Context& c = here();
    switch (piece.kind) {
      case TokenKind::LAMBDA: ++c.lambdas; break;
      case TokenKind::COLON:
        if (c.lambdas) {
          --c.lambdas;
          c.lambda_body = true;
        } else {
          c.lambda_body = false;
          c.annotated |= c.parameters;
          piece.tight = c.subscript;
        }
        break;
      case TokenKind::COMMA:
        if (!c.lambdas) c.lambda_body = c.annotated = false;
        break;
      case TokenKind::FOR:
        c.target = true;
        c.comprehension |= at_ != 0;
        c.lambda_body = false;
        break;
      case TokenKind::IN: c.target = false; break;
      case TokenKind::EQUAL: piece.tight = c.lambdas || (c.opener != TokenKind::END && !c.annotated); break;
      case TokenKind::PLUS:
      case TokenKind::MINUS:
      case TokenKind::TILDE:
      case TokenKind::STAR:
      case TokenKind::SLASH:
      case TokenKind::DOUBLESTAR:
      case TokenKind::AT: piece.tight = !operand_before; break;
      default: break;
    }
  }

  bool space(const Piece& before, const Piece& piece) const {
    if (before.opens() || before.tight || piece.closes()) return false;
    if (piece.kind == TokenKind::COMMA) return false;
    if (before.kind == TokenKind::COMMA) return true;
    if (piece.kind == TokenKind::COLON) return false;
    if (before.kind == TokenKind::COLON) return true;
    if (piece.kind == TokenKind::EQUAL) return !piece.tight;
    if (piece.kind == TokenKind::LPAR || piece.kind == TokenKind::LSQB) return !ends_operand(before);
    if (is_from_ && in_source()) return space_in_source(before, piece);
    if (piece.kind == TokenKind::DOT) return before.kind == TokenKind::INTEGER;
    return before.kind != TokenKind::DOT;
  }

  // `from ..a.b import c`: the part before `import`.
  bool in_source() const {
    for (size_t i = 1; i < at_; ++i)
      if (pieces_[i].kind == TokenKind::IMPORT) return false;
    return true;
  }

  static bool space_in_source(const Piece& before, const Piece& piece) {
    return before.kind == TokenKind::FROM || piece.kind == TokenKind::IMPORT;
  }

  std::vector<Piece>& pieces_;
  std::vector<Context> contexts_;
  size_t at_ = 0;
  bool is_from_ = false;
};

}  // namespace

void set_spaces(std::vector<Piece>& pieces) { Spacer(pieces).run(); }

}  // namespace tsc::lang
