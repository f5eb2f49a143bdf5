#pragma once
// Exits: where the region is left, by a return or because the interpreter must go on in the middle. From abstract
// values to recipes: what an exit or a host instruction needs to build real script values and frames at run time.
// Defined in exits.cpp.
#include <unordered_map>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

struct AFrame;
struct CaptureResult;

// Collects the objects and live region values that a set of recipes refers to.
// Whether the code may ask for its variables by name: then those that nothing reads any more are kept too.
bool shows_variables(const lang::CodeObject& code);

class RecipeWriter {
 public:
  RecipeWriter(Capture& capture, Materials& materials) : capture_(capture), materials_(materials) {}
  Recipe write(const Av& av);
  Recipe live(ValueId id);
  // `loss.detach()` is a view of `loss`, which would leave with its history and everything its backward
  // saves. After `defer_detached` such a view waits until `write_detached`, at the end: when nothing else
  // leaves that shares its memory, nobody can tell it from a tensor of its own.
  void defer_detached() { defers_detached_ = true; }
  void write_detached();
  // Region values whose tensors need a gradient history, and the objects that hold them.
  std::vector<ValueId> history_values;
  std::vector<uint32_t> history_objects;

 private:
  Recipe write_virtual(const VirtualRef& object);
  void fill_tensor(VTensor& tensor, ObjectRecipe& recipe);
  void fill(const Virtual& object, ObjectRecipe& recipe);
  void fill_dict(const VDict& dict, ObjectRecipe& recipe);
  void fill_instance(const VInstance& instance, ObjectRecipe& recipe);
  void fill_function(const VFunction& function, ObjectRecipe& recipe);
  void fill_partial(const VPartial& partial, ObjectRecipe& recipe);
  void fill_iterator(const VIterator& iterator, ObjectRecipe& recipe);
  void write_all(const std::vector<Av>& items, ObjectRecipe& recipe);

  Capture& capture_;
  Materials& materials_;
  std::unordered_map<uint32_t, uint32_t> indices_;  // object number -> index
  std::unordered_map<ValueId, uint32_t> live_;
  bool defers_detached_ = false;
  std::vector<std::pair<uint32_t, VTensor*>> detached_;  // index of the object
};

class Exits : private Room {
 public:
  explicit Exits(const Rooms& rooms) : Room(rooms) {}
  void leave_returning(const Av& result);
  void leave_resuming(const BreakHere& reason);
  // The region is whole: its conditions go in front, and what turned out to be wrong of it makes capture start again.
  CaptureResult finish();

 private:
  void add(ExitPlan& plan, RecipeWriter& writer);
  ExitFrame write_frame(const AFrame& frame, bool innermost, RecipeWriter& writer);
};

}  // namespace tsc::interp
