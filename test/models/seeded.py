"""Gives a model of constant fills weights as training would start with.

The light models of the onnx package carry their architecture alone: every
weight is a fill of 0.02, so that errors cancel and the result is flat. Here
every float weight is drawn anew: He-scaled for convolutions and products,
positive variances in [0.5, 2] for batch norms, small biases.
"""

import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

THROUGH = ("Unsqueeze", "Reshape", "Squeeze", "Identity", "Transpose")


def attribute(node, name, default):
    for item in node.attribute:
        if item.name == name:
            return helper.get_attribute_value(item)
    return default


def use_of(name, consumers):
    """(node, operand index) that reads `name`, through nodes that only reshape."""
    while True:
        node, index = consumers[name]
        if node.op_type in THROUGH and index == 0:
            name = node.output[0]
        else:
            return node, index


def draw(node, index, shape, rng):
    """A weight of `shape` for operand `index` of `node`."""
    normal = rng.standard_normal(shape, dtype=np.float32)
    if node.op_type == "BatchNormalization" and index == 4:
        return rng.uniform(0.5, 2.0, shape).astype(np.float32)
    if (node.op_type, index) == ("BatchNormalization", 1) or node.op_type == "Mul":
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    if node.op_type in ("Conv", "Gemm", "MatMul") and index == 1:
        if node.op_type == "Conv":
            terms = int(np.prod(shape[1:]))
        else:
            terms = shape[1] if attribute(node, "transB", 0) else shape[0]
        return normal * np.float32(np.sqrt(2.0 / terms))
    return normal * np.float32(0.1)


def with_seeded_weights(model, seed):
    """A copy of `model` whose float weights are drawn from `seed`."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    consumers = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            consumers.setdefault(name, (node, index))
    values = {i.name: i for i in graph.initializer}
    fills, weights = [], {}
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in values:
            fills.append(node)
            weights[node.output[0]] = tuple(numpy_helper.to_array(values[node.input[0]]))
    for initializer in graph.initializer:
        if initializer.data_type == onnx.TensorProto.FLOAT:
            weights[initializer.name] = tuple(initializer.dims)

    drawn = []
    for name, shape in weights.items():
        if name not in consumers:
            continue
        # A stream per weight, so that one more weight changes no other.
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        array = draw(*use_of(name, consumers), shape, rng)
        drawn.append(numpy_helper.from_array(array, name))

    shapes = {node.input[0] for node in fills}
    kept = [i for i in graph.initializer if i.name not in weights and i.name not in shapes]
    nodes = [node for node in graph.node if node not in fills]
    names = {i.name for i in graph.initializer} | set(weights)
    # Initializers that are inputs as well may be overridden; these may not.
    inputs = [i for i in graph.input if i.name not in names]
    for field, items in (("node", nodes), ("initializer", kept + drawn), ("input", inputs)):
        graph.ClearField(field)
        getattr(graph, field).extend(items)
    result.ir_version = max(result.ir_version, 4)
    return result


def with_softmax_input(model):
    """A copy of `model` in which what the last Softmax reads is an output too."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    last = [node for node in result.graph.node if node.op_type == "Softmax"][-1:]
    for node in last:
        value = helper.make_tensor_value_info(node.input[0], onnx.TensorProto.FLOAT, None)
        result.graph.output.append(value)
    return result
