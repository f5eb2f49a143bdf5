"""What the peers share that do not run PyTorch source: the inputs by formula (as programs/_prelude.tsc makes them), and
the conversation with the driver of `./dev bench`.

usage: *_peer.py MODE THREADS SMALL PRELUDE PROGRAM EPILOGUE
The driver reads "ready" with the milliseconds of the first step and the sum of its answer, or "none" with the reason;
then it writes "run N" as often as it likes and reads the milliseconds of each step.
"""
import pathlib
import sys
import time

import numpy as np

threads = int(sys.argv[2])
SMALL = sys.argv[3] == "1"
program = pathlib.Path(sys.argv[5]).stem
answers = sys.stdout
sys.stdout = sys.stderr


class Missing(Exception):
    """This peer does not run this program; the text says why."""


def size(full, small):
    return small if SMALL else full


def values(seed, *shape):
    """Numbers between -1 and 1, equal to those of `values` in programs/_prelude.tsc."""
    count = int(np.prod(shape))
    numbers = (np.arange(count, dtype=np.int64) * 1103515245 + seed * 12345 + 1) % 2147483647
    for factor in (48271, 16807):
        numbers = (numbers ^ (numbers >> 15)) * factor % 2147483647
    return (numbers / 1073741823.5 - 1.0).astype(np.float32).reshape(shape)


def say(*words):
    print(*words, file=answers, flush=True)


def timed(step):
    start = time.perf_counter()
    answer = step()
    return (time.perf_counter() - start) * 1000, answer


def serve(programs):
    """Answers the driver. `programs`: a function by program's name that prepares the inputs and returns the step, a
    function that returns its answer, complete, as something NumPy can read."""
    try:
        if program not in programs:
            raise Missing(f"there is no {program} for this peer")
        step = programs[program]()
        milliseconds, answer = timed(step)
        total = np.abs(np.asarray(answer, dtype=np.float64)).sum()
    except Exception as error:  # the reason stands in the driver's table
        reason = str(error).split("\n")[0]
        say("none", reason if isinstance(error, Missing) else f"{type(error).__name__}: {reason}")
        return
    say("ready", milliseconds, total)
    for line in sys.stdin:
        say("ms", *(timed(step)[0] for _ in range(int(line.split()[1]))))
