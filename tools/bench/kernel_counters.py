"""Counts what the kernels of small models ask of a GPU, on the emulator.

    python tools/bench/kernel_counters.py [--build build] [--write]

Compiles a fixed list of models for some architectures, runs each once with
MLC_EMULATOR_COUNTERS (docs/Cuda.md), and prints a table in Markdown. --write
puts it into docs/Measurements/kernel-counters.md, and the figures into
test/cuda/kernel_counters.json, with which test/cuda/test_counters.py compares.
No figure depends on time or chance.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/cuda"))
from emulated import Graph, skeleton_of  # noqa: E402

ARCHITECTURES = ("sm_80", "sm_90a")
DATA = ROOT / "test/cuda/kernel_counters.json"
PAGE = ROOT / "docs/Measurements/kernel-counters.md"
TYPES = {"f16": np.float16, "f32": np.float32, "tf32": np.float32}


class Models:
    """Adds the models to a graph, each a case of it. `products`: the multiply-adds that each needs."""

    def __init__(self, graph):
        self.graph, self.products, self.bytes = graph, {}, {}
        self.rng = np.random.default_rng(7)

    def normal(self, kind, *shape):
        return self.rng.standard_normal(shape).astype(TYPES[kind])

    def add(self, name, make, products=0):
        case = self.graph.case(name, None)
        case.output(make(case))
        self.products[name] = products

    def matmuls(self):
        """Tiles that are full, such that are not, and the tiles of many rows."""
        for size, m, k, n, dims in (("even", 128, 192, 128, None), ("odd", 67, 75, 93, None), ("many rows", 256, 96, 256, "M")):
            for kind in "f16", "tf32":
                def make(case, kind=kind, m=m, k=k, n=n, dims=dims):
                    x = case.input(self.normal(kind, m, k), dims and [dims, k])
                    product = case.node("MatMul", x, self.normal(kind, k, n))
                    return case.node("Relu", case.node("Add", product, self.normal(kind, n)))
                self.add(f"matmul {kind} {size} {m}x{k}x{n}", make, m * k * n)

            def make(case, m=m, k=k, n=n, dims=dims):
                x = case.input(self.rng.integers(0, 256, (m, k), np.uint8), dims and [dims, k])
                sums = case.node("MatMulInteger", x, self.rng.integers(-128, 128, (k, n), np.int8))
                scaled = case.node("Mul", case.node("Cast", sums, to=TensorProto.FLOAT), np.float32(1 / 64))
                return case.node("Relu", case.node("Add", scaled, self.normal("f32", n)))
            self.add(f"matmul int8 {size} {m}x{k}x{n}", make, m * k * n)

    def convolutions(self):
        def one(name, kind, x, w, groups=1, dims=None, stride=1):
            def make(case):
                given = case.input(self.normal(kind, *x), dims)
                sums = case.node("Conv", given, self.normal(kind, *w), self.normal(kind, w[0]), group=groups,
                                 pads=[w[2] // 2] * 4, strides=[stride] * 2)
                return case.node("Relu", sums)
            pixels = x[0] * -(-x[2] // stride) * -(-x[3] // stride)
            self.add(f"{name} {kind} {'x'.join(map(str, x))} to {w[0]}", make, pixels * math.prod(w))
        for kind in "f16", "tf32":
            one("conv 3x3", kind, (2, 32, 14, 14), (64, 32, 3, 3))
            one("conv 3x3 odd", kind, (1, 19, 13, 11), (21, 19, 3, 3))
            one("conv 3x3 many images", kind, (1, 16, 28, 28), (128, 16, 3, 3), dims=["Images", 16, 28, 28])
            one("conv 1x1", kind, (2, 64, 14, 14), (96, 64, 1, 1))
            one("conv 1x1 odd", kind, (1, 37, 13, 11), (21, 37, 1, 1))
        def last(name, kind, x, w):
            def make(case):
                given = case.node("Transpose", case.input(self.normal(kind, *x)), perm=[0, 3, 1, 2])
                sums = case.node("Conv", given, self.normal(kind, *w), self.normal(kind, w[0]), pads=[w[2] // 2] * 4)
                return case.node("Transpose", case.node("Relu", sums), perm=[0, 2, 3, 1])
            pixels = x[0] * x[1] * x[2]
            self.add(f"{name} {kind} {'x'.join(map(str, x))} to {w[0]}", make, pixels * math.prod(w))
        for kind in "f16", "tf32":
            last("conv 3x3 channels last", kind, (2, 14, 14, 32), (64, 32, 3, 3))
            last("conv 1x1 channels last", kind, (2, 14, 14, 64), (96, 64, 1, 1))
        for kind in "f16", "f32":
            one("depthwise", kind, (2, 32, 14, 14), (32, 1, 3, 3), groups=32)
            one("depthwise odd", kind, (1, 19, 13, 11), (19, 1, 3, 3), groups=19)
            one("depthwise strided", kind, (2, 32, 28, 28), (32, 1, 3, 3), groups=32, stride=2)
            one("groups of 4", kind, (2, 32, 14, 14), (32, 4, 3, 3), groups=8)

    def networks(self):
        """The first layers of a residual network, and its last."""
        for kind in "f16", "tf32":
            def make(case, kind=kind):
                def conv(x, channels, features, kernel, stride=1):
                    w = self.normal(kind, features, channels, kernel, kernel)
                    return case.node("Conv", x, w, self.normal(kind, features), pads=[kernel // 2] * 4, strides=[stride] * 2)
                x = case.node("Relu", conv(case.input(self.normal(kind, 2, 3, 48, 48)), 3, 32, 7, 2))
                x = case.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
                y = case.node("Relu", conv(x, 32, 16, 1))
                y = conv(case.node("Relu", conv(y, 16, 16, 3)), 16, 32, 1)
                return case.node("GlobalAveragePool", case.node("Relu", case.node("Add", x, y)))
            self.add(f"residual network {kind} 2x3x48x48", make, 2 * (24 * 24 * 147 * 32 + 12 * 12 * 16 * (32 + 144 + 32)))

    def rows(self):
        def one(name, kind, shape, make):
            self.add(f"{name} {kind} {'x'.join(map(str, shape))}",
                     lambda case: make(case, case.input(self.normal(kind, *shape))))
        for kind in "f32", "f16":
            for m, n in ((64, 512), (5, 333)):
                def rms(case, x, kind=kind, n=n):
                    squares = case.node("ReduceMean", case.node("Mul", x, x), np.array([-1]), keepdims=1)
                    root = case.node("Sqrt", case.node("Add", squares, np.asarray(1e-5, TYPES[kind])))
                    return case.node("Mul", case.node("Div", x, root), self.normal(kind, n))
                if kind == "f16" and m == 5:
                    continue  # the edges of rows are those of f32
                one("softmax", kind, (m, n), lambda case, x: case.node("Softmax", x, axis=-1))
                one("layer norm", kind, (m, n), lambda case, x, kind=kind, n=n: case.node(
                    "LayerNormalization", x, self.normal(kind, n), self.normal(kind, n)))
                one("RMS norm", kind, (m, n), rms)
                one("sum of rows", kind, (m, n), lambda case, x: case.node("ReduceSum", x, np.array([1]), keepdims=0))
                one("sum of columns", kind, (m, n), lambda case, x: case.node("ReduceSum", x, np.array([0]), keepdims=0))

    def copies(self):
        def one(name, kind, shape, make):
            self.add(f"{name} {kind} {'x'.join(map(str, shape))}",
                     lambda case: make(case, case.input(self.normal(kind, *shape))))
        for kind in "f32", "f16":
            for shape in (128, 256), (67, 95):
                one("transpose", kind, shape, lambda case, x: case.node("Transpose", x, perm=[1, 0]))
                one("add and relu", kind, shape, lambda case, x, kind=kind, shape=shape: case.node(
                    "Relu", case.node("Add", x, case.input(self.normal(kind, *shape)))))
                one("add a row", kind, shape, lambda case, x, kind=kind, shape=shape: case.node(
                    "Add", x, self.normal(kind, shape[1])))
            one("channels last", kind, (2, 24, 10, 14), lambda case, x: case.node("Transpose", x, perm=[0, 2, 3, 1]))
            for shape in (2, 16, 28, 28), (1, 7, 13, 11):
                one("max pool 3x3", kind, shape, lambda case, x: case.node(
                    "MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
            one("max pool 2x2", kind, (2, 16, 28, 28), lambda case, x: case.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
            one("max pool 3x3 channels last", kind, (2, 28, 28, 16), lambda case, x: case.node("Transpose", case.node(
                "MaxPool", case.node("Transpose", x, perm=[0, 3, 1, 2]), kernel_shape=[3, 3], strides=[2, 2],
                pads=[1, 1, 1, 1]), perm=[0, 2, 3, 1]))


def compiler_version():
    """The host compiler's major version, on which figures depend a little."""
    for name in "clang++-22", "clang++":
        try:
            text = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        return re.search(r"version (\d+)", text)[1]
    return ""


def measure(tools, folder, architecture):
    """{model: {"bytes", "multiply_adds": what it needs, "kernels": [{"skeleton", figures}, ...]}}"""
    graph = Graph(tools, folder, target=f"cuda:{architecture}")
    models = Models(graph)
    for add in models.matmuls, models.convolutions, models.networks, models.rows, models.copies:
        add()
    graph.compile()
    report = folder / "counters.json"
    # One device runs all, so that the emulator compiles a kernel once that several architectures have.
    results = graph.run({n: a for c in graph.cases for n, a in c.values().items()}, MLC_EMULATOR_COUNTERS=str(report),
                        MLC_EMULATOR_ARCH="sm_90")
    counted = {k["name"]: k for k in json.loads(report.read_text())["kernels"]}
    found = {}
    for case in graph.cases:
        arrays = [*case.values().values(), *case.constants.values(), *(results[n] for n in case.outputs)]
        kernels = []
        for symbol in case_kernels(graph, case):
            kernel = counted[symbol]
            kernels.append({"skeleton": skeleton_of(graph.sources[symbol]),
                            **{n: kernel[n] for n in ("launches", "blocks", "threads")}, **kernel["figures"]})
        found[case.name] = {"bytes": sum(a.nbytes for a in arrays), "multiply_adds": models.products[case.name],
                            "kernels": kernels}
    return found


def case_kernels(graph, case):
    symbols = graph.kernels[case.name]
    assert symbols and all(symbols) and len(set(symbols)) == len(symbols), f"{case.name}: {symbols}"
    others = {s for name, all_of in graph.kernels.items() if name != case.name for s in all_of}
    assert not others & set(symbols), f"{case.name} shares a kernel"
    return symbols


def measure_all(tools, folder):
    targets = {}
    for architecture in ARCHITECTURES:
        place = folder / architecture
        place.mkdir()
        targets[architecture] = measure(tools, place, architecture)
    return {"compiler": compiler_version(), "targets": targets}


# Of these, less is better.
COSTS = ["launches", "barriers", "warp_barriers", "shuffles", "products", "multiply_adds", "atomics",
         *(f"{memory}_{way}.{what}" for memory, unit in (("global", "sectors"), ("shared", "wavefronts"))
           for way in ("loads", "stores") for what in ("requests", unit))]


def total(model, figure):
    return sum(kernel.get(figure, 0) for kernel in model["kernels"])


def differences(committed, measured):
    """What got worse, and what else changed, as lines of text."""
    worse, other = [], []
    for architecture in {**committed["targets"], **measured["targets"]}:
        before, now = (m["targets"].get(architecture, {}) for m in (committed, measured))
        for name in {**before, **now}:
            where = f"{architecture}: {name}"
            if name not in before or name not in now:
                other.append(f"{where}: only {'measured' if name in now else 'committed'}")
            elif before[name] != now[name]:
                changed = [(figure, total(before[name], figure), total(now[name], figure)) for figure in COSTS]
                more = [f"{where}: {figure}: {new}, not {old}" for figure, old, new in changed if new > old]
                less = [f"{where}: {figure}: {new}, not {old}" for figure, old, new in changed if new < old]
                worse += more
                other += less if less or more else [f"{where}: blocks, widths or skeletons differ"]
    return worse, other


def both(kernel, memory, what):
    return sum(kernel.get(f"{memory}_{way}.{what}", 0) for way in ("loads", "stores"))


def ratio(value, least):
    return f"{value / least:.2f}" if least else ""


def asked(model):
    """How often the bytes of inputs, weights and results are asked for."""
    return 32 * sum(both(kernel, "global", "sectors") for kernel in model["kernels"]) / model["bytes"]


def conflicts(kernel):
    wavefronts = both(kernel, "shared", "wavefronts")
    return (wavefronts - both(kernel, "shared", "ideal_wavefronts")) / wavefronts if wavefronts else 0


def narrow(kernel):
    """The share of requests of 1 or 2 bytes a lane."""
    return sum(both(kernel, "global", f"of_{width}_bytes") for width in (1, 2)) / both(kernel, "global", "requests")


def worst_of(models):
    """A table of the models with the worst figures, which are the first to repair."""
    rows = [
        ("asked / needed", lambda model, _: asked(model)),
        ("sectors / ideal", lambda _, kernel: both(kernel, "global", "sectors") / both(kernel, "global", "ideal_sectors")),
        ("requests of 1 or 2 bytes, %", lambda _, kernel: 100 * narrow(kernel)),
        ("conflicts, % of wavefronts", lambda _, kernel: 100 * conflicts(kernel)),
        ("barriers of a block", lambda _, kernel: kernel.get("barriers", 0) / kernel["blocks"]),
        ("products / needed", lambda model, kernel: kernel.get("multiply_adds", 0) / (model["multiply_adds"] or math.inf))]
    lines = ["| figure | worst |", "|---|---|"]
    for title, value in rows:
        worst = sorted(((max(value(model, kernel) for kernel in model["kernels"]), name) for name, model in models.items()),
                       key=lambda pair: -pair[0])
        lines.append(f"| {title} | " + "; ".join(f"{name}: {number:.3g}" for number, name in worst[:6]) + " |")
    return lines


def row_of(model, kernel, first):
    requests = both(kernel, "global", "requests")
    widths = [f"{100 * count / requests:.0f} % of {width}" for width in (16, 8, 4, 2, 1)
              if (count := both(kernel, "global", f"of_{width}_bytes"))]
    return [kernel["skeleton"], kernel["blocks"], f"{asked(model):.2f}" if first else "",
            ratio(both(kernel, "global", "sectors"), both(kernel, "global", "ideal_sectors")), ", ".join(widths),
            f"{conflicts(kernel):.2f}" if both(kernel, "shared", "wavefronts") else "", f"{kernel.get('barriers', 0) / kernel['blocks']:.3g}",
            kernel.get("shuffles", 0) or "",
            ratio(kernel.get("multiply_adds", 0), model["multiply_adds"]) if kernel.get("multiply_adds") else ""]


def page_of(measured):
    lines = [
        "# What kernels ask of a GPU", "",
        "Made by tools/bench/kernel_counters.py on the emulator, whose counters [Cuda.md](../Cuda.md#counters) explains; no time was measured. "
        "Models have constant weights. Those of many rows or images are compiled with that dim left open. Columns:", "",
        "- asked / needed: 32 bytes for each sector of all requests of the model, divided by the bytes of its inputs, weights and results; what exceeds 1 "
        "is left to caches;",
        "- sectors / ideal: of the kernel's requests;",
        "- width: its requests of global memory by the bytes of a lane;",
        "- conflicts: the share of wavefronts of shared memory that bank conflicts add;",
        "- barriers: for each block;",
        "- products / needed: multiply-adds of tensor cores, divided by those of the model. Empty without tensor cores.", ""]
    for architecture, models in measured["targets"].items():
        same = next(name for name, others in measured["targets"].items() if others == models)
        if same != architecture:
            lines += [f"## {architecture}", "", f"The same as {same}.", ""]
            continue
        lines += [f"## {architecture}", "", *worst_of(models), "",
                  "| model | kernel | blocks | asked / needed | sectors / ideal | width | conflicts | barriers | shuffles | products / needed |",
                  "|---|---|---|---|---|---|---|---|---|---|"]
        for name, model in models.items():
            for i, kernel in enumerate(model["kernels"]):
                cells = [name if i == 0 else "", *row_of(model, kernel, i == 0)]
                lines.append("| " + " | ".join(map(str, cells)) + " |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def text_of(measured):
    """As JSON with a kernel a line."""
    out = [f'{{"compiler": "{measured["compiler"]}", "targets": {{']
    for i, (architecture, models) in enumerate(measured["targets"].items()):
        out.append(("," if i else "") + f'"{architecture}": {{')
        for j, (name, model) in enumerate(models.items()):
            kernels = ",\n  ".join(json.dumps(kernel) for kernel in model["kernels"])
            out.append(("," if j else "") + f'"{name}": {{"bytes": {model["bytes"]}, "multiply_adds": {model["multiply_adds"]}, '
                       f'"kernels": [\n  {kernels}]}}')
        out.append("}")
    return "\n".join(out) + "\n}}\n"


class Tools:
    def __init__(self, build):
        self.build = build

    def mlc(self, *arguments, **options):
        return subprocess.run([self.build / "bin/mlc", *map(str, arguments)], capture_output=True, text=True, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--write", action="store_true", help="write the page and the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measured = measure_all(Tools(options.build), pathlib.Path(name))
    print(page_of(measured))
    if options.write:
        DATA.write_text(text_of(measured))
        PAGE.write_text(page_of(measured))


if __name__ == "__main__":
    sys.exit(main())
