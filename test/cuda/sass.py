"""What contractions become as machine code, without a GPU: instructions of their main loops, and widths of stores.

    .venv/bin/python test/cuda/sass.py [--arch sm_80,sm_90a] [--write] [CASE...]

compiles contractions of several types, shapes and epilogues, disassembles their kernels and prints a line for each;
--write puts them into sass.json, with which test_sass.py compares. The main loop is the smallest loop that has most of
the products of tensor cores. Copies are those of the copy engine (UTMALDG) and of threads (LDGSTS).
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "sass.json"
NVDISASM = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"), None)
ARCHS = ["sm_80", "sm_90a"]
PRODUCTS = ("HMMA", "IMMA", "HGMMA", "IGMMA")

# A call of a skeleton for tensor cores.
CALL = re.compile(r"(?:multiplyTileByWarps<(?P<m>\d+), (?P<n>\d+), (?P<warps>\d+), (?P<across>\d+)"
                  r"|Warpgroups<(?P<m2>\d+), (?P<n2>\d+), (?P<groups>\d+)), (?P<stages>\d+),")
# Which of several contractions is meant: that of 3x3 filters.
LARGE = re.compile(r"\bIndex K\(\) const {\n    return 576;")


# ----------------------------------------------------------------------
# The contractions
# ----------------------------------------------------------------------


def value(case, kind, *dims):
    """An input of this type and these dims; only they count."""
    dtype = {"f16": np.float16, "int8": np.int8}.get(kind, np.float32)
    given = case.input(np.zeros(0, dtype), list(dims))
    return case.node("Cast", given, to=TensorProto.BFLOAT16) if kind == "bf16" else given


def matmul(graph, name, kind, m, k, n, finish=None, **attributes):
    case = graph.case(name, None)
    a = value(case, kind, *((k, m) if attributes.get("transA") else (m, k)))
    b = value(case, kind, *((n, k) if attributes else (k, n)))
    if kind == "int8":
        return case.output(case.node("MatMulInteger", a, case.node("Transpose", b, perm=[1, 0])))
    result = case.node("Gemm", a, b, **attributes) if attributes else case.node("MatMul", a, b)
    case.output(finish(case, result) if finish else result)


def conv(graph, name, kind, x, w, residual=False, **attributes):
    case = graph.case(name, None)
    result = case.node("Conv", value(case, kind, *x), value(case, kind, *w), value(case, kind, w[0]), **attributes)
    if residual:
        result = case.node("Add", result, value(case, kind, x[0], w[0], *x[2:]))
    case.output(case.node("Relu", result))


def pictures(graph, name, kind, x, w):
    """A convolution with channels last in pictures and filters, and no border."""
    case = graph.case(name, None)
    turned = [case.node("Transpose", value(case, kind, *dims), perm=[0, 3, 1, 2]) for dims in (x, w)]
    result = case.node("Relu", case.node("Conv", *turned, value(case, kind, w[0])))
    case.output(case.node("Transpose", result, perm=[0, 2, 3, 1]))


def pixels(graph, name, kind, x, w):
    """A convolution in a network, whose layout mlc chooses."""
    case, rng = graph.case(name, None), np.random.default_rng(1)

    def weights(*dims):
        return rng.standard_normal(dims).astype(np.float16 if kind == "f16" else np.float32)
    stem = case.node("Conv", value(case, kind, x[0], 3, *x[2:]), weights(x[1], 3, 1, 1))
    result = case.node("Relu", case.node("Conv", stem, weights(*w), weights(w[0]), pads=[1, 1, 1, 1]))
    case.output(case.node("GlobalAveragePool", result))


def gelu(case, x):
    return case.node("Gelu", case.node("Add", x, value(case, "f16", 3072)))


def residual(case, x):
    return case.node("Relu", case.node("Add", case.node("Add", x, value(case, "f16", 768)), value(case, "f16", 4096, 768)))


def add_cases(graph):
    matmul(graph, "f16", "f16", 4096, 4096, 4096)
    matmul(graph, "f16_gelu", "f16", 4096, 768, 3072, gelu)
    matmul(graph, "f16_residual", "f16", 4096, 768, 768, residual)
    matmul(graph, "f16_turned", "f16", 4096, 4096, 4096, transB=1)
    matmul(graph, "f16_open", "f16", "M", 768, 768)
    matmul(graph, "bf16", "bf16", 4096, 4096, 4096)
    matmul(graph, "tf32", "f32", 4096, 4096, 4096)
    matmul(graph, "tf32_turned", "f32", 4096, 4096, 4096, transB=1)
    matmul(graph, "int8", "int8", 4096, 4096, 4096, transB=1)
    conv(graph, "f16_conv1", "f16", (32, 256, 56, 56), (128, 256, 1, 1), residual=True)
    conv(graph, "f16_conv1_odd", "f16", (32, 512, 7, 7), (2048, 512, 1, 1), residual=True)
    conv(graph, "f16_conv3", "f16", (32, 64, 56, 56), (64, 64, 3, 3), pads=[1, 1, 1, 1])
    matmul(graph, "bf16_turned", "bf16", 4096, 4096, 4096, transA=1, transB=1)
    pictures(graph, "f16_gathered", "f16", (32, 30, 30, 96), (96, 3, 3, 96))
    pixels(graph, "f16_pixels", "f16", (32, 64, 56, 56), (64, 64, 3, 3))
    pixels(graph, "tf32_pixels", "f32", (32, 64, 56, 56), (128, 64, 3, 3))
    conv(graph, "tf32_conv3", "f32", (32, 64, 56, 56), (64, 64, 3, 3), pads=[1, 1, 1, 1])


# ----------------------------------------------------------------------
# Their machine code
# ----------------------------------------------------------------------


def instructions(cubin):
    """[(opcode, number of the instruction to which it jumps or None)] of a cubin's kernel."""
    text = subprocess.run([NVDISASM, "-c", cubin], check=True, capture_output=True, text=True).stdout
    labels, found = {}, []
    for line in text.splitlines():
        if label := re.match(r"(\.L_\S+):", line.strip()):
            labels[label[1]] = len(found)
        elif code := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([\w.]+)(.*);", line):
            found.append(code.groups())
    targets = [re.search(r"`\((\.L_\S+?)\)", rest) if op.startswith("BRA") else None for op, rest in found]
    return [(op, target and labels.get(target[1])) for (op, _), target in zip(found, targets)]


def is_product(op):
    return op.split(".")[0] in PRODUCTS


def bits(op):
    """How much a load or store moves."""
    return next((int(part.lstrip("U")) for part in op.split(".") if part.lstrip("U") in ("8", "16", "64", "128")), 32)


def look(cubin):
    code = instructions(cubin)
    ops = [op for op, _ in code]
    loops = [(target, at) for at, (_, target) in enumerate(code) if target is not None and target <= at]

    def products(loop):
        return sum(map(is_product, ops[loop[0]:loop[1] + 1]))
    best = max(loops, key=lambda loop: (products(loop), loop[0] - loop[1]))
    count = products(best)
    kinds = [op.split(".")[0] for op in ops]
    return {"products": f"{count} {kinds[best[0]:][next(i for i, op in enumerate(ops[best[0]:]) if is_product(op))]}",
            "others": round((best[1] + 1 - best[0] - count) / max(count, 1), 2),
            "copies": {kind: kinds.count(kind) for kind in ("UTMALDG", "LDGSTS") if kind in kinds},
            "stores": sorted({bits(op) for op in ops if op.startswith("STG")}),
            "local": sum(op.startswith(("LDL", "STL")) for op in ops)}


def measure(tools, folder, arch, names=()):
    """{case: what look() says and how it is launched}"""
    from emulated import Graph
    graph = Graph(tools, folder, target=f"cuda:{arch}")
    add_cases(graph)
    if names:
        graph.cases = [case for case in graph.cases if case.name in names]
    misplaced = graph.compile().misplaced()
    assert not misplaced, misplaced
    done = tools.mlc("inspect", graph.artifact, f"--extract={folder}")
    assert done.returncode == 0, done.stderr
    shown = json.loads(tools.mlc("inspect", "--json", graph.artifact).stdout)
    reports = {kernel["symbol"]: kernel for kernel in shown["manifest"]["kernels"]}
    found = {}
    for case in graph.cases:
        symbols = [k for k in graph.kernels[case.name] if k and CALL.search(graph.sources[k])]
        (symbol,) = symbols if len(symbols) == 1 else [k for k in symbols if LARGE.search(graph.sources[k])]
        call = CALL.search(graph.sources[symbol])
        report = reports[symbol]
        team = f"{call['warps']}x{call['across']}" if call["warps"] else f"{call['groups']} groups"
        found[case.name] = {"tile": f"{call['m'] or call['m2']}x{call['n'] or call['n2']}", "warps": team, "stages": int(call["stages"]),
                            "registers": report["registers"], "spills": report["spill_stores"] + report["spill_loads"],
                            **look(folder / f"{symbol}.cubin")}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default=",".join(ARCHS))
    parser.add_argument("--write", action="store_true", help="put them into the table")
    parser.add_argument("names", nargs="*", metavar="CASE")
    options = parser.parse_args()
    sys.path[:0] = [str(HERE.parent)]
    os.environ.setdefault("MLC_BUILD", str(HERE.parents[1] / "build"))
    from conftest import Tools
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for arch in options.arch.split(","):
        with tempfile.TemporaryDirectory() as folder:
            for name, row in measure(Tools(), pathlib.Path(folder), arch, options.names).items():
                table[f"{name} {arch}"] = row
                print(f"{name:16}{arch:8}" + "  ".join(f"{key} {number}" for key, number in row.items()), flush=True)
    if options.write:
        rows = ",\n".join(f'  "{name}": {json.dumps(row)}' for name, row in sorted(table.items()))
        TABLE.write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
