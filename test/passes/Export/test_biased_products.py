"""A row added to a product of matrices is written as the Gemm that it is."""

import numpy as np
import pytest

import graphs
from reference import exported

PRODUCT = ("MatMul", ["x", "w"], ["p"], {})


def biased(nodes, bias, x=(4, 3), w=(3, 5), outputs=()):
    """`nodes` compute y of x, w and the bias c."""
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in (("w", w), ("c", bias))}
    y = list(np.broadcast_shapes((*x[:-1], w[-1]), bias))
    return graphs.model(nodes, [("x", list(x))], [("y", y), *outputs], weights)


@pytest.mark.parametrize("nodes", [
    [PRODUCT, ("Add", ["p", "c"], ["y"], {})],
    [PRODUCT, ("Add", ["c", "p"], ["y"], {})],
    [("Gemm", ["x", "w", "c"], ["y"], {})],
], ids=["left", "right", "gemm"])
@pytest.mark.parametrize("bias", [(5,), (1, 5)], ids=str)
def test_gemm(tools, tmp_path, nodes, bias):
    assert exported(tools, tmp_path, biased(nodes, bias)) == ["Gemm"]


ADD = ("Add", ["p", "c"], ["y"], {})


@pytest.mark.parametrize("arguments", [
    {"bias": (4, 1)},
    {"bias": (4, 5)},
    {"bias": (1,)},
    {"bias": (5,), "x": (2, 4, 3)},
    {"bias": (2, 1, 5)},
    {"bias": (5,), "more": [("Relu", ["p"], ["z"], {})], "outputs": [("z", [4, 5])]},
], ids=["column", "matrix", "number", "batch", "of a batch", "another reader"])
def test_no_gemm(tools, tmp_path, arguments):
    more = arguments.pop("more", [])
    operators = exported(tools, tmp_path, biased([PRODUCT, ADD, *more], **arguments))
    assert "MatMul" in operators and "Gemm" not in operators


def test_one_row(tools, tmp_path):
    assert exported(tools, tmp_path, biased([PRODUCT, ADD], (5,), x=(1, 3))) == ["Gemm"]


def test_zero_size(tools, tmp_path):
    assert exported(tools, tmp_path, biased([PRODUCT, ADD], (5,), x=(0, 3))) == ["Gemm"]
    assert exported(tools, tmp_path, biased([PRODUCT, ADD], (5,), x=(4, 0), w=(0, 5)))[-1] == "Gemm"
