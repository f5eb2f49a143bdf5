#include "interpreter/vm/vm.h"

#include <poll.h>
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/syntax_error.h"
#include "interpreter/modules/importer.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/ends.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/shape_checking.h"
#include "interpreter/vm/threads.h"
#include "interpreter/vm/vm_access.h"
#include "lang/diagnostic.h"
#include "lang/emit/compile.h"

namespace tsc::interp {

Local<StrObject> intern(Vm& vm, std::string_view name) {
  auto& interned = VmAccess::interned(vm);
  auto it = interned.find(name);
  if (it != interned.end()) return Local<StrObject>(it->second);
  // make_str asks here for the string of one letter.
  Local<StrObject> s =
      name.size() == 1 && static_cast<uint8_t>(name[0]) < 0x80 ? make_ascii_str(vm, name) : make_str(vm, name);
  if (s->view() != name) return intern(vm, s->view());  // bytes of it were no text
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

// An exception of the script's kind is an object of this machine and goes with it. Memory is all that can be
// missing here.
Vm::Vm(Config config) : config_(std::move(config)), heap_(*this, config_.budget) {
  try {
    bool raised = false;
    try {
      VmAccess::boot(*this);
    } catch (const ScriptException&) {
      raised = true;
    }
    if (raised) throw std::bad_alloc();
  } catch (...) {
    VmAccess::dismantle(*this);
    throw;
  }
}

Vm::~Vm() { VmAccess::dismantle(*this); }

void VmAccess::boot(Vm& vm) {
  vm.stop_ = vm.config_.stop ? vm.config_.stop : &vm.own_stop_;
  vm.heap_.budget().set_signal(&vm.interrupts_, kInterruptPressure);
  bool replay = false;
  vm.hash_key_[0] = seed_from_environment(replay);
  if (!replay && getrandom(vm.hash_key_, sizeof vm.hash_key_, GRND_NONBLOCK) != sizeof vm.hash_key_)
    vm.hash_key_[0] = reinterpret_cast<uintptr_t>(&vm);
  vm.lookup_cache_ = std::make_unique<Vm::LookupCacheEntry[]>(Vm::kLookupCacheSize);
  vm.threads_ = std::make_unique<ScriptThreads>(vm);
  vm.begin_entry();
  vm.importer_ = std::make_unique<Importer>(vm);
  vm.heap_.enable(false);
  init_core_types(vm);
  init_names(vm, vm.names_);
  init_function_types(vm);
  init_annotations_type(vm);
  vm.builtins_ = make_module(vm, "builtins");
  init_object_methods(vm);
  init_dict_type(vm);
  init_descriptor_types(vm);
  init_number_types(vm);
  init_complex_type(vm);
  init_iterators(vm);
  init_tuple_type(vm);
  init_list_type(vm);
  init_str_type(vm);
  init_bytes_type(vm);
  init_bytearray_type(vm);
  init_memoryview_type(vm);
  init_dict_views(vm);
  init_set_types(vm);
  init_range_types(vm);
  init_index_iterator(vm);
  init_generator_type(vm);
  init_frame_view(vm);
  init_exception_types(vm);
  init_alias_types(vm);
  init_file_type(vm);
  init_builtin_functions(vm);
  publish_slots(vm, vm.types_.native_function);
  publish_slots(vm, vm.types_.native_property);
  publish_slots(vm, vm.types_.class_method);
  publish_slots(vm, vm.types_.static_method);
  vm.modules_ = make_dict(vm);
  dict_set(vm, vm.modules_, "builtins", vm.builtins_.value());
  dict_set(vm, vm.builtins_->globals, "__builtins__", vm.builtins_.value());
  init_native_modules(vm);
  vm.make_spare_errors();
  vm.heap_.enable(true);
}

void VmAccess::dismantle(Vm& vm) {
  if (vm.threads_) end_program(vm);
  vm.shutting_down_ = true;
  vm.heap_.budget().set_signal(nullptr, 0);
  vm.watchers_ = nullptr;
  vm.hooks_ = nullptr;
  vm.unwinding_ = nullptr;
  if (vm.threads_) vm.threads_->forget_values();
  vm.spare_memory_error_ = vm.spare_limit_error_ = nullptr;
  vm.heap_.clear_everything();
  vm.extensions_.clear();
  vm.modules_ = nullptr;
  vm.builtins_ = nullptr;
  vm.importer_.reset();
  vm.not_implemented_.reset();
  vm.ellipsis_.reset();
  vm.heap_.collect(true);
  // Types go last: everything that dies needs its own.
  for (Type* type : vm.native_types_) {
    if (DictObject* attributes = type->attributes) attributes->table.clear();
  }
  vm.names_ = Names();
  vm.letters_ = {};
  for (auto& [text, name] : vm.interned_)
    if (--name->reference_count == 0) destroy_object(name);
  for (Type* type : vm.native_types_) {
    type->root_shape.reset();
    type->dictionary_shape.reset();
  }
  for (Type* type : vm.native_types_) {
    DictObject* attributes = std::exchange(type->attributes, nullptr);
    if (attributes && --attributes->reference_count == 0) destroy_object(attributes);
  }
  for (Type* type : vm.native_types_) {
    type->~Type();
    vm.heap_.free(type, sizeof(Type));
  }
}

StrObject* Vm::make_letter(char c) {
  Local<StrObject>& letter = letters_[static_cast<unsigned char>(c)];
  letter = intern(*this, std::string_view(&c, 1));
  return letter.get();
}

// A long text goes out in pieces that end with whole characters.
void Vm::write(Stream stream, std::string_view text) {
  if (find_surrogate(text) != text.npos) return write(stream, with_surrogates_escaped(text));
  constexpr size_t kPiece = 1 << 20;
  while (text.size() > kPiece) {
    size_t end = kPiece;
    while (end > 1 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
    write_piece(stream, text.substr(0, end));
    text.remove_prefix(end);
    hear_stop();
  }
  write_piece(stream, text);
}

void Vm::write_piece(Stream stream, std::string_view text) {
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
  check_grant(*this, Grant::Input, "reading standard input");
  std::fflush(stdout);
  return wait_for_line();
}

std::optional<std::string> Vm::wait_for_line() {
  constexpr int kSliceMilliseconds = 20;
  constexpr size_t kBetweenChecks = 64 << 10;
  std::string line;
  for (;;) {
    while (stdin->_IO_read_ptr == stdin->_IO_read_end) {  // what was read ahead needs no waiting
      pollfd waited{STDIN_FILENO, POLLIN, 0};
      int ready = 0;
      threads_->apart([&] { ready = ::poll(&waited, 1, kSliceMilliseconds); });
      poll();
      if (ready > 0) break;
    }
    const int c = std::getc(stdin);
    if (c == EOF) break;
    line += static_cast<char>(c);
    if (c == '\n') break;
    if (line.size() % kBetweenChecks != 0) continue;
    poll();
    check_text_room(line.size());
  }
  if (line.empty()) return std::nullopt;
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

void raise_syntax_error(Vm& vm, const lang::Diagnostics& diagnostics, const lang::Source& source) {
  std::string text = lang::render_all(diagnostics, source, {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const lang::Diagnostic* first = nullptr;
  for (const lang::Diagnostic& d : diagnostics.all())
    if (d.severity == lang::Severity::Error && !first) first = &d;
  const lang::Span span = first ? first->primary.span : lang::Span{};
  const lang::LineColumn at = source.locate(span.begin);
  Local<ExceptionObject> e = make_syntax_error(vm, first ? first->message : "invalid syntax", source.name(), at,
                                               source.locate(span.end), source.line_text(at.line));
  const ExceptionTypes& types = vm.exceptions();
  switch (first ? first->code : lang::Code::InvalidSyntax) {
    case lang::Code::UnexpectedIndent:
    case lang::Code::InconsistentDedent:
    case lang::Code::ExpectedBlock: e->type = types.IndentationError; break;
    case lang::Code::MixedIndentation: e->type = types.TabError; break;
    default: break;
  }
  set_own_attribute(vm, e, intern(vm, "report"), str_value(vm, text));
  throw ScriptException(std::move(e));
}

void warn_of_syntax(Vm& vm, const lang::Diagnostics& diagnostics, const lang::Source& source) {
  Local<ModuleObject> warnings;
  for (const lang::Diagnostic& d : diagnostics.all()) {
    if (d.severity != lang::Severity::Warning) continue;
    std::string text = d.message;
    if (!d.helps.empty()) {
      std::string help = d.helps[0];
      const bool is_sentence = d.code == lang::Code::LiteralIdentity;
      if (is_sentence) help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
      text += (is_sentence ? ". " : "; ") + help;
    }
    if (!warnings) warnings = vm.importer().import_absolute("warnings");
    const lang::LineColumn at = source.locate(d.primary.span.begin);
    try {
      call_method(vm, warnings.value(), "warn_explicit",
                  {str_value(vm, text), dict_get(vm, vm.builtins()->globals, "SyntaxWarning"),
                   system_text(vm, source.name()), Value::integer(at.line)});
    } catch (const ScriptException& e) {
      // Made an error by a filter, it is one of the text.
      if (e.exception()->type->name != "SyntaxWarning") throw;
      throw ScriptException(
          make_syntax_error(vm, text, source.name(), at, source.locate(d.primary.span.end), source.line_text(at.line)));
    }
  }
}

Local<CodeObject> compile_source(Vm& vm, std::string_view text, std::string_view file) {
  auto source = std::make_shared<const lang::Source>(std::string(file), std::string(text));
  ShapeChecking* checking = shape_checking(vm);
  lang::CompileOptions options;
  options.check_shapes = checking != nullptr;
  lang::CompileResult compiled = lang::compile_module(source, options);
  if (!compiled.code) raise_syntax_error(vm, compiled.diagnostics, *source);
  if (checking && !compiled.diagnostics.all().empty()) checking->warn(compiled.diagnostics, *source);
  else warn_of_syntax(vm, compiled.diagnostics, *source);
  return make_code(vm, compiled.code);
}

Value Vm::run_code(Local<CodeObject> code, ModuleObject* module) {
  Local<FunctionObject> function = make_function(*this, code, module);
  return call(*this, function.value());
}

Local<ModuleObject> Vm::run_module(std::string_view text, std::string_view file, std::string_view module_name) {
  Local<CodeObject> code = compile_source(*this, text, file);
  Local<ModuleObject> module = make_module(*this, module_name);
  module->file = std::string(file);
  dict_set(*this, module->globals, "__file__", system_text(*this, file));
  dict_set(*this, module->globals, "__doc__", doc_of(*this, code));
  dict_set(*this, module->globals, "__builtins__", builtins_.value());
  dict_set(*this, modules_, module_name, module.value());
  run_code(code, module);
  return module;
}

Local<ModuleObject> Vm::import_module(std::string_view name) { return importer_->import_absolute(std::string(name)); }

}  // namespace tsc::interp
