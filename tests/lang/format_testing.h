#pragma once
// The formatter on small texts, with its laws checked on the way.
#include <string>

#include "catch2/catch.hpp"
#include "lang/format/format.h"

namespace tsc::lang {

// The formatted text; formatting it again must change nothing.
inline std::string formatted(const std::string& text, uint32_t width = kFormatWidth) {
  const FormatResult once = format(Source("test.tsc", text), {width});
  INFO(text << render_all(once.diagnostics, Source("test.tsc", text)));
  REQUIRE(once.ok);
  const FormatResult twice = format(Source("test.tsc", once.text), {width});
  REQUIRE(twice.ok);
  CHECK(twice.text == once.text);
  return once.text;
}

}  // namespace tsc::lang
