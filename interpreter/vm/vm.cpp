#include "interpreter/vm/vm.h"

#include <pthread.h>
#include <sys/random.h>

#include <cstdio>
#include <cstring>
#include <iostream>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/syntax_error.h"
#include "interpreter/modules/importer.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "lang/diagnostic.h"
#include "lang/emit/compile.h"

namespace tsc::interp {

Local<StrObject> intern(Vm& vm, std::string_view name) {
  auto& interned = VmAccess::interned(vm);
  auto it = interned.find(name);
  if (it != interned.end()) return Local<StrObject>(it->second);
  Local<StrObject> s = make_str(vm, name);
  s->flags |= kInterned;
  str_hash(vm, s);
  interned.emplace(s->view(), s.get());
  ++s->reference_count;  // a name lives as long as the Vm
  return s;
}

namespace {

uint64_t seed_from_environment(bool& found) {
  const char* text = std::getenv("TENSCRIPT_HASHSEED");
  found = text && *text;
  return found ? std::strtoull(text, nullptr, 10) : 0;
}

void init_names(Vm& vm, Names& names) {
#define NAME(member, text) names.member = intern(vm, text);
#include "interpreter/vm/names.def"
#undef NAME
}

}  // namespace

Vm::Vm(Config config) : config_(std::move(config)), heap_(*this, config_.budget) {
  stop_ = config_.stop ? config_.stop : &own_stop_;
  heap_.budget().set_signal(&interrupts_, kInterruptPressure);
  bool replay = false;
  hash_key_[0] = seed_from_environment(replay);
  if (!replay && getrandom(hash_key_, sizeof hash_key_, GRND_NONBLOCK) != sizeof hash_key_)
    hash_key_[0] = reinterpret_cast<uintptr_t>(this);
  lookup_cache_ = std::make_unique<LookupCacheEntry[]>(kLookupCacheSize);
  begin_entry();
  importer_ = std::make_unique<Importer>(*this);
  heap_.enable(false);
  init_core_types(*this);
  init_names(*this, names_);
  init_function_types(*this);
  builtins_ = make_module(*this, "builtins");
  init_object_methods(*this);
  init_dict_type(*this);
  init_descriptor_types(*this);
  init_number_types(*this);
  init_iterators(*this);
  init_tuple_type(*this);
  init_list_type(*this);
  init_str_type(*this);
  init_bytes_type(*this);
  init_dict_views(*this);
  init_set_types(*this);
  init_range_types(*this);
  init_index_iterator(*this);
  init_generator_type(*this);
  init_exception_types(*this);
  init_alias_types(*this);
  init_file_type(*this);
  init_builtin_functions(*this);
  publish_slots(*this, types_.native_function);
  publish_slots(*this, types_.native_property);
  publish_slots(*this, types_.class_method);
  publish_slots(*this, types_.static_method);
  modules_ = make_dict(*this);
  dict_set(*this, modules_, "builtins", builtins_.value());
  init_native_modules(*this);
  make_spare_errors();
  heap_.enable(true);
}

Vm::~Vm() {
  shutting_down_ = true;
  heap_.budget().set_signal(nullptr, 0);
  watchers_ = nullptr;
  hooks_ = nullptr;
  unwinding_ = nullptr;
  spare_memory_error_ = spare_limit_error_ = nullptr;
  heap_.clear_everything();
  extensions_.clear();
  modules_ = nullptr;
  builtins_ = nullptr;
  importer_.reset();
  not_implemented_.reset();
  ellipsis_.reset();
  heap_.collect(true);
  // Types go last: everything that dies needs its own.
  for (Type* type : native_types_) {
    DictObject* attributes = type->attributes;
    attributes->table.clear();
  }
  names_ = Names();
  for (auto& [text, name] : interned_)
    if (--name->reference_count == 0) destroy_object(name);
  for (Type* type : native_types_) {
    type->root_shape.reset();
    type->dictionary_shape.reset();
  }
  for (Type* type : native_types_) {
    DictObject* attributes = type->attributes;
    type->attributes = nullptr;
    if (--attributes->reference_count == 0) destroy_object(attributes);
  }
  for (Type* type : native_types_) {
    type->~Type();
    heap_.free(type, sizeof(Type));
  }
}

void Vm::write(Stream stream, std::string_view text) {
  if (config_.write) return config_.write(stream, text);
  std::FILE* file = stream == Stream::Out ? stdout : stderr;
  std::fwrite(text.data(), 1, text.size(), file);
}

std::optional<std::string> Vm::read_line() {
  if (config_.read_line) {
    std::optional<std::string> line = config_.read_line();
    if (line) *line += '\n';
    return line;
  }
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (!std::cin.eof()) line += '\n';
  return line;
}

// A thread's stack limit is looked up once; a Vm may be entered from several threads in turn.
void Vm::check_native_stack() {
  static thread_local char* limit = nullptr;
  if (!limit) [[unlikely]] {
    pthread_attr_t attributes;
    void* begin = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &begin, &size);
      pthread_attr_destroy(&attributes);
    }
    size_t reserve = std::min<size_t>(size / 4, 160 << 10);
    limit = static_cast<char*>(begin) + reserve;
  }
  char here;
  if (&here < limit) [[unlikely]]
    raise(*this, exceptions_.RecursionError, "maximum recursion depth exceeded: the native stack is full");
}

namespace {

[[noreturn]] void raise_syntax_error(Vm& vm, const lang::Diagnostics& diagnostics,
                                     const lang::Source& source) {
  std::string text = lang::render_all(diagnostics, source, {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const lang::Diagnostic* first = nullptr;
  for (const lang::Diagnostic& d : diagnostics.all())
    if (d.severity == lang::Severity::Error && !first) first = &d;
  const lang::LineColumn at = source.locate(first ? first->primary.span.begin : 0);
  Local<ExceptionObject> e =
      make_syntax_error(vm, first ? first->message : "invalid syntax", source.name(), at.line,
                        at.column, source.line_text(at.line));
  set_own_attribute(vm, e, intern(vm, "report"), str_value(vm, text));
  throw ScriptException(std::move(e));
}

}  // namespace

Local<CodeObject> compile_source(Vm& vm, std::string_view text, std::string_view file) {
  auto source = std::make_shared<const lang::Source>(std::string(file), std::string(text));
  lang::CompileResult compiled = lang::compile_module(source);
  if (!compiled.code) raise_syntax_error(vm, compiled.diagnostics, *source);
  return make_code(vm, compiled.code);
}

Value Vm::run_code(Local<CodeObject> code, ModuleObject* module) {
  Local<FunctionObject> function = make_function(*this, code, module);
  return call(*this, function.value());
}

Local<ModuleObject> Vm::run_module(std::string_view text, std::string_view file,
                                   std::string_view module_name) {
  Local<CodeObject> code = compile_source(*this, text, file);
  Local<ModuleObject> module = make_module(*this, module_name);
  module->file = std::string(file);
  dict_set(*this, module->globals, "__file__", str_value(*this, file));
  dict_set(*this, module->globals, "__doc__", code->doc);
  dict_set(*this, module->globals, "__builtins__", builtins_.value());
  dict_set(*this, modules_, module_name, module.value());
  run_code(code, module);
  return module;
}

Local<ModuleObject> Vm::import_module(std::string_view name) {
  return importer_->import_absolute(std::string(name));
}

}  // namespace tsc::interp
