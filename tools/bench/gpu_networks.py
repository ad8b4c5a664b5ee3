"""Whole networks on a GPU beside PyTorch.

    python tools/bench/gpu_networks.py [--device cuda] [--arch sm_90a] [--json FILE] [CASE...]

Runs where the GPU is, with PyTorch and a build of mlc (MLC_BUILD). A case is NAME,
NAME:BATCH, NAME:BATCH:f16 with a name of tools/experiments/models.py. mlc compiles the ONNX file; PyTorch runs the same
graph by its own operators (cuDNN and cuBLASLt beneath), eager, through torch.compile, and with channels
last; its best counts. Inputs and outputs lie on the device. Printed are the largest difference to PyTorch in
double precision relative to the largest magnitude, the median time of a run on either side, taken in turns
by the device's events, and their ratio. `--device emulator --small` checks the same without times.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("runtime/python", "test/models", "test/training", "tools/experiments")]
import half  # noqa: E402
import models  # noqa: E402
import network  # noqa: E402
import torch_gradients  # noqa: E402

CASES = ["resnet50", "resnet50:32:f16", "mobilenet-v2", "mobilenet-v2:32:f16", "squeezenet", "resnet18-parallel",
         "inception-v3", "bert-base", "bert-base:1:f16", "llama:1:f16"]


class Batched(network.Network):
    """A network of pictures, for several of them."""

    def __init__(self, name, seed, batch):
        super().__init__(name, seed)
        self.batch = batch

    def input(self, name, dims):
        return super().input(name, [self.batch, *dims[1:]] if len(dims) == 4 else dims)


class Case:
    def __init__(self, text, small):
        name, batch, kind = (text.split(":") + ["1", "f32"][len(text.split(":")) - 1:])[:3]
        experiment = models.EXPERIMENTS[name]
        net = Batched(name, 1, int(batch))
        self.text, self.is_half = text, kind == "f16"
        self.model = net.model(experiment.build(net, *(experiment.small if small else experiment.full)))
        if self.is_half:
            self.model = half.in_half(self.model)
        dims = [d.dim_value for d in self.model.graph.input[0].type.tensor_type.shape.dim]
        self.input = (np.random.default_rng(7).standard_normal(dims) / 2).astype(np.float16 if self.is_half else np.float32)
        self.is_picture = len(dims) == 4


def module_of(model, torch, dtype):
    """The model's graph as a torch.fx module; integers and shapes in it are numbers."""

    class Graph(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.places = {}
            for i, tensor in enumerate(model.graph.initializer):
                value = torch.tensor(numpy_helper.to_array(tensor))
                if value.is_floating_point():
                    self.register_buffer(f"w{i}", value.to(dtype))
                    self.places[tensor.name] = f"w{i}"

        def forward(self, x):
            values = {t.name: getattr(self, self.places[t.name]) if t.name in self.places
                      else torch.tensor(numpy_helper.to_array(t)) for t in model.graph.initializer}
            values[model.graph.input[0].name] = x
            for node in model.graph.node:
                values[node.output[0]] = torch_gradients.run(node, [values[n] for n in node.input], torch)
            return values[model.graph.output[0].name]

    return torch.fx.symbolic_trace(Graph()).eval()


def peers(case, torch):
    """{name: a call without arguments} of PyTorch on its device, and each one's result."""
    dtype = torch.float16 if case.is_half else torch.float32
    x = torch.from_numpy(case.input).cuda()
    for last in (False, True) if case.is_picture else (False,):
        form = {"memory_format": torch.channels_last} if last else {}
        module = module_of(case.model, torch, dtype).cuda()
        if last:
            for name, buffer in module.named_buffers():
                if buffer.dim() == 4:
                    buffer.data = buffer.data.to(**form)
        given = x.to(**form) if last else x
        yield "eager" + " channels last" * last, lambda m=module, g=given: m(g)
        compiled = torch.compile(module, mode="reduce-overhead")
        yield "compiled" + " channels last" * last, lambda m=compiled, g=given: m(g)


def time_of(call, torch, runs, stream):
    times = []
    for _ in range(runs):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(stream):
            start.record()
            call()
            end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def compiled(case, folder, options, flags=()):
    build = pathlib.Path(os.environ.get("MLC_BUILD", ROOT / "build"))
    path, artifact = folder / "model.onnx", folder / "model.mlca"
    onnx.save(case.model, path)
    subprocess.run([build / "bin/mlc", "compile", path, "-o", artifact, f"--target=cuda:{options.arch}", *flags], check=True)
    return artifact


def exact(case, torch):
    """In double precision, of the weights and inputs as they are."""
    place = "cuda" if torch.cuda.is_available() else "cpu"
    module = module_of(case.model, torch, torch.float64).to(place)
    with torch.no_grad():
        return module(torch.from_numpy(case.input.astype(np.float64)).to(place)).cpu().numpy()


def measure(text, options, torch):
    import mlc
    case = Case(text, options.small)
    want = exact(case, torch)
    row = {"case": text}
    with tempfile.TemporaryDirectory() as folder:
        artifacts = {"ms": compiled(case, pathlib.Path(folder), options)}
        sessions = {"ms": mlc.Session(mlc.load(artifacts["ms"]), device=options.device)}
        if options.device == "cuda":
            without = mlc.load(compiled(case, pathlib.Path(folder), options, ["--no-rewrites"]))
            sessions["ms_without_rewrites"] = mlc.Session(without, device=options.device)
    (got,) = sessions["ms"].run([case.input]).values()
    row["error"] = float(np.abs(got - want).max() / np.abs(want).max())
    row["right"] = bool(row["error"] <= (2e-2 if case.is_half else 5e-3))
    if options.device != "cuda":
        return row
    x = torch.from_numpy(case.input).cuda()
    calls = {}
    for name, session in sessions.items():
        session.bind([x], out={session.model.outputs[0].name: torch.empty(want.shape, dtype=x.dtype, device="cuda")})
        calls[name] = (session.enqueue, torch.cuda.ExternalStream(session.stream))
    own = torch.cuda.Stream()
    for name, call in peers(case, torch):
        calls["PyTorch " + name] = (call, own)
    times = {name: [] for name in calls}
    with torch.no_grad():
        for call, stream in calls.values():
            time_of(call, torch, 5, stream)
        for _ in range(options.rounds):
            for name, (call, stream) in calls.items():
                times[name].append(time_of(call, torch, 10, stream))
    medians = {name: statistics.median(t) for name, t in times.items()}
    row |= {name: ms for name, ms in medians.items() if not name.startswith("PyTorch")}
    row["peer"] = min((n for n in medians if n.startswith("PyTorch")), key=medians.get)
    row["peer_ms"] = medians[row["peer"]]
    row["ratio"] = row["ms"] / row["peer_ms"]
    row["rewrites"] = row["ms"] / row["ms_without_rewrites"]
    return row


def text_of(row):
    end = "" if row["right"] else "  WRONG"
    if "ratio" not in row:
        return f"{row['case']:22} {row['error']:9.2e}{end}"
    return (f"{row['case']:22} {row['error']:9.2e} {row['ms']:9.4f} {row['peer_ms']:9.4f} {row['ratio']:6.2f} "
            f"{row['rewrites']:6.2f}  {row['peer']}{end}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--small", action="store_true", help="narrow networks, for the emulator")
    parser.add_argument("--json", type=pathlib.Path, help="write the table here too")
    options = parser.parse_args()
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    print(f"{'case':22} {'error':>9} {'ms':>9} {'PyTorch':>9} {'ratio':>6} {'rewr.':>6}  its best")
    rows = []
    for text in options.cases:
        try:
            rows.append(measure(text, options, torch))
            print(text_of(rows[-1]), flush=True)
        except Exception as error:  # one that fails leaves the others their time
            rows.append({"case": text, "right": False, "failed": str(error)[:500]})
            print(f"{text:22} FAILED {str(error)[:300]}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
