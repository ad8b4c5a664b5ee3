"""Graphs on which rules apply, and some on which they must not: what rewriting_faults.py has the engine optimize."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import directions

SEED = 26


def rule(name, arguments, before, after, conditions=()):
    """A rule over %x, ... of type !t; lines are without types of operands, the last value is returned."""
    text = f'rule.def @{name} "{name}" {{\n' + "".join(f"  {c}\n" for c in conditions)
    for which, lines in (("before", before), ("after", after)):
        names = arguments if which == "before" else arguments.replace(" {rule.positive}", "")
        text += f"  func.func @{which}({names}) -> !t {{\n"
        for i, line in enumerate(lines):
            operands = ", ".join(["!t"] * (line.split("{")[0].count("%")))
            text += f"    %{i} = mlc.{line} : ({operands}) -> !t\n"
        text += f"    return %{len(lines) - 1 if lines else 'x'} : !t\n  }}\n"
    return text + "}\n"


CLIP = "clip {} {{min = #mlc.real<{}>, max = #mlc.real<{}>}}"
# Besides those of directions.py: with a value, a number or a condition that the engine must look at.
RULES = (
    rule("clips", "%x: !t", [CLIP.format("%x", "lo", "hi"), CLIP.format("%0", "lo", "hi")], [CLIP.format("%x", "lo", "hi")])
    + rule("relu_of_leaky", "%x: !t", ["leaky_relu %x {alpha = #mlc.real<alpha>}", "relu %0"], ["relu %x"],
           ["rule.assume_real alpha ge 0.0"])
    + rule("six", "%x: !t", [CLIP.format("%x", "0.0", "6.0"), "relu %0"], [CLIP.format("%x", "0.0", "6.0")])
    + rule("maximum_of_one", "%x: !t", ["max %x, %x"], [])
    + rule("difference_of_sum", "%x: !t, %y: !t", ["add %x, %y", "sub %0, %y"], [])
    + rule("scale_of_maximum", "%x: !t, %y: !t, %s: !t {rule.positive}", ["mul %x, %s", "mul %y, %s", "max %0, %1"],
           ["max %x, %y", "mul %0, %s"])
    + """!r = tensor<1x?xf32, #mlc.dims<[1, b]>>
!s = tensor<?x?xf32, #mlc.dims<[c, b]>>
rule.def @sum_of_one "a sum of one row" {
  rule.require c eq 1
  func.func @before(%x: !t) -> !r {
    %0 = mlc.slice %x {starts = #mlc.dims<[i, 0]>, sizes = #mlc.dims<[c, b]>, steps = #mlc.dims<[1, 1]>} : (!t) -> !s
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (!s) -> !r
    return %1 : !r
  }
  func.func @after(%x: !t) -> !r {
    %0 = mlc.slice %x {starts = #mlc.dims<[i, 0]>, sizes = #mlc.dims<[1, b]>, steps = #mlc.dims<[1, 1]>} : (!t) -> !r
    return %0 : !r
  }
}
""")


class Network:
    """A random network of convolutions, products and movement, in which shipped rules apply."""

    def __init__(self, seed):
        self.random = np.random.default_rng([SEED, seed])
        self.nodes, self.weights, self.count = [], {}, 0

    def normal(self, *shape):
        return (self.random.standard_normal(shape) * 0.5).astype(np.float32)

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(value)
        return name

    def add(self, op, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}"
        inputs = [i if isinstance(i, str) else self.weight(i) for i in inputs]
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{self.count}", **attributes))
        return name

    def convolution(self, x, channels, made):
        size = int(self.random.choice([1, 3]))
        y = self.add("Conv", x, self.normal(made, channels, size, size), pads=[size // 2] * 4)
        kind = self.random.integers(4)
        if kind == 0:
            return self.add("BatchNormalization", y, *(self.normal(made) for _ in range(3)),
                            self.random.uniform(0.5, 2, made).astype(np.float32))
        if kind == 1:
            return self.add("Add", self.add("Mul", y, self.normal(1, made, 1, 1)), self.normal(1, made, 1, 1))
        return self.add("Relu", y) if kind == 2 else y

    def images(self):
        """Branches that read one value, joined."""
        x, channels = "x", 4
        for _ in range(self.random.integers(2, 4)):
            parts = [self.convolution(x, channels, 4) for _ in range(self.random.integers(1, 4))]
            if len(parts) > 1 and self.random.integers(2):
                x, channels = self.add("Concat", *parts, axis=1), 4 * len(parts)
            else:
                x, channels = parts[0], 4
                for part in parts[1:]:
                    x = self.add("Add", x, part)
            if self.random.integers(3) == 0:
                x = self.add("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            if self.random.integers(3) == 0:
                x = self.add("Relu", self.add("Relu", x))
        x = self.add("GlobalAveragePool", x)
        return self.model([1, 4, 6, 6], self.add("Flatten", x), [1, channels])

    def products(self):
        """Products of one value, scaled, turned, cut and joined."""
        x, width = "x", 8
        for _ in range(self.random.integers(2, 4)):
            parts = []
            for _ in range(self.random.integers(1, 4)):
                y = self.add("MatMul", x, self.normal(width, 8))
                kind = self.random.integers(4)
                if kind == 0:
                    y = self.add("Mul", y, np.full((1, 8), 0.5, np.float32))
                elif kind == 1:
                    y = self.add("Transpose", self.add("Relu", self.add("Transpose", y, perm=[1, 0])), perm=[1, 0])
                elif kind == 2:
                    y = self.add("Sub", y, self.normal(8))
                parts.append(y)
            x, width = parts[0], 8
            if len(parts) > 1 and self.random.integers(2):
                x = self.add("Concat", *parts, axis=1)
                begin = 8 * int(self.random.integers(len(parts)))
                x = self.add("Slice", x, np.int64([begin]), np.int64([begin + 8]), np.int64([1]))
            for y in parts[1:]:
                x = self.add(self.random.choice(["Add", "Sub", "Mul"]), x, y)
        return self.model([4, 8], x, [4, 8])

    def model(self, ins, output, outs):
        tensor = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "graph", [tensor("x", TensorProto.FLOAT, ins)],
                                  [tensor(output, TensorProto.FLOAT, outs)],
                                  [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Lure(directions.Graph):
    """A graph in which a rule of RULES seems to apply and does not, or does."""

    def __init__(self):
        super().__init__(np.random.default_rng(SEED))

    def clip(self, x, low, high):
        return self.add("Clip", x, self.constant(low), self.constant(high))

    def lure(self, name):
        full = lambda *values: np.resize(np.array(values, np.float32), directions.DIMS)
        if name.startswith("clips"):
            bounds = {"clips": (0, 3), "clips of other": (-1, 6), "clips of one": (0, 6)}[name]
            return self.clip(self.clip("x", 0, 6), *bounds)
        if name.startswith("relu of clip"):
            low, high = {"relu of clip to six": (0, 6), "relu of clip to four": (-1, 4)}[name]
            return self.add("Relu", self.clip("x", low, high))
        if name.startswith("leaky"):
            alpha = {"leaky": 0.25, "leaky below": -0.5, "leaky without end": np.inf, "leaky by NaN": np.nan}[name]
            return self.add("Relu", self.add("LeakyRelu", "x", alpha=alpha))
        if name.startswith("maximum"):
            return self.add("Max", "x", "x" if name == "maximum of one" else "y")
        if name.startswith("difference"):
            return self.add("Sub", self.add("Add", "x", "y"), {"difference": "y", "difference of other": "z",
                                                               "difference of same": "x"}[name])
        if name.startswith("scale"):
            constant = self.constant(1.0, directions.DIMS)
            self.weights[constant][:] = full(*{"scale": (1, 2, 0.5), "scale below": (1, -2),
                                               "scale without end": (1, np.inf), "scale by NaN": (1, np.nan)}[name])
            return self.add("Max", self.add("Mul", "x", constant), self.add("Mul", "y", constant))
        begin, end = {"slice of one": (3, 4), "slice of many": (8, 16)}[name]
        ends = [self.constant(0, [1]) for _ in range(3)]
        for constant, value in zip(ends, (begin, end, 0)):
            self.weights[constant] = np.int64([value])
        cut = self.add("Slice", "x", *ends)
        self.weights["axes"] = np.int64([0])
        return self.add("Add", self.add("ReduceSum", cut, "axes"), "y")


LURES = ["clips of one", "clips of other", "relu of clip to four", "leaky", "leaky below", "leaky without end", "maximum",
         "difference of other", "difference of same", "scale", "scale below", "scale by NaN", "slice of many"]


def graphs(count):
    """(name, model, text of its rules); `count` random ones of each kind."""
    types = "!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\n"
    for name in LURES:
        graph = Lure()
        yield name, graph.model([graph.lure(name)]), types + RULES
    for i in range(count):
        graph = directions.Graph(np.random.default_rng([SEED, i]))
        for _ in range(graph.random.integers(4, 14)):
            graph.grow()
        yield f"directions {i}", graph.model(graph.values[-3:]), directions.rule_text()
        yield f"images {i}", Network(2 * i).images(), None
        yield f"products {i}", Network(2 * i + 1).products(), None


# How results are compared


def widened(model):
    """The model over float64, in which rounding says little."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for port in [*wide.graph.input, *wide.graph.output]:
        if port.type.tensor_type.elem_type == TensorProto.FLOAT:
            port.type.tensor_type.elem_type = TensorProto.DOUBLE
    for i, one in enumerate(wide.graph.initializer):
        if one.data_type == TensorProto.FLOAT:
            value = numpy_helper.to_array(one).astype(np.float64)
            wide.graph.initializer[i].CopyFrom(numpy_helper.from_array(value, one.name))
    for node in wide.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float64)))
    return wide


def feeds(model, random):
    """Three times values for the inputs."""
    for _ in range(3):
        feed = {}
        for port in model.graph.input:
            dims = [d.dim_value for d in port.type.tensor_type.shape.dim]
            if port.type.tensor_type.elem_type == TensorProto.BOOL:
                feed[port.name] = random.random(dims) < 0.7
            else:
                feed[port.name] = random.choice([0.25, -0.5, 0.0, 1.0, 2.0, -3.0, 5.0], dims).astype(np.float32)
        yield feed


def difference(before, after):
    """What differs, or nothing: finite elements stay finite, and are equal but for rounding."""
    runs = [[ReferenceEvaluator(m) for m in pair] for pair in ((before, after), (widened(before), widened(after)))]
    for feed in feeds(before, np.random.default_rng(SEED)):
        wide = {k: v if v.dtype == bool else v.astype(np.float64) for k, v in feed.items()}
        with np.errstate(all="ignore"):
            narrow = [m.run(None, feed) for m in runs[0]]
            precise = [m.run(None, wide) for m in runs[1]]
        for x, y in zip(*narrow):
            if x.shape != y.shape:
                return f"{x.shape} became {y.shape}"
            lost = np.isfinite(x) & ~np.isfinite(y)
            if lost.any():
                return f"{x[lost][0]} became {y[lost][0]}"
        for x, y in zip(*precise):
            with np.errstate(all="ignore"):
                wrong = np.isfinite(x) & ~(np.abs(x - y) <= 1e-4 * (1 + np.abs(x)))
            if wrong.any():
                return f"{x[wrong][0]} became {y[wrong][0]}"
    return ""
