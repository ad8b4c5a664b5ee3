"""Graphs to and from ONNX; for `pack` alone."""

import math
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import graph as graphs

KINDS = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f32": TensorProto.FLOAT}


def tensor_of(name, constant, dtype):
    if graphs.is_integers(constant):
        return numpy_helper.from_array(np.array(constant["values"], np.int64), name)
    period = graphs.period_of(constant, dtype).astype(helper.tensor_dtype_to_np_dtype(KINDS[dtype]))
    return numpy_helper.from_array(np.resize(period, constant["dims"]), name)


def model_of(graph):
    kind = KINDS[graph["dtype"]]
    made = helper.make_graph(
        [helper.make_node(n["op"], n["inputs"], n["outputs"], n["outputs"][0], **n["attributes"]) for n in graph["nodes"]],
        "case", [helper.make_tensor_value_info(name, kind, dims) for name, dims in graph["inputs"].items()],
        [helper.make_tensor_value_info(name, kind, graph["dims"].get(name)) for name in graph["outputs"]],
        [tensor_of(name, constant, graph["dtype"]) for name, constant in graph["constants"].items()])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", graph["opset"])], ir_version=9)


def graph_of(model, dtype, weights):
    """Of a model whose weights are `weights`; all other constants are kept as they are."""
    def constant(tensor):
        if tensor.name in weights:
            return weights[tensor.name]
        array = numpy_helper.to_array(tensor)
        kind = "i64" if array.dtype == np.int64 else "float"
        return {"dims": list(array.shape), "type": kind, "values": array.ravel().tolist()}

    def dims(value):
        return [d.dim_value for d in value.type.tensor_type.shape.dim]

    def attribute(item):
        value = helper.get_attribute_value(item)
        return value.decode() if isinstance(value, bytes) else value

    whole = model.graph
    return {"dtype": dtype, "opset": model.opset_import[0].version,
            "inputs": {value.name: dims(value) for value in whole.input},
            "constants": {tensor.name: constant(tensor) for tensor in whole.initializer},
            "nodes": [{"op": n.op_type, "inputs": list(n.input), "outputs": list(n.output),
                       "attributes": {item.name: attribute(item) for item in n.attribute}} for n in whole.node],
            "outputs": [value.name for value in whole.output],
            "dims": {value.name: dims(value) for value in whole.output}}


def patterned_network(base):
    """`base`, a builder of networks, with weights that are patterns."""

    class Patterned(base):
        def __init__(self, name, seed, batch=1):
            super().__init__(name, seed)
            self.batch, self.weights = batch, {}

        def input(self, name, dims):
            return super().input(name, [self.batch, *dims[1:]] if len(dims) == 4 else dims)

        def weight(self, name, constant):
            self.weights[name] = constant
            # The model's own values are not used; a view of one number takes no memory.
            return self.placeholder(name, constant["dims"])

        def placeholder(self, name, dims):
            if name not in self.initializers:
                self.initializers[name] = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims,
                                                      raw_data=b"\0" * (4 * math.prod(dims)))
            self.dims[name] = list(dims)
            return name

        def normal(self, name, shape, scale):
            return self.weight(name, graphs.patterned(shape, float(scale), zlib.crc32(name.encode())))

        def uniform(self, name, shape, low, high):
            # Equal for all channels, so that what is folded into weights keeps their period.
            return self.weight(name, {"dims": list(shape), "fill": (low + high) / 2})

    return Patterned
