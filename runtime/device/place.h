#pragma once
// Where elements lie: in the memory of the process, nowhere (device "meta", which has shapes alone), or in the memory
// of a device by its number. One byte, so that a tensor's place is a test of one byte.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tsc {

class Place {
 public:
  constexpr Place() = default;  // the process's memory
  static constexpr Place host() { return {}; }
  static constexpr Place meta() { return Place(1); }
  static constexpr Place device(int index) { return Place(static_cast<uint8_t>(2 + index)); }
  static constexpr Place of_code(uint8_t code) { return Place(code); }
  static constexpr int kMostDevices = 64;

  constexpr bool is_host() const { return code_ == 0; }
  constexpr bool is_meta() const { return code_ == 1; }
  constexpr bool is_device() const { return code_ >= 2; }
  constexpr int index() const { return code_ - 2; }  // of a device
  constexpr uint8_t code() const { return code_; }
  // "cpu", "meta", "cuda": devices have one name, whatever stands behind them.
  std::string_view type() const { return is_host() ? "cpu" : is_meta() ? "meta" : "cuda"; }
  // "cuda:1"; of the others the type.
  std::string name() const { return is_device() ? "cuda:" + std::to_string(index()) : std::string(type()); }
  bool operator==(const Place&) const = default;

 private:
  explicit constexpr Place(uint8_t code) : code_(code) {}
  uint8_t code_ = 0;
};

}  // namespace tsc
