#include "lang/error_pages.h"

#include <algorithm>
#include <cctype>

namespace tsc::lang {
namespace {

constexpr std::string_view kFence = "```";

// The lines of a text, without their breaks.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// How often {n} lines stand: the N of "repeat=N", else 1.
size_t repetitions(const std::string& info) {
  const size_t at = info.find("repeat=");
  return at == std::string::npos ? 1 : std::stoul(info.substr(at + 7));
}

// Bytes of Latin-1 for text whose characters it has.
std::string latin1(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) out += text[i];
    else if (i + 1 < text.size())
      out += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F));
  }
  return out;
}

}  // namespace

bool PageExample::has(std::string_view flag) const {
  return (" " + info + " ").find(" " + std::string(flag) + " ") != std::string::npos;
}

std::string PageExample::script() const {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    const bool numbered = line.find("{n}") != std::string_view::npos;
    const size_t count = numbered ? repetitions(info) : 1;
    for (size_t n = 0; n < count; ++n) {
      std::string copy(line);
      if (numbered && count > 1) {
        replace_all(copy, "{indent}", std::string(n, ' '));
        replace_all(copy, "{n}", std::to_string(n));
      }
      out += copy + "\n";
    }
  }
  return has("latin-1") ? latin1(out) : out;
}

std::string_view error_page(Code code) {
  const std::string heading = "## " + code_text(code) + "\n";
  for (const std::string_view text : page_texts) {
    const size_t begin = text.find(heading);
    if (begin == std::string_view::npos) continue;
    const std::string_view rest = text.substr(begin + heading.size());
    return rest.substr(0, rest.find("\n## E"));
  }
  return "";
}

std::vector<PageExample> page_examples(Code code) {
  std::vector<PageExample> examples;
  bool inside = false;
  for (const std::string_view line : lines_of(error_page(code))) {
    if (line.substr(0, 3) == kFence) {
      if (!inside) examples.push_back({std::string(line.substr(3)), ""});
      inside = !inside;
    } else if (inside) {
      examples.back().text += std::string(line) + "\n";
    }
  }
  return examples;
}

std::string render_page(Code code, bool color) {
  const std::string bold = color ? "\x1b[1m" : "", dim = color ? "\x1b[2m" : "", plain = color ? "\x1b[0m" : "";
  std::string out = bold + code_text(code) + " " + std::string(code_name(code)) + plain + ": " +
                    std::string(code_meaning(code)) + "\n";
  bool inside = false, blank = false;
  for (const std::string_view line : lines_of(error_page(code))) {
    if (line.substr(0, 3) == kFence) {
      inside = !inside;
      const size_t count = inside ? repetitions(std::string(line)) : 1;
      if (count > 1) out += dim + "    # the line with {n} stands " + std::to_string(count) + " times" + plain + "\n";
      continue;
    }
    const bool empty = line.empty();
    if (!(empty && blank)) out += (inside && !empty ? "    " : "") + std::string(line) + "\n";
    blank = empty;
  }
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
  return out;
}

std::string_view code_name(Code code) {
  switch (code) {
#define TSC_CODE(id, name, meaning) \
  case Code::name: return #name;
#include "lang/diagnostic_codes.def"
#undef TSC_CODE
  }
  return "";
}

std::optional<Code> find_code(std::string_view text) {
  std::string wanted = lower(text);
  if (!wanted.empty() && wanted[0] == 'e' && wanted.size() > 1 && std::isdigit(static_cast<unsigned char>(wanted[1])))
    wanted.erase(0, 1);
  const bool number =
      !wanted.empty() && wanted.size() <= 4 && wanted.find_first_not_of("0123456789") == std::string::npos;
  for (const Code code : all_codes())
    if (number ? static_cast<int>(code) == std::stoi(wanted) : lower(code_name(code)) == wanted) return code;
  return std::nullopt;
}

std::string nearest_code(std::string_view text) {
  std::vector<std::string> words;
  for (const Code code : all_codes()) {
    words.push_back(code_text(code));
    words.emplace_back(code_name(code));
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  return std::string(nearest_word(text, views));
}

}  // namespace tsc::lang
