// Tree -> program, and what is known of how a match begins.
#include <algorithm>

#include "interpreter/modules/regex.h"

namespace tsc::interp::regex {
namespace {

constexpr size_t kLargestProgram = 1000000;

// Number of units that every match of a node has: [low, high].
struct Width {
  uint64_t low = 0, high = 0;
};
constexpr uint64_t kAnyWidth = uint64_t{1} << 40;

Width width_of(const Node& node, const std::vector<Width>& groups);

Width width_of_children(const Node& node, const std::vector<Width>& groups) {
  Width sum;
  for (const auto& child : node.children) {
    Width w = width_of(*child, groups);
    sum.low += w.low;
    sum.high = std::min(kAnyWidth, sum.high + w.high);
  }
  return sum;
}

Width width_of(const Node& node, const std::vector<Width>& groups) {
  switch (node.kind) {
    case NodeKind::Char:
    case NodeKind::Any:
    case NodeKind::Set: return {1, 1};
    case NodeKind::Sequence:
    case NodeKind::Group:
    case NodeKind::Atomic: return width_of_children(node, groups);
    case NodeKind::Alternation:
    case NodeKind::Conditional: {
      Width all{kAnyWidth, 0};
      for (const auto& child : node.children) {
        Width w = width_of(*child, groups);
        all = {std::min(all.low, w.low), std::max(all.high, w.high)};
      }
      if (node.kind == NodeKind::Conditional && node.children.size() == 1) all.low = 0;
      return all;
    }
    case NodeKind::Repeat: {
      Width w = width_of(*node.children[0], groups);
      uint64_t most = node.maximum == kUnlimited && w.high ? kAnyWidth : w.high * node.maximum;
      return {w.low * node.minimum, std::min(kAnyWidth, most)};
    }
    case NodeKind::BackReference: return node.value < groups.size() ? groups[node.value] : Width{0, kAnyWidth};
    default: return {};
  }
}

void collect_group_widths(const Node& node, std::vector<Width>& groups) {
  for (const auto& child : node.children) collect_group_widths(*child, groups);
  if (node.kind == NodeKind::Group && node.value) groups[node.value] = width_of(node, groups);
}

class Compiler {
 public:
  explicit Compiler(Tree tree) : tree_(std::move(tree)), widths_(tree_.groups + 1) {}

  Program run() {
    collect_group_widths(*tree_.root, widths_);
    out_.groups = tree_.groups;
    out_.registers = 2 * (tree_.groups + 1) + 1;
    out_.flags = tree_.flags;
    out_.has_references = tree_.has_references;
    out_.names = tree_.names;
    out_.group_names.resize(tree_.groups + 1);
    for (const auto& [name, number] : tree_.names) out_.group_names[number] = name;
    find_beginning();
    emit(*tree_.root);
    add(Op::Accept);
    out_.sets = std::move(tree_.sets);
    return std::move(out_);
  }

 private:
  uint32_t here() const { return static_cast<uint32_t>(out_.code.size()); }
  uint32_t add(Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
    if (out_.code.size() >= kLargestProgram)
      throw PatternError{"the pattern is too large: its repetitions make more than 1000000 instructions", -1};
    out_.code.push_back({op, a, b, c});
    return here() - 1;
  }
  bool ascii(uint32_t flags) const { return !(out_.flags & kUnicode) || (flags & kAscii); }

  void emit_unit(const Node& node) {
    if (node.kind == NodeKind::Set) {
      add(Op::Set, node.value);
    } else if (node.kind == NodeKind::Any) {
      add(node.flags & kDotAll ? Op::AnyAll : Op::Any);
    } else if (node.flags & kIgnoreCase) {
      add(Op::CharFold, fold(node.value, ascii(node.flags)), ascii(node.flags));
    } else {
      add(Op::Char, node.value);
    }
  }
  static bool is_unit(const Node& node) {
    return node.kind == NodeKind::Char || node.kind == NodeKind::Any || node.kind == NodeKind::Set;
  }

  void emit(const Node& node) {
    switch (node.kind) {
      case NodeKind::Empty: break;
      case NodeKind::Char:
      case NodeKind::Any:
      case NodeKind::Set: emit_unit(node); break;
      case NodeKind::Sequence:
        for (const auto& child : node.children) emit(*child);
        break;
      case NodeKind::Alternation: emit_alternation(node); break;
      case NodeKind::Repeat: emit_repeat(node); break;
      case NodeKind::Group:
        if (node.value) add(Op::Save, 2 * node.value);
        for (const auto& child : node.children) emit(*child);
        if (node.value) add(Op::Save, 2 * node.value + 1);
        break;
      case NodeKind::Assertion: add(Op::Assert, node.value, ascii(node.flags)); break;
      case NodeKind::BackReference:
        add(Op::Reference, node.value, node.flags & kIgnoreCase ? 1 : 0, ascii(node.flags));
        break;
      case NodeKind::Look: emit_look(node); break;
      case NodeKind::Atomic: {
        uint32_t at = add(Op::Atomic);
        for (const auto& child : node.children) emit(*child);
        add(Op::Accept);
        out_.code[at].a = here();
        break;
      }
      case NodeKind::Conditional: {
        uint32_t at = add(Op::Conditional, node.value);
        emit(*node.children[0]);
        uint32_t jump = add(Op::Jump);
        out_.code[at].b = here();
        if (node.children.size() > 1) emit(*node.children[1]);
        out_.code[jump].a = here();
        break;
      }
    }
  }
  void emit_alternation(const Node& node) {
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i + 1 < node.children.size(); ++i) {
      uint32_t split = add(Op::Split, here() + 1);
      emit(*node.children[i]);
      jumps.push_back(add(Op::Jump));
      out_.code[split].b = here();
    }
    emit(*node.children.back());
    for (uint32_t jump : jumps) out_.code[jump].a = here();
  }
  void emit_look(const Node& node) {
    uint32_t behind = 0;
    if (node.behind) {
      Width w = width_of_children(node, widths_);
      if (w.low != w.high || w.high >= kAnyWidth) throw PatternError{"look-behind requires fixed-width pattern", -1};
      behind = static_cast<uint32_t>(w.low) + 1;
    }
    uint32_t at = add(Op::Look, 0, node.negated, behind);
    for (const auto& child : node.children) emit(*child);
    add(Op::Accept);
    out_.code[at].a = here();
  }
  void emit_repeat(const Node& node) {
    const Node& body = *node.children[0];
    if (is_unit(body)) {
      add(Op::Repeat, node.maximum, static_cast<uint32_t>(node.greed), node.minimum);
      emit_unit(body);
      return;
    }
    uint32_t atomic = node.greed == Greed::Possessive ? add(Op::Atomic) : 0;
    for (uint32_t i = 0; i < node.minimum; ++i) emit(body);
    if (node.maximum == kUnlimited) emit_star(body, node.greed == Greed::Lazy);
    else emit_optional(body, node.maximum - node.minimum, node.greed == Greed::Lazy);
    if (node.greed != Greed::Possessive) return;
    add(Op::Accept);
    out_.code[atomic].a = here();
  }
  void set_split(uint32_t split, uint32_t body, uint32_t out, bool lazy) {
    out_.code[split].a = lazy ? out : body;
    out_.code[split].b = lazy ? body : out;
  }
  void emit_star(const Node& body, bool lazy) {
    bool may_be_empty = width_of(body, widths_).low == 0;
    uint32_t split = add(Op::Split);
    uint32_t loop = may_be_empty ? out_.registers++ : 0;
    if (may_be_empty) add(Op::LoopEnter, loop);
    emit(body);
    uint32_t check = may_be_empty ? add(Op::LoopCheck, loop) : 0;
    add(Op::Jump, split);
    if (may_be_empty) out_.code[check].b = here();
    set_split(split, split + 1, here(), lazy);
  }
  void emit_optional(const Node& body, uint32_t times, bool lazy) {
    std::vector<uint32_t> splits;
    for (uint32_t i = 0; i < times; ++i) {
      splits.push_back(add(Op::Split));
      emit(body);
    }
    for (uint32_t split : splits) set_split(split, split + 1, here(), lazy);
  }

  // --- how a match begins ------------------------------------------------------------------------------

  // The literal units at the start; false once something else follows.
  bool literal_prefix(const Node& node, std::vector<uint32_t>& prefix) {
    if (node.kind == NodeKind::Char && !(node.flags & kIgnoreCase)) return prefix.push_back(node.value), true;
    if (node.kind == NodeKind::Group || node.kind == NodeKind::Sequence) {
      for (const auto& child : node.children)
        if (!literal_prefix(*child, prefix)) return false;
      return true;
    }
    return node.kind == NodeKind::Empty;
  }
  // Adds the units a match of the node may begin with; true when the node may match nothing.
  bool first_units(const Node& node, std::bitset<256>& first) {
    switch (node.kind) {
      case NodeKind::Char:
        if (node.value >= 256 || (node.flags & kIgnoreCase)) return first.set(), false;
        first.set(node.value);
        return false;
      case NodeKind::Set: first |= tree_.sets[node.value].low; return false;
      case NodeKind::Any: first.set(); return false;
      case NodeKind::Sequence:
      case NodeKind::Group:
      case NodeKind::Atomic:
        for (const auto& child : node.children)
          if (!first_units(*child, first)) return false;
        return true;
      case NodeKind::Alternation: {
        bool empty = false;
        for (const auto& child : node.children) empty |= first_units(*child, first);
        return empty;
      }
      case NodeKind::Repeat: return first_units(*node.children[0], first) || node.minimum == 0;
      case NodeKind::BackReference:
      case NodeKind::Conditional: first.set(); return true;
      default: return true;
    }
  }
  void find_beginning() {
    literal_prefix(*tree_.root, out_.prefix);
    out_.has_first = !first_units(*tree_.root, out_.first) && !out_.first.all();
  }

  Tree tree_;
  std::vector<Width> widths_;
  Program out_;
};

}  // namespace

Program compile(Tree tree) { return Compiler(std::move(tree)).run(); }

}  // namespace tsc::interp::regex
