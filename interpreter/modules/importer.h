#pragma once
// Imports: native modules registered by C++, .tsc files on the module path, the embedded library.
// Knows: names, files. Must not know: what modules contain.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

// The module, one of a class of the script as well; null where the value is none.
ModuleObject* as_module(const Value& v);

class Importer {
 public:
  using NativeMaker = Local<ModuleObject> (*)(Vm& vm);
  explicit Importer(Vm& vm) : vm_(vm) {}
  // Imports also find .py files, after .tsc files of the same name.
  void import_python(bool on) { import_python_ = on; }
  bool imports_python() const { return import_python_; }

  // The statements. `level` counts leading dots; `last`: the module itself, not its first package.
  Value import_statement(ModuleObject* from, std::string_view name, uint32_t level, bool last);
  Value import_from(const Value& module, StrObject* name);
  // The names that import_statement looks up in sys.modules, up to the first that is not there.
  std::vector<std::string> looked_up(ModuleObject* from, std::string_view name, uint32_t level);
  void import_star(const Value& module, DictObject* target);
  // Imports a dotted absolute name with all its packages; the last module.
  Local<ModuleObject> import_absolute(const std::string& name);

  // Runs the module's text again, as its file has it now, in the namespace that it has.
  void reload(ModuleObject& module);

  // The module of that name, made by its registered maker.
  Value import_native(const std::string& name) { return import_one(name, nullptr); }
  void register_native(std::string_view name, NativeMaker make);
  const std::map<std::string, NativeMaker>& natives() const { return natives_; }
  // A module given as source text by the host.
  void register_source(std::string name, std::string text, bool is_package = false) {
    sources_[std::move(name)] = {std::move(text), "", is_package};
  }

  // The file a module would come from, "built-in" for one of C++; nothing when there is none. Imports the
  // packages that it lies in.
  std::optional<std::string> find(const std::string& name);
  // The host searches this folder in front of all others.
  void search_first(const std::string& folder);
  // What to do about a module that stands in the place of the library's; empty where none does.
  std::string shadow_hint(const ModuleObject& module);
  // A module of C++ functions, known whether imported or not.
  bool is_native(const std::string& name) const { return natives_.count(name) > 0; }

 private:
  struct Location {
    bool found = false;
    bool is_package = false;
    std::string file;               // for tracebacks
    std::string text;               // empty where there is bytecode
    std::string folder;             // of a package: where submodules are searched
    std::string_view bytecode;      // of a library file, as the build stored it
    std::string_view library_text;  // what it was made from
  };
  Value import_one(const std::string& name, ModuleObject* parent);
  // What stands in sys.modules in the end, which a module may have replaced by any object.
  Value import_whole(const std::string& name);
  Location locate(const std::string& name, ModuleObject* parent);
  // Where it is searched on disk: what the script has made of sys.path, or the package's folders.
  std::vector<std::string> folders_of(ModuleObject* parent) const;
  ListObject* path_of_script() const;  // sys.path; null: nothing has imported sys, or it is no list
  // The host's own folders need no grant, those that the script adds need the one for reading.
  bool may_search(const std::string& folder) const;
  bool locate_on_disk(const std::string& folder, const std::string& tail, Location& out);
  // Why there is no such module, and what to use.
  std::string absence(const std::string& name, ModuleObject* parent);
  const EmbeddedFile* find_embedded(std::string_view path);
  bool locate_embedded(const std::string& name, Location& out);
  // From the bytecode when there is one, else compiled.
  Local<CodeObject> code_of(Location& found);
  Value load(const std::string& name, ModuleObject* parent);
  void forget(const Value& name, bool is_package);
  std::string resolve_relative(ModuleObject* from, std::string_view name, uint32_t level);
  [[noreturn]] void not_found(const std::string& name, ModuleObject* parent);

  Vm& vm_;
  bool import_python_ = false;
  std::map<std::string, NativeMaker> natives_;
  std::map<std::string, ModuleSource> sources_;
  std::optional<bool> embedded_is_sorted_;
  struct Loading {
    std::string name;
    uint64_t thread;  // that runs its text
  };
  // A module that another thread is still running the text of.
  bool is_to_wait_for(std::string name) const;
  void wait_for_other_thread(const std::string& name, const Value& module);
  std::vector<Loading> loading_;               // in this order, also for the message about a cycle
  std::map<uint64_t, std::string> waits_for_;  // of threads: the module of another one
};

}  // namespace tsc::interp
