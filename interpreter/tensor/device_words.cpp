#include "interpreter/tensor/device_words.h"

#include <algorithm>

#include "interpreter/vm/frame.h"
#include "lang/bytecode/bytecode.h"
#include "lang/library_file.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

// A function of the library, the kernel that PyTorch calls for it, and what that one checks in this order: the
// parameter, behind `=` the name that PyTorch has for it, and `!` before one without which another row is meant. The
// ranks of the first two decide between kernels of one function, and so may where the first one lies.
struct FunctionCheck {
  std::string_view function, kernel, arguments;
  struct Ranks {
    int least = 0, most = kMaxRank;
  };
  Ranks first = {}, second = {};
  bool first_on_device = false;
};

constexpr FunctionCheck::Ranks kAny, kVector{1, 1}, kMatrix{2, 2}, kBatch{3, kMaxRank};

constexpr FunctionCheck kChecks[] = {
    {"mm", "wrapper_CUDA_mm", "x=self mat2=mat2"},
    {"bmm", "wrapper_CUDA_bmm", "x=self mat2=mat2"},
    {"_product", "wrapper_CUDA__dot", "a=self b=tensor", kVector, kVector},
    {"_product", "wrapper_CUDA_addmv_out_out", "b=vec a=mat", kVector, kMatrix},
    {"_product", "wrapper_CUDA_mm", "a=self b=mat2", kAny, kMatrix},
    {"_product", "wrapper_CUDA_bmm", "a=self b=mat2", kAny, kBatch},
    {"mv", "wrapper_CUDA_addmv_out_out", "vec=vec input=mat"},
    {"dot", "wrapper_CUDA__dot", "input=self tensor=tensor"},
    {"vdot", "wrapper_CUDA__vdot", "input=self other=other"},
    {"addmm", "wrapper_CUDA_addmm", "input=self mat1=mat1 mat2=mat2"},
    {"addmv", "wrapper_CUDA_addmv", "input=self mat=mat vec=vec"},
    {"addr", "wrapper_CUDA__addr", "input=self vec1=vec1 vec2=vec2"},
    {"baddbmm", "wrapper_CUDA_baddbmm", "input=self batch1=batch1 batch2=batch2"},
    {"addbmm", "wrapper_CUDA__addbmm", "input=self batch1=batch1 batch2=batch2"},
    {"linear", "wrapper_CUDA_addmm", "!bias=self x=mat1 weight=mat2", kAny, {2, 3}},
    {"linear", "wrapper_CUDA_mm", "x=self weight=mat2", {2, kMaxRank}},
    {"embedding", "wrapper_CUDA__index_select", "weight=self input=index indices=index"},
    {"embedding_bag", "wrapper_CUDA___embedding_bag",
     "weight=weight input=indices offsets=offsets per_sample_weights=per_sample_weights"},
    {"index_select", "wrapper_CUDA__index_select", "x=self index=index"},
    {"gather", "wrapper_CUDA_gather", "input=self index=index"},
    {"scatter", "wrapper_CUDA_scatter_src", "x=self index=index !src=src"},
    {"scatter", "wrapper_CUDA_scatter_value", "x=self index=index"},
    {"scatter_add", "wrapper_CUDA_scatter_add", "x=self index=index src=src"},
    {"scatter_reduce", "wrapper_CUDA_scatter_reduce_two", "x=self index=index src=src"},
    {"index_add", "wrapper_CUDA_index_add", "x=self index=index source=source"},
    {"index_copy", "wrapper_CUDA_index_copy", "x=self index=index source=source"},
    {"index_reduce", "wrapper_CUDA_index_reduce", "input=self index=index source=source"},
    {"take", "wrapper_CUDA__take", "x=self index=index"},
    {"masked_select", "wrapper_CUDA__masked_select", "x=self mask=mask"},
    {"masked_scatter", "wrapper_CUDA__masked_scatter_", "x=self mask=mask source=source"},
    {"cat", "wrapper_CUDA_cat", "tensors=tensors"},
    {"stack", "wrapper_CUDA_cat", "tensors=tensors"},
    {"nll_loss", "wrapper_CUDA_nll_loss_forward", "input=self target=target weight=weight", {0, 2}},
    {"nll_loss", "wrapper_CUDA__nll_loss2d_forward", "input=self target=target weight=weight"},
    {"cross_entropy", "wrapper_CUDA_nll_loss_forward", "input=self target=target weight=weight", {0, 2}},
    {"cross_entropy", "wrapper_CUDA__nll_loss2d_forward", "input=self target=target weight=weight"},
    {"multi_margin_loss", "wrapper_CUDA__multi_margin_loss", "input=self target=target weight=weight"},
    {"huber_loss", "wrapper_CUDA__huber_loss", "input=self target=target"},
    {"batch_norm", "wrapper_CUDA__cudnn_batch_norm",
     "x=input !weight=weight bias=bias running_mean=running_mean running_var=running_var", kAny, kAny, true},
    {"batch_norm", "wrapper_CUDA__native_batch_norm",
     "x=input weight=weight bias=bias running_mean=running_mean running_var=running_var"},
    {"layer_norm", "wrapper_CUDA__native_layer_norm", "x=input weight=weight bias=bias"},
    {"group_norm", "wrapper_CUDA__native_group_norm", "x=input weight=weight bias=bias"},
    {"instance_norm", "wrapper_CUDA__cudnn_batch_norm",
     "x=input !weight=weight bias=bias running_mean=running_mean running_var=running_var", kAny, kAny, true},
    {"instance_norm", "wrapper_CUDA__native_batch_norm",
     "x=input weight=weight bias=bias running_mean=running_mean running_var=running_var"},
    {"rms_norm", "wrapper_CUDA___fused_rms_norm", "x=input weight=weight"},
    {"isin", "wrapper_CUDA_isin_Tensor_Tensor", "elements=elements test_elements=test_elements"},
    {"searchsorted", "wrapper_CUDA_Tensor_searchsorted", "sorted_sequence=sorted_sequence input=self sorter=sorter"},
    {"bucketize", "wrapper_CUDA_Tensor_bucketize", "input=self boundaries=boundaries"},
    {"bincount", "wrapper_CUDA__bincount", "x=self weights=weights"},
    {"equal", "wrapper_CUDA__equal", "input=self other=other"},
    {"logaddexp", "wrapper_CUDA_logaddexp", "x=self other=other"},
    {"cross", "wrapper_CUDA_linalg_cross", "x=self other=other"},
    {"solve", "wrapper_CUDA__linalg_solve_ex", "A=A B=B"},
};

std::string_view take_word(std::string_view* text, char end) {
  const size_t length = std::min(text->find(end), text->size());
  const std::string_view word = text->substr(0, length);
  text->remove_prefix(std::min(length + 1, text->size()));
  return word;
}

Value parameter_of(const Frame& frame, std::string_view name) {
  const auto& names = frame.code->parameter_names;
  for (size_t i = 0; i < names.size() && i < frame.register_count; ++i) {
    if (names[i]->view() != name) continue;
    const CellObject* cell = try_cast<CellObject>(frame.registers[i]);
    return cell ? cell->content : frame.registers[i];
  }
  return {};
}

struct Argument {
  std::string_view name;
  std::vector<Tensor> tensors;
};

// What the kernel checks; empty: another row is meant.
std::vector<Argument> arguments_of(const TensorState& state, const Frame& frame, const FunctionCheck& check) {
  std::vector<Argument> found;
  for (std::string_view rest = check.arguments; !rest.empty();) {
    std::string_view word = take_word(&rest, ' ');
    const bool is_needed = word.front() == '!';
    if (is_needed) word.remove_prefix(1);
    const Value value = parameter_of(frame, take_word(&word, '='));
    Argument argument{word, {}};
    const auto add = [&](const Value& v) {
      if (const TensorObject* x = as_tensor(state, v)) argument.tensors.push_back(x->tensor);
    };
    add(value);
    if (const ListObject* list = try_cast<ListObject>(value))
      std::for_each(list->items.begin(), list->items.end(), add);
    if (const TupleObject* tuple = try_cast<TupleObject>(value))
      std::for_each(tuple->span().begin(), tuple->span().end(), add);
    if (is_needed && argument.tensors.empty()) return {};
    if (!argument.tensors.empty()) found.push_back(std::move(argument));
  }
  return found;
}

bool fits(FunctionCheck::Ranks ranks, const std::vector<Argument>& arguments, size_t index) {
  if (index >= arguments.size()) return true;
  const int64_t rank = arguments[index].tensors[0].rank();
  return ranks.least <= rank && rank <= ranks.most;
}

// What the kernel says of the arguments that the frame has; empty: nothing.
std::string refusal_in(const TensorState& state, const Frame& frame, const FunctionCheck& check) {
  const std::vector<Argument> arguments = arguments_of(state, frame, check);
  if (arguments.empty() || !fits(check.first, arguments, 0) || !fits(check.second, arguments, 1)) return "";
  const Place common = arguments[0].tensors[0].place();
  if (check.first_on_device && !common.is_device()) return "";
  for (const Argument& argument : arguments)
    for (const Tensor& x : argument.tensors)
      if (x.place() != common)
        return "Expected all tensors to be on the same device, but got " + std::string(argument.name) + " is on " +
               x.place().name() + ", different from other tensors on " + common.name() +
               " (when checking argument in method " + std::string(check.kernel) + ")";
  return "";
}

std::string refusal_in(const TensorState& state, const Frame& frame) {
  for (const FunctionCheck& check : kChecks) {
    if (check.function != frame.code->name->view()) continue;
    if (std::string refusal = refusal_in(state, frame, check); !refusal.empty()) return refusal;
  }
  return "";
}

}  // namespace

void refuse_devices(Vm& vm, Place a, Place b) {
  // The function that the program has called says it: what that calls may have no kernel of its own in PyTorch.
  std::string found;
  for (const Frame* frame = vm.current_frame(); frame && lang::is_library_file(frame->code->code->file());
       frame = frame->back)
    if (std::string refusal = refusal_in(tensor_state(vm), *frame); !refusal.empty()) found = std::move(refusal);
  if (!found.empty()) throw Error(ErrorKind::RuntimeError, found);
  refuse_places(a, b);
}

}  // namespace tsc::interp
