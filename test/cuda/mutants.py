"""Does the emulator find faults? Kernels of mlc with one fault each, on it.

    .venv/bin/python test/cuda/mutants.py [--seeds N] [--jobs N] [NAME...]

compiles small models, reads their kernels' sources from the artifacts, puts one
fault into a source by replacing text, and runs it: the emulator must report it, or
the result must be wrong. Prints a line for each fault and the share that was found;
exit code 1 below 95 %. Programs that a fault leaves right are no faults: barriers
that another one makes needless are not in the list. --seeds N runs the right kernels
under N orders of blocks, warps and lanes instead, and wants right results and no
report. NAMEs are those of faults, or of kernels. test_mutants.py runs a few.
"""

import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import faults as plain
from warpgroup_faults import warpgroup_faults

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MLC_BUILD", ROOT / "build"))
LEAST = 0.95
TIMEOUT = 120  # seconds; a kernel that hangs is found too


# ----------------------------------------------------------------------
# The right kernels
# ----------------------------------------------------------------------


def tf32(x):
    """Rounded as the tensor cores' factors are (MmaTF32 in kernels/tensor.cuh)."""
    bits = (x.astype(np.float32) * np.float32(1 + 1 / (3 * 1024))).view(np.uint32)
    return (bits & np.uint32(0xffffe000)).view(np.float32).astype(np.float64)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layer_norm(x, scale, bias):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + bias


def best(k):
    """Indices of the k largest; equal ones in order."""
    return lambda x: np.argsort(-x, -1, kind="stable")[:, :k]


# With repetitions, ends of blocks, and some that count from the end.
SCATTERED = [0, 127, 128, 255, 256, 299, -1, -300, *(at * at % 300 for at in range(69))]


def scattered(x, updates):
    y = x.copy()
    np.add.at(y, SCATTERED, updates)
    return (y + 128) % 256 - 128


def convolve(x, w):
    x = np.pad(tf32(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, tf32(w))


def pictures(x, w):
    """A convolution of pictures with channels last."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    return np.einsum("nhwcij,oijc->nhwo", windows, w)


def depthwise(x, w):
    """With strides 2 and 1."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.einsum("nchwij,cij->nchw", np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2], w[:, 0])


def largest(x, first):
    """Of windows of 3x3, with stride 2, padded by 1, along two dims from `first` on."""
    pads = [(int(first <= d < first + 2),) * 2 for d in range(4)]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, pads, constant_values=-np.inf), (3, 3), (first, first + 1))
    return windows[tuple(slice(None, None, 1 + pad[0]) for pad in pads)].max((-2, -1))


def spread(x, w):
    """A transposed convolution with strides 2 and 3 and a border of 1 cut off."""
    n, _, rows, columns = x.shape
    y = np.zeros((n, w.shape[1], 2 * rows + w.shape[2], 3 * columns + w.shape[3]))
    for i, j in np.ndindex(rows, columns):
        y[:, :, 2 * i:2 * i + w.shape[2], 3 * j:3 * j + w.shape[3]] += np.einsum("nc,cokl->nokl", tf32(x)[:, :, i, j],
                                                                                   tf32(w))
    return y[:, :, 1:2 * (rows - 1) + w.shape[2] - 1, 1:3 * (columns - 1) + w.shape[3] - 1]


class Case:
    """A model of one kernel. `nodes` are pairs of an operator with its attributes and
    of names, the last of which is the result, or several with commas; `want` is the result in NumPy, of
    inputs in float64; a dim that is text is a symbol, which is `symbol` in the run; `reads` are the kernel's arguments
    where constants are among them. It is compiled for `arch`."""

    def __init__(self, name, nodes, shapes, want, dtype="float32", result=None, constants=None, options=(),
                 tolerance=1e-5, reads=None, arch="sm_80", symbol=300):
        self.arch, self.symbol = arch, symbol
        self.reads = reads.split() if reads else [f"x{i}" for i in range(len(shapes))]
        self.name, self.nodes, self.shapes, self.want, self.dtype = name, nodes, shapes, want, np.dtype(dtype)
        self.result = np.dtype(result or dtype)
        self.constants, self.options, self.tolerance = constants or {}, options, tolerance

    def inputs(self):
        rng = np.random.default_rng(0)
        shapes = [[self.symbol if isinstance(d, str) else d for d in shape] for shape in self.shapes]
        if self.dtype.kind == "i":
            return [rng.integers(-128, 128, shape).astype(self.dtype) for shape in shapes]
        return [rng.standard_normal(shape).astype(self.dtype) for shape in shapes]

    def model(self):
        def value(name, dtype, shape):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)
        nodes = []
        for (operator, attributes), names in self.nodes:
            *inputs, output = names.split()
            nodes.append(helper.make_node(operator, inputs, output.split(","), **attributes))
        graph = helper.make_graph(
            nodes, "case", [value(f"x{i}", self.dtype, shape) for i, shape in enumerate(self.shapes)],
            [value("y", self.result, None)],
            [helper.make_tensor(name, TensorProto.INT64, np.shape(numbers), np.ravel(numbers))
             for name, numbers in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def product(a, b):
    return a @ b


CASES = [
    # Words that are copied asynchronously, along k and across; 5 steps, 2 x 2 tiles.
    Case("tf32", [(("MatMul", {}), "x0 x1 y")], [[37, 134], [134, 69]], lambda a, b: tf32(a) @ tf32(b)),
    # Elements, and two in a word; 4 steps, two batches of 2 tiles.
    Case("f16", [(("MatMul", {}), "x0 x1 y")], [[2, 37, 197], [2, 197, 45]], product, "float16", tolerance=1e-3),
    # 16 bytes at a time.
    Case("vectors", [(("Transpose", {"perm": [1, 0]}), "x1 t"), (("MatMul", {}), "x0 t y")],
         [[37, 264], [45, 264]], lambda a, b: a @ b.T, "float16", tolerance=1e-3),
    # Neighbours along rows and columns, by eight and by two.
    Case("across", [(("Gemm", {"transA": 1}), "x0 x1 y")], [[136, 72], [136, 90]], lambda a, b: a.T @ b, "float16",
         tolerance=1e-3),
    Case("int8", [(("MatMulInteger", {}), "x0 x1 y")], [[37, 391], [391, 45]], product, "int8", "int32", tolerance=0),
    Case("conv", [(("Conv", {"pads": [1, 1, 1, 1]}), "x0 x1 y")], [[2, 5, 9, 7], [11, 5, 3, 3]], convolve),
    # Blocks share tiles: 2 of them, 10 steps by 2 blocks; 6 steps of 32 by 2.
    Case("parts", [(("MatMul", {}), "x0 x1 y")], [[37, 310], [310, 45]], lambda a, b: tf32(a) @ tf32(b)),
    Case("tileparts", [(("MatMul", {}), "x0 x1 y")], [[37, 300], [300, 29]], product, options=["--precision=ieee"]),
    # By warpgroups: boxes along K and across it, 8 steps of two tiles for each of 3 products; by threads, a convolution
    # of pictures with channels last; and blocks that share tiles.
    Case("mapped", [(("MatMul", {}), "x0 x1 y")], [["n", 104, 456], ["n", 456, 136]], product, "float16", tolerance=1e-3,
         arch="sm_90a", symbol=3),
    Case("gathered", [(("Transpose", {"perm": [0, 3, 1, 2]}), "x0 t"), (("Transpose", {"perm": [0, 3, 1, 2]}), "x1 u"),
                      (("Conv", {}), "t u v"), (("Transpose", {"perm": [0, 2, 3, 1]}), "v y")],
         [[2, 9, 11, 72], [72, 3, 3, 72]], pictures, "float16", tolerance=1e-3, arch="sm_90a"),
    Case("shared", [(("MatMul", {}), "x0 x1 y")], [[72, 1032], [1032, 72]], product, "float16", tolerance=1e-3,
         arch="sm_90a"),
    # Two pieces of a tile have operands of their own.
    Case("operands", [(("MatMul", {}), "x0 x1 p"), (("Add", {}), "p x2 y")], [["n", 104, 72], ["n", 72, 128], ["n", 104, 128]],
         lambda a, b, c: a @ b + c, "float16", tolerance=1e-3, arch="sm_90a", symbol=2),
    Case("spread", [(("ConvTranspose", {"pads": [1, 1, 1, 1], "strides": [2, 3]}), "x0 x1 y")],
         [[2, 5, 9, 7], [5, 11, 4, 3]], spread),
    Case("ieee", [(("MatMul", {}), "x0 x1 y")], [[37, 70], [70, 45]], product, options=["--precision=ieee"]),
    Case("softmax", [(("Softmax", {"axis": -1}), "x0 y")], [[5, 300]], softmax),
    # A block for each row, in shared memory.
    Case("long", [(("Softmax", {"axis": -1}), "x0 y")], [[3, 17001]], softmax),
    # What a row stores lies in scratch memory.
    Case("scratch", [(("ReduceSum", {"keepdims": 0}), "x0 axes t"), (("Softmax", {"axis": -1}), "t y")], [[5, "n", 70]],
         lambda x: softmax(x.sum(-1)), constants={"axes": [2]}),
    # What does not fit into shared memory is computed again.
    Case("again", [(("Softmax", {"axis": -1}), "x0 y")], [[5, "n"]], softmax),
    Case("norm", [(("LayerNormalization", {}), "x0 x1 x2 y")], [[5, "n"], ["n"], ["n"]], layer_norm),
    Case("team", [(("Softmax", {"axis": -1}), "x0 y")], [[37, 24]], softmax),
    # Blocks share sums: 3 of them by 2 blocks each, 40 by 2 blocks for each 32.
    Case("rowsums", [(("ReduceSum", {"keepdims": 0}), "x0 axes t"), (("Abs", {}), "t y")], [[3, 9001]],
         lambda x: abs(x.sum(-1)), constants={"axes": [-1]}),
    Case("columnsums", [(("ReduceSum", {"keepdims": 0}), "x0 axes t"), (("Abs", {}), "t y")], [[1031, 136]],
         lambda x: abs(x.sum(0)), constants={"axes": [0]}),
    # A warp for each row.
    Case("warps", [(("Softmax", {"axis": -1}), "x0 t"), (("ReduceSum", {"keepdims": 0}), "t axes y")],
         [[3, 9, 70]], lambda x: softmax(x).sum(1), constants={"axes": [1]}),
    # A thread for each column.
    Case("columns", [(("Softmax", {"axis": 0}), "x0 y")], [[6, 300]], lambda x: softmax(x, 0)),
    Case("vector", [(("Mul", {}), "x0 x1 t"), (("Add", {}), "t x0 y")], [[158, 105], [158, 105]],
         lambda a, b: a * b + a),
    Case("few", [(("Transpose", {"perm": [1, 0]}), "x0 y")], [[37, 11]], lambda x: x.T, tolerance=0),
    # Through tiles; bytes in larger ones, of many rows, and with a step of an open size.
    Case("transpose", [(("Transpose", {"perm": [1, 0]}), "x0 y")], [[37, 69]], lambda x: x.T, "float64",
         tolerance=0),
    Case("bytes", [(("Transpose", {"perm": [0, 3, 1, 2]}), "x0 y")], [[3, 11, 13, 70]],
         lambda x: x.transpose(0, 3, 1, 2), "int8", tolerance=0),
    # Words of two, 16 bytes at a time on both sides.
    Case("halves", [(("Transpose", {"perm": [1, 0]}), "x0 y")], [[136, 200]], lambda x: x.T, "float16", tolerance=0),
    Case("turned", [(("Transpose", {"perm": [1, 0]}), "x0 t"), (("Sub", {}), "t x1 y")], [[40, "n"], ["n", 40]],
         lambda x, z: x.T - z),
    # Best elements: the first piece has them; a later one brings better ones; nearly all.
    *(Case(name, [(("TopK", {}), "x0 k v,y")], [[5, length]], best(k), "int8", "int64", constants={"k": [k]}, tolerance=0)
      for name, length, k in [("topk", 12300, 5), ("pieces", 4500, 700), ("merge", 14000, 13900)]),
    # Three blocks of 128 rows, the last one of 44; 40 of 64 columns.
    Case("scatter", [(("ScatterND", {"reduction": "add"}), "x0 i x1 y")], [[300, 40], [77, 40]], scattered,
         "int8", tolerance=0, constants={"i": [[at] for at in SCATTERED]}, reads="x0 i x1"),
    # Windows: a plane for each block; bands of its rows, the second one shorter; pixels with channels last, by vectors.
    Case("planes", [(("Conv", {"pads": [1, 1, 1, 1], "strides": [2, 1], "group": 7}), "x0 x1 y")],
         [[1, 7, 30, 23], [7, 1, 3, 3]], depthwise),
    # Threads of a row of less than 64 bytes leave their sums for others to store.
    Case("narrow", [(("Conv", {"pads": [1, 1, 1, 1], "strides": [2, 1], "group": 7}), "x0 x1 y")],
         [[1, 7, 30, 11], [7, 1, 3, 3]], depthwise),
    Case("bands", [(("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}), "x0 y")], [[2, 2, 69, 133]],
         lambda x: largest(x, 2), tolerance=0),
    Case("pixels", [(("Transpose", {"perm": [0, 3, 1, 2]}), "x0 t"),
                    (("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}), "t u"),
                    (("Transpose", {"perm": [0, 2, 3, 1]}), "u y")], [[3, 11, 11, 24]], lambda x: largest(x, 1), tolerance=0),
    Case("pad", [(("Concat", {"axis": 1}), "x0 x1 t"), (("Pad", {}), "t pads y")], [[5, 7], [5, 6]],
         lambda a, b: np.pad(np.concatenate([a, b], 1), ((1, 3), (2, 1))), constants={"pads": [1, 2, 3, 1]},
         tolerance=0),
]


# ----------------------------------------------------------------------
# Compiling, and the one kernel of an artifact
# ----------------------------------------------------------------------


def sources(artifact):
    """Texts of the kernels of an artifact by name: the bundle of runtime/CodeBundle.h
    whose entries are CUDA C++."""
    found = {}
    for match in re.finditer(rb"mlcbundl", artifact):
        bundle = artifact[match.start():]
        (count,) = struct.unpack_from("<Q", bundle, 8)
        for row in range(count):
            name, name_size, at, size = struct.unpack_from("<4Q", bundle, 16 + 32 * row)
            text = bundle[at:at + size]
            if text.startswith(b"#include \"mlc_device.cuh\""):
                found[bundle[name:name + name_size].decode()] = text.decode()
    return found


MAP = re.compile(r"(?P<element>\w+) of operand (?P<operand>\d+) at (?P<offset>.+?), dims \[(?P<dims>.*?)\],"
                 r" strides \[(?P<strides>.*?)\], box \[(?P<box>.*?)\], swizzle (?P<swizzle>\d+)")
FIELDS = "tasks|block|shared|scratch|workspace|work|products"
# CUtensorMapDataType
ELEMENTS = {"u8": 0, "f16": 6, "f32": 7, "bf16": 9, "tf32": 11}


def read_map(text, number):
    """A tensor map as `mlc inspect` prints it."""
    fields = MAP.fullmatch(text).groupdict()
    return {name: field if name == "element" else [number(part) for part in field.split(", ")]
            for name, field in fields.items()}


class Kernel:
    """A case's kernel: its text, how it is launched, and what comes out."""

    def __init__(self, case, folder):
        self.case, self.folder = case, pathlib.Path(folder) / case.name
        self.folder.mkdir(parents=True, exist_ok=True)
        model, artifact = self.folder / "model.onnx", self.folder / "model.mlca"
        onnx.save(case.model(), model)
        subprocess.run([BUILD / "bin/mlc", "compile", model, "-o", artifact, f"--target=cuda:{case.arch}", *case.options],
                       check=True)
        done = subprocess.run([BUILD / "bin/mlc", "inspect", "--json", artifact], check=True, capture_output=True)
        (step,) = (step for step in json.loads(done.stdout)["steps"] if step["kind"] == "grid-launch")
        text, maps, symbols = re.fullmatch(r"(.*?)(?:, maps \((.*?)\))?(, args .*)?", step["text"]).groups()
        fields = dict(field.split(" ", 1) for field in re.split(rf", (?=(?:{FIELDS}) )", text))
        self.name, self.text = fields["kernel"], sources(artifact.read_bytes())[fields["kernel"]]
        symbols = [case.symbol] if symbols else []

        def number(text):
            return eval(text.replace("floordiv", "//"), {}, {"n": case.symbol})  # of our own compiler
        inputs = case.inputs()
        self.want = case.want(*(x.astype(np.float64) for x in inputs))
        arrays = {f"x{i}": x for i, x in enumerate(inputs)}
        arrays.update({name: np.ravel(numbers).astype(np.int64) for name, numbers in case.constants.items()})
        for name in case.reads:
            np.save(self.folder / f"{name}.npy", arrays[name])
        # Blocks that do several tasks, and several blocks, if there are so many tasks.
        tasks = number(fields["tasks"])
        self.launch = {"kernel": self.name, "inputs": [f"{name}.npy" for name in case.reads],
                       "shape": self.want.shape, "dtype": case.result.name, "symbols": symbols, "tasks": tasks,
                       "grid": max(1, tasks // 2), "block": number(fields["block"]),
                       "shared": number(fields.get("shared", "0")), "scratch": number(fields.get("scratch", "0")),
                       "workspace": number(fields.get("workspace", "0")),
                       "maps": [read_map(text, number) for text in maps.split("; ")] if maps else []}
        (self.folder / "launch.json").write_text(json.dumps(self.launch))

    def outcome(self, text, name, seed=0):
        """How the text's fault is found: `report: KIND`, `result`, `crash`, `hang`; None
        if it is not. `invalid` is a text that does not compile."""
        source, result = (self.folder / f"{name}-{seed}.{end}" for end in ("cu", "npy"))
        source.write_text(text)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder.parent / "cache"),
                       "MLC_EMULATOR_SEED": str(seed), "MLC_EMULATOR_ARCH": self.case.arch.rstrip("a")}
        try:
            done = subprocess.run([sys.executable, __file__, "--run", self.folder, source, result],
                                  capture_output=True, text=True, timeout=TIMEOUT, env=environment)
        except subprocess.TimeoutExpired:
            return "hang"
        if done.returncode < 0:
            return f"crash: signal {-done.returncode}"
        if done.returncode == INVALID:
            return "invalid: " + done.stderr
        if done.returncode not in (0, 1):
            return "invalid: " + done.stderr
        if report := json.loads(done.stdout):
            # "mlc emulator: kernel NAME: KIND: MORE"
            return "report: " + report.split("\n")[0].split(": ", 2)[2].split(":")[0]
        if done.returncode:
            return "error: " + done.stderr.strip()
        got = np.load(result).astype(np.float64)
        error = np.abs(got - self.want).max()
        return None if error <= self.case.tolerance * np.abs(self.want).max() else "result"


def kernels(folder, names=None):
    return {case.name: Kernel(case, folder) for case in CASES if names is None or case.name in names}


# ----------------------------------------------------------------------
# One run, in a process of its own
# ----------------------------------------------------------------------

INVALID = 3


class Driver:
    """The driver's functions; what fails ends the process."""

    def __init__(self):
        self.library = ctypes.CDLL(str(BUILD / "bin/libmlc_emulator.so"))
        self.library.mlcEmulatorReport.restype = ctypes.c_char_p

    def report(self):
        return self.library.mlcEmulatorReport().decode()

    def call(self, name, *arguments, code=1):
        if error := getattr(self.library, name)(*arguments):
            print(json.dumps(self.report()))
            print(f"{name}: {error}", file=sys.stderr)
            sys.exit(code)

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer


    def encode(self, fields, operands):
        """A tensor map of one of the operands."""
        def array(kind, numbers):
            return (kind * len(numbers))(*numbers)
        room, rank = (ctypes.c_uint64 * 24)(), len(fields["dims"])
        words = (ctypes.c_uint64 * 16).from_buffer(room, -ctypes.addressof(room) % 64)  # as CUtensorMap is aligned
        address = operands[fields["operand"][0]].value + fields["offset"][0]
        swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[fields["swizzle"][0]]
        self.call("cuTensorMapEncodeTiled", words, ELEMENTS[fields["element"]], rank, ctypes.c_void_p(address),
                  array(ctypes.c_uint64, fields["dims"]), array(ctypes.c_uint64, fields["strides"]),
                  array(ctypes.c_uint32, fields["box"]), array(ctypes.c_uint32, [1] * rank), 0, swizzle, 0, 0)
        return words


def run(folder, source, result):
    """Launches a text of the kernel that `folder` describes."""
    launch = json.loads((folder / "launch.json").read_text())
    driver, context = Driver(), ctypes.c_void_p()
    driver.call("cuInit", 0)
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    driver.call("cuCtxSetCurrent", context)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuModuleLoadData", ctypes.byref(module), source.read_bytes() + b"\0", code=INVALID)
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode(), code=INVALID)
    driver.call("cuFuncSetAttribute", function, 8, launch["shared"])  # the most shared memory of a block
    words, kept = [], []
    for name in launch["inputs"]:
        kept.append(np.ascontiguousarray(np.load(folder / name)))
        words.append(driver.allocate(kept[-1].nbytes))
        driver.call("cuMemcpyHtoDAsync_v2", words[-1], ctypes.c_void_p(kept[-1].ctypes.data),
                    ctypes.c_size_t(kept[-1].nbytes), None)
    # Memory of the emulator is full of ones until somebody writes it.
    got = np.empty(launch["shape"], launch["dtype"])
    words.append(driver.allocate(got.nbytes))
    scratch = ctypes.c_uint64()
    if launch["workspace"]:  # counters in front are zero
        scratch, zeros = driver.allocate(launch["workspace"]), np.zeros(1024, np.uint32)
        driver.call("cuMemcpyHtoDAsync_v2", scratch, ctypes.c_void_p(zeros.ctypes.data), ctypes.c_size_t(zeros.nbytes),
                    None)
    elif launch["scratch"]:
        scratch = driver.allocate(launch["scratch"] * launch["grid"])
    output = words[-1]
    maps = [driver.encode(fields, words) for fields in launch["maps"]]
    words += [ctypes.c_uint64(word) for word in (*launch["symbols"], launch["tasks"], scratch.value,
                                                 launch["scratch"])]
    given = [*maps, *words]
    parameters = (ctypes.c_void_p * len(given))(*(ctypes.addressof(value) for value in given))
    driver.call("cuLaunchKernel", function, launch["grid"], 1, 1, launch["block"], 1, 1, launch["shared"], None, parameters,
                None)
    driver.call("cuStreamSynchronize", None)
    driver.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(got.ctypes.data), output, ctypes.c_size_t(got.nbytes), None)
    driver.call("cuStreamSynchronize", None)
    if launch["workspace"]:
        driver.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(zeros.ctypes.data), scratch, ctypes.c_size_t(zeros.nbytes),
                    None)
        driver.call("cuStreamSynchronize", None)
        if zeros.any():
            print(json.dumps("mlc emulator: kernel: counters are not zero: in the end"))
            return 0
    np.save(result, got)
    print(json.dumps(driver.report()))
    return 0


# ----------------------------------------------------------------------
# All of them
# ----------------------------------------------------------------------


def faults():
    yield from plain.faults()
    yield from warpgroup_faults()


def outcomes(chosen, folder, jobs=None):
    """Each fault with how it is found, in order. Right kernels come first."""
    of = kernels(folder, {fault.kernel for fault in chosen})
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        for name, found in zip(of, pool.map(lambda kernel: kernel.outcome(kernel.text, "right"), of.values())):
            assert found is None, f"the right kernel {name}: {found}"
        texts = [fault.applied(of[fault.kernel].text) for fault in chosen]
        done = pool.map(lambda i: of[chosen[i].kernel].outcome(texts[i], f"fault{i}"), range(len(chosen)))
        yield from zip(chosen, done)


def check_faults(chosen, folder, jobs):
    found, invalid = 0, 0
    width = max(len(fault.name) for fault in chosen)
    for fault, how in outcomes(chosen, folder, jobs):
        invalid += bool(how and how.startswith("invalid"))
        found += bool(how and not how.startswith("invalid"))
        print(f"{fault.name:{width}}  {how or 'NOT FOUND'}", flush=True)
    share = found / len(chosen)
    print(f"{found} of {len(chosen)} faults found ({100 * share:.1f} %), {invalid} do not compile")
    return 0 if share >= LEAST and not invalid else 1


def check_right(chosen, folder, seeds, jobs):
    of = kernels(folder, {fault.kernel for fault in chosen})
    work = [(kernel, seed) for kernel in of.values() for seed in range(1, seeds + 1)]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        done = pool.map(lambda pair: pair[0].outcome(pair[0].text, "right", pair[1]), work)
        for (kernel, seed), found in zip(work, done):
            if found:
                wrong += 1
                print(f"{kernel.case.name}, seed {seed}: {found}", flush=True)
    print(f"{len(of)} kernels under {seeds} seeds: {wrong} wrong")
    return 1 if wrong else 0


def main():
    if sys.argv[1:2] == ["--run"]:
        return run(*map(pathlib.Path, sys.argv[2:]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, help="run the right kernels under so many seeds")
    parser.add_argument("--jobs", type=int, help="processes at a time (number of cores)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these faults, or those of these kernels, alone")
    options = parser.parse_args()
    chosen = [fault for fault in faults()
              if not options.names or fault.name in options.names or fault.kernel in options.names]
    if not chosen:
        parser.error("no such fault or kernel")
    names = [fault.name for fault in chosen]
    assert len(set(names)) == len(names), "two faults of one name"
    with tempfile.TemporaryDirectory() as folder:
        if options.seeds:
            return check_right(chosen, folder, options.seeds, options.jobs)
        return check_faults(chosen, folder, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
