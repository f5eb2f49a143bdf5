#pragma once
// The kernels that the latency and machine-code tests look at: what real models compile most.
#include "kernel_case.h"

namespace tsc::jit {

// gelu(x * a + b) * c; the erf form or the tanh form.
KernelProgram gelu_program(bool tanh_form);
// max, exp(x - max) into a scratch row with its sum, times the sum's reciprocal or divided by the sum.
KernelProgram softmax_program(DType dtype, bool divides = false);
// Two-pass layer norm; parameter 0 is 1 / columns.
KernelProgram layer_norm_program();
// What a layer norm's backward is, with its reductions over the rows; parameter 0 is 1 / columns.
KernelProgram layer_norm_backward_program();
KernelProgram sum_program(DType dtype);
// One step of Adam in place: p, g, m, v.
KernelProgram adam_program();
KernelProgram dropout_program();
KernelProgram column_sum_program();
KernelProgram add_program();

}  // namespace tsc::jit
