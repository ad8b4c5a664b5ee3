"""A product over pixels is written as the 1x1 convolution that it is."""

import numpy as np
import pytest

import graphs
from reference import exported


def product(weights=(1, 6, 3), flat=(2, 3, 20), back=(2, 6, 4, 5), more=(), outputs=()):
    """y = reshape(w · reshape(x)) for x of [2, 3, 4, 5]."""
    rng = np.random.default_rng(0)
    arrays = {"w": rng.standard_normal(weights).astype(np.float32),
              "flat": np.array(flat, np.int64), "back": np.array(back, np.int64)}
    nodes = [("Reshape", ["x", "flat"], ["f"], {}), ("MatMul", ["w", "f"], ["p"], {}),
             ("Reshape", ["p", "back"], ["y"], {}), *more]
    return graphs.model(nodes, [("x", [2, 3, 4, 5])], [("y", list(back)), *outputs], arrays)


def test_convolution(tools, tmp_path):
    assert exported(tools, tmp_path, product()) == ["Conv"]
    assert exported(tools, tmp_path, product(weights=(6, 3))) == ["Conv"]


@pytest.mark.parametrize("name, model", {
    "another reader of the product": product(more=[("Relu", ["p"], ["z"], {})], outputs=[("z", [2, 6, 20])]),
    "another reader of the pixels": product(more=[("Relu", ["f"], ["z"], {})], outputs=[("z", [2, 3, 20])]),
    "other pixels": product(back=(2, 6, 5, 4)),
    "other channels": product(back=(2, 3, 8, 5)),
    "weights of each picture": product(weights=(2, 6, 3)),
    "not the channels": product(weights=(1, 6, 4), flat=(2, 4, 15), back=(2, 6, 3, 5)),
}.items())
def test_no_convolution(tools, tmp_path, name, model):
    assert "MatMul" in exported(tools, tmp_path, model)
