"""The NumPy column of `./dev bench`: the programs of tests/perf/programs as a careful NumPy user writes them, results
into arrays that are kept. Protocol: protocol.py."""
import os
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = sys.argv[2]

import numpy as np

from protocol import Missing, serve, size, values


def gelu(x, out):
    """The tanh form, in place of `out`; reads x, which may not be `out`."""
    np.multiply(x, x, out=out)
    out *= 0.7978845608028654 * 0.044715
    out += 0.7978845608028654
    out *= x
    np.tanh(out, out=out)
    out += 1.0
    out *= x
    out *= 0.5
    return out


def softmax_in_place(x):
    x -= x.max(-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(-1, keepdims=True)
    return x


def adam():
    count = size(10_000_000, 1000)
    p, g = values(1, count), values(2, count)
    m, v, t = np.zeros_like(p), np.zeros_like(p), np.empty_like(p)
    steps = [0]

    def step():
        steps[0] += 1
        np.multiply(g, np.float32(0.1), out=t)
        m.__imul__(np.float32(0.9)).__iadd__(t)
        np.multiply(g, g, out=t)
        t.__imul__(np.float32(0.001))
        v.__imul__(np.float32(0.999)).__iadd__(t)
        np.divide(v, np.float32(1.0 - 0.999 ** steps[0]), out=t)
        np.sqrt(t, out=t)
        t.__iadd__(np.float32(1e-8))
        np.divide(m, t, out=t)
        t.__imul__(np.float32(0.001 / (1.0 - 0.9 ** steps[0])))
        p.__isub__(t)
        return p

    return step


def attention():
    shape = size(4, 1), size(12, 2), size(512, 33), size(64, 16)
    q, k, v = [values(i, *shape) for i in range(3)]
    hidden = np.triu(np.full((shape[2], shape[2]), -np.inf, np.float32), 1)

    def step():
        scores = q @ k.swapaxes(-1, -2)
        scores *= np.float32(shape[3] ** -0.5)
        scores += hidden
        return softmax_in_place(scores) @ v

    return step


def call_overhead():
    a, b, c, d, e, f, g, h = [values(i, 10) for i in range(8)]

    def step():
        for _ in range(200):
            y = a + b + c + d + e + f + g + h
        return y

    return step


def gelu_chain():
    n = size(4096, 64)
    x, a, b, c = [values(i, n, n) for i in range(4)]
    t, y = np.empty_like(x), np.empty_like(x)

    def step():
        np.multiply(x, a, out=t)
        np.add(t, b, out=t)
        gelu(t, y)
        return np.multiply(y, c, out=y)

    return step


def normalize(x):
    """(x normalized, 1 / standard deviation of each row)"""
    centred = x - x.mean(1, keepdims=True)
    inverse = 1.0 / np.sqrt(np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(x.shape[1]) + np.float32(1e-5))
    centred *= inverse
    return centred, inverse


def layer_norm():
    rows, width = size(8192, 16), size(768, 70)
    x, w, b = values(1, rows, width), values(2, width), values(3, width)

    def step():
        y, _ = normalize(x)
        y *= w
        y += b
        return y

    return step


def layer_norm_train():
    rows, width = size(8192, 16), size(768, 70)
    x, w, b, dy = values(1, rows, width), values(2, width), values(3, width), values(4, rows, width)
    kept = {}

    def step():
        n, inverse = normalize(x)
        kept["y"] = n * w
        kept["y"] += b
        kept["dw"], kept["db"] = np.einsum("ij,ij->j", dy, n), dy.sum(0)
        g = dy * w
        along = np.einsum("ij,ij->i", g, n)[:, None] / np.float32(width)
        g -= g.mean(1, keepdims=True)
        n *= along
        g -= n
        g *= inverse
        return g

    return step


def matmul_gelu():
    n = size(1024, 48)
    x, w, b = values(1, n, n), values(2, n, n), values(3, n)
    t, y = np.empty_like(x), np.empty_like(x)

    def step():
        np.matmul(x, w, out=t)
        np.add(t, b, out=t)
        return gelu(t, y)

    return step


def mlp_step():
    w1, b1, w2, b2 = [values(i, *s) * np.float32(0.1) for i, s in enumerate([(256, 64), (256,), (10, 256), (10,)])]
    x, y = values(9, 128, 64), np.arange(128) % 10
    rows, rate = np.arange(128), np.float32(0.01)

    def train():
        nonlocal w1, b1, w2, b2
        hidden = x @ w1.T
        hidden += b1
        np.maximum(hidden, 0, out=hidden)
        chances = softmax_in_place(hidden @ w2.T + b2)
        loss = -np.log(chances[rows, y]).mean()
        chances[rows, y] -= 1
        chances /= np.float32(128)
        back = chances @ w2
        back *= hidden > 0
        w2 -= rate * (chances.T @ hidden)
        b2 -= rate * chances.sum(0)
        w1 -= rate * (back.T @ x)
        b1 -= rate * back.sum(0)
        return loss

    def step():
        for _ in range(50):
            loss = train()
        return loss

    return step


def by_hand():
    raise Missing("nobody writes the backward of a whole block by hand")


def small_op():
    x, y = values(1, 10), values(2, 10)

    def step():
        for _ in range(2000):
            z = x + y
        return z

    return step


def softmax():
    n = size(4096, 70)
    x = values(1, n, n) * np.float32(10.0)
    y = np.empty_like(x)

    def step():
        np.subtract(x, x.max(1, keepdims=True), out=y)
        np.exp(y, out=y)
        np.divide(y, y.sum(1, keepdims=True), out=y)
        return y

    return step


def sums():
    n = size(4096, 64)
    x = values(1, n, n)
    return lambda: np.dot(x.reshape(-1), x.reshape(-1)) + x.sum(0).max()


programs = {function.__name__: function for function in (
    adam, attention, call_overhead, gelu_chain, layer_norm, layer_norm_train, matmul_gelu, mlp_step, small_op, softmax,
    sums)}
serve(programs | dict.fromkeys(("gpt_block", "nanogpt_step"), by_hand))
