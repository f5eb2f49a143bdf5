#pragma once
// What the prompt understands besides the language: x?, x??, %time, %timeit, !command, and what it adds to a
// tensor's value. Knows: the public API. Must not know: line editing.
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/cli/session.h"

namespace tsc::cli {

// Runs the entry when it is one of these forms; false when it is the language's.
// `status` receives what went wrong.
bool run_magic(Session& session, const std::string& entry, tsc_status** status);

// One line about a tensor whose value is shown in part: sizes, dtype, how many nan and inf. Empty
// for a small tensor.
std::string tensor_summary(Session& session, tsc_value* value);

// Whether the entry is x? or x??.
bool is_question(std::string_view text);

// Completions that are no names: magic words, inside a string a dict's keys and paths. False when there are none.
bool complete_beyond_names(Session& session, const std::string& text, std::size_t cursor, std::size_t& begin,
                           std::vector<std::string>& names);

}  // namespace tsc::cli
