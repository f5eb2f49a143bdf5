#pragma once
// The command line that all fuzz programs share:
//   --target NAME   which target (all in turn when left out)
//   --seconds N --cpu-seconds N --count N   when to end
//   --seed N --first N                      which inputs
//   --findings FOLDER
//   --show           prints the inputs instead of trying them
//   FILE...          tries these files instead of making inputs
#include <vector>

#include "campaign.h"

namespace tsc::fuzz {

int fuzz_main(int count, char** words, const std::vector<Target>& targets, const CampaignOptions& defaults = {});

}  // namespace tsc::fuzz
