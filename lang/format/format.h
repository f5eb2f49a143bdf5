#pragma once
// The source formatter: one style for every text, comments kept. It works on tokens, not on the
// tree, so nothing but white space, trailing commas and redundant brackets can change; the result
// is parsed again and must have the same tree.
// Knows: tokens, layout, parse. Must not know: files, scopes.
// Keeps: format(format(x)) == format(x); AST(format(x)) == AST(x). docs/tools.md describes the
// style.
#include <cstdint>
#include <string>

#include "lang/diagnostic.h"
#include "lang/source.h"

namespace tsc::lang {

inline constexpr uint32_t kFormatWidth = 100;

struct FormatOptions {
  uint32_t width = kFormatWidth;  // columns a line may have where a break can help it
};

struct FormatResult {
  // False: the text is no program (see diagnostics) and `text` is empty.
  bool ok = false;
  std::string text;
  Diagnostics diagnostics;
};

FormatResult format(const Source& source, const FormatOptions& options = {});

}  // namespace tsc::lang
