// Keys chosen to share places of a hash table cost no more than other keys.
#include "run_tenscript.h"

using namespace tsc::test;

namespace {

// Prints for each family of keys whether filling and reading a dict took at most four times the time that keys of the
// same type without any plan take: flooding would take a thousand times as long, and what shares the caches with the
// test twice.
const char* const kProgram = R"(
import random, time

N = 60000
rng = random.Random(7)

def cost(keys):
    begin = time.perf_counter()
    table = dict.fromkeys(keys)
    for key in keys:
        table[key]
    len({*keys})
    return time.perf_counter() - begin

plain_ints = [rng.getrandbits(62) for _ in range(N)]
plain_floats = [rng.random() for _ in range(N)]
plain_tuples = [(rng.getrandbits(62), rng.getrandbits(62)) for _ in range(N)]
plain_texts = [str(key) for key in plain_ints]
plain_sets = [frozenset(pair) for pair in plain_tuples]
M = (1 << 61) - 1
families = {
    "high bits": (plain_ints, [i << 32 for i in range(N)]),
    "higher bits": (plain_ints, [i << 46 for i in range(N)]),
    "powers of two apart": (plain_ints, [i << 20 for i in range(N)]),
    "negative": (plain_ints, [-(i << 34) for i in range(N)]),
    "around the modulus": (plain_ints, [i % 4 * M + (i << 30) % M for i in range(N)]),
    "floats": (plain_floats, [float(i << 40) for i in range(N)]),
    "small floats": (plain_floats, [i * 2.0 ** -60 for i in range(N)]),
    "tuples": (plain_tuples, [(i << 32, 0) for i in range(N)]),
    "pairs of one sum": (plain_tuples, [(i, N - i) for i in range(N)]),
    "texts": (plain_texts, ["\0" * (i % 100) + str(i) for i in range(N)]),
    "sets": (plain_sets, [frozenset((i << 33, i << 40)) for i in range(N)]),
}
for name, (plain, crafted) in families.items():
    for attempt in range(8):
        usual = min(cost(plain) for _ in range(3))
        flooded = min(cost(crafted) for _ in range(3))
        if flooded <= 4 * usual:
            break
    print(name, "ok" if flooded <= 4 * usual else f"{flooded / usual:.1f} times as long")
)";

}  // namespace

TEST_CASE("hash flooding costs at most four times the time") {
  TemporaryFolder folder;
  const ProcessResult result = tenscript({folder.write("t.tsc", kProgram)});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out ==
        "high bits ok\nhigher bits ok\npowers of two apart ok\nnegative ok\naround the modulus ok\nfloats ok\n"
        "small floats ok\ntuples ok\npairs of one sum ok\ntexts ok\nsets ok\n");
}
