#pragma once
// A Vm whose output is collected, for tests.
#include <string>

#include "interpreter/modules/importer.h"
#include "interpreter/vm/native.h"

namespace tsc::interp {

struct TestVm {
  std::string out;
  Vm vm;
  explicit TestVm(Config config = {}) : vm(with_output(std::move(config))) {}

  Config with_output(Config config) {
    config.write = [this](Stream, std::string_view text) { out += text; };
    return config;
  }
  // What the script printed; an uncaught exception ends it with "!Type: message".
  std::string run(std::string_view source) {
    out.clear();
    try {
      module = vm.run_module(source, "test.tsc");
    } catch (const ScriptException& e) {
      out += "!" + exception_line(vm, e.exception());
    }
    return out;
  }
  Value global(std::string_view name) { return dict_get(vm, module->globals, name); }
  Local<ModuleObject> module;
};

}  // namespace tsc::interp
