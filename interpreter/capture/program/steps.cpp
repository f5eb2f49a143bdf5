// One handler per instruction: moves, cells, names, arithmetic, jumps. The rest is in steps_objects.cpp.
#include "interpreter/capture/program/steps.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/guesses.h"
#include "interpreter/capture/program/loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/capture/written/writes.h"
#include "interpreter/modules/importer.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {
namespace {

using lang::Instruction;

void step_nop(Capture&, const Instruction&) {}

void step_move(Capture& c, const Instruction& i) { c.frames().write(i.a, c.frames().read(i.b)); }

void step_load_const(Capture& c, const Instruction& i) {
  c.frames().write(i.a, Av::constant(c.frames().frame().code->constants[i.wide()]));
}

void step_clear(Capture& c, const Instruction& i) { c.frames().write(i.a, Av()); }

void step_check_bound(Capture& c, const Instruction& i) { c.frames().read(i.a); }

void step_make_cell(Capture& c, const Instruction& i) {
  auto cell = c.make<VCell>();
  cell->content = c.frames().frame().registers[i.a];
  c.frames().write(i.a, Av::of(cell));
}

Av loaded_cell(Capture& c, const Av& cell) {
  Av content = c.cells().load_cell(cell);
  if (content.is_undefined()) break_here(BreakReason::raises, "NameError: unbound");
  return content;
}

void step_load_cell(Capture& c, const Instruction& i) { c.frames().write(i.a, loaded_cell(c, c.frames().read(i.b))); }

void step_store_cell(Capture& c, const Instruction& i) {
  c.overlay().store_cell(c.frames().read(i.a), c.frames().read(i.b));
}

void step_load_free(Capture& c, const Instruction& i) {
  c.frames().write(i.a, loaded_cell(c, c.frames().frame().closure[i.b]));
}

void step_store_free(Capture& c, const Instruction& i) {
  c.overlay().store_cell(c.frames().frame().closure[i.a], c.frames().read(i.b));
}

void step_load_free_cell(Capture& c, const Instruction& i) { c.frames().write(i.a, c.frames().frame().closure[i.b]); }

void step_load_global(Capture& c, const Instruction& i) {
  c.frames().write(i.a, c.cells().load_global(site_name(c, i.b)));
}

void step_store_global(Capture& c, const Instruction& i) {
  c.overlay().store_global(site_name(c, i.a), c.frames().read(i.b));
}

// ---- arithmetic ----

struct BinaryForm {
  BinaryOp op;
  bool in_place;
  bool constant;
};

Av change_in_place(Capture& c, BinaryOp op, const Av& left, const Av& right) {
  return run_on_stand_ins(
      c, {left, right}, [&](std::span<const Value> v) { return interp::in_place(c.vm(), op, v[0], v[1]); },
      repeat_by(c, left, kBinaryOps[static_cast<int>(op)].in_place));
}

// Of one that is known by identity nothing is known that could change.
bool changes_itself(Capture& c, const Av& av, BinaryOp op) {
  if (!av.is_constant() || !av.value.is_object()) return false;
  return lookup_in_type(type_of(c.vm(), av.value), intern(c.vm(), kBinaryOps[static_cast<int>(op)].in_place).get()) !=
         nullptr;
}

void run_binary(Capture& c, const Instruction& i, BinaryForm form) {
  Av right = form.constant ? Av::constant(c.frames().frame().code->constants[i.c]) : c.frames().read(i.c);
  Av left = c.frames().read(i.b);
  bool tensors = c.tensors().tensor_of(left) || c.tensors().tensor_of(right);
  if (tensors && c.operators().is_script_instance(c.tensors().tensor_of(left) ? right : left))
    return c.frames().write(i.a, c.operators().binary_dunder(form.op, form.in_place, left, right));
  if (form.in_place && c.tensors().tensor_of(left)) {
    std::shared_ptr<VTensor> target = c.tensors().share_tensor(left);
    if (form.op == BinaryOp::MatMul || form.op == BinaryOp::Pow) {
      break_here(BreakReason::instruction, "in-place @ or ** of a tensor");
    }
    Av result = c.operators().binary(form.op, left, right);
    c.gradients().check_in_place(*target, result);
    c.writes().assign(target, result);
    c.frames().write(i.a, left);
    return;
  }
  if (tensors && (form.op == BinaryOp::MatMul || form.op == BinaryOp::Pow))
    return c.calls().call_library(form.op == BinaryOp::MatMul ? "_matmul" : "_pow", {left, right}, i.a);
  if (form.in_place && is_virtual(left, VirtualKind::List) && form.op == BinaryOp::Add) {
    VList* list = as<VList>(left);
    std::vector<Av> more = c.iterators().items_of(right);
    c.effects().write_through(left, "extend", {c.containers().make_tuple_av(more)});
    list->items.insert(list->items.end(), more.begin(), more.end());
    return c.frames().write(i.a, left);
  }
  if (form.in_place && (is_virtual(left, VirtualKind::List) || is_virtual(left, VirtualKind::Dict) ||
                        is_virtual(left, VirtualKind::Set)))
    return c.frames().write(i.a, change_in_place(c, form.op, left, right));
  if (Av result = c.operators().binary_dunder(form.op, form.in_place, left, right); !result.is_undefined())
    return c.frames().write(i.a, result);
  if (form.in_place && changes_itself(c, left, form.op))
    break_here(BreakReason::unknown_object, "an object known by identity is changed in place");
  c.frames().write(i.a, c.operators().binary(form.op, left, right));
}

template <BinaryOp op, bool in_place, bool constant>
void step_binary(Capture& c, const Instruction& i) {
  run_binary(c, i, {op, in_place, constant});
}

template <UnaryOp op>
void step_unary(Capture& c, const Instruction& i) {
  c.frames().write(i.a, c.operators().unary(op, c.frames().read(i.b)));
}

void step_not(Capture& c, const Instruction& i) { c.frames().write(i.a, c.numbers().negated(c.frames().read(i.b))); }

template <CompareOp op, bool constant>
void step_compare(Capture& c, const Instruction& i) {
  Av right = constant ? Av::constant(c.frames().frame().code->constants[i.c]) : c.frames().read(i.c);
  c.frames().write(i.a, c.operators().compare(op, c.frames().read(i.b), right));
}

template <bool negated>
void step_is(Capture& c, const Instruction& i) {
  c.frames().write(i.a, Av::boolean(c.operators().is_identical(c.frames().read(i.b), c.frames().read(i.c)) != negated));
}

template <bool negated>
void step_in(Capture& c, const Instruction& i) {
  c.frames().write(i.a, Av::boolean(c.containers().contains(c.frames().read(i.c), c.frames().read(i.b)) != negated));
}

// ---- jumps ----

// A jump to itself is a loop that does nothing until an interrupt ends it: that is the interpreter's.
void jump(Capture& c, const Instruction& i) {
  const uint32_t target = lang::jump_target(i, c.frames().frame().pc);
  if (target == c.frames().frame().pc) break_here(BreakReason::instruction);
  c.frames().frame().pc = target;
}

void step_jump(Capture& c, const Instruction& i) { jump(c, i); }

void step_jump_back(Capture& c, const Instruction& i) {
  c.loops().end_turn(lang::jump_target(i, c.frames().frame().pc));
  jump(c, i);
}

bool decides(Capture& c, const Av& av) {
  if (av.is_number()) c.loops().note_open_test();
  return c.guesses().decide(av);
}

template <bool wanted>
void step_jump_if(Capture& c, const Instruction& i) {
  if (decides(c, c.frames().read(i.a)) == wanted) jump(c, i);
}

template <bool wanted>
void step_jump_if_none(Capture& c, const Instruction& i) {
  const Av& av = c.frames().read(i.a);
  if (av.kind == Av::Kind::Opaque) break_here(BreakReason::unknown_object);
  if (av.is_none() == wanted) jump(c, i);
}

template <CompareOp op, bool constant>
void step_jump_compare(Capture& c, const Instruction& i) {
  Av right = constant ? Av::constant(c.frames().frame().code->constants[i.b]) : c.frames().read(i.b);
  const bool result = decides(c, c.operators().compare(op, c.frames().read(i.a), right));
  if (result == (i.mode() != 0)) jump(c, i);
}

// ---- imports of what is loaded already ----

void step_import_name(Capture& c, const Instruction& i) {
  ModuleObject* from = c.frames().frame().module.get();
  const std::string_view name = c.frames().frame().code->names[i.b]->view();
  const std::vector<std::string> names = c.vm().importer().looked_up(from, name, i.c);
  if (builtins_of(c.vm(), from->globals) != c.vm().builtins()->globals.get())
    break_here(BreakReason::instruction, "ImportName in text with a __builtins__ of its own");
  for (const std::string& one : names) {
    const Value key = intern(c.vm(), one).value();
    if (c.overlay().has_stored(Value(c.vm().modules()), key))
      break_here(BreakReason::instruction, "ImportName of what the region has put into sys.modules");
    c.cells().assume_unchanged(c.vm().modules(), key);
  }
  if (i.c) c.cells().assume_unchanged(from->globals.get(), intern(c.vm(), "__package__").value());
  const Value last = dict_get(c.vm(), c.vm().modules(), names.back());
  if (last.is_undefined() || last.is_none()) break_here(BreakReason::instruction, "ImportName of " + std::string(name));
  c.frames().write(i.a, Av::constant(c.vm().importer().import_statement(from, name, i.c, i.mode() == 1)));
}

// A name that the module lacks may be that of a module.
void step_import_from(Capture& c, const Instruction& i) {
  const Av module = c.frames().read(i.b);
  StrObject* name = c.frames().frame().code->names[i.c].get();
  const bool is_module = module.is_constant() && is_kind(module.value, Kind::Module);
  if (!is_module || inspect_attribute(c.vm(), module.value, name).found != Found::ModuleGlobal)
    break_here(BreakReason::instruction, "ImportFrom of " + std::string(name->view()));
  c.frames().write(i.a, c.attributes().get_attribute(module, name));
}

// clang-format off
constexpr StepRow kRows[] = {
    {lang::Op::Nop, step_nop},
    {lang::Op::Move, step_move},
    {lang::Op::LoadConst, step_load_const},
    {lang::Op::Clear, step_clear},
    {lang::Op::CheckBound, step_check_bound},
    {lang::Op::MakeCell, step_make_cell},
    {lang::Op::LoadCell, step_load_cell},
    {lang::Op::StoreCell, step_store_cell},
    {lang::Op::LoadFree, step_load_free},
    {lang::Op::StoreFree, step_store_free},
    {lang::Op::LoadFreeCell, step_load_free_cell},
    {lang::Op::ImportName, step_import_name},
    {lang::Op::ImportFrom, step_import_from},
    {lang::Op::LoadGlobal, step_load_global},
    {lang::Op::StoreGlobal, step_store_global},
#define ROW(name, op) {lang::Op::name, step_binary<BinaryOp::op, false, false>}
    ROW(Add, Add), ROW(Sub, Sub), ROW(Mul, Mul), ROW(TrueDiv, TrueDiv),
    ROW(FloorDiv, FloorDiv), ROW(Mod, Mod), ROW(Pow, Pow), ROW(MatMul, MatMul),
    ROW(LShift, LShift), ROW(RShift, RShift), ROW(BitAnd, BitAnd), ROW(BitOr, BitOr),
    ROW(BitXor, BitXor),
#undef ROW
#define ROW(name, op) {lang::Op::name, step_binary<BinaryOp::op, true, false>}
    ROW(InplaceAdd, Add), ROW(InplaceSub, Sub), ROW(InplaceMul, Mul),
    ROW(InplaceTrueDiv, TrueDiv), ROW(InplaceFloorDiv, FloorDiv), ROW(InplaceMod, Mod),
    ROW(InplacePow, Pow), ROW(InplaceMatMul, MatMul), ROW(InplaceLShift, LShift),
    ROW(InplaceRShift, RShift), ROW(InplaceBitAnd, BitAnd), ROW(InplaceBitOr, BitOr),
    ROW(InplaceBitXor, BitXor),
#undef ROW
#define ROW(name, op) {lang::Op::name, step_binary<BinaryOp::op, false, true>}
    ROW(AddK, Add), ROW(SubK, Sub), ROW(MulK, Mul), ROW(TrueDivK, TrueDiv),
    ROW(FloorDivK, FloorDiv), ROW(ModK, Mod), ROW(PowK, Pow),
#undef ROW
#define ROW(name, op) {lang::Op::name, step_binary<BinaryOp::op, true, true>}
    ROW(InplaceAddK, Add), ROW(InplaceSubK, Sub), ROW(InplaceMulK, Mul),
#undef ROW
    {lang::Op::Negative, step_unary<UnaryOp::Negative>},
    {lang::Op::Positive, step_unary<UnaryOp::Positive>},
    {lang::Op::Invert, step_unary<UnaryOp::Invert>},
    {lang::Op::Not, step_not},
#define ROW(name, op) {lang::Op::name, step_compare<CompareOp::op, false>}, \
                      {lang::Op::name##K, step_compare<CompareOp::op, true>}, \
                      {lang::Op::Jump##name, step_jump_compare<CompareOp::op, false>}, \
                      {lang::Op::Jump##name##K, step_jump_compare<CompareOp::op, true>}
    ROW(Lt, Lt), ROW(Le, Le), ROW(Eq, Eq), ROW(Ne, Ne), ROW(Gt, Gt),
    ROW(Ge, Ge),
#undef ROW
    {lang::Op::Is, step_is<false>},
    {lang::Op::IsNot, step_is<true>},
    {lang::Op::In, step_in<false>},
    {lang::Op::NotIn, step_in<true>},
    {lang::Op::Jump, step_jump},
    {lang::Op::JumpBack, step_jump_back},
    {lang::Op::JumpIfTrue, step_jump_if<true>},
    {lang::Op::JumpIfFalse, step_jump_if<false>},
    {lang::Op::JumpIfNone, step_jump_if_none<true>},
    {lang::Op::JumpIfNotNone, step_jump_if_none<false>},
};
// clang-format on

// Left to the interpreter: bodies of classes and modules, and statements on names.
constexpr lang::Op kRefused[] = {
    lang::Op::DeleteCell,     lang::Op::DeleteFree,         lang::Op::DeleteGlobal,     lang::Op::LoadName,
    lang::Op::LoadNameOrFree, lang::Op::StoreName,          lang::Op::DeleteName,       lang::Op::LoadNamespace,
    lang::Op::DeleteAttr,     lang::Op::SetUpdate,          lang::Op::MakeClass,        lang::Op::KeepAnnotations,
    lang::Op::MakeClassEx,    lang::Op::LoadAssertionError, lang::Op::GetYieldFromIter, lang::Op::YieldFrom,
    lang::Op::ImportStar,     lang::Op::PrintExpr,          lang::Op::MatchGroup,       lang::Op::GatherRaised,
};
static_assert(std::size(kRows) + kObjectSteps + kMatchSteps + std::size(kRefused) == lang::kOpCount,
              "each instruction is captured by a row of one of the tables, or refused here");

void step_refused(Capture&, const Instruction& i) {
  break_here(BreakReason::instruction, std::string(lang::op_info(i.op).name));
}

struct StepTable {
  StepHandler handlers[lang::kOpCount] = {};
  explicit StepTable(std::initializer_list<std::span<const StepRow>> tables) {
    for (lang::Op op : kRefused) handlers[static_cast<int>(op)] = step_refused;
    for (std::span<const StepRow> rows : tables)
      for (const StepRow& row : rows) handlers[static_cast<int>(row.op)] = row.handler;
    for (StepHandler handler : handlers) TSC_CHECK(handler, "an instruction that no table names");
  }
};

}  // namespace

StrObject* site_name(Capture& c, uint32_t site) {
  const CodeObject& code = *c.frames().frame().code;
  return code.names[code.code->sites[site].name].get();
}

StepHandler step_handler(lang::Op op) {
  static const StepTable table({kRows, object_step_rows(), match_step_rows()});
  return table.handlers[static_cast<int>(op)];
}

}  // namespace tsc::interp
