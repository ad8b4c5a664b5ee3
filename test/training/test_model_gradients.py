"""Gradients of whole networks beside PyTorch's (reference.json)."""

import json

import numpy as np
import pytest

import torch_gradients
import trained

REFERENCE = json.loads((torch_gradients.HERE / "reference.json").read_text())


def error(name, gradient, want, scale):
    """How far off, relative to the norm, as far as the products tell. What is 0 but for rounding (biases
    before a norm) is held to a hundredth of the largest gradient."""
    got = torch_gradients.summary(name, gradient)
    differences = np.subtract([got["norm"], *got["products"]], [want["norm"], *want["products"]])
    return np.max(np.abs(differences)) / max(want["norm"], scale / 100)


@pytest.mark.parametrize("name", trained.NETWORKS)
@pytest.mark.parametrize("reference", [True, False], ids=["double", "compiled"])
def test_gradients_are_pytorchs(tools, tmp_path, name, reference):
    arguments = trained.write(tmp_path, name)
    done = tools.mlc("gradients", *arguments, f"--output-npz={tmp_path / 'out.npz'}", "--json",
                     *(["--reference"] if reference else []))
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "out.npz")
    want = REFERENCE[name]
    assert set(found) == {"loss", *want["gradients"]}
    tolerance = 1e-9 if reference else 1e-4
    assert abs(found["loss"] - want["loss"]) <= tolerance * abs(want["loss"])
    scale = max(v["norm"] for v in want["gradients"].values())
    errors = {k: error(k, found[k], v, scale) for k, v in want["gradients"].items()}
    assert max(errors.values()) <= tolerance, errors
    if reference:
        told = {row["weight"]: row["error"] for row in json.loads(done.stdout)["gradients"]}
        assert told.keys() == want["gradients"].keys()
        assert max(told[k] for k, v in want["gradients"].items() if v["norm"] > scale / 100) < 1e-4
