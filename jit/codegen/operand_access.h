#pragma once
// Loads and stores of a kernel's operands at a place of its iteration space.
// Knows operands and Lanes; must not know stages. Keeps: a lane outside the mask touches no memory.
#include <vector>

#include "jit/codegen/lanes.h"
#include "jit/loops/kernel_program.h"

namespace tsc::jit {

// What the instructions of the target offer; one such record for every instruction set.
struct VectorTraits {
  int lanes = 4;               // f32 lanes of a register: the lanes of one step
  bool masked_memory = false;  // masked loads and stores of every element width
  bool grid = false;           // a GPU: a thread an element instead of loops
  bool gathers = false;        // fast gathers and scatters of 4- and 8-byte elements
  bool streams = false;        // stores past the caches, and a fence to order them
  bool asks_ahead = false;     // pointwise loops ask for operands early; else the hardware alone does
};

// One step of a column loop: lanes [col, col + lanes.count()), of which those of `mask` exist.
struct Point {
  Lanes lanes;
  Ir col;             // i64
  Ir limit;           // the number of columns, i64
  Ir mask = nullptr;  // null: every lane exists
};

class OperandAccess {
 public:
  // Where an operand is.
  struct Place {
    Ir base = nullptr, row_stride = nullptr, col_stride = nullptr;
    Ir ahead = nullptr;      // elements to the row that is asked for early; null: none is
    Ir row_ahead = nullptr;  // that row's pointer
    Ir row = nullptr;        // the row's pointer, or the row's integer of an Index operand
  };

  OperandAccess(llvm::IRBuilder<>& builder, const KernelProgram& program, const VectorTraits& traits)
      : b_(builder), program_(program), traits_(traits) {}

  // Reads bases and strides from the argument array; once, in the entry block.
  void enter(Ir arguments);
  // Moves the operands to a row: the calls below refer to it.
  void enter_row(Ir row);
  void enter_first_row();
  // For programs that are at two rows at once.
  std::vector<Place>& places() { return places_; }

  // A Broadcast operand gives a scalar, any other the lanes of the point.
  Ir load(uint32_t slot, const Point& point);
  void store(uint32_t slot, const Point& point, Ir value);
  // The lines of the next row at these columns move up to the second-level cache.
  void ask_for_next_row(uint32_t slot, const Point& point);
  // At the end of the function.
  void leave();
  Ir load_broadcast(uint32_t slot);
  void store_broadcast(uint32_t slot, Ir scalar);

  // Contiguous memory of a dtype: operands, scratch rows and accumulators.
  Ir load_row(DType dtype, Ir pointer, const Point& point);
  void store_row(DType dtype, Ir pointer, const Point& point, Ir value);
  Ir element_pointer(DType dtype, Ir base, Ir index) const;

 private:
  void stream_row(DType dtype, Ir pointer, const Point& point, Ir value);
  void prefetch(DType dtype, Ir row, Ir col);
  Ir load_strided(const Operand& operand, const Place& place, const Point& point);
  void store_strided(const Operand& operand, const Place& place, const Point& point, Ir value);
  Ir lane_pointers(const Operand& operand, const Place& place, const Point& point);
  Ir lane_pointer(const Operand& operand, const Place& place, const Point& point, int lane);
  bool gathers(DType dtype) const { return traits_.gathers && memory_bytes(dtype) >= 4; }

  llvm::IRBuilder<>& b_;
  const KernelProgram& program_;
  VectorTraits traits_;
  std::vector<Place> places_;
  bool asks_ahead_ = false;  // for the columns some way behind those that are loaded
};

}  // namespace tsc::jit
