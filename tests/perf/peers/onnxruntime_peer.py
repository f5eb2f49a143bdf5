"""The ONNX Runtime column of `./dev bench`: the programs without gradients, as graphs with inputs and outputs bound
once and weights as initializers. Protocol: protocol.py."""
import sys

import numpy as np

from protocol import Missing, say, serve, size, threads, values

try:
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
except ImportError as error:
    say("none this Python has no ONNX Runtime or no onnx to write its graphs with:", error)
    sys.exit(0)

MICROSOFT = "com.microsoft"  # the operators that ONNX Runtime adds to the standard


def node(operator, inputs, output, domain="", **attributes):
    return helper.make_node(operator, inputs.split(), [output], domain=domain, **attributes)


def step_of(nodes, inputs, output_shape, initializers={}, repeat=1):
    """A step that runs a graph whose answer is called `y`."""
    def described(name, shape):
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    graph = helper.make_graph(
        nodes, "program", [described(name, array.shape) for name, array in inputs.items()],
        [described("y", output_shape)],
        [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in initializers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    answer = np.zeros(output_shape, np.float32)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_input(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, output_shape, answer.ctypes.data)
    kept = list(inputs.values())  # bound by address

    def step():
        for _ in range(repeat):
            session.run_with_iobinding(binding)
        return answer if kept else None

    return step


def attention():
    batch, heads, length, depth = shape = size(4, 1), size(12, 2), size(512, 33), size(64, 16)

    def flat(array):
        return np.ascontiguousarray(array.transpose(0, 2, 1, 3).reshape(batch, length, heads * depth))

    inputs = {name: flat(values(i, *shape)) for i, name in enumerate("qkv")}
    operator = node("MultiHeadAttention", "q k v", "y", MICROSOFT, num_heads=heads, unidirectional=1)
    return step_of([operator], inputs, (batch, length, heads * depth))


def call_overhead():
    names = "abcdefgh"
    nodes = [node("Add", f"{'a' if i == 1 else f't{i - 1}'} {names[i]}", "y" if i == 7 else f"t{i}") for i in range(1, 8)]
    return step_of(nodes, {name: values(i, 10) for i, name in enumerate(names)}, (10,), repeat=200)


def gelu_chain():
    n = size(4096, 64)
    nodes = [node("Mul", "x a", "t"), node("Add", "t b", "u"), node("Gelu", "u", "g", approximate="tanh"),
             node("Mul", "g c", "y")]
    return step_of(nodes, {name: values(i, n, n) for i, name in enumerate("xabc")}, (n, n))


def layer_norm():
    rows, width = size(8192, 16), size(768, 70)
    return step_of([node("LayerNormalization", "x w b", "y", axis=-1, epsilon=1e-5)], {"x": values(1, rows, width)},
                   (rows, width), {"w": values(2, width), "b": values(3, width)})


def matmul_gelu():
    n = size(1024, 48)
    nodes = [node("MatMul", "x w", "t"), node("Add", "t b", "u"), node("Gelu", "u", "y", approximate="tanh")]
    return step_of(nodes, {"x": values(1, n, n)}, (n, n), {"w": values(2, n, n), "b": values(3, n)})


def softmax():
    n = size(4096, 70)
    return step_of([node("Softmax", "x", "y", axis=-1)], {"x": values(1, n, n) * np.float32(10.0)}, (n, n))


def sums():
    n = size(4096, 64)
    nodes = [node("ReduceSumSquare", "x", "s", keepdims=0), node("ReduceSum", "x axis", "c", keepdims=0),
             node("ReduceMax", "c", "m", keepdims=0), node("Add", "s m", "y")]
    return step_of(nodes, {"x": values(1, n, n)}, (), {"axis": np.array([0], np.int64)})


def no_gradients():
    raise Missing("this program trains, which ONNX Runtime's inference sessions do not do")


def no_eager():
    raise Missing("ONNX Runtime runs graphs only, no single operations")


programs = {function.__name__: function
            for function in (attention, call_overhead, gelu_chain, layer_norm, matmul_gelu, softmax, sums)}
programs |= dict.fromkeys(("adam", "gpt_block", "layer_norm_train", "mlp_step", "nanogpt_step"), no_gradients)
serve(programs | {"small_op": no_eager})
