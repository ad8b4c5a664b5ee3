"""Networks to plan for, without their weights: floats of missing external data are taken by their shapes."""

import onnx
from onnx import TensorProto, helper


class Shapes:
    """Nodes one after the other, each named as its result."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, *dims):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="nowhere.bin")
        self.weights.append(tensor)
        return name

    def numbers(self, name, values):
        self.weights.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def op(self, kind, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def linear(self, x, name, rows, columns, bias=False):
        y = self.op("MatMul", f"{name}_product" if bias else name, x, self.weight(f"{name}.weight", rows, columns))
        return self.op("Add", name, y, self.weight(f"{name}.bias", columns)) if bias else y

    def write(self, path, x, dims, y, result):
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info(x, TensorProto.FLOAT, dims)],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, result)], self.weights)
        path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                           ir_version=8).SerializeToString())
        return path


def mlp(path, batch, width, layers):
    """Alpa's: products of square matrices."""
    net = Shapes()
    h = "x"
    for i in range(layers):
        h = net.linear(h, f"layer{i}", width, width)
    return net.write(path, "x", [batch, width], h, [batch, width])


def alexnet(path, batch):
    """The five convolutions and three dense layers of Krizhevsky et al. 2012, in one tower."""
    net = Shapes()
    h = "x"
    for i, (inputs, outputs, size, stride, pad, pools) in enumerate([
            (3, 96, 11, 4, 2, True), (96, 256, 5, 1, 2, True), (256, 384, 3, 1, 1, False),
            (384, 384, 3, 1, 1, False), (384, 256, 3, 1, 1, True)]):
        h = net.op("Conv", f"conv{i}", h, net.weight(f"conv{i}.weight", outputs, inputs, size, size),
                   net.weight(f"conv{i}.bias", outputs), strides=[stride, stride], pads=[pad] * 4)
        h = net.op("Relu", f"relu{i}", h)
        if pools:
            h = net.op("MaxPool", f"pool{i}", h, kernel_shape=[3, 3], strides=[2, 2])
    h = net.op("Flatten", "features", h)
    h = net.op("Relu", "relu6", net.linear(h, "fc6", 9216, 4096, bias=True))
    h = net.op("Relu", "relu7", net.linear(h, "fc7", 4096, 4096, bias=True))
    return net.write(path, "x", [batch, 3, 224, 224], net.linear(h, "fc8", 4096, 1000, bias=True), [batch, 1000])


def transformer(path, batch, length, width, heads, layers, norms=True):
    """Layers of attention and two products, as in GPT-2, without an embedding."""
    net = Shapes()
    h = "x"
    net.numbers("split", [0, 0, heads, width // heads])
    net.numbers("join", [0, 0, width])
    for i in range(layers):
        def norm(name, x):
            return x if not norms else net.op("LayerNormalization", f"l{i}_{name}", x, net.weight(f"l{i}_{name}.scale", width),
                          net.weight(f"l{i}_{name}.shift", width), axis=-1)

        def parts(name, x, perm):
            y = net.op("Reshape", f"l{i}_{name}_split", net.linear(x, f"l{i}_{name}", width, width), "split")
            return net.op("Transpose", f"l{i}_{name}_turned", y, perm=perm)
        n = norm("norm1", h)
        scores = net.op("MatMul", f"l{i}_scores", parts("q", n, [0, 2, 1, 3]), parts("k", n, [0, 2, 3, 1]))
        mixed = net.op("MatMul", f"l{i}_mixed", net.op("Softmax", f"l{i}_softmax", scores, axis=-1),
                       parts("v", n, [0, 2, 1, 3]))
        joined = net.op("Reshape", f"l{i}_joined", net.op("Transpose", f"l{i}_back", mixed, perm=[0, 2, 1, 3]), "join")
        h = net.op("Add", f"l{i}_attended", h, net.linear(joined, f"l{i}_out", width, width))
        up = net.op("Relu", f"l{i}_relu", net.linear(norm("norm2", h), f"l{i}_up", width, 4 * width))
        h = net.op("Add", f"l{i}_added", h, net.linear(up, f"l{i}_down", 4 * width, width))
    return net.write(path, "x", [batch, length, width], h, [batch, length, width])
