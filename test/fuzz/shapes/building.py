"""A model that is made node by node, with what feeds it."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, INT32, BOOL = (TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL)


class Builder:
    def __init__(self, rng):
        self.rng = rng
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def input(self, name, dims):
        self.inputs.append(helper.make_tensor_value_info(name, FLOAT, dims))
        return name

    def node(self, operator, *inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(operator, list(inputs), [out], out, **attributes))
        return out

    def constant(self, value, dtype=np.int64):
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def output(self, value, kind):
        self.outputs.append(helper.make_tensor_value_info(value, kind, None))

    def model(self):
        graph = helper.make_graph(self.nodes, "shapes", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def feed(self, sizes):
        """Arrays for the inputs where each open dim has its size."""
        feed = {}
        for value in self.inputs:
            dims = [d.dim_value if d.HasField("dim_value") else sizes[d.dim_param]
                    for d in value.type.tensor_type.shape.dim]
            feed[value.name] = self.rng.integers(-8, 8, dims).astype(np.float32)
        return feed

    def size(self, value, axis=0):
        """The size of a dim, as a vector of one element."""
        return self.node("Gather", self.node("Shape", value), self.constant([axis]), axis=0)
