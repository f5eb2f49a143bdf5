#include "interpreter/modules/importer.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <sstream>
#include <thread>

#include "interpreter/modules/absent_modules.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/grants.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/stops.h"
#include "interpreter/vm/threads.h"
#include "lang/bytecode/serialize.h"
#include "lang/diagnostic.h"
#include "lang/library_file.h"
#include "stdlib/embedded.h"

namespace tsc::interp {

ModuleObject* as_module(const Value& v) {
  const bool is_module = v.is_object() && v.object()->type->layout == Kind::Module;
  return is_module ? static_cast<ModuleObject*>(v.object()) : nullptr;
}

void Importer::register_native(std::string_view name, NativeMaker make) { natives_[std::string(name)] = make; }

namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  if (!file && !file.eof()) return std::nullopt;
  return text.str();
}

// In the order of search; the second only when the host asks for it.
constexpr std::string_view kEndings[] = {".tsc", ".py"};

std::vector<std::string> texts_of(const ListObject& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items)
    if (auto* text = try_cast<StrObject>(item)) texts.emplace_back(text->view());
  return texts;
}

// The folders that the program says its modules lie in; null: it says nothing.
ListObject* path_of_package(Vm& vm, const ModuleObject* module) {
  return try_cast<ListObject>(dict_get(vm, module->globals.get(), Value(vm.names().path.get())));
}

bool is_package(Vm& vm, const ModuleObject* module) { return module->is_package || path_of_package(vm, module); }

bool has(const std::vector<std::string>& folders, const std::string& folder) {
  return std::find(folders.begin(), folders.end(), folder) != folders.end();
}

bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

}  // namespace

bool Importer::locate_on_disk(const std::string& folder, const std::string& tail, Location& out) {
  std::string base = folder.empty() ? tail : folder + "/" + tail;
  const std::span<const std::string_view> endings(kEndings, import_python_ ? 2 : 1);
  for (std::string_view ending : endings) {
    std::string file = base + "/__init__" + std::string(ending);
    if (auto text = read_file(file)) {
      out = {true, true, std::move(file), std::move(*text), base, {}, {}};
      return true;
    }
    file = base + std::string(ending);
    if (auto text = read_file(file)) {
      out = {true, false, std::move(file), std::move(*text), "", {}, {}};
      return true;
    }
  }
  return false;
}

// A host's list is in any order, and the first of two counts; that of the library is sorted.
const EmbeddedFile* Importer::find_embedded(std::string_view path) {
  const EmbeddedFile* begin = vm_.config().embedded;
  const EmbeddedFile* end = begin + vm_.config().embedded_count;
  const auto before = [](const EmbeddedFile& a, const EmbeddedFile& b) { return a.name < b.name; };
  if (!embedded_is_sorted_) embedded_is_sorted_ = std::is_sorted(begin, end, before);
  const EmbeddedFile* found =
      *embedded_is_sorted_ ? std::lower_bound(begin, end, EmbeddedFile{path, {}}, before)
                           : std::find_if(begin, end, [path](const EmbeddedFile& file) { return file.name == path; });
  return found != end && found->name == path ? found : nullptr;
}

bool Importer::locate_embedded(const std::string& name, Location& out) {
  std::string path = name;
  for (char& c : path)
    if (c == '.') c = '/';
  for (const char* ending : {"/__init__.tsc", ".tsc"}) {
    const std::string wanted = path + ending;
    const EmbeddedFile* found = find_embedded(wanted);
    if (!found) continue;
    const std::string library(lang::kLibraryFolder);
    out = {true, ending[0] == '/', library + wanted, {}, library + path, {}, {}};
    // A host may bring a text of its own in the place of the library's.
    const stdlib::EmbeddedFile* file = stdlib::find(wanted);
    if (file && same_text(file->text, found->text)) {
      out.bytecode = file->bytecode;
      out.library_text = file->text;
    } else {
      out.text = std::string(found->text);
    }
    return true;
  }
  return false;
}

std::optional<std::string> Importer::find(const std::string& name) {
  if (natives_.count(name)) return "built-in";
  const size_t dot = name.rfind('.');
  Local<ModuleObject> parent;
  if (dot != std::string::npos) {
    parent = import_absolute(name.substr(0, dot));
    if (!is_package(vm_, parent)) return std::nullopt;
  }
  Location found = locate(name, parent.get());
  return found.found ? std::optional<std::string>(found.file) : std::nullopt;
}

Importer::Location Importer::locate(const std::string& name, ModuleObject* parent) {
  Location out;
  bool package = false;
  for (auto& [other, source] : sources_) package |= other.compare(0, name.size() + 1, name + ".") == 0;
  if (auto it = sources_.find(name); it != sources_.end())
    return {true, package || it->second.is_package, name + ".tsc", it->second.text, "", {}, {}};
  if (vm_.config().find_module)
    if (std::optional<ModuleSource> source = vm_.config().find_module(name)) {
      if (source->file.empty()) source->file = name + ".tsc";
      return {true, source->is_package, std::move(source->file), std::move(source->text), "", {}, {}};
    }
  std::string tail = name.substr(name.rfind('.') + 1);
  // A name is one part of a path there, never more.
  if (!tail.empty() && tail.find('/') == std::string::npos)
    for (const std::string& folder : folders_of(parent)) {
      const bool is_its_own = parent && has(parent->path, folder);
      if (!lang::is_library_file(folder) && (is_its_own || may_search(folder)) && locate_on_disk(folder, tail, out))
        return out;
    }
  // What only lies above a module of the host is an empty package.
  if (!locate_embedded(name, out) && package) return {true, true, name + ".tsc", "", "", {}, {}};
  return out;
}

ListObject* Importer::path_of_script() const {
  auto* sys = try_cast<ModuleObject>(dict_get(vm_, vm_.modules(), "sys"));
  return sys ? try_cast<ListObject>(dict_get(vm_, sys->globals, "path")) : nullptr;
}

std::vector<std::string> Importer::folders_of(ModuleObject* parent) const {
  const ListObject* path = parent ? path_of_package(vm_, parent) : path_of_script();
  if (!path && parent) return parent->path;
  if (!path) return vm_.config().module_path;
  return texts_of(*path);
}

bool Importer::may_search(const std::string& folder) const {
  if (has(vm_.config().module_path, folder)) return true;
  try {
    check_read(vm_, folder.empty() ? "." : folder);
    return true;
  } catch (const ScriptException& refused) {
    pass_on_stops(vm_, refused);
    return false;
  }
}

void Importer::search_first(const std::string& folder) {
  auto& own = vm_.config().module_path;
  own.insert(own.begin(), folder);
  if (ListObject* path = path_of_script()) path->items.insert(path->items.begin(), str_value(vm_, folder));
}

std::string Importer::shadow_hint(const ModuleObject& module) {
  Location library;
  if (module.file.empty() || lang::is_library_file(module.file) || !locate_embedded(module.name, library)) return "";
  return "Rename '" + module.file + "': it hides the library's module '" + module.name + "'.";
}

std::string Importer::absence(const std::string& name, ModuleObject* parent) {
  if (std::string_view why = absent_module(name); !why.empty()) return ": " + std::string(why);
  if (parent && !is_package(vm_, parent)) return "; '" + parent->name + "' is not a package";
  const std::string tail = name.substr(name.rfind('.') + 1);
  for (const std::string& folder : folders_of(parent)) {
    if (!parent && !may_search(folder)) return "; '" + folder + "' of sys.path may not be read";
    for (const char* form : {".py", "/__init__.py"}) {
      const std::string file = (folder.empty() ? "" : folder + "/") + tail + form;
      if (std::ifstream(file).good()) return "; there is '" + file + "': the flag --import-py imports Python files";
    }
  }
  return "";
}

void Importer::not_found(const std::string& name, ModuleObject* parent) {
  const std::string why = absence(name, parent);
  const std::string message = "No module named '" + name + "'" + why;
  Local<ExceptionObject> e = make_exception(vm_, vm_.exceptions().ModuleNotFoundError, message);
  e->name = str_value(vm_, name);
  if (parent) e->hint = shadow_hint(*parent);
  if (!why.empty()) throw ScriptException(std::move(e));
  std::vector<std::string_view> names;
  for (auto& [known, make] : natives_)
    if (known[0] != '_') names.push_back(known);
  std::vector<std::string> embedded;
  for (size_t i = 0; i < vm_.config().embedded_count; ++i) {
    std::string path(vm_.config().embedded[i].name);
    path = path.substr(0, path.rfind(".tsc"));
    if (path.size() > 9 && path.substr(path.size() - 9) == "/__init__") path.resize(path.size() - 9);
    for (char& c : path)
      if (c == '/') c = '.';
    embedded.push_back(std::move(path));
  }
  names.insert(names.end(), embedded.begin(), embedded.end());
  std::string_view near = lang::nearest_word(name, names);
  if (!near.empty()) e->hint = "Did you mean: '" + std::string(near) + "'?";
  throw ScriptException(std::move(e));
}

Local<CodeObject> Importer::code_of(Location& found) {
  if (found.bytecode.empty()) return compile_source(vm_, found.text, found.file);
  std::shared_ptr<const lang::Source> source = lang::Source::of_lasting(found.file, found.library_text);
  lang::DeserializeResult stored = lang::deserialize_own(found.bytecode, std::move(source));
  TSC_CHECK(stored.code, "the library's bytecode is not of this build");
  return make_code(vm_, std::move(stored.code));
}

Value Importer::load(const std::string& name, ModuleObject* parent) {
  if (auto it = natives_.find(name); it != natives_.end()) {
    Value module = it->second(vm_).take();
    dict_set(vm_, vm_.modules(), name, module);
    return module;
  }
  Location found = locate(name, parent);
  if (!found.found) not_found(name, parent);
  Local<CodeObject> code = code_of(found);
  Local<ModuleObject> module = make_module(vm_, name);
  module->file = found.file;
  module->is_package = found.is_package;
  if (found.is_package) module->path.push_back(found.folder);
  module->initializing = true;
  dict_set(vm_, module->globals, "__file__", system_text(vm_, found.file));
  dict_set(vm_, module->globals, "__doc__", doc_of(vm_, code));
  size_t dot = name.rfind('.');
  std::string package = found.is_package ? name : dot == std::string::npos ? "" : name.substr(0, dot);
  dict_set(vm_, module->globals, "__package__", str_value(vm_, package));
  if (found.is_package) {
    Local<ListObject> path = make_list(vm_);
    path->items.push_back(str_value(vm_, found.folder));
    dict_set(vm_, module->globals, "__path__", path.take());
  }
  const Value key = str_value(vm_, name);
  loading_.push_back({name, vm_.threads().current().identity});
  const auto is_this = [&](const Loading& loading) { return loading.name == name; };
  dict_set(vm_, vm_.modules(), key, module.value());
  try {
    vm_.run_code(code, module);
  } catch (...) {
    std::erase_if(loading_, is_this);
    forget(key, found.is_package);
    throw;
  }
  std::erase_if(loading_, is_this);
  module->initializing = false;
  // A module may put another object in its place.
  Value final_module = dict_get(vm_, vm_.modules(), name);
  return final_module ? final_module : module.value();
}

// Its text is read anew and run in the module that is there.
void Importer::reload(ModuleObject& module) {
  if (natives_.count(module.name)) return;  // their functions are what they are
  const size_t dot = module.name.rfind('.');
  const Value parent = dot == std::string::npos ? Value() : dict_get(vm_, vm_.modules(), module.name.substr(0, dot));
  Location found = locate(module.name, as_module(parent));
  if (!found.found) not_found(module.name, as_module(parent));
  const Local<ModuleObject> held(&module);
  const Local<CodeObject> code = code_of(found);
  module.file = found.file;
  dict_set(vm_, module.globals, "__file__", system_text(vm_, found.file));
  dict_set(vm_, module.globals, "__doc__", doc_of(vm_, code.get()));
  vm_.run_code(code, held);
}

// A module whose body failed is not there. Neither are the parts of a failed package: they know the package
// that was given up.
void Importer::forget(const Value& name, bool is_package) {
  Table& modules = vm_.modules()->table;
  const std::string_view package = cast<StrObject>(name)->view();
  const auto is_part = [&](const Value& key) {
    auto* text = try_cast<StrObject>(key);
    return text && text->view().size() > package.size() && text->view().starts_with(package) &&
           text->view()[package.size()] == '.';
  };
  for (uint32_t i = 0; is_package && i < modules.used();) {
    const Value key = modules.entry(i).key;
    if (!is_part(key)) {
      ++i;
      continue;
    }
    dict_remove(vm_, vm_.modules(), key);
    i = 0;  // the entries have moved
  }
  dict_remove(vm_, vm_.modules(), name);
}

// Threads that wait for each other's modules, in a circle, see what is there, as in one thread's cycle.
bool Importer::is_to_wait_for(std::string name) const {
  const uint64_t self = vm_.threads().current().identity;
  for (bool is_first = true;; is_first = false) {
    const auto loading =
        std::find_if(loading_.begin(), loading_.end(), [&](const Loading& one) { return one.name == name; });
    if (loading == loading_.end()) return !is_first;  // who has waited for it goes on as soon as it has a turn
    if (loading->thread == self) return false;
    const auto waits = waits_for_.find(loading->thread);
    if (waits == waits_for_.end()) return true;
    name = waits->second;
  }
}

void Importer::wait_for_other_thread(const std::string& name, const Value& value) {
  auto* module = as_module(value);
  if (!module) return;
  struct Waiting {
    std::map<uint64_t, std::string>& threads;
    uint64_t self;
    ~Waiting() { threads.erase(self); }
  } waiting{waits_for_, vm_.threads().current().identity};
  while (module->initializing && is_to_wait_for(name)) {
    waits_for_[waiting.self] = name;
    wait_in_slices(vm_, steady_nanoseconds() + 1'000'000, [](int64_t nanoseconds) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
      return false;
    });
  }
}

Value Importer::import_one(const std::string& name, ModuleObject* parent) {
  if (Value known = dict_get(vm_, vm_.modules(), name)) {
    if (known.is_none()) not_found(name, parent);
    if (!vm_.threads().alone()) wait_for_other_thread(name, known);
    return known;
  }
  if (parent && !is_package(vm_, parent)) {
    // os.path and the like: native submodules are attributes of their parent.
    if (natives_.find(name) == natives_.end()) not_found(name, parent);
  }
  Value module = load(name, parent);
  if (Value replaced = dict_get(vm_, vm_.modules(), name)) module = replaced;
  if (parent) dict_set(vm_, parent->globals, name.substr(name.rfind('.') + 1), module);
  return module;
}

Value Importer::import_whole(const std::string& name) {
  Value module;
  size_t dot = 0;
  do {
    dot = name.find('.', dot + 1);
    std::string prefix = name.substr(0, dot);
    Local<ModuleObject> parent;
    if (auto* p = as_module(module)) parent = Local<ModuleObject>(p);
    module = import_one(prefix, parent);
  } while (dot != std::string::npos);
  return module;
}

Local<ModuleObject> Importer::import_absolute(const std::string& name) {
  const Value imported = import_whole(name);
  ModuleObject* module = as_module(imported);
  if (!module) raise(vm_, vm_.exceptions().ImportError, "'" + name + "' in sys.modules is not a module");
  return Local<ModuleObject>(module);
}

std::string Importer::resolve_relative(ModuleObject* from, std::string_view name, uint32_t level) {
  Value package = dict_get(vm_, from->globals, "__package__");
  std::string base = is_kind(package, Kind::Str) ? std::string(cast<StrObject>(package)->view()) : "";
  if (base.empty()) raise(vm_, vm_.exceptions().ImportError, "attempted relative import with no known parent package");
  for (uint32_t i = 1; i < level; ++i) {
    size_t dot = base.rfind('.');
    if (dot == std::string::npos)
      raise(vm_, vm_.exceptions().ImportError, "attempted relative import beyond top-level package");
    base.resize(dot);
  }
  return name.empty() ? base : base + "." + std::string(name);
}

Value Importer::import_statement(ModuleObject* from, std::string_view name, uint32_t level, bool last) {
  std::string full = level ? resolve_relative(from, name, level) : std::string(name);
  Value module = import_whole(full);
  if (last || level) return module;
  size_t dot = full.find('.');
  return dot == std::string::npos ? module : dict_get(vm_, vm_.modules(), full.substr(0, dot));
}

std::vector<std::string> Importer::looked_up(ModuleObject* from, std::string_view name, uint32_t level) {
  const std::string full = level ? resolve_relative(from, name, level) : std::string(name);
  std::vector<std::string> names;
  size_t dot = 0;
  do {
    dot = full.find('.', dot + 1);
    names.push_back(full.substr(0, dot));
    const Value known = dict_get(vm_, vm_.modules(), names.back());
    if (known.is_undefined() || known.is_none()) break;
  } while (dot != std::string::npos);
  return names;
}

Value Importer::import_from(const Value& module, StrObject* name) {
  if (Value v = find_attribute(vm_, module, name)) return v;
  auto* m = as_module(module);
  std::string text(name->view());
  if (!m) raise_attribute_error(vm_, module, name);
  std::string full = m->name + "." + text;
  if (is_package(vm_, m)) {
    try {
      return import_one(full, m);
    } catch (const ScriptException& e) {
      const Value& missing = e.exception()->name;
      bool same = is_kind(missing, Kind::Str) && cast<StrObject>(missing)->view() == full;
      if (!e.exception()->type->is_subtype_of(vm_.exceptions().ModuleNotFoundError) || !same) throw;
    }
  }
  std::string message = "cannot import name '" + text + "' from ";
  if (m->initializing) {
    std::string chain;
    for (const Loading& loading : loading_) chain += loading.name + " -> ";
    message += "partially initialized module '" + m->name + "' (most likely due to a circular import: " + chain +
               m->name + ")";
  } else {
    message += "'" + m->name + "' (" + (m->file.empty() ? "built-in" : m->file) + ")";
    if (std::string_view why = absent_attribute(m->name + "." + text); !why.empty()) message += ": " + std::string(why);
  }
  Local<ExceptionObject> e = make_exception(vm_, vm_.exceptions().ImportError, message);
  e->name = str_value(vm_, m->name);
  if (!m->file.empty()) e->subject = str_value(vm_, m->file);
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < m->globals->table.used(); ++i)
    if (auto* s = try_cast<StrObject>(m->globals->table.entry(i).key)) names.push_back(s->view());
  std::string_view near = lang::nearest_word(text, names);
  e->hint = near.empty() ? shadow_hint(*m) : "Did you mean: '" + std::string(near) + "'?";
  throw ScriptException(std::move(e));
}

void Importer::import_star(const Value& module, DictObject* target) {
  auto* m = as_module(module);
  if (!m) raise(vm_, vm_.exceptions().ImportError, "import * needs a module");
  if (Value all = dict_get(vm_, m->globals, "__all__")) {
    for_each(vm_, all, [&](const Value& name) {
      text_of(vm_, name, "Item in __all__");
      dict_set(vm_, target, intern(vm_, cast<StrObject>(name)).take(), import_from(module, cast<StrObject>(name)));
      return true;
    });
    return;
  }
  for (uint32_t i = 0; i < m->globals->table.used(); ++i) {
    const Table::Entry& e = m->globals->table.entry(i);
    if (!is_kind(e.key, Kind::Str) || cast<StrObject>(e.key)->view().substr(0, 1) == "_") continue;
    Value key = e.key, value = e.value;
    dict_set(vm_, target, key, value);
  }
}

}  // namespace tsc::interp
