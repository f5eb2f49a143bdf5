#include "interpreter/tensor/placement.h"

#include <cstdlib>

#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/device_words.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/frame.h"
#include "interpreter/vm/operations.h"
#include "jit/autodiff/moved.h"
#include "lang/bytecode/bytecode.h"
#include "lang/library_file.h"
#include "runtime/device/device.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

// The library's arrays of numpy, which have elements.
constexpr std::string_view kArrays = "<stdlib>/_numpy/";

using Said = std::optional<Place>;

Said place_of_device(Vm& vm, const Value& device) {
  if (device.is_undefined() || device.is_none()) return {};
  return named_place(vm, device).value_or(Place::host());
}

void look_at(const TensorState& state, const Value& v, Said* place) {
  const TensorObject* t = as_tensor(state, v);
  if (!t || (*place && (*place)->is_meta())) return;
  const Place here = t->tensor.place();
  if (!*place || (*place)->is_host() || here.is_meta()) *place = here;
}

// What the tensors say that a parameter is or lists.
void look_into(const TensorState& state, const Value& v, Said* place) {
  look_at(state, v, place);
  if (const ListObject* list = try_cast<ListObject>(v))
    for (const Value& item : list->items) look_at(state, item, place);
  if (const TupleObject* tuple = try_cast<TupleObject>(v))
    for (const Value& item : tuple->span()) look_at(state, item, place);
}

struct FramePlace {
  Said device, tensors;
};

FramePlace place_in(Vm& vm, const Frame& frame, const StrObject* device) {
  FramePlace found;
  const auto& names = frame.code->parameter_names;
  for (size_t i = 0; i < names.size() && i < frame.register_count; ++i) {
    Value v = frame.registers[i];
    if (const CellObject* cell = try_cast<CellObject>(v)) v = cell->content;
    if (names[i].get() == device) found.device = place_of_device(vm, v);
    else look_into(tensor_state(vm), v, &found.tensors);
  }
  return found;
}

// "cuda:1", or "cuda" for the current device.
Said place_of_text(std::string_view text, int64_t index) {
  const std::string_view type = text.substr(0, text.find(':'));
  if (type == "cpu") return Place::host();
  if (type == "meta") return Place::meta();
  const Device& device = current_device();
  if (type != "cuda" || device.backends.empty()) return {};
  if (type.size() < text.size()) index = std::strtol(text.data() + type.size() + 1, nullptr, 10);
  if (index < 0) index = device.current_backend;
  if (index >= static_cast<int64_t>(device.backends.size())) return {};
  return Place::device(static_cast<int>(index));
}

}  // namespace

std::optional<Place> named_place(Vm& vm, const Value& device) {
  if (const StrObject* text = try_cast<StrObject>(device)) return place_of_text(text->view(), -1);
  if (device.is_int()) return place_of_text("cuda", device.as_int());
  if (!is_kind(device, Kind::Instance)) return {};
  const Value type = get_own_attribute(vm, device.object(), intern(vm, "type").get());
  const Value index = get_own_attribute(vm, device.object(), intern(vm, "index").get());
  const StrObject* text = try_cast<StrObject>(type);
  return text ? place_of_text(text->view(), index.is_int() ? index.as_int() : -1) : std::nullopt;
}

Place place_of_new(Vm& vm, const Frame* frame) {
  const TensorState& state = tensor_state(vm);
  if (!state.knows_places) [[likely]]
    return {};
  Said tensors;
  const Local<StrObject> device = intern(vm, "device"), body = intern(vm, "<module>");
  for (const Frame* at = frame ? frame : vm.current_frame(); at; at = at->back) {
    const std::string_view file = at->code->code->file();
    if (!lang::is_library_file(file)) break;
    if (at->code->name.get() == body.get() || file.starts_with(kArrays)) return {};
    const FramePlace here = place_in(vm, *at, device.get());
    if (here.device) return *here.device;
    if (!tensors) tensors = here.tensors;
  }
  return tensors.value_or(state.modes.place);
}

Local<TensorObject> to_place(Vm& vm, Local<TensorObject> x, Place place) {
  if (x->tensor.place() == place) return x;
  tensor_state(vm).knows_places = true;
  if (is_batched(x.get())) return make_batched(vm, to_place(vm, x->extra->physical, place), x->extra->level);
  const bool records = tensor_state(vm).modes.grad_enabled;
  Local<TensorObject> there = from_tape(vm, jit::moved(tape_tensor(vm, x.get()), place, records));
  if (TensorObject* tangent = tangent_of(vm, x.get())) {
    TensorExtra& extra = own_extra(there.get());
    extra.tangent = to_place(vm, Local<TensorObject>(tangent), place);
    extra.dual_level = x->extra->dual_level;
  }
  return there;
}

namespace {

constexpr char kSilentKey = 0;

}  // namespace

Place silent_place(Vm& vm) {
  const std::shared_ptr<void>& place = vm.extension(&kSilentKey);
  return place ? *static_cast<const Place*>(place.get()) : Place();
}

void set_silent_place(Vm& vm, Place place) { vm.extension(&kSilentKey) = std::make_shared<Place>(place); }

jit::RngState& rng_of(TensorState& state, Place place) {
  if (!place.is_device()) return state.rng;
  const auto index = static_cast<size_t>(place.index());
  if (state.device_rng.size() <= index) state.device_rng.resize(index + 1);
  return state.device_rng[index];
}

namespace {

// Whether operands at these places may meet; a tensor of the first one leads the operation.
bool may_meet(Op op, Place first, Place other) {
  const Family family = op_row(op).family;
  const bool leads = family == Family::Index || family == Family::Contract || family == Family::Window;
  return first == other || (leads && first.is_meta()) || (op == Op::take && first.is_device() && other.is_host());
}

}  // namespace

void check_devices(Vm& vm, Op op, std::span<TensorObject* const> tensors) {
  const Tensor* expected = nullptr;
  for (const TensorObject* t : tensors) {
    const Tensor& x = t->tensor;
    if (x.place().is_host() && x.rank() == 0) continue;
    if (!expected) expected = &x;
    const Place a = expected->place(), b = x.place();
    if (may_meet(op, a, b)) continue;
    if (!a.is_meta() && !b.is_meta()) refuse_devices(vm, a.is_host() ? b : a, a.is_host() ? a : b);
    throw Error(ErrorKind::RuntimeError,
                "Tensor on device " + b.name() + " is not on the expected device " + a.name() + "!");
  }
}

Place expect_place(Vm& vm, const Value& v) {
  const int64_t code = to_index(vm, v, "place");
  if (code < 0 || code >= Place::device(Place::kMostDevices).code())
    throw Error(ErrorKind::RuntimeError, "CUDA error: invalid device ordinal");
  const Place place = Place::of_code(static_cast<uint8_t>(code));
  if (place.is_device()) (void)current_device().backend(place);
  return place;
}

namespace {

// A place as scripts of the library have it: 0 in memory, 1 meta, from 2 on the devices.
Value place_value(Place place) { return Value::integer(place.code()); }

Value prim_is_meta(Vm& vm, Args& args) { return Value::boolean(expect_tensor(vm, args[0], "x")->tensor.is_meta()); }

Value prim_place(Vm& vm, Args& args) { return place_value(expect_tensor(vm, args[0], "x")->tensor.place()); }

Value prim_to_place(Vm& vm, Args& args) {
  return to_place(vm, Local<TensorObject>(expect_tensor(vm, args[0], "x")), expect_place(vm, args[1])).take();
}

// use_meta(): the program has named the device; from now on new tensors look where they lie.
Value prim_use_meta(Vm& vm, Args&) {
  tensor_state(vm).knows_places = true;
  return Value::none();
}

// set_default_place(place): where tensors lie of which nothing is said; gives what was set before.
Value prim_set_default_place(Vm& vm, Args& args) {
  TensorState& state = tensor_state(vm);
  const Place before = state.modes.place;
  state.modes.place = expect_place(vm, args[0]);
  state.knows_places |= !state.modes.place.is_host();
  return place_value(before);
}

Value prim_default_place(Vm& vm, Args&) { return place_value(tensor_state(vm).modes.place); }

// new_place(): where a tensor lies that the caller makes.
Value prim_new_place(Vm& vm, Args&) { return place_value(place_of_new(vm)); }

// same_place(x, other): refuses tensors of two devices, also where an operation would take them.
Value prim_same_place(Vm& vm, Args& args) {
  const Place a = expect_tensor(vm, args[0], "x")->tensor.place(),
              b = expect_tensor(vm, args[1], "other")->tensor.place();
  if (a != b && !a.is_meta() && !b.is_meta()) refuse_devices(vm, a.is_host() ? b : a, a.is_host() ? a : b);
  return Value::none();
}

// plain(tensors): whether this is the interpreter and none of them is more than its elements and its history: no meta
// tensor, no example of a batch, none with a tangent. Then a function may take a way that is no chain of primitives.
// Compiled code does not: `plain` is false there, and a region ends in front of `plain_or_break`.
Value prim_plain(Vm& vm, Args& args) {
  if (!is_kind(args[0], Kind::Tuple)) raise_type_error(vm, "expected a tuple of tensors");
  for (const Value& item : cast<TupleObject>(args[0])->span()) {
    const TensorObject* x = expect_tensor(vm, item, "element of the tuple");
    if (x->tensor.is_meta() || is_batched(x) || tangent_of(vm, x)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

constexpr GradientPrim kPlacementPrims[] = {
    {"plain", "tensors", prim_plain},
    {"plain_or_break", "tensors", prim_plain},
    {"is_meta", "x", prim_is_meta},
    {"place", "x", prim_place},
    {"to_place", "x, place", prim_to_place},
    {"use_meta", "", prim_use_meta},
    {"set_default_place", "place", prim_set_default_place},
    {"default_place", "", prim_default_place},
    {"new_place", "", prim_new_place},
    {"same_place", "x, other", prim_same_place},
};

}  // namespace

std::span<const GradientPrim> placement_prims() { return kPlacementPrims; }

}  // namespace tsc::interp
