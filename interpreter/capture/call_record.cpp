#include "interpreter/capture/call_record.h"

#include "interpreter/tensor/eager.h"
#include "interpreter/vm/frames.h"

namespace tsc::interp {

namespace {

// Fewer instructions are followed as fast as they are repeated.
constexpr uint32_t kWorthRepeating = 40;
// Of calls with arguments of one form: what they read may have several.
constexpr size_t kMostRecords = 4;
constexpr uint32_t kMostMisses = 16;

VTensor& tensor_in(const Av& av) { return static_cast<VTensor&>(*av.object); }

bool has_own_attributes(const Value& tensor) {
  const InstanceState* state = tensor.is_object() ? instance_state(tensor.object()) : nullptr;
  return state && state->slots;
}

TensorForm form_of(const VTensor& tensor, const jit::Region& region) {
  const bool facts[] = {tensor.requires_grad,     tensor.hooked, tensor.leaf,
                        tensor.in_history,        tensor.unrecorded, tensor.contiguous,
                        tensor.dirty,             tensor.view != nullptr, tensor.input != kNoValue,
                        tensor.has_grad_overlay,  tensor.built, !tensor.host.is_undefined(),
                        tensor.has_ambiguous()};
  const jit::Type& type = region.type(tensor.id);
  TensorForm form{type.dtype, type.sizes.size(), 0, tensor.host.is_undefined() ? nullptr : tensor.host.object()->type};
  for (const bool fact : facts) form.facts = form.facts * 2 + fact;
  return form;
}

// Calls whose arguments differ in this are never compared.
uint64_t form_of(const Av& av, const jit::Region& region) {
  uint64_t form = static_cast<uint64_t>(av.kind) + 1;
  if (av.is_constant()) {
    const Value& v = av.value;
    const uint64_t type = v.is_object() ? reinterpret_cast<uint64_t>(v.object()->type) : v.is_none();
    return hash_mix(form, type + 7);
  }
  if (av.kind != Av::Kind::Virtual) return hash_mix(form, static_cast<uint64_t>(av.scalar_kind));
  form = hash_mix(form, static_cast<uint64_t>(av.object->kind));
  if (av.object->kind != VirtualKind::Tensor) return form;
  const TensorForm tensor = form_of(tensor_in(av), region);
  return hash_mix(form, hash_mix(static_cast<uint64_t>(tensor.dtype) << 8 | tensor.rank, tensor.facts));
}

}  // namespace

bool is_same(const std::optional<Scalar>& a, const std::optional<Scalar>& b) {
  return a.has_value() == b.has_value() && (!a || (a->kind == b->kind && a->i == b->i));
}

// ---- the call that is followed ----

CallRecorder::CallRecorder(Capture& capture, FunctionObject* function, std::span<const Av> arguments)
    : capture_(capture), record_(std::make_shared<CallRecord>()) {
  record_->function = Local<FunctionObject>(function);
  for (const Av& av : arguments) {
    record_->arguments.push_back(result(av));
    // Its elements are those of another tensor, of which the record knows nothing.
    if (is_virtual(av, VirtualKind::Tensor) && tensor_in(av).view) spoil();
  }
  record_->modes = capture.modes;
  record_->grad_after_raise = capture.grad_enabled_after_raise();
  record_->is_protected = capture.is_protected();
  record_->depth = capture.frames_.size();
  record_->instructions = capture.plan_.instructions;
  record_->steps_taken = capture.steps_;
  record_->region_size = capture.region_.body.instructions.size();
}

void CallRecorder::follow() { record_->first_origin = static_cast<uint32_t>(capture_.plan_.origins.size()); }

bool CallRecorder::read(const Value& holder, const Value& key, bool by_lookup) {
  Object* name = key.is_object() ? key.object() : nullptr;
  const int64_t index = key.is_int() ? key.as_int() : -1;
  if (!reads_.insert({holder.object(), name, index, by_lookup}).second) return false;
  record_->reads.push_back({holder, key, by_lookup});
  return true;
}

// With `made` it is known from here on; otherwise it has to be.
RecordedValue CallRecorder::describe(const Av& av, bool made) {
  RecordedValue value;
  value.kind = av.kind;
  value.constant = av.value;
  switch (av.kind) {
    case Av::Kind::Undefined: break;
    case Av::Kind::Constant:
      if (as_tensor(capture_.tensors_, av.value)) spoil();
      break;
    case Av::Kind::Number:
      value.scalar_kind = av.scalar_kind;
      value.id = made ? result(av.id) : operand(av.id);
      break;
    case Av::Kind::Opaque: spoil(); break;
    case Av::Kind::Virtual: describe_object(av, made, value); break;
  }
  return value;
}

void CallRecorder::describe_object(const Av& av, bool made, RecordedValue& value) {
  value.form = av.object->kind;
  if (value.form == VirtualKind::Tuple && av.object->source == Virtual::kMadeHere) {
    const VTuple& tuple = static_cast<const VTuple&>(*av.object);
    value.type = tuple.type;
    for (const Av& item : tuple.items) value.items.push_back(describe(item, made));
    return;
  }
  // The function and the object of a method have been read.
  if (value.form == VirtualKind::BoundMethod && made) return;
  if (value.form != VirtualKind::Tensor) return spoil();
  describe_tensor(tensor_in(av), made, value);
}

void CallRecorder::describe_tensor(const VTensor& tensor, bool made, RecordedValue& value) {
  if (has_own_attributes(tensor.host)) return spoil();
  value.number = tensor.number;
  value.id = tensor.id;
  value.constant = tensor.host;
  if (made) {
    value.tensor = form_of(tensor, capture_.region_);
    known_ids_.insert(tensor.id);
    for (ValueId size : capture_.region_.type(tensor.id).sizes) known_ids_.insert(size);
  } else if (!last_use_.count(tensor.number)) {
    return spoil();
  }
  last_use_[tensor.number] = record_->steps.size();
}

RecordedValue CallRecorder::operand(const Av& av) { return describe(av, false); }
RecordedValue CallRecorder::result(const Av& av) { return describe(av, true); }

RecordedValue CallRecorder::operand_tensor(const VTensor& tensor) {
  RecordedValue value;
  value.kind = Av::Kind::Virtual;
  describe_tensor(tensor, false, value);
  return value;
}

std::vector<RecordedValue> CallRecorder::operands(std::span<const Av> avs) {
  std::vector<RecordedValue> values;
  for (const Av& av : avs) values.push_back(operand(av));
  return values;
}

// A number that the call has not been given, read or computed is a constant.
ValueId CallRecorder::operand(ValueId id) {
  if (!known_ids_.count(id) && !is_constant(id)) spoil();
  return id;
}

std::vector<ValueId> CallRecorder::operands(std::span<const ValueId> ids) {
  std::vector<ValueId> all;
  for (ValueId id : ids) all.push_back(operand(id));
  return all;
}

bool CallRecorder::is_constant(ValueId id) const { return capture_.builder_.is_constant(id); }

bool CallRecorder::are_constants(std::span<const ValueId> ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](ValueId id) { return is_constant(id); });
}

ValueId CallRecorder::result(ValueId id) {
  known_ids_.insert(id);
  return id;
}

bool CallRecorder::asks_first(ValueId id, const std::optional<Scalar>& now) {
  if (!asked_.insert(id).second) return false;
  record_->asked.push_back({id, now});
  return true;
}

void CallRecorder::add(std::function<void(Repetition&)> step) {
  record_->steps.push_back({std::move(step), capture_.builder_.origin, {}});
}

std::shared_ptr<CallRecord> CallRecorder::finish(const Av& result) {
  record_->result = operand(result);
  if (spoiled_ || !(record_->modes == capture_.modes)) return nullptr;
  for (const auto& [number, step] : last_use_)
    if (step < record_->steps.size()) record_->steps[step].last.push_back(number);
  record_->origins = static_cast<uint32_t>(capture_.plan_.origins.size()) - record_->first_origin;
  record_->instructions = capture_.plan_.instructions - record_->instructions;
  record_->steps_taken = capture_.steps_ - record_->steps_taken;
  record_->region_size = capture_.region_.body.instructions.size() - record_->region_size;
  return record_;
}

// ---- the call that is not followed ----

Value Repetition::object(const Value& old) const {
  if (!old.is_object()) return old;
  const Value now = objects_.of(old);
  return now.is_undefined() ? old : now;
}

bool Repetition::bind(ValueId old, ValueId now) {
  if (capture.builder_.is_constant(old)) return old == now;
  return ids_.emplace(old, now).first->second == now;
}

bool Repetition::bind(const RecordedValue& old, const Av& now) {
  const VTensor& tensor = tensor_in(now);
  if (form_of(tensor, capture.region_) != old.tensor || has_own_attributes(tensor.host)) return false;
  if (tensor.host.is_object() && !objects_.match(old.constant, tensor.host)) return false;
  const jit::ValueList before = capture.region_.type(old.id).sizes, sizes = capture.region_.type(tensor.id).sizes;
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
    case Av::Kind::Number:
      numbers_[old.id] = now;
      return old.scalar_kind == now.scalar_kind && bind(old.id, now.id);
    case Av::Kind::Virtual: break;
    default: return true;
  }
  if (old.form != now.object->kind) return false;
  if (old.form == VirtualKind::Tensor) return bind(old, now);
  if (old.form != VirtualKind::Tuple) return true;
  const VTuple& tuple = static_cast<const VTuple&>(*now.object);
  bool good = tuple.source == Virtual::kMadeHere && tuple.type.get() == old.type.get() && tuple.items.size() == old.items.size();
  for (size_t i = 0; good && i < old.items.size(); ++i) good = fits(old.items[i], tuple.items[i]);
  return good;
}

bool Repetition::fits(const CallRecord::Read& read) {
  Value now = objects_.of(read.holder);
  if (now.is_undefined()) {
    if (!objects_.match(read.holder, read.holder)) return false;
    now = read.holder;
  }
  if (capture.has_stored(now, read.key)) return false;
  const bool moved = !now.is(read.holder);
  if (moved && capture.is_dynamic(now, read.key) != capture.is_dynamic(read.holder, read.key)) return false;
  if (!read.by_lookup) return objects_.match_content(read.holder, now, read.key);
  StrObject* name = cast<StrObject>(read.key);
  const AttributeSite before = inspect_attribute(capture.vm(), read.holder, name);
  const AttributeSite site = moved ? inspect_attribute(capture.vm(), now, name) : before;
  return before.found == site.found && before.owner == site.owner && objects_.match(before.value, site.value);
}

bool Repetition::fits(std::span<const Av> arguments) {
  if (arguments.size() != record_.arguments.size() || !(record_.modes == capture.modes) ||
      record_.depth < capture.frames_.size() || record_.is_protected != capture.is_protected() ||
      record_.grad_after_raise != capture.grad_enabled_after_raise() || !capture.has_room_for(record_.region_size))
    return false;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!fits(record_.arguments[i], arguments[i])) return false;
  const auto reads_alike = [&](const CallRecord::Read& read) { return fits(read); };
  // Of numbers that the call computes it shows later.
  const auto is_as_before = [&](const auto& asked) {
    const auto found = ids_.find(asked.first);
    return found == ids_.end() || is_same(capture.find_hint(found->second), asked.second);
  };
  return std::all_of(record_.asked.begin(), record_.asked.end(), is_as_before) &&
         std::all_of(record_.reads.begin(), record_.reads.end(), reads_alike);
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
  Av tuple = capture.make_tuple_av(values(old.items));
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
  capture.memory_.followed.insert(record_.function.get());
  capture.memory_.keep_alive.push_back(record_.function.value());
  throw CaptureRestart{};
}

void Repetition::take(const RecordedValue& old, const Av& now) { expect(fits(old, now)); }
void Repetition::take(ValueId old, ValueId now) { expect(bind(old, now)); }

// The places in the functions that are not followed, reached from this call.
uint32_t Repetition::copy_origins() {
  std::vector<Origin>& all = capture.plan_.origins;
  const uint32_t call = capture.current_origin();
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
  uint32_t& origin = capture.builder_.origin;
  try {
    for (const CallRecord::Step& step : record_.steps) {
      const bool inside = step.origin != jit::RegionBuilder::kAskOrigin && step.origin >= record_.first_origin;
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
  } catch (const ScriptException&) {
    expect(false);
  }
  // Those that do nothing when they are repeated; whoever repeats the outer call compares them as well.
  if (is_recorded())
    for (const CallRecord::Read& read : record_.reads) capture.note_read(object(read.holder), read.key, read.by_lookup);
  capture.plan_.instructions += record_.instructions;
  capture.steps_ += record_.steps_taken;
  origin = jit::RegionBuilder::kAskOrigin;
  capture.origin_pc_ = ~0u;
  return value(record_.result);
}

// ---- calls ----

// Null: never worth it.
SeenCall* Capture::seen_call(const FunctionObject* function, const CallArguments& arguments) {
  if (memory_.follows_calls || !arguments.keywords.empty() || memory_.followed.count(function)) return nullptr;
  uint64_t form = reinterpret_cast<uint64_t>(function);
  for (const Av& av : arguments.positional) form = hash_mix(form, form_of(av, region_));
  return &seen_calls_[form];
}

bool Capture::repeat_call(SeenCall& seen, const CallArguments& arguments, uint16_t destination) {
  if (seen.misses >= kMostMisses) return false;
  for (const std::shared_ptr<const CallRecord>& record : seen.records) {
    Repetition again(*this, *record);
    if (!again.fits(arguments.positional)) continue;
    ++plan_.repeats;
    write(destination, again.run());
    return true;
  }
  seen.misses += !seen.records.empty();
  return false;
}

void Capture::begin_call(SeenCall& seen, std::unique_ptr<CallRecorder> recorder) {
  AFrame& frame = frames_.back();
  frame.seen = &seen;
  frame.begun = steps_;
  if (!recorder) return;
  frame.recorded = true;
  recorder_ = std::move(recorder);
  recorder_->follow();
}

std::unique_ptr<CallRecorder> Capture::recorder_for(const SeenCall& seen, FunctionObject* function,
                                                    const CallArguments& arguments) {
  if (recorder_ || seen.steps < kWorthRepeating || seen.records.size() >= kMostRecords || seen.spoiled) return nullptr;
  return std::make_unique<CallRecorder>(*this, function, arguments.positional);
}

void Capture::end_call(const AFrame& finished, const Av& result) {
  finished.seen->steps = steps_ - finished.begun;
  if (!finished.recorded) return;
  std::shared_ptr<CallRecord> record = recorder_->finish(result);
  recorder_.reset();
  if (record) finished.seen->records.push_back(std::move(record));
  else finished.seen->spoiled = true;
}

}  // namespace tsc::interp
