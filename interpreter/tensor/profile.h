#pragma once
// What torch.profiler collects while it is on: operations, runs of compiled regions, backward passes and the
// ranges that a script names, each with its time and what it is part of.
// Knows the clock only. Keeps: when it is off, a null pointer is all that an operation sees of it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/stop.h"

namespace tsc::interp {

class Profile {
 public:
  enum class Kind : uint8_t { Operation, Region, Backward, Range };
  struct Event {
    std::string name;
    Kind kind;
    int64_t begin = 0, end = 0;  // nanoseconds since the profile began; end 0: not over
    int64_t parent = -1;         // the event around it
  };
  static constexpr int64_t kPartOfOther = -1;

  // The event's number. An operation within an operation is part of it.
  int64_t begin(std::string_view name, Kind kind) {
    if (kind == Kind::Operation && current_ >= 0 && events_[current_].kind == Kind::Operation) return kPartOfOther;
    events_.push_back({std::string(name), kind, now(), 0, current_});
    return current_ = static_cast<int64_t>(events_.size()) - 1;
  }
  void end(int64_t event) {
    if (event == kPartOfOther) return;
    events_[event].end = now();
    current_ = events_[event].parent;
  }
  // Ends the innermost range that runs, with what an exception left open in it.
  void end_range() {
    int64_t range = current_;
    while (range >= 0 && events_[range].kind != Kind::Range) range = events_[range].parent;
    if (range >= 0) end(range);
  }
  int64_t now() const { return steady_nanoseconds() - start_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  int64_t start_ = steady_nanoseconds();
  int64_t current_ = -1;
  std::vector<Event> events_;
};

// One event, from here to the end of the scope, when a profile is on.
class ProfileScope {
 public:
  ProfileScope(const std::shared_ptr<Profile>& profile, std::string_view name, Profile::Kind kind) : profile_(profile) {
    if (profile_) [[unlikely]]
      event_ = profile_->begin(name, kind);
  }
  ~ProfileScope() {
    if (profile_) [[unlikely]]
      profile_->end(event_);
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  std::shared_ptr<Profile> profile_;  // a hook may end the profile meanwhile
  int64_t event_ = Profile::kPartOfOther;
};

}  // namespace tsc::interp
