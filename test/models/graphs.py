"""Graphs of a few nodes, for tests: `model(nodes, inputs, outputs)`."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tensor(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, weights=(), opset=17):
    """nodes are (operator, inputs, outputs, attributes); inputs and outputs
    (name, dims[, type]); weights a dict of arrays. Nodes are named op_<index>."""
    made = [
        helper.make_node(op, ins, outs, name=f"{op}_{i}", **attributes)
        for i, (op, ins, outs, attributes) in enumerate(nodes)
    ]
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(weights).items()]
    graph = helper.make_graph(
        made, "graph", [tensor(*i) for i in inputs], [tensor(*o) for o in outputs], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def scaled_relu(factor):
    """y = relu(x) * factor on [N, 8]."""
    return model(
        [("Relu", ["x"], ["r"], {}), ("Mul", ["r", "f"], ["y"], {})],
        [("x", ["N", 8])], [("y", ["N", 8])], {"f": np.float32(factor)})


def small_network(seed=0):
    """Convolution, batch norm, pooling and a product: what real models are made of."""
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    weights = {
        "w": normal(8, 3, 3, 3) * 0.3, "scale": normal(8), "bias": normal(8), "mean": normal(8),
        "var": rng.uniform(0.5, 2, 8).astype(np.float32), "m": normal(8, 10) * 0.3,
    }
    nodes = [
        ("Conv", ["x", "w"], ["c"], {"pads": [1, 1, 1, 1]}),
        ("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["b"], {}),
        ("Relu", ["b"], ["r"], {}),
        ("GlobalAveragePool", ["r"], ["g"], {}),
        ("Flatten", ["g"], ["f"], {}),
        ("MatMul", ["f", "m"], ["l"], {}),
        ("Softmax", ["l"], ["y"], {"axis": -1}),
    ]
    return model(nodes, [("x", ["N", 3, "H", "W"])], [("y", ["N", 10])], weights)


def save(path, made):
    onnx.save(made, path)
    return path
