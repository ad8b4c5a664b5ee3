"""mlc plan MODEL: shardings that are known from the literature, unasked."""

import json
import re

import pytest
import unweighted


def plan(tools, model, ranks, *flags, loss="mse"):
    done = tools.mlc("plan", model, "--planner=shardings", f"--loss={loss}", "--cluster=cluster:p3.16xlarge", f"--ranks={ranks}", "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_fastest(found):
    """Of all meshes, and each by what the partitioner makes of the choices, which is near to what was planned."""
    assert found["seconds"] == min(mesh["seconds"] for mesh in found["meshes"])
    for mesh in found["meshes"]:
        if "cost" in mesh:
            assert mesh["gap"] < 1e-6 and mesh["bound"] <= mesh["cost"] * (1 + 1e-9)


def test_wide_layers_are_split_into_columns_then_rows(tools, tmp_path):
    found = plan(tools, unweighted.mlp(tmp_path / "mlp.onnx", 128, 1024, 2), 4)
    is_fastest(found)
    assert found["mesh"] == "data=1,tensor=4"
    assert found["shard"] == {"layer0": "-,tensor", "layer0.weight": "-,tensor", "layer1.weight": "tensor"}
    assert found["meshes"][-1]["cost"] == pytest.approx(found["meshes"][-1]["seconds"], rel=1e-3)


def test_long_batches_are_split_into_samples(tools, tmp_path):
    found = plan(tools, unweighted.mlp(tmp_path / "mlp.onnx", 1024, 128, 2), 4)
    is_fastest(found)
    assert found["mesh"] == "data=4" and not found["shard"]


def test_one_weird_trick(tools, tmp_path):
    """Krizhevsky 2014: convolutions by data, dense layers by model; faster than data parallel, with fewer bytes."""
    found = plan(tools, unweighted.alexnet(tmp_path / "alexnet.onnx", 256), 8, loss="cross-entropy")
    is_fastest(found)
    assert found["mesh"] == "data=1,tensor=8"
    shard = found["shard"]
    assert all(shard[f"conv{i}"] == "tensor" for i in range(5))
    assert not any(f"conv{i}.weight" in shard for i in range(5))
    assert all("tensor" in shard[f"fc{i}.weight"] for i in (6, 7, 8))
    by_data, best = found["meshes"][0], found["meshes"][-1]
    assert by_data["mesh"] == "data=8" and best["mesh"] == found["mesh"]
    assert best["seconds"] < 0.95 * by_data["seconds"] and best["exchanged_bytes"] < by_data["exchanged_bytes"]


def test_megatron(tools, tmp_path):
    """Columns, then rows, in attention and in the products; what is exchanged are activations."""
    batch, length, width = 8, 256, 1024
    model = unweighted.transformer(tmp_path / "m.onnx", batch, length, width, 16, 2, norms=False)
    found = plan(tools, model, 4, "--mesh=data=1,tensor=4", "-o", tmp_path / "plan.json")
    shard = found["shard"]
    for i in range(2):
        for name in ("q", "k", "v", "up"):
            assert shard[f"l{i}_{name}.weight"] == "-,tensor"
        for name in ("out", "down"):
            assert shard[f"l{i}_{name}.weight"] == "tensor"
        assert shard[f"l{i}_softmax"] == "-,tensor"
    mesh = found["meshes"][0]
    # Two forward and two backward a layer, but for the first layer's input.
    assert mesh["exchanges"] == 7
    assert mesh["exchanged_bytes"] == mesh["exchanges"] * batch * length * width * 4
    assert mesh["seconds"] == pytest.approx(mesh["cost"], rel=0.05)
    # The plan is one of mlc train, for this model.
    assert json.loads((tmp_path / "plan.json").read_text())["mesh"] == {"data": 1, "tensor": 4}
    done = tools.mlc("check-plan", tmp_path / "plan.json", model, "--loss=mse")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("flags, code, message", [
    (["--mesh=tensor=4"], 2, "--mesh=tensor=4: begins with the axis data, and has one other axis at most"),
    (["--mesh=data=2,tensor=4"], 2, "--mesh=data=2,tensor=4: has 8 ranks, and there are 4; give --ranks=8"),
    (["--memory=lots"], 2, "--memory=lots: expected bytes, as 16GB or 1.5GiB"),
    (["--edges=x.csv"], 2, "--edges is of layers (.csv)"),
    (["--ranks=1000"], 2, "has 64 ranks, and the plan 1000"),
    (["--mesh=data=1,tensor=4", "--memory=1MB"], 9, "on 4 ranks as data=1,tensor=4: nothing fits: memory at layer"),
])
def test_what_is_refused(tools, tmp_path, flags, code, message):
    model = unweighted.mlp(tmp_path / "mlp.onnx", 128, 1024, 2)
    more = [] if flags[0].startswith("--ranks") else ["--ranks=4"]
    done = tools.mlc("plan", model, "--planner=shardings", "--loss=mse", "--cluster=cluster:p3.16xlarge", *more, *flags)
    assert done.returncode == code and message in done.stderr, done.stderr


def test_the_page(tools, tmp_path):
    """docs/Planners.md shows what is printed, but for times."""
    page = (tools.source / "docs/Planners.md").read_text()
    command, shown = re.search(r"^\$ mlc (plan alexnet\.onnx .*)\n((?:.*\n)*?)```", page, re.M).groups()
    unweighted.alexnet(tmp_path / "alexnet.onnx", 256)
    done = tools.mlc(*command.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    def shape(line):
        return re.sub(r"\d+\.?\d* (ms|%)", r"N \1", line)
    printed = [shape(line) for line in done.stdout.splitlines()]
    places = [printed.index(shape(line)) for line in shown.splitlines() if line != "..."]
    assert places == sorted(places)
