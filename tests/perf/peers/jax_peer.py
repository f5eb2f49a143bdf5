"""The JAX column of `./dev bench`: every program of tests/perf/programs, written for jax.jit. Protocol: protocol.py."""
import os
import sys

os.environ.setdefault("XLA_FLAGS", f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={sys.argv[2]}")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from protocol import serve, size, values

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    from protocol import say

    say("none this Python has no JAX:", error)
    sys.exit(0)


def arrays(*from_numpy):
    return [jax.device_put(array) for array in from_numpy]


def step_of(function, *inputs):
    """A step that calls the compiled function and waits for its answer."""
    compiled = jax.jit(function)
    return lambda: jax.block_until_ready(compiled(*inputs))


def gelu(x):
    return jax.nn.gelu(x, approximate=True)


def normalized(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias


def causal_attention(q, k, v):
    length = q.shape[-2]
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) * (q.shape[-1] ** -0.5)
    visible = jnp.arange(length)[:, None] >= jnp.arange(length)[None, :]
    return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), axis=-1), v)


def adam():
    count = size(10_000_000, 1000)
    p, g = arrays(values(1, count), values(2, count))
    state = [p, jnp.zeros_like(p), jnp.zeros_like(p), 0.0]

    def update(p, m, v, steps, g):
        steps = steps + 1.0
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        denominator = jnp.sqrt(v / (1.0 - 0.999**steps)) + 1e-8
        return p - 0.001 / (1.0 - 0.9**steps) * m / denominator, m, v, steps

    compiled = jax.jit(update, donate_argnums=(0, 1, 2))

    def step():
        state[:] = jax.block_until_ready(compiled(*state, g))
        return state[0]

    return step


def attention():
    shape = size(4, 1), size(12, 2), size(512, 33), size(64, 16)
    return step_of(causal_attention, *arrays(*(values(i, *shape) for i in range(3))))


def call_overhead():
    tensors = arrays(*(values(i, 10) for i in range(8)))
    add = jax.jit(lambda a, b, c, d, e, f, g, h: a + b + c + d + e + f + g + h)

    def step():
        for _ in range(200):
            y = add(*tensors)
        return jax.block_until_ready(y)

    return step


def gelu_chain():
    n = size(4096, 64)
    return step_of(lambda x, a, b, c: gelu(x * a + b) * c, *arrays(*(values(i, n, n) for i in range(4))))


def block_shapes(width):
    return [(width,), (width,), (width,), (width,), (3 * width, width), (3 * width,), (width, width), (width,),
            (4 * width, width), (4 * width,), (width, 4 * width), (width,)]


def filled(shapes):
    return arrays(*(values(i, *shape) * (0.03 if len(shape) == 2 else 1.0) for i, shape in enumerate(shapes)))


def block(parameters, x, heads):
    w1, b1, w2, b2, qkv, qkv_b, o, o_b, f, f_b, p, p_b = parameters
    batch, length, width = x.shape
    q, k, v = jnp.split(normalized(x, w1, b1) @ qkv.T + qkv_b, 3, axis=2)
    q, k, v = [z.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3) for z in (q, k, v)]
    mixed = causal_attention(q, k, v).transpose(0, 2, 1, 3).reshape(batch, length, width)
    x = x + mixed @ o.T + o_b
    return x + gelu(normalized(x, w2, b2) @ f.T + f_b) @ p.T + p_b


def cross_entropy(logits, wanted):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), wanted[..., None], axis=-1).mean()


def gpt_block():
    batch, length, width, heads = size(4, 2), size(512, 17), size(768, 32), size(12, 4)
    parameters = filled(block_shapes(width))
    x, dy = arrays(values(90, batch, length, width), values(91, batch, length, width))

    def gradients(parameters, x, dy):
        return jax.vjp(lambda parameters: block(parameters, x, heads), parameters)[1](dy)[0]

    compiled = jax.jit(gradients)
    return lambda: jax.block_until_ready(compiled(parameters, x, dy))[4]


def nanogpt_step():
    layers, width, heads = size(6, 2), size(384, 32), size(6, 2)
    batch, length, vocabulary = size(8, 2), size(256, 17), size(256, 40)
    each = len(block_shapes(width))
    parameters = filled([(vocabulary, width), (length, width)] + layers * block_shapes(width) +
                        [(width,), (width,), (vocabulary, width)])
    text = ((values(1000, batch, length + 1) + 1.0) * (vocabulary / 2)).astype("int32").clip(0, vocabulary - 1)
    x, y = arrays(text[:, :-1], text[:, 1:])

    def loss_of(parameters, x, y):
        tokens, positions, *inner, w, b, head = parameters
        h = tokens[x] + positions
        for i in range(0, len(inner), each):
            h = block(inner[i:i + each], h, heads)
        return cross_entropy(normalized(h, w, b) @ head.T, y)

    def adamw(p, m, v, g, steps):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        denominator = jnp.sqrt(v / (1.0 - 0.999**steps)) + 1e-8
        return p * (1.0 - 0.0001 * 0.01) - 0.0001 / (1.0 - 0.9**steps) * m / denominator, m, v

    def train(parameters, ms, vs, steps, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        steps = steps + 1.0
        updated = [adamw(p, m, v, g, steps) for p, m, v, g in zip(parameters, ms, vs, gradients)]
        return loss, *(list(column) for column in zip(*updated)), steps

    compiled = jax.jit(train, donate_argnums=(0, 1, 2))
    state = [parameters, [jnp.zeros_like(p) for p in parameters], [jnp.zeros_like(p) for p in parameters], 0.0]

    def step():
        loss, *state[:] = jax.block_until_ready(compiled(*state, x, y))
        return loss

    return step


def layer_norm():
    rows, width = size(8192, 16), size(768, 70)
    return step_of(normalized, *arrays(values(1, rows, width), values(2, width), values(3, width)))


def layer_norm_train():
    rows, width = size(8192, 16), size(768, 70)
    x, w, b, dy = arrays(values(1, rows, width), values(2, width), values(3, width), values(4, rows, width))
    compiled = jax.jit(lambda x, w, b, dy: jax.vjp(normalized, x, w, b)[1](dy))
    return lambda: jax.block_until_ready(compiled(x, w, b, dy))[0]


def matmul_gelu():
    n = size(1024, 48)
    return step_of(lambda x, w, b: gelu(x @ w + b), *arrays(values(1, n, n), values(2, n, n), values(3, n)))


def mlp_step():
    shapes = [(256, 64), (256,), (10, 256), (10,)]
    parameters = arrays(*(values(i, *shape) * 0.1 for i, shape in enumerate(shapes)))
    x, y = arrays(values(9, 128, 64))[0], jnp.arange(128) % 10

    def loss_of(parameters, x, y):
        w1, b1, w2, b2 = parameters
        return cross_entropy(jax.nn.relu(x @ w1.T + b1) @ w2.T + b2, y)

    def train(parameters, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, [p - 0.01 * g for p, g in zip(parameters, gradients)]

    compiled = jax.jit(train, donate_argnums=0)
    state = [parameters]

    def step():
        for _ in range(50):
            loss, state[0] = compiled(state[0], x, y)
        return jax.block_until_ready(loss)

    return step


def small_op():
    x, y = arrays(values(1, 10), values(2, 10))

    def step():
        for _ in range(2000):
            z = x + y
        return jax.block_until_ready(z)

    return step


def softmax():
    n = size(4096, 70)
    return step_of(lambda x: jax.nn.softmax(x, axis=-1), *arrays(values(1, n, n) * 10.0))


def sums():
    n = size(4096, 64)
    return step_of(lambda x: (x * x).sum() + x.sum(0).max(), *arrays(values(1, n, n)))


serve({function.__name__: function for function in (
    adam, attention, call_overhead, gelu_chain, gpt_block, layer_norm, layer_norm_train, matmul_gelu, mlp_step,
    nanogpt_step, small_op, softmax, sums)})
