#pragma once
// Runs the executable as a person would and hands its output back.
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "process.h"

namespace tsc::test {

inline ProcessResult tenscript(std::vector<std::string> arguments, const std::string& input = "",
                               const std::string& folder = "") {
  ProcessOptions options;
  options.arguments = std::move(arguments);
  options.arguments.insert(options.arguments.begin(), TENSCRIPT_EXECUTABLE);
  options.environment = {{"NO_COLOR", "1"}, {"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", "off"}};
  options.input = input;
  options.folder = folder;
  return run_process(options);
}

inline bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace tsc::test
