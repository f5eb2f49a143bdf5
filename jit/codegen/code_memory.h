#pragma once
// Machine code in memory: links object files of kernels, finds their functions, frees them.
// Knows ORC; must not know how the objects were made. Keeps: pages are writable or executable,
// never both; code finds only the few functions of an explicit table, never the process's symbols.
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>
#include <vector>

namespace tsc::jit {

class CodeMemory;

// The code of one object; freed when it dies.
class LoadedCode {
 public:
  LoadedCode(std::shared_ptr<CodeMemory> memory, llvm::orc::JITDylib& library)
      : memory_(std::move(memory)), library_(library) {}
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode();
  std::vector<void*> addresses;  // of the symbols asked for

 private:
  std::shared_ptr<CodeMemory> memory_;
  llvm::orc::JITDylib& library_;
};

class CodeMemory : public std::enable_shared_from_this<CodeMemory> {
 public:
  CodeMemory();
  ~CodeMemory();
  std::shared_ptr<LoadedCode> load(std::unique_ptr<llvm::MemoryBuffer> object,
                                   const std::vector<std::string>& symbols);

 private:
  friend class LoadedCode;
  void remove(llvm::orc::JITDylib& library);

  std::unique_ptr<llvm::orc::ExecutionSession> session_;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  std::atomic<uint64_t> next_{0};
};

}  // namespace tsc::jit
