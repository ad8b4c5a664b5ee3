"""Random graphs around convolutions give the same values in every layout.

A graph is a chain of operators on [n, c, h, w] with the things that meet a
layout: fills (channels that are no whole blocks) that become infinite, parts and
joins at and off block borders, broadcasts of one channel, reductions over pixels
and over channels. Elements stay finite, as the pass takes them to be.
"""

import random

import numpy as np
import pytest

LAYOUTS = ("channels-last", "block=1", "block=4", "block=16")
SEEDS = range(48)


def tensor(dims):
    return f"tensor<{'x'.join(map(str, dims))}xf32>"


def listed(values):
    return f"#mlc.dims<[{', '.join(map(str, values))}]>"


class Graph:
    """An mlc function under construction; `last` is its newest value."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines, self.values = [], []
        channels = self.pick.choice([1, 3, 4, 6, 8, 12, 17, 20, 32])
        self.input = [self.pick.choice([1, 2]), channels, self.pick.randint(1, 9), self.pick.randint(1, 9)]
        self.values.append(("%x", self.input))
        steps = [self.conv, self.depthwise, self.pointwise, self.positive, self.add, self.beside, self.pool, self.pad,
                 self.slice, self.concat, self.resize, self.reduce, self.gate, self.transpose]
        self.conv(*self.values[0])
        for _ in range(self.pick.randint(4, 12)):
            self.pick.choice(steps)(*self.pick.choice([self.values[-1]] * 3 + self.values[-3:]))
        self.conv(*self.values[-1])

    def emit(self, op, operands, attributes, dims):
        name = f"%v{len(self.lines)}"
        names, types = ", ".join(n for n, _ in operands), ", ".join(tensor(d) for _, d in operands)
        self.lines.append(f"{name} = mlc.{op} {names} {{{attributes}}} : ({types}) -> {tensor(dims)}")
        self.values.append((name, dims))
        return self.values[-1]

    def constant(self, dims, elements=None):
        name, dims = f"%v{len(self.lines)}", list(dims)
        if elements is None:
            elements = self.numbers.uniform(-1, 1, dims).astype("f4")
        text = f'"0x{elements.tobytes().hex().upper()}"' if elements.size > 1 else f"{elements.flat[0]:.6e}"
        self.lines.append(f"{name} = mlc.constant dense<{text}> : {tensor(dims)}")
        return name, dims

    def conv(self, x, d, depthwise=False):
        n, c, h, w = d
        divisors = [g for g in range(1, c + 1) if c % g == 0]
        groups = c if depthwise else self.pick.choice([1, 1, self.pick.choice(divisors)])
        outputs = c if depthwise else groups * self.pick.choice([1, 2, 3, 5, 8])
        kernel = [self.pick.choice([1, 3]), self.pick.choice([1, 2, 3])]
        pads = [self.pick.randint(0, 1) for _ in range(4)]
        strides, dilations = [self.pick.randint(1, 2), self.pick.randint(1, 2)], [self.pick.choice([1, 1, 2]), 1]
        size = [(s + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
                for i, s in enumerate((h, w))]
        if min(size) < 1:
            return
        self.emit("conv", [(x, d), self.constant([outputs, c // groups, *kernel])],
                  f"strides = {listed(strides)}, pads = {listed(pads)}, dilations = {listed(dilations)}, "
                  f"groups = #mlc.int<{groups}>", [n, outputs, *size])

    def depthwise(self, x, d):
        self.conv(x, d, depthwise=True)

    def pointwise(self, x, d):
        self.emit(self.pick.choice(["relu", "tanh", "sigmoid"]), [(x, d)], "", d)

    def positive(self, x, d):
        """A function that is infinite at 0, where fills are and elements are not."""
        each = self.numbers.uniform(0.5, 1, [1, d[1], 1, 1]).astype("f4")
        above = self.emit("add", [self.emit("abs", [(x, d)], "", d),
                                  self.emit("broadcast", [self.constant(each.shape, each)], f"dims = {listed(d)}", d)],
                          "", d)
        self.emit(self.pick.choice(["log", "reciprocal"]), [above], "", d)

    def add(self, x, d):
        self.emit("add", [(x, d), self.pick.choice([v for v in self.values if v[1] == d])], "", d)

    def beside(self, x, d):
        """A constant, or another value, of one pixel or one channel."""
        few = [self.constant(self.pick.choice([[1, d[1], 1, 1], [1, 1, 1, 1], d]))]
        few += [v for v in self.values if v[1] != d and all(a in (1, b) for a, b in zip(v[1], d))]
        wide = self.emit("broadcast", [self.pick.choice(few)], f"dims = {listed(d)}", d)
        self.emit(self.pick.choice(["add", "mul"]), [(x, d), wide], "", d)

    def pool(self, x, d):
        kernel = [self.pick.randint(1, 3), self.pick.randint(1, 3)]
        pads, stride = [k // 2 * self.pick.randint(0, 1) for k in kernel] * 2, self.pick.randint(1, 2)
        size = [(d[2 + i] + 2 * pads[i] - k) // stride + 1 for i, k in enumerate(kernel)]
        if min(size) < 1:
            return
        kind = self.pick.choice(["max", "avg"])
        counted = f"count_include_pad = {self.pick.choice(['true', 'false'])}, " if kind == "avg" else ""
        self.emit(f"{kind}_pool", [(x, d)],
                  f"{counted}kernel = {listed(kernel)}, ceil_pads = {listed([0, 0])}, pads = {listed(pads)}, "
                  f"strides = {listed([stride] * 2)}, dilations = {listed([1, 1])}", [*d[:2], *size])

    def pad(self, x, d):
        low = [0, self.pick.choice([0, 0, 1, 4]), self.pick.randint(0, 2), 0]
        high = [0, self.pick.choice([0, 0, 1, 4]), 0, self.pick.randint(0, 2)]
        self.emit("pad", [(x, d)], f'low = {listed(low)}, high = {listed(high)}, value = #mlc.real<1.5>, '
                  f'mode = "{self.pick.choice(["constant", "edge"])}"', [a + b + s for a, b, s in zip(low, high, d)])

    def slice(self, x, d):
        axis = self.pick.choice([1, 1, 2])
        start = self.pick.choice([s for s in (0, 1, 4, 7, 8, 16) if s < d[axis]])
        size, step = self.pick.randint(1, d[axis] - start), 1
        if start + 2 * (size - 1) < d[axis]:
            step = self.pick.choice([1, 2])
        starts, sizes, steps = [0] * 4, list(d), [1] * 4
        starts[axis], sizes[axis], steps[axis] = start, size, step
        self.emit("slice", [(x, d)],
                  f"starts = {listed(starts)}, sizes = {listed(sizes)}, steps = {listed(steps)}", sizes)

    def concat(self, x, d):
        axis = self.pick.choice([0, 1, 1, 2, 3])
        other = self.pick.choice([v for v in self.values if all(v[1][i] == d[i] for i in range(4) if i != axis)])
        dims = list(d)
        dims[axis] += other[1][axis]
        self.emit("concat", [(x, d), other], f"axis = {axis} : i64", dims)

    def resize(self, x, d):
        dims = [*d[:2], d[2] * 2, max(1, d[3] - 1)]
        self.emit("resize", [(x, d)], f'dims = {listed(dims)}, mode = "{self.pick.choice(["linear", "nearest"])}", '
                  'nearest_mode = "floor", scales = [], transform = "asymmetric"', dims)

    def reduce(self, x, d):
        axes = self.pick.choice([[2, 3], [2], [1], [1, 2, 3]])
        self.emit("reduce", [(x, d)], f'axes = array<i64: {", ".join(map(str, axes))}>, '
                  f'kind = "{self.pick.choice(["mean", "sum", "max"])}"',
                  [1 if i in axes else s for i, s in enumerate(d)])

    def gate(self, x, d):
        """Each pixel times what its channels come to, of which fills are none."""
        per_pixel = [d[0], 1, *d[2:]]
        total = self.emit("reduce", [self.emit("sigmoid", [(x, d)], "", d)],
                          'axes = array<i64: 1>, kind = "mean"', per_pixel)
        self.emit("mul", [(x, d), self.emit("broadcast", [total], f"dims = {listed(d)}", d)], "", d)

    def transpose(self, x, d):
        order = self.pick.choice([[0, 1, 3, 2], [0, 2, 1, 3], [0, 3, 2, 1]])
        self.emit("transpose", [(x, d)], f"permutation = array<i64: {', '.join(map(str, order))}>",
                  [d[i] for i in order])

    def text(self):
        name, dims = self.values[-1]
        body = "\n".join(f"  {line}" for line in self.lines)
        head = f"func.func @main(%x: {tensor(self.input)}) -> {tensor(dims)}"
        return f"{head} {{\n{body}\n  return {name} : {tensor(dims)}\n}}\n"


def evaluate(tools, file, x, folder):
    done = tools.run("mlc-eval", file, f"--input={x}", f"--output-dir={folder}")
    assert done.returncode == 0, done.stderr
    return np.load(folder / "0.npy")


def agree(tools, folder, graph, layouts):
    plain, x = folder / "plain.mlir", folder / "x.npy"
    plain.write_text(graph.text())
    np.save(x, graph.numbers.uniform(-1, 1, graph.input).astype("f4"))
    want = evaluate(tools, plain, x, folder / "plain")
    for layout in layouts:
        stored = folder / "stored.mlir"
        done = tools.run("mlc-opt", f"--mlc-assign-layout={layout}", plain, "-o", stored)
        assert done.returncode == 0, done.stderr
        got = evaluate(tools, stored, x, folder / "stored")
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, 1e-3, 1e-4, err_msg=f"{layout}\n{graph.text()}")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_values_are_the_same(tools, tmp_path, seed):
    agree(tools, tmp_path, Graph(seed), LAYOUTS)


def test_graphs_meet_layouts(tools, tmp_path):
    """The seeds above do lay operators out, of many kinds."""
    kinds = set()
    for seed in SEEDS:
        file = tmp_path / f"{seed}.mlir"
        file.write_text(Graph(seed).text())
        text = tools.run("mlc-opt", "--mlc-assign-layout=block=4", file).stdout
        kinds |= {part.split('"')[0] for part in text.split('plain_op = "mlc.')[1:]}
    assert {"conv", "max_pool", "avg_pool", "broadcast", "slice", "concat", "resize", "reduce"} <= kinds, kinds


@pytest.mark.parametrize("layout", LAYOUTS)
def test_channels_that_are_padded_are_no_fills(tools, tmp_path, layout):
    """Three channels fill no block, and a fourth is 1.5, not what fills hold."""
    graph = Graph(0)
    graph.lines, graph.values, graph.input = [], [], [1, 3, 4, 4]
    x = graph.emit("conv", [("%x", graph.input), graph.constant([3, 3, 1, 1])],
                   "strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, "
                   "groups = #mlc.int<1>", [1, 3, 4, 4])
    graph.emit("pad", [x], 'low = #mlc.dims<[0, 0, 0, 0]>, high = #mlc.dims<[0, 1, 0, 0]>, value = #mlc.real<1.5>, '
               'mode = "constant"', [1, 4, 4, 4])
    agree(tools, tmp_path, graph, [layout])
