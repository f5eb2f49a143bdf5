#include "runtime/tensor/tensor.h"

int main() { return tsc::Tensor::empty(tsc::DType::F32, {2, 3}).numel() == 6 ? 0 : 1; }
