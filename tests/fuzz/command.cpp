#include "command.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace tsc::fuzz {
namespace {

struct Command {
  CampaignOptions campaign;
  std::string target;
  std::vector<std::string> files;
  bool show = false;
};

int usage(const std::vector<Target>& targets) {
  std::fputs(
      "usage: [--target NAME] [--seconds N] [--cpu-seconds N] [--count N] [--seed N] "
      "[--first N] [--findings FOLDER] [--show] [FILE...]\ntargets:",
      stderr);
  for (const Target& target : targets) std::fprintf(stderr, " %s", target.name.c_str());
  std::fputs("\n", stderr);
  return 2;
}

bool read_command(int count, char** words, Command& command) {
  CampaignOptions& to = command.campaign;
  const std::map<std::string, std::function<void(const char*)>> takers = {
      {"--target", [&](const char* text) { command.target = text; }},
      {"--seconds", [&](const char* text) { to.seconds = std::atof(text); }},
      {"--cpu-seconds", [&](const char* text) { to.cpu_seconds = std::atof(text); }},
      {"--count", [&](const char* text) { to.most = std::strtoull(text, nullptr, 10); }},
      {"--seed", [&](const char* text) { to.seed = std::strtoull(text, nullptr, 10); }},
      {"--first", [&](const char* text) { to.first = std::strtoull(text, nullptr, 10); }},
      {"--findings", [&](const char* text) { to.findings = text; }},
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto taker = takers.find(word);
    if (word == "--show") command.show = true;
    else if (taker != takers.end() && i + 1 < count) taker->second(words[++i]);
    else if (word.starts_with("--")) return false;
    else command.files.push_back(word);
  }
  return true;
}

int try_file(const Target& target, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::fprintf(stderr, "cannot read %s\n", path.c_str()), 2;
  std::ostringstream text;
  text << file.rdbuf();
  const std::string broken = target.run(text.str());
  std::printf("%s: %s: %s\n", target.name.c_str(), path.c_str(), broken.empty() ? "taken well" : broken.c_str());
  return broken.empty() ? 0 : 1;
}

void show(const Target& target, const CampaignOptions& options) {
  for (uint64_t i = 0; i < options.most && i < 1000; ++i) {
    const uint64_t number = options.first + i;
    Random random(options.seed, number);
    std::printf("---- %s %llu\n%s\n", target.name.c_str(), static_cast<unsigned long long>(number),
                target.make(random, number).c_str());
  }
}

}  // namespace

int fuzz_main(int count, char** words, const std::vector<Target>& targets, const CampaignOptions& defaults) {
  Command command;
  command.campaign = defaults;
  if (!read_command(count, words, command)) return usage(targets);
  std::vector<const Target*> chosen;
  for (const Target& target : targets)
    if (command.target.empty() || command.target == target.name) chosen.push_back(&target);
  if (chosen.empty()) return usage(targets);
  command.campaign.seconds /= static_cast<double>(chosen.size());
  command.campaign.cpu_seconds /= static_cast<double>(chosen.size());
  int failed = 0;
  for (const Target* target : chosen) {
    if (command.show) show(*target, command.campaign);
    else if (command.files.empty()) failed += run_campaign(*target, command.campaign);
    else
      for (const std::string& path : command.files) failed += try_file(*target, path);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace tsc::fuzz
