"""mlc plan --planner=soap and mcmc: how operators are divided, and on which ranks."""

import json
import re

import flexflow_networks
import pytest
import unweighted

SMALL = {"alexnet": lambda path: flexflow_networks.alexnet(path, 64),
         "inception-v3": lambda path: flexflow_networks.inception_v3(path, 16, size=75, mixed=(0, 1, 0)),
         "resnet-101": lambda path: flexflow_networks.resnet101(path, 16, layers=(1, 1, 2, 1), size=64),
         "rnntc": lambda path: flexflow_networks.rnntc(path, 64, units=512, layers=2, steps=4, vocabulary=1000),
         "rnnlm": lambda path: flexflow_networks.rnnlm(path, 64, units=1024, steps=6, vocabulary=4000),
         "nmt": lambda path: flexflow_networks.nmt(path, 64, units=512, steps=6, vocabulary=8000)}


def plan(tools, model, *flags, axis=1, cluster="cluster:flexflow-p100"):
    done = tools.mlc("plan", model, "--loss=cross-entropy", f"--class-axis={axis}", f"--cluster={cluster}", "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_operators(found):
    """Each is on a block of ranks, and its parts are as many."""
    for op in found["operators"]:
        parts = 1
        for dim in op["dims"]:
            assert dim["extent"] % dim["parts"] == 0
            parts *= dim["parts"]
        assert parts == op["ranks"] and op["first_rank"] % parts == 0 and found["ranks"] % parts == 0


@pytest.mark.parametrize("name", SMALL)
def test_networks(tools, tmp_path, name):
    """Not slower than samples on all ranks, nor than random walks; where weights are large, with at most half of the bytes."""
    model, axis = SMALL[name](tmp_path / "m.onnx"), flexflow_networks.NETWORKS[name][2]
    found = plan(tools, model, "--planner=soap", "--budget=20000", "--compare", "--ranks=8", axis=axis)
    check_operators(found)
    best, samples, one, elimination, walk = found["plans"]
    assert [row["name"] for row in found["plans"]] == [
        "search (soap)", "samples on all ranks", "one rank", "elimination, nothing overlapped", "random walk (mcmc)"]
    assert best["seconds"] <= min(row["seconds"] for row in found["plans"])
    assert one["received_bytes"] == 0
    if name in ("alexnet", "rnnlm", "nmt"):
        assert best["received_bytes"] <= 0.5 * samples["received_bytes"]


def test_the_full_networks_have_their_weights(tools, tmp_path):
    """Parameters as published, but for normalizations; operators are those that are heavy."""
    import onnx
    for name, millions, operators in [("alexnet", 62.4, 11), ("resnet-101", 44.4, 103), ("inception-v3", 23.8, 120), ("rnnlm", 108.0, 83)]:
        write, batch, axis = flexflow_networks.NETWORKS[name]
        model = write(tmp_path / f"{name}.onnx", batch)
        weights = [tensor for tensor in onnx.load(model, load_external_data=False).graph.initializer if tensor.data_type == onnx.TensorProto.FLOAT]
        count = 0
        for tensor in weights:
            size = 1
            for dim in tensor.dims:
                size *= dim
            count += size
        assert count == pytest.approx(millions * 1e6, rel=0.01), name
        found = plan(tools, model, "--planner=mcmc", "--budget=1", axis=axis)
        assert len(found["operators"]) == operators, name


def test_same_seed_same_plan(tools, tmp_path):
    model = SMALL["rnnlm"](tmp_path / "m.onnx")
    flags = ["--planner=mcmc", "--budget=500", "--ranks=4"]

    def walk(seed):
        return plan(tools, model, *flags, f"--seed={seed}", axis=2)
    one = walk(1)
    assert one == walk(1) and one != walk(2)
    check_operators(one)


def test_a_plan_file_has_all_operators_on_all_ranks(tools, tmp_path):
    """One weird trick again, which the partitioner carries out with as many exchanges as planned ones."""
    model = flexflow_networks.alexnet(tmp_path / "m.onnx", 256)
    found = plan(tools, model, "--planner=soap", "--budget=5000", "--ranks=8", "-o", tmp_path / "plan.json")
    assert all(op["ranks"] == 8 for op in found["operators"])
    made = json.loads((tmp_path / "plan.json").read_text())
    assert made["mesh"] == {"data": 1, "split1": 8}
    assert all(made["shard"][f"fc{i}.weight"] == "-,split1" for i in (6, 7, 8))
    assert all(made["shard"][f"relu{i}"] == "split1" for i in range(5)) and "conv0.weight" not in made["shard"]
    # What dense layers read is brought there once.
    assert all(made["shard"][name] == "-" for name in ("features", "relu6", "relu7"))
    assert made["predicted"]["seconds"] == pytest.approx(found["plans"][0]["seconds"], rel=0.1)
    done = tools.mlc("check-plan", tmp_path / "plan.json", model, "--loss=cross-entropy", "--cluster=cluster:flexflow-p100")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("simulate", model, "--loss=cross-entropy", f"--plan={tmp_path / 'plan.json'}", "--cluster=cluster:flexflow-p100",
                     "--estimate", "--json")
    assert done.returncode == 0, done.stderr
    # That simulates what the partitioner makes of the plan.
    assert json.loads(done.stdout)["seconds"] == made["predicted"]["seconds"]


def test_the_page(tools, tmp_path):
    """docs/Planners.md shows what is printed."""
    page = (tools.source / "docs/Planners.md").read_text()
    command, shown = re.search(r"^\$ mlc (plan alexnet\.onnx --planner=soap .*)\n((?:.*\n)*?)```", page, re.M).groups()
    flexflow_networks.alexnet(tmp_path / "alexnet.onnx", 256)
    done = tools.mlc(*command.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    places = [printed.index(line) for line in shown.splitlines() if line != "..."]
    assert places == sorted(places)


@pytest.mark.parametrize("flags, code, message", [
    (["--planner=soap", "--blocks=3"], 2, "--blocks is of pipelines; --planner=soap and mcmc plan none"),
    (["--planner=soap", "--mesh=data=2"], 2, "--mesh is of --planner=shardings"),
    (["--planner=soap", "--seed=1"], 2, "--seed is of --planner=mcmc"),
    (["--planner=mcmc", "--budget=0"], 2, "--budget must be 1 to"),
    (["--planner=soap", "--ranks=3", "-o", "p.json"], 4, "'layer0' cannot be divided among 3 ranks"),
    (["--planner=soap", "--ranks=17"], 2, "has 16 ranks, and the plan 17"),
])
def test_what_is_refused(tools, tmp_path, flags, code, message):
    model = unweighted.mlp(tmp_path / "mlp.onnx", 128, 1024, 2)
    done = tools.mlc("plan", model, "--loss=mse", "--cluster=cluster:flexflow-p100", *flags, cwd=tmp_path)
    assert done.returncode == code and message in done.stderr, done.stderr


def test_too_little_memory(tools, tmp_path):
    model = unweighted.mlp(tmp_path / "mlp.onnx", 8, 65536, 1)
    done = tools.mlc("plan", model, "--loss=mse", "--planner=mcmc", "--budget=1", "--ranks=1", "--cluster=cluster:flexflow-p100")
    assert done.returncode == 9 and "bytes of weights and results, and 16000000000 of memory" in done.stderr, done.stderr
