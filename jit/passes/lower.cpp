#include "jit/passes/lower.h"

#include <algorithm>

#include "jit/passes/fuse_rules.h"
#include "jit/region/raises.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

enum class Class : uint8_t { Uniform, Row, Element, ColumnResult };

Reduction reduction_of(Op op) {
  return op == Op::sum    ? Reduction::sum
         : op == Op::prod ? Reduction::prod
         : op == Op::amax ? Reduction::amax
                          : Reduction::amin;
}

// What a Lowering knows of the values of its kernel.
struct Tables {
  ValueMap<const Instruction*> members;
  ValueMap<Class> classes;
  ValueMap<size_t> stages;
  ValueMap<NestValue> rows, parameters;
  ValueMap<std::vector<NestValue>> elements;  // by stage; kNoElement: not computed there
  ValueMap<uint32_t> scratch;
  ValueSet seen;

  void clear() {
    members.clear();
    classes.clear();
    stages.clear();
    rows.clear();
    parameters.clear();
    elements.clear();
    scratch.clear();
  }
};
constexpr NestValue kNoElement = ~NestValue{0};

class Lowering {
 public:
  Lowering(const Region& region, const Instruction& kernel, const KernelShape& shape, const EqualSizes& facts,
           Tables* tables)
      : region_(region), kernel_(kernel), facts_(facts), tables_(*tables) {
    tables_.clear();
    out_.shape = shape;
    out_.program.kind = shape.column ? KernelProgram::Kind::Column : KernelProgram::Kind::Row;
    for (const Instruction& i : kernel.blocks[0]->instructions)
      if (!is_product(i))
        for (ValueId result : i.results) tables_.members[result] = &i;
    out_.program.stages.resize(1);
  }

  LoweredKernel run() {
    const Instruction& yield = kernel_.blocks[0]->instructions.back();
    for (size_t i = 0; i < yield.operands.size(); ++i) store(yield.operands[i], kernel_.results[i]);
    out_.program.values = next_;
    out_.program.cost = cost_;
    out_.in_place.assign(out_.bindings.size(), kNoValue);
    choose_product_output(yield);
    return std::move(out_);
  }

 private:
  // The matrix product and the view of it stay outside the program, which loads what they give.
  bool is_product(const Instruction& i) {
    const bool product = i.code == Code::Op && i.op == Op::dot;
    if (product) {
      out_.product.left = i.operands[0];
      out_.product.right = i.operands[1];
    } else if (out_.product.value == kNoValue || i.code != Code::Op || i.operands[0] != out_.product.value ||
               i.op != Op::reshape) {
      return false;
    }
    out_.product.value = i.results[0];
    return true;
  }

  bool reads_product(ValueId wanted) const {
    std::vector<ValueId> pending = {wanted};
    ValueSet& seen = tables_.seen;
    seen.clear();
    while (!pending.empty()) {
      const ValueId v = pending.back();
      pending.pop_back();
      if (v == out_.product.value) return true;
      const Instruction* i = seen.insert(v) ? member(v) : nullptr;
      for (size_t k = 0; i && k < tensor_count(*i); ++k) pending.push_back(i->operands[k]);
    }
    return false;
  }

  void choose_product_output(const Instruction& yield) {
    if (out_.product.value == kNoValue) return;
    for (size_t i = 0; i < yield.operands.size() && out_.product.output < 0; ++i) {
      if (dtype(yield.operands[i]) != dtype(out_.product.value) || !reads_product(yield.operands[i])) continue;
      for (size_t o = 0; o < out_.bindings.size(); ++o)
        if (out_.bindings[o].value == kernel_.results[i] && out_.program.operands[o].kind == Operand::Kind::Output)
          out_.product.output = static_cast<int>(o);
    }
  }

  const Instruction* member(ValueId v) const {
    auto found = tables_.members.find(v);
    return found == tables_.members.end() ? nullptr : found->second;
  }
  DType dtype(ValueId v) const { return region_.type(v).dtype; }

  // Row values have rank k, or S's rank with ones behind k; told apart by how they came about.
  Class class_of(ValueId v) {
    if (auto found = tables_.classes.find(v); found != tables_.classes.end()) return found->second;
    Class out = Class::Element;
    const Instruction* i = member(v);
    if (!i) {
      out = external_class(v);
    } else if (i->op == Op::full) {
      out = Class::Uniform;
    } else if (is_reduction(i->op)) {
      out = reduces_rows(*i) ? Class::ColumnResult : Class::Row;
    } else if (i->op == Op::broadcast || i->op == Op::rng_bits) {
      out = Class::Element;
    } else {
      out = Class::Uniform;
      for (size_t k = 0; k < tensor_count(*i); ++k) out = std::max(out, class_of(i->operands[k]));
      if (out == Class::Uniform) out = external_class(v);
    }
    return tables_.classes[v] = out;
  }

  Class external_class(ValueId v) const {
    const ValueList& sizes = region_.type(v).sizes;
    const KernelShape& shape = out_.shape;
    if (shape.split < 0 || shape.column) return Class::Element;
    if (sizes.size() == shape.sizes.size()) {
      // An Element has S's own last size; a Row value a one in its place.
      for (size_t i = static_cast<size_t>(shape.split); i < sizes.size(); ++i)
        if (sizes[i] != shape.sizes[i] && is_one(sizes[i]) && !is_one(shape.sizes[i])) return Class::Row;
      return Class::Element;
    }
    return Class::Row;
  }

  // As the pass that made the kernel knows it: a size may be an input that is assumed to be 1.
  bool is_one(ValueId size) const { return facts_.constant(size) == 1; }

  // A reduction over the leading axes: of a column kernel, or beside those of a row kernel.
  bool reduces_rows(const Instruction& i) const {
    return out_.shape.column || trailing_split(region_, i) != out_.shape.split;
  }

  // The first stage in which the value can be computed.
  size_t stage_of(ValueId v) {
    if (auto found = tables_.stages.find(v); found != tables_.stages.end()) return found->second;
    const Instruction* i = member(v);
    size_t stage = 0;
    if (i) {
      for (size_t k = 0; k < tensor_count(*i); ++k) stage = std::max(stage, stage_of(i->operands[k]));
      if (is_reduction(i->op) && !reduces_rows(*i)) {
        reduce(v, *i, stage);
        ++stage;
      }
    }
    return tables_.stages[v] = stage;
  }

  NestStage& stage(size_t number) {
    if (out_.program.stages.size() <= number) out_.program.stages.resize(number + 1);
    return out_.program.stages[number];
  }

  NestValue add(std::vector<NestInstruction>& list, NestInstruction instruction) {
    instruction.result = next_++;
    list.push_back(std::move(instruction));
    return list.back().result;
  }

  uint32_t operand(Operand::Kind kind, DType type, KernelBinding binding) {
    for (uint32_t i = 0; i < out_.bindings.size(); ++i)
      if (out_.program.operands[i].kind == kind && out_.bindings[i].value == binding.value &&
          out_.bindings[i].space == binding.space)
        return i;
    Operand made;
    made.kind = kind;
    made.dtype = type;
    made.access = binding.space == KernelBinding::Space::Row ? Access::Broadcast : Access::Contiguous;
    out_.program.operands.push_back(made);
    out_.bindings.push_back(binding);
    return static_cast<uint32_t>(out_.bindings.size() - 1);
  }

  // ---- values ----

  NestValue value(ValueId v, size_t at) {
    switch (class_of(v)) {
      case Class::Uniform: return uniform(v);
      case Class::Row: return row(v);
      default: return element(v, at);
    }
  }

  NestValue parameter(ValueId scalar) {
    if (auto found = tables_.parameters.find(scalar); found != tables_.parameters.end()) return found->second;
    DType type = region_.type(scalar).kind == ValueKind::Float ? DType::F64 : DType::I64;
    NestInstruction i;
    i.code = NestCode::Parameter;
    i.dtype = type;
    i.slot = out_.program.parameters++;
    out_.program.parameter_dtypes.push_back(type);
    out_.parameters.push_back(scalar);
    return tables_.parameters[scalar] = add(stage(0).row, i);
  }

  NestValue uniform(ValueId v) {
    if (auto found = tables_.rows.find(v); found != tables_.rows.end()) return found->second;
    const Instruction& i = *member(v);
    NestValue out;
    if (i.op == Op::full) {
      NestValue scalar = parameter(i.operands[0]);
      NestInstruction cast;
      cast.code = NestCode::Apply;
      cast.op = Op::cast;
      cast.dtype = dtype(v);
      cast.inputs.push_back(scalar);
      out = add(stage(0).row, cast);
    } else {
      out = apply(i, v, 0, stage(0).row);
    }
    return tables_.rows[v] = out;
  }

  NestValue row(ValueId v) {
    if (auto found = tables_.rows.find(v); found != tables_.rows.end()) return found->second;
    const Instruction* i = member(v);
    size_t at = stage_of(v);
    if (auto found = tables_.rows.find(v); found != tables_.rows.end()) return found->second;  // a reduction
    NestValue out;
    if (!i) {
      NestInstruction load;
      load.code = NestCode::Load;
      load.dtype = dtype(v);
      load.slot = operand(Operand::Kind::Input, dtype(v), {v, KernelBinding::Space::Row, {}});
      out = add(stage(0).row, load);
    } else if (is_alias(i->op)) {
      out = row(i->operands[0]);
    } else {
      out = apply(*i, v, at, stage(at).row);
    }
    return tables_.rows[v] = out;
  }

  static bool is_alias(Op op) { return op == Op::reshape || op == Op::detach || op == Op::copy || op == Op::broadcast; }

  NestValue element(ValueId v, size_t at) {
    if (auto found = tables_.elements.find(v); found != tables_.elements.end())
      if (at < found->second.size() && found->second[at] != kNoElement) return found->second[at];
    const Instruction* i = member(v);
    NestValue out;
    if (!i) {
      NestInstruction load;
      load.code = NestCode::Load;
      load.dtype = dtype(v);
      load.slot = operand(Operand::Kind::Input, dtype(v), {v, KernelBinding::Space::Element, {}});
      out = add(stage(at).element, load);
    } else if (is_alias(i->op)) {
      out = value(i->operands[0], at);
    } else if (i->op == Op::rng_bits) {
      out = random(v, *i, at);
    } else {
      size_t first = stage_of(v);
      out = first < at ? from_scratch(v, first, at) : apply(*i, v, at, stage(at).element);
    }
    std::vector<NestValue>& of_stages = tables_.elements[v];
    if (of_stages.size() <= at) of_stages.resize(at + 1, kNoElement);
    return of_stages[at] = out;
  }

  // Computed in an earlier stage: kept in a scratch row there.
  NestValue from_scratch(ValueId v, size_t first, size_t at) {
    const auto [found, fresh] = tables_.scratch.emplace(v, static_cast<uint32_t>(out_.program.scratch.size()));
    const uint32_t slot = found->second;
    if (fresh) {
      out_.program.scratch.push_back(dtype(v));
      NestValue computed = element(v, first);
      NestInstruction keep;
      keep.code = NestCode::ScratchStore;
      keep.dtype = dtype(v);
      keep.slot = slot;
      keep.inputs.push_back(computed);
      stage(first).element.push_back(keep);
    }
    NestInstruction load;
    load.code = NestCode::ScratchLoad;
    load.dtype = dtype(v);
    load.slot = slot;
    return add(stage(at).element, load);
  }

  NestValue apply(const Instruction& i, ValueId v, size_t at, std::vector<NestInstruction>& list) {
    NestInstruction made;
    made.code = NestCode::Apply;
    made.op = i.op;
    made.dtype = dtype(v);
    size_t stage_number = static_cast<size_t>(-1);
    for (size_t s = 0; s < out_.program.stages.size(); ++s)
      if (&out_.program.stages[s].row == &list || &out_.program.stages[s].element == &list) stage_number = s;
    bool row_list = &out_.program.stages[stage_number].row == &list;
    for (size_t k = 0; k < tensor_count(i); ++k) made.inputs.push_back(value(i.operands[k], at));
    cost_ += 250;
    NestStage& target = stage(stage_number);
    return add(row_list ? target.row : target.element, made);
  }

  NestValue random(ValueId v, const Instruction& i, size_t at) {
    NestInstruction index;
    index.code = NestCode::Load;
    index.dtype = DType::I64;
    index.slot = operand(Operand::Kind::Index, DType::I64, {kNoValue, KernelBinding::Space::Index, {}});
    NestInstruction made;
    made.code = NestCode::Philox;
    made.dtype = dtype(v);
    made.inputs.push_back(parameter(i.operands[0]));
    made.inputs.push_back(parameter(i.operands[1]));
    made.inputs.push_back(add(stage(at).element, index));
    cost_ += 3000;
    return add(stage(at).element, made);
  }

  void reduce(ValueId v, const Instruction& i, size_t at) {
    NestInstruction made;
    made.code = NestCode::Reduce;
    made.reduction = reduction_of(i.op);
    made.dtype = dtype(v);
    made.inputs.push_back(value(i.operands[0], at));
    if (i.op == Op::amax || i.op == Op::amin) out_.empty_raises = true;
    tables_.rows[v] = add(stage(at).element, made);
    cost_ += 250;
  }

  void store(ValueId v, ValueId result) {
    NestInstruction made;
    made.code = NestCode::Store;
    made.dtype = dtype(v);
    Class kind = class_of(v);
    if (kind == Class::ColumnResult && !out_.shape.column) return accumulate(v, result);
    if (out_.shape.column) {
      const Instruction& i = *member(v);
      reduce_column(v, i);
      made.inputs.push_back(tables_.rows[v]);
      made.slot =
          operand(Operand::Kind::Output, dtype(v), {result, KernelBinding::Space::Column, region_.type(result).sizes});
      stage(0).row.push_back(made);
      return;
    }
    size_t at = stage_of(v);
    if (kind == Class::Row) {
      made.inputs.push_back(row(v));
      made.slot =
          operand(Operand::Kind::Output, dtype(v), {result, KernelBinding::Space::Row, region_.type(result).sizes});
      stage(at).row.push_back(made);
      return;
    }
    made.inputs.push_back(kind == Class::Uniform ? uniform(v) : element(v, at));
    made.slot =
        operand(Operand::Kind::Output, dtype(v), {result, KernelBinding::Space::Element, region_.type(result).sizes});
    stage(at).element.push_back(made);
  }

  // A reduction over the rows inside a row kernel: every row joins the accumulators of its lane.
  void accumulate(ValueId v, ValueId result) {
    const Instruction& i = *member(v);
    const size_t at = stage_of(v);
    NestInstruction made;
    made.code = NestCode::Accumulate;
    made.reduction = reduction_of(i.op);
    made.dtype = row_accumulator_dtype(made.reduction, dtype(i.operands[0]));
    made.inputs.push_back(value(i.operands[0], at));
    made.slot = operand(Operand::Kind::Accumulator, made.dtype,
                        {result, KernelBinding::Space::Column, region_.type(result).sizes});
    stage(at).element.push_back(made);
    out_.row_reductions.push_back({i.op, dtype(i.operands[0])});
    cost_ += 250;
  }

  void reduce_column(ValueId v, const Instruction& i) {
    reduce(v, i, 0);
    tables_.stages[v] = 0;
  }

  const Region& region_;
  const Instruction& kernel_;
  const EqualSizes& facts_;
  LoweredKernel out_;
  Tables& tables_;
  NestValue next_ = 0;
  uint32_t cost_ = 500;
};

}  // namespace

std::vector<LoweredKernel> lower(const Region& region, const std::vector<KernelShape>& shapes) {
  std::vector<LoweredKernel> kernels(shapes.size());
  const EqualSizes facts(region);
  Tables tables;
  for (const Instruction& instruction : region.body.instructions)
    if (instruction.code == Code::Kernel)
      kernels[instruction.id] = Lowering(region, instruction, shapes[instruction.id], facts, &tables).run();
  return kernels;
}

namespace {

// The only reads of `input` that a kernel writing its memory may do: its own elements, pointwise. A view of the input
// has them in other places.
bool reads_only_elements(const LoweredKernel& kernel, ValueId input, const ValueMap<ValueId>& bases) {
  if (kernel.shape.split >= 0 || kernel.product.left != kNoValue) return false;
  return std::all_of(kernel.bindings.begin(), kernel.bindings.end(), [&](const KernelBinding& binding) {
    const auto base = bases.find(binding.value);
    if (base == bases.end() || base->second != input) return true;
    return binding.value == input && binding.space == KernelBinding::Space::Element;
  });
}

}  // namespace

void plan_in_place(const Region& region, std::vector<LoweredKernel>* kernels) {
  const auto is_write = [](const Instruction& instruction) { return instruction.code == Code::WriteBack; };
  if (std::none_of(region.body.instructions.begin(), region.body.instructions.end(), is_write)) return;
  const std::vector<Instruction>& code = region.body.instructions;
  ValueMap<ValueId> bases;
  ValueMap<size_t> last_use, writes;
  ValueMap<size_t> made_by;
  for (ValueId input : region.body.parameters) bases[input] = input;
  for (size_t i = 0; i < code.size(); ++i) {
    auto note = [&](const Instruction& instruction) {
      for (ValueId operand : instruction.operands)
        if (auto base = bases.find(operand); base != bases.end()) last_use[base->second] = i;
    };
    if (code[i].code == Code::WriteBack) {
      ++writes[code[i].operands[0]];
      if (auto base = bases.find(code[i].operands[1]); base != bases.end()) last_use[base->second] = i;
      continue;
    }
    note(code[i]);
    for (const auto& block : code[i].blocks)
      for (const Instruction& nested : block->instructions) note(nested);
    if (code[i].code == Code::Op && op_row(code[i].op).flags & kView)
      if (auto base = bases.find(code[i].operands[0]); base != bases.end()) bases[code[i].results[0]] = base->second;
    if (code[i].code == Code::Kernel)
      for (ValueId result : code[i].results) made_by[result] = i;
  }
  const EqualSizes facts(region);
  const Raises raises(region, facts);
  size_t last_raise = 0;  // of those in front of the write
  for (size_t place = 0; place < code.size(); ++place) {
    const Instruction& write = code[place];
    if (raises.may_leave_early(write)) last_raise = place;
    if (write.code != Code::WriteBack || writes[write.operands[0]] != 1) continue;
    ValueId input = write.operands[0];
    auto maker = made_by.find(write.operands[1]);
    // Memory that is written stays written: nothing in front of the write may raise any more.
    if (maker == made_by.end() || last_raise > maker->second) continue;
    // Every other read of the old version comes before the kernel.
    auto last = last_use.find(input);
    if (last != last_use.end() && last->second > maker->second) continue;
    LoweredKernel& kernel = (*kernels)[code[maker->second].id];
    if (!reads_only_elements(kernel, input, bases)) continue;
    for (size_t i = 0; i < kernel.bindings.size(); ++i)
      if (kernel.bindings[i].value == write.operands[1] && kernel.program.operands[i].kind == Operand::Kind::Output)
        kernel.in_place[i] = input;
  }
}

}  // namespace tsc::jit
