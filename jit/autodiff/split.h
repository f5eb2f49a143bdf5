#pragma once
// The backward of a region as a region of its own: for a compiled forward whose backward() is called
// later, from the interpreter. The forward hands over `saved`; nothing else of it stays alive.
// Saved are the values that gradient rules read (what the eager tape would save), minus those that can
// be made again cheaply from other saved ones: views, constants, masks, simple arithmetic. What a broadcast
// repeats is saved instead of what is made of it, and so is the operand of save_for_backward: a layer norm
// saves its input and the means of the rows, not the centred input.
// Knows regions and gradients; no tape: the embedder wraps the call in a TapeNode.
#include <vector>

#include "jit/autodiff/gradient.h"

namespace tsc::jit {

struct SplitBackward {
  // Inputs: the saved values in order, then one gradient for each present output, then those of `taking`.
  // exit #0(the gradients of those wrt values that are connected, then the conditions)
  Region backward;
  std::vector<ValueId> saved;  // values of the forward: tensors first, then scalars
  std::vector<int> gradients;  // for each wrt value: its place among the exit's values, or -1
  std::vector<size_t> parts;   // instead, with `reachable`: for each of the exit's values, its wrt value
  // The wrt values that loops contribute to: an input each, what has arrived there so far, which its only part goes on
  // from.
  std::vector<size_t> taking;
  // Those of the parts that arrive in some runs alone, by place, and where among the exit's values the Bool is that
  // says it: Contribution::holds.
  std::vector<std::pair<size_t, size_t>> conditions;
  std::vector<ValueId> saving;  // and: first results of the forward's ops whose rules read saved values
  // Places among `saved` of tensors that must be unwritten though the backward does not read them: what a library
  // function saves in PyTorch (save_for_backward with mode 1) and the program can get hold of.
  std::vector<size_t> checked;
  // Inspected values of the forward and the copies of their whole gradients in `backward`, in the order in which these
  // become known.
  std::vector<InspectedGradient> inspected;
};

// `forward` is a finished region, or one still growing whose exit will stand at its end. `present` says
// which outputs have a gradient (empty: all); `saved` of a call with all present serves every subset:
// pass it back as `keep` and the result saves exactly these. `reachable` is given for a call's history: the
// values that the program can get hold of once the call is over. They are never made again, because a write
// to one before backward() must be the error that it is without compiling; and contributions to the wrt
// values stay apart, in the order of the eager tape (see append_backward_parts); those of a subset of the
// outputs are a subsequence of those of all. With `add_up` each wrt value has one, their sum. `inspected`, and wrt
// values that are kNoValue: see there.
SplitBackward split_backward(const Region& forward, std::span<const ValueId> outputs, std::span<const ValueId> wrt,
                             const ValueSet& stops = {}, const std::vector<bool>& present = {},
                             const std::vector<ValueId>* keep = nullptr, const ValueSet* reachable = nullptr,
                             bool add_up = false, const InspectedValues& inspected = {});

// Gives the loop or branch that is instruction number `place` the results that backwards will read, whichever of
// `results` gradients arrive at and wherever they go. False: it is one that gradients cannot be computed through, and
// stays what it is, and `why` says the reason.
bool prepare_backward(Region& region, size_t place, std::span<const ValueId> results, std::span<const ValueId> wrt,
                      const ValueSet& stops, std::string* why = nullptr);

}  // namespace tsc::jit
