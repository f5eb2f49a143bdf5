#include "interpreter/capture/compiler.h"

#include "interpreter/capture/region_host.h"
#include "interpreter/tensor/eager.h"
#include "jit/autodiff/split.h"

namespace tsc::interp {
namespace {

constexpr size_t kVariantLimit = 16;
constexpr uint32_t kCaptureLimit = 400;
constexpr uint32_t kStringVariants = 8;
constexpr char kCompilerKey = 0;

// as_tensor, which walks the bases of a type, for what nearly always is no subclass.
TensorObject* quick_tensor(const TensorState& state, const Value& v) {
  if (v.is_object() && v.object()->type == state.tensor_type) return cast<TensorObject>(v);
  return as_tensor(state, v);
}

}  // namespace

Compiler::Compiler(Vm& vm, CompileOptions options) : vm_(vm), options_(std::move(options)) {
  if (!options_.jit.cache) options_.jit.cache = jit::make_kernel_cache(options_.disk_cache, options_.strict);
  constexpr size_t kKept = 4;
  entries_.reserve(kKept);
  inputs_.reserve(kKept);
  report_.add_sink([this](const jit::Event& event) { warn(event); });
}

Compiler::~Compiler() = default;

void Compiler::reset() {
  sites_.clear();
  watches_.clear();
  codes_.clear();
}

// ---- entry ----

EnterResult Compiler::enter_function(Vm&, Frame& frame, Value& result) {
  auto* mark = static_cast<CompiledMark*>(frame.function->compiled.get());
  if (!options_.enabled || mark->never) return EnterResult::Interpret;
  return enter(frame, result);
}

EnterResult Compiler::enter_at(Vm&, Frame& frame, Value& result) {
  if (!options_.enabled) return EnterResult::Interpret;
  return enter(frame, result);
}

// Invalid variants go, and with them what they kept alive: a model that the script has replaced.
void Compiler::sweep() {
  has_invalid_ = false;
  for (auto& [key, site] : sites_)
    for (size_t i = 0; i < site.variants.size();) {
      const std::shared_ptr<Variant> variant = site.variants[i];
      if (variant->valid) {
        ++i;
        continue;
      }
      unwatch(*variant);
      site.last_change = "'" + variant->invalidated_by + "' changed";
      site.variants.erase(site.variants.begin() + static_cast<std::ptrdiff_t>(i));
    }
  std::erase_if(backwards_, [](const auto& entry) { return entry.second.of.expired(); });
}

void Compiler::unwatch(const Variant& variant) {
  for (const Watched& watched : variant.plan.watched) {
    auto found = watches_.find(watched.holder.object());
    if (found == watches_.end()) continue;
    std::erase_if(found->second, [&](const WatchEntry& entry) {
      const std::shared_ptr<Variant> watching = entry.variant.lock();
      return !watching || watching.get() == &variant;
    });
    if (found->second.empty()) watches_.erase(found);
  }
}

EnterResult Compiler::enter(Frame& frame, Value& result) {
  if (has_invalid_) [[unlikely]] sweep();
  SiteKey key{frame.code, frame.pc};
  auto found = sites_.find(key);
  if (found == sites_.end()) {
    codes_.push_back(Local<CodeObject>(frame.code));
    found = sites_.try_emplace(key).first;
  }
  if (found->second.hopeless) return EnterResult::Interpret;
  Borrowed<Value> borrowed(entries_);
  std::vector<Value>& entry = *borrowed;
  EnterResult outcome = EnterResult::Interpret;
  for (size_t i = 0; i < found->second.variants.size();) {
    std::shared_ptr<Variant> variant = found->second.variants[i];
    entry.clear();
    if (variant->valid && fits(*variant, frame, entry) && run(variant, frame, entry, &outcome, result))
      return outcome;
    // The map may have grown while the region ran.
    found = sites_.find(key);
    ++i;
  }
  std::shared_ptr<Variant> variant = make_variant(frame, found->second);
  found = sites_.find(key);
  if (!variant) return EnterResult::Interpret;
  std::vector<std::shared_ptr<Variant>>& variants = found->second.variants;
  if (variants.size() >= kVariantLimit) {
    unwatch(*variants.back());
    variants.pop_back();
  }
  variants.insert(variants.begin(), variant);
  entry.clear();
  if (fits(*variant, frame, entry) && run(variant, frame, entry, &outcome, result)) return outcome;
  return EnterResult::Interpret;
}

namespace {

// The keys of a dict, in their order.
bool has_keys(const EntrySource& source, const Value& v) {
  if (source.length == EntrySource::kAnyLength) return true;
  const auto& table = cast<DictObject>(v)->table;
  if (table.size() != source.length) return false;
  size_t next = 0;
  for (uint32_t i = 0; i < table.used(); ++i) {
    const Value& key = table.entry(i).key;
    if (key.is_undefined()) continue;
    const Value& wanted = source.keys[next++];
    const bool texts = is_kind(key, Kind::Str) && is_kind(wanted, Kind::Str);
    if (!key.is(wanted) && !(texts && str_equal(cast<StrObject>(key), cast<StrObject>(wanted)))) return false;
  }
  return true;
}

}  // namespace

bool Compiler::check_source(const EntrySource& source, const Value& v) const {
  using Check = EntrySource::Check;
  switch (source.check) {
    case Check::Nothing:
    case Check::Alias: return true;
    case Check::Same:
      if (v.is(source.expected)) return true;
      return is_kind(v, Kind::Str) && is_kind(source.expected, Kind::Str) &&
             str_equal(cast<StrObject>(v), cast<StrObject>(source.expected));
    case Check::Text: return is_kind(v, Kind::Str) && v.object()->type == vm_.types().str;
    case Check::Int: return v.is_int();
    case Check::Float: return v.is_float();
    case Check::Tensor: {
      TensorObject* tensor = quick_tensor(tensors(), v);
      if (!tensor) return false;
      if (tensor->view) refresh_history(vm_, tensor);
      return tensor_key(*tensor) == source.tensor_key;
    }
    case Check::Tuple:
      return is_kind(v, Kind::Tuple) && cast<TupleObject>(v)->size == source.length;
    case Check::List:
      return is_kind(v, Kind::List) && v.object()->type == vm_.types().list &&
             (source.length == EntrySource::kAnyLength || cast<ListObject>(v)->items.size() == source.length);
    case Check::Instance: return is_kind(v, Kind::Instance) && v.object()->type == source.expected.object();
    case Check::Dict: return is_kind(v, Kind::Dict) && v.object()->type == vm_.types().dict && has_keys(source, v);
  }
  return false;
}

Value Compiler::fetch(const EntrySource& source, const Frame& frame,
                      const std::vector<Value>& entry) const {
  using Form = EntrySource::Form;
  switch (source.form) {
    case Form::Register: return frame.registers[source.index];
    case Form::Item: {
      const Value& parent = entry[source.parent];
      if (is_kind(parent, Kind::Dict)) return dict_get(vm_, cast<DictObject>(parent), source.key);
      if (is_kind(parent, Kind::Tuple)) return cast<TupleObject>(parent)->items[source.index];
      return cast<ListObject>(parent)->items[source.index];
    }
    case Form::Attribute: {
      const Value& holder = source.holder.is_object() ? source.holder : entry[source.parent];
      return get_own_attribute(vm_, holder.object(), source.name.get());
    }
    case Form::Content: return cast<CellObject>(source.holder)->content;
    case Form::Namespace: {
      DictObject* dict = cast<DictObject>(source.holder);
      int64_t place = dict->table.find(vm_, source.name.get());
      return place < 0 ? Value() : dict->table.entry(static_cast<uint32_t>(place)).value;
    }
    case Form::Element: {
      ListObject* list = cast<ListObject>(source.holder);
      return source.index < list->items.size() ? list->items[source.index] : Value();
    }
    case Form::Gradient: {
      const Value& grad = cast<TensorObject>(source.holder)->grad;
      return grad.is_undefined() ? Value::none() : grad;
    }
    case Form::Pinned: return source.holder;
  }
  return Value();
}

bool Compiler::fits(const Variant& variant, const Frame& frame, std::vector<Value>& entry) {
  if (variant.plan.grad_enabled != tensors().grad_enabled) return false;
  if (variant.plan.function.get() && variant.plan.function.get() != frame.function) return false;
  if (variant.running) return false;
  entry.reserve(variant.plan.sources.size());
  for (const EntrySource& source : variant.plan.sources) {
    entry.push_back(fetch(source, frame, entry));
    if (source.check == EntrySource::Check::Alias ? !entry.back().is(entry[source.length])
                                                  : !check_source(source, entry.back()))
      return false;
  }
  return are_distinct(variant.plan, entry) && !inputs_overlap(variant, entry);
}

// Objects that were two while capturing are two now where that matters: what the region stores into a
// container must reach no other one that it knows the content of.
bool Compiler::are_distinct(const RegionPlan& plan, const std::vector<Value>& entry) {
  for (const auto& [left, right] : plan.different)
    if (entry[left].is(entry[right])) return false;
  for (const Value& holder : plan.foreign)
    for (uint32_t container : plan.containers)
      if (entry[container].is(holder)) return false;
  for (uint32_t written : plan.distinct) {
    if (entry[written].object()->watched()) return false;
    for (uint32_t other : plan.containers)
      if (other != written && entry[other].is(entry[written])) return false;
  }
  return true;
}

// A written input must not share memory with another input: the region knows them as separate tensors.
bool Compiler::inputs_overlap(const Variant& variant, const std::vector<Value>& entry) {
  if (variant.plan.written_sources.empty()) return false;
  uint64_t mark = ++epoch_;
  TensorState& state = tensors();
  for (uint32_t source : variant.plan.written_sources) {
    Storage& storage = *cast<TensorObject>(entry[source])->tensor.storage();
    if (storage.mark == mark) return true;
    storage.mark = mark;
    storage.prepare_write();
  }
  size_t marked = 0;
  for (const auto& input : variant.plan.inputs) {
    TensorObject* tensor = as_tensor(state, entry[input.second]);
    marked += tensor && tensor->tensor.storage()->mark == mark;
  }
  return marked != variant.plan.written_sources.size();
}

// ---- capture ----

// An instance in whose place another one of its class has come is no fact any more; nor is a string when
// there have been many.
void Compiler::take_apart(const Variant& old, const Frame& frame, Site& site) const {
  const std::vector<EntrySource>& sources = old.plan.sources;
  std::vector<Value> entry;
  for (const EntrySource& source : sources) {
    entry.push_back(fetch(source, frame, entry));
    const Value& now = entry.back();
    if (check_source(source, now)) continue;
    const bool strings = source.check == EntrySource::Check::Same && is_kind(now, Kind::Str) &&
                         is_kind(source.expected, Kind::Str) && now.object()->type == vm_.types().str;
    if (strings) {
      if (site.captures >= kStringVariants) site.memory.text.insert(source_place(sources, source));
      continue;
    }
    const bool same_class = source.check == EntrySource::Check::Same && is_kind(now, Kind::Instance) &&
                            is_kind(source.expected, Kind::Instance) &&
                            now.object()->type == source.expected.object()->type;
    if (!same_class) return;
    site.memory.apart.insert(source_place(sources, source));
  }
}

std::shared_ptr<Variant> Compiler::make_variant(Frame& frame, Site& site) {
  if (site.captures >= kCaptureLimit) {
    report_variant_limit(site, frame);
    return nullptr;
  }
  ++site.captures;
  if (!site.variants.empty()) take_apart(*site.variants.front(), frame, site);
  SiteKey key{frame.code, frame.pc};
  CaptureMemory memory = std::move(site.memory);
  std::optional<CaptureResult> captured;
  try {
    for (int attempt = 0; attempt < 64 && !captured; ++attempt) {
      try {
        Capture capture(vm_, frame, memory);
        capture.break_everywhere = options_.break_everywhere;
        captured = capture.run();
      } catch (const CaptureRestart&) {
      }
    }
  } catch (const InternalFault& fault) {
    report_fallback(frame, fault.what());
  }
  Site& again = sites_.find(key)->second;
  again.memory = std::move(memory);
  if (!captured || captured->empty) {
    again.hopeless = true;
    return nullptr;
  }
  auto variant = std::make_shared<Variant>();
  variant->name = captured->region.name;
  variant->plan = std::move(captured->plan);
  if (!frame.code->code->free_names.empty())
    variant->plan.function = Local<FunctionObject>(frame.function);
  if (again.captures > 1) report_recompile(*variant, again, frame);
  report_variant(*variant, frame);
  try {
    variant->executable = jit::compile(std::move(captured->region), options_.jit, report_);
  } catch (const InternalFault& fault) {
    report_fallback(frame, fault.what());
    again.hopeless = true;
    return nullptr;
  }
  watch(variant);
  if (options_.jit.emitted && options_.jit.emit == "backward")
    for (const ExitPlan& exit : variant->plan.exits)
      if (exit.backward) *options_.jit.emitted += jit::print(exit.backward->backward) + "\n";
  return variant;
}

// ---- running ----

namespace {

struct RunningScope {
  Variant& variant;
  explicit RunningScope(Variant& v) : variant(v) { variant.running = true; }
  ~RunningScope() { variant.running = false; }
};

}  // namespace

bool Compiler::run(const std::shared_ptr<Variant>& variant, Frame& frame, std::vector<Value>& entry,
                   EnterResult* outcome, Value& result) {
  const RegionPlan& plan = variant->plan;
  TensorState& state = tensors();
  Borrowed<jit::RunInput> borrowed(inputs_);
  std::vector<jit::RunInput>& inputs = *borrowed;
  inputs.reserve(plan.inputs.size());
  for (const auto& [id, source] : plan.inputs) {
    (void)id;
    jit::RunInput input;
    const Value& v = entry[source];
    if (TensorObject* tensor = quick_tensor(state, v)) input.tensor = &tensor->tensor;
    else number_of(v, &input.scalar);
    inputs.push_back(input);
  }
  Materializer materializer(vm_, entry, plan.object_count);
  RegionHost host(vm_, *variant, materializer);
  jit::RunContext context;
  context.host = &host;
  context.rng = &state.rng;
  std::optional<jit::RunExit> exit;
  {
    RunningScope running(*variant);
    const jit::RngState random = state.rng;
    try {
      exit = variant->executable->run(inputs, context);
    } catch (const jit::RunError& error) {
      if (plan.run_again) {  // the handler may be here: the interpreter raises it at its place
        state.rng = random;
        *outcome = EnterResult::Interpret;
        return true;
      }
      raise_from_region(*variant, frame, error);
    }
  }
  ++variant->runs;
  const ExitPlan& leaving = plan.exits[exit->id];
  if (leaving.form == ExitPlan::Form::Miss) return false;
  state.grad_enabled = leaving.grad_enabled;
  if (leaving.backward) prepare_history(leaving, materializer, exit->live, entry);
  if (leaving.form == ExitPlan::Form::Return) {
    result = materializer.build(leaving.result, leaving.materials, exit->live);
    connect_leaves(leaving, materializer);
    *outcome = EnterResult::Returned;
    return true;
  }
  resume(*variant, leaving, frame, materializer, exit->live);
  *outcome = EnterResult::Resume;
  return true;
}

void Compiler::resume(const Variant&, const ExitPlan& exit, Frame& frame, Materializer& materializer,
                      std::span<const jit::RunValue> live) {
  // Everything is built before the first frame changes: building may raise.
  std::vector<FrameState> states;
  for (const ExitFrame& plan : exit.frames) {
    FrameState state;
    state.pc = plan.pc;
    if (&plan != &exit.frames[0]) {
      Value function = materializer.build(plan.function_recipe, exit.materials, live);
      state.function = Local<FunctionObject>(cast<FunctionObject>(function));
      state.extra = materializer.build(plan.constructed, exit.materials, live);
      state.on_return = state.extra ? FrameReturn::Construct
                        : plan.discards_result ? FrameReturn::Ignore
                                               : FrameReturn::Store;
    }
    for (const auto& [reg, recipe] : plan.registers) {
      if (state.registers.size() <= reg) state.registers.resize(reg + 1);
      state.registers[reg] = materializer.build(recipe, exit.materials, live);
    }
    states.push_back(std::move(state));
  }
  connect_leaves(exit, materializer);
  frame.pc = states[0].pc;
  states[0].registers.resize(frame.register_count);
  for (uint32_t reg = 0; reg < frame.register_count; ++reg)
    frame.registers[reg] = std::move(states[0].registers[reg]);
  frame.stepping = true;
  for (size_t i = 1; i < states.size(); ++i) vm_.push_frame(states[i])->stepping = true;
  vm_.current_frame()->skip_step = true;
}

void Compiler::raise_from_region(const Variant& variant, Frame& frame, const jit::RunError& error) {
  const RegionPlan& plan = variant.plan;
  std::vector<uint32_t> chain;
  for (uint32_t origin = error.origin; origin; origin = plan.origins[origin].caller)
    chain.push_back(origin);
  Type* type = vm_.exceptions().RuntimeError;
  std::string name(error_kind_name(error.error.kind()));
  Value found = dict_get(vm_, vm_.builtins()->globals.get(), name);
  if (found && is_kind(found, Kind::Type)) type = cast<Type>(found);
  if (error.error.kind() == ErrorKind::LimitError) type = vm_.exceptions().LimitError;
  Heap::Exempt exempt(vm_.heap());
  Local<ExceptionObject> exception = make_exception(vm_, type, error.error.message());
  for (size_t i = 0; i + 1 < chain.size(); ++i)
    exception->traceback.push_back({plan.origins[chain[i]].code->code, plan.origins[chain[i]].pc});
  if (!chain.empty()) frame.pc = plan.origins[chain.back()].pc;
  throw ScriptException(exception);
}

// ---- watching ----

void Compiler::watch(const std::shared_ptr<Variant>& variant) {
  for (const Watched& watched : variant->plan.watched) {
    Object* holder = watched.holder.object();
    holder->watch();
    watches_[holder].push_back({watched.key, variant});
  }
}

void Compiler::on_store(Object* holder, const Value& key) {
  auto found = watches_.find(holder);
  if (found == watches_.end()) return;
  // A list that is appended to keeps its methods: what is watched by name is not its content.
  const bool items_only = key.is_undefined() && is_kind(Value(holder), Kind::List);
  std::vector<WatchEntry> kept;
  for (WatchEntry& entry : found->second) {
    std::shared_ptr<Variant> variant = entry.variant.lock();
    if (!variant || !variant->valid) continue;
    const bool by_name = is_kind(entry.key, Kind::Str);
    bool same = entry.key.is_undefined() || (key.is_undefined() && !(items_only && by_name)) ||
                entry.key.is(key) ||
                (by_name && is_kind(key, Kind::Str) &&
                 str_equal(cast<StrObject>(entry.key), cast<StrObject>(key)));
    if (!same) {
      kept.push_back(std::move(entry));
      continue;
    }
    variant->valid = false;
    has_invalid_ = true;
    variant->invalidated_by = is_kind(key, Kind::Str) ? std::string(cast<StrObject>(key)->view())
                                                      : "content of a " + holder->type->name;
    remember_dynamic(*variant, holder, key);
  }
  found->second = std::move(kept);
}

// A cell that changed once is read at every entry from now on.
void Compiler::remember_dynamic(const Variant& variant, Object* holder, const Value& key) {
  auto site = sites_.find({variant.plan.entry_code.get(), variant.plan.entry_pc});
  if (site == sites_.end()) return;
  if (is_kind(key, Kind::Str)) {
    Local<StrObject> name = intern(vm_, cast<StrObject>(key));
    site->second.memory.make_dynamic({holder, name.get(), 0}, Value(holder));
    site->second.memory.keep_alive.push_back(name.value());
  } else if (key.is_int()) {
    site->second.memory.make_dynamic({holder, nullptr, key.as_int() + 1}, Value(holder));
  } else if (holder->kind == Kind::Cell) {
    site->second.memory.make_dynamic({holder, nullptr, 0}, Value(holder));
  }
}

Compiler* compiler_of(Vm& vm) {
  return static_cast<Compiler*>(vm.extension(&kCompilerKey).get());
}

void install_compiler(Vm& vm, CompileOptions options) {
  auto compiler = std::make_shared<Compiler>(vm, std::move(options));
  vm.extension(&kCompilerKey) = compiler;
  vm.set_hooks(compiler.get());
  vm.set_watchers(compiler.get());
  register_compiler_module(vm);
}

}  // namespace tsc::interp
