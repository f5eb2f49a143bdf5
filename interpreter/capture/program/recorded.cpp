// What calls are recorded by (call_record.h): every way in which capture reads the program, asks what is known, makes
// values and writes tensors. Here each of these is itself and, where a call is recorded, a step of the record; what one
// of them does inside another is part of that one.
#include <array>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/capture/written/writes.h"
#include "interpreter/tensor/eager.h"
#include "jit/region/scalar_eval.h"

namespace tsc::interp {

void RepeatedCalls::spoil_record() {
  if (recorder_) recorder_->spoil();
}

void RepeatedCalls::spoil_outside_steps() {
  if (!recorded_depth_) spoil_record();
}

void RepeatedCalls::note_protection(bool now) {
  if (recorder_ && now != recorder_->is_protected()) spoil_record();
}

void RepeatedCalls::drop_recorder() { recorder_.reset(); }

template <class Run, class Note>
auto RepeatedCalls::recorded(Run&& run, Note&& note) {
  if (!recorder_ || recorder_->spoiled() || recorded_depth_) return run();
  struct Inside {
    explicit Inside(uint32_t& depth) : depth(depth) { ++depth; }
    ~Inside() { --depth; }
    uint32_t& depth;
  };
  const Inside inside(recorded_depth_);
  if constexpr (std::is_void_v<decltype(run())>) {
    run();
    note(*recorder_);
  } else {
    auto made = run();
    note(*recorder_, made);
    return made;
  }
}

// ---- reads ----

bool Cells::is_dynamic(const Value& holder, const Value& key) const {
  if (memory_.dynamic.empty()) return false;
  if (is_kind(holder, Kind::Module)) return is_dynamic(Value(cast<ModuleObject>(holder)->globals.get()), key);
  Object* name = is_kind(key, Kind::Str) ? key.object() : nullptr;
  return memory_.is_dynamic({holder.object(), name, key.is_int() ? key.as_int() + 1 : 0});
}

namespace {

// A tensor or a number is one of the region; anything else has been compared.
template <class Load>
void add_read(CallRecorder& r, const Value& holder, const Av& found, Load load) {
  const RecordedValue value = r.found(found);
  const bool counts = found.is_number() || is_virtual(found, VirtualKind::Tensor);
  if (!counts && !Counterparts::may_move(holder)) return;
  r.add([=](Repetition& again) {
    if (counts || again.must_read(holder)) again.take(value, load(again.capture, again.object(holder)));
  });
}

}  // namespace

// False: it has been read before.
bool RepeatedCalls::note_read(const Value& holder, const Value& key, Question question) {
  if (overlay_.has_stored(holder, key)) spoil_record();
  return recorder_->read(holder, key, question);
}

Av Attributes::host_attribute(const Av& object, StrObject* name) {
  return repeats_.recorded([&] { return find_attribute(object, name); },
                           [&](CallRecorder& r, const Av& found) {
                             if (!repeats_.note_read(object.value, Value(name), Question::Attribute)) return;
                             add_read(r, object.value, found,
                                      [name = Local<StrObject>(name)](Capture& c, const Value& now) {
                                        return c.attributes().host_attribute(Av::constant(now), name.get());
                                      });
                           });
}

Attributes::Presence Attributes::presence(const Av& object, StrObject* name) {
  return repeats_.recorded(
      [&] { return find_presence(object, name); },
      [&](CallRecorder& r, Presence found) {
        if (!object.is_constant() || !object.value.is_object()) return;
        if (!repeats_.note_read(object.value, Value(name), Question::HasAttribute)) return;
        r.add([=, holder = object.value, name = Local<StrObject>(name)](Repetition& again) {
          if (again.must_read(holder))
            again.expect(again.capture.attributes().presence(Av::constant(again.object(holder)), name.get()) == found);
        });
      });
}

Av Cells::load_attribute_cell(const Value& holder, StrObject* name, const Value& current) {
  return repeats_.recorded([&] { return find_attribute_cell(holder, name, current); },
                           [&](CallRecorder& r, const Av& found) {
                             if (!repeats_.note_read(holder, Value(name), Question::Content)) return;
                             add_read(r, holder, found, [name = Local<StrObject>(name)](Capture& c, const Value& now) {
                               DictObject* dict = try_cast<DictObject>(now);
                               const Value value = dict ? dict_get(c.vm(), dict, name.value())
                                                        : get_own_attribute(c.vm(), now.object(), name.get());
                               return c.cells().load_attribute_cell(now, name.get(), value);
                             });
                           });
}

Av Cells::load_cell(const Av& cell) {
  return repeats_.recorded([&] { return find_cell(cell); },
                           [&](CallRecorder& r, const Av& found) {
                             if (!cell.is_constant()) return;  // one of the call's own
                             if (!repeats_.note_read(cell.value, Value(), Question::Content)) return;
                             add_read(r, cell.value, found, [](Capture& c, const Value& now) {
                               return c.cells().load_cell(Av::constant(now));
                             });
                           });
}

Av Cells::load_element(ListObject* list, int64_t index) {
  return repeats_.recorded([&] { return find_element(list, index); },
                           [&](CallRecorder& r, const Av& found) {
                             if (!repeats_.note_read(Value(list), Value::integer(index), Question::Content)) return;
                             add_read(r, Value(list), found, [index](Capture& c, const Value& now) {
                               return c.cells().load_element(cast<ListObject>(now), index);
                             });
                           });
}

Av Cells::load_dict_entry(DictObject* dict, const Value& key) {
  return repeats_.recorded(
      [&] { return find_dict_entry(dict, key); },
      [&](CallRecorder& r, const Av& found) {
        if (!repeats_.note_read(Value(dict), is_kind(key, Kind::Str) ? key : Value(), Question::Content)) return;
        add_read(r, Value(dict), found,
                 [key](Capture& c, const Value& now) { return c.cells().load_dict_entry(cast<DictObject>(now), key); });
      });
}

void Cells::assume_unchanged(Object* holder, const Value& key) {
  repeats_.recorded(
      [&] { watch(holder, key); },
      [&](CallRecorder& r) {
        if (!repeats_.note_read(Value(holder), key, Question::Unchanged) || !Counterparts::may_move(Value(holder)))
          return;
        r.add([holder = Value(holder), key](Repetition& again) {
          if (again.must_read(holder)) again.capture.cells().assume_unchanged(again.object(holder).object(), key);
        });
      });
}

Av Gradients::load_gradient(VTensor& tensor) {
  return repeats_.recorded([&] { return find_gradient(tensor); },
                           [&](CallRecorder& r, const Av& found) {
                             const RecordedValue of = r.given_tensor(tensor);
                             if (is_virtual(found, VirtualKind::Tensor) && static_cast<VTensor&>(*found.object).view)
                               r.spoil();
                             r.add([of, value = r.made(found)](Repetition& again) {
                               again.take(value, again.capture.gradients().load_gradient(again.tensor(of)));
                             });
                           });
}

void Gradients::name_step(const Av& av, std::string_view name) {
  const std::string text(name);
  repeats_.recorded([&] { step_names_[tensors_.share_tensor(av)->id] = text; },
                    [&](CallRecorder& r) {
                      r.add([text, of = r.given(av)](Repetition& again) {
                        again.capture.gradients().name_step(again.value(of), text);
                      });
                    });
}

void Cells::note_fact(std::string text) {
  repeats_.recorded(
      [&] { plan_.facts.push_back(text); },
      [&](CallRecorder& r) { r.add([text](Repetition& again) { again.capture.cells().note_fact(text); }); });
}

// ---- tensors ----

Av Tensors::emit(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
                 int result) {
  if (tensors.empty()) (void)place_of_created();
  return emit_placed(op, tensors, scalars, attributes, result);
}

// Where a call is repeated its frames are not there to say where new tensors lie: where they lay.
Av Tensors::emit_placed(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars,
                        const OpAttributes& attributes, int result) {
  return repeats_.recorded(
      [&] { return emit_op(op, tensors, scalars, attributes, result); },
      [&](CallRecorder& r, const Av& made) {
        std::vector<RecordedValue> operands = r.given(tensors);
        std::vector<ValueId> numbers = r.given(scalars);
        r.add([=, operands = std::move(operands), numbers = std::move(numbers), out = r.made(made)](Repetition& again) {
          again.take(out, again.capture.tensors().emit_placed(op, again.values(operands), again.ids(numbers),
                                                              attributes, result));
        });
      });
}

std::pair<Av, Av> Tensors::emit_pair(Op op, const Av& tensor, const OpAttributes& attributes) {
  return repeats_.recorded(
      [&] { return emit_op_pair(op, tensor, attributes); },
      [&](CallRecorder& r, const std::pair<Av, Av>& made) {
        const RecordedValue operand = r.given(tensor), first = r.made(made.first), second = r.made(made.second);
        r.add([=](Repetition& again) {
          const auto [one, other] = again.capture.tensors().emit_pair(op, again.value(operand), attributes);
          again.take(first, one);
          again.take(second, other);
        });
      });
}

Av Tensors::elementwise(Op op, std::span<const Av> operands) {
  return repeats_.recorded([&] { return emit_elementwise(op, operands); },
                           [&](CallRecorder& r, const Av& made) {
                             std::vector<RecordedValue> values = r.given(operands);
                             r.add([=, values = std::move(values), out = r.made(made)](Repetition& again) {
                               again.take(out, again.capture.tensors().elementwise(op, again.values(values)));
                             });
                           });
}

void Writes::assign(const std::shared_ptr<VTensor>& target, const Av& value, WriteHistory history) {
  repeats_.recorded([&] { write_elements(target, value, history); },
                    [&](CallRecorder& r) {
                      const RecordedValue to = r.given(Av::of(target)), from = r.given(value);
                      r.add([=](Repetition& again) {
                        again.capture.writes().assign(again.capture.tensors().share_tensor(again.value(to)),
                                                      again.value(from), history);
                      });
                    });
}

void Writes::set_gradient(const std::shared_ptr<VTensor>& tensor, const Av& value) {
  repeats_.recorded([&] { replace_gradient(tensor, value); },
                    [&](CallRecorder& r) {
                      const RecordedValue to = r.given(Av::of(tensor)), gradient = r.given(value);
                      r.add([=](Repetition& again) {
                        again.capture.writes().set_gradient(again.capture.tensors().share_tensor(again.value(to)),
                                                            again.value(gradient));
                      });
                    });
}

std::pair<ValueId, ValueId> Tensors::rng_offset() {
  return repeats_.recorded([&] { return advance_rng(); },
                           [&](CallRecorder& r, const std::pair<ValueId, ValueId>& made) {
                             r.add([seed = r.made(made.first), offset = r.made(made.second)](Repetition& again) {
                               const auto now = again.capture.tensors().rng_offset();
                               again.take(seed, now.first);
                               again.take(offset, now.second);
                             });
                           });
}

void Frames::set_grad_enabled(bool enabled) {
  repeats_.recorded([&] { set_mode(enabled); },
                    [&](CallRecorder& r) {
                      r.add([enabled](Repetition& again) { again.capture.frames().set_grad_enabled(enabled); });
                    });
}

void Effects::operation_may_raise() {
  ++raises_;
  repeats_.recorded(
      [&] { may_raise_here(); },
      [](CallRecorder& r) { r.add([](Repetition& again) { again.capture.effects().operation_may_raise(); }); });
}

void Writes::flush_writes() {
  effects_.note_raise();
  // Nothing is written back inside of a block: what raises there has the interpreter begin anew.
  if (builder_.open_blocks() != 0 && effects_.has_done_nothing()) {
    plan_.starts_again.insert(builder_.known_origin());
    return;
  }
  repeats_.recorded([&] { write_back_all(false); },
                    [](CallRecorder& r) { r.add([](Repetition& again) { again.capture.writes().flush_writes(); }); });
}

// ---- numbers, and what is known of them ----

Av Numbers::scalar(jit::ScalarOp op, std::vector<Av> operands) {
  const uint32_t before = effects_.raises();
  return repeats_.recorded(
      [&] { return emit_scalar(op, operands); },
      [&](CallRecorder& r, const Av& made) {
        if (made.is_constant() &&
            std::all_of(operands.begin(), operands.end(), [](const Av& av) { return av.is_constant(); }))
          return;
        std::vector<RecordedValue> values = r.given(operands);
        // Of the same numbers it is the same one, unless what may raise has tensors written back.
        const bool writes = effects_.raises() != before || jit::scalar_may_raise(op, jit::ValueKind::Float);
        r.add([=, values = std::move(values), out = r.made(made)](Repetition& again) {
          if (!writes && !again.is_recorded() && again.are_the_same(values))
            again.take(out, made.is_number() ? again.capture.numbers().find_number(made.id) : made);
          else again.take(out, again.capture.numbers().scalar(op, again.values(values)));
        });
      });
}

// A number that is not known for ever decides nothing but through conditions, whatever it is now.
Av Numbers::int_av(ValueId id) {
  return repeats_.recorded([&] { return find_int(id); },
                           [&](CallRecorder& r, const Av& found) {
                             if (r.is_constant(id)) return;
                             r.add([id = r.given(id), value = r.made(found)](Repetition& again) {
                               again.take(value, again.capture.numbers().int_av(again.id(id)));
                             });
                           });
}

Av Numbers::scalar_av(ValueId id) {
  return repeats_.recorded([&] { return find_number(id); },
                           [&](CallRecorder& r, const Av& found) {
                             if (r.is_constant(id)) return;
                             r.add([id = r.given(id), value = r.made(found)](Repetition& again) {
                               again.take(value, again.capture.numbers().scalar_av(again.id(id)));
                             });
                           });
}

bool Conditions::assume_at_entry(ValueId condition) {
  return repeats_.recorded([&] { return condition_holds(condition); },
                           [&](CallRecorder& r, bool holds) {
                             r.add([holds, condition = r.given(condition)](Repetition& again) {
                               again.expect(again.capture.conditions().assume_at_entry(again.id(condition)) == holds);
                             });
                           });
}

bool Numbers::is_same_number(ValueId a, ValueId b) {
  return repeats_.recorded([&] { return a == b; },
                           [&](CallRecorder& r, bool same) {
                             r.add([same, a = r.given(a), b = r.given(b)](Repetition& again) {
                               again.expect(again.capture.numbers().is_same_number(again.id(a), again.id(b)) == same);
                             });
                           });
}

// Of two tensors; other objects are found by reading, or spoil the record.
bool Operators::is_identical(const Av& a, const Av& b) {
  if (is_virtual(a, VirtualKind::Tensor) && is_virtual(b, VirtualKind::Tensor))
    shared_memory_.note_identity(*a.object, *b.object);
  return repeats_.recorded(
      [&] { return are_one_object(a, b); },
      [&](CallRecorder& r, bool same) {
        if (!is_virtual(a, VirtualKind::Tensor) || !is_virtual(b, VirtualKind::Tensor)) return;
        r.add([same, a = r.given(a), b = r.given(b)](Repetition& again) {
          again.expect(again.capture.operators().is_identical(again.value(a), again.value(b)) == same);
        });
      });
}

bool Conditions::assume_nonnegative(ValueId size) {
  return repeats_.recorded([&] { return is_nonnegative_at_entry(size); },
                           [&](CallRecorder& r, bool holds) {
                             r.add([holds, size = r.given(size)](Repetition& again) {
                               again.expect(again.capture.conditions().assume_nonnegative(again.id(size)) == holds);
                             });
                           });
}

std::optional<Scalar> Conditions::hint(ValueId id) {
  return repeats_.recorded([&] { return find_hint(id); },
                           [&](CallRecorder& r, const std::optional<Scalar>& found) {
                             if (!r.is_constant(id) && r.asks_first(r.given(id), found))
                               r.add([found, id](Repetition& again) {
                                 again.expect(is_same(again.capture.conditions().hint(again.id(id)), found));
                               });
                           });
}

ValueId CaptureBuilder::op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                           const OpAttributes& attributes, int result) {
  capture_.repeats().spoil_outside_steps();
  return RegionBuilder::op(op, tensors, scalars, attributes, result);
}

ValueId CaptureBuilder::read(ValueId tensor, jit::ValueKind kind) {
  capture_.repeats().spoil_record();
  return RegionBuilder::read(tensor, kind);
}

ValueId CaptureBuilder::scalar(jit::ScalarOp op, std::span<const ValueId> operands) {
  return capture_.repeats().recorded(
      [&] { return RegionBuilder::scalar(op, operands); },
      [&](CallRecorder& r, ValueId made) {
        std::vector<ValueId> numbers = r.given(operands);
        if (r.are_constants(numbers)) return;
        r.add([op, numbers = std::move(numbers), made = r.made(made)](Repetition& again) {
          again.take(made, again.capture.builder().scalar(op, again.ids(numbers)));
        });
      });
}

std::optional<int64_t> CaptureBuilder::known_int(ValueId scalar) const {
  return capture_.repeats().recorded([&] { return RegionBuilder::known_int(scalar); },
                                     [&](CallRecorder& r, const std::optional<int64_t>& found) {
                                       if (r.is_constant(scalar)) return;
                                       r.add([found, id = r.given(scalar)](Repetition& again) {
                                         again.expect(again.capture.builder().known_int(again.id(id)) == found);
                                       });
                                     });
}

std::optional<Scalar> CaptureBuilder::known(ValueId scalar) const {
  return capture_.repeats().recorded([&] { return RegionBuilder::known(scalar); },
                                     [&](CallRecorder& r, const std::optional<Scalar>& found) {
                                       if (r.is_constant(scalar)) return;
                                       r.add([found, id = r.given(scalar)](Repetition& again) {
                                         again.expect(is_same(again.capture.builder().known(again.id(id)), found));
                                       });
                                     });
}

bool CaptureBuilder::known_equal(ValueId a, ValueId b) const {
  return capture_.repeats().recorded(
      [&] { return RegionBuilder::known_equal(a, b); },
      [&](CallRecorder& r, bool found) {
        if (a == b || r.are_constants(std::array{a, b})) return;
        r.add([found, a = r.given(a), b = r.given(b)](Repetition& again) {
          again.expect(again.capture.builder().known_equal(again.id(a), again.id(b)) == found);
        });
      });
}

void CaptureBuilder::assume_equal(ValueId a, ValueId b) {
  capture_.repeats().recorded([&] { RegionBuilder::assume_equal(a, b); },
                              [&](CallRecorder& r) {
                                r.add([a = r.given(a), b = r.given(b)](Repetition& again) {
                                  again.capture.builder().assume_equal(again.id(a), again.id(b));
                                });
                              });
}

// Two sizes of inputs are compared when the inputs are bound (Exits::finish); others by a guard.
bool CaptureBuilder::require_equal(ValueId a, ValueId b) {
  const auto holds = [&] {
    if (capture_.conditions().are_input_sizes(a, b))
      return capture_.conditions().hint(a)->i == capture_.conditions().hint(b)->i;
    const ValueId operands[] = {a, b};
    return capture_.conditions().assume_at_entry(scalar(jit::ScalarOp::eq, operands));
  };
  return capture_.repeats().recorded(holds, [&](CallRecorder& r, bool found) {
    r.add([found, a = r.given(a), b = r.given(b)](Repetition& again) {
      again.expect(again.capture.builder().require_equal(again.id(a), again.id(b)) == found);
    });
  });
}

}  // namespace tsc::interp
