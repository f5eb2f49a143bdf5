#include "lang/character_properties.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "lang/packed_text.h"

namespace tsc::lang {
namespace {

// What the table says of the characters from first to last.
struct Said {
  uint32_t first, last;
  std::string_view what;
};
using Table = std::vector<Said>;

struct Properties {
  std::string text;
  Table decompositions, digits, numbers, widths;
};

Properties unpacked() {
  Properties all;
  all.text = kPackedProperties.unpacked();
  each_line(all.text, [&](std::string_view line) {
    Table& table = line[0] == 'D'   ? all.decompositions
                   : line[0] == 'G' ? all.digits
                   : line[0] == 'V' ? all.numbers
                                    : all.widths;
    const size_t middle = line.find(';'), dots = line.find("..");
    const uint32_t first = hexadecimal(line.substr(1));
    table.push_back({first, dots < middle ? hexadecimal(line.substr(dots + 2)) : first, line.substr(middle + 1)});
  });
  return all;
}

const Properties& all() {
  static const Properties* properties = new Properties(unpacked());  // views look into it for ever
  return *properties;
}

std::string_view said_of(const Table& table, uint32_t character) {
  const auto found =
      std::lower_bound(table.begin(), table.end(), character, [](const Said& one, uint32_t c) { return one.last < c; });
  return found != table.end() && found->first <= character ? found->what : std::string_view();
}

double number_in(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

bool has_character_properties() { return kPackedProperties.bytes != 0; }

std::string_view decomposition_of(uint32_t character) { return said_of(all().decompositions, character); }
std::string_view east_asian_width_of(uint32_t character) { return said_of(all().widths, character); }

std::optional<int> digit_value_of(uint32_t character) {
  const std::string_view value = said_of(all().digits, character);
  return value.empty() ? std::nullopt : std::optional(static_cast<int>(number_in(value)));
}

std::optional<double> numeric_value_of(uint32_t character) {
  const std::string_view value = said_of(all().numbers, character);
  if (value.empty()) return std::nullopt;
  const size_t slash = value.find('/');
  return number_in(value) / (slash == value.npos ? 1 : number_in(value.substr(slash + 1)));
}

}  // namespace tsc::lang
