#pragma once
// The instruction handlers' table. An instruction without a row ends the region in front of it.
#include <span>

#include "interpreter/capture/capture.h"

namespace tsc::interp {

struct StepRow {
  lang::Op op;
  StepHandler handler;
};

std::span<const StepRow> object_step_rows();
std::span<const StepRow> match_step_rows();
StrObject* site_name(Capture& c, uint32_t site);

}  // namespace tsc::interp
