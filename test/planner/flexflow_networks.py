"""The six networks of FlexFlow's evaluation (Jia et al. 2019), without their weights.

Normalizations are folded into the convolutions. Recurrent layers are unrolled; the columns of a cell's weights have the four
gates of a unit beside each other, so that units can be divided. Logits, and the attention of the translator, are computed for
all steps at once.
"""

from onnx import TensorProto, helper

from unweighted import Shapes, alexnet  # noqa: F401


def conv(net, x, name, inputs, outputs, size, stride=1, pad=None, relu=True):
    height, width = size if isinstance(size, tuple) else (size, size)
    if pad is None:
        pad = (height // 2, width // 2)
    elif isinstance(pad, int):
        pad = (pad, pad)
    y = net.op("Conv", name, x, net.weight(f"{name}.weight", outputs, inputs, height, width), net.weight(f"{name}.bias", outputs),
               strides=[stride, stride], pads=[*pad, *pad])
    return net.op("Relu", f"{name}_relu", y) if relu else y


def write(net, path, inputs, result, dims):
    graph = helper.make_graph(net.nodes, "network", [helper.make_tensor_value_info(*one) for one in inputs],
                              [helper.make_tensor_value_info(result, TensorProto.FLOAT, dims)], net.weights)
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


def resnet101(path, batch, layers=(3, 4, 23, 3), classes=1000, size=224):
    net = Shapes()
    h = conv(net, "x", "stem", 3, 64, 7, stride=2)
    h = net.op("MaxPool", "pool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, count in enumerate(layers):
        width = 64 << stage
        for block in range(count):
            name, stride = f"s{stage}b{block}", 2 if stage and block == 0 else 1
            y = conv(net, h, f"{name}_1", channels, width, 1)
            y = conv(net, y, f"{name}_2", width, width, 3, stride)
            y = conv(net, y, f"{name}_3", width, 4 * width, 1, relu=False)
            if block == 0:
                h = conv(net, h, f"{name}_skip", channels, 4 * width, 1, stride, relu=False)
            h = net.op("Relu", f"{name}_out", net.op("Add", f"{name}_sum", y, h))
            channels = 4 * width
    h = net.op("Flatten", "features", net.op("GlobalAveragePool", "mean", h))
    return write(net, path, [("x", TensorProto.FLOAT, [batch, 3, size, size])], net.linear(h, "fc", channels, classes, bias=True),
                 [batch, classes])


class Inception:
    """Szegedy et al. 2016, without its auxiliary classifier."""

    def __init__(self):
        self.net = Shapes()

    def conv(self, x, name, inputs, outputs, size, stride=1, pad=None):
        return conv(self.net, x, name, inputs, outputs, size, stride, pad)

    def join(self, name, *parts):
        return self.net.op("Concat", name, *parts, axis=1)

    def pool(self, x, name, kind="AveragePool", stride=1):
        return self.net.op(kind, name, x, kernel_shape=[3, 3], strides=[stride] * 2, pads=[1 if stride == 1 else 0] * 4)

    def a(self, x, n, channels, pooled):
        b = self.conv(self.conv(x, f"{n}_5a", channels, 48, 1), f"{n}_5b", 48, 64, 5)
        c = self.conv(self.conv(self.conv(x, f"{n}_3a", channels, 64, 1), f"{n}_3b", 64, 96, 3), f"{n}_3c", 96, 96, 3)
        p = self.conv(self.pool(x, f"{n}_pool"), f"{n}_p", channels, pooled, 1)
        return self.join(n, self.conv(x, f"{n}_1", channels, 64, 1), b, c, p), 224 + pooled

    def b(self, x, n, channels):
        c = self.conv(self.conv(self.conv(x, f"{n}_a", channels, 64, 1), f"{n}_b", 64, 96, 3), f"{n}_c", 96, 96, 3, 2, 0)
        return self.join(n, self.conv(x, f"{n}_3", channels, 384, 3, 2, 0), c, self.pool(x, f"{n}_pool", "MaxPool", 2)), channels + 480

    def c(self, x, n, channels, w):
        b = self.conv(self.conv(self.conv(x, f"{n}_b1", channels, w, 1), f"{n}_b2", w, w, (1, 7)), f"{n}_b3", w, 192, (7, 1))
        c = self.conv(x, f"{n}_c1", channels, w, 1)
        for i, size in enumerate([(7, 1), (1, 7), (7, 1), (1, 7)]):
            c = self.conv(c, f"{n}_c{i + 2}", w, 192 if i == 3 else w, size)
        p = self.conv(self.pool(x, f"{n}_pool"), f"{n}_p", channels, 192, 1)
        return self.join(n, self.conv(x, f"{n}_1", channels, 192, 1), b, c, p), 768

    def d(self, x, n, channels):
        b = self.conv(self.conv(x, f"{n}_a1", channels, 192, 1), f"{n}_a2", 192, 320, 3, 2, 0)
        c = self.conv(self.conv(x, f"{n}_b1", channels, 192, 1), f"{n}_b2", 192, 192, (1, 7))
        c = self.conv(self.conv(c, f"{n}_b3", 192, 192, (7, 1)), f"{n}_b4", 192, 192, 3, 2, 0)
        return self.join(n, b, c, self.pool(x, f"{n}_pool", "MaxPool", 2)), channels + 512

    def e(self, x, n, channels):
        b = self.conv(x, f"{n}_b1", channels, 384, 1)
        c = self.conv(self.conv(x, f"{n}_c1", channels, 448, 1), f"{n}_c2", 448, 384, 3)
        parts = [self.conv(x, f"{n}_1", channels, 320, 1)]
        for name, h in [("b", b), ("c", c)]:
            parts += [self.conv(h, f"{n}_{name}w", 384, 384, (1, 3)), self.conv(h, f"{n}_{name}h", 384, 384, (3, 1))]
        parts.append(self.conv(self.pool(x, f"{n}_pool"), f"{n}_p", channels, 192, 1))
        return self.join(n, *parts), 2048


def inception_v3(path, batch, classes=1000, size=299, mixed=(2, 4, 1)):
    """`mixed`: how many modules of 35, 17 and 8 pixels follow the first, the second and the third."""
    b = Inception()
    h = b.conv(b.conv(b.conv("x", "stem1", 3, 32, 3, 2, 0), "stem2", 32, 32, 3, 1, 0), "stem3", 32, 64, 3)
    h = b.conv(b.conv(b.pool(h, "stem_pool1", "MaxPool", 2), "stem4", 64, 80, 1), "stem5", 80, 192, 3, 1, 0)
    h = b.pool(h, "stem_pool2", "MaxPool", 2)
    h, channels = b.a(h, "a0", 192, 32)
    for i in range(mixed[0]):
        h, channels = b.a(h, f"a{i + 1}", channels, 64)
    h, channels = b.b(h, "b0", channels)
    for i, width in enumerate([128, 160, 160, 192][:mixed[1]]):
        h, channels = b.c(h, f"c{i}", channels, width)
    h, channels = b.d(h, "d0", channels)
    for i in range(mixed[2] + 1):
        h, channels = b.e(h, f"e{i}", channels)
    h = b.net.op("Flatten", "features", b.net.op("GlobalAveragePool", "mean", h))
    return write(b.net, path, [("x", TensorProto.FLOAT, [batch, 3, size, size])],
                 b.net.linear(h, "fc", channels, classes, bias=True), [batch, classes])


class Recurrent:
    """LSTM layers, step by step."""

    def __init__(self, batch):
        self.net, self.batch = Shapes(), batch
        self.net.numbers("one", [1])

    def embed(self, tokens, name, vocabulary, width, steps):
        """A tensor for each step."""
        net = self.net
        all_steps = net.op("Gather", name, net.weight(f"{name}.weight", vocabulary, width), tokens, axis=0)
        parts = [f"{name}_{t}" for t in range(steps)]
        net.nodes.append(helper.make_node("Split", [all_steps], parts, name=f"{name}_split", axis=1))
        return [net.op("Squeeze", f"{name}_{t}_x", part, "one") for t, part in enumerate(parts)]

    def lstm(self, xs, name, inputs, units):
        """The outputs of a layer, step after step."""
        net = self.net
        net.numbers(f"{name}.gates", [0, units, 4])
        net.numbers(f"{name}.two", [2])
        weight, own = net.weight(f"{name}.weight", inputs, 4 * units), net.weight(f"{name}.recurrent", units, 4 * units)
        bias = net.weight(f"{name}.bias", 4 * units)
        h = c = None
        hs = []
        for t, x in enumerate(xs):
            n = f"{name}_{t}"
            sums = net.op("Add", f"{n}_biased", net.op("MatMul", f"{n}_in", x, weight), bias)
            if h is not None:
                sums = net.op("Add", f"{n}_sums", sums, net.op("MatMul", f"{n}_own", h, own))
            gates = [f"{n}_{gate}" for gate in "ifgo"]
            net.nodes.append(helper.make_node("Split", [net.op("Reshape", f"{n}_gates", sums, f"{name}.gates")], gates,
                                              name=f"{n}_split", axis=2))
            i, f, g, o = (net.op(kind, f"{gate}_on", net.op("Squeeze", f"{gate}_flat", gate, f"{name}.two"))
                          for kind, gate in zip(["Sigmoid", "Sigmoid", "Tanh", "Sigmoid"], gates))
            new = net.op("Mul", f"{n}_new", i, g)
            c = new if c is None else net.op("Add", f"{n}_c", net.op("Mul", f"{n}_kept", f, c), new)
            h = net.op("Mul", f"{n}_h", o, net.op("Tanh", f"{n}_tanh", c))
            hs.append(h)
        return hs

    def stack(self, hs, name):
        """[batch, steps, units]"""
        return self.net.op("Concat", name, *[self.net.op("Unsqueeze", f"{h}_row", h, "one") for h in hs], axis=1)

    def write(self, path, inputs, steps, result, dims):
        return write(self.net, path, [(name, TensorProto.INT64, [self.batch, steps]) for name in inputs], result, dims)


def rnntc(path, batch, units=1024, layers=4, steps=40, vocabulary=10_000, classes=2):
    """Text classification."""
    b = Recurrent(batch)
    hs = b.embed("tokens", "embedding", vocabulary, units, steps)
    for i in range(layers):
        hs = b.lstm(hs, f"layer{i}", units, units)
    return b.write(path, ["tokens"], steps, b.net.linear(hs[-1], "classes", units, classes, bias=True), [batch, classes])


def rnnlm(path, batch, units=2048, layers=2, steps=40, vocabulary=10_000):
    """A language model."""
    b = Recurrent(batch)
    hs = b.embed("tokens", "embedding", vocabulary, units, steps)
    for i in range(layers):
        hs = b.lstm(hs, f"layer{i}", units, units)
    return b.write(path, ["tokens"], steps, b.net.linear(b.stack(hs, "states"), "logits", units, vocabulary, bias=True),
                   [batch, steps, vocabulary])


def nmt(path, batch, units=1024, layers=4, steps=40, vocabulary=30_000):
    """A translator: half of the layers read, half write, with attention to what was read (Luong et al. 2015)."""
    b = Recurrent(batch)
    net, states = b.net, []
    for side in ("source", "output"):
        hs = b.embed(side, f"{side}_embedding", vocabulary, units, steps)
        for i in range(layers // 2):
            hs = b.lstm(hs, f"{side}{i}", units, units)
        states.append(b.stack(hs, f"{side}_states"))
    read, written = states
    scores = net.op("MatMul", "scores", written, net.op("Transpose", "turned", read, perm=[0, 2, 1]))
    context = net.op("MatMul", "context", net.op("Softmax", "attention", scores, axis=-1), read)
    both = net.op("Concat", "both", context, written, axis=2)
    mixed = net.op("Tanh", "mixed", net.linear(both, "mix", 2 * units, units))
    return b.write(path, ["source", "output"], steps, net.linear(mixed, "logits", units, vocabulary, bias=True),
                   [batch, steps, vocabulary])


# By name: how a network is written, the batch, and the axis of the classes.
NETWORKS = {"alexnet": (alexnet, 256, 1), "inception-v3": (inception_v3, 64, 1), "resnet-101": (resnet101, 64, 1),
            "rnntc": (rnntc, 64, 1), "rnnlm": (rnnlm, 64, 2), "nmt": (nmt, 64, 2)}
