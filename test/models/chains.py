"""Small graphs that measurements and tests are made of.

usage: chains.py softmax FILE.onnx [COUNT] [LENGTH]
"""

import sys

import onnx
from onnx import TensorProto, helper


def softmax_chain(count=2000, length=1000):
    """`count` softmax operators in a row on a vector of `length`."""
    nodes = [helper.make_node("Softmax", [f"x{i}"], [f"x{i + 1}"], axis=-1) for i in range(count)]
    graph = helper.make_graph(
        nodes,
        "softmax_chain",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [length])],
        [helper.make_tensor_value_info(f"x{count}", TensorProto.FLOAT, [length])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "softmax":
        sys.exit(__doc__)
    onnx.save(softmax_chain(*map(int, sys.argv[3:])), sys.argv[2])
