"""Random graphs beside rules that hold in one direction: `mlc optimize` makes no finite result infinite or NaN, and
trails that use a rule backwards are refused.

    python tools/experiments/directions.py [N] [--seed=S] [--build=FOLDER]

Graphs are of logarithms, roots, quotients, powers, selections and clips, whose bounds and constants are 0, -0, infinite, NaN
or numbers. Each is optimized with the rules below, which are cheaper to carry out than what they replace, the trail
is replayed, and both models are evaluated (by onnx's reference). Then sides of a rule stand beside each other in
random surroundings, and a trail puts the wrong one in place of the other.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIMS = [16, 16]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 2.0, -1.5, 6.0]

# name: (arguments, lines of before, lines of after); %x where there is no line.
RULES = {
    "exp_of_log": ("x", ["log x", "exp 0"], []),
    "exp_of_sum": ("xy", ["log x", "add 0 y", "exp 1"], ["exp y", "mul x 0"]),
    "square_of_root": ("x", ["sqrt x", "mul 0 0"], []),
    "cancel_divisor": ("xy", ["mul x y", "div 0 y"], []),
    "log_of_quotient": ("xy", ["div x y", "mul 0 y", "abs 1"], ["abs x"]),
    "roots_commute": ("xy", ["sqrt x", "sqrt y", "add 0 1"], ["sqrt y", "sqrt x", "add 0 1"]),
    "scale_of_sum": ("xyz", ["add x y", "mul 0 z"], ["mul x z", "mul y z", "add 0 1"]),
    "log_of_exp": ("x", ["exp x", "log 0"], []),
}
ONNX = {"log": "Log", "exp": "Exp", "add": "Add", "mul": "Mul", "sqrt": "Sqrt", "div": "Div", "abs": "Abs"}


def rule_text():
    text = "!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\n"
    for name, (arguments, *sides) in RULES.items():
        text += f'rule.def @{name} "{name}" {{\n'
        for which, lines in zip(("before", "after"), sides):
            text += f"  func.func @{which}({', '.join(f'%{a}: !t' for a in arguments)}) -> !t {{\n"
            for i, line in enumerate(lines):
                op, *operands = line.split()
                types = ", ".join(["!t"] * len(operands))
                text += f"    %{i} = mlc.{op} {', '.join('%' + o for o in operands)} : ({types}) -> !t\n"
            text += f"    return %{len(lines) - 1 if lines else 'x'} : !t\n  }}\n"
        text += "}\n"
    text += """rule.def @log_of_exp_of_clip "log(exp(clip(x))) = clip(x)" {
  func.func @before(%x: !t) -> !t {
    %0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : (!t) -> !t
    %1 = mlc.exp %0 : (!t) -> !t
    %2 = mlc.log %1 : (!t) -> !t
    return %2 : !t
  }
  func.func @after(%x: !t) -> !t {
    %h = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<hi>, type = f32} : () -> !t
    %l = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<lo>, type = f32} : () -> !t
    %0 = mlc.max %x, %l : (!t, !t) -> !t
    %1 = mlc.sub %h, %0 : (!t, !t) -> !t
    %2 = mlc.relu %1 : (!t) -> !t
    %3 = mlc.sub %h, %2 : (!t, !t) -> !t
    return %3 : !t
  }
}
"""
    return text


class Graph:
    """A random model: values are names of tensors of DIMS."""

    def __init__(self, random):
        self.random = random
        self.nodes, self.weights, self.values = [], {}, ["x", "y", "z"]

    def add(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{len(self.nodes)}", **attributes))
        self.values.append(name)
        return name

    def constant(self, value, dims=()):
        name = f"c{len(self.weights)}"
        self.weights[name] = np.full(dims, value, np.float32)
        return name

    def pick(self):
        # What was made last is read most.
        return self.values[max(self.random.integers(len(self.values)), self.random.integers(len(self.values)))]

    def grow(self, kinds=10):
        kind = self.random.integers(kinds)
        if kind < 3:
            return self.add(self.random.choice(["Log", "Exp", "Sqrt", "Neg", "Relu"]), self.pick())
        if kind < 5:
            return self.add(self.random.choice(["Add", "Mul", "Sub", "Div", "Max"]), self.pick(), self.pick())
        if kind == 5:
            return self.add("Where", "m", self.pick(), self.random.choice([self.pick(), "zeros"]))
        if kind == 6:
            low, high = self.random.choice(SPECIAL, 2)
            return self.add("Clip", self.pick(), self.constant(low), self.constant(high))
        if kind == 7:
            constant = self.constant(1.0, DIMS)
            self.weights[constant].flat[:] = self.random.choice(SPECIAL, self.weights[constant].size)
            return self.add(self.random.choice(["Add", "Mul", "Div"]), self.pick(), constant)
        return self.side(self.random.choice(list(RULES)), self.random.integers(2))

    def side(self, name, which, arguments=None):
        """A side of a rule over random values."""
        letters, *sides = RULES[name]
        at = dict(zip(letters, arguments or [self.pick() for _ in letters]))
        value = at["x"]
        for i, line in enumerate(sides[which]):
            op, *operands = line.split()
            value = at[str(i)] = self.add(ONNX[op], *(at[o] for o in operands))
        return value

    def values_model(self):
        """All values are returned, so that none goes."""
        tensor = helper.make_tensor_value_info
        ports = [[tensor(n, onnx.TensorProto.FLOAT, DIMS) for n in names]
                 for names in ("xyz", [node.output[0] for node in self.nodes])]
        graph = helper.make_graph(self.nodes, "graph", *ports)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def model(self, outputs):
        # What is returned is not what comes in.
        for i, value in enumerate(outputs):
            self.nodes.append(helper.make_node("Where", ["m", value, "zeros"], [f"o{i}"], name=f"out_{i}"))
        self.weights["zeros"] = np.zeros(DIMS, np.float32)
        tensor = onnx.helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, "graph",
            [tensor("m", onnx.TensorProto.BOOL, DIMS), *(tensor(n, onnx.TensorProto.FLOAT, DIMS) for n in "xyz")],
            [tensor(f"o{i}", onnx.TensorProto.FLOAT, DIMS) for i in range(len(outputs))],
            [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def overflows(model, feed):
    """Where a number beyond float32 was made of finite ones. Proofs are of real numbers, which have no such bound
    (docs/Trust.md), so that nothing is promised of what comes of it. Infinite results of 1/0 and log 0 are no overflow."""
    every = onnx.ModelProto()
    every.CopyFrom(model)
    names = [node.output[0] for node in every.graph.node]
    del every.graph.output[:]
    every.graph.output.extend(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names)
    with np.errstate(all="ignore"):
        values = dict(zip(names, ReferenceEvaluator(every).run(None, feed)))
    values |= {**feed, **{w.name: numpy_helper.to_array(w) for w in every.graph.initializer}}
    found = np.zeros(DIMS, bool)
    for node in every.graph.node:
        if node.op_type in ("Exp", "Add", "Mul", "Sub", "Div"):
            operands = [values[name] for name in node.input]
            of_finite = np.logical_and.reduce(np.broadcast_arrays(*map(np.isfinite, operands)))
            if node.op_type == "Div":
                of_finite = of_finite & (operands[1] != 0)
            found |= np.isinf(values[node.output[0]]) & of_finite
    return found


class Trial:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.rules = folder / "rules.mlir"
        self.rules.write_text(rule_text())
        listed = json.loads(self.run("mlc-rules", "verify", self.rules, "--json").stdout)
        self.hashes = {one["name"]: one["hash"] for one in listed}
        self.is_two_way = {one["name"]: one["two_way"] for one in listed if one["verdict"] == "proved"}
        self.steps = self.inputs = self.forged = 0

    def run(self, tool, *arguments):
        return subprocess.run([self.build / "bin" / tool, *map(str, arguments)], capture_output=True, text=True)

    def optimize(self, random):
        """Fails where a finite element is no longer finite, or a trail is not replayed."""
        graph = Graph(random)
        for _ in range(random.integers(4, 14)):
            graph.grow()
        model = graph.model(graph.values[-3:])
        path, result = self.folder / "m.onnx", self.folder / "o.onnx"
        onnx.save(model, path)
        done = self.run("mlc", "optimize", path, "-o", result, "--rules", self.rules)
        if done.returncode in (3, 4):  # a bound of a clip that is NaN, and the like
            return None
        if done.returncode:
            return f"mlc optimize ends with {done.returncode}: {done.stderr}"
        optimized = onnx.load(result)
        (text,) = [p.value for p in optimized.metadata_props if p.key == "mlc.trail"]
        self.steps += len(json.loads(text)[0]["steps"])
        done = self.run("mlc-verify", "--trail", path, result, "--rules", self.rules)
        if done.returncode:
            return f"the trail is refused: {done.stderr}"
        for _ in range(3):
            feed = {"m": random.random(DIMS) < 0.7}
            for name in "xyz":
                feed[name] = random.choice([0.25, -0.5, 0.0, 1.0, 2.0, -3.0], DIMS).astype(np.float32)
            with np.errstate(all="ignore"):
                before, after = (ReferenceEvaluator(m).run(None, feed) for m in (model, optimized))
            self.inputs += 1
            overflown = overflows(optimized, feed)
            for x, y in zip(before, after):
                lost = np.isfinite(x) & ~np.isfinite(y) & ~overflown
                if lost.any():
                    return f"{x[lost][0]} became {y[lost][0]}"
        return ""

    def forge(self, random, is_backwards):
        """Both sides of a rule in random surroundings; a trail puts one in place of the other for a third reader."""
        name = random.choice([n for n, both in self.is_two_way.items() if not both and n in RULES])
        graph = Graph(random)
        for _ in range(random.integers(1, 5)):
            graph.grow(kinds=5)
        # Values beside these may be equal to one another.
        arguments = list(random.permutation(["x", "y", "z"])[:len(RULES[name][0])])
        first = len(graph.nodes)
        before = graph.side(name, 0, arguments)
        places = range(first, len(graph.nodes))
        after = graph.side(name, 1, arguments)
        wanted, given = (after, before) if is_backwards else (before, after)
        graph.add("Sub", wanted, "z")
        terms = {value: i for i, value in enumerate(graph.values)}
        if len({(n.op_type, *n.input) for n in graph.nodes}) < len(graph.nodes):
            return None  # one of two equal operators goes
        model = graph.values_model()
        graph.nodes[-1].input[0] = given
        changed = graph.values_model()
        chosen = [[terms[n.output[0]], *(terms[i] for i in n.input)] for n in graph.nodes]
        step = {"rule": name, "hash": self.hashes[name], "arguments": [terms[a] for a in arguments],
                "before": [3 + i for i in places], "integers": {"a": str(DIMS[0]), "b": str(DIMS[1])}, "reals": {},
                "places": [], "gain": 0}
        trail = [{"function": "main", "steps": [step], "chosen": chosen, "outputs": [c[0] for c in chosen]}]
        path, plain, result = (self.folder / f"{n}.onnx" for n in ("f", "p", "r"))
        onnx.save(model, path)
        onnx.save(changed, plain)
        self.run("mlc-translate", plain, "-o", result)
        forged = onnx.load(result)
        forged.metadata_props.add(key="mlc.trail", value=json.dumps(trail))
        onnx.save(forged, result)
        done = self.run("mlc-verify", "--trail", path, result, "--rules", self.rules)
        self.forged += is_backwards
        if is_backwards == (done.returncode == 5 and "is not known to equal" in done.stderr):
            return ""
        return f"{name} {'backwards' if is_backwards else 'forwards'}: code {done.returncode}: {done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", nargs="?", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("MLC_BUILD", ROOT / "build")))
    options = parser.parse_args()
    failures = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(options.build, pathlib.Path(folder))
        for i in range(options.number):
            told = trial.optimize(np.random.default_rng([options.seed, i]))
            tried += told is not None
            if told:
                failures += 1
                print(f"graph {i}: {told}")
            for is_backwards in (False, True):
                told = trial.forge(np.random.default_rng([options.seed, i, is_backwards]), is_backwards)
                if told:
                    failures += 1
                    print(f"trail {i}: {told}")
        one_way = sum(not both for both in trial.is_two_way.values())
        print(f"{tried} graphs, {one_way} of {len(trial.is_two_way)} rules one way, {trial.steps} steps, "
              f"{trial.inputs} inputs, {trial.forged} forged trails, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
