"""The kernels that are measured: operators of ResNet-50, MobileNetV2, BERT and GPT,
and rows, transposes and pools of 64 MB and more.

A case is a function of dims that makes a graph (graph.py), with the dims to measure
and small ones that the emulator and compute-sanitizer can bear.
"""

import dataclasses
import math

from graph import integers, node, patterned

# Largest error by the largest magnitude of the output.
TOLERANCES = {"f16": 3e-3, "bf16": 2e-2, "tf32": 2e-3, "f32": 2e-5}


@dataclasses.dataclass
class Case:
    name: str
    kind: str  # its section in the tables
    type: str  # "f16", "bf16", "tf32" or "f32"
    make: object
    full: tuple
    small: tuple
    # Whether PyTorch's compiler may join what its operators do one by one.
    is_joined: bool = False

    def graph(self, is_small):
        made = self.make(*(self.small if is_small else self.full))
        dtype = "f32" if self.type == "tf32" else self.type
        return {"dtype": dtype, "opset": 20, "constants": {}, **made}


# Products


def gemm(m, k, n, epilogue):
    nodes, constants = [node("MatMul", ["x", "w"], "p")], {"w": patterned([k, n], 1 / math.sqrt(k))}
    inputs, last = {"x": [m, k]}, "p"
    if "bias" in epilogue:
        constants["b"] = patterned([n], 0.5, 77)
        nodes.append(node("Add", [last, "b"], "q"))
        last = "q"
    if "residual" in epilogue:
        inputs["r"] = [m, n]
        nodes.append(node("Add", [last, "r"], "s"))
        last = "s"
    for name in "Gelu", "Relu":
        if name.lower() in epilogue:
            nodes.append(node(name, [last], name.lower()))
            last = name.lower()
    return {"inputs": inputs, "constants": constants, "nodes": nodes, "outputs": [last], "dims": {last: [m, n]},
            "flops": 2 * m * k * n}


def square(m, k, n):
    """Both factors change."""
    return {"inputs": {"x": [m, k], "w": [k, n]}, "nodes": [node("MatMul", ["x", "w"], "y")], "outputs": ["y"],
            "dims": {"y": [m, n]}, "flops": 2 * m * k * n}


def gemms():
    small = (64, 64, 96)
    shapes = [  # of BERT-base and large (tokens first), GPT, ResNet-50's last product
        ("bert", 4096, 768, 768, "bias residual"), ("bert", 4096, 768, 3072, "bias gelu"),
        ("bert", 4096, 3072, 768, "bias residual"), ("bert", 128, 768, 768, "bias"), ("bert", 128, 768, 3072, "bias gelu"),
        ("bert", 128, 3072, 768, "bias residual"), ("bert", 384, 1024, 4096, "bias gelu"), ("gpt", 1024, 768, 2304, "bias"),
        ("gpt", 2048, 4096, 4096, ""), ("gpt", 1, 4096, 4096, ""), ("gpt", 16, 4096, 4096, "bias"),
        ("resnet", 32, 2048, 1000, "bias"), ("mlp", 8192, 1024, 1024, "bias relu")]
    for kind in "f16", "bf16", "tf32":
        for where, m, k, n, epilogue in shapes:
            if kind == "bf16" and where not in ("bert", "gpt"):
                continue
            last = f" {epilogue.replace(' ', '+')}" if epilogue else ""
            # Few rows are another kernel than many.
            rows = (min(m, 64), *small[1:]) if m < 64 else small
            yield Case(f"gemm {where} {m}x{k}x{n}{last} {kind}", "products", kind, gemm, (m, k, n, epilogue),
                       (*rows, epilogue), bool(epilogue))
        for size in (2048, 4096, 8192) if kind != "tf32" else (2048, 4096):
            yield Case(f"gemm {size}^3 {kind}", "products", kind, square, (size,) * 3, small)
    yield Case("gemm 2048^3 f32", "products", "f32", square, (2048,) * 3, small)


# Convolutions


def conv(batch, side, channels, outputs, kernel, stride, groups, last, layout="nchw"):
    pad, terms = kernel // 2, channels // groups
    size = (side + 2 * pad - kernel) // stride + 1
    constants = {"w": patterned([outputs, terms, kernel, kernel], 1 / math.sqrt(terms * kernel * kernel)),
                 "b": patterned([outputs], 0.5, 77)}
    nodes = [node("Conv", ["x", "w", "b"], "c", kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                  group=groups)]
    output = "c"
    if last == "relu":
        nodes.append(node("Relu", ["c"], "y"))
        output = "y"
    elif last == "relu6":
        constants |= {"zero": {"dims": [], "type": "float", "values": [0]}, "six": {"dims": [], "type": "float", "values": [6]}}
        nodes.append(node("Clip", ["c", "zero", "six"], "y"))
        output = "y"
    dims = {"x": [batch, channels, side, side], output: [batch, outputs, size, size]}
    if layout == "nhwc":
        nodes = [node("Transpose", ["x_last"], "x", perm=[0, 3, 1, 2]), *nodes,
                 node("Transpose", [output], f"{output}_last", perm=[0, 2, 3, 1])]
        dims = {f"{name}_last": [d[0], d[2], d[3], d[1]] for name, d in dims.items()}
        output += "_last"
    x = next(iter(dims))
    return {"inputs": {x: dims[x]}, "constants": constants, "nodes": nodes, "outputs": [output],
            "dims": {output: dims[output]}, "flops": 2 * batch * size * size * outputs * terms * kernel * kernel}


def convolutions():
    shapes = [(32, 56, 64, 64, 3, 1), (32, 56, 64, 256, 1, 1), (32, 56, 256, 64, 1, 1), (32, 56, 128, 128, 3, 2),
              (32, 28, 128, 128, 3, 1), (32, 28, 512, 128, 1, 1), (32, 28, 128, 512, 1, 1), (32, 14, 256, 256, 3, 1),
              (32, 14, 1024, 256, 1, 1), (32, 7, 512, 512, 3, 1), (32, 7, 2048, 512, 1, 1), (32, 56, 256, 512, 1, 2),
              (32, 224, 3, 64, 7, 2), (1, 56, 64, 64, 3, 1), (1, 14, 256, 256, 3, 1)]
    for kind in "f16", "tf32":
        for batch, side, channels, outputs, kernel, stride in shapes:
            if kind == "tf32" and batch > 1 and side not in (56, 14):
                continue
            few = 3 if channels == 3 else 16
            yield Case(f"conv {batch} {side}x{side} {channels}>{outputs} {kernel}x{kernel}/{stride} {kind}", "convolutions",
                       kind, conv, (batch, side, channels, outputs, kernel, stride, 1, "relu"),
                       (1, 14, few, 32, kernel, stride, 1, "relu"), True)
    for side, channels, stride in [(112, 32, 1), (112, 96, 2), (56, 144, 1), (28, 192, 1), (14, 384, 1), (14, 576, 1),
                                   (7, 960, 1)]:
        yield Case(f"depthwise 32 {side}x{side} {channels} 3x3/{stride} f16", "convolutions", "f16", conv,
                   (32, side, channels, channels, 3, stride, channels, "relu6"), (1, 14, 32, 32, 3, stride, 32, "relu6"), True)
    for side, channels, outputs in [(56, 24, 144), (28, 32, 192), (14, 96, 576), (14, 576, 96), (7, 320, 1280)]:
        yield Case(f"conv 32 {side}x{side} {channels}>{outputs} 1x1/1 mobilenet f16", "convolutions", "f16", conv,
                   (32, side, channels, outputs, 1, 1, 1, "relu6"), (1, 7, 24, 32, 1, 1, 1, "relu6"), True)


# Rows


def plain(dims, nodes, constants=None, inputs=("x",), output=None):
    """A graph on inputs of equal dims, whose result is called y."""
    return {"inputs": {name: list(dims) for name in inputs}, "constants": constants or {}, "nodes": nodes, "outputs": ["y"],
            "dims": {"y": list(output or dims)}, "flops": 0}


def softmax(*dims):
    return plain(dims, [node("Softmax", ["x"], "y", axis=-1)])


def affine(width):
    return {"g": patterned([width], 0.3, 5), "b": patterned([width], 0.3, 77)}


def layer_norm(rows, width):
    return plain((rows, width), [node("LayerNormalization", ["x", "g", "b"], "y", axis=-1, epsilon=1e-5)], affine(width))


def residual_norm(rows, width):
    return plain((rows, width), [node("Add", ["x", "r"], "s"),
                                 node("LayerNormalization", ["s", "g", "b"], "y", axis=-1, epsilon=1e-5)],
                 affine(width), ("x", "r"))


def rms_norm(rows, width):
    epsilon = {"dims": [], "type": "float", "values": [1e-5]}
    nodes = [node("Mul", ["x", "x"], "s"), node("ReduceMean", ["s", "axes"], "m", keepdims=1),
             node("Add", ["m", "e"], "a"), node("Sqrt", ["a"], "d"), node("Div", ["x", "d"], "n"), node("Mul", ["n", "g"], "y")]
    return plain((rows, width), nodes, {"axes": integers([-1]), "e": epsilon, "g": patterned([width], 0.3, 5)})


def transpose(*dims_and_order):
    rank = len(dims_and_order) // 2
    dims, order = dims_and_order[:rank], dims_and_order[rank:]
    return plain(dims, [node("Transpose", ["x"], "y", perm=list(order))], output=[dims[i] for i in order])


def add(rows, width):
    return plain((rows, width), [node("Add", ["x", "z"], "y")], inputs=("x", "z"))


def gelu(rows, width):
    return plain((rows, width), [node("Add", ["x", "b"], "s"), node("Gelu", ["s"], "y")], {"b": patterned([width], 0.3)})


def swish(rows, width):
    return plain((rows, width), [node("Sigmoid", ["x"], "s"), node("Mul", ["x", "s"], "m"), node("Mul", ["m", "z"], "y")],
                 inputs=("x", "z"))


def reduce(axis, rows, width):
    kept = [rows, width][1 - axis]
    return plain((rows, width), [node("ReduceSum", ["x", "axes"], "y", keepdims=0)], {"axes": integers([axis])}, output=[kept])


def max_pool(batch, channels, side):
    nodes = [node("MaxPool", ["x"], "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])]
    return plain((batch, channels, side, side), nodes, output=(batch, channels, side // 2, side // 2))


def mean_pool(batch, channels, side):
    return plain((batch, channels, side, side), [node("GlobalAveragePool", ["x"], "y")], output=(batch, channels, 1, 1))


def rows():
    for kind, many in ("f16", 32768), ("f32", 16384):
        def case(name, make, full, small, is_joined=False, kind=kind):
            return Case(f"{name} {kind}", "memory", kind, make, full, small, is_joined)
        yield case("softmax 1024", softmax, (many, 1024), (16, 128), True)
        yield case("softmax 50257", softmax, (many // 32, 50257), (3, 5003), True)
        yield case("softmax attention", softmax, (many // 3072, 12, 512, 512), (1, 2, 16, 16), True)
        yield case("layer norm 768", layer_norm, (many * 4 // 3, 768), (9, 96), True)
        yield case("layer norm 4096", layer_norm, (many // 4, 4096), (5, 512), True)
        yield case("rms norm 4096", rms_norm, (many // 4, 4096), (5, 512), True)
        yield case("residual+norm 1024", residual_norm, (many, 1024), (9, 128), True)
        yield case("transpose 01", transpose, (many // 4, 4096, 1, 0), (48, 80, 1, 0))
        yield case("transpose nchw>nhwc", transpose, (many // 512, 256, 56, 56, 0, 2, 3, 1), (2, 32, 5, 7, 0, 2, 3, 1))
        yield case("transpose heads", transpose, (many // 512, 512, 16, 64, 0, 2, 1, 3), (2, 16, 4, 8, 0, 2, 1, 3))
        yield case("add", add, (many, 1024), (16, 128))
        yield case("bias+gelu", gelu, (many // 4, 4096), (8, 96), True)
        yield case("swish product", swish, (many // 4, 4096), (8, 96), True)
        yield case("sum of rows", reduce, (1, many, 1024), (1, 16, 128))
        yield case("sum of columns", reduce, (0, many, 1024), (0, 48, 96))
        yield case("max pool", max_pool, (many // 512, 64, 112), (1, 8, 14))
        yield case("global mean", mean_pool, (many // 512, 512, 56), (1, 32, 7))


def kernels():
    yield from gemms()
    yield from convolutions()
    yield from rows()
