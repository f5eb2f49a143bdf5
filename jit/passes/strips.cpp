#include "jit/passes/strips.h"

#include <algorithm>
#include <unordered_map>

#include "jit/region/liveness.h"

namespace tsc::jit {
namespace {

bool is_op(const Instruction& instruction, Op op) {
  return instruction.code == Code::Op && instruction.op == op;
}

// What a softmax over masked rows looks like in a kernel's block:
//   t = select(mask, scores, lowest); e = exp(t - amax(t)); result = e / sum(e)
// Where the mask is false and `lowest` is -inf the result is 0, or nan as the whole row is.
class MaskedSoftmax {
 public:
  MaskedSoftmax(const Block& block) {
    for (const Instruction& instruction : block.instructions)
      if (instruction.code == Code::Op) makers_[instruction.results[0]] = &instruction;
    const Instruction& yield = block.instructions.back();
    const Instruction* divided = maker(yield.operands[0], Op::div);
    const Instruction* raised = divided ? maker(divided->operands[0], Op::exp) : nullptr;
    const Instruction* lowered = raised ? maker(raised->operands[0], Op::sub) : nullptr;
    const Instruction* masked = lowered ? maker(lowered->operands[0], Op::select) : nullptr;
    const Instruction* filled = masked ? maker(masked->operands[2], Op::full) : nullptr;
    if (!filled || makers_.count(masked->operands[0]) != 0) return;
    if (!reduces(divided->operands[1], Op::sum, divided->operands[0])) return;
    if (!reduces(lowered->operands[1], Op::amax, lowered->operands[0])) return;
    mask = masked->operands[0];
    lowest = filled->operands[0];
  }

  ValueId mask = kNoValue, lowest = kNoValue;

 private:
  const Instruction* maker(ValueId value, Op op) const {
    const auto found = makers_.find(value);
    return found != makers_.end() && found->second->op == op ? found->second : nullptr;
  }
  bool reduces(ValueId value, Op reduction, ValueId of) const {
    const Instruction* made = nullptr;
    for (;;) {
      const auto found = makers_.find(value);
      if (found == makers_.end()) return false;
      made = found->second;
      if (made->op != Op::broadcast && made->op != Op::reshape) break;
      value = made->operands[0];
    }
    return made->op == reduction && made->operands[0] == of;
  }

  std::unordered_map<ValueId, const Instruction*> makers_;
};

// The instructions that become one, by place.
struct Chain {
  std::vector<size_t> places;  // ascending; the kernel among them, the second product last
  size_t kernel = 0;
  int products = -1, weights = -1;
};

class Joiner {
 public:
  Joiner(Region& region, std::vector<LoweredKernel>& kernels)
      : region_(region), code_(region.body.instructions), kernels_(kernels) {
    for (size_t i = 0; i < code_.size(); ++i) {
      for (ValueId result : code_[i].results) makers_[result] = i;
      for_each_use(code_[i], [&](ValueId value) {
        std::vector<size_t>& users = users_[value];
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
      if (std::any_of(chain.places.begin(), chain.places.end(), [&](size_t p) { return gone[p]; }))
        continue;
      for (size_t place : chain.places) gone[place] = true;
      chains.push_back(std::move(chain));
    }
    if (chains.empty()) return;
    std::unordered_map<size_t, Instruction> joined;  // by the second product's place
    for (const Chain& chain : chains) joined.emplace(chain.places.back(), join(chain));
    std::vector<Instruction> out;
    for (size_t i = 0; i < code_.size(); ++i) {
      if (auto found = joined.find(i); found != joined.end()) out.push_back(std::move(found->second));
      else if (!gone[i]) out.push_back(std::move(code_[i]));
    }
    code_ = std::move(out);
  }

 private:
  const ValueList& sizes(ValueId value) const { return region_.type(value).sizes; }

  bool find(Chain* chain) const {
    const LoweredKernel& kernel = kernels_[code_[chain->kernel].id];
    const KernelShape& shape = kernel.shape;
    if (shape.column || shape.split < 1 || kernel.product.left != kNoValue ||
        !kernel.row_reductions.empty() ||
        static_cast<size_t>(shape.split) + 1 != shape.sizes.size())
      return false;
    for (ValueId target : kernel.in_place)
      if (target != kNoValue) return false;
    for (size_t o = 0; o < kernel.bindings.size(); ++o) {
      if (kernel.program.operands[o].kind != Operand::Kind::Output) continue;
      if (chain->weights >= 0 || kernel.bindings[o].space != KernelBinding::Space::Element) return false;
      chain->weights = static_cast<int>(o);
    }
    const size_t second = second_product(*chain, kernel);
    if (second == SIZE_MAX) return false;
    for (size_t o = 0; o < kernel.bindings.size(); ++o)
      if (kernel.program.operands[o].kind == Operand::Kind::Input &&
          kernel.bindings[o].space == KernelBinding::Space::Element &&
          first_product(o, code_[second], kernel, chain))
        break;
    if (chain->products < 0) return false;
    ValueId value = code_[chain->kernel].results[0];
    chain->places.push_back(chain->kernel);
    for (size_t place = SIZE_MAX; place != second; value = code_[place].results[0]) {
      place = users_.at(value)[0];
      chain->places.push_back(place);
    }
    std::sort(chain->places.begin(), chain->places.end());
    return chain->places.back() == second;
  }

  // Follows the kernel's result through reshapes that nobody else reads; SIZE_MAX: not to a product.
  size_t second_product(const Chain& chain, const LoweredKernel& kernel) const {
    ValueId value = code_[chain.kernel].results[0];
    for (;;) {
      const auto users = users_.find(value);
      if (users == users_.end() || users->second.size() != 1) return SIZE_MAX;
      const size_t place = users->second[0];
      const Instruction& user = code_[place];
      if (is_op(user, Op::reshape)) {
        value = user.results[0];
        continue;
      }
      const bool multiplies = is_op(user, Op::dot) && user.operands[0] == value &&
                              user.operands[1] != value &&
                              sizes(value)[2] == kernel.shape.sizes.back();
      const DType dtype = region_.type(value).dtype;
      return multiplies && (dtype == DType::F32 || dtype == DType::F64) ? place : SIZE_MAX;
    }
  }

  // Whether operand `o` is a product of the same rows that only the kernel reads.
  bool first_product(size_t o, const Instruction& second, const LoweredKernel& kernel,
                     Chain* chain) const {
    ValueId value = kernel.bindings[o].value;
    std::vector<size_t> places;
    for (size_t reader = chain->kernel;;) {
      const auto maker = makers_.find(value);
      if (maker == makers_.end() || users_.at(value) != std::vector<size_t>{reader}) return false;
      const Instruction& made = code_[maker->second];
      places.push_back(maker->second);
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
    note_mask(*code_[chain.kernel].blocks[0], &kernel);
    std::unordered_map<ValueId, ValueId> renamed;
    for (size_t place : chain.places) {
      if (place != chain.kernel) {
        block.push_back(clone_instruction(code_[place]));
        continue;
      }
      for (const Instruction& inner : code_[place].blocks[0]->instructions) {
        if (inner.code == Code::Yield) renamed[code_[place].results[0]] = inner.operands[0];
        else block.push_back(clone_instruction(inner));
      }
    }
    for (Instruction& instruction : block)
      for (ValueId& operand : instruction.operands)
        if (auto found = renamed.find(operand); found != renamed.end()) operand = found->second;
    Instruction& second = block.back();
    StripProducts& strips = kernel.strips;
    const Instruction& first = first_of(chain);
    strips.left = first.operands[0], strips.right = first.operands[1];
    strips.products = chain.products, strips.weights = chain.weights;
    strips.values = second.operands[1], strips.result = second.results[0];
    joined.results.push_back(strips.result);
    const ValueId inside = region_.add_value(Type(region_.type(strips.result)));
    second.results[0] = inside;
    Instruction yield;
    yield.code = Code::Yield;
    yield.operands.push_back(inside);
    block.push_back(std::move(yield));
    return joined;
  }

  const Instruction& first_of(const Chain& chain) const {
    return *std::find_if(code_.begin() + static_cast<std::ptrdiff_t>(chain.places[0]), code_.end(),
                         [&](const Instruction& i) { return is_op(i, Op::dot) && leads_to(i, chain); });
  }
  bool leads_to(const Instruction& dot, const Chain& chain) const {
    const size_t place = static_cast<size_t>(&dot - code_.data());
    return std::find(chain.places.begin(), chain.places.end(), place) != chain.places.end();
  }

  static void note_mask(const Block& block, LoweredKernel* kernel) {
    const MaskedSoftmax softmax(block);
    if (softmax.mask == kNoValue) return;
    for (size_t o = 0; o < kernel->bindings.size(); ++o)
      if (kernel->bindings[o].value == softmax.mask &&
          kernel->bindings[o].space == KernelBinding::Space::Element) {
        kernel->strips.mask = static_cast<int>(o);
        kernel->strips.lowest = softmax.lowest;
      }
  }

  Region& region_;
  std::vector<Instruction>& code_;
  std::vector<LoweredKernel>& kernels_;
  std::unordered_map<ValueId, size_t> makers_;
  std::unordered_map<ValueId, std::vector<size_t>> users_;  // places, each once
};

}  // namespace

void join_strips(Region& region, std::vector<LoweredKernel>* kernels) {
  Joiner(region, *kernels).run();
}

}  // namespace tsc::jit
