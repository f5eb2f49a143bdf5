#!/usr/bin/env python3
"""PyTorch reads what torch.save of this project wrote: `read_saved.py TENSCRIPT`. Exits with 77 (skipped) without PyTorch."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("PyTorch is not installed: nothing to compare with")
    sys.exit(77)

WRITE = """
import collections, sys, torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
optimizer = torch.optim.Adam(model.parameters())
model(torch.arange(6.0).reshape(2, 3)).sum().backward()
optimizer.step()
base = torch.arange(12)
saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "base": base, "view": base[2:8:2],
         "t": base.reshape(3, 4).t(), "none": torch.zeros(0, 3), "scalar": torch.tensor(True), "size": torch.Size([1, 2]),
         "dtype": torch.float32, "device": torch.device("cpu"), "set": {1, 2}, "numbers": [2**40, -5, 1.5, True, None],
         "bytes": b"ab\\xff", "text": "\\u00e9", "tuple": (1, 2, 3, 4), "half": torch.ones(2, dtype=torch.bfloat16),
         "parameter": nn.Parameter(torch.ones(2)), "ordered": collections.OrderedDict(a=1), "many": {i: str(i) for i in range(300)}}
saved["self"] = saved
torch.save(saved, sys.argv[1])
print(float(sum([p.double().sum() for p in model.parameters()])))
"""

with tempfile.TemporaryDirectory() as folder:
    script, path = pathlib.Path(folder) / "write.tsc", pathlib.Path(folder) / "saved.pt"
    script.write_text(WRITE)
    total = float(subprocess.run([sys.argv[1], script, path], check=True, capture_output=True, text=True).stdout)
    for options in ({}, {"mmap": True}, {"weights_only": False}):
        saved = torch.load(path, **options)
        assert saved["self"] is saved
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        print(model.load_state_dict(saved["model"]))
        assert sum(p.double().sum() for p in model.parameters()).item() == total
        torch.optim.Adam(model.parameters()).load_state_dict(saved["optimizer"])
        saved["base"][4] = 99
        assert saved["view"].tolist() == [2, 99, 6] and saved["t"][0, 1] == 99 and saved["t"].stride() == (1, 4)
        assert saved["none"].shape == (0, 3) and saved["scalar"].item() is True and saved["half"].dtype is torch.bfloat16
        assert saved["size"] == torch.Size([1, 2]) and saved["dtype"] is torch.float32 and saved["device"].type == "cpu"
        assert saved["set"] == {1, 2} and saved["numbers"] == [2**40, -5, 1.5, True, None] and saved["bytes"] == b"ab\xff"
        assert saved["text"] == "\u00e9" and saved["tuple"] == (1, 2, 3, 4) and saved["ordered"] == {"a": 1}
        assert isinstance(saved["parameter"], torch.nn.Parameter) and saved["many"] == {i: str(i) for i in range(300)}
