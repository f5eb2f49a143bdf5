// Machine code: freed with its kernel, never writable and executable, made from several threads.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "catch2/catch.hpp"
#include "kernel_case.h"
#include "runtime/base/error.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

KernelProgram chain(int length) {
  ProgramBuilder b;
  uint32_t x = b.input(DType::F32), y = b.input(DType::F32), out = b.output(DType::F32);
  NestValue value = b.load(x), other = b.load(y);
  for (int i = 0; i < length; ++i) value = b.apply(i % 2 ? Op::mul : Op::add, {value, i % 3 ? other : b.constant(i)});
  b.store(out, value);
  return b.program;
}

int64_t mapped_pages() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  return pages;
}

}  // namespace

TEST_CASE("no page is writable and executable") {
  auto kernel = make_kernel(*compilers()[0].compiler, chain(3));
  std::ifstream maps("/proc/self/maps");
  std::string line;
  int executable = 0;
  while (std::getline(maps, line)) {
    INFO(line);
    CHECK(line.find("rwx") == std::string::npos);
    executable += line.find("r-x") != std::string::npos;
  }
  CHECK(executable > 0);
}

TEST_CASE("code is freed with its kernel") {
  KernelCompiler& compiler = *compilers()[0].compiler;
  for (int i = 0; i < 20; ++i) make_kernel(compiler, chain(3));
  const int64_t before = mapped_pages();
  for (int i = 0; i < 1000; ++i) make_kernel(compiler, chain(3));
  const int64_t grown = (mapped_pages() - before) * getpagesize();
  CHECK(grown < 4 << 20);
}

TEST_CASE("a kernel outlives its compiler and its batch") {
  Ref<CompiledKernel> kept;
  {
    auto compiler = create_kernel_compiler();
    const KernelProgram a = chain(2), b = chain(5);
    const KernelProgram* pointers[] = {&a, &b};
    const std::string symbols[] = {"first", "second"};
    kept = load_image(compiler->compile(pointers, symbols, nullptr)[1], symbols[1]);
  }
  CHECK(kept->symbol == "second");
  CHECK(kept->code_bytes > 0);
  float x[5] = {1, 2, 3, 4, 5}, y[5] = {1, 1, 1, 1, 1}, out[5] = {};
  OperandArgument arguments[] = {{x, 5, 1}, {y, 5, 1}, {out, 5, 1}};
  kept->function(arguments, nullptr, 1, 5, nullptr);
  CHECK(out[0] == 7.0f);  // ((1 + 0) * 1 + 1) * 3 + 1
}

TEST_CASE("several threads compile at once") {
  KernelCompiler& compiler = *compilers()[0].compiler;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&compiler, t] {
      for (int i = 0; i < 20; ++i) make_kernel(compiler, chain(t + i % 5 + 1));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("the module opens through the loader") {
  std::string error;
  auto compiler = load_kernel_compiler(&error);
  INFO(error);
  REQUIRE(compiler);
  CHECK(make_kernel(*compiler, chain(1))->function != nullptr);
  // A fault of the module is one of ours, whichever copy of the class threw it.
  CHECK_THROWS_AS(compiler->emit(chain(1), "nonsense"), InternalFault);
}
