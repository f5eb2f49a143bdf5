#include "jit/codegen/code_memory.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>

#include <cmath>
#include <cstring>

#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

template <class T>
T value_or_fault(llvm::Expected<T> result) {
  if (result) return std::move(*result);
  std::string message = llvm::toString(result.takeError());
  TSC_CHECK(false, message);
}

void fault_unless_ok(llvm::Error error) {
  if (!error) return;
  std::string message = llvm::toString(std::move(error));
  TSC_CHECK(false, message);
}

struct RuntimeFunction {
  const char* name;
  void* address;
};

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

using Unary32 = float(float);
using Unary64 = double(double);
using Binary32 = float(float, float);
using Binary64 = double(double, double);
using Ternary32 = float(float, float, float);
using Ternary64 = double(double, double, double);

// What code generation may call on some CPU: exact functions only, so the bits are the same as
// those of the instructions that other CPUs have.
const RuntimeFunction kRuntimeFunctions[] = {
    {"memcpy", address_of<void*(void*, const void*, size_t)>(std::memcpy)},
    {"memset", address_of<void*(void*, int, size_t)>(std::memset)},
    {"fmaf", address_of<Ternary32>(::fmaf)},
    {"fma", address_of<Ternary64>(::fma)},
    {"fmodf", address_of<Binary32>(::fmodf)},
    {"fmod", address_of<Binary64>(::fmod)},
    {"floorf", address_of<Unary32>(::floorf)},
    {"floor", address_of<Unary64>(::floor)},
    {"ceilf", address_of<Unary32>(::ceilf)},
    {"ceil", address_of<Unary64>(::ceil)},
    {"truncf", address_of<Unary32>(::truncf)},
    {"trunc", address_of<Unary64>(::trunc)},
    {"rintf", address_of<Unary32>(::rintf)},
    {"rint", address_of<Unary64>(::rint)},
};

}  // namespace

CodeMemory::CodeMemory() {
  namespace orc = llvm::orc;
  auto memory = value_or_fault(llvm::jitlink::InProcessMemoryManager::Create());
  auto control = value_or_fault(orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>(), std::move(memory)));
  session_ = std::make_unique<orc::ExecutionSession>(std::move(control));
  linker_ = std::make_unique<orc::ObjectLinkingLayer>(*session_);
  runtime_ = &session_->createBareJITDylib("runtime");
  orc::SymbolMap symbols;
  for (const RuntimeFunction& function : kRuntimeFunctions)
    symbols[session_->intern(function.name)] = {orc::ExecutorAddr::fromPtr(function.address),
                                                llvm::JITSymbolFlags::Exported};
  fault_unless_ok(runtime_->define(orc::absoluteSymbols(std::move(symbols))));
}

CodeMemory::~CodeMemory() {
  if (llvm::Error error = session_->endSession()) llvm::consumeError(std::move(error));
}

std::shared_ptr<LoadedCode> CodeMemory::load(std::unique_ptr<llvm::MemoryBuffer> object,
                                             const std::vector<std::string>& symbols) {
  auto& library = session_->createBareJITDylib("kernels." + std::to_string(next_++));
  auto code = std::make_shared<LoadedCode>(shared_from_this(), library);
  library.addToLinkOrder(*runtime_);
  fault_unless_ok(linker_->add(library, std::move(object)));
  for (const std::string& symbol : symbols) {
    auto found = value_or_fault(session_->lookup({&library}, session_->intern(symbol)));
    code->addresses.push_back(found.getAddress().toPtr<void*>());
  }
  return code;
}

void CodeMemory::remove(llvm::orc::JITDylib& library) {
  if (llvm::Error error = session_->removeJITDylib(library)) llvm::consumeError(std::move(error));
  session_->getSymbolStringPool()->clearDeadEntries();
}

LoadedCode::~LoadedCode() { memory_->remove(library_); }

}  // namespace tsc::jit
