// Structures a million levels deep: every operation on them ends with a result or a RecursionError, and they
// are freed, on a stack of 8 MiB and on one of 512 KiB.
#include "run_tenscript.h"

// ThreadSanitizer counts at most 65,536 calls in each other and does not survive more; one thread runs here.
#ifndef __SANITIZE_THREAD__

using namespace tsc::test;

namespace {

const char* const kProgram = R"(
import copy, functools, itertools, collections

N = 1000000

class Node:
    def __init__(self, next):
        self.next = next

def chain_exception(previous):
    error = ValueError("x")
    error.__context__ = previous
    return error

def closure(f):
    return lambda: f()

def generator(g):
    return (x for x in g)

makers = {
    "list": (list, lambda x: [x]), "dict": (dict, lambda x: {"k": x}), "tuple": (tuple, lambda x: (x,)),
    "object": (object, Node), "exception": (lambda: None, chain_exception), "closure": (lambda: len, closure),
    "generator": (lambda: iter([1]), generator), "map": (lambda: iter([1]), lambda x: map(abs, x)),
    "chain": (lambda: iter([1]), itertools.chain), "partial": (lambda: len, lambda f: functools.partial(print, f)),
    "deque": (collections.deque, lambda x: collections.deque([x])), "slice": (lambda: None, slice),
    "view": (dict, lambda x: {"k": x.items()}), "method": (lambda: Node(None), lambda x: Node(x.__init__)),
}
operations = {
    "repr": repr, "hash": hash, "copy": copy.copy, "deepcopy": copy.deepcopy, "next": next, "call": lambda x: x(),
    "compare": lambda x: x == x.__class__ or x < x, "format": "{}".format, "in": lambda x: 5 in x, "raise": lambda x: (_ for _ in ()).throw(x),
}
for name, (start, wrap) in makers.items():
    value = start()
    for _ in range(N):
        value = wrap(value)
    results = []
    for operation, run in operations.items():
        try:
            run(value)
        except RecursionError:
            results.append(operation)
        except (TypeError, AttributeError, ValueError):
            pass
    del value
    print(name, *results, flush=True)
one, other = [], []
for _ in range(N):
    one, other = [one], [other]
try:
    print(one == other)
except RecursionError as error:
    print("compared:", type(error).__name__)
del one, other
print("done")
)";

// What ends with RecursionError.
const char* const kExpected =
    "list repr deepcopy format\n"
    "dict repr deepcopy format\n"
    "tuple repr hash deepcopy format\n"
    "object deepcopy\n"
    "exception\n"
    "closure call\n"
    "generator next\n"
    "map deepcopy next in\n"
    "chain deepcopy next in\n"
    "partial repr deepcopy call format\n"
    "deque repr deepcopy format\n"
    "slice repr format\n"
    "view repr format\n"
    "method deepcopy\n"
    "compared: RecursionError\n"
    "done\n";

ProcessResult run_on_stack(const std::string& script, int kibibytes) {
  ProcessOptions options;
  options.arguments = {"/bin/sh", "-c", "ulimit -s " + std::to_string(kibibytes) + "; exec \"$0\" \"$1\"",
                       TENSCRIPT_EXECUTABLE, script};
  options.environment = {{"TENSCRIPT_CACHE_DIR", "off"}};
  options.seconds = 600;  // a sanitizer on busy cores takes minutes
  return run_process(options);
}

}  // namespace

TEST_CASE("a million levels: results or RecursionError, and freed, on small stacks too") {
  TemporaryFolder folder;
  const std::string script = folder.write("deep.tsc", kProgram);
  for (const int kibibytes : {8192, 512}) {
    const ProcessResult result = run_on_stack(script, kibibytes);
    INFO(kibibytes << " KiB: " << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == kExpected);
  }
}
#endif
