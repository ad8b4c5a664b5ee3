"""mlc plan: pipelines and copies of a model."""

import json
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import random_clusters

LAYERS = 8


def write_model(path, sizes=(64,) * (LAYERS + 1), names=True, batch="n"):
    """Products and activations; `sizes` are the widths between them."""
    rng = np.random.default_rng(1)
    nodes, weights = [], []
    for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        weights.append(numpy_helper.from_array((rng.standard_normal((rows, columns)) * 0.1).astype(np.float32), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"y{i}"], name=f"product{i}" if names else ""))
        nodes.append(helper.make_node("Tanh", [f"y{i}"], [f"x{i + 1}"], name=f"tanh{i}" if names else ""))
    last = len(sizes) - 1
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [batch, sizes[0]])],
                              [helper.make_tensor_value_info(f"x{last}", TensorProto.FLOAT, [batch, sizes[-1]])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def write_cluster(path, memory, latency=1e-6, bandwidth=1e10):
    def number(value):
        return {"value": value, "source": "a test"}
    device = {"flops_per_second": {"f32": number(1e11)}, "memory_bytes": number(memory), "memory_bytes_per_second": number(1e10)}
    level = {"name": "link", "medium": "memory", "ranks": 8, "latency_seconds": number(latency), "bytes_per_second": number(bandwidth)}
    path.write_text(json.dumps({"name": "test", "description": "ranks behind one link", "devices": {"core": device},
                                "nodes": [{"count": 1, "ranks": 8, "device": "core"}], "levels": [level],
                                "engine": {"rules": "ring", "overhead_seconds": number(0)}}))
    return path


def plans(tools, *flags):
    done = tools.mlc("plan", *flags, "--planner=pipelines", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_plans_are_simulated_and_trained(tools, tmp_path):
    """What a plan file says is what `mlc simulate` says of it, and training by it gives the weights of one rank."""
    model = write_model(tmp_path / "m.onnx")
    flags = [model, "--loss=mse", "--optimizer=adam"]
    made = tools.mlc("plan", *flags, "--planner=pipelines", "--ranks=4", "--samples=32", "--schedules=1f1b,interleaved-1f1b", "-o", tmp_path / "p.json", "--json")
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout)
    plan = json.loads((tmp_path / "p.json").read_text())
    assert plan["predicted"]["seconds"] == found["plans"][0]["seconds"]
    flags += ["--plan", tmp_path / "p.json"]
    simulated = tools.mlc("simulate", *flags, f"--batch={found['plans'][0]['batch']}", "--json")
    assert simulated.returncode == 0, simulated.stderr
    assert json.loads(simulated.stdout)["seconds"] == plan["predicted"]["seconds"]
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "d.npz", x0=rng.standard_normal((64, 64)).astype(np.float32), target=rng.standard_normal((64, 64)).astype(np.float32))
    common = [f"--data={tmp_path / 'd.npz'}", "--steps=3"]
    done = tools.mlc("train", *flags, "--ranks=4", f"--batch={found['plans'][0]['batch']}", *common, f"--checkpoint={tmp_path / 'a.npz'}")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("train", *flags[:3], "--batch=32", *common, f"--checkpoint={tmp_path / 'b.npz'}")
    assert done.returncode == 0, done.stderr
    a, b = np.load(tmp_path / "a.npz"), np.load(tmp_path / "b.npz")
    for i in range(LAYERS):
        np.testing.assert_allclose(a[f"weight/w{i}"], b[f"weight/w{i}"], rtol=1e-4, atol=1e-6)


def test_no_plan_is_better_than_the_first(tools, tmp_path):
    model = write_model(tmp_path / "m.onnx", sizes=(64, 512, 64, 64, 512, 512, 64, 64, 64))
    flags = [model, "--loss=mse", "--cluster", write_cluster(tmp_path / "c.json", 1e9)]
    found = plans(tools, *flags, "--samples=64", "--ranks=4")
    every = found["plans"]
    assert every[0]["simulated"] and every[0]["fits"] and found["blocks"] >= LAYERS
    assert min(one["seconds"] for one in every if one["fits"]) == every[0]["seconds"]
    assert {one["schedule"] for one in every} >= {"1f1b", "gpipe", "interleaved-1f1b", "zero-bubble", "zbv", "chimera", "data parallel"}
    assert found["bound_seconds"] <= min(one["seconds"] for one in every if one["ranks_of_a_copy"] > 1)
    assert found == plans(tools, *flags, "--samples=64", "--ranks=4")
    # Equal stages are a strategy that anybody writes.
    for schedule in ("1f1b", "gpipe"):
        equal = tools.mlc("simulate", *flags, "--ranks=4", "--stages=4", f"--pipeline={schedule}", "--micro-batches=8", "--batch=8",
                          "--estimate", "--json")
        assert equal.returncode == 0, equal.stderr
        assert every[0]["seconds"] <= json.loads(equal.stdout)["seconds"]


def test_what_links_and_memory_decide(tools, tmp_path):
    """Data parallelism where links are fast; stages where weights would not fit, or links are slow."""
    model = write_model(tmp_path / "m.onnx", sizes=(512,) * (LAYERS + 1))
    flags = [model, "--loss=mse", "--optimizer=adam", "--samples=64", "--ranks=4", "--tensor=1", "--recompute=never"]
    fast = plans(tools, *flags, "--cluster", write_cluster(tmp_path / "fast.json", 1e9, bandwidth=1e12))["plans"]
    assert fast[0]["schedule"] == "data parallel"
    slow = plans(tools, *flags, "--cluster", write_cluster(tmp_path / "slow.json", 1e9, bandwidth=1e8))["plans"]
    assert slow[0]["ranks_of_a_copy"] > 1
    small = plans(tools, *flags, "--cluster", write_cluster(tmp_path / "small.json", 20e6))["plans"]
    assert small[0]["ranks_of_a_copy"] > 1 and small[0]["memory_bytes"] <= 20e6
    assert not any(one["fits"] for one in small if one["schedule"] == "data parallel" and one["zero"] == 0)
    # Eight layers of 1 MB: Adam has 32 MB of states and sums.
    one = plans(tools, *flags, "--schedules=chimera", "--micro-batches=1", "--cluster", write_cluster(tmp_path / "zero.json", 22e6, bandwidth=1e12))["plans"]
    assert one[0]["fits"] and one[0]["zero"] > 0 and one[0]["memory_bytes"] <= 22e6, one[0]
    done = tools.mlc("plan", *flags, "--cluster", write_cluster(tmp_path / "none.json", 1e6), "-o", tmp_path / "p.json")
    assert done.returncode == 9 and "no plan fits" in done.stderr and not (tmp_path / "p.json").exists()


def test_all_planners_are_compared(tools, tmp_path):
    """Few samples and wide layers: weights are split; the plan is carried out as it was simulated."""
    model = write_model(tmp_path / "m.onnx", sizes=(1024,) * 5)
    flags = [model, "--loss=mse", "--cluster", write_cluster(tmp_path / "c.json", 1e9, bandwidth=1e11)]
    done = tools.mlc("plan", *flags, "--ranks=4", "--samples=4", "--schedules=1f1b", "-o", tmp_path / "p.json", "--json")
    assert done.returncode == 0, done.stderr
    every = json.loads(done.stdout)["plans"]
    assert {one["schedule"] for one in every} >= {"1f1b", "data parallel", "shardings"}
    assert every[0]["schedule"] == "shardings" and every[0]["seconds"] < 0.8 * next(
        one["seconds"] for one in every if one["schedule"] == "data parallel")
    plan = json.loads((tmp_path / "p.json").read_text())
    assert plan["mesh"]["tensor"] > 1 and plan["shard"] and plan["predicted"]["seconds"] == every[0]["seconds"]
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "d.npz", x0=rng.standard_normal((8, 1024)).astype(np.float32), target=rng.standard_normal((8, 1024)).astype(np.float32))
    losses = []
    for more in (["--plan", tmp_path / "p.json", "--ranks=4"], []):
        done = tools.mlc("train", model, "--loss=mse", *more, "--batch=4", f"--data={tmp_path / 'd.npz'}", "--steps=2", "--log-every=1",
                         f"--checkpoint={tmp_path / 'c.npz'}")
        assert done.returncode == 0, done.stderr
        losses.append([float(x) for x in re.findall(r"^step \d+ .*loss (\S+)", done.stdout, re.M)])
    assert len(losses[0]) == 2 and losses[0] == pytest.approx(losses[1], rel=1e-5)
    table = tools.mlc("plan", *flags, "--ranks=4", "--samples=4", "--schedules=1f1b", "--compare")
    assert re.search(r"^shardings over data=\d,tensor=\d +1 ", table.stdout, re.M)


def test_a_heavy_stage_gets_several_ranks(tools, tmp_path):
    """As in PipeDream: where the first layers compute and the last ones have the weights, and links are slow."""
    rng = np.random.default_rng(1)
    nodes, weights = [], []
    def product(x, y, rows, columns):
        weights.append(numpy_helper.from_array((rng.standard_normal((rows, columns)) * 0.05).astype(np.float32), f"{y}.w"))
        nodes.append(helper.make_node("MatMul", [x, f"{y}.w"], [f"{y}.p"], name=f"{y}.product"))
        nodes.append(helper.make_node("Tanh", [f"{y}.p"], [y], name=y))
    for i in range(6):
        product(f"x{i}", f"x{i + 1}", 64, 64)
    nodes.append(helper.make_node("ReduceMean", ["x6"], ["mean"], name="mean", axes=[1], keepdims=0))
    product("mean", "wide", 64, 4096)
    product("wide", "out", 4096, 8)
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", 128, 64])],
                              [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 8])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    flags = [tmp_path / "m.onnx", "--loss=mse", "--cluster", write_cluster(tmp_path / "c.json", 1e9, bandwidth=2e8)]
    done = tools.mlc("plan", *flags, "--planner=pipelines", "--ranks=4", "--samples=96", "--micro-batches=12", "-o", tmp_path / "p.json", "--json")
    assert done.returncode == 0, done.stderr
    best = json.loads(done.stdout)["plans"][0]
    assert best["replicas"] == [3, 1] and best["schedule"] in ("1f1b", "gpipe"), best
    simulated = tools.mlc("simulate", tmp_path / "m.onnx", "--loss=mse", "--plan", tmp_path / "p.json", f"--batch={best['batch']}", "--json")
    assert simulated.returncode == 0, simulated.stderr
    assert json.loads(simulated.stdout)["seconds"] == best["seconds"]


@pytest.mark.parametrize("flags, problem", [
    (["--ranks=2"], "the batch is open; give --samples"),
    (["--ranks=2", "--samples=0"], "--samples must be 1 to"),
    (["--ranks=2", "--samples=9", "--micro-batches=2"], "--samples=9 is no multiple of 2 micro-batches"),
    (["--ranks=2", "--samples=8", "--micro-batches=0"], "--micro-batches must be 1 to"),
    (["--ranks=2", "--samples=8", "--schedules=none"], "there is no schedule 'none'"),
    (["--ranks=2", "--samples=8", "--budget=0"], "--budget must be 1 to"),
    (["--ranks=2", "--samples=8", "--blocks=0"], "--blocks must be 1 to"),
    (["--ranks=99", "--samples=8"], "has 4 ranks, and the plan 99"),
    (["--ranks=3", "--samples=7", "--micro-batches=7", "--schedules=chimera"], "no schedule runs 7 samples on 3 ranks"),
    (["--ranks=2", "--samples=8", "--planner=pipelines", "--mesh=data=2"], "--mesh is of --planner=shardings; give that, too"),
    (["--ranks=2", "--samples=8", "--memory=1KB"], "--memory is of --planner=shardings"),
    (["--ranks=2", "--samples=8", "--planner=shardings", "--compare"], "--compare is of pipelines"),
    (["--ranks=2", "--samples=8", "--edges=x"], "--edges is of layers (.csv)"),
    (["--ranks=2", "--samples=8", "--bandwidth=1"], "--bandwidth is of layers (.csv)"),
    (["--ranks=2", "--samples=8", "--compile-to=fuse"], "--compile-to is of mlc train"),
    (["--ranks=2", "--samples=8", "-o", "-"], "-o writes to a file"),
    (["--ranks=2", "--samples=8", "-o", "m.onnx"], "m.onnx"),
    (["--ranks=2", "--samples=8", "-o", "none/p.json"], "none/p.json"),
])
def test_wrong_flags(tools, tmp_path, flags, problem):
    write_model(tmp_path / "m.onnx")
    done = tools.mlc("plan", "m.onnx", "--loss=mse", *flags, cwd=tmp_path)
    assert done.returncode in (2, 3, 4) and problem in done.stderr, (done.returncode, done.stderr)


def test_a_model_of_one_batch_and_one_without_names(tools, tmp_path):
    model = write_model(tmp_path / "m.onnx", batch=8)
    found = plans(tools, model, "--loss=mse", "--ranks=2", "--samples=32")
    assert {one["micro_batches"] for one in found["plans"]} == {4}
    done = tools.mlc("plan", model, "--loss=mse", "--ranks=2", "--samples=12")
    assert done.returncode == 2 and "has batches of 8 samples, which --samples=12 is no multiple of" in done.stderr
    # Nodes without names are called by their outputs.
    write_model(tmp_path / "n.onnx", names=False)
    found = plans(tools, tmp_path / "n.onnx", "--loss=mse", "--ranks=2", "--samples=32")
    assert all(re.fullmatch(r"[xy]\d", end) for one in found["plans"] for end in one["stage_ends"])


def test_a_model_of_one_node_and_samples_that_do_not_divide(tools, tmp_path):
    """Data parallelism needs no cut, and takes parts of different sizes."""
    model = write_model(tmp_path / "m.onnx", sizes=(64, 64))
    graph = onnx.load(model)
    del graph.graph.node[1:]
    graph.graph.output[0].name = "y0"
    onnx.save(graph, model)
    found = plans(tools, model, "--loss=mse", "--ranks=4", "--samples=7")
    assert [one["schedule"] for one in found["plans"]] == ["data parallel"] and found["plans"][0]["batch"] == 7
    found = plans(tools, write_model(tmp_path / "m.onnx"), "--loss=mse", "--ranks=4", "--samples=30", "--schedules=1f1b", "--budget=1")
    assert {one["micro_batches"] for one in found["plans"]} == {1, 2, 3, 5, 10, 15, 30}
    # Two stages of two ranks each are neither copies nor what the dynamic program gives.
    assert [2, 2] in [one["replicas"] for one in found["plans"]]


def test_layers_take_no_flags_of_models(tools, tmp_path):
    for flag in ("--samples=1", "--micro-batches=1", "--schedules=1f1b", "--budget=1", "--blocks=2", "--compare", "-o=p.json"):
        done = tools.mlc("plan", tmp_path / "layers.csv", "--edges=e.csv", flag)
        assert done.returncode == 2 and "is of models; the file has layers (.csv)" in done.stderr, done.stderr


@pytest.mark.parametrize("seed", [5, 8, 18, 20, 30])
def test_random_clusters(tools, tmp_path, seed):
    """Devices that differ, links and memory that decide, and clusters without a plan (random_clusters.py has more)."""
    told = random_clusters.check(tools.build / "bin/mlc", tmp_path, seed)
    assert ("no plan fits" in told) == (seed == 8) and ("no schedule runs" in told) == (seed == 30)


def deep_model(path, layers=8, width=32, batch="n"):
    """Layers that are alike: x + tanh(x w), with a head."""
    rng = np.random.default_rng(3)
    nodes, weights = [], []
    for i in range(layers):
        weights.append(numpy_helper.from_array((rng.standard_normal((width, width)) * 0.1).astype(np.float32), f"w{i}"))
        nodes += [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"p{i}"], name=f"layer{i}/product"),
                  helper.make_node("Tanh", [f"p{i}"], [f"t{i}"], name=f"layer{i}/tanh"),
                  helper.make_node("Add", [f"x{i}", f"t{i}"], [f"x{i + 1}"], name=f"layer{i}/add")]
    weights.append(numpy_helper.from_array((rng.standard_normal((width, 8)) * 0.1).astype(np.float32), "head"))
    nodes.append(helper.make_node("MatMul", [f"x{layers}", "head"], ["y"], name="head"))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "deep", [info("x0", TensorProto.FLOAT, [batch, width])], [info("y", TensorProto.FLOAT, [batch, 8])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("more", [["--tensor=2", "--recompute=always"], ["--tensor=1", "--recompute=always", "--schedules=1f1b"], ["--tensor=2", "--recompute=never"]])
def test_parts_and_computing_again(tools, tmp_path, more):
    """Layers that repeat are read once; the plan takes what mlc simulate says, and trains as one rank does."""
    model = deep_model(tmp_path / "m.onnx", width=256)
    flags = [model, "--loss=mse", "--optimizer=adam"]
    cluster = write_cluster(tmp_path / "c.json", 5e6 if "--recompute=never" not in more else 1e9, bandwidth=1e11)
    made = tools.mlc("plan", *flags, "--planner=pipelines", "--ranks=4", "--samples=32", f"--cluster={cluster}", *more, "-o", tmp_path / "p.json", "--json")
    assert made.returncode == 0, made.stderr
    best = json.loads(made.stdout)["plans"][0]
    plan = json.loads((tmp_path / "p.json").read_text())
    if "--tensor=2" in more:
        assert plan["mesh"].get("tensor", 2) == 2
    assert plan.get("recompute", False) == ("--recompute=always" in more and best["recompute"])
    simulated = tools.mlc("simulate", *flags, "--plan", tmp_path / "p.json", f"--batch={best['batch']}", "--json")
    assert simulated.returncode == 0, simulated.stderr
    assert json.loads(simulated.stdout)["seconds"] == plan["predicted"]["seconds"] == best["seconds"]
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "d.npz", x0=rng.standard_normal((64, 256)).astype(np.float32), target=rng.standard_normal((64, 8)).astype(np.float32))
    states = []
    for own in (["--plan", tmp_path / "p.json", "--ranks=4", f"--batch={best['batch']}"], ["--batch=32"]):
        done = tools.mlc("train", *flags, *own, f"--data={tmp_path / 'd.npz'}", "--steps=2", f"--checkpoint={tmp_path / 'a.npz'}")
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "a.npz") as file:
            states.append({key: file[key] for key in file if key.startswith("weight/")})
        (tmp_path / "a.npz").unlink()
    for key, value in states[1].items():
        np.testing.assert_allclose(states[0][key], value, rtol=1e-4, atol=1e-5)


def test_little_memory(tools, tmp_path):
    """No plan is slower than pipelines that anybody writes; where nothing fits, the one that is named comes nearest."""
    model = deep_model(tmp_path / "m.onnx", layers=10)
    flags = [model, "--loss=mse", "--optimizer=adam"]
    cluster = write_cluster(tmp_path / "c.json", 2e5)
    best = plans(tools, *flags, "--ranks=4", "--samples=24", f"--cluster={cluster}")["plans"][0]
    assert best["fits"]
    for batches in (6, 8, 12, 24):
        for more in ([], ["--recompute"], ["--recompute", "--keep-results=layer*/add"]):
            done = tools.mlc("simulate", *flags, "--ranks=4", "--stages=4", "--pipeline=1f1b", f"--micro-batches={batches}", f"--batch={24 // batches}",
                             f"--cluster={cluster}", "--json", *more)
            if done.returncode == 0:
                assert best["seconds"] <= 1.02 * json.loads(done.stdout)["seconds"], (batches, more)
    done = tools.mlc("plan", *flags, "--ranks=4", "--samples=24", f"--cluster={write_cluster(tmp_path / 'd.json', 4e4)}")
    nearest = re.search(r"comes nearest takes ([\d.]+) kB", done.stderr)
    assert done.returncode == 9 and float(nearest[1]) * 1e3 < 1.3e5, done.stderr


def test_one_rank_computes_again(tools, tmp_path):
    """A candidate of one rank that runs its stages in turn is simulated as others are."""
    done = tools.mlc("plan", deep_model(tmp_path / "m.onnx"), "--loss=mse", "--ranks=3", "--samples=12", "--planner=pipelines", "--recompute=always")
    assert done.returncode == 0, done.stderr
