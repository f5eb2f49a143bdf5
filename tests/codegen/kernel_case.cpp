#include "kernel_case.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "catch2/catch.hpp"
#include "jit/loops/evaluate.h"
#include "runtime/kernels/typed.h"

namespace tsc::jit {

// ---- programs ----

uint32_t ProgramBuilder::operand(Operand::Kind kind, DType dtype, Access access) {
  program.operands.push_back({kind, dtype, access});
  return static_cast<uint32_t>(program.operands.size() - 1);
}
uint32_t ProgramBuilder::add_parameter(DType dtype) {
  program.parameter_dtypes.push_back(dtype);
  return program.parameters++;
}
uint32_t ProgramBuilder::scratch(DType dtype) {
  program.scratch.push_back(dtype);
  return static_cast<uint32_t>(program.scratch.size() - 1);
}
ProgramBuilder& ProgramBuilder::row() {
  in_row_ = true;
  return *this;
}
ProgramBuilder& ProgramBuilder::element() {
  in_row_ = false;
  return *this;
}
ProgramBuilder& ProgramBuilder::stage() {
  program.stages.emplace_back();
  return *this;
}
NestInstruction& ProgramBuilder::push(NestCode code, DType dtype, bool defines) {
  NestStage& stage = program.stages.back();
  auto& part = in_row_ ? stage.row : stage.element;
  part.emplace_back();
  NestInstruction& in = part.back();
  in.code = code;
  in.dtype = dtype;
  if (defines) {
    in.result = program.values++;
    dtypes_.push_back(dtype);
  }
  return in;
}
NestValue ProgramBuilder::load(uint32_t slot) {
  NestInstruction& in = push(NestCode::Load, program.operands[slot].dtype, true);
  in.slot = slot;
  return in.result;
}
void ProgramBuilder::store(uint32_t slot, NestValue value) {
  NestInstruction& in = push(NestCode::Store, program.operands[slot].dtype, false);
  in.slot = slot;
  in.inputs = {value};
}
NestValue ProgramBuilder::constant(double number, DType dtype) {
  NestInstruction& in = push(NestCode::Constant, dtype, true);
  in.number = is_floating(dtype) ? Scalar::of_float(number) : Scalar::of_int(static_cast<int64_t>(number));
  return in.result;
}
NestValue ProgramBuilder::parameter(uint32_t slot) {
  NestInstruction& in = push(NestCode::Parameter, program.parameter_dtypes[slot], true);
  in.slot = slot;
  return in.result;
}
NestValue ProgramBuilder::apply(Op op, std::initializer_list<NestValue> inputs) {
  SmallVector<DType, 3> dtypes;
  for (NestValue input : inputs) dtypes.push_back(dtype(input));
  NestInstruction& in = push(NestCode::Apply, infer_dtype(op, dtypes, {}), true);
  in.op = op;
  in.inputs = SmallVector<NestValue, 3>(inputs);
  return in.result;
}
NestValue ProgramBuilder::cast(DType dtype, NestValue x, Op op) {
  NestInstruction& in = push(NestCode::Apply, dtype, true);
  in.op = op;
  in.inputs = {x};
  return in.result;
}
NestValue ProgramBuilder::philox(DType dtype, NestValue seed, NestValue offset, NestValue index) {
  NestInstruction& in = push(NestCode::Philox, dtype, true);
  in.inputs = {seed, offset, index};
  return in.result;
}
NestValue ProgramBuilder::reduce(Reduction reduction, NestValue x) {
  DType to = accumulator_dtype(reduction, dtype(x));
  if (is_floating(dtype(x))) to = dtype(x);
  NestInstruction& in = push(NestCode::Reduce, to, true);
  in.reduction = reduction;
  in.inputs = {x};
  return in.result;
}
void ProgramBuilder::accumulate(Reduction reduction, NestValue x) {
  const DType dtype = row_accumulator_dtype(reduction, this->dtype(x));
  const uint32_t slot = operand(Operand::Kind::Accumulator, dtype, Access::Contiguous);
  NestInstruction& in = push(NestCode::Accumulate, dtype, false);
  in.reduction = reduction;
  in.slot = slot;
  in.inputs = {x};
}
void ProgramBuilder::scratch_store(uint32_t slot, NestValue value) {
  NestInstruction& in = push(NestCode::ScratchStore, program.scratch[slot], false);
  in.slot = slot;
  in.inputs = {value};
}
NestValue ProgramBuilder::scratch_load(uint32_t slot) {
  NestInstruction& in = push(NestCode::ScratchLoad, program.scratch[slot], true);
  in.slot = slot;
  return in.result;
}

std::vector<CompilerUnderTest>& compilers() {
  static std::vector<CompilerUnderTest> all = [] {
    std::vector<CompilerUnderTest> list;
    list.push_back({"host", create_kernel_compiler()});
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      list.push_back({"avx2", create_kernel_compiler({"haswell", ""})});
    list.push_back({"sse2", create_kernel_compiler({"x86-64", ""})});
#endif
    return list;
  }();
  return all;
}

Ref<CompiledKernel> make_kernel(KernelCompiler& compiler, const KernelProgram& program, CompileTimes* times) {
  const KernelProgram* pointer = &program;
  const std::string symbol = "kernel";
  return load_image(compiler.compile({&pointer, 1}, {&symbol, 1}, times)[0], symbol);
}

// ---- operands ----

namespace {

using Random = std::mt19937_64;

double awkward_number(Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static const double special[] = {0.0,   -0.0, 1,    -1,  kInfinity, -kInfinity, NAN,   0.5,  1e-40, -1e-40, 1e38,
                                   -3e38, 2.5,  -1.5, 3e9, -3e9,      1e19,       -1e19, 1e-8, 255,   1e300,  0x1.8p22};
  if (random() % 4 == 0) return special[random() % std::size(special)];
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1;
  constexpr double kScales[] = {1, 4, 40, 1000};
  return unit * kScales[random() % 4];
}

int64_t awkward_integer(Random& random) {
  static const int64_t special[] = {0, 1, -1, 2, 7, 31, 32, 63, 64, 255, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
  if (random() % 3 == 0) return special[random() % std::size(special)];
  if (random() % 2) return static_cast<int64_t>(random() % 41) - 20;
  return static_cast<int64_t>(random());
}

void fill(std::vector<std::byte>& memory, DType dtype, Random& random) {
  const auto size = static_cast<size_t>(dtype_size(dtype));
  for (size_t at = 0; at + size <= memory.size(); at += size) {
    std::byte* place = memory.data() + at;
    auto put = [&](auto value) { std::memcpy(place, &value, sizeof value); };
    visit_dtype(dtype, [&]<class S>() {
      if constexpr (std::is_same_v<S, bool>) put(static_cast<uint8_t>(random() % 2));
      else if constexpr (std::is_integral_v<S>) put(static_cast<S>(awkward_integer(random)));
      else if constexpr (std::is_same_v<S, Float16>)  // half of the time any of its numbers
        put(random() % 2 ? Float16{static_cast<uint16_t>(random())}
                         : float_to_f16(static_cast<float>(awkward_number(random))));
      else if constexpr (std::is_same_v<S, BFloat16>) put(float_to_bf16(static_cast<float>(awkward_number(random))));
      else if constexpr (!kIsComplex<S>) put(static_cast<S>(awkward_number(random)));
    });
  }
}

bool is_nan_at(const std::byte* place, DType dtype) {
  if (dtype == DType::F64) return std::isnan(*reinterpret_cast<const double*>(place));
  if (dtype == DType::F32) return std::isnan(*reinterpret_cast<const float*>(place));
  if (dtype == DType::F16) return std::isnan(f16_to_float(*reinterpret_cast<const Float16*>(place)));
  if (dtype != DType::BF16) return false;
  return std::isnan(bf16_to_float(*reinterpret_cast<const BFloat16*>(place)));
}

// Every operand's memory for one run, twice: for the evaluator and for the kernel.
struct Memory {
  std::vector<std::vector<std::byte>> blocks;
  std::vector<OperandArgument> arguments;
};

void lay_out(const KernelProgram& program, const Layout& layout, Memory& memory) {
  Random random(layout.seed);
  constexpr int64_t kGuard = 64;
  for (const Operand& operand : program.operands) {
    OperandArgument argument{};
    memory.blocks.emplace_back();
    if (operand.kind == Operand::Kind::Index) {
      argument = {reinterpret_cast<void*>(static_cast<intptr_t>(5)), 1000,
                  operand.access == Access::Contiguous ? 1 : layout.col_stride};
      memory.arguments.push_back(argument);
      continue;
    }
    const int64_t stride = operand.access == Access::Contiguous  ? 1
                           : operand.access == Access::Broadcast ? 0
                                                                 : layout.col_stride;
    const int64_t extent = stride == 0 ? 1 : std::abs(stride) * layout.cols;
    const bool is_column_result = program.kind == KernelProgram::Kind::Column && operand.kind == Operand::Kind::Output;
    const bool same_row = is_column_result || (layout.broadcast_rows && operand.kind != Operand::Kind::Output);
    argument.row_stride = same_row ? 0 : extent + layout.padding;
    argument.col_stride = stride;
    const int64_t elements = (extent + layout.padding) * (same_row ? 1 : layout.rows) + 2 * kGuard;
    auto& block = memory.blocks.back();
    block.resize(static_cast<size_t>(elements * dtype_size(operand.dtype)));
    fill(block, operand.dtype, random);
    memory.arguments.push_back(argument);
  }
}

void point(const KernelProgram& program, const Layout& layout, Memory& memory) {
  constexpr int64_t kGuard = 64;
  for (size_t i = 0; i < program.operands.size(); ++i) {
    const Operand& operand = program.operands[i];
    if (operand.kind == Operand::Kind::Index) continue;
    OperandArgument& argument = memory.arguments[i];
    const int64_t first = kGuard + (argument.col_stride < 0 ? -argument.col_stride * (layout.cols - 1) : 0);
    argument.base = memory.blocks[i].data() + first * dtype_size(operand.dtype);
    if (!layout.in_place || operand.kind != Operand::Kind::Output) continue;
    for (size_t j = 0; j < i; ++j)
      if (program.operands[j].kind == Operand::Kind::Input && program.operands[j].dtype == operand.dtype &&
          program.operands[j].access == operand.access)
        argument = memory.arguments[j];
  }
}

std::string difference(const KernelProgram& program, const Memory& expected, const Memory& got) {
  for (size_t i = 0; i < program.operands.size(); ++i) {
    const DType dtype = program.operands[i].dtype;
    const auto size = static_cast<size_t>(dtype_size(dtype));
    const auto &a = expected.blocks[i], &b = got.blocks[i];
    for (size_t at = 0; at + size <= a.size(); at += size) {
      if (std::memcmp(&a[at], &b[at], size) == 0) continue;
      if (is_nan_at(&a[at], dtype) && is_nan_at(&b[at], dtype)) continue;
      uint64_t x = 0, y = 0;
      std::memcpy(&x, &a[at], size);
      std::memcpy(&y, &b[at], size);
      char text[160];
      std::snprintf(text, sizeof text, "operand %zu element %zd: expected %llx, got %llx", i,
                    static_cast<ssize_t>(at / size) - 64, static_cast<unsigned long long>(x),
                    static_cast<unsigned long long>(y));
      return text;
    }
  }
  return {};
}

void check_layout(const KernelProgram& program, const Layout& layout,
                  const std::vector<std::pair<std::string, KernelFunction>>& kernels) {
  Memory start;
  lay_out(program, layout, start);
  Memory expected = start;
  point(program, layout, expected);
  auto parameters = layout.parameters;
  parameters.resize(program.parameters + 1);
  evaluate(program, expected.arguments.data(), parameters.data(), layout.rows, layout.cols);
  const auto scratch = static_cast<size_t>(scratch_bytes(program, layout.cols));
  for (const auto& [name, function] : kernels) {
    Memory got = start;
    point(program, layout, got);
    std::vector<std::byte> memory(scratch + 128);
    auto aligned = (reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63};
    function(got.arguments.data(), parameters.data(), layout.rows, layout.cols, reinterpret_cast<void*>(aligned));
    const std::string text = difference(program, expected, got);
    if (text.empty()) continue;
    INFO(print(program));
    INFO(name << ", " << layout.rows << " x " << layout.cols << ", column stride " << layout.col_stride
              << (layout.in_place ? ", in place" : ""));
    FAIL_CHECK(text);
  }
}

}  // namespace

void check_programs(const std::vector<KernelProgram>& programs, const std::vector<Layout>& layouts) {
  std::vector<const KernelProgram*> pointers;
  std::vector<std::string> symbols;
  for (const KernelProgram& program : programs) {
    pointers.push_back(&program);
    symbols.push_back("kernel_" + std::to_string(symbols.size()));
  }
  std::vector<std::vector<Ref<CompiledKernel>>> compiled;
  for (auto& under_test : compilers()) {
    compiled.emplace_back();
    for (const CodeImage& image : under_test.compiler->compile(pointers, symbols, nullptr))
      compiled.back().push_back(load_image(image, symbols[compiled.back().size()]));
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    std::vector<std::pair<std::string, KernelFunction>> kernels;
    for (size_t c = 0; c < compiled.size(); ++c) kernels.emplace_back(compilers()[c].name, compiled[c][i]->function);
    for (const Layout& layout : layouts) check_layout(programs[i], layout, kernels);
  }
}

void check_program(const KernelProgram& program, const std::vector<Layout>& layouts) {
  check_programs({program}, layouts);
}

std::vector<Layout> sizes(const std::vector<int64_t>& cols, const std::vector<int64_t>& rows) {
  std::vector<Layout> layouts;
  for (int64_t row_count : rows)
    for (int64_t col_count : cols) {
      Layout layout;
      layout.rows = row_count;
      layout.cols = col_count;
      layout.seed = static_cast<uint64_t>(row_count * 1000003 + col_count);
      layouts.push_back(layout);
    }
  return layouts;
}

}  // namespace tsc::jit
