#pragma once
// All rooms of one capture, in one place: what a file includes that reaches most of them (the handlers of instructions and the
// symbolic forms of natives). A room itself includes the headers of those it calls.
#include "interpreter/capture/attributes.h"
#include "interpreter/capture/calls.h"
#include "interpreter/capture/capture.h"
#include "interpreter/capture/cells.h"
#include "interpreter/capture/conditions.h"
#include "interpreter/capture/containers.h"
#include "interpreter/capture/effects.h"
#include "interpreter/capture/exits.h"
#include "interpreter/capture/frames.h"
#include "interpreter/capture/gradients.h"
#include "interpreter/capture/inputs.h"
#include "interpreter/capture/iterators.h"
#include "interpreter/capture/numbers.h"
#include "interpreter/capture/operators.h"
#include "interpreter/capture/overlay.h"
#include "interpreter/capture/repeated_calls.h"
#include "interpreter/capture/shapes.h"
#include "interpreter/capture/size_checks.h"
#include "interpreter/capture/structures.h"
#include "interpreter/capture/tensors.h"
#include "interpreter/capture/texts.h"
#include "interpreter/capture/writes.h"

namespace tsc::interp {

struct House {
  House(Capture& capture, Vm& vm, CaptureMemory& memory);

  TensorState& tensor_state;
  jit::Region region;
  CaptureBuilder builder;
  RegionPlan plan;
  Modes modes;
  uint32_t objects_made = 0;

  Rooms rooms;
  Frames frames;
  Calls calls;
  RepeatedCalls repeats;
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
