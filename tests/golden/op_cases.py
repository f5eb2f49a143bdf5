"""Golden data of the op table: what PyTorch gives for every row of runtime/ops/ops.def.

One case is a call of one primitive: operands, axes, scalars, dtype, mode, and the results. The table at the end says
how each row is written in PyTorch; a row without an entry stops make.py. Two rows have no counterpart there and are
computed from their definition: rng_bits (Philox4x32-10 of the paper) and fma (exact rationals, rounded once).
"""
import itertools
import math
from fractions import Fraction

import torch

F32, F64, BF16, F16 = torch.float32, torch.float64, torch.bfloat16, torch.float16
I64, I32, I16, I8, U8, BOOL = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool
C64, C128 = torch.complex64, torch.complex128
FLOATS = [F32, F64, BF16, F16]
INTEGERS = [I64, I32, I16, I8, U8]
COMPLEX = [C64, C128]
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + [BOOL]
EVERY = ALL + COMPLEX

INF, NAN = math.inf, math.nan
UNARY_EDGES = [0.0, -0.0, 1, -1, 0.5, -0.5, 2.5, -2.5, 1.5, 3, -7.25, 0.1, 0.75, -0.3, 1e-3, 20.5, 80, -80, 1e30, -1e30,
               1e-30, INF, -INF, NAN]
BINARY_EDGES = [0.0, -0.0, 1, -2.5, 3, 0.5, INF, NAN]
INTEGER_EDGES = {I64: [0, 1, -1, 2, -7, 5, 2**63 - 1, -2**63], I32: [0, 1, -1, 2, -7, 5, 2**31 - 1, -2**31],
                 I16: [0, 1, -1, 2, -7, 5, 2**15 - 1, -2**15], I8: [0, 1, -1, 2, -7, 5, 127, -128],
                 U8: [0, 1, 2, 7, 128, 255], BOOL: [0, 1]}
# float16 ends at 65504; the last ones are halfway to it, between two of its numbers below the normal ones, and half
# of the smallest.
HALF_EDGES = [v for v in UNARY_EDGES if abs(v) != 1e30] + [65504, -65504, 65519, 65520, 2.0**-14, 1.5 * 2.0**-24,
                                                            2.5 * 2.0**-24, -2.0**-24, 2.0**-25]
COMPLEX_EDGES = [0j, 1 + 0j, 2 - 3j, -1.5 + 0.5j, 1j, -2j, -0.25 - 8j, 3 + 4j]


class Case:
    """One call: operands, attributes, results."""

    def __init__(self, operands, results, axes=None, scalars=(), dtype=None, mode=0):
        self.operands = operands
        self.results = results
        self.axes = axes
        self.scalars = scalars
        self.dtype = dtype
        self.mode = mode


def tensor(values, dtype):
    return torch.tensor(values, dtype=dtype)


def ramp(*shape, dtype=F32):
    """Small numbers whose sums and short products are exact in every dtype."""
    n = math.prod(shape)
    values = [((7 * i + 3) % 11) / 2 - 2 for i in range(n)]
    if dtype.is_complex:
        return torch.complex(tensor(values, F64), tensor(values[::-1], F64)).to(dtype).reshape(shape)
    if not dtype.is_floating_point:
        values = [(7 * i + 3) % 11 for i in range(n)]
    return tensor(values, dtype).reshape(shape)


def edges(dtype, pairs=False):
    if dtype.is_complex:
        return COMPLEX_EDGES
    if dtype.is_floating_point:
        return BINARY_EDGES if pairs else HALF_EDGES if dtype is F16 else UNARY_EDGES
    return INTEGER_EDGES[dtype]


# ---- elementwise ----

def unary(f, dtypes, keep=None):
    """f on the edge values; `keep` says which of them belong to the primitive's contract."""
    cases = []
    for dtype in dtypes:
        values = [v for v in edges(dtype) if keep is None or keep(v)]
        for x in (tensor(values, dtype), tensor([], dtype), tensor(values[1], dtype), tensor([values[:2]], dtype)):
            cases.append(Case([x], [f(x)]))
    return cases


def binary(f, dtypes, keep=None):
    cases = []
    for dtype in dtypes:
        both = [p for p in itertools.product(edges(dtype, True), repeat=2) if keep is None or keep(*p)]
        x, y = tensor([p[0] for p in both], dtype), tensor([p[1] for p in both], dtype)
        cases.append(Case([x, y], [f(x, y)]))
        cases.append(Case([x[:1], y[:1]], [f(x[:1], y[:1])]))
        cases.append(Case([x[:0], y[:0]], [f(x[:0], y[:0])]))
    return cases


def finite_divisor(x, y):
    """Integer quotients by zero raise; the smallest integer by -1 is undefined in PyTorch."""
    return y != 0 and not (y == -1 and x in (-2**63, -2**31, -2**15, -2**7))


def division(f, dtypes):
    """Floats divide by anything, integers by what is defined."""
    return (binary(f, [d for d in dtypes if d.is_floating_point])
            + binary(f, [d for d in dtypes if not d.is_floating_point], finite_divisor))


def extremum(f):
    """PyTorch leaves open which zero is larger: pairs of zeros are not compared."""
    return binary(f, ALL, lambda x, y: not (x == 0 and y == 0 and math.copysign(1, x) != math.copysign(1, y)))


def shift(f):
    return binary(f, [d for d in INTEGERS if d is not I8], lambda x, y: 0 <= y < 8) + binary(f, [I8], lambda x, y: 0 <= y < 7)


def power():
    whole = binary(torch.pow, INTEGERS, lambda x, y: 0 <= y < 10)
    return binary(torch.pow, FLOATS) + whole


def exact_fma(x, y, z, dtype):
    if any(math.isnan(v) or math.isinf(v) for v in (x, y, z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    nearest = float(exact)
    if dtype is F64:
        return nearest
    # float(exact) rounded to f32 would round twice: take the nearest of the three f32 neighbours of it.
    middle = tensor(nearest, F32)
    around = [torch.nextafter(middle, tensor(-INF, F32)), middle, torch.nextafter(middle, tensor(INF, F32))]
    return min((v.item() for v in around), key=lambda v: abs(Fraction(v) - exact))


def fma():
    cases = []
    for dtype in (F32, F64):
        values = [tensor(v, dtype).item() for v in (0.1, -1.7, 3.0, 1e-3, 12345.678, 0.0)]
        triples = list(itertools.product(values, repeat=3))[::3] + [(INF, 1.0, 2.0), (NAN, 1.0, 2.0), (1.0, 1.0, -INF)]
        columns = [tensor([t[k] for t in triples], dtype) for k in range(3)]
        result = tensor([exact_fma(*[c[i].item() for c in columns], dtype) for i in range(len(triples))], dtype)
        cases.append(Case(columns, [result]))
    return cases


def select():
    cases = []
    for dtype in EVERY:
        y = tensor(edges(dtype), dtype)
        z = y.flip(0)
        mask = tensor([i % 3 == 0 for i in range(len(y))], BOOL)
        cases.append(Case([mask, y, z], [torch.where(mask, y, z)]))
    return cases


def cast():
    """Every pair of dtypes; floats outside the range of an integer are left out (undefined in PyTorch)."""
    cases = []
    for source, target in itertools.product(EVERY, EVERY):
        values = edges(source)
        if source in FLOATS + COMPLEX and target in INTEGERS:
            low, high = {U8: (0, 255), I8: (-128, 127), I16: (-2**15, 2**15 - 1)}.get(target, (-2**30, 2**30))
            values = [v for v in values if low <= tensor(v, source).real.item() <= high]
        x = tensor(values, source)
        cases.append(Case([x], [x.to(target)], dtype=target))
    return cases


def bitcast():
    pairs = [(F32, I32), (I32, F32), (F64, I64), (I64, F64), (F16, I16), (I16, BF16)]
    cases = []
    for source, target in pairs:
        values = [v for v in edges(source) if v == v] if source.is_floating_point else [0, 1, 2, 16256 if source is I16 else 1065353216, 5]
        cases.append(Case([tensor(values, source)], [tensor(values, source).view(target)], dtype=target))
    return cases


# ---- creation ----

def full():
    cases = []
    for value, dtype in [(2.5, F32), (0.1, F64), (0.1, BF16), (0.1, F16), (-3, I64), (-3, I16), (-3, I8), (2.5, C64), (7, I32), (200, U8), (True, BOOL), (NAN, F32), (2, F32)]:
        for shape in [(), (0,), (1,), (2, 3)]:
            cases.append(Case([], [torch.full(shape, value, dtype=dtype)], scalars=[value, *shape], dtype=dtype))
    return cases


def iota():
    cases = []
    for dtype in [F32, F64, BF16, F16, I64, I32, I16, I8, U8]:
        for shape, axis in [((4,), 0), ((0,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 1, 3), 2)]:
            sizes = [1] * len(shape)
            sizes[axis] = shape[axis]
            y = torch.arange(shape[axis]).reshape(sizes).expand(shape).to(dtype)
            cases.append(Case([], [y], axes=[axis], scalars=list(shape), dtype=dtype))
    return cases


def philox(seed, offset, block):
    """Philox4x32-10 (Salmon et al. 2011): key = seed, counter = (block, offset), low words first."""
    low = 0xFFFFFFFF
    c = [block & low, block >> 32, offset & low, offset >> 32]
    k = [seed & low, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & low, (p >> 32) ^ c[3] ^ k[1], p & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


def rng_bits():
    cases = []
    for seed, offset in [(0, 0), (1234567890123, 5)]:
        words = [w for block in range(4) for w in philox(seed, offset, block)]
        signed = [w - 2**32 if w >= 2**31 else w for w in words]
        wide = [((words[2 * i] << 32 | words[2 * i + 1]) >> 11) / 2**53 for i in range(8)]
        for values, dtype in [([(w >> 8) / 2**24 for w in words[:10]], F32), (wide[:7], F64), (signed[:6], I32)]:
            y = tensor(values, dtype)
            cases.append(Case([], [y], scalars=[seed, offset, len(values)], dtype=dtype))
    return cases


# ---- views and moves ----

def reshape():
    cases = [Case([ramp(*a, dtype=d)], [ramp(*a, dtype=d).reshape(b)], scalars=list(b))
             for d in EVERY for a, b in [((2, 6), (3, 4)), ((0, 3), (3, 0)), ((1,), ()), ((2, 3), (6,))]]
    return cases


def permute():
    return [Case([ramp(*s, dtype=d)], [ramp(*s, dtype=d).permute(p)], axes=p)
            for d in EVERY for s, p in [((2, 3), [1, 0]), ((2, 3, 4), [2, 0, 1]), ((0, 2), [1, 0]), ((3,), [0])]]


def broadcast():
    return [Case([ramp(*s, dtype=d)], [ramp(*s, dtype=d).expand(t)], scalars=list(t))
            for d in EVERY for s, t in [((3,), (2, 3)), ((2, 1), (2, 4)), ((1,), (0,)), ((), (2, 2)), ((2, 1, 3), (4, 2, 2, 3))]]


def slice_():
    cases = []
    for shape, axis, start, length, step in [((5, 2), 0, 1, 2, 2), ((5, 2), 0, 4, 3, -2), ((3, 4), 1, 3, 4, -1),
                                             ((4,), 0, 2, 0, 1), ((4,), 0, 4, 0, 3), ((2, 5), 1, 0, 5, 1)]:
        x = ramp(*shape)
        index = torch.tensor([start + i * step for i in range(length)], dtype=I64)
        cases.append(Case([x], [x.index_select(axis, index)], axes=[axis], scalars=[start, length, step]))
    return cases


def diagonal():
    return [Case([ramp(*s)], [ramp(*s).diagonal(o, a, b)], axes=[a, b], scalars=[o])
            for s, a, b in [((3, 4), 0, 1), ((2, 3, 4), 0, 2), ((3, 3), 1, 0)] for o in (0, 1, -1, 3, 9)]


def unfold():
    return [Case([ramp(*s)], [ramp(*s).unfold(a, n, step)], axes=[a], scalars=[n, step])
            for s, a, n, step in [((7,), 0, 3, 2), ((2, 5), 1, 2, 1), ((4, 2), 0, 4, 1), ((6,), 0, 1, 3)]]


def view_as_real():
    return [Case([ramp(*s, dtype=d)], [torch.view_as_real(ramp(*s, dtype=d))]) for d in COMPLEX for s in [(), (0, 2), (2, 3)]]


def view_as_complex():
    return [Case([ramp(*s, 2, dtype=d)], [torch.view_as_complex(ramp(*s, 2, dtype=d))])
            for d in (F32, F64) for s in [(), (0, 2), (2, 3)]]


def same(f):
    return [Case([ramp(*s, dtype=d)], [f(ramp(*s, dtype=d))]) for d in EVERY for s in [(), (0, 2), (2, 3)]]


def pad():
    cases = []
    for dtype in (F32, I64, BOOL, C128):
        for shape, axis, low, high in [((2, 3), 1, 1, 2), ((4, 2), 0, -1, 1), ((4,), 0, -2, -1), ((0,), 0, 1, 1)]:
            x = ramp(*shape, dtype=dtype)
            amounts = [0, 0] * (x.ndim - 1 - axis) + [low, high]
            cases.append(Case([x], [torch.nn.functional.pad(x, amounts, value=1)], axes=[axis], scalars=[1, low, high]))
    return cases


def concat():
    cases = []
    for dtype in EVERY:
        for shapes, axis in [([(2, 3), (1, 3)], 0), ([(2, 1), (2, 2), (2, 0)], 1), ([(3,)], 0)]:
            parts = [ramp(*s, dtype=dtype) for s in shapes]
            cases.append(Case(parts, [torch.cat(parts, axis)], axes=[axis]))
    return cases


def store():
    cases = []
    for shape, sizes, strides, offset in [((4, 5), (2, 3), (5, 2), 5), ((4,), (), (), 2), ((4,), (0,), (1,), 0), ((2, 3), (3, 2), (1, 3), 0)]:
        x, y = ramp(*shape), ramp(*sizes) + 10
        written = x.clone()
        written.as_strided(sizes, strides, offset).copy_(y)
        cases.append(Case([x, y], [written], scalars=[offset, *sizes, *strides]))
    return cases


# ---- indices ----

def take():
    cases = []
    for dtype in EVERY:
        x = ramp(4, 3, dtype=dtype)
        for index, axis in [([3, 0, 3, 1], 0), ([[2, 0], [1, 1]], 1), ([], 0)]:
            at = tensor(index, I64)
            y = x.index_select(axis, at.flatten()).unflatten(axis, at.shape) if at.numel() else x[at]
            cases.append(Case([x, at], [y], axes=[axis]))
    return cases


INDEX = tensor([[0, 2, 1], [3, 0, 2]], I64)
REPEATED = tensor([[0, 2, 2], [0, 3, 2]], I64)


def gather():
    return [Case([ramp(4, 3, dtype=d), i], [ramp(4, 3, dtype=d).gather(0, i)], axes=[0]) for d in EVERY for i in (INDEX, REPEATED)]


def index_add():
    cases = []
    for dtype in NUMBERS + COMPLEX:
        x, at, y = ramp(4, 2, dtype=dtype), tensor([1, 1, 3], I64), ramp(3, 2, dtype=dtype)
        cases.append(Case([x, at, y], [x.index_add(0, at, y)], axes=[0]))
        wide, z = tensor([[0, 1], [1, 1]], I64), ramp(4, 2, 2, dtype=dtype)
        cases.append(Case([x, wide, z], [x.index_add(1, wide.flatten(), z.reshape(4, 4))], axes=[1]))
    return cases


def scatter():
    """Equal places are left out: which of their writers wins is open in PyTorch."""
    return [Case([ramp(4, 3, dtype=d), INDEX, ramp(2, 3, dtype=d)], [ramp(4, 3, dtype=d).scatter(0, INDEX, ramp(2, 3, dtype=d))], axes=[0])
            for d in EVERY]


def scatter_add():
    return [Case([ramp(4, 3, dtype=d), i, ramp(2, 3, dtype=d)], [ramp(4, 3, dtype=d).scatter_add(0, i, ramp(2, 3, dtype=d))], axes=[0])
            for d in NUMBERS + COMPLEX for i in (INDEX, REPEATED)]


def nonzero():
    return [Case([x], [x.nonzero()]) for d in EVERY
            for x in [(ramp(2, 3, dtype=d if d not in COMPLEX else F32) > 1).to(d), tensor([0, 0], d), tensor([], d), tensor(1, d)]]


# ---- reductions, scans, sort, products ----

SHAPES_AND_AXES = [((2, 3), [0]), ((2, 3), [1]), ((2, 3), [0, 1]), ((2, 3, 2), [0, 2]), ((1,), [0]), ((0, 3), [1]), ((5,), [])]


def reduction(f, dtypes, empty=True):
    cases = []
    shapes = SHAPES_AND_AXES + ([((2, 0), [1]), ((0, 3), [0])] if empty else [])
    for dtype, (shape, axes) in itertools.product(dtypes, shapes):
        x = ramp(*shape, dtype=dtype)
        cases.append(Case([x], [f(x, axes) if axes else kept(f, x)], axes=axes))
    for dtype in [d for d in dtypes if d.is_floating_point]:
        for values in ([1.0, NAN, 2.0], [INF, -1.0, 3.0], [-INF, NAN, INF]):
            cases.append(Case([tensor(values, dtype)], [f(tensor(values, dtype), [0])], axes=[0]))
    return cases


def kept(f, x):
    """No axis at all: the same elements, in the reduction's dtype."""
    return f(x.unsqueeze(0), [0])


def one_by_one(f):
    """A reduction of several axes made of a function of one."""
    def reduced(x, axes):
        for axis in reversed(axes):
            x = f(x, axis)
        return x
    return reduced


def flattened(f):
    """argmax over several axes: the index into the flattened axes."""
    def reduced(x, axes):
        rest = [d for d in range(x.ndim) if d not in axes]
        sizes = [x.shape[d] for d in rest]
        return f(x.permute(rest + axes).reshape(sizes + [math.prod(x.shape[d] for d in axes)]), -1)
    return reduced


def scan(f):
    return [Case([ramp(*s, dtype=d)], [f(ramp(*s, dtype=d), a)], axes=[a])
            for d in NUMBERS + COMPLEX for s, a in [((5,), 0), ((2, 3), 0), ((2, 3), 1), ((0,), 0), ((1,), 0)]]


def sort():
    cases = []
    for dtype, down in itertools.product(ALL, (False, True)):
        special = [[2, NAN, -1, INF, 2, NAN]] if dtype.is_floating_point else []
        inputs = [ramp(7, dtype=dtype), ramp(3, 4, dtype=dtype), tensor([], dtype)] + [tensor(v, dtype) for v in special]
        for x in inputs:
            values, places = torch.sort(x, dim=0, descending=down, stable=True)
            cases.append(Case([x], [values, places], axes=[0], mode=int(down)))
    return cases


def running(f):
    """cummax and cummin."""
    inputs = [(ramp(*s, dtype=d), a) for d in ALL for s, a in [((5,), 0), ((2, 3), 0), ((2, 3), 1), ((0,), 0), ((1,), 0), ((2, 70, 2), 1)]]
    inputs += [(tensor([1, NAN, 2, INF, NAN, 3, -INF], d), 0) for d in FLOATS] + [(tensor([2, 2, 0, 2, -1, -1], d), 0) for d in NUMBERS]
    return [Case([x], list(f(x, a)), axes=[a]) for x, a in inputs]


def dot():
    cases = []
    for dtype in NUMBERS + COMPLEX:
        for b, m, k, n in [(1, 2, 3, 4), (2, 3, 1, 2), (1, 1, 9, 1), (2, 0, 3, 2), (1, 2, 0, 2), (0, 2, 2, 2)]:
            x, y = ramp(b, m, k, dtype=dtype), ramp(b, k, n, dtype=dtype)
            cases.append(Case([x, y], [torch.bmm(x, y)]))
    return cases


def windows_of(x, axis, places, taps, stride, dilation, gap, low, outside):
    """x with `axis` replaced by two: places and taps; `outside` where there is no element."""
    index = torch.tensor([[i * stride + j * dilation - low for j in range(taps)] for i in range(places)], dtype=I64)
    index = index.reshape(places, taps)
    inside = (index % gap == 0) & (index // gap >= 0) & (index // gap < x.shape[axis])
    shape = list(x.shape)
    longer = torch.cat([x, torch.zeros(shape[:axis] + [1] + shape[axis + 1:], dtype=x.dtype)], axis)
    picked = longer.index_select(axis, torch.where(inside, index // gap, 0).flatten())
    picked = picked.reshape(shape[:axis] + [places, taps] + shape[axis + 1:])
    inside = inside.reshape([places, taps] + [1] * (x.ndim - 1 - axis))
    return torch.where(inside, picked, torch.tensor(outside, dtype=x.dtype))


def convolve():
    cases = []
    # Sizes of x and y behind (n, g, c) and (g, o, c), then places, strides, dilations, gaps, lows.
    geometries = [((5,), (3,), (3,), (1,), (1,), (1,), (0,)), ((5,), (3,), (3,), (2,), (1,), (1,), (1,)),
                  ((4,), (2,), (6,), (1,), (2,), (1,), (2,)), ((3,), (3,), (7,), (1,), (1,), (2,), (2,)),
                  ((4,), (3,), (5,), (2,), (3,), (4,), (-1,)), ((0,), (2,), (3,), (1,), (1,), (1,), (2,)),
                  ((3,), (0,), (2,), (1,), (1,), (1,), (0,)), ((3,), (2,), (0,), (1,), (1,), (1,), (0,)),
                  ((4, 5), (3, 2), (4, 3), (1, 2), (1, 1), (1, 1), (1, 0)), ((3, 2), (2, 3), (5, 4), (1, 1), (1, 1), (2, 2), (1, 2)),
                  ((2, 3, 2), (2, 1, 2), (2, 3, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1), (0, 0, 0))]
    for dtype in NUMBERS:
        for k, (space, taps, *lists) in enumerate(geometries):
            n, g, c, o = [(2, 1, 2, 3), (1, 2, 2, 1), (2, 3, 1, 2), (0, 1, 1, 1), (1, 1, 0, 2)][k % 5]
            x, y = ramp(n, g, c, *space, dtype=dtype), ramp(g, o, c, *taps, dtype=dtype)
            wide = x.double() if dtype.is_floating_point else x.long()
            letters = "abc"[:len(space)]
            for d, (count, stride, dilation, gap, low) in enumerate(zip(*lists)):
                wide = windows_of(wide, 3 + 2 * d, count, taps[d], stride, dilation, gap, low, 0)
            pairs = "".join([letters[d] + "xyz"[d] for d in range(len(space))])
            wide = torch.einsum(f"ngi{pairs},goi{'xyz'[:len(space)]}->ngo{letters}", wide, y.to(wide.dtype)).to(dtype)
            scalars = [v for values in lists for v in values]
            for mode in (0, 1):
                result = wide.permute([1, 2, 0] + list(range(3, wide.ndim))) if mode else wide
                cases.append(Case([x, y], [result.contiguous()], scalars=scalars, mode=mode))
    return cases


def window_argmax():
    cases = []
    geometries = [((5,), (4,), (2,), (1,), (1,), (0,)), ((5,), (3,), (3,), (2,), (1,), (1,)), ((6,), (2,), (2,), (1,), (3,), (0,)),
                  ((4, 5), (2, 2), (2, 2), (2, 2), (1, 1), (0, 0)), ((4, 5), (2, 3), (3, 3), (2, 2), (1, 1), (1, 1)),
                  ((3, 2, 4), (2, 1, 2), (2, 2, 2), (1, 1, 2), (1, 1, 1), (0, 0, 0)), ((3,), (0,), (2,), (1,), (1,), (0,))]
    for dtype in ALL:
        for space, *lists in geometries:
            xs = [ramp(2, *space, dtype=dtype), ramp(0, *space, dtype=dtype)]
            if dtype.is_floating_point:
                holes = ramp(1, *space, dtype=dtype)
                holes.flatten()[1::3] = NAN
                xs.append(holes)
            for x in xs:
                at = torch.arange(math.prod(space)).reshape((1,) + space)
                value, place = x.double() if dtype is BF16 else x.to(F64), at
                for d, (count, taps, stride, dilation, low) in enumerate(zip(*lists)):
                    value = windows_of(value, 1 + 2 * d, count, taps, stride, dilation, 1, low, -INF)
                    place = windows_of(place, 1 + 2 * d, count, taps, stride, dilation, 1, low, -1)
                order = [0] + [1 + 2 * d for d in range(len(space))] + [2 + 2 * d for d in range(len(space))]
                flat = value.permute(order).flatten(1 + len(space))
                places = place.permute(order).flatten(1 + len(space)).expand(flat.shape)
                best = flat.argmax(-1, keepdim=True) if flat.numel() else torch.zeros(flat.shape[:-1] + (1,), dtype=I64)
                cases.append(Case([x], [places.gather(-1, best).squeeze(-1)], scalars=[v for values in lists for v in values]))
    return cases


# Row -> its cases. Float functions of bfloat16 and float16 are rounded from float32, there and here.
OPS = {
    "neg": lambda: unary(torch.neg, NUMBERS + COMPLEX), "abs": lambda: unary(torch.abs, NUMBERS),
    "sign": lambda: unary(torch.sign, INTEGERS) + unary(torch.sign, FLOATS, lambda v: v == v and v != 0),
    "floor": lambda: unary(torch.floor, FLOATS), "ceil": lambda: unary(torch.ceil, FLOATS),
    "trunc": lambda: unary(torch.trunc, FLOATS), "round": lambda: unary(torch.round, FLOATS),
    "sqrt": lambda: unary(torch.sqrt, FLOATS), "rsqrt": lambda: unary(torch.rsqrt, FLOATS),
    "reciprocal": lambda: unary(torch.reciprocal, FLOATS),
    "exp": lambda: unary(torch.exp, FLOATS), "exp2": lambda: unary(torch.exp2, FLOATS),
    "expm1": lambda: unary(torch.expm1, FLOATS), "log": lambda: unary(torch.log, FLOATS),
    "log2": lambda: unary(torch.log2, FLOATS), "log1p": lambda: unary(torch.log1p, FLOATS),
    "sin": lambda: unary(torch.sin, FLOATS), "cos": lambda: unary(torch.cos, FLOATS),
    "tan": lambda: unary(torch.tan, FLOATS), "asin": lambda: unary(torch.asin, FLOATS),
    "acos": lambda: unary(torch.acos, FLOATS), "atan": lambda: unary(torch.atan, FLOATS),
    "tanh": lambda: unary(torch.tanh, FLOATS),
    "sigmoid": lambda: unary(torch.sigmoid, FLOATS),
    # PyTorch's bfloat16 erf is 0 for what is tiny.
    "erf": lambda: unary(torch.erf, [F32, F64]) + unary(torch.erf, [BF16, F16], lambda v: v == 0 or not abs(v) < 1e-6),
    "erfinv": lambda: unary(torch.erfinv, FLOATS), "logical_not": lambda: unary(torch.logical_not, EVERY),
    "bitwise_not": lambda: unary(torch.bitwise_not, INTEGERS + [BOOL]),
    "conj": lambda: unary(lambda x: torch.conj(x).resolve_conj(), NUMBERS + COMPLEX),
    "add": lambda: binary(torch.add, EVERY), "sub": lambda: binary(torch.sub, NUMBERS + COMPLEX),
    "mul": lambda: binary(torch.mul, EVERY), "div": lambda: binary(torch.div, FLOATS) + binary(torch.div, COMPLEX, lambda x, y: y != 0),
    "quot": lambda: division(lambda x, y: torch.div(x, y, rounding_mode="trunc"), INTEGERS + FLOATS),
    "rem": lambda: division(torch.fmod, NUMBERS), "floor_div": lambda: division(torch.floor_divide, NUMBERS),
    "remainder": lambda: division(torch.remainder, NUMBERS), "pow": power,
    "maximum": lambda: extremum(torch.maximum), "minimum": lambda: extremum(torch.minimum),
    "atan2": lambda: binary(torch.atan2, FLOATS),
    "bitwise_and": lambda: binary(torch.bitwise_and, INTEGERS + [BOOL]),
    "bitwise_or": lambda: binary(torch.bitwise_or, INTEGERS + [BOOL]),
    "bitwise_xor": lambda: binary(torch.bitwise_xor, INTEGERS + [BOOL]),
    "shift_left": lambda: shift(torch.bitwise_left_shift), "shift_right": lambda: shift(torch.bitwise_right_shift),
    "eq": lambda: binary(torch.eq, EVERY), "ne": lambda: binary(torch.ne, EVERY), "lt": lambda: binary(torch.lt, ALL),
    "le": lambda: binary(torch.le, ALL), "select": select, "fma": fma, "cast": cast, "bitcast": bitcast,
    "full": full, "iota": iota, "rng_bits": rng_bits,
    "reshape": reshape, "permute": permute, "broadcast": broadcast, "slice": slice_, "diagonal": diagonal, "unfold": unfold,
    "view_as_real": view_as_real, "view_as_complex": view_as_complex,
    "copy": lambda: same(torch.clone), "detach": lambda: same(torch.clone), "save_for_backward": lambda: same(torch.clone),
    "pad": pad, "concat": concat, "store": store,
    "take": take, "gather": gather, "index_add": index_add, "scatter": scatter, "scatter_add": scatter_add, "nonzero": nonzero,
    "sum": lambda: reduction(torch.sum, EVERY), "prod": lambda: reduction(one_by_one(torch.prod), EVERY),
    "amax": lambda: reduction(torch.amax, ALL, empty=False), "amin": lambda: reduction(torch.amin, ALL, empty=False),
    "argmax": lambda: reduction(flattened(torch.argmax), NUMBERS, empty=False),
    "argmin": lambda: reduction(flattened(torch.argmin), NUMBERS, empty=False),
    "any": lambda: reduction(one_by_one(lambda x, a: (x != 0).any(a)), EVERY),
    "all": lambda: reduction(one_by_one(lambda x, a: (x != 0).all(a)), EVERY),
    "cumsum": lambda: scan(torch.cumsum), "cumprod": lambda: scan(torch.cumprod), "sort": sort,
    "cummax": lambda: running(torch.cummax), "cummin": lambda: running(torch.cummin), "dot": dot,
    "convolve": convolve, "window_argmax": window_argmax,
}
