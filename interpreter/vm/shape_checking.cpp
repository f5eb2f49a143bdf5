#include "interpreter/vm/shape_checking.h"

namespace tsc::interp {
namespace {

const char kKey = 0;

}  // namespace

ShapeChecking* shape_checking(Vm& vm) { return static_cast<ShapeChecking*>(vm.extension(&kKey).get()); }

void set_shape_checking(Vm& vm, ShapeChecking checking) {
  vm.extension(&kKey) = std::make_shared<ShapeChecking>(std::move(checking));
}

}  // namespace tsc::interp
