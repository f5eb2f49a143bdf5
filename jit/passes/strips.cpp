#include "jit/passes/strips.h"

#include <algorithm>
#include <unordered_map>

#include "jit/region/liveness.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

bool is_op(const Instruction& instruction, Op op) { return instruction.code == Code::Op && instruction.op == op; }

// How a kernel's block makes weights that are zeros where a mask is false.
class MaskedWeights {
 public:
  MaskedWeights(const Block& block, ValueId result) {
    for (const Instruction& instruction : block.instructions)
      if (instruction.code == Code::Op) makers_[instruction.results[0]] = &instruction;
    if (!is_softmax(result)) is_filled(result);
  }

  ValueId mask = kNoValue, fill = kNoValue, factor = kNoValue;
  bool softmax = false;

 private:
  //   t = select(mask, scores, fill); e = exp(t - amax(t)); result = e / sum(e), or e * reciprocal(sum(e))
  // Where the mask is false and `fill` is -inf the result is 0, or nan as the whole row is; zeros instead of such
  // rows are made with numbers in place of their amax and sum.
  bool is_softmax(ValueId result) {
    const auto [exponential, sum] = share(result);
    const Instruction* raised = maker(exponential, Op::exp);
    const Instruction* lowered = raised ? maker(raised->operands[0], Op::sub) : nullptr;
    if (!lowered || !reduces(sum, Op::sum, exponential) ||
        !reduces(lowered->operands[1], Op::amax, lowered->operands[0]))
      return false;
    softmax = true;
    return is_masked(lowered->operands[0]);
  }
  // What is divided, and by what; kNoValue where the value is no quotient.
  std::pair<ValueId, ValueId> share(ValueId value) const {
    if (const Instruction* divided = maker(value, Op::div)) return {divided->operands[0], divided->operands[1]};
    if (const Instruction* product = maker(value, Op::mul))
      for (size_t number = 0; number < 2; ++number)
        if (const Instruction* inverse = maker_behind_views(product->operands[number]);
            inverse && is_op(*inverse, Op::reciprocal))
          return {product->operands[1 - number], inverse->operands[0]};
    return {kNoValue, kNoValue};
  }
  // Its gradient: result = select(mask, x, fill) * factor
  void is_filled(ValueId result) {
    if (const Instruction* product = maker(result, Op::mul)) {
      size_t number = 0;
      while (number < 2 && !maker(product->operands[number], Op::full)) ++number;
      if (number == 2) return;
      factor = maker(product->operands[number], Op::full)->operands[0];
      result = product->operands[1 - number];
    }
    is_masked(result);
  }
  bool is_masked(ValueId value) {
    const Instruction* masked = maker(value, Op::select);
    const Instruction* filled = masked ? maker(masked->operands[2], Op::full) : nullptr;
    if (!filled || makers_.count(masked->operands[0]) != 0) return false;
    mask = masked->operands[0];
    fill = filled->operands[0];
    return true;
  }

  const Instruction* maker(ValueId value, Op op) const {
    const auto found = makers_.find(value);
    return found != makers_.end() && found->second->op == op ? found->second : nullptr;
  }
  const Instruction* maker_behind_views(ValueId value) const {
    for (;;) {
      const auto found = makers_.find(value);
      if (found == makers_.end()) return nullptr;
      if (found->second->op != Op::broadcast && found->second->op != Op::reshape) return found->second;
      value = found->second->operands[0];
    }
  }
  bool reduces(ValueId value, Op reduction, ValueId of) const {
    const Instruction* made = maker_behind_views(value);
    if (made && made->op == Op::select) made = maker_behind_views(made->operands[2]);
    return made && made->op == reduction && made->operands[0] == of;
  }

  ValueMap<const Instruction*> makers_;
};

// The instructions that become one, by place.
struct Chain {
  static constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> places;  // ascending
  size_t kernel = 0, first = kNone, second = kNone, across = kNone;
  std::vector<size_t> shared;   // reshapes of the weights that others read too: the chain has copies of them
  std::vector<size_t> delayed;  // read what the chain makes before its last place; among them the shared
  int products = -1, weights = -1;
  size_t result = 0;    // the weights' place among the kernel's results
  bool stored = false;  // others read the weights too
};

class Joiner {
 public:
  Joiner(Region& region, std::vector<LoweredKernel>& kernels)
      : region_(region), code_(region.body.instructions), kernels_(kernels) {
    for (size_t i = 0; i < code_.size(); ++i) {
      for (ValueId result : code_[i].results) makers_[result] = i;
      for_each_use(code_[i], [&](ValueId value) {
        auto& users = users_[value];
        if (users.empty() || users.back() != i) users.push_back(i);
      });
    }
  }

  void run() {
    std::vector<Chain> chains;
    std::vector<bool> gone(code_.size());
    for (size_t i = 0; i < code_.size(); ++i) {
      if (code_[i].code != Code::Kernel) continue;
      Chain chain;
      chain.kernel = i;
      if (!find(&chain)) continue;
      const auto is_gone = [&](size_t place) { return gone[place]; };
      if (std::any_of(chain.places.begin(), chain.places.end(), is_gone) ||
          std::any_of(chain.delayed.begin(), chain.delayed.end(), is_gone))
        continue;
      for (size_t place : chain.places) gone[place] = true;
      for (size_t place : chain.delayed) gone[place] = true;
      chains.push_back(std::move(chain));
    }
    if (chains.empty()) return;
    std::unordered_map<size_t, std::pair<const Chain*, Instruction>> joined;  // by the last place
    for (const Chain& chain : chains) joined.emplace(chain.places.back(), std::make_pair(&chain, join(chain)));
    std::vector<Instruction> out;
    out.reserve(code_.size());
    for (size_t i = 0; i < code_.size(); ++i) {
      if (auto found = joined.find(i); found != joined.end()) {
        out.push_back(std::move(found->second.second));
        for (size_t place : found->second.first->delayed) out.push_back(std::move(code_[place]));
      } else if (!gone[i]) {
        out.push_back(std::move(code_[i]));
      }
    }
    code_ = std::move(out);
  }

 private:
  const ValueList& sizes(ValueId value) const { return region_.type(value).sizes; }

  bool find(Chain* chain) const {
    const LoweredKernel& kernel = kernels_[code_[chain->kernel].id];
    const KernelShape& shape = kernel.shape;
    if (shape.column || shape.split < 1 || kernel.product.left != kNoValue || !kernel.row_reductions.empty() ||
        static_cast<size_t>(shape.split) + 1 != shape.sizes.size())
      return false;
    for (ValueId target : kernel.in_place)
      if (target != kNoValue) return false;
    const std::vector<size_t> path = path_to_product(kernel, chain);
    if (path.empty()) return false;
    chain->second = path.back();
    for (size_t o = 0; o < kernel.bindings.size(); ++o)
      if (kernel.program.operands[o].kind == Operand::Kind::Input &&
          kernel.bindings[o].space == KernelBinding::Space::Element &&
          first_product(o, code_[chain->second], kernel, chain))
        break;
    if (chain->products < 0) return false;
    chain->places.push_back(chain->kernel);
    chain->places.insert(chain->places.end(), path.begin(), path.end());
    if (chain->across != Chain::kNone) chain->places.push_back(chain->across);
    std::sort(chain->places.begin(), chain->places.end());
    if (!others_wait(chain)) return false;
    // Linear layers with rows of features between them: what lies between is small beside their weights, which
    // each task would pack for itself.
    const bool keeps = chain->stored || code_[chain->kernel].results.size() > 1;
    return !keeps || !is_one(sizes(code_[chain->second].operands[0])[0]);
  }
  bool is_one(ValueId size) const {
    const auto made = makers_.find(size);
    return made != makers_.end() && code_[made->second].code == Code::Const && code_[made->second].number.i == 1;
  }

  // From an output of the kernel to the product that reads it.
  std::vector<size_t> path_to_product(const LoweredKernel& kernel, Chain* chain) const {
    const Instruction& made = code_[chain->kernel];
    for (size_t o = 0; o < kernel.bindings.size(); ++o) {
      if (kernel.program.operands[o].kind != Operand::Kind::Output ||
          kernel.bindings[o].space != KernelBinding::Space::Element)
        continue;
      const ValueId value = kernel.bindings[o].value;
      const auto users = users_.find(value);
      if (users == users_.end()) continue;
      for (size_t first : users->second) {
        std::vector<size_t> path = second_product(value, first, kernel.shape.sizes.back(), chain);
        if (path.empty()) continue;
        chain->weights = static_cast<int>(o);
        chain->result =
            static_cast<size_t>(std::find(made.results.begin(), made.results.end(), value) - made.results.begin());
        return path;
      }
    }
    return {};
  }

  // The chain's results appear at its last place, and its operands are read there. A view, a kernel or another pure op
  // that reads a result before that place moves behind it. A product or an effect (a guard, a host call, a write) that
  // reads one forbids the chain, and so does a kernel in between that writes into an input's memory.
  bool others_wait(Chain* chain) const {
    const Instruction& kernel = code_[chain->kernel];
    const ValueId weights = kernel.results[chain->result];
    ValueSet late(kernel.results.begin(), kernel.results.end());
    late.insert(code_[chain->second].results[0]);
    if (chain->across != Chain::kNone) late.insert(code_[chain->across].results[0]);
    const auto is_in = [&](size_t place) {
      return std::binary_search(chain->places.begin(), chain->places.end(), place);
    };
    chain->stored = !chain->shared.empty();
    for (size_t user : users_.at(weights)) chain->stored = chain->stored || !is_in(user);
    for (size_t place : chain->shared) late.insert(code_[place].results[0]);
    for (size_t i = chain->places.front(); i < chain->places.back(); ++i) {
      if (std::find(chain->shared.begin(), chain->shared.end(), i) != chain->shared.end()) chain->delayed.push_back(i);
      if (is_in(i)) continue;
      bool reads = false;
      for_each_use(code_[i], [&](ValueId value) { reads = reads || late.count(value) != 0; });
      if (code_[i].code == Code::Kernel && writes_input(kernels_[code_[i].id])) return false;
      if (!reads) continue;
      if (code_[i].code != Code::Kernel && (code_[i].code != Code::Op || code_[i].op == Op::dot)) return false;
      chain->delayed.push_back(i);
      late.insert(code_[i].results.begin(), code_[i].results.end());
    }
    return true;
  }
  static bool writes_input(const LoweredKernel& kernel) {
    return std::any_of(kernel.in_place.begin(), kernel.in_place.end(),
                       [](ValueId target) { return target != kNoValue; });
  }

  // Follows the kernel's result, from its user at `place` on, through reshapes; empty: not to a product. Notes a
  // product that has the same value as its right operand, and what others read on the way.
  std::vector<size_t> second_product(ValueId value, size_t place, ValueId columns, Chain* chain) const {
    std::vector<size_t> path;
    for (;;) {
      path.push_back(place);
      const Instruction& user = code_[place];
      if (!is_op(user, Op::reshape)) break;
      value = user.results[0];
      const auto users = users_.find(value);
      if (users == users_.end()) return {};
      const auto product = std::find_if(users->second.begin(), users->second.end(),
                                        [&](size_t one) { return multiplies(one, value, 0); });
      place = product == users->second.end() ? users->second[0] : *product;
    }
    const DType dtype = region_.type(value).dtype;
    if (!multiplies(place, value, 0) || sizes(value)[2] != columns || (dtype != DType::F32 && dtype != DType::F64))
      return {};
    const Places& users = users_.at(value);
    const auto across = std::find_if(users.begin(), users.end(), [&](size_t one) { return multiplies(one, value, 1); });
    if (across != users.end()) chain->across = *across;
    // Whoever else reads a reshape reads it behind the chain, from weights that are stored.
    for (size_t i = path.size() - 1; i-- > 0;) {
      const Places& readers = users_.at(code_[path[i]].results[0]);
      const bool others = std::any_of(readers.begin(), readers.end(),
                                      [&](size_t one) { return one != path[i + 1] && one != chain->across; });
      if (!others) continue;
      chain->shared.assign(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      break;
    }
    return path;
  }
  // Whether the instruction is a product with the value as that operand, and only there.
  bool multiplies(size_t place, ValueId value, size_t operand) const {
    const Instruction& user = code_[place];
    return is_op(user, Op::dot) && user.operands[operand] == value && user.operands[1 - operand] != value;
  }

  // Whether operand `o` is a product of the same rows that only the kernel reads.
  bool first_product(size_t o, const Instruction& second, const LoweredKernel& kernel, Chain* chain) const {
    ValueId value = kernel.bindings[o].value;
    std::vector<size_t> places;
    for (size_t reader = chain->kernel;;) {
      const auto maker = makers_.find(value);
      if (maker == makers_.end() || users_.at(value) != Places{reader}) return false;
      const Instruction& made = code_[maker->second];
      places.push_back(maker->second);
      chain->first = maker->second;
      if (is_op(made, Op::dot)) break;
      if (!is_op(made, Op::reshape)) return false;
      reader = maker->second;
      value = made.operands[0];
    }
    const ValueList &mine = sizes(value), &rows = sizes(second.operands[0]);
    if (mine[0] != rows[0] || mine[1] != rows[1] || mine[2] != rows[2] ||
        sizes(kernel.bindings[o].value).back() != mine[2] ||
        region_.type(value).dtype != region_.type(second.operands[0]).dtype)
      return false;
    chain->products = static_cast<int>(o);
    chain->places.insert(chain->places.end(), places.begin(), places.end());
    return true;
  }

  Instruction join(const Chain& chain) {
    Instruction joined;
    joined.code = Code::Kernel;
    joined.id = code_[chain.kernel].id;
    joined.origin = code_[chain.kernel].origin;
    joined.blocks.push_back(std::make_unique<Block>());
    std::vector<Instruction>& block = joined.blocks[0]->instructions;
    LoweredKernel& kernel = kernels_[joined.id];
    const Instruction& row_kernel = code_[chain.kernel];
    const ValueList yielded = row_kernel.blocks[0]->instructions.back().operands;
    note_mask(*row_kernel.blocks[0], yielded[chain.result], &kernel);
    ValueMap<ValueId> renamed;
    for (size_t i = 0; i < yielded.size(); ++i) renamed[row_kernel.results[i]] = yielded[i];
    for (size_t place : chain.places) {
      if (place != chain.kernel) {
        block.push_back(clone_instruction(code_[place]));
        if (std::find(chain.shared.begin(), chain.shared.end(), place) == chain.shared.end()) continue;
        ValueId& own = block.back().results[0];
        own = region_.add_value(Type(region_.type(own)));
        renamed[code_[place].results[0]] = own;
        continue;
      }
      for (const Instruction& inner : row_kernel.blocks[0]->instructions)
        if (inner.code != Code::Yield) block.push_back(clone_instruction(inner));
    }
    for (Instruction& instruction : block)
      for (ValueId& operand : instruction.operands)
        if (auto found = renamed.find(operand); found != renamed.end()) operand = found->second;
    StripProducts& strips = kernel.strips;
    const Instruction &first = code_[chain.first], &second = code_[chain.second];
    strips.left = first.operands[0], strips.right = first.operands[1];
    strips.products = chain.products, strips.weights = chain.weights;
    strips.values = second.operands[1], strips.result = second.results[0];
    strips.stored = chain.stored;
    strips.writes_memory = chain.stored || yielded.size() > 1;
    Instruction yield;
    yield.code = Code::Yield;
    for (size_t i = 0; i < yielded.size(); ++i) {
      if (i == chain.result && !chain.stored) continue;
      joined.results.push_back(row_kernel.results[i]);
      yield.operands.push_back(yielded[i]);
    }
    give_result(strips.result, &joined, &yield);
    if (chain.across != Chain::kNone) {
      strips.across_left = code_[chain.across].operands[0];
      strips.across = code_[chain.across].results[0];
      give_result(strips.across, &joined, &yield);
    }
    block.push_back(std::move(yield));
    return joined;
  }

  // A product's result becomes one of the joined kernel; its block has a value of its own for it.
  void give_result(ValueId result, Instruction* joined, Instruction* yield) {
    const ValueId inside = region_.add_value(Type(region_.type(result)));
    for (Instruction& instruction : joined->blocks[0]->instructions)
      if (instruction.results[0] == result) instruction.results[0] = inside;
    joined->results.push_back(result);
    yield->operands.push_back(inside);
  }

  static void note_mask(const Block& block, ValueId result, LoweredKernel* kernel) {
    const MaskedWeights weights(block, result);
    if (weights.mask == kNoValue) return;
    for (size_t o = 0; o < kernel->bindings.size(); ++o)
      if (kernel->bindings[o].value == weights.mask && kernel->bindings[o].space == KernelBinding::Space::Element) {
        kernel->strips.mask = static_cast<int>(o);
        kernel->strips.softmax = weights.softmax;
        kernel->strips.fill = weights.fill;
        kernel->strips.factor = weights.factor;
      }
  }

  Region& region_;
  std::vector<Instruction>& code_;
  std::vector<LoweredKernel>& kernels_;
  using Places = SmallVector<size_t, 3>;
  ValueMap<size_t> makers_;
  ValueMap<Places> users_;  // each once
};

}  // namespace

void join_strips(Region& region, std::vector<LoweredKernel>* kernels) { Joiner(region, *kernels).run(); }

}  // namespace tsc::jit
