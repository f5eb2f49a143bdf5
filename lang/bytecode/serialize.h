#pragma once
// CodeObject <-> bytes: what the build stores of the standard library beside its source text, so
// that an import need not compile. Knows: the tables of a CodeObject. Must not know: files,
// modules, who keeps the bytes. Keeps: the bytes name the format, the instruction set and the
// source text they were made of, and carry a checksum; they are the same on every machine. Analyses
// (control flow, liveness, content hash) are not stored: they are made on demand, as for compiled
// code.
#include <memory>
#include <string>
#include <string_view>

#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

// The module's code and all codes inside it. `module.source` must be set.
std::string serialize(const CodeObject& module);

struct DeserializeResult {
  CodeRef code;       // null when the bytes cannot be used
  std::string error;  // then why: one sentence
};

// The code again, standing in `source`. Refused are bytes of another format or instruction set, of
// another text than the source's, damaged ones, and tables that refer to what is not there; nothing
// is read beyond `bytes`, whatever they hold, and no table is made longer than the bytes that are
// left. The checksum finds damage, not malice: bytes from strangers are no bytecode to run.
DeserializeResult deserialize(std::string_view bytes, std::shared_ptr<const Source> source);

// The same for bytes that the program carries, made by its own build from exactly that text: only the
// format is checked, and the codes inside the module's are decoded when their whole() is asked for.
// `bytes` must outlive the code.
DeserializeResult deserialize_own(std::string_view bytes, std::shared_ptr<const Source> source);

}  // namespace tsc::lang
