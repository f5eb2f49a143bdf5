#pragma once
// Turns one KernelProgram into one IR function with explicit vectors.
// Knows programs, Lanes, operand access; must not know how IR becomes machine code.
// Keeps: the order of every lane's arithmetic is the program's; a value is a scalar while it is the
// same for all columns and becomes lanes only where it meets lanes.
#include <llvm/IR/Module.h>

#include <functional>
#include <string>
#include <vector>

#include "jit/codegen/op_emitters.h"
#include "jit/codegen/operand_access.h"

namespace tsc::jit {

// Why a program has no GPU form yet; empty when it has one.
std::string grid_obstacle(const KernelProgram& program);

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const KernelProgram& program, const VectorTraits& traits);
  llvm::Function* emit(const std::string& symbol);

 private:
  struct Binding {
    Ir value = nullptr;
    DType dtype = DType::F32;
    bool lanes = false;  // one value a lane, not a scalar
    Ir splat = nullptr;  // the scalar in every lane, made outside the loop that uses it
    Ir first = nullptr;  // of lanes that count up by one: the first
    // Of a divisor (shared_divisor.cpp): 1 / value in every lane, what its rounding took, and whether they may be
    // used.
    Ir inverse = nullptr, inverse_rest = nullptr, is_moderate = nullptr;
  };
  struct Reducer {
    const NestInstruction* instruction;
    Accumulation how;
    Ir lanes = nullptr;  // memory: 64 lane accumulators (times a block of columns)
    // The chunks so far: the value of a row, the memory of a block of columns.
    Ir total = nullptr;
    Ir row = nullptr;  // column programs: the lane of the row that is entered, less the block's
                       // first column
    // The lane accumulators while registers hold them, and the one whose turn it is.
    std::vector<Ir> registers;
    size_t turn = 0;
  };

  void open_function(const std::string& symbol);
  void emit_uniform_values();
  void find_uniform(const std::vector<NestInstruction>& part);
  void prepare_scratch();
  void prepare_splats(const std::vector<NestInstruction>& part, bool uniform);

  // One part at one point. Row parts pass scalar lanes.
  void emit_part(const std::vector<NestInstruction>& part, const Point& point, bool per_row);
  void emit_instructions(const std::vector<NestInstruction>& part, const Point& point, bool per_row);
  void flush_stores();
  void emit_instruction(const NestInstruction& instruction, const Point& point, bool per_row);
  void emit_load(const NestInstruction& instruction, const Point& point);
  void emit_apply(const NestInstruction& instruction, const Point& point);
  void emit_random(const NestInstruction& instruction, const Point& point);
  bool divides_by_shared(const NestInstruction& instruction) const;
  void prepare_divisor(Binding* divisor);
  Ir divide_by_shared(Ir x, const Binding& divisor);
  void define(const NestInstruction& instruction, Ir value, bool lanes);
  Ir in_lanes(NestValue value, const Lanes& lanes);
  bool any_lanes(const NestInstruction& instruction) const;
  Ir constant(const NestInstruction& instruction);
  Ir parameter(const NestInstruction& instruction);

  // Pointwise programs on a GPU (grid_kernel.cpp).
  void emit_grid();

  // Operations of one lane step, as code.
  static int weight(const std::vector<NestInstruction>& part);

  // Row programs (row_kernel.cpp).
  void emit_rows();
  void emit_stage(size_t number);
  Ir emit_whole_registers(const NestStage& stage, Ir begin, Ir end);
  // Two rows at once (joined_rows.cpp).
  bool joins_rows();
  void emit_joined_rows();
  std::vector<const NestInstruction*> handed_over() const;
  void enter_joined_row(Ir row, Ir set);
  void exchange_rows();
  void emit_element(const NestStage& stage, const Point& point);
  size_t asking_stage() const;
  std::vector<uint32_t> rows_read(const NestStage& stage) const;
  void emit_row_stage(const NestStage& stage);
  void collect_reducers(const NestStage& stage);
  bool streams(const NestStage& stage) const;
  void reduce_chunk(const NestStage& stage, Ir begin, Ir end);
  bool fits_registers() const;
  std::vector<Ir*> enter_lane_loop();
  Ir emit_unrolled(const NestStage& stage, Ir begin, Ir end);
  void turn_registers();
  void emit_turning(const NestStage& stage, Ir begin, Ir end, bool all);
  void reduce_in_memory(const NestStage& stage, Ir begin, Ir end);
  void store_lanes(Reducer& reducer);
  void load_lanes(Reducer& reducer);
  Ir combine_lanes(Reducer& reducer);
  void emit_columns(const std::vector<NestInstruction>& part, Ir begin, Ir end, bool peel);
  // `most`: what end - col is at most.
  Point masked_point(Ir col, Ir end, int64_t most);
  template <class Body>
  void emit_masked_loop(Ir begin, Ir end, int64_t most, const std::vector<Ir*>& carried, Body&& body);

  // Column programs (column_kernel.cpp).
  void emit_column_program();
  void emit_column_block(const NestStage& stage, Ir begin, Ir end);
  void enter_column_row(Ir row, Ir begin);
  void fill_column_identity(const Reducer& reducer, Ir is_first, Ir lanes);
  void combine_column_lanes(const Reducer& reducer, Ir lanes);

  void accumulate(const NestInstruction& instruction, const Point& point);
  void accumulate_row(const NestInstruction& instruction, const Point& point);
  Ir accumulator_pointer(const Reducer& reducer, const Point& point);
  Reducer& reducer_of(const NestInstruction& instruction);
  Ir stack_array(DType dtype, int64_t count);

  llvm::Module& module_;
  const KernelProgram& program_;
  VectorTraits traits_;
  llvm::IRBuilder<> b_;
  OperandAccess access_;
  Lanes wide_, scalar_;
  llvm::Function* function_ = nullptr;
  Ir parameters_ = nullptr, rows_ = nullptr, cols_ = nullptr, scratch_ = nullptr;
  std::vector<Binding> bindings_;
  std::vector<bool> uniform_;
  std::vector<Ir> scratch_rows_;
  Ir scratch_end_ = nullptr;  // bytes of the scratch rows
  std::vector<Reducer> reducers_;
  Ir lane_numbers_ = nullptr;  // 0, 1, 2, ... where masks are made of them
  Ir philox_words_ = nullptr;  // memory of emit_philox_run
  // Those of the part at hand, which stand at its end. The processor compares the lower twelve bits of addresses, which
  // large tensors share: a load behind a store to another tensor would wait for it.
  std::vector<std::function<void()>> stores_;
  // The stage that runs on the row before beside the one at hand, and what it sees.
  const NestStage* joined_ = nullptr;
  std::vector<OperandAccess::Place> joined_places_;
  std::vector<Binding> joined_bindings_;
  std::vector<Ir> joined_scratch_, scratch_base_;
  std::vector<uint32_t> next_rows_;  // operands whose next row the element part at hand asks for
};

}  // namespace tsc::jit
