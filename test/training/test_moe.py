"""GShard's mixture of experts, groups of tokens and experts split over the same ranks: two all-to-alls forward, two back."""

import json
import re

import moe
import numpy as np
import onnx
import pytest
from test_meshes import is_step
from test_stages import in_doubles, train

PINS = {"words": "tensor", "gates": "tensor", "mixed": "tensor", "sent": "tensor", "experts": "tensor", "back": "tensor"}


@pytest.mark.parametrize("capacity, lost", [(1, 32), (3, 4), (6, 0)])
def test_it_is_the_algorithm(tools, tmp_path, capacity, lost):
    """Overflow included: tokens that find no place in their expert, and second experts that chance leaves out."""
    net, inputs, output, dims = moe.build(capacity=capacity)
    onnx.save(net.model(inputs, output, dims), tmp_path / "moe.onnx")
    expected, overflowed = moe.by_the_algorithm(net.weights, *inputs.values(), capacity)
    assert overflowed == lost
    np.savez(tmp_path / "i.npz", **inputs)
    for more in ([], ["--mesh=tensor=2", "--shard=x=tensor", "--shard=random=tensor", "--shard=in=tensor", "--shard=out=tensor"]):
        done = tools.mlc("compile", tmp_path / "moe.onnx", "-o", tmp_path / "moe.mlca", *more)
        assert done.returncode == 0, done.stderr
        done = tools.mlc("run", tmp_path / "moe.mlca", "--input", tmp_path / "i.npz", "--output-npz", tmp_path / "o.npz",
                         *(["--engine=inproc"] if more else []))
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "o.npz") as found:
            np.testing.assert_allclose(found[output], expected, atol=1e-6)


@pytest.mark.parametrize("ranks", [2, 4])
def test_experts_are_split(tools, tmp_path, ranks):
    net, inputs, output, dims = moe.build()
    onnx.save(net.model(inputs, output, dims), tmp_path / "moe.onnx")
    np.savez(tmp_path / "d.npz", **inputs, target=np.roll(inputs["x"], 1, -1))
    flags = [tmp_path / "moe.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=4", "--learning-rate=0.1"]
    in_doubles(tmp_path, flags)
    (tmp_path / "plan.json").write_text(json.dumps({"mesh": {"data": 1, "tensor": ranks}, "shard": {"in": "tensor", "out": "tensor", **PINS}}))
    split = [f"--ranks={ranks}", f"--plan={tmp_path / 'plan.json'}"]
    done = tools.mlc("train", *flags, *split, "--compile-to=distribute")
    assert done.returncode == 0, done.stderr
    # Two forward, two back; the gradients of what all ranks have are added up, and the loss.
    exchanges = re.findall(r"= dist\.(\w+)", done.stdout)
    assert exchanges == ["all_to_all"] * 4 + ["all_reduce"] * 2
    assert len(re.findall(r"dist\.all_to_all.*-> tensor<4x\d+x3x8xf64>", done.stdout)) == 4
    is_step(train(tools, tmp_path, "one", *flags), train(tools, tmp_path, "many", *flags, *split), tolerance=1e-11)


def test_it_is_found(tools, tmp_path):
    """Eight groups on eight ranks: unasked, experts and what is before them are split, with two all-to-alls forward."""
    net, inputs, output, dims = moe.build(8, 256, 512, 8, 2048, 64)
    onnx.save(net.model(inputs, output, dims), tmp_path / "moe.onnx")
    done = tools.mlc("plan", tmp_path / "moe.onnx", "--loss=mse", "--planner=shardings", "--ranks=8", "--mesh=data=1,tensor=8",
                     "--cluster=cluster:p3.16xlarge", "-o", tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    shard = json.loads((tmp_path / "plan.json").read_text())["shard"]
    assert [shard[name] for name in ("in", "out", "gates", "sent", "back")] == ["tensor"] * 5
    done = tools.mlc("train", tmp_path / "moe.onnx", "--loss=mse", f"--plan={tmp_path / 'plan.json'}", "--ranks=8", "--compile-to=distribute")
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"= dist\.all_to_all", done.stdout)) == 2
