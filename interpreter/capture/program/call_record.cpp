#include "interpreter/capture/program/call_record.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/stops.h"

namespace tsc::interp {

namespace {

// Fewer instructions are followed as fast as they are repeated.
constexpr uint32_t kWorthRepeating = 40;
// Of calls with arguments of one form: what they read may have several.
constexpr size_t kMostRecords = 4;
constexpr size_t kMostSteps = 20000;
constexpr uint32_t kMostMisses = 16;
constexpr size_t kMostRestarts = 4;

VTensor& tensor_in(const Av& av) { return static_cast<VTensor&>(*av.object); }

bool has_own_attributes(const Value& tensor) {
  const InstanceState* state = tensor.is_object() ? instance_state(tensor.object()) : nullptr;
  return state && state->slots;
}

TensorForm form_of(const VTensor& tensor, DType dtype, size_t rank) {
  const bool facts[] = {tensor.requires_grad,
                        tensor.hooked,
                        tensor.leaf,
                        tensor.in_history,
                        tensor.unrecorded,
                        tensor.contiguous,
                        tensor.dirty,
                        tensor.view != nullptr,
                        tensor.input != kNoValue,
                        tensor.has_grad_overlay,
                        tensor.built,
                        !tensor.host.is_undefined(),
                        tensor.has_ambiguous(),
                        !tensor.views.empty(),
                        tensor.copied_in.get() != nullptr,
                        tensor.is_data,
                        tensor.is_inference};
  TensorForm form{dtype, rank, 0, tensor.host.is_undefined() ? nullptr : tensor.host.object()->type};
  for (const bool fact : facts) form.facts = form.facts * 2 + fact;
  return form;
}

// Calls whose arguments differ in this are never compared.
uint64_t hash_form(const Av& av, const Capture& capture) {
  uint64_t form = static_cast<uint64_t>(av.kind) + 1;
  if (av.is_constant()) {
    const Value& v = av.value;
    const uint64_t type = v.is_object() ? reinterpret_cast<uint64_t>(v.object()->type) : v.is_none();
    return hash_mix(form, type + 7);
  }
  if (av.kind != Av::Kind::Virtual) return hash_mix(form, static_cast<uint64_t>(av.scalar_kind));
  form = hash_mix(form, static_cast<uint64_t>(av.object->kind));
  if (av.object->kind != VirtualKind::Tensor) return form;
  const TensorForm tensor = capture.repeats().form_of(tensor_in(av));
  return hash_mix(form, hash_mix(static_cast<uint64_t>(tensor.dtype) << 8 | tensor.rank, tensor.facts));
}

}  // namespace

TensorForm RepeatedCalls::form_of(const VTensor& tensor) const {
  const jit::Type& type = region_.type(tensor.id);
  return interp::form_of(tensor, type.dtype, type.sizes.size());
}

// Of a script tensor, which may not have come in yet.
TensorForm RepeatedCalls::form_of_host(const Value& host) const {
  if (const Av* found = inputs_.input_of(host.object())) return form_of(tensor_in(*found));
  TensorObject& object = *cast<TensorObject>(host);
  VTensor input;
  input.come_in(object, 0);
  return interp::form_of(input, object.tensor.dtype(), static_cast<size_t>(object.tensor.rank()));
}

bool is_same(const std::optional<Scalar>& a, const std::optional<Scalar>& b) {
  return a.has_value() == b.has_value() && (!a || (a->kind == b->kind && a->i == b->i));
}

// ---- the call that is followed ----

CallRecorder::CallRecorder(Capture& capture, FunctionObject* function, std::span<const Av> arguments)
    : capture_(capture), record_(std::make_shared<CallRecord>()) {
  record_->function = Local<FunctionObject>(function);
  read(Value(function), Value(), Question::Unchanged);  // its defaults
  for (const Av& av : arguments) {
    record_->arguments.push_back(made(av));
    refuse_parts(av);
  }
  record_->modes = capture.modes();
  record_->after_raise = capture.frames().modes_after_raise();
  record_->is_protected = capture.frames().is_protected();
  record_->deepest = capture.frames().frame_count();
  record_->instructions = capture.plan().instructions;
  record_->steps_taken = capture.frames().steps_taken();
  record_->region_size = capture.region().body.instructions.size();
}

// A method, of which nothing has been read; a view, whose elements are those of a tensor that the record does not know.
void CallRecorder::refuse_parts(const Av& argument) {
  if (argument.kind != Av::Kind::Virtual) return;
  const VirtualKind form = argument.object->kind;
  if (form == VirtualKind::BoundMethod || (form == VirtualKind::Tensor && tensor_in(argument).view)) spoil();
  if (form != VirtualKind::Tuple) return;
  tuples_.insert(argument.object->number);
  for (const Av& item : static_cast<const VTuple&>(*argument.object).items) refuse_parts(item);
}

void CallRecorder::follow() { record_->first_origin = static_cast<uint32_t>(capture_.plan().origins.size()); }

bool CallRecorder::read(const Value& holder, const Value& key, Question question) {
  Object* name = key.is_object() ? key.object() : nullptr;
  const int64_t index = key.is_int() ? key.as_int() : -1;
  if (!reads_.insert({holder.object(), name, index, question}).second) return false;
  record_->reads.push_back({holder, key, question});
  return true;
}

RecordedValue CallRecorder::found(const Av& av) {
  RecordedValue value = made(av);
  if (!is_virtual(av, VirtualKind::Tensor)) return value;
  if (tensor_in(av).view) spoil();
  record_->reads.back().form = value.tensor;
  record_->reads.back().tensor = value.constant;
  return value;
}

RecordedValue CallRecorder::describe(const Av& av, bool made) {
  RecordedValue value;
  value.kind = av.kind;
  value.constant = av.value;
  switch (av.kind) {
    case Av::Kind::Undefined: break;
    case Av::Kind::Constant:
      if (as_tensor(capture_.tensor_state(), av.value)) spoil();
      break;
    case Av::Kind::Number:
      value.scalar_kind = av.scalar_kind;
      value.id = made ? this->made(av.id) : given(av.id);
      break;
    case Av::Kind::Opaque: spoil(); break;
    case Av::Kind::Virtual: describe_object(av, made, value); break;
  }
  return value;
}

void CallRecorder::describe_object(const Av& av, bool made, RecordedValue& value) {
  value.form = av.object->kind;
  if (value.form == VirtualKind::Tensor) return describe_tensor(tensor_in(av), made, value);
  if (value.form == VirtualKind::BoundMethod && made) return;  // both its parts have been read
  const bool is_own = av.object->source == Virtual::kMadeHere && (made || !tuples_.count(av.object->number));
  if (value.form != VirtualKind::Tuple || !is_own) return spoil();
  const VTuple& tuple = static_cast<const VTuple&>(*av.object);
  value.type = tuple.type;
  for (const Av& item : tuple.items) value.items.push_back(describe(item, made));
}

void CallRecorder::describe_tensor(const VTensor& tensor, bool made, RecordedValue& value) {
  if (has_own_attributes(tensor.host)) return spoil();
  value.number = tensor.number;
  value.id = tensor.id;
  value.constant = tensor.host;
  if (made) {
    value.tensor = capture_.repeats().form_of(tensor);
    known_ids_.insert(tensor.id);
    for (ValueId size : capture_.region().type(tensor.id).sizes) known_ids_.insert(size);
  } else if (!last_use_.count(tensor.number)) {
    return spoil();
  }
  last_use_[tensor.number] = record_->steps.size();
}

RecordedValue CallRecorder::given_tensor(const VTensor& tensor) {
  RecordedValue value;
  value.kind = Av::Kind::Virtual;
  describe_tensor(tensor, false, value);
  return value;
}

std::vector<RecordedValue> CallRecorder::given(std::span<const Av> avs) {
  std::vector<RecordedValue> values;
  for (const Av& av : avs) values.push_back(given(av));
  return values;
}

// A number that the call has not been given, read or computed is a constant.
ValueId CallRecorder::given(ValueId id) {
  if (!known_ids_.count(id) && !is_constant(id)) spoil();
  return id;
}

std::vector<ValueId> CallRecorder::given(std::span<const ValueId> ids) {
  std::vector<ValueId> all;
  for (ValueId id : ids) all.push_back(given(id));
  return all;
}

ValueId CallRecorder::made(ValueId id) {
  known_ids_.insert(id);
  return id;
}

bool CallRecorder::is_constant(ValueId id) const { return capture_.builder().is_constant(id); }

bool CallRecorder::are_constants(std::span<const ValueId> ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](ValueId id) { return is_constant(id); });
}

bool CallRecorder::asks_first(ValueId id, const std::optional<Scalar>& now) {
  if (!asked_.insert(id).second) return false;
  record_->asked.push_back({id, now});
  return true;
}

// Also of one that appended nothing, since the same numbers were there: it may have to, and to raise, when it is
// repeated.
void CallRecorder::add(std::function<void(Repetition&)> step) {
  if (record_->steps.size() >= kMostSteps) return spoil();
  record_->steps.push_back({std::move(step), capture_.builder().known_origin(), {}});
}

std::shared_ptr<CallRecord> CallRecorder::finish(const Av& result) {
  record_->result = given(result);
  if (spoiled_ || !(record_->modes == capture_.modes())) return nullptr;
  for (const auto& [number, step] : last_use_)
    if (step < record_->steps.size()) record_->steps[step].last.push_back(number);
  record_->origins = static_cast<uint32_t>(capture_.plan().origins.size()) - record_->first_origin;
  record_->instructions = capture_.plan().instructions - record_->instructions;
  record_->steps_taken = capture_.frames().steps_taken() - record_->steps_taken;
  record_->region_size = capture_.region().body.instructions.size() - record_->region_size;
  return record_;
}

// ---- the call that is not followed ----

Value Repetition::object(const Value& old) const {
  if (!old.is_object()) return old;
  const Value now = objects_.of(old);
  return now.is_undefined() ? old : now;
}

bool Repetition::bind(ValueId old, ValueId now) {
  if (capture.builder().is_constant(old)) return old == now;
  return ids_.emplace(old, now).first->second == now;
}

bool Repetition::bind(const RecordedValue& old, const Av& now) {
  const VTensor& tensor = tensor_in(now);
  if (capture.repeats().form_of(tensor) != old.tensor || has_own_attributes(tensor.host)) return false;
  if (tensor.host.is_object() && !objects_.match(old.constant, tensor.host)) return false;
  const jit::ValueList before = capture.region().type(old.id).sizes, sizes = capture.region().type(tensor.id).sizes;
  bool good = bind(old.id, tensor.id);
  for (size_t i = 0; good && i < sizes.size(); ++i) good = bind(before[i], sizes[i]);
  // One tensor for one.
  const bool is_one = tensors_.emplace(old.number, now).first->second.object == now.object &&
                      taken_.emplace(&tensor, old.number).first->second == old.number;
  return good && is_one;
}

bool Repetition::fits(const RecordedValue& old, const Av& now) {
  if (old.kind != now.kind) return false;
  switch (now.kind) {
    case Av::Kind::Constant: return objects_.match(old.constant, now.value);
    case Av::Kind::Number: numbers_[old.id] = now; return old.scalar_kind == now.scalar_kind && bind(old.id, now.id);
    case Av::Kind::Virtual: break;
    default: return true;
  }
  if (old.form != now.object->kind) return false;
  if (old.form == VirtualKind::Tensor) return bind(old, now);
  if (old.form != VirtualKind::Tuple) return true;
  const VTuple& tuple = static_cast<const VTuple&>(*now.object);
  bool good = tuple.source == Virtual::kMadeHere && tuple.type.get() == old.type.get() &&
              tuple.items.size() == old.items.size();
  for (size_t i = 0; good && i < old.items.size(); ++i) good = fits(old.items[i], tuple.items[i]);
  return good;
}

bool Repetition::fits(const CallRecord::Read& read) {
  if (!reads_alike(read)) return false;
  return !read.form || capture.repeats().form_of_host(object(read.tensor)) == *read.form;
}

bool Repetition::reads_alike(const CallRecord::Read& read) {
  Value now = objects_.of(read.holder);
  if (now.is_undefined()) {
    if (!objects_.match(read.holder, read.holder)) return false;
    now = read.holder;
  }
  if (capture.overlay().has_stored(now, read.key)) return false;
  const bool moved = !now.is(read.holder);
  if (moved && capture.cells().is_dynamic(now, read.key) != capture.cells().is_dynamic(read.holder, read.key))
    return false;
  if (read.question == Question::Content || read.question == Question::Unchanged)
    return objects_.match_content(read.holder, now, read.key);
  StrObject* name = cast<StrObject>(read.key);
  const AttributeSite before = inspect_attribute(capture.vm(), read.holder, name);
  const AttributeSite site = moved ? inspect_attribute(capture.vm(), now, name) : before;
  return before.found == site.found && before.owner == site.owner && objects_.match(before.value, site.value);
}

bool Repetition::fits(const FunctionObject* function, std::span<const Av> arguments) {
  if (record_.function.get() != function || arguments.size() != record_.arguments.size() ||
      !(record_.modes == capture.modes()) || record_.deepest < capture.frames().frame_count() ||
      record_.is_protected != capture.frames().is_protected() ||
      !(record_.after_raise == capture.frames().modes_after_raise()) ||
      !capture.frames().has_room_for(record_.region_size, record_.steps_taken))
    return false;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!fits(record_.arguments[i], arguments[i])) return false;
  // Of numbers that the call computes it shows later.
  const auto is_as_before = [&](const auto& asked) {
    const auto found = ids_.find(asked.first);
    return found == ids_.end() || is_same(capture.conditions().find_hint(found->second), asked.second);
  };
  return std::all_of(record_.asked.begin(), record_.asked.end(), is_as_before) &&
         std::all_of(record_.reads.begin(), record_.reads.end(),
                     [&](const CallRecord::Read& read) { return fits(read); });
}

Av Repetition::value(const RecordedValue& old) const {
  switch (old.kind) {
    case Av::Kind::Undefined: return Av();
    case Av::Kind::Constant: return Av::constant(object(old.constant));
    case Av::Kind::Number: {
      const auto found = numbers_.find(old.id);
      return found != numbers_.end() ? found->second : Av::number(old.scalar_kind, id(old.id), old.constant);
    }
    default: break;
  }
  if (old.form == VirtualKind::Tensor) return tensors_.at(old.number);
  Av tuple = capture.containers().make_tuple_av(values(old.items));
  static_cast<VTuple&>(*tuple.object).type = old.type;
  return tuple;
}

VTensor& Repetition::tensor(const RecordedValue& old) const { return tensor_in(tensors_.at(old.number)); }

std::vector<Av> Repetition::values(std::span<const RecordedValue> old) const {
  std::vector<Av> all;
  for (const RecordedValue& one : old) all.push_back(value(one));
  return all;
}

bool Repetition::are_the_same(std::span<const RecordedValue> numbers) const {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](const RecordedValue& one) { return one.kind == Av::Kind::Constant || id(one.id) == one.id; });
}

ValueId Repetition::id(ValueId old) const {
  const auto found = ids_.find(old);
  return found == ids_.end() ? old : found->second;
}

std::vector<ValueId> Repetition::ids(std::span<const ValueId> old) const {
  std::vector<ValueId> all;
  for (ValueId one : old) all.push_back(id(one));
  return all;
}

void Repetition::expect(bool holds) const {
  if (holds) return;
  CaptureMemory& memory = capture.memory();
  memory.followed.insert(record_.function.get());
  memory.keep_alive.push_back(record_.function.value());
  memory.follows_calls = memory.followed.size() >= kMostRestarts;
  throw CaptureRestart{};
}

void Repetition::take(const RecordedValue& old, const Av& now) { expect(fits(old, now)); }
void Repetition::take(ValueId old, ValueId now) { expect(bind(old, now)); }

// The places in the functions that are not followed, reached from this call.
uint32_t Repetition::copy_origins() {
  std::vector<Origin>& all = capture.plan().origins;
  const uint32_t call = capture.frames().current_origin();
  const auto base = static_cast<uint32_t>(all.size());
  for (uint32_t i = 0; i < record_.origins; ++i) {
    Origin origin = all[record_.first_origin + i];
    origin.caller = origin.caller >= record_.first_origin ? origin.caller - record_.first_origin + base : call;
    all.push_back(std::move(origin));
  }
  return base;
}

Av Repetition::run() {
  const uint32_t base = copy_origins();
  uint32_t& origin = capture.builder().origin;
  try {
    for (const CallRecord::Step& step : record_.steps) {
      const bool inside = step.origin >= record_.first_origin;
      origin = inside ? step.origin - record_.first_origin + base : jit::RegionBuilder::kAskOrigin;
      step.run(*this);
      for (uint32_t number : step.last) {
        taken_.erase(tensors_.at(number).object.get());
        tensors_.erase(number);
      }
    }
  } catch (const BreakHere&) {
    expect(false);
  } catch (const Error&) {
    expect(false);
  } catch (const ScriptException& raised) {
    pass_on_stops(capture.vm(), raised);
    expect(false);
  }
  // Those that do nothing when they are repeated; whoever repeats the outer call compares them as well.
  if (is_recorded())
    for (const CallRecord::Read& read : record_.reads)
      capture.repeats().note_read(object(read.holder), read.key, read.question);
  capture.plan().instructions += record_.instructions;
  capture.frames().repeat_steps(record_.steps_taken);
  origin = jit::RegionBuilder::kAskOrigin;
  return value(record_.result);
}

// ---- calls ----

RepeatedCalls::RepeatedCalls(const Rooms& rooms) : Room(rooms) {}
RepeatedCalls::~RepeatedCalls() = default;

// Null: never worth it.
SeenCall* RepeatedCalls::seen_call(const FunctionObject* function, const CallArguments& arguments) {
  if (memory_.follows_calls || !arguments.keywords.empty() || memory_.followed.count(function)) return nullptr;
  uint64_t form = reinterpret_cast<uint64_t>(function);
  for (const Av& av : arguments.positional) form = hash_mix(form, hash_form(av, capture_));
  return &seen_calls_[form];
}

bool RepeatedCalls::repeat_call(SeenCall& seen, const FunctionObject* function, const CallArguments& arguments,
                                uint16_t destination) {
  if (seen.misses >= kMostMisses) return false;
  for (const std::shared_ptr<const CallRecord>& record : seen.records) {
    Repetition again(capture_, *record);
    if (!again.fits(function, arguments.positional)) continue;
    ++plan_.repeats;
    frames_.write(destination, again.run());
    return true;
  }
  seen.misses += !seen.records.empty();
  return false;
}

void RepeatedCalls::begin_call(SeenCall& seen, std::unique_ptr<CallRecorder> recorder) {
  AFrame& frame = frames_.frame();
  frame.seen = &seen;
  frame.begun = frames_.steps_taken();
  if (!recorder) return;
  frame.recorded = true;
  recorder_ = std::move(recorder);
  recorder_->follow();
}

std::unique_ptr<CallRecorder> RepeatedCalls::recorder_for(const SeenCall& seen, FunctionObject* function,
                                                          const CallArguments& arguments) {
  if (recorder_ || seen.steps < kWorthRepeating || seen.records.size() >= kMostRecords || seen.spoiled) return nullptr;
  return std::make_unique<CallRecorder>(capture_, function, arguments.positional);
}

void RepeatedCalls::end_unfinished(const AFrame& frame) {
  if (!frame.recorded) return;
  recorder_.reset();
  frame.seen->spoiled = true;
}

void RepeatedCalls::end_call(const AFrame& finished, const Av& result) {
  finished.seen->steps = frames_.steps_taken() - finished.begun;
  if (!finished.recorded) return;
  std::shared_ptr<CallRecord> record = recorder_->finish(result);
  recorder_.reset();
  if (record) finished.seen->records.push_back(std::move(record));
  else finished.seen->spoiled = true;
}

}  // namespace tsc::interp
