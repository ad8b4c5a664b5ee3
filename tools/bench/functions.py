"""How far off every function of one tensor is, and the page about it.

usage: ./dev functions [--inputs N] [--targets LIST] [--only NAMES] [--write]

Compiles each element-wise ONNX operator for float32, float16 and bfloat16,
runs it on N float32 inputs of all magnitudes and on all 65,536 values of the
small types, and compares with double precision. Errors are counted in units in
the last place of the result (subnormals have one unit, 2^-149 in float32).
Limits are 4 units in float32 and 1 in the small types; zeros, infinities and
NaN must be right. --write makes docs/Accuracy.md. Exit code 5 when a limit is
exceeded.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime/python"))
import mlc  # noqa: E402

OPSET = 22
PIECE = 1 << 16


def each(function):
    """`function` of Python's floats on arrays; what it raises is NaN."""
    def safe(value):
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan
    return lambda x: np.fromiter(map(safe, x.tolist()), np.float64, x.size)


def normal_cdf(x):
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x):
    decay = np.exp(-np.abs(x))
    return np.where(x < 0, decay, 1.0) / (1.0 + decay)


def mish(x):
    e = np.exp(np.minimum(x, 40.0))
    return x * (e * (e + 2) / (e * (e + 2) + 2))


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def single(value):
    return float(np.float32(value))


def selu(x):
    return single(1.05070102214813232421875) * elu(x, single(1.67326319217681884765625))


def gelu_tanh(x):
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def hard_sigmoid(x, alpha, beta):
    return np.clip(single(alpha) * x + beta, 0, 1)


def sign(x):
    return np.where(x > 0, 1.0, np.where(x < 0, -1.0, x))


def table():
    """References for the rows of the compiler's table of scalar functions."""
    text = (ROOT / "dialects/Definition/ScalarFunctions.def").read_text()
    rows = re.findall(r'\.name = "(\w+)"[^)]*?\.onnx = \{\.name = "(\w+)"', text)
    # NumPy's are double precision too, and know overflow; large angles are Python's.
    functions = {"neg": np.negative, "roundeven": np.rint, "sin": each(math.sin), "cos": each(math.cos)}
    return {onnx_name: (functions.get(name) or getattr(np, name, None) or each(getattr(math, name)), {})
            for name, onnx_name in rows if name != "not"}


# ONNX's name: (reference in double precision, attributes). A second form of an
# operator has its name behind a dot.
FUNCTIONS = dict(sorted((table() | {
    "Celu": (lambda x: np.maximum(x, 0) + np.minimum(0.0, 1.5 * np.expm1(np.minimum(x / 1.5, 1))), {"alpha": 1.5}),
    "Cosh": (np.cosh, {}),
    "Elu": (elu, {}),
    "Gelu": (lambda x: x * each(normal_cdf)(x), {}),
    "Gelu.tanh": (gelu_tanh, {"approximate": "tanh"}),
    "HardSigmoid": (lambda x: hard_sigmoid(x, float(np.float32(0.2)), 0.5), {}),
    "HardSwish": (lambda x: x * hard_sigmoid(x, 1 / 6, 0.5), {}),
    "LeakyRelu": (lambda x: np.where(x >= 0, x, single(0.01) * x), {}),
    "Mish": (mish, {}),
    "Relu": (lambda x: np.maximum(x, 0), {}),
    "Selu": (selu, {}),
    "Sigmoid": (sigmoid, {}),
    "Sign": (sign, {}),
    "Sinh": (np.sinh, {}),
    "Softplus": (softplus, {}),
    "Softsign": (lambda x: x / (1 + np.abs(x)), {}),
    "Swish": (lambda x: x * sigmoid(x), {}),
    "Tan": (each(math.tan), {}),
}).items()))
OPSETS = {"Swish": 24}
# Functions whose value at a zero is a zero with a sign that counts.
ZERO_AT_ZERO = {"Sinh", "Softsign", "Tan"}
with np.errstate(all="ignore"):
    ZERO_AT_ZERO |= {name for name, (function, _) in table().items() if function(np.zeros(1))[0] == 0}
# What a product of two rounded factors loses where one of them is subnormal:
# there the result, itself below 1e-36, is held to this many smallest numbers.
GRADUAL = {"Gelu": 64, "Gelu.tanh": 64, "Mish": 128, "Swish": 128}

TYPES = {  # name: (ONNX's type, bits of the significand, smallest exponent, first overflow)
    "float32": (TensorProto.FLOAT, 24, -149, 128),
    "float16": (TensorProto.FLOAT16, 11, -24, 16),
    "bfloat16": (TensorProto.BFLOAT16, 8, -133, 128),
}
LIMITS = {"float32": 4.0, "float16": 1.0, "bfloat16": 1.0}
# Gelu by tanh has the exponential of a rounded polynomial, whose error grows
# with the exponent; the other is a product of four rounded factors.
WIDER = {("Gelu.tanh", "float32"): 300.0, ("Gelu", "float32"): 6.0}


def model(names, kind, binary=False):
    """One output for each function. bfloat16, which NumPy lacks, comes and goes
    as float32, which holds it."""
    onnx_type = TYPES[kind][0]
    outside = TensorProto.FLOAT if kind == "bfloat16" else onnx_type
    nodes, outputs = [], []
    inputs = ["x", "y"] if binary else ["x"]
    values = list(inputs)
    if outside != onnx_type:
        values = [f"{name}_small" for name in inputs]
        nodes += [helper.make_node("Cast", [a], [b], to=onnx_type) for a, b in zip(inputs, values)]
    for name in names:
        operator, attributes = name.split(".")[0], {} if binary else FUNCTIONS[name][1]
        result = name + "_small" if outside != onnx_type else name
        nodes.append(helper.make_node(operator, values, [result], name=name, **attributes))
        if outside != onnx_type:
            nodes.append(helper.make_node("Cast", [result], [name], to=outside))
        outputs.append(helper.make_tensor_value_info(name, outside, ["N"]))
    graph = helper.make_graph(
        nodes, "functions", [helper.make_tensor_value_info(a, outside, ["N"]) for a in inputs], outputs)
    opset = max([OPSET, *(OPSETS.get(name, 0) for name in names)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def compiled(build, folder, proto, target):
    path = pathlib.Path(folder) / "functions.onnx"
    onnx.save(proto, path)
    artifact = path.with_suffix(".mlca")
    command = [build / "bin/mlc", "compile", path, "-o", artifact, "--no-rewrites"]
    if target:
        command += ["--target", target]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return mlc.Session(mlc.load(artifact), threads=1)


def all_magnitudes(count, seed=0):
    """float32: bit patterns evenly spread over all of them, as many again where
    functions are neither 0 nor infinite, and every special number."""
    rng = np.random.default_rng(seed)
    half = count // 2
    bits = np.linspace(0, 2**32 - 4097, half).astype(np.int64)
    bits = (bits + rng.integers(0, 1 << 12, half)).astype(np.uint32)
    near = np.concatenate([
        rng.uniform(-110, 110, count - half - (count - half) // 3),
        rng.choice([-1, 1], (count - half) // 3) * np.exp2(rng.uniform(-30, 7, (count - half) // 3))])
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0**-149, -(2.0**-149), 2.0**-126,
               -(2.0**-126), 3.4028234663852886e38, -3.4028234663852886e38, math.pi, 88.72283, 89.0,
               -87.5, -103.9, -104.5, 0.5, -0.5, 1.5, 2.5, 1e10, 1e22, 2.2e38]
    return np.concatenate([bits.view(np.float32)[:half], near.astype(np.float32), np.array(special).astype(np.float32)])


def all_small(kind):
    bits = np.arange(1 << 16, dtype=np.uint32)
    if kind == "float16":
        return bits.astype(np.uint16).view(np.float16)
    return (bits << 16).view(np.float32)


def errors(got, reference, kind):
    """Units in the last place that `got` is off; infinite where a NaN is not
    where it should be. Overflow counts as the first number that is too large."""
    _, digits, smallest, overflow = TYPES[kind]
    got = got.astype(np.float64)
    largest = 2.0**overflow
    got = np.where(np.isinf(got), np.copysign(largest, got), got)
    wanted = np.clip(reference, -largest, largest)
    _, exponents = np.frexp(np.minimum(np.abs(wanted), np.nextafter(largest, 0)))
    unit = np.exp2(np.maximum(exponents - digits, smallest).astype(np.float64))
    with np.errstate(invalid="ignore"):
        off = np.abs(got - wanted) / unit
    off = np.where(np.isnan(got) & np.isnan(wanted), 0.0, off)
    return np.where(np.isnan(got) != np.isnan(wanted), np.inf, off)


def wrong_zeros(name, x, got):
    if name not in ZERO_AT_ZERO:
        return 0
    zero = x == 0
    wanted = FUNCTIONS[name][0](x[zero].astype(np.float64))
    return int(np.sum((got[zero] != 0) | (np.signbit(got[zero]) != np.signbit(wanted))))


class Worst:
    """The largest error seen, and where."""

    def __init__(self):
        self.units, self.where, self.zeros, self.gradual = 0.0, None, 0, 0.0

    def add(self, name, kind, inputs, got, reference):
        off = errors(got, reference, kind)
        if name in GRADUAL and kind != "float16":
            tiny = np.abs(reference) < 1e-36
            self.gradual = max(self.gradual, off[tiny].max(initial=0.0))
            off = np.where(tiny & (off <= GRADUAL[name]), 0.0, off)
        at = int(np.argmax(off))
        if self.where is None or off[at] > self.units:
            self.units, self.where = float(off[at]), tuple(float(x[at]) for x in inputs)
        if len(inputs) == 1:
            self.zeros += wrong_zeros(name, inputs[0], got)

    def fits(self, name, kind):
        return self.units <= WIDER.get((name, kind), LIMITS[kind]) and self.zeros == 0


def pieces(array):
    return [array[i:i + PIECE] for i in range(0, len(array), PIECE)]


def measure_unary(build, folder, names, kind, inputs, target):
    session = compiled(build, folder, model(names, kind), target)
    worst = {name: Worst() for name in names}
    with np.errstate(all="ignore"):
        for x in pieces(inputs):
            results = list(session.run({"x": x}).values())
            for name, got in zip(names, results):
                reference = FUNCTIONS[name][0](x.astype(np.float64))
                worst[name].add(name, kind, [x], got, reference)
    return worst


def grid(count):
    """Bases and exponents for Pow: all pairs of values of all magnitudes."""
    side = int(math.sqrt(count))
    rng = np.random.default_rng(1)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, 3.0, -2.0, -3.0, 0.5, -0.5, 2.0**-149]
    bases = np.concatenate([np.exp2(rng.uniform(-140, 120, side // 3)), rng.uniform(0, 3, side // 3),
                            -rng.uniform(0, 10, side // 6), special])
    powers = np.concatenate([rng.uniform(-5, 5, side // 3), rng.uniform(-200, 200, side // 3),
                             np.rint(rng.uniform(-20, 20, side // 6)), special])
    x, y = np.meshgrid(bases, powers)
    return x.ravel().astype(np.float32), y.ravel().astype(np.float32)


BINARY = {"Div": np.divide, "Pow": np.power}


def measure_binary(build, folder, kind, count, target):
    names = list(BINARY)
    session = compiled(build, folder, model(names, kind, binary=True), target)
    worst = {name: Worst() for name in names}
    x, y = grid(count)
    if kind == "float16":
        with np.errstate(over="ignore"):
            x, y = x.astype(np.float16), y.astype(np.float16)
    with np.errstate(all="ignore"):
        for a, b in zip(pieces(x), pieces(y)):
            for name, got in zip(names, session.run({"x": a, "y": b}).values()):
                reference = BINARY[name](a.astype(np.float64), b.astype(np.float64))
                worst[name].add(name, kind, [a, b], got, reference)
    return worst


def measure(build, names, targets, count):
    """{(function, type, target): Worst}."""
    os.environ["MLC_BUILD"] = str(build)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for target in targets:
            for kind in TYPES:
                inputs = all_magnitudes(count) if kind == "float32" else all_small(kind)
                unary = [name for name in names if name in FUNCTIONS]
                found = measure_unary(build, folder, unary, kind, inputs, target) if unary else {}
                if kind != "bfloat16" and set(BINARY) <= set(names):
                    found |= measure_binary(build, folder, kind, count, target)
                results |= {(name, kind, target): worst for name, worst in found.items()}
    return results


def native_targets():
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return ["cpu:x86-64-v3"] + (["cpu:x86-64-v4"] if "avx512vl" in flags else [])


def place(where):
    return ", ".join(f"{value:.9g}" for value in where or ())


def page(results, targets, count):
    names = sorted({name for name, _, _ in results})
    lines = [
        "<!-- Made by `./dev functions --write`; edit tools/bench/functions.py instead. -->",
        "# Accuracy of functions", "",
        "Each number is the largest error against double precision, in units in the last place",
        "of the result. The column behind it says for which input it was seen.", "",
        f"- Inputs: {count:,} float32 numbers of all magnitudes (half of them spread over all bit",
        "  patterns), and all 65,536 of the small types; for Div and Pow a grid of pairs.",
        "- Limits: 4 units in float32, 1 in float16 and bfloat16. Gelu's limit is 6 in float32, and that",
        "  of Gelu.tanh, the exponential of a rounded polynomial, is 300.",
        "- Infinities, NaN and the signs of zeros are right, or the row says so.",
        "- What follows a contraction in its kernel for a GPU is computed in float32 and rounded to 16 bits",
        "  where it is stored alone; with `--fp=strict` wherever the model rounds, as on a CPU.",
        "- Results of Gelu, Mish and Swish below 1e-36 are products with a subnormal factor. Their limits are",
        "  " + ", ".join(f"{units} smallest numbers ({name})" for name, units in GRADUAL.items()) + ".", ""]
    for target in targets:
        lines += [f"## {target}", "", "| function | float32 | at | float16 | bfloat16 |", "|---|---|---|---|---|"]
        for name in names:
            cells = []
            for kind in TYPES:
                worst = results.get((name, kind, target))
                text = "" if worst is None else f"{worst.units:.2f}"
                if worst is not None and not worst.fits(name, kind):
                    text = f"**{text}**" + (f" ({worst.zeros} zeros)" if worst.zeros else "")
                cells.append(text)
                if kind == "float32":
                    cells.append(place(worst.where) if worst else "")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--targets", default=None, help="comma-separated; those this machine runs")
    parser.add_argument("--only", default=None, help="comma-separated functions")
    parser.add_argument("--write", action="store_true", help="write docs/Accuracy.md")
    options = parser.parse_args()
    targets = options.targets.split(",") if options.targets else native_targets()
    names = options.only.split(",") if options.only else [*FUNCTIONS, *BINARY]
    results = measure(options.build, names, targets, options.inputs)
    bad = 0
    for (name, kind, target), worst in sorted(results.items()):
        fits = worst.fits(name, kind)
        bad += not fits
        print(f"{target} {kind:9} {name:12} {worst.units:8.2f} at {place(worst.where)}"
              + ("" if fits else f"  ABOVE THE LIMIT ({worst.zeros} wrong zeros)"))
    if options.write:
        (ROOT / "docs/Accuracy.md").write_text(page(results, targets, options.inputs))
    return 5 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
