"""The networks of the experiments: sizes as published, seeded, understood by mlc."""

import pathlib
import sys

import numpy as np
import onnx
import pytest

from reference import run_on_noise

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "experiments"))
import models  # noqa: E402
from network import Network  # noqa: E402


class Shapes(Network):
    """Notes the weights' dims without drawing them."""

    def __init__(self):
        super().__init__("shapes", 0)
        self.weights = {}

    def normal(self, name, shape, scale):
        self.weights[name] = int(np.prod(shape))
        self.dims[name] = list(shape)
        return name

    def uniform(self, name, shape, low, high):
        return self.normal(name, shape, 1)


# What is trained: means and variances of batch norms are not.
PUBLISHED = {
    "resnet50": 25_557_032,
    "resnext50": 25_028_904,
    "inception-v3": 23_834_568,  # without the auxiliary classifier
    "squeezenet": 1_235_496,
    "vgg19": 143_667_240,
    "mobilenet-v2": 3_504_872,
    "bert-base": 12 * 7_087_872 + 2 * 768,  # the encoder, and a norm in front
    "bert-large": 24 * 12_596_224 + 2 * 1024,
    "nasrnn": 16 * 512 * 512,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters(name):
    g = Shapes()
    experiment = models.EXPERIMENTS[name]
    experiment.build(g, *experiment.full)
    trained = {k: n for k, n in g.weights.items() if not k.endswith((".mean", ".variance"))}
    assert sum(trained.values()) == PUBLISHED[name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("experiments")


@pytest.mark.parametrize("name", models.EXPERIMENTS)
def test_model(name, folder, tools):
    path, optimized = folder / f"{name}.onnx", folder / f"{name}-optimized.onnx"
    models.write(name, path, small=True)
    assert path.read_bytes() == models.build(name, small=True).SerializeToString(deterministic=True)
    onnx.checker.check_model(str(path), full_check=True)
    (want,) = run_on_noise(path)
    assert np.isfinite(want).all() and want.std() > 1e-3
    done = tools.mlc("check", path)
    assert done.returncode == 0, done.stderr
    done = tools.mlc("optimize", path, "-o", optimized)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(str(optimized), full_check=True)
    (got,) = run_on_noise(optimized)
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


def test_seeds():
    first, again, other = (models.build("nasrnn", small=True, seed=s) for s in (1, 1, 2))
    assert first.SerializeToString() == again.SerializeToString() != other.SerializeToString()


def test_steps_share_weights():
    """Five steps of eight gates have sixteen weights."""
    g = Shapes()
    models.EXPERIMENTS["nasrnn"].build(g, 1, 5)
    assert len(g.weights) == 16
    assert sum(node.op_type == "MatMul" for node in g.nodes) == 5 * 16


def test_parallel_branches():
    """Every block reads its input with a 1x1 and a 3x3 convolution."""
    model = models.build("resnet18-parallel", small=True)
    kernels = {}
    for node in model.graph.node:
        if node.op_type == "Conv":
            (kernel,) = (a.ints for a in node.attribute if a.name == "kernel_shape")
            kernels.setdefault(node.input[0], []).append(tuple(kernel))
    assert sum(sorted(found) == [(1, 1), (3, 3)] for found in kernels.values()) == 8


def test_command_line(tmp_path):
    import subprocess

    script = pathlib.Path(models.__file__)
    listed = subprocess.run([sys.executable, script, "--list"], capture_output=True, text=True)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(models.EXPERIMENTS)
    target = tmp_path / "m.onnx"
    subprocess.run([sys.executable, script, "nasrnn", "--small", "-o", target], check=True)
    assert target.read_bytes() == models.build("nasrnn", small=True).SerializeToString(deterministic=True)
    wrong = subprocess.run([sys.executable, script, "nasrnn"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "-o FILE.onnx" in wrong.stderr


def test_weights_of_steps_are_read_once(folder, tools):
    """The inputs' products of all steps become one for each weight: they share
    one operand only if what two merges build alike is one value."""
    path, optimized = folder / "nasrnn.onnx", folder / "nasrnn-optimized.onnx"
    models.write("nasrnn", path)
    done = tools.mlc("optimize", path, "-o", optimized, "--target=cpu:x86-64-v3")
    assert done.returncode == 0, done.stderr
    products = sum(n.op_type == "MatMul" for n in onnx.load(optimized).graph.node)
    assert products <= 5 * 8 + 8
