"""mlc plan --strategy: ways to share a step that people have written down, and that nothing found is slower."""

import json

import pytest
import unweighted

NAMES = ["data-parallel", "parameter-server", "zero-1", "zero-2", "zero-3", "one-weird-trick", "megatron", "layer-per-device", "equal-stages",
         "torchgpipe", "gspmd", "optcnn"]
CLUSTER = "--cluster=cluster:p3.16xlarge"


def steps(tools, model, ranks, loss, *flags):
    done = tools.mlc("plan", model, f"--loss={loss}", CLUSTER, f"--ranks={ranks}", "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["plans"]


def test_alexnet_on_eight(tools, tmp_path):
    """Nothing that is written down is faster than what is found; convolutions by data and dense layers by model send fewer bytes."""
    model = unweighted.alexnet(tmp_path / "alexnet.onnx", 256)
    found = steps(tools, model, 8, "cross-entropy", "-o", tmp_path / "plan.json")
    written = {}
    for step in found:
        if step["fits"] and step["strategy"]:
            written.setdefault(step["strategy"], step)
    assert {"data-parallel", "zero-3", "one-weird-trick", "megatron", "equal-stages"} <= written.keys()
    assert found[0]["seconds"] <= min(step["seconds"] for step in written.values())
    by_data, trick = written["data-parallel"], written["one-weird-trick"]
    assert trick["seconds"] < by_data["seconds"]
    # Gradients of convolutions are added up; what dense layers read is gathered, and its gradient scattered; of the loss,
    # two numbers for each sample and one for all.
    dense = [9216 * 4096 + 4096, 4096 * 4096 + 4096, 4096 * 1000 + 1000]
    convolutions = sum(o * (i * k * k + 1) for i, o, k in [(3, 96, 11), (96, 256, 5), (256, 384, 3), (384, 384, 3), (384, 256, 3)])
    padding = 64 * 16
    share = 7 / 8 * 4
    numbers = 2 * (convolutions + 256 * (9216 + 4096 + 4096) + 2 * 256 + 1)
    assert abs(trick["sent_bytes"] - share * numbers) <= 8 * padding
    assert abs(by_data["sent_bytes"] - share * 2 * (convolutions + sum(dense))) <= 8 * padding


@pytest.mark.parametrize("name", NAMES)
def test_plans_are_written(tools, tmp_path, name):
    model = unweighted.alexnet(tmp_path / "alexnet.onnx", 32)
    more = ["--mesh=data=2,t=2", "--shard=fc6.weight=-,t", "--shard=fc6=-,t"] if name == "gspmd" else []
    found = steps(tools, model, 4, "cross-entropy", f"--strategy={name}", "-o", tmp_path / "plan.json", *more)
    assert {step["strategy"] for step in found} == {name}
    done = tools.mlc("check-plan", tmp_path / "plan.json", model, "--loss=cross-entropy")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("simulate", model, "--loss=cross-entropy", f"--plan={tmp_path / 'plan.json'}", "--ranks=4", CLUSTER, "--json", "--estimate")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seconds"] == pytest.approx(found[0]["seconds"], rel=1e-9)


def test_megatron(tools, tmp_path):
    """Columns, then rows, of each attention and of each two products, and nothing else; on each number of ranks."""
    model = unweighted.transformer(tmp_path / "m.onnx", 8, 64, 256, 4, 2)
    found = steps(tools, model, 4, "mse", "--strategy=megatron", "-o", tmp_path / "plan.json")
    assert {step["copies"] for step in found} == {1, 2}
    shard = {}
    for i in range(2):
        shard |= {f"l{i}_{name}.weight": "-,tensor" for name in ("q", "k", "v", "up")}
        shard |= {f"l{i}_{name}.weight": "tensor" for name in ("out", "down")}
    assert json.loads((tmp_path / "plan.json").read_text())["shard"] == shard


def test_micro_batches(tools, tmp_path):
    """Stages take the best number of them, others as few as fit."""
    model = unweighted.transformer(tmp_path / "m.onnx", "N", 64, 256, 4, 2)
    found = steps(tools, model, 2, "mse", "--strategy=torchgpipe", "--samples=16")
    assert sorted(step["micro_batches"] for step in found) == [1, 2, 4, 8, 16]
    assert found[0]["micro_batches"] > 1 and all(step["batch"] * step["micro_batches"] == 16 for step in found)
    assert [step["micro_batches"] for step in steps(tools, model, 2, "mse", "--strategy=zero-2", "--samples=16")] == [1]


def test_the_table(tools):
    done = tools.mlc("plan", "--strategy=help")
    assert done.returncode == 0 and [line.split()[0] for line in done.stdout.splitlines()] == NAMES
    page = (tools.source / "docs/Planners.md").read_text()
    assert all(f"| `{name}` |" in page for name in NAMES)


@pytest.mark.parametrize("flags, code, message", [
    (["--strategy=zero-4"], 2, "--strategy=zero-4: there is no such strategy; there are data-parallel, "),
    (["--shard=w=-,t"], 2, "--shard is of --strategy=gspmd"),
    (["--strategy=gspmd"], 2, "--strategy=gspmd completes what --shard says; give --mesh and --shard"),
    (["--strategy=gspmd", "--mesh=data=2,t=3", "--shard=w=t"], 2, "--mesh=data=2,t=3 has 6 ranks, and there are 4; give --ranks=6"),
    (["--strategy=gspmd", "--mesh=data=2,t=2", "--shard=layer0.wieght=t"], 4, "did you mean 'layer0.weight'?"),
    (["--strategy=zero-1", "--planner=pipelines"], 2, "--strategy is of --planner=all"),
    (["--strategy=one-weird-trick"], 2, "--strategy=one-weird-trick: the model has no convolutions and dense layers that 4 ranks can split evenly"),
    (["--strategy=layer-per-device"], 2, "--strategy=layer-per-device: a rank has a layer at least, and the model has 2 layers for 4 ranks"),
])
def test_what_is_refused(tools, tmp_path, flags, code, message):
    model = unweighted.mlp(tmp_path / "mlp.onnx", 128, 64, 2)
    done = tools.mlc("plan", model, "--loss=mse", CLUSTER, "--ranks=4", *flags)
    assert done.returncode == code and message in done.stderr, done.stderr
