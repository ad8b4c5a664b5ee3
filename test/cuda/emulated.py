"""Small models as GPU kernels on the emulator, against NumPy in double precision.

A `Graph` gathers cases, each some nodes with inputs of its own, so that one compilation serves many. What is expected
is computed by onnx's reference implementation, which is NumPy, with every float taken as a double; casts to narrower
floats are not made then, so that tolerances are those of the kernels. Each case names the skeleton that its kernel
must have come from.
"""

import json
import math
import os
import pathlib
import re
import struct

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_conv_transpose import ConvTranspose as ReferenceTranspose



class Erf(OpRun):
    """Onnx's is of single precision."""

    def _run(self, x):
        return (np.vectorize(math.erf, otypes=[np.float64])(x),)


class ConvTranspose(OpRun):
    """Onnx's takes no groups of several channels."""

    def _run(self, x, w, bias=None, group=None, **attributes):
        one = ReferenceTranspose(self.onnx_node, self.run_params)
        parts = zip(np.split(x, group or 1, axis=1), np.split(w, group or 1))
        result = np.concatenate([one._run(a, b, group=1, **attributes)[0] for a, b in parts], axis=1)
        return (result if bias is None else result + bias.reshape(-1, *[1] * (x.ndim - 2)),)


FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def bundle(data):
    """Names and texts of the entries of a bundle (runtime/CodeBundle.h)."""
    count, = struct.unpack_from("<Q", data, 8)
    rows = [struct.unpack_from("<4Q", data, 16 + 32 * i) for i in range(count)]
    return {data[n:n + size].decode(): data[at:at + length].decode() for n, size, at, length in rows}


def sources_of(artifact):
    """{symbol: CUDA C++} of an artifact's kernels: the last of its bundles."""
    data = pathlib.Path(artifact).read_bytes()
    return bundle(data[data.rindex(b"mlcbundl"):]) if b"mlcbundl" in data else {}


def skeleton_of(source):
    return re.search(r"^// Skeleton: (\w+)$", source, re.MULTILINE)[1]


class Case:
    def __init__(self, name, skeleton, tolerance, steps):
        self.name, self.skeleton, self.tolerance, self.steps = name, skeleton, tolerance, steps
        self.inputs, self.dims, self.nodes, self.outputs = {}, {}, [], []
        self.constants, self.expected = {}, {}

    def input(self, array, dims=None, others=()):
        """An input with this value; `dims`: sizes or names where they are open. `others`: values in further runs."""
        name = f"{self.name}_in{len(self.inputs)}"
        self.inputs[name] = [np.asarray(a) for a in (array, *others)]
        self.dims[name] = dims if dims is not None else list(self.inputs[name][0].shape)
        return name

    def values(self, run=0):
        """{input: value}; who has fewer keeps the last."""
        return {n: arrays[min(run, len(arrays) - 1)] for n, arrays in self.inputs.items()}

    def constant(self, array):
        name = f"{self.name}_c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def node(self, op, *inputs, outputs=1, **attributes):
        """The name of the node's result, or a list of several. Arrays among the inputs are constants."""
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        results = [f"{self.name}_t{len(self.nodes)}_{i}" for i in range(outputs)]
        name = f"{self.name}/{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, names, results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def output(self, name, expected=None):
        self.outputs.append(name)
        if expected is not None:
            self.expected[name] = np.asarray(expected)

    def doubled(self, run):
        """The case's nodes on doubles alone."""
        nodes = []
        for node in self.nodes:
            node = onnx.NodeProto.FromString(node.SerializeToString())
            for attribute in node.attribute:
                if attribute.name in ("to", "stash_type", "dtype") and attribute.i in FLOATS:
                    attribute.i = TensorProto.DOUBLE
            nodes.append(node)

        def wide(array):
            return array.astype(np.float64) if array.dtype in (np.float32, np.float16) else array
        constants = [numpy_helper.from_array(wide(c), n) for n, c in self.constants.items()]
        values = {n: wide(a) for n, a in self.values(run).items()}
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                  for n, a in values.items()]
        outputs = [onnx.ValueInfoProto(name=n) for n in self.outputs]
        graph = helper.make_graph(nodes, "case", inputs, outputs, constants)
        return model_of(graph), values

    def reference(self, run=0):
        """{output: value}"""
        if not all(n in self.expected for n in self.outputs):
            model, inputs = self.doubled(run)
            with np.errstate(all="ignore"):
                values = ReferenceEvaluator(model, new_ops=[Erf, ConvTranspose]).run(self.outputs, inputs)
            return {n: self.expected.get(n, np.asarray(v)) for n, v in zip(self.outputs, values)}
        return self.expected


def model_of(graph):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


class Graph:
    def __init__(self, tools, folder, *flags, target="cuda:sm_80"):
        self.tools, self.folder, self.target = tools, folder, target
        self.flags = [*flags, "--no-rewrites"]
        self.cases, self.artifact = [], folder / "model.mlca"

    def case(self, name, skeleton, tolerance=1e-5, steps=None):
        """`tolerance`: of the norm of the difference, relative to the result's; 0: equal, bit by bit but for NaN.
        `skeleton`: of one of the case's kernels, or None; `steps`: how many kernels it has, if that is told."""
        self.cases.append(Case(name, skeleton, tolerance, steps))
        return self.cases[-1]

    def compile(self):
        every = [(c, n) for c in self.cases for n in c.inputs]
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(c.inputs[n][0].dtype), c.dims[n])
                  for c, n in every]
        outputs = [onnx.ValueInfoProto(name=n) for c in self.cases for n in c.outputs]
        constants = [numpy_helper.from_array(a, n) for c in self.cases for n, a in c.constants.items()]
        nodes = [n for c in self.cases for n in c.nodes]
        model = model_of(helper.make_graph(nodes, "cases", inputs, outputs, constants))
        onnx.save(onnx.shape_inference.infer_shapes(model), self.folder / "model.onnx")
        done = self.tools.mlc("compile", self.folder / "model.onnx", "-o", self.artifact, "--target", self.target,
                              *self.flags)
        assert done.returncode == 0, done.stderr
        self.sources = sources_of(self.artifact)
        shown = json.loads(self.tools.mlc("inspect", "--json", self.artifact).stdout)
        self.kernels = {c.name: [] for c in self.cases}
        for step in shown["steps"]:
            for case in {n.split("/")[0] for n in step["nodes"]}:
                kernel = re.match(r"kernel (\w+),", step["text"])
                self.kernels[case].append(kernel and kernel[1])
        return self

    def run(self, inputs, seed=0, **variables):
        """{output: array} of a run on the emulator, which must have nothing to say. `variables`: of the environment."""
        np.savez(self.folder / "in.npz", **inputs)
        done = self.tools.mlc("run", self.artifact, "--device", "emulator", "--input", self.folder / "in.npz",
                              "--output-npz", self.folder / "out.npz",
                              env={**os.environ, "MLC_EMULATOR_SEED": str(seed), **variables})
        assert done.returncode == 0 and not done.stderr, done.stderr
        with np.load(self.folder / "out.npz") as results:
            return dict(results)

    def wrong(self, run=0):
        """What is not right in that run, as text."""
        results = self.run({n: a for c in self.cases for n, a in c.values(run).items()}, seed=run)
        found = []
        for case in self.cases:
            for name, value in case.reference(run).items():
                why = difference(results[name], value, case.tolerance)
                found += [f"run {run}: {case.name}: {name}: {why}"] if why else []
        return found

    def misplaced(self):
        """Cases whose kernels come from another skeleton than they are to test."""
        found = []
        for case in self.cases:
            skeletons = [k and skeleton_of(self.sources[k]) for k in self.kernels[case.name]]
            if case.skeleton not in [None, *skeletons] or (case.steps and len(skeletons) != case.steps):
                found.append(f"{case.name}: kernels are {skeletons}, not {case.skeleton} ({case.steps or 'any'})")
        return found

    def calls(self):
        """The arguments with which kernels call the skeletons of contractions, as lists of texts."""
        found = [re.search(r"^ +multiplyTile(?:ByWarps)?<(.*)>\(", s, re.MULTILINE) for s in self.sources.values()]
        return [match[1].split(", ") for match in found if match]

    def check(self):
        found = self.compile().misplaced()
        runs = max(len(arrays) for c in self.cases for arrays in c.inputs.values())
        for run in range(runs):
            found += self.wrong(run)
        assert not found, "\n".join(found)
        return self


def difference(actual, expected, tolerance):
    """What is wrong with `actual`, or None."""
    expected = np.asarray(expected)
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, not {expected.shape}"
    if (actual.dtype.kind == "f") != (expected.dtype.kind == "f") or \
            (actual.dtype.kind != "f" and actual.dtype != expected.dtype):
        return f"type {actual.dtype}, not {expected.dtype}"
    if actual.dtype.kind != "f" or tolerance == 0:
        same = np.array_equal(actual, expected.astype(actual.dtype), equal_nan=actual.dtype.kind == "f")
        return None if same else f"differs at {first(actual != expected.astype(actual.dtype), actual, expected)}"
    actual = actual.astype(np.float64)
    for what in (np.isnan, np.isposinf, np.isneginf):
        if not np.array_equal(what(actual), what(expected)):
            return f"{what.__name__} differs at {first(what(actual) != what(expected), actual, expected)}"
    finite = np.isfinite(expected)
    error = np.linalg.norm(np.where(finite, actual, 0) - np.where(finite, expected, 0))
    scale = np.linalg.norm(np.where(finite, expected, 0))
    if error > tolerance * scale:
        worst = np.abs(np.where(finite, actual, 0) - np.where(finite, expected, 0))
        return f"error {error / max(scale, 1e-300):.2g}, worst at {first(worst == worst.max(), actual, expected)}"
    return None


def first(where, actual, expected):
    at = tuple(int(i) for i in np.argwhere(where)[0])
    return f"{list(at)}: {actual[at]}, not {expected[at]}, and {int(where.sum()) - 1} more of {where.size}"
