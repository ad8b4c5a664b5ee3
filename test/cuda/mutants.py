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

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MLC_BUILD", ROOT / "build"))
LEAST = 0.95
TIMEOUT = 120  # seconds; a kernel that hangs is found too


# ----------------------------------------------------------------------
# The right kernels
# ----------------------------------------------------------------------


def tf32(x):
    """Rounded to nearest, ties away from zero, as the tensor cores' factors are."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x1000) & np.uint32(0xffffe000)).view(np.float32).astype(np.float64)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layer_norm(x, scale, bias):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + bias


def convolve(x, w):
    x = np.pad(tf32(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, tf32(w))


class Case:
    """A model of one kernel. `nodes` are pairs of an operator with its attributes and
    of names, the last of which is the result; `want` is the result in NumPy, of
    inputs in float64; a dim that is text is a symbol, which is SYMBOL in the run."""

    def __init__(self, name, nodes, shapes, want, dtype="float32", result=None, constants=None, options=(),
                 tolerance=1e-5):
        self.name, self.nodes, self.shapes, self.want, self.dtype = name, nodes, shapes, want, np.dtype(dtype)
        self.result = np.dtype(result or dtype)
        self.constants, self.options, self.tolerance = constants or {}, options, tolerance

    SYMBOL = 300

    def inputs(self):
        rng = np.random.default_rng(0)
        shapes = [[self.SYMBOL if isinstance(d, str) else d for d in shape] for shape in self.shapes]
        if self.dtype.kind == "i":
            return [rng.integers(-128, 128, shape).astype(self.dtype) for shape in shapes]
        return [rng.standard_normal(shape).astype(self.dtype) for shape in shapes]

    def model(self):
        def value(name, dtype, shape):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)
        nodes = []
        for (operator, attributes), names in self.nodes:
            *inputs, output = names.split()
            nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        graph = helper.make_graph(
            nodes, "case", [value(f"x{i}", self.dtype, shape) for i, shape in enumerate(self.shapes)],
            [value("y", self.result, None)],
            [helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
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
    Case("int8", [(("MatMulInteger", {}), "x0 x1 y")], [[37, 391], [391, 45]], product, "int8", "int32", tolerance=0),
    Case("conv", [(("Conv", {"pads": [1, 1, 1, 1]}), "x0 x1 y")], [[2, 5, 9, 7], [11, 5, 3, 3]], convolve),
    Case("ieee", [(("MatMul", {}), "x0 x1 y")], [[37, 70], [70, 45]], product, options=["--precision=ieee"]),
    Case("softmax", [(("Softmax", {"axis": -1}), "x0 y")], [[5, 300]], softmax),
    # What a row stores lies in scratch memory.
    Case("scratch", [(("Softmax", {"axis": -1}), "x0 y")], [[5, "n"]], softmax),
    Case("norm", [(("LayerNormalization", {}), "x0 x1 x2 y")], [[5, 300], [300], [300]], layer_norm),
    Case("sum", [(("ReduceSum", {"keepdims": 0}), "x0 axes y")], [[3, 1000]], lambda x: x.sum(-1),
         constants={"axes": [-1]}),
    # A warp for each row.
    Case("warps", [(("Softmax", {"axis": -1}), "x0 t"), (("ReduceSum", {"keepdims": 0}), "t axes y")],
         [[3, 9, 70]], lambda x: softmax(x).sum(1), constants={"axes": [1]}),
    # A thread for each column.
    Case("columns", [(("Softmax", {"axis": 0}), "x0 y")], [[6, 300]], lambda x: softmax(x, 0)),
    Case("vector", [(("Mul", {}), "x0 x1 t"), (("Add", {}), "t x0 y")], [[158, 105], [158, 105]],
         lambda a, b: a * b + a),
    Case("transpose", [(("Transpose", {"perm": [1, 0]}), "x0 y")], [[37, 29]], lambda x: x.T, tolerance=0),
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


class Kernel:
    """A case's kernel: its text, how it is launched, and what comes out."""

    def __init__(self, case, folder):
        self.case, self.folder = case, pathlib.Path(folder) / case.name
        self.folder.mkdir(parents=True, exist_ok=True)
        model, artifact = self.folder / "model.onnx", self.folder / "model.mlca"
        onnx.save(case.model(), model)
        subprocess.run([BUILD / "bin/mlc", "compile", model, "-o", artifact, "--target=cuda:sm_80", *case.options],
                       check=True)
        done = subprocess.run([BUILD / "bin/mlc", "inspect", "--json", artifact], check=True, capture_output=True)
        (step,) = (step for step in json.loads(done.stdout)["steps"] if step["kind"] == "grid-launch")
        fields = dict(field.split(" ", 1) for field in step["text"].split(", "))
        self.name, self.text = fields["kernel"], sources(artifact.read_bytes())[fields["kernel"]]
        symbols = [Case.SYMBOL] if "args" in fields else []

        def number(text):
            return eval(text.replace("floordiv", "//"), {}, {"n": Case.SYMBOL})  # of our own compiler
        inputs = case.inputs()
        self.want = case.want(*(x.astype(np.float64) for x in inputs))
        for i, x in enumerate(inputs):
            np.save(self.folder / f"{i}.npy", x)
        # Blocks that do several tasks, and several blocks, if there are so many tasks.
        tasks = number(fields["tasks"])
        self.launch = {"kernel": self.name, "inputs": [f"{i}.npy" for i in range(len(inputs))],
                       "shape": self.want.shape, "dtype": case.result.name, "symbols": symbols, "tasks": tasks,
                       "grid": max(1, tasks // 2), "block": number(fields["block"]),
                       "shared": number(fields.get("shared", "0")), "scratch": number(fields.get("scratch", "0"))}
        (self.folder / "launch.json").write_text(json.dumps(self.launch))

    def outcome(self, text, name, seed=0):
        """How the text's fault is found: `report: KIND`, `result`, `crash`, `hang`; None
        if it is not. `invalid` is a text that does not compile."""
        source, result = (self.folder / f"{name}-{seed}.{end}" for end in ("cu", "npy"))
        source.write_text(text)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder.parent / "cache"),
                       "MLC_EMULATOR_SEED": str(seed), "MLC_EMULATOR_ARCH": "sm_80"}
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
    words, kept = [], []
    for name in launch["inputs"]:
        kept.append(np.ascontiguousarray(np.load(folder / name)))
        words.append(driver.allocate(kept[-1].nbytes))
        driver.call("cuMemcpyHtoDAsync_v2", words[-1], ctypes.c_void_p(kept[-1].ctypes.data),
                    ctypes.c_size_t(kept[-1].nbytes), None)
    # Memory of the emulator is full of ones until somebody writes it.
    got = np.empty(launch["shape"], launch["dtype"])
    words.append(driver.allocate(got.nbytes))
    scratch = driver.allocate(launch["scratch"] * launch["grid"]) if launch["scratch"] else ctypes.c_uint64()
    output = words[-1]
    words += [ctypes.c_uint64(word) for word in (*launch["symbols"], launch["tasks"], scratch.value,
                                                 launch["scratch"])]
    buffer = (ctypes.c_uint64 * len(words))(*(word.value for word in words))
    size = ctypes.c_size_t(ctypes.sizeof(buffer))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), None)
    driver.call("cuLaunchKernel", function, launch["grid"], 1, 1, launch["block"], 1, 1, launch["shared"], None, None,
                extra)
    driver.call("cuStreamSynchronize", None)
    driver.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(got.ctypes.data), output, ctypes.c_size_t(got.nbytes), None)
    driver.call("cuStreamSynchronize", None)
    np.save(result, got)
    print(json.dumps(driver.report()))
    return 0


# ----------------------------------------------------------------------
# Faults
# ----------------------------------------------------------------------


class Fault:
    """`old`, a text or a pattern, replaced by `new`: where it stands for the `which`th
    time, or everywhere (None)."""

    def __init__(self, kernel, name, old, new, which=None):
        self.kernel, self.name, self.old, self.new, self.which = kernel, f"{kernel}: {name}", old, new, which

    def applied(self, text):
        pattern, new = self.old, self.new
        if isinstance(pattern, str):
            pattern, new = re.compile(re.escape(pattern)), new.replace("\\", "\\\\")
        matches = list(pattern.finditer(text))
        chosen = matches if self.which is None else matches[self.which:self.which + 1]
        assert chosen, f"{self.name}: the kernel has no such text: {pattern.pattern}"
        for match in reversed(chosen):
            text = text[:match.start()] + match.expand(new) + text[match.end():]
        return text


def p(pattern):
    """A pattern in which NAME is any name and a blank any space."""
    return re.compile(pattern.replace("NAME", r"\w+").replace(" ", r"\s+"))


def tensor_faults(kernel):
    """Faults that matter whatever the type is."""
    yield Fault(kernel, "no barrier in steps", "    syncBlock();\n    fetch(", "    fetch(")
    yield Fault(kernel, "no barrier between tasks", "waitForCopies<0>();\n  syncBlock();", "waitForCopies<0>();")
    yield Fault(kernel, "fetches before the barrier", "syncBlock();\n    fetch(s + STAGES - 1);",
                "fetch(s + STAGES - 1);\n    syncBlock();")
    yield Fault(kernel, "one stage less in fetch", "uint32_t *to = tiles + int(s % STAGES)",
                "uint32_t *to = tiles + int(s % (STAGES - 1))")
    yield Fault(kernel, "next stage multiplied", "*tileA = tiles + int(s % STAGES)",
                "*tileA = tiles + int((s + 1) % STAGES)")
    yield Fault(kernel, "stages overlap", "% STAGES) * (wordsA + wordsB)", "% STAGES) * wordsA")
    yield Fault(kernel, "B's tile begins in A's", "wordsA = BM * wordsOfRow", "wordsA = BM * wordsOfTile")
    yield Fault(kernel, "rows of 31 words", "wordsOfRow = 36", "wordsOfRow = 31")
    yield Fault(kernel, "A's rows 8 of 16", "i * 16 + lane % 16", "i * 16 + lane % 8")
    yield Fault(kernel, "B's words swapped", "b[j][0] = both[0];\n        b[j][1] = both[1];",
                "b[j][0] = both[1];\n        b[j][1] = both[0];")
    yield Fault(kernel, "both fragments of B the same", "b[j + 1][0] = both[2];\n        b[j + 1][1] = both[3];",
                "b[j + 1][0] = both[0];\n        b[j + 1][1] = both[1];")
    yield Fault(kernel, "row + 8 dropped", "lane / 4 + e / 2 * 8", "lane / 4")
    yield Fault(kernel, "rows up to M", "m < problem.rows()", "m <= problem.rows()")
    yield Fault(kernel, "columns up to N", "n < problem.columns()", "n <= problem.columns()")


def faults():
    yield from tensor_faults("tf32")
    yield Fault("tf32", "waits for a copy less", "waitForCopies<STAGES - 2>", "waitForCopies<STAGES - 1>")
    yield Fault("tf32", "waits for no copies", "waitForCopies<STAGES - 2>();", "")
    yield Fault("tf32", "waits behind the barrier", p(r"(waitForCopies<STAGES - 2>\(\);)([^;]*;)( fetch)"), r"\2\1\3")
    yield Fault("tf32", "a warp's barrier in steps", "    syncBlock();\n    fetch(", "    syncWarp();\n    fetch(")
    yield Fault("tf32", "no groups of copies", "    commitCopies();\n", "")
    yield Fault("tf32", "groups of those alone that have copies", p(r"(readB\.read\([^;]*;) \} commitCopies\(\);"),
                r"\1 commitCopies(); }")
    yield Fault("tf32", "a stage less at first", "s < STAGES - 1; ++s)\n    fetch", "s < STAGES - 2; ++s)\n    fetch")
    yield Fault("tf32", "a step too far", "fetch(s + STAGES - 1)", "fetch(s + STAGES)")
    yield Fault("tf32", "last part of a step dropped", "(problem.depth() + step - 1) / step", "problem.depth() / step")
    yield Fault("tf32", "k up to K", "inside[which] && k < side.depth()", "inside[which] && k <= side.depth()")
    yield Fault("tf32", "k unbounded", "inside[which] && k < side.depth()", "inside[which]")
    yield Fault("tf32", "reads a row too much", "inside[i] = r < side.count()", "inside[i] = r <= side.count()")
    yield Fault("tf32", "reads all rows of a tile", p(r"inside\[i\] = r < side\.count\(\)(; places\[i\] =) [^;]*;"),
                r"inside[i] = true\1 side.place(batch, r);")
    yield Fault("tf32", "copies what is outside", "isStored && side.inside(at)", "true")
    yield Fault("tf32", "writes all of a tile", "if (m < problem.rows() && n < problem.columns())", "")
    yield Fault("tf32", "A's words 8 apart", "lane / 16 * 4", "lane / 16 * 8")
    yield Fault("tf32", "B's words 2 apart", "lane / 8 % 2 * 4", "lane / 8 % 2 * 2")
    yield Fault("tf32", "lane's row is lane % 4", p(r"lane / 4 \+ e / 2 \* 8"), "lane % 4 + e / 2 * 8")
    yield Fault("tf32", "lane's row and column swapped", p(r"lane / 4 \+ e / 2 \* 8;( const [^;]* j \* 8 \+) lane % 4"),
                r"lane % 4 + e / 2 * 8;\1 lane / 4")
    yield Fault("tf32", "neighbours swapped", "lane % 4 * 2 + e % 2", "lane % 4 * 2 + 1 - e % 2")
    yield Fault("tf32", "sums begin at 1", "sums[i][j][e] = 0;", "sums[i][j][e] = 1;")
    yield Fault("tf32", "B not rounded", "      Mma::prepare(b);\n", "")
    yield Fault("tf32", "nothing rounded", "words[i][j] = toTF32(__int_as_float(words[i][j]))", "")
    yield Fault("tf32", "warps' rows and columns alike", "columnOfWarp = warp % WN * warpN",
                "columnOfWarp = warp / WN * warpN")
    yield Fault("tf32", "lanes of the block", "lane = threadIdx.x % 32", "lane = threadIdx.x")
    yield Fault("tf32", "all warps read the first columns", "(columnOfWarp + j * 8", "(j * 8")
    yield Fault("tf32", "every second product", "k < wordsOfTile; k += 8", "k < wordsOfTile; k += 16")
    yield Fault("tf32", "a word too many", "k < wordsOfTile; k += 8", "k <= wordsOfTile; k += 8")
    yield Fault("tf32", "a lane does not multiply", "Mma::run(sums", "if (lane != 5) Mma::run(sums")
    yield Fault("tf32", "a lane does not load", "loadMatrices(both,", "if (lane != 5) loadMatrices(both,")
    yield Fault("tf32", "loads for one warp of two", "WordReader<BM, threads,", "WordReader<BM, 32,")
    yield Fault("tf32", "sums begin nowhere", "sums[i][j][e] = 0;", ";")
    yield Fault("tf32", "threads' rows overlap", "i * (THREADS / perRow)", "i")
    yield Fault("tf32", "tiles of N rounded down", "(problem.columns() + BN - 1) / BN", "problem.columns() / BN")
    yield Fault("tf32", "tiles along the diagonal", "task / tilesN % tilesM", "task % tilesM")
    yield Fault("tf32", "every block does each task", "task = blockIdx.x", "task = 0")
    yield Fault("tf32", "last task skipped", "task < tasks;", "task < tasks - 1;")
    yield Fault("tf32", "steps over a task", "task += gridDim.x)", "task += gridDim.x + 1)")
    yield Fault("tf32", "adds to the result", p(r"(out0\[NAME\]) = total"), r"\1 += total")

    yield Fault("f16", "no barrier in steps", "    syncBlock();\n    fetch(", "    fetch(")
    yield Fault("f16", "no barrier between tasks", "waitForCopies<0>();\n  syncBlock();", "waitForCopies<0>();")
    yield Fault("f16", "tiles of M rounded down", "(problem.rows() + BM - 1) / BM", "problem.rows() / BM")
    yield Fault("f16", "batches of a column of tiles", "task / (tilesM * tilesN)", "task / tilesN")
    yield Fault("f16", "no bound of k in a word", "isRow && k + e < side.depth()", "isRow")
    yield Fault("f16", "bound of a word, not its elements", "k + e < side.depth()", "k < side.depth()")
    yield Fault("f16", "elements 8 bits apart", "e * 32 / Mma::perWord", "e * 16 / Mma::perWord")
    yield Fault("f16", "first element twice", "side.step(k + e)", "side.step(k)")
    yield Fault("f16", "k counts words", "word(i) * Mma::perWord", "word(i)")
    yield Fault("f16", "steps of words", "(to + wordsA, s * step)", "(to + wordsA, s * wordsOfTile)")
    yield Fault("f16", "taken for bf16", "multiplyAddF16(d", "multiplyAddBF16(d")
    yield Fault("f16", "not converted", "return toF16(value).bits;", "return uint16_t(value);")

    yield from tensor_faults("vectors")
    yield Fault("vectors", "waits for a copy less", "waitForCopies<STAGES - 2>", "waitForCopies<STAGES - 1>")
    yield Fault("vectors", "no groups of copies", "    commitCopies();\n", "")
    yield Fault("vectors", "8 bytes of 16", "copyAsync<4 * wide>", "copyAsync<2 * wide>")
    yield Fault("vectors", "vectors begin one too far", "isStored ? k : 0", "isStored ? k + 1 : 0")
    yield Fault("vectors", "vectors overlap", p(r"\* wide;"), "* wide / 2;")

    yield Fault("int8", "no barrier in steps", "    syncBlock();\n    fetch(", "    fetch(")
    yield Fault("int8", "A without signs", "MmaBytes<true, true>", "MmaBytes<false, true>")
    yield Fault("int8", "B without signs", "MmaBytes<true, true>", "MmaBytes<true, false>")
    yield Fault("int8", "signs spill", "return uint8_t(value);", "return uint32_t(value);")
    yield Fault("int8", "no bound of k in a word", "isRow && k + e < side.depth()", "isRow")
    yield Fault("int8", "fragments transposed", "loadMatrices(both,", "loadMatricesTransposed(both,")

    for bound in ("along0 >= 0", "along0 < 9", "along1 >= 0", "along1 < 7"):
        yield Fault("conv", f"pad's bound {bound} dropped", f"place.{bound}", "true")
    yield Fault("conv", "pad's bound one too high", "place.along0 < 9", "place.along0 <= 9")
    yield Fault("conv", "pad's bound one too low", "place.along1 >= 0", "place.along1 >= -1")
    yield Fault("conv", "pad's last row dropped", "place.along0 < 9", "place.along0 < 8")
    yield Fault("conv", "pads are not asked", "isStored && side.inside(at)", "isStored")
    yield Fault("conv", "places do not add up", "x.along1 + y.along1", "x.along1")
    yield Fault("conv", "no barrier in steps", "    syncBlock();\n    fetch(", "    fetch(")

    yield Fault("ieee", "no barrier behind the tiles", p(r"(readB\.read\(tileB, firstK\);) syncBlock\(\);"), r"\1")
    yield Fault("ieee", "no barrier before the next", p(r"// Nobody reads the tiles any more when the next step "
                                                        r"fills them\. syncBlock\(\);"), "")
    yield Fault("ieee", "tiles overlap", "tileB = tileA + BK * strideA", "tileB = tileA + BK * BM")
    yield Fault("ieee", "rows' padding in one place", "strideA = BM + 1", "strideA = BM")
    yield Fault("ieee", "k unbounded", "if (inside[i] && k < side.depth())", "if (inside[i])")
    yield Fault("ieee", "reads a row too much", "inside[i] = r < side.count()", "inside[i] = r <= side.count()")
    yield Fault("ieee", "steps of half a tile", "firstK += BK", "firstK += BK / 2")
    yield Fault("ieee", "a place in k too many", "k < BK; ++k", "k <= BK; ++k")
    yield Fault("ieee", "a place in k too few", "k < BK; ++k", "k < BK - 1; ++k")
    yield Fault("ieee", "sums begin at 1", "sums[i][j] = T(0);", "sums[i][j] = T(1);")
    yield Fault("ieee", "sums do not sum", "sums[i][j] += a[i]", "sums[i][j] = a[i]")
    yield Fault("ieee", "writes neighbours", "threadM + i * threadsM;\n      const", "threadM * TM + i;\n      const")
    yield Fault("ieee", "columns up to N", "n < problem.columns()", "n <= problem.columns()")
    yield Fault("ieee", "rows of depth", "alongDepth ? e / BK : e % ROWS", "alongDepth ? e % BK : e % ROWS")

    # Behind a warp's partial results; the first and second results.
    for which, what in ((0, "behind partial maxima"), (2, "behind the maximum"), (4, "behind partial sums"),
                        (6, "behind the sum")):
        yield Fault("softmax", f"no barrier {what}", "syncBlock();", "", which)
    yield Fault("softmax", "a warp's barrier behind partial maxima", "syncBlock();", "syncWarp();", 0)
    yield Fault("softmax", "a barrier too many in a warp", "syncBlock();",
                "syncBlock();\nif (threadIdx.x < 32) syncBlock();", 7)
    yield Fault("softmax", "half a warp at a warp's barrier", "syncBlock();",
                "syncBlock();\nif (threadIdx.x % 32 < 16) syncWarp();", 0)
    yield Fault("softmax", "one warp at a barrier", "syncBlock();", "if (threadIdx.x < 32) syncBlock();", 4)
    yield Fault("softmax", "thread 0 alone at a barrier", "syncBlock();", "if (threadIdx.x == 0) syncBlock();", 0)
    yield Fault("softmax", "warp 0 at a barrier of its own", "syncBlock();",
                "if (threadIdx.x < 32)\nsyncBlock();\nelse\nsyncBlock();", 0)
    yield Fault("softmax", "lanes at two barriers", "syncBlock();",
                "if (threadIdx.x % 2)\nsyncBlock();\nelse\nsyncBlock();", 0)
    yield Fault("softmax", "half a warp shuffles", "for (int distance",
                "if (threadIdx.x % 32 < 16)\nfor (int distance", 1)
    yield Fault("softmax", "distances from 8 on", "distance = 16", "distance = 8")
    yield Fault("softmax", "distances from 32 on", "distance = 16", "distance = 32")
    yield Fault("softmax", "distance 1 dropped", "distance > 0", "distance > 1")
    yield Fault("softmax", "distances by 4", "distance /= 2", "distance /= 4")
    yield Fault("softmax", "a warp too many", "warp < blockDim.x / 32", "warp <= blockDim.x / 32")
    yield Fault("softmax", "half of the warps", "warp < blockDim.x / 32", "warp < blockDim.x / 64", 1)
    yield Fault("softmax", "warp 0 twice", "int warp = 1", "int warp = 0", 1)
    yield Fault("softmax", "warp 1 skipped", "int warp = 1", "int warp = 2", 1)
    yield Fault("softmax", "all lanes write", "if (threadIdx.x % 32 == 0)", "", 1)
    yield Fault("softmax", "all threads sum up", "if (threadIdx.x == 0)", "if (true)")
    yield Fault("softmax", "all threads write the maximum", p(r"if \(threadIdx\.x == 0\)( \{[^}]* stored0)"), r"\1")
    yield Fault("softmax", "each warp writes the sum", p(r"threadIdx\.x == 0(\) \{[^}]* stored2)"),
                r"threadIdx.x % 32 == 0\1")
    yield Fault("softmax", "first element skipped", p(r"(for \(Index k\w+ = threadIdx\.x);"), r"\1 + 1;", 1)
    yield Fault("softmax", "an element too many", p(r"(for \(Index NAME = threadIdx\.x; NAME <) 300"), r"\1= 300")
    yield Fault("softmax", "an element too many in the result", p(r"(for \(Index p\w+ = threadIdx\.x; NAME <) 300"),
                r"\1= 300", 1)
    yield Fault("softmax", "last element dropped", p(r"(for \(Index k\w+ = threadIdx\.x; NAME <) 300"), r"\1 299", 1)
    yield Fault("softmax", "threads step by a warp", p(r"(for \(Index k\w+ = [^;]*; [^;]*; NAME \+=) blockDim\.x"),
                r"\1 32")
    yield Fault("softmax", "maximum and exponentials overlap", "1024 + 16)", "1024 + 0)")
    yield Fault("softmax", "sum and exponentials overlap", "1024 + 1216)", "1024 + 1212)")
    yield Fault("softmax", "sum outside of shared memory", "1024 + 1216)", "1024 + 1232)")
    yield Fault("softmax", "exponentials lie on the warps", "sharedMemory() + 1024 + 16", "sharedMemory() + 16")
    yield Fault("softmax", "rows of 299", p(r"\* 300(; [^;]*; out0)"), r"* 299\1")
    yield Fault("softmax", "a task too many", "task < tasks;", "task <= tasks;")
    yield Fault("softmax", "last task skipped", "task < tasks;", "task < tasks - 1;")
    yield Fault("softmax", "every block does each task", "task = blockIdx.x", "task = 0")

    yield Fault("scratch", "blocks share scratch memory", "scratch + blockIdx.x * stride", "scratch")
    yield Fault("scratch", "blocks' scratch memory overlaps", "blockIdx.x * stride", "blockIdx.x * (stride - 16)")
    yield Fault("scratch", "scratch memory of the next block", "blockIdx.x * stride", "(blockIdx.x + 1) * stride")
    yield Fault("scratch", "no barrier behind the maximum", "syncBlock();", "", 2)
    yield Fault("scratch", "an element too many", p(r"(Index p\w+ = threadIdx\.x; NAME <) n0"), r"\1= n0")

    for which, what in ((0, "behind partial sums"), (3, "behind the mean"), (4, "behind partial variances"),
                        (7, "behind the deviation")):
        yield Fault("norm", f"no barrier {what}", "syncBlock();", "", which)
    yield Fault("norm", "mean lies on the warps", "sharedMemory() + 1024 + 16", "sharedMemory() + 16")
    yield Fault("norm", "mean and sum exchanged", "stored1[0]", "stored0[0]", 1)
    yield Fault("norm", "first element skipped", p(r"(for \(Index k\w+ = threadIdx\.x);"), r"\1 + 1;", 1)

    yield Fault("sum", "no barrier between tasks", p(r"syncBlock\(\); (if \(threadIdx\.x == 0\) \{[^}]* out0[^}]*\}) "
                                                    r"syncBlock\(\);"), r"\1")
    yield Fault("sum", "all threads write the sum", p(r"if \(threadIdx\.x == 0\)( \{[^}]* out0)"), r"\1")
    yield Fault("sum", "warps' sums lie a word apart in two", "[threadIdx.x / 32]", "[threadIdx.x / 64]")
    yield Fault("sum", "shuffles after leaving", p(r"for \(int distance"),
                "if (threadIdx.x >= 224) break;\n    for (int distance")

    for which, what in ((0, "behind the maxima"), (1, "behind the exponentials"), (2, "behind the sums")):
        yield Fault("warps", f"no barrier {what}", "syncBlock();", "", which)
    yield Fault("warps", "rows step by a thread", p(r"NAME \+= blockDim\.x / 32"), "p1 += 1", 0)
    yield Fault("warps", "all lanes write a maximum", p(r"if \(threadIdx\.x % 32 == 0\)( \{[^}]* stored0)"), r"\1")
    yield Fault("warps", "lanes begin at the block's thread", p(r"(Index k\w+ =) threadIdx\.x % 32"), r"\1 threadIdx.x")

    yield Fault("columns", "threads share what is stored", "stored0[Index(threadIdx.x)]", "stored0[0]")
    yield Fault("columns", "neighbours' places overlap", p(r"\* 256(; [^;]* = Index\(threadIdx)"), r"* 255\1")
    yield Fault("columns", "columns unbounded", p(r"if \(flat0 < 300\)"), "")
    yield Fault("columns", "a column too many", "flat0 < 300", "flat0 <= 300")
    yield Fault("columns", "a row too many", p(r"(k\w+) < 6"), r"\1 < 7", 0)

    yield Fault("vector", "tail as a vector", p(r"first0 \+ 4 <= (\d+)"), r"first0 < \1")
    yield Fault("vector", "no tail", p(r"else \{ for \(Index e = first0; e < \d+"), "else {\n for (Index e = 0; e < 0")
    yield Fault("vector", "tail one too long", p(r"e = first0; e < (\d+)"), r"e = first0; e <= \1")
    yield Fault("vector", "tail's first skipped", "e = first0;", "e = first0 + 1;")
    yield Fault("vector", "tasks overlap", "Index(task) * 256", "Index(task) * 255")
    yield Fault("vector", "vectors of 4 at multiples of 3", "Index(threadIdx.x)) * 4", "Index(threadIdx.x)) * 3")
    yield Fault("vector", "misaligned load", "loadVector<4>(in1 + first0)", "loadVector<4>(in1 + first0 + 1)")
    yield Fault("vector", "three of four", "e < 4", "e < 3")

    yield Fault("transpose", "an element too many", p(r"flat0 < (\d+)"), r"flat0 <= \1")
    yield Fault("transpose", "elements unbounded", p(r"if \(flat0 < \d+\)"), "")
    yield Fault("transpose", "rows and columns exchanged", p(r"flat0 % (\d+)(;[^;]*)flat0 / "), r"flat0 / \1\2flat0 % ")
    yield Fault("transpose", "all tasks the same", "Index(task) * 256", "0 * 256")

    yield Fault("pad", "no barrier behind the joined", "syncBlock();", "", 0)
    yield Fault("pad", "begin of the second part", p(r"NAME - 7;"), "i2 - 6;")
    yield Fault("pad", "no bound at the end", p(r"(NAME >= 0 &&) NAME < 5"), r"\1 true")
    yield Fault("pad", "no bound at the begin", p(r"(NAME < 5 &&) NAME >= 0"), r"\1 true")
    yield Fault("pad", "pad one too wide", p(r"(NAME >= 0 && NAME <) 13"), r"\1= 13")


# ----------------------------------------------------------------------
# All of them
# ----------------------------------------------------------------------


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
