#include "jit/runner/kernel_call.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "jit/runner/foresee.h"
#include "jit/runner/launch_plan.h"
#include "runtime/device/device.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {

CompiledKernels::CompiledKernels(std::vector<LoweredKernel> kernels, std::string region,
                                 std::shared_ptr<KernelCache> cache, Report& report, bool background)
    : kernels_(std::move(kernels)), launches_(kernels_.size()), variants_(kernels_.size()), phased_(kernels_.size()),
      region_(std::move(region)), cache_(std::move(cache)), report_(report), background_(background),
      awaited_(background ? kernels_.size() : 0) {}

CompiledKernels::~CompiledKernels() = default;

namespace {

int64_t raw_parameter(const Scalar& s, DType type) {
  if (type == DType::I64) return s.as_int();
  double value = s.as_float();
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The memory of operand `o` at this call; results go into their registers.
std::byte* bind_operand(const OperandPlan& plan, size_t o, const LoweredKernel& lowered,
                        CompiledKernels::Launch* launch, Registers& registers) {
  switch (plan.source) {
    case OperandPlan::Source::Index:
    case OperandPlan::Source::Strip: return nullptr;
    case OperandPlan::Source::Input: return registers.tensor(plan.value).data();
    case OperandPlan::Source::Copy:
      launch->held.push_back(run_op(Op::copy, {&registers.tensor(plan.value), 1}, {}, {}).first);
      return launch->held.back().data();
    case OperandPlan::Source::InPlace:
      registers.put(plan.value, registers.tensor(lowered.in_place[o]));
      return registers.tensor(plan.value).data();
    case OperandPlan::Source::Fresh:
      registers.put(plan.value, Tensor(Storage::allocate(plan.bytes), plan.dtype, plan.sizes, plan.strides, 0));
      return registers.tensor(plan.value).data();
    case OperandPlan::Source::Lanes:
      launch->reduced.push_back(Tensor(Storage::allocate(plan.bytes), plan.dtype, plan.sizes, plan.strides, 0));
      registers.put(plan.value, launch->reduced.back());
      return nullptr;
    case OperandPlan::Source::Product:
      if (!launch->product.defined())
        launch->product = Tensor(Storage::allocate(plan.bytes), plan.dtype, plan.sizes, plan.strides, 0);
      if (plan.output) registers.put(plan.value, launch->product);
      return launch->product.data();
  }
  TSC_CHECK(false, "no such operand source");
}

// The addresses of one call are put in, and its tensors let go at the end.
class BoundLaunch {
 public:
  explicit BoundLaunch(CompiledKernels::Launch& launch) : launch_(launch) {}
  void bind(const LoweredKernel& lowered, Registers& registers) {
    for (size_t o = 0; o < launch_.operands.size(); ++o)
      launch_.arguments[o].base = bind_operand(launch_.operands[o], o, lowered, &launch_, registers);
    for (size_t p = 0; p < launch_.parameters.size(); ++p)
      launch_.parameters[p] =
          raw_parameter(registers.scalars[lowered.parameters[p]], lowered.program.parameter_dtypes[p]);
  }
  ~BoundLaunch() {
    launch_.held.clear();
    launch_.reduced.clear();
    launch_.product = Tensor();
  }
  BoundLaunch(const BoundLaunch&) = delete;

 private:
  CompiledKernels::Launch& launch_;
};

}  // namespace

CompiledKernels::Launch* CompiledKernels::find(size_t number, const Registers& registers) {
  Launches& launches = launches_[number];
  for (size_t i = 0; i < launches.size(); ++i) {
    if (!launch_fits(*launches[i], kernels_[number], registers)) continue;
    if (i > 0)
      std::rotate(launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(i),
                  launches.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return launches.front().get();
  }
  return nullptr;
}

namespace {

constexpr size_t kKeptLaunches = 8;  // of each kernel

}  // namespace

std::unique_ptr<CompiledKernels::Launch> CompiledKernels::take_awaited(size_t number, const Registers& registers,
                                                                       bool* waits) {
  *waits = false;
  if (!background_) return nullptr;
  std::vector<Awaited>& all = awaited_[number];
  const auto found = std::find_if(all.begin(), all.end(), [&](const Awaited& one) {
    return launch_fits(*one.launch, kernels_[number], registers);
  });
  if (found == all.end()) return nullptr;
  *waits = !cache_->are_done(found->texts);
  if (*waits) return nullptr;
  std::unique_ptr<Launch> launch = std::move(found->launch);
  all.erase(found);
  return launch;
}

std::unique_ptr<CompiledKernels::Launch> CompiledKernels::take_foreseen(size_t number, const Registers& registers) {
  if (number >= foreseen_.size() || !foreseen_[number]) return nullptr;
  std::unique_ptr<Launch> launch = std::move(foreseen_[number]);
  if (!launch_fits(*launch, kernels_[number], registers)) return nullptr;
  return launch;
}

CompiledKernels::Launch* CompiledKernels::make(size_t number, const Registers& registers) {
  const LoweredKernel& lowered = kernels_[number];
  bool waits = false;
  std::unique_ptr<Launch> launch = take_awaited(number, registers, &waits);
  if (waits) return nullptr;
  if (!launch) launch = take_foreseen(number, registers);
  if (!launch) {
    launch = std::make_unique<Launch>();
    if (!plan_launch(lowered, registers, launch.get())) return nullptr;
  }
  later_.clear();
  if (lowered.strips.left == kNoValue && wants_phases(lowered, *launch))
    launch->phases = phased_variant(number, *launch);
  else launch->kernel = variant(number, *launch);
  if (!launch->phases && !launch->kernel) {
    if (later_.empty()) return nullptr;  // refused
    if (awaited_[number].size() == kKeptLaunches) awaited_[number].erase(awaited_[number].begin());
    awaited_[number].push_back({std::move(launch), std::move(later_)});
    return nullptr;
  }
  Launches& launches = launches_[number];
  if (launches.size() == kKeptLaunches) launches.pop_back();
  launches.insert(launches.begin(), std::move(launch));
  return launches.front().get();
}

bool CompiledKernels::is_being_compiled(std::span<const KernelCache::Wanted> wanted) {
  if (background_) later_ = cache_->prepare_later(wanted, report_);
  return !later_.empty();
}

bool CompiledKernels::foresee(const Region& region, const Registers& bound) {
  if (!background_ && (kernels_.size() < 2 || current_device().threads.count() < 2)) return true;
  prepare_foreseen(region, bound);
  if (!background_) cache_->complete();
  return true;
}

// The first kernels are compiled while the others are being found.
void CompiledKernels::prepare_foreseen(const Region& region, const Registers& bound) {
  std::set<std::pair<uint32_t, uint64_t>> forms;
  foreseen_.resize(kernels_.size());
  jit::foresee(region, bound, [&](const Instruction& kernel, Registers& registers) {
    const LoweredKernel& lowered = kernels_[kernel.id];
    auto planned = std::make_unique<Launch>();
    if (!plan_launch(lowered, registers, planned.get())) return false;
    const Launch& launch = *(foreseen_[kernel.id] = std::move(planned));
    if (!wants_phases(lowered, launch) && forms.insert({lowered.program_number, launch.form()}).second) {
      const KernelCache::Wanted wanted{program_of(kernel.id, launch), symbol_of(kernel.id)};
      cache_->prepare_later({&wanted, 1}, report_);
    }
    for (size_t o = 0; o < launch.operands.size(); ++o) {
      const OperandPlan& plan = launch.operands[o];
      if (!plan.output || plan.source == OperandPlan::Source::Strip) continue;
      if (plan.source == OperandPlan::Source::InPlace) registers.put(plan.value, registers.tensor(lowered.in_place[o]));
      else registers.put(plan.value, Tensor::empty(plan.dtype, plan.sizes));
    }
    if (const StripProducts& strips = lowered.strips; strips.left != kNoValue) {
      const Tensor& left = registers.tensor(strips.left);
      const Sizes sizes{left.size(0), left.size(1), registers.tensor(strips.values).size(2)};
      registers.put(strips.result, Tensor::empty(left.dtype(), sizes));
      if (strips.across != kNoValue)
        registers.put(strips.across,
                      Tensor::empty(left.dtype(), {left.size(0), registers.tensor(strips.across_left).size(1),
                                                   registers.tensor(strips.right).size(2)}));
    }
    return true;
  });
}

bool CompiledKernels::run(const Instruction& kernel, Registers& registers) {
  const LoweredKernel& lowered = kernels_[kernel.id];
  const bool in_strips = lowered.strips.left != kNoValue;
  if (in_strips && !fits_strips(lowered, registers)) return false;
  Launch* launch = find(kernel.id, registers);
  if (!launch) launch = make(kernel.id, registers);
  if (!launch) return false;
  BoundLaunch bound(*launch);
  bound.bind(lowered, registers);
  if (launch->phases) {
    run_phases(*launch->phases, lowered, *launch);
  } else if (in_strips) {
    run_strips(lowered, *launch, registers);
  } else if (lowered.product.left != kNoValue) {
    run_product(lowered, *launch, registers);
  } else if (!lowered.row_reductions.empty()) {
    run_lanes(lowered, *launch);
  } else {
    run_rows(lowered, *launch);
  }
  return true;
}

uint64_t CompiledKernels::Launch::form() const {
  uint64_t key = 1;
  for (size_t o = 0; o < accesses.size(); ++o)
    key = hash_mix(key, static_cast<uint64_t>(accesses[o]) + 3 + (streamed[o] ? 16 : 0));
  return two_rows ? hash_mix(key, 1) : key;
}

KernelProgram CompiledKernels::program_of(size_t number, const Launch& launch) const {
  KernelProgram program = kernels_[number].program;
  for (size_t o = 0; o < launch.accesses.size(); ++o) {
    program.operands[o].access = launch.accesses[o];
    program.operands[o].streamed = launch.streamed[o];
  }
  program.two_rows = launch.two_rows;
  return program;
}

CompiledKernel* CompiledKernels::variant(size_t number, const Launch& launch) {
  const uint64_t key = launch.form();
  Variants& variants = variants_[kernels_[number].program_number];
  auto found = variants.find(key);
  if (found == variants.end()) {
    const KernelCache::Wanted wanted{program_of(number, launch), symbol_of(number)};
    if (is_being_compiled({&wanted, 1})) return nullptr;
    Ref<CompiledKernel> kernel = cache_->get(wanted.program, wanted.symbol, report_);
    found = variants.emplace(key, Variant{std::move(kernel), print_title(wanted.program), {number}}).first;
  }
  std::vector<size_t>& users = found->second.users;
  if (std::find(users.begin(), users.end(), number) == users.end()) {
    users.push_back(number);
    cache_->note_hit(found->second.title, symbol_of(number), report_);
  }
  return found->second.kernel.get();
}

OperandArgument shifted_argument(const LoweredKernel& lowered, const CompiledKernels::Launch& launch, size_t o,
                                 int64_t outer, int64_t row, int64_t col) {
  OperandArgument argument = launch.arguments[o];
  int64_t offset = row * argument.row_stride + col * argument.col_stride;
  const Sizes& outer_strides = launch.operands[o].outer_strides;
  for (size_t i = launch.outer.size(); i-- > 0;) {
    offset += outer % launch.outer[i] * outer_strides[i];
    outer /= launch.outer[i];
  }
  const Operand& operand = lowered.program.operands[o];
  if (operand.kind == Operand::Kind::Index) argument.base = reinterpret_cast<void*>(offset);
  else argument.base = static_cast<std::byte*>(argument.base) + offset * dtype_size(operand.dtype);
  return argument;
}

namespace {

// Runs the kernel on a block of one (outer, row) plane.
class BlockLauncher {
 public:
  BlockLauncher(const LoweredKernel& lowered, const CompiledKernels::Launch& launch)
      : lowered_(lowered), launch_(launch), function_(launch.kernel->function) {}

  void operator()(int64_t outer, int64_t row, int64_t rows, int64_t col, int64_t cols) const {
    ArgumentList arguments(launch_.arguments.size());
    for (size_t o = 0; o < launch_.arguments.size(); ++o)
      arguments[o] = shifted_argument(lowered_, launch_, o, outer, row, col);
    Ref<Storage> memory;
    if (launch_.has_scratch) memory = Storage::allocate(scratch_bytes(lowered_.program, cols));
    function_(arguments.data(), launch_.parameters.data(), rows, cols, memory ? memory->data() : nullptr);
  }

 private:
  const LoweredKernel& lowered_;
  const CompiledKernels::Launch& launch_;
  KernelFunction function_;
};

}  // namespace

// The product writes its tiles; the kernel takes each over before it leaves the cache.
void CompiledKernels::run_product(const LoweredKernel& lowered, const Launch& launch, const Registers& registers) {
  const Tensor& left = registers.tensor(lowered.product.left);
  const Tensor& right = registers.tensor(lowered.product.right);
  struct Context {
    BlockLauncher block;
    int64_t m, plane_rows;
  } context{{lowered, launch}, left.size(1), launch.rows};
  MatmulArgs args;
  args.dtype = left.dtype();
  args.batch = left.size(0), args.m = left.size(1), args.n = right.size(2), args.k = left.size(2);
  args.a = {left.data(), left.stride(1), left.stride(2), left.stride(0)};
  args.b = {right.data(), right.stride(1), right.stride(2), right.stride(0)};
  args.c = launch.product.data();
  args.c_row_stride = args.n;
  args.c_batch_stride = args.m * args.n;
  args.epilogue.context = &context;
  args.epilogue.run = [](void* opaque, int64_t batch, int64_t row0, int64_t rows, int64_t col0, int64_t cols) {
    const Context& c = *static_cast<const Context*>(opaque);
    int64_t line = batch * c.m + row0;
    while (rows > 0) {
      const int64_t row = line % c.plane_rows, count = std::min(rows, c.plane_rows - row);
      c.block(line / c.plane_rows, row, count, col0, cols);
      line += count;
      rows -= count;
    }
  };
  matmul(args);
}

void CompiledKernels::run_rows(const LoweredKernel& lowered, const Launch& launch) {
  const int64_t outer = launch.outer_count;
  bool by_columns = lowered.shape.column || (lowered.shape.split < 0 && launch.rows * outer < 16);
  double cost = lowered.program.cost / 1000.0 / 8;
  // Items are (outer, row) pairs, or blocks of columns of one such pair.
  const BlockLauncher block(lowered, launch);
  if (by_columns) {
    const int64_t width = lowered.shape.column ? kColumnBlock : 1024;
    int64_t blocks = (launch.cols + width - 1) / width;
    int64_t grain = grain_for(cost * static_cast<double>(width * launch.rows));
    for (int64_t o = 0; o < outer; ++o)
      parallel_for(blocks, grain, [&](int64_t begin, int64_t end) {
        int64_t last = std::min(end * width, launch.cols);
        block(o, 0, launch.rows, begin * width, last - begin * width);
      });
    return;
  }
  int64_t grain = grain_for(cost * static_cast<double>(launch.cols));
  parallel_for(outer * launch.rows, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t o = begin / launch.rows, row = begin % launch.rows;
      int64_t rows = std::min(end - begin, launch.rows - row);
      block(o, row, rows, 0, launch.cols);
      begin += rows;
    }
  });
}

}  // namespace tsc::jit
