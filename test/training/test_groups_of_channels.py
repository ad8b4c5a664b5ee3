"""AlexNet's convolutions in two groups (Krizhevsky et al. 2012), a group on each of two ranks, as on its two GPUs."""

import re

import numpy as np
import onnx
import pytest
import trained
from test_meshes import is_step
from test_stages import in_doubles, train


@pytest.mark.parametrize("groups", [2, 1])
def test_groups_exchange_nothing(tools, tmp_path, groups):
    """In AlexNet the third convolution reads both halves."""
    # Name, channels, inputs of a group, groups.
    convolutions = [("conv1", 8, 3, 1), ("conv2", 12, 4, 2), ("conv3", 16, 12 // groups, groups), ("conv4", 16, 8, 2), ("conv5", 12, 8, 2)]
    net = trained.Network(3)
    inputs = {"x": net.rng.standard_normal((4, 3, 9, 9)).astype(np.float32)}
    h = "x"
    for name, channels, inputs_of_group, count in convolutions:
        h = net.op("Relu", net.conv(h, name, channels, inputs_of_group, 3, pads=[1, 1, 1, 1], group=count))
        if name in ("conv1", "conv2"):
            h = net.op("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    onnx.save(net.model(inputs, h, (4, 12, 3, 3)), tmp_path / "groups.onnx")
    np.savez(tmp_path / "d.npz", **trained.samples({**inputs, "target": net.rng.standard_normal((4, 12, 3, 3)).astype(np.float32)}))
    flags = [tmp_path / "groups.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=3", "--learning-rate=0.01"]
    in_doubles(tmp_path, flags)
    split = ["--ranks=2", "--mesh=data=1,tensor=2", *(f"--shard={name}.{of}=tensor" for name, *_ in convolutions for of in ("weight", "bias"))]
    done = tools.mlc("train", *flags, *split, "--compile-to=distribute")
    assert done.returncode == 0, done.stderr
    found = re.findall(r"= dist\.(\w+) .*-> tensor<([^>]*)>", done.stdout)
    # The loss is a number. Of the third convolution the weight is gathered and the result scattered, and for the gradients its
    # input, turned, is gathered and the input's gradient scattered.
    third = [("all_gather", "12x4x3x3xf64"), ("all_gather", "16x12x3x3xf64"), ("reduce_scatter", "4x6x3x3xf64"), ("reduce_scatter", "4x8x3x3xf64")]
    assert sorted(found) == sorted([("all_reduce", "f64"), *third * (groups == 1)])
    is_step(train(tools, tmp_path, "one", *flags), train(tools, tmp_path, "many", *flags, *split), tolerance=1e-11)
