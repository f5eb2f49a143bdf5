#pragma once
// The parts of the running side, and what each of them can reach, as in rooms.h:
//
//   requests      what the program asks for of torch.compile: settings, limits, fullgraph
//   entry_checks  whether a variant fits a call
//   runs          one run of a variant: its exits back into frames, its errors, gradient histories
//   watches       stores that make a variant invalid
//   sharing       variants for other objects over the code of one that there is
//   opinions      calls that are run both ways to learn something
//   reports       what the report says, and what is printed
//
// The Compiler (compiler.h) holds them, finds the variant for a call and has a new one made.
#include "interpreter/capture/compiler/variant.h"
#include "interpreter/vm/vm.h"
#include "jit/compile.h"
#include "jit/report.h"

namespace tsc::interp {

class Compiler;
class CompilerReports;
class EntryChecks;
class RegionHost;
class RegionRuns;
class Requests;
class SecondOpinions;
class VariantSharing;
class VariantWatches;
class Materializer;
struct CaptureResult;

struct CompileOptions {
  bool enabled = true;            // --no-jit
  bool break_everywhere = false;  // TENSCRIPT_STRESS_BREAK: every statement leaves its region
  bool strict = false;            // TENSCRIPT_STRICT_COMPILER: an internal fault is an error
  // The first call of a function is interpreted; kernels are compiled beside the program.
  bool background = false;
  // The clock says where the interpreter is faster, and how soon a function that has used up its captures gets another
  // one.
  bool timed = true;
  uint32_t verify_percent = 0;       // --verify: so many of 100 calls are interpreted too and compared
  jit::DiskCacheOptions disk_cache;  // no folder: nothing is kept on disk
  jit::CompileOptions jit;           // passes, code generation
};

struct CompilerParts {
  Compiler& compiler_;
  Vm& vm_;
  CompileOptions& options_;
  CompileDemands& demands_;
  jit::Report& report_;
  Sites& sites_;

  Requests& requests_;
  EntryChecks& entry_checks_;
  RegionRuns& runs_;
  VariantWatches& watches_;
  VariantSharing& sharing_;
  SecondOpinions& opinions_;
  CompilerReports& reports_;
};

class CompilerPart : protected CompilerParts {
 public:
  CompilerPart(const CompilerPart&) = delete;
  CompilerPart& operator=(const CompilerPart&) = delete;

 protected:
  explicit CompilerPart(const CompilerParts& parts) : CompilerParts(parts) {}
};

}  // namespace tsc::interp
