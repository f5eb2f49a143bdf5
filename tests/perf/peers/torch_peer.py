"""One PyTorch column of `./dev bench`: runs a benchmark program, which is PyTorch source, and answers the driver.

usage: torch_peer.py MODE THREADS SMALL PRELUDE PROGRAM EPILOGUE
MODE is eager (torch.compile switched off, the fused Adam), compile, or max-autotune. The driver reads "ready" with the
milliseconds of the first step and the sum of its answer, then writes "run N" as often as it likes.
"""
import functools
import sys

mode, threads, small, prelude, program, epilogue = sys.argv[1:]
answers = sys.stdout
sys.stdout = sys.stderr
try:
    import torch
except ImportError as error:
    print(f"none this Python has no PyTorch: {error}", file=answers, flush=True)
    sys.exit(0)

torch.set_num_threads(int(threads))
if mode == "eager":
    torch.compile = lambda function, **options: function
    torch.optim.Adam = functools.partial(torch.optim.Adam, fused=True)
    torch.optim.AdamW = functools.partial(torch.optim.AdamW, fused=True)
elif mode == "max-autotune":
    torch.compile = functools.partial(torch.compile, mode="max-autotune")

names = {"SMALL": small == "1", "__name__": "__main__"}
try:
    for path in (prelude, program, epilogue):
        with open(path, encoding="utf-8") as text:
            exec(compile(text.read(), path, "exec"), names)
    milliseconds, total = names["bench_first"]()
except Exception as error:  # the reason stands in the driver's table
    print("none", type(error).__name__, str(error).split("\n")[0], file=answers, flush=True)
    sys.exit(0)
print("ready", milliseconds, total, file=answers, flush=True)
for line in sys.stdin:
    count = int(line.split()[1])
    print("ms", *names["bench_run"](count), file=answers, flush=True)
