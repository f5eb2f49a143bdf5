#include "lang/character_names.h"

#include <algorithm>

#include "lang/packed_text.h"

namespace tsc::lang {
namespace {

// Syllables of Hangul are named after their letters (The Unicode Standard, 3.12).
constexpr uint32_t kFirstSyllable = 0xAC00, kVowels = 21, kTails = 28, kSyllables = 11172;
constexpr std::string_view kHangul = "HANGUL SYLLABLE ", kIdeograph = "CJK UNIFIED IDEOGRAPH-";
constexpr std::string_view kLeads[] = {"G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                       "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
constexpr std::string_view kVowelNames[kVowels] = {"A",  "AE", "YA", "YAE", "EO", "E",  "YEO", "YE", "O",  "WA", "WAE",
                                                   "OE", "YO", "U",  "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
constexpr std::string_view kTailNames[kTails] = {"",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
                                                 "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
                                                 "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H"};

struct Names {
  struct Named {
    std::string_view name;
    uint32_t character;
  };
  struct Sequence {
    std::string_view name;
    std::vector<uint32_t> characters;
  };
  std::string text;
  std::vector<Named> by_character, by_name;  // the second with the other names
  std::vector<Sequence> sequences;
  std::vector<std::pair<uint32_t, uint32_t>> ideographs;  // from, to
};

void add_line(Names& names, std::string_view line) {
  const size_t middle = line.find(';');
  const std::string_view first = line.substr(1, middle - 1), second = line.substr(middle + 1);
  switch (line[0]) {
    case 'R': names.ideographs.push_back({hexadecimal(first), hexadecimal(second)}); break;
    case 'S': {
      Names::Sequence sequence{second, {}};
      for (size_t at = 0; at < first.size(); at = std::min(first.find(' ', at), first.size() - 1) + 1)
        sequence.characters.push_back(hexadecimal(first.substr(at)));
      names.sequences.push_back(std::move(sequence));
      break;
    }
    case 'N': names.by_character.push_back({second, hexadecimal(first)}); [[fallthrough]];
    default: names.by_name.push_back({second, hexadecimal(first)});
  }
}

Names unpacked() {
  Names names;
  names.text = kPackedNames.unpacked();
  each_line(names.text, [&](std::string_view line) { add_line(names, line); });
  std::sort(names.by_name.begin(), names.by_name.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return names;
}

const Names& all() {
  static const Names* names = new Names(unpacked());  // views look into it for ever
  return *names;
}

bool is_ideograph(uint32_t character) {
  const auto& ranges = all().ideographs;
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& range) { return range.first <= character && character <= range.second; });
}

std::string upper(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

// The longest of the parts that the text begins with, which is taken from it.
template <size_t count>
std::optional<uint32_t> take_part(const std::string_view (&parts)[count], std::string_view& text) {
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < count; ++i)
    if (text.starts_with(parts[i]) && (!best || parts[i].size() > parts[*best].size())) best = i;
  if (best) text.remove_prefix(parts[*best].size());
  return best;
}

std::optional<uint32_t> syllable_named(std::string_view letters) {
  const auto lead = take_part(kLeads, letters), vowel = take_part(kVowelNames, letters),
             tail = take_part(kTailNames, letters);
  if (!lead || !vowel || !tail || !letters.empty()) return std::nullopt;
  return kFirstSyllable + (*lead * kVowels + *vowel) * kTails + *tail;
}

}  // namespace

bool has_character_names() { return kPackedNames.bytes != 0; }

std::optional<uint32_t> character_named(std::string_view given) {
  const std::string name = upper(given);
  if (name.starts_with(kHangul)) return syllable_named(std::string_view(name).substr(kHangul.size()));
  if (name.starts_with(kIdeograph)) {
    const std::string_view digits = std::string_view(name).substr(kIdeograph.size());
    const bool has_form =
        (digits.size() == 4 || digits.size() == 5) && digits.find_first_not_of("0123456789ABCDEF") == digits.npos;
    const uint32_t character = hexadecimal(digits);
    return has_form && is_ideograph(character) ? std::optional(character) : std::nullopt;
  }
  const auto& names = all().by_name;
  const auto found = std::lower_bound(names.begin(), names.end(), name,
                                      [](const auto& one, const std::string& n) { return one.name < n; });
  return found != names.end() && found->name == name ? std::optional(found->character) : std::nullopt;
}

std::vector<uint32_t> sequence_named(std::string_view given) {
  const std::string name = upper(given);
  for (const Names::Sequence& sequence : all().sequences)
    if (sequence.name == name) return sequence.characters;
  return {};
}

std::string name_of_character(uint32_t character) {
  if (const uint32_t at = character - kFirstSyllable; at < kSyllables)
    return std::string(kHangul)
        .append(kLeads[at / kTails / kVowels])
        .append(kVowelNames[at / kTails % kVowels])
        .append(kTailNames[at % kTails]);
  if (is_ideograph(character)) {
    char digits[12];
    std::snprintf(digits, sizeof digits, "%04X", character);
    return std::string(kIdeograph) + digits;
  }
  const auto& names = all().by_character;
  const auto found = std::lower_bound(names.begin(), names.end(), character,
                                      [](const auto& one, uint32_t c) { return one.character < c; });
  return found != names.end() && found->character == character ? std::string(found->name) : "";
}

}  // namespace tsc::lang
