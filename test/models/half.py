"""Makes a model's float32 float16: inputs, outputs, weights and casts."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def narrow(tensor):
    """Makes the float32 `tensor` one of float16."""
    if tensor.data_type == TensorProto.FLOAT:
        array = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def in_half(model):
    """A copy of `model`, without subgraphs, that computes in float16."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    for tensor in graph.initializer:
        narrow(tensor)
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                narrow(attribute.t)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    return result
