#pragma once
// The text of a tensor: PyTorch's repr, character for character, with torch.set_printoptions' settings.
// Knows tensors only; what a script object adds (requires_grad, grad_fn) comes in as a suffix.
#include <optional>
#include <string>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace tsc {

struct PrintOptions {
  int precision = 4;
  int64_t threshold = 1000;  // more elements than this are summarised
  int64_t edge_items = 3;
  int64_t line_width = 80;
  std::optional<bool> scientific;    // empty: chosen from the values
  DType default_dtype = DType::F32;  // floating tensors of another dtype name it
};

// "tensor([1., 2.])"; `suffix`, if not empty, is one more item such as "requires_grad=True".
std::string tensor_repr(const Tensor& x, std::string_view suffix = {}, const PrintOptions& options = {});

}  // namespace tsc
