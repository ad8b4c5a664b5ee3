"""Gradients of convolutions in blocks of channels: of channels that fill none, strides, dilations, groups, pads that
differ, an open batch, and code for both levels of x86-64."""

import json

import numpy as np
import onnx
import pytest

import trained


def network(folder, open_batch):
    net = trained.Network(11)
    x = net.rng.standard_normal((3, 3, 21, 18)).astype(np.float32)
    h = net.conv("x", "first", 20, 3, 5, strides=[2, 2], pads=[2, 2, 2, 2])
    h = net.op("Relu", trained.batch_norm(net, h, "norm1", 20))
    h = net.op("MaxPool", h, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    side = net.conv(h, "side", 36, 20, 1, strides=[2, 2])
    h = net.conv(h, "strided", 36, 20, 3, strides=[2, 2], pads=[1, 1, 1, 1])
    h = net.op("Relu", net.op("Add", trained.batch_norm(net, h, "norm2", 36), side))
    h = net.op("Relu", net.conv(h, "dilated", 17, 36, 3, dilations=[2, 2], pads=[2, 1, 2, 3]))
    h = net.op("Relu", net.conv(h, "mixed", 32, 17, 3, strides=[1, 2], pads=[1, 0, 1, 1]))
    h = net.conv(h, "groups", 32, 16, 3, group=2, pads=[1, 1, 1, 1])
    h = net.op("Flatten", net.op("GlobalAveragePool", h))
    y = net.linear(h, "head", 32, 5)
    model = net.model({"x": x}, y, (3, 5))
    if open_batch:
        for port in (model.graph.input[0], model.graph.output[0]):
            port.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(model, folder / "m.onnx")
    np.save(folder / "x.npy", x)
    np.save(folder / "target.npy", net.rng.integers(0, 5, 3))
    return [folder / "m.onnx", "--loss=cross-entropy", f"--input=x={folder / 'x.npy'}",
            f"--input=target={folder / 'target.npy'}"]


@pytest.mark.parametrize("open_batch", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("level", ["v3", "v4"])
def test_gradients_are_those_by_definition(tools, tmp_path, open_batch, level):
    if level == "v4" and not has_avx512():
        pytest.skip("this machine has no AVX-512")
    done = tools.mlc("gradients", *network(tmp_path, open_batch), f"--target=cpu:x86-64-{level}", "--reference", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["gradients"]
    largest = max(row["norm"] for row in told)
    # The bias in front of a norm has a gradient of 0 but for rounding.
    assert max(row["error"] for row in told if row["norm"] > largest / 1000) < 1e-4


def has_avx512():
    with open("/proc/cpuinfo") as file:
        return "avx512f" in file.read()


def test_threads_make_no_difference(tools, tmp_path):
    arguments = network(tmp_path, False)
    found = []
    for threads in (1, 2, 5):
        done = tools.mlc("gradients", *arguments, f"--threads={threads}", f"--output-npz={tmp_path / 'g.npz'}")
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "g.npz") as file:
            found.append({name: file[name].tobytes() for name in file})
    assert found[0] == found[1] == found[2]
