#pragma once
// What is wrong with a source text: collected, never thrown. A diagnostic is data (code, message,
// labels, notes, helps); text and JSON are two renderings of it.
// Knows: Source and Span. Must not know: which stage found the fault.
// Keeps: the message stands alone, in lower case, no full stop; only `help` suggests.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/source.h"

namespace tsc::lang {

// The codes and their one-line meanings are rows of diagnostic_codes.def.
enum class Code : uint16_t {
#define TSC_CODE(id, name, meaning) name = id,
#include "lang/diagnostic_codes.def"
#undef TSC_CODE
};

std::string code_text(Code code);          // "E0101"
std::string_view code_meaning(Code code);  // the row's last column
std::span<const Code> all_codes();

enum class Severity : uint8_t { Error, Warning };

struct Label {
  Span span;
  std::string text;  // may be empty
};

// Whether an edit is what was meant, or may be.
enum class Applicability : uint8_t { MachineApplicable, MaybeIncorrect };

// What stands in the place of the span.
struct Edit {
  Span span;
  std::string text;
};

// A way out that an editor can take by itself. Only the JSON form shows it: people read the help.
struct Fix {
  std::string title;
  Applicability applicability;
  std::vector<Edit> edits;
};

struct Diagnostic {
  Code code;
  Severity severity = Severity::Error;
  std::string message;
  Label primary;                 // ^^^
  std::vector<Label> secondary;  // ---
  std::vector<std::string> notes;
  std::vector<std::string> helps;
  std::vector<Fix> fixes;

  Diagnostic& label(Span span, std::string text);
  Diagnostic& under(std::string text);  // text of the primary label
  Diagnostic& note(std::string text);
  Diagnostic& help(std::string text);
  // What the last help says as edits; without a help, `title` says it.
  Diagnostic& fix(std::vector<Edit> edits, Applicability applicability, std::string title = {});
  Diagnostic& did_you_mean(Span wrong, std::string_view right);
};

// The collector of one run.
class Diagnostics {
 public:
  // The reference lives until the next report.
  Diagnostic& error(Code code, Span span, std::string message);
  Diagnostic& warning(Code code, Span span, std::string message);
  Diagnostic& add(Diagnostic diagnostic);
  bool has_errors() const { return errors_ != 0; }
  size_t error_count() const { return errors_; }
  // More reports are counted, not kept.
  bool is_full() const { return items_.size() >= kMaxKept; }
  // In order of their place in the source once sorted.
  const std::vector<Diagnostic>& all() const { return items_; }
  void sort();
  // The first one that `fits`, or null.
  template <class Fits>
  Diagnostic* find(Fits fits) {
    for (Diagnostic& item : items_)
      if (fits(item)) return &item;
    return nullptr;
  }

 private:
  // A hostile text may hold a fault per byte: beyond this many, faults are counted, not kept.
  static constexpr size_t kMaxKept = 100;
  std::vector<Diagnostic> items_;
  Diagnostic overflow_{};
  size_t errors_ = 0;
};

enum class ErrorFormat : uint8_t { Full, Short };

struct RenderOptions {
  ErrorFormat format = ErrorFormat::Full;
  bool color = false;
  unsigned width = 100;  // columns of the terminal: longer source lines are cut around the caret
};

std::string render(const Diagnostic& diagnostic, const Source& source, const RenderOptions& options = {});
std::string render_all(const Diagnostics& diagnostics, const Source& source, const RenderOptions& options = {});
// One JSON object in the shape of an LSP Diagnostic (0-based lines, UTF-16 columns).
std::string render_json(const Diagnostic& diagnostic, const Source& source);
// {"title", "applicability", "edits": [{"range", "newText"}]}; the diagnostic's JSON holds these too.
std::string render_json(const Fix& fix, const Source& source);

// The candidate nearest to `word` by edit distance (swaps count one, case differences less), or
// empty when none is near enough to be worth suggesting.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace tsc::lang
