"""Checks kernels on a GPU and times them beside PyTorch.

    python tools/bench/gpu.py pack FOLDER [--arch sm_90a] [--small]    where mlc was built; needs no GPU
    python FOLDER/gpu.py run FOLDER [--device cuda] [--json FILE]      where the GPU is

`pack` compiles a set of operators and networks, and puts artifacts, the runtime,
its Python package and this file into FOLDER (under 60 MB). `run` needs Python
with numpy there, and PyTorch for the times beside its own. It runs each case on
fresh random data, compares with float64, and prints one table: the largest error
relative to the norm, the time of the kernels by the device's events (median of
runs), PyTorch's time for the same operator, and their ratio. With
`--device emulator` the same runs without a GPU, and times mean nothing.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


class Case:
    """An operator: its inputs' shapes, the types of them all, what NumPy says in
    float64, what PyTorch does, and the error that is allowed."""

    def __init__(self, name, node, shapes, dtype, want, torch, tolerance, attributes=None, precision="tf32"):
        self.name, self.node, self.shapes, self.dtype = name, node, shapes, dtype
        self.want, self.torch, self.tolerance = want, torch, tolerance
        self.attributes, self.precision = attributes or {}, precision

    def inputs(self, seed=0):
        rng = np.random.default_rng(seed)
        return [(rng.standard_normal(shape) / 4).astype(self.dtype) for shape in self.shapes]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, scale, bias):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + bias


def convolve(x, w, stride, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    k = w.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, w, optimize=True)


def cases(small):
    m = 128 if small else 4096
    rows, channels, side = (8, 16, 14) if small else (8192, 64, 56)
    f32, f16 = np.float32, np.float16
    yield Case("matmul f16", "MatMul", [(m, m), (m, m)], f16, lambda a, b: a @ b, lambda t, a, b: a @ b, 1e-2)
    yield Case("matmul tf32", "MatMul", [(m, m), (m, m)], f32, lambda a, b: a @ b, lambda t, a, b: a @ b, 2e-3)
    yield Case("matmul ieee", "MatMul", [(m // 2, m // 2)] * 2, f32, lambda a, b: a @ b, lambda t, a, b: a @ b, 1e-5,
               precision="ieee")
    yield Case("conv 3x3 tf32", "Conv", [(8 if not small else 1, channels, side, side), (channels, channels, 3, 3)], f32,
               lambda x, w: convolve(x, w, 1, 1), lambda t, x, w: t.nn.functional.conv2d(x, w, padding=1), 2e-3,
               {"pads": [1, 1, 1, 1]})
    yield Case("softmax", "Softmax", [(rows, 1024)], f32, softmax, lambda t, x: t.softmax(x, -1), 1e-5, {"axis": -1})
    yield Case("layer norm", "LayerNormalization", [(rows, 1024), (1024,), (1024,)], f32, layer_norm,
               lambda t, x, s, b: t.nn.functional.layer_norm(x, (1024,), s, b), 1e-5)
    yield Case("add", "Add", [(rows * 16, 1024)] * 2, f32, lambda a, b: a + b, lambda t, a, b: a + b, 1e-6)
    yield Case("transpose", "Transpose", [(rows, 1024)], f32, lambda x: x.T, lambda t, x: x.T.contiguous(), 0,
               {"perm": [1, 0]})
    yield Case("sum of rows", "ReduceSum", [(rows, 1024)], f32, lambda x: x.sum(-1), lambda t, x: x.sum(-1), 1e-5,
               {"axes": [-1], "keepdims": 0})


def model_of(case):
    import onnx
    from onnx import helper
    attributes = dict(case.attributes)
    names = [f"x{i}" for i in range(len(case.shapes))]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(case.dtype))
    constants, extra = [], []
    if axes := attributes.pop("axes", None):
        constants, extra = [helper.make_tensor("axes", onnx.TensorProto.INT64, [len(axes)], axes)], ["axes"]
    graph = helper.make_graph(
        [helper.make_node(case.node, names + extra, ["y"], **attributes)], "case",
        [helper.make_tensor_value_info(n, kind, s) for n, s in zip(names, case.shapes)],
        [helper.make_tensor_value_info("y", kind, None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def file_of(case):
    return case.name.replace(" ", "-") + ".mlca"


def pack(options):
    import subprocess

    import onnx
    root = HERE.parents[1]
    build = pathlib.Path(options.build) if options.build else root / "build"
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases(options.small):
        model = folder / "case.onnx"
        onnx.save(model_of(case), model)
        subprocess.run([build / "bin/mlc", "compile", model, "-o", folder / file_of(case),
                        f"--target=cuda:{options.arch}", f"--precision={case.precision}"], check=True)
        model.unlink()
    shutil.copytree(root / "runtime/python/mlc", folder / "mlc", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    for file in (build / "lib/libmlc_runtime.so", build / "bin/libmlc_emulator.so"):
        shutil.copy(file, folder / "mlc" / file.name)
    shutil.copy(__file__, folder)
    (folder / "pack.json").write_text(json.dumps({"arch": options.arch, "small": options.small}))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
    return 0 if size < 60e6 else 1


def time_torch(case, arrays, runs):
    """Median ms of PyTorch's kernel by its events; None without it or a GPU."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case.precision == "tf32"
    tensors = [torch.from_numpy(a).cuda() for a in arrays]
    times = []
    for _ in range(runs + 3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        case.torch(torch, *tensors)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


def measure(case, folder, options):
    import mlc
    session = mlc.Session(mlc.load(folder / file_of(case)), device=options.device, profile=True)
    arrays = case.inputs(options.seed)
    (got,) = session.run(arrays).values()
    want = case.want(*(a.astype(np.float64) for a in arrays))
    norm = np.linalg.norm(want)
    error = np.linalg.norm(got.astype(np.float64) - want) / (norm or 1)
    times = []
    for _ in range(options.runs):
        session.invoke()
        times.append(sum(session.step_times) * 1e3)
    other = time_torch(case, arrays, options.runs)
    own = statistics.median(times)
    return {"name": case.name, "error": float(error), "tolerance": case.tolerance, "right": bool(error <= case.tolerance),
            "ms": own, "torch_ms": other, "ratio": own / other if other else None}


def run(options):
    sys.path.insert(0, str(options.folder))
    small = json.loads((options.folder / "pack.json").read_text())["small"]
    rows = [measure(case, options.folder, options) for case in cases(small)]
    print(f"{'case':16} {'error':>9} {'ms':>9} {'PyTorch':>9} {'ratio':>6}")
    for row in rows:
        other = f"{row['torch_ms']:9.4f} {row['ratio']:6.2f}" if row["torch_ms"] else f"{'-':>9} {'-':>6}"
        print(f"{row['name']:16} {row['error']:9.2e} {row['ms']:9.4f} {other}{'' if row['right'] else '  WRONG'}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["right"] for row in rows) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack", help="compile the cases into a folder")
    packing.add_argument("folder", type=pathlib.Path)
    packing.add_argument("--arch", default="sm_90a")
    packing.add_argument("--build", help="the build of mlc (build)")
    packing.add_argument("--small", action="store_true", help="sizes for the emulator")
    packing.set_defaults(run=pack)
    running = commands.add_parser("run", help="check and time a packed folder")
    running.add_argument("folder", type=pathlib.Path)
    running.add_argument("--device", default="cuda")
    running.add_argument("--runs", type=int, default=20)
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--json", type=pathlib.Path, help="write the table here too")
    running.set_defaults(run=run)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
