"""Plans the GPTs of Alpa (Zheng et al. 2022) on its clusters, beside the plans that Alpa published, in one simulator.

    .venv/bin/python tools/bench/alpa.py [--gpus 1 2 4 ...]

For each: Alpa's stages, meshes and micro-batches, 1F1B, every layer group computed again, optimizer states shared, shardings from `mlc plan --planner=shardings`; the same freedoms in
`mlc plan` (Alpa's number of micro-batches, 1F1B, everything computed again); and all of mlc's. Models have shapes alone. Prints a row a case: seconds of a step and of the search.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
MLC = pathlib.Path(os.environ.get("MLC", ROOT / os.environ.get("MLC_BUILD", "build") / "bin/mlc"))
FLAGS = ["--loss=cross-entropy", "--class-axis=-1", "--optimizer=adam", "--loss-scale=none", "--freeze=mask"]


class Gpt:
    """A GPT in float16 with an open batch, whose weights are external data that nobody has."""

    def __init__(self, hidden, layers, heads, sequence, vocabulary):
        self.nodes, self.weights, self.offset = [], [], 0
        self.hidden = hidden
        self.constant("split", np.array([0, sequence, heads, hidden // heads], np.int64))
        self.constant("join", np.array([0, sequence, hidden], np.int64))
        self.constant("root", np.float16((hidden // heads) ** -0.5))
        self.constant("mask", np.triu(np.full((sequence, sequence), -6e4, np.float16), 1))
        h = self.op("Gather", self.weight("embedding", vocabulary, hidden), "tokens")
        h = self.op("Add", h, self.weight("positions", sequence, hidden), name="embed")
        for i in range(layers):
            h = self.layer(h, f"layer{i}")
        self.op("MatMul", self.norm(h, "norm"), self.weight("head.w", hidden, vocabulary), name="head")
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "gpt", [info("tokens", TensorProto.INT64, ["batch", sequence])],
                                  [info(self.nodes[-1].output[0], TensorProto.FLOAT16, ["batch", sequence, vocabulary])], self.weights)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))

    def weight(self, name, *dims):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT16, dims=dims, data_location=TensorProto.EXTERNAL)
        size = 2 * int(np.prod(dims))
        for key, value in (("location", "weights.bin"), ("offset", self.offset), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        self.offset += size
        self.weights.append(tensor)
        return name

    def op(self, kind, *inputs, name=None, **attributes):
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=name or f"{kind.lower()}_{len(self.nodes)}", **attributes))
        return output

    def norm(self, h, name):
        return self.op("LayerNormalization", h, self.weight(f"{name}.s", self.hidden), self.weight(f"{name}.b", self.hidden), name=name)

    def dense(self, h, name, rows, columns):
        return self.op("Add", self.op("MatMul", h, self.weight(f"{name}.w", rows, columns)), self.weight(f"{name}.b", columns))

    def layer(self, h, name):
        width = self.hidden
        n = self.norm(h, f"{name}/norm1")
        q, k, v = (self.op("Transpose", self.op("Reshape", self.dense(n, f"{name}/{part}", width, width), "split"),
                           perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]) for part in "qkv")
        scores = self.op("Softmax", self.op("Add", self.op("Mul", self.op("MatMul", q, k), "root"), "mask"), axis=-1)
        heads = self.op("Reshape", self.op("Transpose", self.op("MatMul", scores, v), perm=[0, 2, 1, 3]), "join")
        h = self.op("Add", h, self.dense(heads, f"{name}/out", width, width), name=f"{name}/add1")
        up = self.op("Gelu", self.dense(self.norm(h, f"{name}/norm2"), f"{name}/up", width, 4 * width))
        return self.op("Add", h, self.dense(up, f"{name}/down", 4 * width, width), name=f"{name}/add2")


def run(*arguments):
    begin = time.perf_counter()
    done = subprocess.run([MLC, *map(str, arguments)], capture_output=True, text=True)
    return done, time.perf_counter() - begin


def last_of(counts):
    """The node that each but the last of some runs of layers ends with."""
    return [f"layer{sum(counts[:i + 1]) - 1}/add2" for i in range(len(counts) - 1)]


def shardings(model, cluster, parts, batch, folder):
    """Where the exact planner has weights and tensors on so many ranks, if they have the memory."""
    plan = folder / "shardings.json"
    done, _ = run("plan", model, *FLAGS, f"--cluster={cluster}", "--planner=shardings", f"--ranks={parts}", f"--mesh=data=1,tensor={parts}", f"--samples={batch}",
                  "--memory=100TB", "-o", plan)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(plan.read_text())["shard"]


def alpas_plan(case, model, cluster, folder):
    """Alpa's plan as mlc's. Stages of different sizes share their micro-batches in turn."""
    counts, groups = case["layers_of_stages"], case["layers"] // case["layer_groups"]
    plan = {"micro_batches": case["micro_batches"], "recompute": True}
    plan["keep_results"] = last_of([groups] * case["layer_groups"])
    sizes = [a * b for a, b in case["submeshes"]]
    data, tensor = case["meshes"][0]
    plan["schedule"] = "1f1b"
    plan["stages"] = [*({"until": end} for end in last_of(counts)), {}]
    if len(set(sizes)) > 1:
        first = 0
        for stage, size in zip(plan["stages"], sizes):
            stage["ranks"] = ",".join(map(str, range(first, first + size)))
            first += size
        plan["mesh"] = {"data": 1, "stage": sum(sizes)}
        return plan
    plan["mesh"] = {"stage": len(counts), "data": data, "tensor": tensor}
    if data > 1:
        plan["zero"] = 1
    if tensor > 1:
        plan["shard"] = shardings(model, cluster, tensor, case["samples"] // case["micro_batches"] // data, folder)
    return plan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, nargs="*", help="cases of so many (all)")
    options = parser.parse_args()
    cases = json.loads((ROOT / "test/planner/alpa/gpt.json").read_text())["cases"]
    print(f"{'GPT':>5} {'GPUs':>4} {'Alpa':>9} {'the same':>9} {'own':>9} {'gain':>6} {'search':>7}  plan")
    for case in cases:
        # One GPU leaves nothing to plan.
        if case["gpus"] == 1 or options.gpus and case["gpus"] not in options.gpus:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model = folder / "gpt.onnx"
            onnx.save(Gpt(*(case[key] for key in ("hidden", "layers", "heads", "sequence", "vocabulary"))).model, model)
            machine = json.loads((ROOT / "simulator/cluster/machines/p3.16xlarge.json").read_text())
            # Whether Alpa's plan fits is Alpa's claim, not ours.
            machine["devices"]["v100"]["memory_bytes"]["value"] *= 100
            (folder / "large.json").write_text(json.dumps(machine))
            (folder / "alpa.json").write_text(json.dumps(alpas_plan(case, model, "cluster:p3.16xlarge", folder)))
            batch = case["samples"] // case["micro_batches"]
            done, _ = run("simulate", model, *FLAGS, f"--plan={folder / 'alpa.json'}", f"--cluster={folder / 'large.json'}", f"--batch={batch}", f"--ranks={case['gpus']}", "--estimate",
                          "--json")
            if done.returncode:
                sys.exit(done.stderr)
            seconds = [json.loads(done.stdout)["seconds"]]
            common = ["plan", model, *FLAGS, "--cluster=cluster:p3.16xlarge", "--planner=pipelines", f"--ranks={case['gpus']}", f"--samples={case['samples']}", "--json"]
            for more in ([f"--micro-batches={case['micro_batches']}", "--schedules=1f1b", "--recompute=always"], []):
                done, searched = run(*common, *more)
                if not done.stdout:
                    sys.exit(done.stderr)
                best = json.loads(done.stdout)["plans"][0]
                seconds.append(best["seconds"] if best["fits"] else float("nan"))
            what = (f"{best['schedule']}, {best['stages']} stages, {best['copies']} copies, {best['parts']} parts, {best['micro_batches']} micro-batches"
                    f"{', ZeRO-%d' % best['zero'] if best['zero'] else ''}{', again' if best['recompute'] else ''}")
            print(f"{case['model']:>5} {case['gpus']:>4} {seconds[0]:>7.1f} s {seconds[1]:>7.1f} s {seconds[2]:>7.1f} s {100 * (1 - seconds[2] / seconds[0]):>4.0f} % {searched:>5.0f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
