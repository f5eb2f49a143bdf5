#pragma once
// The instruction handlers' table: a row for each instruction of the language, in one of the tables below. One that
// capture does not follow is among those that steps.cpp refuses, and ends the region in front of it; one that is
// nowhere fails the build (the counts below).
#include <span>

#include "interpreter/capture/capture.h"

namespace tsc::interp {

struct StepRow {
  lang::Op op;
  StepHandler handler;
};

inline constexpr size_t kObjectSteps = 44, kMatchSteps = 4;
std::span<const StepRow> object_step_rows();
std::span<const StepRow> match_step_rows();
StrObject* site_name(Capture& c, uint32_t site);

}  // namespace tsc::interp
