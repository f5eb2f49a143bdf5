#pragma once
// All rooms of one capture, in one place: what a file includes that reaches most of them (the handlers of instructions
// and the symbolic forms of natives). A room itself includes the headers of those it calls.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/entry/size_checks.h"
#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/guesses.h"
#include "interpreter/capture/program/loops.h"
#include "interpreter/capture/program/raising.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/program/turn_conditions.h"
#include "interpreter/capture/program/turn_items.h"
#include "interpreter/capture/program/turn_values.h"
#include "interpreter/capture/program/while_loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/values/texts.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/capture/written/writes.h"

namespace tsc::interp {

struct House {
  House(Capture& capture, Vm& vm, CaptureMemory& memory);
  ~House();

  TensorState& tensor_state;
  jit::Region region;
  CaptureBuilder builder;
  RegionPlan plan;
  Modes modes;
  uint32_t objects_made = 0;
  std::vector<std::weak_ptr<Virtual>> rings;

  Rooms rooms;
  Frames frames;
  Calls calls;
  Raising raising;
  Loops loops;
  RolledLoops rolled;
  TurnItems turn_items;
  TurnConditions turn_conditions;
  TurnValues turn_values;
  WhileLoops whiles;
  RepeatedCalls repeats;
  Guesses guesses;
  Forks forks;
  SharedMemory shared_memory;
  Cells cells;
  Inputs inputs;
  Structures structures;
  Overlay overlay;
  Effects effects;
  Writes writes;
  Tensors tensors;
  Shapes shapes;
  Gradients gradients;
  Numbers numbers;
  Operators operators;
  Attributes attributes;
  Containers containers;
  Iterators iterators;
  Texts texts;
  Conditions conditions;
  SizeChecks size_checks;
  Exits exits;
};

}  // namespace tsc::interp
