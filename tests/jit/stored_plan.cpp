// Kept plans: what is read is what was made, and no bytes whatever make something else run.
#include <filesystem>
#include <fstream>

#include "jit/compile.h"
#include "jit/plan/execution_plan.h"
#include "jit/region/stored.h"
#include "jit/runner/kernel_cache.h"
#include "process.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

namespace fs = std::filesystem;
using tsc::test::read_file;
using tsc::test::TemporaryFolder;

std::string stored(const Region& region) {
  ByteWriter out;
  write_region(region, out);
  return out.take();
}

// Softmax over masked scores between two products, a sum over rows, a write in place: kernels of several sorts.
const char* const kAttention = R"(
region attention(%0: f32[%1, %2, %3], %4: f32[%1, %3, %2], %5: f32[%1, %2, %3], %6: bool[%1, %2, %2], %7: f32[%1, %2, %3]) {
  %10 = dot %0, %4 : f32[%1, %2, %2]
  %11 = const float -inf
  %12 = full %11, %1, %2, %2 : f32[%1, %2, %2]
  %13 = select %6, %10, %12 : f32[%1, %2, %2]
  %14 = const int 1
  %15 = amax %13 axes=[2] : f32[%1, %2]
  %16 = reshape %15, %1, %2, %14 : f32[%1, %2, %14]
  %17 = broadcast %16, %1, %2, %2 : f32[%1, %2, %2]
  %18 = sub %13, %17 : f32[%1, %2, %2]
  %19 = exp %18 : f32[%1, %2, %2]
  %20 = sum %19 axes=[2] : f32[%1, %2]
  %21 = reshape %20, %1, %2, %14 : f32[%1, %2, %14]
  %22 = broadcast %21, %1, %2, %2 : f32[%1, %2, %2]
  %23 = div %19, %22 : f32[%1, %2, %2]
  %24 = dot %23, %5 : f32[%1, %2, %3]
  %25 = add %5, %7 : f32[%1, %2, %3]
  %26 = tanh %25 : f32[%1, %2, %3]
  %27 = sum %26 axes=[0, 1] : f32[%3]
  write_back %7, %26
  exit #0(%27, %24) @12
}
)";

const char* const kEveryInstruction = R"(
region all(%0: f32[%1, %2, %9], %3: f32[%1, %4, %5], %6: float, %7: object, %8: bool) {
  assume %9 == %4
  %10 = const int -9223372036854775808
  %11 = const float nan
  %12 = const float -0.0
  %13 = const bool true
  %14 = dot %0, %3 : f32[%1, %2, %5]
  %15 = sum %14 axes=[1] : f32[%1, %5]
  %16 = scalar add %1, %10 : int
  %17 = scalar lt %1, %16 : bool
  guard %17 else exit #3(%1) @12
  %18 = host #2(%14, %7) : int
  %19, %20 = rng_advance %18
  write_back %0, %0
  exit #4294967295(%15, %11, %12, %13, %19) @4294967295
}
)";

CompileOptions options_with(std::shared_ptr<KernelCache> cache) {
  CompileOptions options;
  options.cache = std::move(cache);
  return options;
}

// Compiles and tells what the report says of it.
int64_t plan_hits(const char* text, const CompileOptions& options, Report* report = nullptr) {
  Report own;
  Report& seen = report ? *report : own;
  const int64_t before = seen.total(EventKind::PlanHit);
  compile(parse_region(text), options, seen);
  return seen.total(EventKind::PlanHit) - before;
}

std::string plan_bytes(const char* text, std::vector<std::string> disabled = {}) {
  CompileOptions options = options_with(make_kernel_cache());
  options.disabled = std::move(disabled);
  CHECK(plan_hits(text, options) == 0);
  const auto entries = options.cache->plans().entries();
  REQUIRE(entries.size() == 1);
  return entries[0].plan;
}

bool ran_a_pass(const Report& report) {
  for (const Event* event : report.of_kind(EventKind::CompileTime))
    if (event->id == "dce") return true;
  return false;
}

DiskCacheOptions in(const TemporaryFolder& folder) { return {folder.path() + "/cache", kDefaultCacheBytes, "test"}; }

std::string only_plan(const TemporaryFolder& folder) {
  for (const auto& entry : fs::directory_iterator(folder.path() + "/cache"))
    if (entry.path().extension() == ".plan") return entry.path().string();
  return "";
}

}  // namespace

TEST_CASE("a region is the same after it was stored") {
  for (const char* text : {kAttention, kEveryInstruction, "region _() {\n  exit #0()\n}\n",
                           "region l(%0: f32[%1], %2: bool) {\n"
                           "  %3 = loop %1, %0 : f32[%1] { (%4: int, %5: f32[%6])\n"
                           "    %7 = neg %5 : f32[%6]\n    yield %7\n  }\n"
                           "  %8 = if %2 : f32[%9] {\n    yield %3\n  } else {\n    yield %0\n  }\n"
                           "  exit #0(%8)\n}\n"}) {
    const Region region = parse_region(text);
    const std::string bytes = stored(region);
    ByteReader in(bytes);
    const Region again = read_region(in);
    REQUIRE_FALSE(in.failed());
    CHECK(in.left() == 0);
    CHECK(print(again) == print(region));
    CHECK(stored(again) == bytes);
  }
}

// A product of the weights that another kernel reads before the last one is made: that kernel moves behind the strip.
TEST_CASE("a kernel that reads a strip's result early does not forbid the strip") {
  const std::string text = R"(
region r(%0: f32[%1, %2, %3], %4: f32[%1, %3, %2], %5: f32[%1, %2, %3], %6: f32[%1, %3, %2]) {
  %10 = dot %0, %4 : f32[%1, %2, %2]
  %11 = sum %10 axes=[2] : f32[%1, %2]
  %12 = const int 1
  %13 = reshape %11, %1, %2, %12 : f32[%1, %2, %12]
  %14 = broadcast %13, %1, %2, %2 : f32[%1, %2, %2]
  %15 = sub %10, %14 : f32[%1, %2, %2]
  %16 = dot %6, %15 : f32[%1, %3, %2]
  %17 = permute %16 axes=[0, 2, 1] : f32[%1, %2, %3]
  %18 = add %17, %0 : f32[%1, %2, %3]
  %19 = sum %18 axes=[1] : f32[%1, %3]
  %20 = dot %15, %5 : f32[%1, %2, %3]
  exit #0(%18, %20, %19)
})";
  ExecutionPlan plan;
  REQUIRE(read_plan(plan_bytes(text.c_str()), &plan).empty());
  INFO(print(plan.region));
  int with_two_results = 0;
  for (const LoweredKernel& kernel : plan.kernels) with_two_results += kernel.strips.across != kNoValue;
  CHECK(with_two_results == 1);
  std::mt19937_64 rng(5);
  std::vector<Tensor> given;
  for (const Sizes& sizes : {Sizes{2, 7, 3}, Sizes{2, 3, 7}, Sizes{2, 7, 3}, Sizes{2, 3, 7}}) {
    const Tensor numbers = random_doubles(sizes, -1, 1, rng);
    OpAttributes to = to_dtype(DType::F32);
    given.push_back(run_op(Op::cast, {&numbers, 1}, {}, to).first);
  }
  Report report;
  const auto compiled = compile(parse_region(text), options_with(make_kernel_cache()), report);
  const RunExit expected = run_region(parse_region(text), given), found = run_with(*compiled, given);
  for (size_t i = 0; i < 3; ++i) CHECK(same_bits(found.live[i].tensor, expected.live[i].tensor));
}

TEST_CASE("a plan is the same after it was stored") {
  const std::string bytes = plan_bytes(kAttention);
  ExecutionPlan plan;
  REQUIRE(read_plan(bytes, &plan).empty());
  CHECK(write_plan(plan) == bytes);
  REQUIRE(plan.kernels.size() >= 2);
  INFO(print(plan.region));
  int in_strips = 0, in_place = 0;
  for (const LoweredKernel& kernel : plan.kernels) {
    in_strips += kernel.strips.left != kNoValue;
    for (ValueId value : kernel.in_place) in_place += value != kNoValue;
  }
  CHECK(in_strips == 1);
  CHECK(in_place == 1);
  // The region runs, and computes what the captured one does.
  std::mt19937_64 rng(1);
  std::vector<Tensor> inputs = {random_doubles({2, 5, 3}, -1, 1, rng), random_doubles({2, 3, 5}, -1, 1, rng),
                                random_doubles({2, 5, 3}, -1, 1, rng), Tensor(), random_doubles({2, 5, 3}, -1, 1, rng)};
  for (Tensor& input : inputs)
    if (input.defined()) input = run_op(Op::cast, {&input, 1}, {}, to_dtype(DType::F32)).first;
  inputs[3] = Tensor::empty(DType::Bool, {2, 5, 5});
  std::memset(inputs[3].data(), 1, 50);
  std::vector<Tensor> copies;
  for (const Tensor& input : inputs) copies.push_back(fresh(input));
  const RunExit expected = run_region(parse_region(kAttention), inputs);
  const RunExit found = run_region(plan.region, copies);
  for (size_t i = 0; i < 2; ++i) CHECK(same_bits(found.live[i].tensor, expected.live[i].tensor));
  CHECK(same_bits(copies[4], inputs[4]));
}

TEST_CASE("no changed byte and no cut of a plan makes one that breaks a rule") {
  const std::string bytes = plan_bytes(kAttention);
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip : {0x01, 0x04, 0x20, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      ExecutionPlan plan;
      INFO("byte " << at);
      if (!read_plan(damaged, &plan).empty()) {
        ++refused;
        continue;
      }
      verify(plan.region);
      for (const Instruction& instruction : plan.region.body.instructions)
        if (instruction.code == Code::Kernel) verify(plan.kernels.at(instruction.id).program);
    }
  CHECK(refused > bytes.size());
  ExecutionPlan plan;
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(read_plan(bytes.substr(0, size), &plan).empty());
  CHECK_FALSE(read_plan(bytes + '\0', &plan).empty());
  CHECK_FALSE(read_plan(std::string(1 << 16, '\xFF'), &plan).empty());
}

TEST_CASE("blocks nested too deeply are refused, not followed") {
  Region region = parse_region("region _(%0: bool) {\n  exit #0()\n}\n");
  for (int depth = 0; depth < 1100; ++depth) {
    Instruction outer;
    outer.code = Code::If;
    outer.blocks.push_back(std::make_unique<Block>(std::move(region.body)));
    region.body = Block();
    region.body.instructions.push_back(std::move(outer));
  }
  const std::string bytes = stored(region);
  ByteReader in(bytes);
  read_region(in);
  CHECK(in.failed());
}

TEST_CASE("the same region is planned once, other passes make another plan") {
  const CompileOptions options = options_with(make_kernel_cache());
  CHECK(plan_hits(kAttention, options) == 0);
  CHECK(plan_hits(kAttention, options) == 1);
  CompileOptions others = options;
  for (const char* pass : {"fuse", "memory", "strips", "cse"}) {
    others.disabled = {pass};
    CHECK(plan_hits(kAttention, others) == 0);
    CHECK(plan_hits(kAttention, others) == 1);
  }
  CHECK(plan_bytes(kAttention) != plan_bytes(kAttention, {"strips"}));
  // Anything that an exit, an error or the embedder could notice is another region.
  std::string text = kAttention;
  text.replace(text.find("@12"), 3, "@13");
  CHECK(plan_hits(text.c_str(), options) == 0);
  text.replace(text.find("exit #0"), 7, "exit #1");
  CHECK(plan_hits(text.c_str(), options) == 0);
  // Who wants to see a stage sees it made.
  CompileOptions shown = options;
  std::string emitted;
  shown.emit = "fused";
  shown.emitted = &emitted;
  CHECK(plan_hits(kAttention, shown) == 0);
  CHECK_FALSE(emitted.empty());
}

TEST_CASE("a second process takes the plan from disk and runs no pass") {
  TemporaryFolder folder;
  CHECK(plan_hits(kAttention, options_with(make_kernel_cache(in(folder)))) == 0);
  CompileOptions second = options_with(make_kernel_cache(in(folder)));
  second.verify = false;
  Report report;
  CHECK(plan_hits(kAttention, second, &report) == 1);
  CHECK_FALSE(ran_a_pass(report));
  CHECK(second.cache->plans().entries()[0].plan == plan_bytes(kAttention));
  // With `verify` the plan is compared with what the passes make.
  CHECK(plan_hits(kAttention, options_with(make_kernel_cache(in(folder)))) == 1);
  DiskCacheOptions other = in(folder);
  other.identity = "another version";
  CHECK(plan_hits(kAttention, options_with(make_kernel_cache(other))) == 0);
}

TEST_CASE("a damaged plan is skipped with a reason and written anew") {
  TemporaryFolder folder;
  CHECK(plan_hits(kAttention, options_with(make_kernel_cache(in(folder)))) == 0);
  const std::string file = only_plan(folder), bytes = read_file(file);
  std::string flipped = bytes;
  flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 1);
  for (const std::string& damaged : {std::string(), bytes.substr(0, 40), bytes.substr(0, bytes.size() - 1), flipped}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    Report report;
    CHECK(plan_hits(kAttention, options_with(make_kernel_cache(in(folder))), &report) == 0);
    CHECK(report.total(EventKind::CacheProblem) == 1);
    CHECK(read_file(file) == bytes);
  }
  // A checksum that fits, over bytes that are no plan, or the plan of another region.
  const std::string key = plan_key(parse_region(kAttention), {});
  for (const std::string& wrong : {std::string("nonsense"), plan_bytes(kEveryInstruction)}) {
    DiskCache cache(in(folder));
    REQUIRE(cache.store_plan(key, wrong).empty());
    Report report;
    if (wrong != "nonsense") {  // a plan all the same: only comparing tells
      CHECK_THROWS_AS(plan_hits(kAttention, options_with(make_kernel_cache(in(folder))), &report), InternalFault);
      continue;
    }
    CHECK(plan_hits(kAttention, options_with(make_kernel_cache(in(folder))), &report) == 0);
    CHECK(report.total(EventKind::CacheProblem) == 1);
    CHECK(read_file(file) == bytes);
  }
}

TEST_CASE("artifacts carry plans") {
  const CompileOptions first = options_with(make_kernel_cache());
  CHECK(plan_hits(kAttention, first) == 0);
  ArtifactCounts counts;
  const std::string artifacts = first.cache->save_artifacts(&counts);
  CHECK(counts.plans == 1);
  CHECK(counts.kernels == 0);
  const CompileOptions second = options_with(make_kernel_cache());
  Report report;
  CHECK(second.cache->load_artifacts(artifacts, report).plans == 1);
  CHECK(plan_hits(kAttention, second) == 1);
  std::string damaged = artifacts;
  damaged[artifacts.size() / 2] = static_cast<char>(damaged[artifacts.size() / 2] ^ 1);
  const CompileOptions third = options_with(make_kernel_cache());
  CHECK(third.cache->load_artifacts(damaged, report).skipped == 1);
  CHECK(plan_hits(kAttention, third) == 0);
}
