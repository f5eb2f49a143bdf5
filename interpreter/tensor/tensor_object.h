#pragma once
// The script's Tensor object: a runtime Tensor plus what only scripts see - identity, user attributes,
// gradient history. Every tensor operation of a script, compiled or not, is a primitive of
// runtime/ops/ops.def; this room binds them (module `_prims`), the methods are stdlib/torch/_tensor.tsc.
// Keeps: an op never changes its operands' TensorObjects, except `assign_`, the one in-place write.
#include <memory>
#include <optional>
#include <string_view>

#include "interpreter/tensor/profile.h"
#include "interpreter/vm/native.h"
#include "jit/autodiff/tape.h"
#include "jit/executable.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/print.h"
#include "runtime/tensor/tensor.h"

namespace tsc::interp {

struct TensorObject;
struct LeafHooks;      // custom_gradient.h
struct TensorExtra;    // transforms.h
struct AutogradState;  // transforms.h

// How a view was made, so that its history can be made again after its base was written in place.
struct ViewOrigin {
  Local<TensorObject> parent;
  Op op;
  SmallVector<Scalar, 6> scalars;
  OpAttributes attributes;
  uint32_t parent_history = 0;  // the parent's history_version when the view's history was made
  uint64_t number = 0;          // later views have larger numbers
};

struct TensorObject : Instance {
  static constexpr Kind kKind = Kind::Native;
  Tensor tensor;
  // Gradient history: which result of which tape node made this value; empty for leaves.
  jit::TapeValue history;
  uint32_t history_version = 0;  // counts in-place writes that changed the history
  uint64_t history_written = 0;  // when the last of them happened (jit::next_sequence)
  bool requires_grad = false;    // of leaves; derived tensors ask `history`
  bool is_data = false;          // what `.data` gave: gradients do not notice writes to it
  Value grad;                    // Undefined: None
  std::unique_ptr<ViewOrigin> view;
  std::weak_ptr<jit::LeafSink> leaf;     // alive while a tape refers to this leaf
  std::shared_ptr<LeafHooks> hooks;      // of leaves; null: none
  std::shared_ptr<TensorObject*> alive;  // retain_grad(): lets the history know that this object lives
  std::shared_ptr<TensorExtra> extra;    // what few tensors have: a batch axis, a tangent, inference mode; null: none
  TensorObject() : Instance(Kind::Native) {}

  bool needs_grad() const { return requires_grad || history.node; }
  // The leaf of which it is a view, through which gradients would flow; itself where it is none.
  const TensorObject* viewed() const {
    const TensorObject* at = this;
    while (at->view && at->view->op != Op::detach) at = at->view->parent.get();
    return at;
  }
  bool is_leaf_with_gradient() const { return requires_grad && !history.node; }
  // Whether a write to it makes a new version of its memory.
  bool counts_writes() const {
    const TensorObject* at = this;
    while (!at->is_data && at->view) at = at->view->parent.get();
    return !at->is_data;
  }
};

// The keys under which stores to a tensor are noted (note_store): other elements behind the object, in
// front of the change; requires_grad, or whether it has a history.
inline constexpr std::string_view kTensorData = "data", kTensorGradientClass = "requires_grad";
void note_tensor_store(Vm& vm, TensorObject* tensor, std::string_view what);

struct DTypeObject : Object {
  static constexpr Kind kKind = Kind::Native;
  DType dtype;
  explicit DTypeObject(DType d) : Object(Kind::Native), dtype(d) {}
};

// What decides how an operation is carried out, apart from its operands. A compiled region is made for
// one combination.
struct Modes {
  bool grad_enabled = true;              // operations are recorded for gradients
  DType default_dtype = DType::F32;      // of tensors made of floats
  std::optional<DType> autocast;         // matrix products compute in this dtype on the CPU,
  std::optional<DType> device_autocast;  // and in this one on devices
  bool inference = false;                // torch.inference_mode(): what is made never takes part in gradients
  Place place;                           // with torch.device(...): where new tensors lie of which nothing else is said
  bool operator==(const Modes&) const = default;
};

// What this room keeps per Vm.
struct TensorState {
  Type* tensor_type = nullptr;
  Type* dtype_type = nullptr;
  Type* size_type = nullptr;  // torch.Size, a tuple
  Local<DTypeObject> dtypes[kDTypeCount];
  Modes modes;
  jit::RngState rng;
  std::vector<jit::RngState> device_rng;    // of the devices, by number; shorter: those were never named
  PrintOptions print_options;               // torch.set_printoptions; the default dtype is that of `modes`
  std::shared_ptr<Profile> profile;         // null: torch.profiler is off
  std::shared_ptr<AutogradState> autograd;  // transforms and modes that few scripts use; null: none was used
  bool knows_places = false;  // another device than the CPU was named: new tensors look where they lie (placement.h)
  int most_threads = 0;       // what the host gave, once a script has asked for fewer; 0: it has not
};

// Registers module `_prims` and the types. Called once per Vm, before scripts run.
void install_tensors(Vm& vm);
inline TensorState& tensor_state(Vm& vm) { return vm.tensors(); }

inline bool is_tensor(const TensorState& state, const Value& v) {
  return v.is_object() && v.object()->kind == Kind::Native && v.object()->type->is_subtype_of(state.tensor_type);
}
// Null: not a tensor.
inline TensorObject* as_tensor(const TensorState& state, const Value& v) {
  return is_tensor(state, v) ? cast<TensorObject>(v) : nullptr;
}
TensorObject* expect_tensor(Vm& vm, const Value& v, const char* what);
DType expect_dtype(Vm& vm, const Value& v, const char* what);  // also of bool, int, float and complex, as in PyTorch
Value dtype_value(const TensorState& state, DType dtype);
Value size_tuple(Vm& vm, const Sizes& sizes);
// A list or tuple of ints.
Sizes expect_sizes(Vm& vm, const Value& v, const char* what);

Local<TensorObject> make_tensor(Vm& vm, Tensor tensor);
// item(): the one element as a script number. RuntimeError when there is not exactly one.
Value tensor_item(Vm& vm, const Tensor& tensor);
Scalar tensor_scalar(const Tensor& tensor);

}  // namespace tsc::interp
