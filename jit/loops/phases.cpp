#include "jit/loops/phases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "runtime/base/error.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::jit {
namespace {

class Splitter {
 public:
  explicit Splitter(const KernelProgram& whole) : whole_(whole) {
    TSC_CHECK(whole.kind == KernelProgram::Kind::Row, "phases of a column program");
    for (const NestStage& stage : whole.stages) {
      for (const NestInstruction& in : stage.row)
        if (defines_value(in)) row_values_[in.result] = &in;
      for (const NestInstruction& in : stage.element) {
        if (defines_value(in)) dtypes_[in.result] = in.dtype;
        if (in.code != NestCode::Reduce) continue;
        const auto dtype = dtypes_.find(in.inputs[0]);
        const DType input = dtype != dtypes_.end() ? dtype->second : row_value(in.inputs[0]).dtype;
        reductions_[in.result] = static_cast<uint32_t>(out_.totals.size());
        reduce_instructions_[in.result] = &in;
        out_.totals.push_back({in.reduction, accumulator_dtype(in.reduction, input)});
      }
    }
  }

  PhasedProgram run() {
    for (const NestStage& stage : whole_.stages) {
      add_row_phase(stage);
      if (!stage.element.empty()) add_element_phase(stage);
    }
    return std::move(out_);
  }

 private:
  const NestInstruction& row_value(NestValue value) const {
    const auto found = row_values_.find(value);
    TSC_CHECK(found != row_values_.end(), "phases: a value without definition");
    return *found->second;
  }

  void open() {
    phase_ = Phase();
    phase_.program.parameters = whole_.parameters;
    phase_.program.parameter_dtypes = whole_.parameter_dtypes;
    phase_.program.values = whole_.values;
    phase_.program.cost = whole_.cost;
    phase_.program.stages.resize(1);
    defined_.clear();
  }
  void close() { out_.phases.push_back(std::move(phase_)); }

  uint32_t operand(PhaseOperand::Source source, uint32_t number, Operand made) {
    for (uint32_t i = 0; i < phase_.operands.size(); ++i)
      if (phase_.operands[i].source == source && phase_.operands[i].number == number) return i;
    phase_.operands.push_back({source, number});
    phase_.program.operands.push_back(made);
    return static_cast<uint32_t>(phase_.operands.size() - 1);
  }
  uint32_t own(uint32_t number) { return operand(PhaseOperand::Source::Own, number, whole_.operands[number]); }

  // Makes a row or uniform value available, with what it is computed from.
  void define(NestValue value) {
    if (defined_.count(value)) return;
    if (const auto found = reductions_.find(value); found != reductions_.end()) {
      defined_.insert(value);
      return load_total(value, found->second);
    }
    NestInstruction in = row_value(value);
    for (NestValue input : in.inputs) define(input);
    if (in.code == NestCode::Load) in.slot = own(in.slot);
    defined_.insert(value);
    phase_.program.stages[0].row.push_back(std::move(in));
  }

  void load_total(NestValue value, uint32_t reduction) {
    const DType dtype = out_.totals[reduction].dtype;
    const DType wanted = reduce_instructions_.at(value)->dtype;
    std::vector<NestInstruction>& row = phase_.program.stages[0].row;
    NestInstruction load;
    load.dtype = dtype;
    load.slot = operand(PhaseOperand::Source::Total, reduction, {Operand::Kind::Input, dtype, Access::Broadcast});
    load.result = dtype == wanted ? value : phase_.program.values++;
    row.push_back(load);
    if (dtype == wanted) return;
    NestInstruction cast;
    cast.code = NestCode::Apply;
    cast.op = Op::cast;
    cast.dtype = wanted;
    cast.inputs.push_back(load.result);
    cast.result = value;
    row.push_back(cast);
  }

  void add_row_phase(const NestStage& stage) {
    open();
    phase_.per_row = true;
    for (const NestInstruction& in : stage.row) {
      if (in.code != NestCode::Store) continue;
      define(in.inputs[0]);
      NestInstruction store = in;
      store.slot = own(in.slot);
      phase_.program.stages[0].row.push_back(std::move(store));
    }
    if (!phase_.program.stages[0].row.empty()) close();
  }

  void add_element_phase(const NestStage& stage) {
    open();
    std::vector<NestInstruction> stores, element;
    for (const NestInstruction& from : stage.element)
      if (defines_value(from)) defined_.insert(from.result);
    for (const NestInstruction& from : stage.element) {
      for (NestValue input : from.inputs) define(input);
      NestInstruction in = from;
      if (in.code == NestCode::Load || in.code == NestCode::Store) {
        in.slot = own(in.slot);
      } else if (in.code == NestCode::ScratchStore || in.code == NestCode::ScratchLoad) {
        const bool store = in.code == NestCode::ScratchStore;
        in.code = store ? NestCode::Store : NestCode::Load;
        in.slot = operand(
            PhaseOperand::Source::Scratch, in.slot,
            {store ? Operand::Kind::Output : Operand::Kind::Input, whole_.scratch[in.slot], Access::Contiguous});
      } else if (in.code == NestCode::Reduce) {
        stores.push_back(keep_piece(&in));
      }
      element.push_back(std::move(in));
    }
    phase_.program.stages[0].element = std::move(element);
    if (!stores.empty()) {
      phase_.program.stages.resize(2);
      phase_.program.stages[1].row = std::move(stores);
    }
    close();
  }

  NestInstruction keep_piece(NestInstruction* reduce) {
    const uint32_t reduction = reductions_.at(reduce->result);
    reduce->dtype = out_.totals[reduction].dtype;
    phase_.reductions.push_back(reduction);
    NestInstruction store;
    store.code = NestCode::Store;
    store.dtype = reduce->dtype;
    store.inputs.push_back(reduce->result);
    store.slot =
        operand(PhaseOperand::Source::Partial, reduction, {Operand::Kind::Output, reduce->dtype, Access::Broadcast});
    return store;
  }

  const KernelProgram& whole_;
  PhasedProgram out_;
  Phase phase_;
  std::unordered_map<NestValue, const NestInstruction*> row_values_, reduce_instructions_;
  std::unordered_map<NestValue, DType> dtypes_;
  std::unordered_map<NestValue, uint32_t> reductions_;
  std::unordered_set<NestValue> defined_;
};

// nan wins; -0 is less than +0, as in Op::maximum and Op::minimum.
template <class T>
bool replaces(Reduction reduction, T old, T candidate) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(old)) return false;
    if (std::isnan(candidate)) return true;
    if (old == candidate)
      return std::signbit(candidate) == (reduction == Reduction::amin) && std::signbit(old) != std::signbit(candidate);
  }
  return reduction == Reduction::amax ? candidate > old : candidate < old;
}

template <class T, class Read>
void combine_extremes(Reduction reduction, const T* pieces, int64_t count, T* total, Read&& read) {
  *total = pieces[0];
  for (int64_t i = 1; i < count; ++i)
    if (replaces(reduction, read(*total), read(pieces[i]))) *total = pieces[i];
}

// Sums and products come in the type they accumulate in, which no small float is; complex numbers stay out of
// kernels.
template <class T>
void combine(Reduction reduction, const void* from, int64_t count, void* to) {
  const T* pieces = static_cast<const T*>(from);
  T* total = static_cast<T*>(to);
  if constexpr (kIsComplex<T>) {
    TSC_CHECK(false, "phases of complex numbers");
  } else {
    if (reduction == Reduction::amax || reduction == Reduction::amin)
      return combine_extremes(reduction, pieces, count, total, [](T x) { return widen(x); });
    if constexpr (kIsSmallFloat<T>) {
      TSC_CHECK(false, "small floats accumulate in float");
    } else {
      using Wrapping = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
      Wrapping all = reduction == Reduction::sum ? 0 : 1;
      for (int64_t i = 0; i < count; ++i) {
        const Wrapping piece = static_cast<Wrapping>(pieces[i]);
        all = reduction == Reduction::sum ? all + piece : all * piece;
      }
      *total = static_cast<T>(all);
    }
  }
}

}  // namespace

PhasedProgram split_into_phases(const KernelProgram& program) { return Splitter(program).run(); }

void combine_pieces(const PhasedProgram::Total& how, const void* pieces, int64_t count, void* total) {
  switch (how.dtype) {
#define DTYPE(id, name, ir, category, is_signed, bits, storage, ...) \
  case DType::id: return combine<storage>(how.reduction, pieces, count, total);
#include "runtime/tensor/dtypes.def"
  }
}

}  // namespace tsc::jit
