"""Eight small networks as they are trained: `build(name)` gives the model, its
inputs, the flags of the loss and the target. All drawn from seeds."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Nodes one after the other; weights as they are needed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights = [], {}

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind.lower()}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def weight(self, name, *shape, scale=None, offset=0.0):
        terms = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        scale = np.sqrt(1.0 / terms) if scale is None else scale
        self.weights[name] = (offset + scale * self.rng.standard_normal(shape)).astype(np.float32)
        return name

    def numbers(self, name, values):
        self.weights[name] = np.asarray(values)
        return name

    def linear(self, x, name, rows, columns):
        product = self.op("MatMul", x, self.weight(f"{name}.weight", rows, columns))
        return self.op("Add", product, self.weight(f"{name}.bias", columns, scale=0.1))

    def conv(self, x, name, channels, inputs, size, **attributes):
        weight = self.weight(f"{name}.weight", channels, inputs, size, size)
        return self.op("Conv", x, weight, self.weight(f"{name}.bias", channels, scale=0.1), **attributes)

    def layer_norm(self, x, name, width):
        return self.op("LayerNormalization", x, self.weight(f"{name}.scale", width, scale=0.1, offset=1.0),
                       self.weight(f"{name}.bias", width, scale=0.1), axis=-1)

    def model(self, inputs, output, dims):
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                 for name, value in inputs.items()]
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, dims)
        weights = [numpy_helper.from_array(v, k) for k, v in self.weights.items()]
        graph = helper.make_graph(self.nodes, "network", infos, [result], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def mlp(net):
    x = {"x": net.rng.standard_normal((9, 13)).astype(np.float32)}
    h = net.op("Relu", net.linear("x", "first", 13, 24))
    h = net.op("Tanh", net.linear(h, "second", 24, 17))
    y = net.linear(h, "third", 17, 5)
    return x, y, (9, 5), ["--loss=cross-entropy"], net.rng.integers(-1, 5, 9)


def alexnet(net):
    x = {"x": net.rng.standard_normal((2, 3, 19, 19)).astype(np.float32)}
    h = net.op("Relu", net.conv("x", "conv1", 8, 3, 5, strides=[2, 2], pads=[1, 1, 1, 1]))
    h = net.op("LRN", h, size=3, alpha=0.02, beta=0.75, bias=1.0)
    h = net.op("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2])
    h = net.op("Relu", net.conv(h, "conv2", 12, 4, 3, group=2, pads=[1, 1, 1, 1]))
    h = net.op("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2])
    h = net.op("Flatten", h)
    h = net.op("Relu", net.linear(h, "fc1", 12 * 2 * 2, 16))
    y = net.linear(h, "fc2", 16, 7)
    return x, y, (2, 7), ["--loss=cross-entropy"], net.rng.integers(0, 7, 2)


def batch_norm(net, x, name, width):
    """Of the batch's own statistics, from simple operators."""
    mean = net.op("ReduceMean", x, axes=[0, 2, 3], keepdims=1)
    centered = net.op("Sub", x, mean)
    variance = net.op("ReduceMean", net.op("Mul", centered, centered), axes=[0, 2, 3], keepdims=1)
    if "epsilon" not in net.weights:
        net.numbers("epsilon", np.float32(1e-5))
    normal = net.op("Div", centered, net.op("Sqrt", net.op("Add", variance, "epsilon")))
    scaled = net.op("Mul", normal, net.weight(f"{name}.scale", width, 1, 1, scale=0.1, offset=1.0))
    return net.op("Add", scaled, net.weight(f"{name}.bias", width, 1, 1, scale=0.1))


def resnet(net):
    x = {"x": net.rng.standard_normal((4, 3, 9, 9)).astype(np.float32)}
    h = net.op("Relu", batch_norm(net, net.conv("x", "stem", 6, 3, 3, pads=[1, 1, 1, 1]), "norm0", 6))
    width = 6
    for i, (channels, stride) in enumerate([(6, 1), (10, 2)]):
        inner = net.conv(h, f"block{i}.conv1", channels, width, 3, pads=[1, 1, 1, 1], strides=[stride, stride])
        inner = net.op("Relu", batch_norm(net, inner, f"block{i}.norm1", channels))
        inner = net.conv(inner, f"block{i}.conv2", channels, channels, 3, pads=[1, 1, 1, 1])
        inner = batch_norm(net, inner, f"block{i}.norm2", channels)
        if channels != width or stride != 1:
            h = net.conv(h, f"block{i}.shortcut", channels, width, 1, strides=[stride, stride])
        h = net.op("Relu", net.op("Add", h, inner))
        width = channels
    h = net.op("Flatten", net.op("GlobalAveragePool", h))
    return x, net.linear(h, "head", width, 4), (4, 4), ["--loss=cross-entropy"], net.rng.integers(0, 4, 4)


def depthwise(net):
    x = {"x": net.rng.standard_normal((2, 4, 11, 7)).astype(np.float32)}
    h = net.op("Clip", net.conv("x", "expand", 12, 4, 1), net.numbers("low", np.float32(0)),
               net.numbers("high", np.float32(6)))
    h = net.conv(h, "depth", 12, 1, 3, group=12, strides=[2, 2], pads=[1, 1, 1, 1])
    h = net.op("Mul", h, net.op("Sigmoid", h))
    h = net.op("HardSwish", net.conv(h, "wide", 12, 1, 3, group=12, dilations=[2, 2], pads=[2, 2, 2, 2]))
    gate = net.op("HardSigmoid", net.conv(net.op("GlobalAveragePool", h), "gate", 12, 12, 1))
    h = net.conv(net.op("Mul", h, gate), "project", 6, 12, 1)
    y = net.linear(net.op("Flatten", net.op("GlobalAveragePool", h)), "head", 6, 3)
    return x, y, (2, 3), ["--loss=mse"], net.rng.standard_normal((2, 3)).astype(np.float32)


def unet(net):
    x = {"x": net.rng.standard_normal((2, 2, 8, 12)).astype(np.float32)}
    a = net.op("LeakyRelu", net.conv("x", "down1", 4, 2, 3, pads=[1, 1, 1, 1]), alpha=0.1)
    h = net.op("AveragePool", a, kernel_shape=[2, 2], strides=[2, 2])
    b = net.op("Elu", net.conv(h, "down2", 6, 4, 3, pads=[1, 1, 1, 1]))
    h = net.op("MaxPool", b, kernel_shape=[2, 2], strides=[2, 2])
    h = net.op("Relu", net.conv(h, "bottom", 8, 6, 3, pads=[1, 1, 1, 1]))
    h = net.op("ConvTranspose", h, net.weight("up2.weight", 8, 6, 2, 2), net.weight("up2.bias", 6, scale=0.1),
               strides=[2, 2])
    h = net.op("Relu", net.conv(net.op("Concat", b, h, axis=1), "join2", 6, 12, 3, pads=[1, 1, 1, 1]))
    h = net.op("ConvTranspose", h, net.weight("up1.weight", 6, 4, 3, 3), net.weight("up1.bias", 4, scale=0.1),
               strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    h = net.op("Relu", net.conv(net.op("Concat", a, h, axis=1), "join1", 4, 8, 3, pads=[1, 1, 1, 1]))
    y = net.conv(h, "head", 3, 4, 1)
    return x, y, (2, 3, 8, 12), ["--loss=cross-entropy"], net.rng.integers(-1, 3, (2, 8, 12))


def lstm(net, steps=16, width=7, inputs=5):
    x = {"x": net.rng.standard_normal((3, steps, inputs)).astype(np.float32),
         "h0": net.rng.standard_normal((3, width)).astype(np.float32),
         "c0": net.rng.standard_normal((3, width)).astype(np.float32)}
    net.weight("w", inputs, 4 * width)
    net.weight("r", width, 4 * width)
    net.weight("b", 4 * width, scale=0.1)
    parts = net.numbers("parts", np.full(4, width, np.int64))
    one = net.numbers("axis", np.array([1], np.int64))
    h, c = "h0", "c0"
    slices = net.op("Split", "x", net.numbers("ones", np.ones(steps, np.int64)), outputs=steps, axis=1)
    for part in slices:
        step = net.op("Squeeze", part, one)
        gates = net.op("Add", net.op("Add", net.op("MatMul", step, "w"), net.op("MatMul", h, "r")), "b")
        i, f, g, o = net.op("Split", gates, parts, outputs=4, axis=1)
        i, f, o = (net.op("Sigmoid", gate) for gate in (i, f, o))
        c = net.op("Add", net.op("Mul", f, c), net.op("Mul", i, net.op("Tanh", g)))
        h = net.op("Mul", o, net.op("Tanh", c))
    return x, net.linear(h, "head", width, 4), (3, 4), ["--loss=cross-entropy"], net.rng.integers(0, 4, 3)


def attention(net, queries, keys, name, width, heads, mask=None):
    """The sizes stand in the model, as its inputs are of fixed ones."""
    size = width // heads

    def split(x, part, perm):
        h = net.linear(x, f"{name}.{part}", width, width)
        return net.op("Transpose", net.op("Reshape", h, net.numbers(f"{name}.{part}.heads",
                      np.array([0, 0, heads, size], np.int64))), perm=perm)

    q = split(queries, "q", [0, 2, 1, 3])
    k = split(keys, "k", [0, 2, 3, 1])
    v = split(keys, "v", [0, 2, 1, 3])
    if "root" not in net.weights:
        net.numbers("root", np.float32(np.sqrt(size)))
    scores = net.op("Div", net.op("MatMul", q, k), "root")
    if mask:
        scores = net.op("Add", scores, mask)
    joined = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    joined = net.op("Reshape", joined, net.numbers(f"{name}.join", np.array([0, 0, width], np.int64)))
    return net.linear(joined, f"{name}.out", width, width)


def gelu(net, x):
    if "half" not in net.weights:
        net.numbers("half", np.float32(0.5))
        net.numbers("one", np.float32(1))
        net.numbers("root2", np.float32(np.sqrt(2)))
    erf = net.op("Erf", net.op("Div", x, "root2"))
    return net.op("Mul", net.op("Mul", x, "half"), net.op("Add", erf, "one"))


def causal(net, length):
    mask = np.triu(np.full((length, length), -1e9, np.float32), 1)
    net.nodes.append(helper.make_node("Constant", [], ["mask"], value=numpy_helper.from_array(mask)))
    return "mask"


def feed_forward(net, x, name, width):
    return net.linear(gelu(net, net.linear(x, f"{name}.up", width, 2 * width)), f"{name}.down", 2 * width, width)


def gpt(net, length=6, width=8, words=11, heads=2):
    tokens = {"tokens": net.rng.integers(0, words, (2, length))}
    net.weight("embedding", words, width, scale=0.5)
    h = net.op("Add", net.op("Gather", "embedding", "tokens"), net.weight("positions", length, width, scale=0.1))
    mask = causal(net, length)
    for i in range(2):
        n = net.layer_norm(h, f"layer{i}.norm1", width)
        h = net.op("Add", h, attention(net, n, n, f"layer{i}.attention", width, heads, mask))
        h = net.op("Add", h, feed_forward(net, net.layer_norm(h, f"layer{i}.norm2", width), f"layer{i}", width))
    h = net.layer_norm(h, "norm", width)
    y = net.op("MatMul", h, net.op("Transpose", "embedding", perm=[1, 0]))
    return (tokens, y, (2, length, words), ["--loss=cross-entropy", "--class-axis=-1"],
            net.rng.integers(0, words, (2, length)))


def translator(net, width=8, words=9):
    inputs = {"source": net.rng.integers(0, words, (2, 5)), "words": net.rng.integers(0, words, (2, 4))}
    net.weight("source.embedding", words, width, scale=0.5)
    net.weight("words.embedding", words, width, scale=0.5)
    e = net.op("Gather", "source.embedding", "source")
    e = net.layer_norm(net.op("Add", e, attention(net, e, e, "encoder.attention", width, 2)), "encoder.norm1", width)
    e = net.layer_norm(net.op("Add", e, feed_forward(net, e, "encoder", width)), "encoder.norm2", width)
    d = net.op("Gather", "words.embedding", "words")
    own = attention(net, d, d, "decoder.own", width, 2, causal(net, 4))
    d = net.layer_norm(net.op("Add", d, own), "decoder.norm1", width)
    d = net.layer_norm(net.op("Add", d, attention(net, d, e, "decoder.cross", width, 2)), "decoder.norm2", width)
    d = net.layer_norm(net.op("Add", d, feed_forward(net, d, "decoder", width)), "decoder.norm3", width)
    y = net.linear(d, "head", width, words)
    return (inputs, y, (2, 4, words), ["--loss=cross-entropy", "--class-axis=2"],
            net.rng.integers(-1, words, (2, 4)))


NETWORKS = {"mlp": mlp, "alexnet": alexnet, "resnet": resnet, "depthwise": depthwise, "unet": unet, "lstm": lstm,
            "gpt": gpt, "translator": translator}


def build(name):
    """(model, inputs with the target, flags)."""
    net = Network(sum(map(ord, name)))
    inputs, output, dims, flags, target = NETWORKS[name](net)
    model = net.model(inputs, output, dims)
    onnx.checker.check_model(model, full_check=False)
    return model, {**inputs, "target": target}, flags


def write(folder, name):
    """The model and its inputs as files; the flags that `mlc gradients` takes for them."""
    model, inputs, flags = build(name)
    onnx.save(model, folder / f"{name}.onnx")
    for key, value in inputs.items():
        np.save(folder / f"{key}.npy", value)
    return [folder / f"{name}.onnx", *flags, *(f"--input={key}={folder / key}.npy" for key in inputs)]


def samples(inputs):
    """Three times as many as a batch has, by the names of the inputs."""
    made = {}
    for name, value in inputs.items():
        if value.dtype == np.float32:
            parts = [value, np.float32(0.5) * np.roll(value, 1, -1) + np.float32(0.1), -value]
        else:
            parts = [value, value[::-1], np.roll(value, 1, -1)]
        made[name] = np.concatenate(parts)
    return made


class Random:
    """SplitMix64, as runtime/Random.h has it."""

    MASK = (1 << 64) - 1

    def __init__(self, seed):
        self.state = seed & self.MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
        return z ^ (z >> 31)


def batch_of(seed, step, count, size):
    """The places of the samples of a step, as `mlc train` takes them."""
    epoch, step = divmod(step, count // size)
    random = Random(Random(seed).bits() + epoch)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = random.bits() % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order[step * size:(step + 1) * size]


# What the runs of 50 steps are made with; PyTorch's names, and mlc's flags.
OPTIMIZERS = {
    "momentum": ({"lr": 0.01, "momentum": 0.9, "weight_decay": 0.001},
                 ["--optimizer=momentum", "--learning-rate=0.01", "--weight-decay=0.001"]),
    "adamw": ({"lr": 0.003, "weight_decay": 0.02},
              ["--optimizer=adamw", "--learning-rate=0.003", "--weight-decay=0.02"]),
}
STEPS, SEED = 50, 7
