"""Gradients of whole networks beside PyTorch's (reference.json)."""

import json

import numpy as np
import onnx
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


def graph(tmp_path, nodes, dims, output, weights):
    import graphs
    path = tmp_path / "m.onnx"
    return graphs.save(path, graphs.model(nodes, [("x", dims)], [("y", output)], weights))


@pytest.mark.parametrize("loss", ["mse", "output"])
def test_an_output_without_dims(tools, tmp_path, loss):
    path = graph(tmp_path, [("Mul", ["x", "w"], ["m"], {}), ("ReduceSum", ["m"], ["y"], {"keepdims": 0})],
                 [3], [], {"w": np.float32([1, 2, 3])})
    np.save(tmp_path / "x.npy", np.float32([1, 0, 2]))
    np.save(tmp_path / "t.npy", np.float32(5))
    target = [f"--input=target={tmp_path / 't.npy'}"] if loss == "mse" else []
    done = tools.mlc("gradients", path, f"--loss={loss}", f"--input=x={tmp_path / 'x.npy'}", *target,
                     f"--output-npz={tmp_path / 'g.npz'}")
    assert done.returncode == 0, done.stderr
    scale = 2 * (7 - 5) if loss == "mse" else 1
    assert np.load(tmp_path / "g.npz")["w"].tolist() == [scale, 0, 2 * scale]


def test_a_vector_has_classes(tools, tmp_path):
    path = graph(tmp_path, [("Mul", ["x", "w"], ["y"], {})], [3], [3], {"w": np.zeros(3, np.float32)})
    np.save(tmp_path / "x.npy", np.ones(3, np.float32))
    np.save(tmp_path / "t.npy", np.int64(1))
    done = tools.mlc("gradients", path, "--loss=cross-entropy", "--class-axis=0", f"--input=x={tmp_path / 'x.npy'}",
                     f"--input=target={tmp_path / 't.npy'}", f"--output-npz={tmp_path / 'g.npz'}")
    assert done.returncode == 0, done.stderr
    assert np.allclose(np.load(tmp_path / "g.npz")["w"], [1 / 3, -2 / 3, 1 / 3])


def test_a_power_of_nothing(tools, tmp_path):
    """x^0 does not change with x, also at 0."""
    path = graph(tmp_path, [("Mul", ["x", "w"], ["m"], {}), ("Pow", ["m", "x"], ["p"], {}),
                            ("ReduceSum", ["p"], ["y"], {"keepdims": 0})], [2], [], {"w": np.float32([0, 3])})
    np.save(tmp_path / "x.npy", np.float32([0, 2]))
    done = tools.mlc("gradients", path, f"--input=x={tmp_path / 'x.npy'}", f"--output-npz={tmp_path / 'g.npz'}")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "g.npz")["w"].tolist() == [0, 24]


def test_files_that_are_read_stay(tools, tmp_path):
    path = graph(tmp_path, [("Mul", ["x", "w"], ["y"], {})], [3], [3], {"w": np.ones(3, np.float32)})
    np.save(tmp_path / "x.npy", np.ones(3, np.float32))
    kept = (tmp_path / "x.npy").read_bytes()
    done = tools.mlc("gradients", path, "--loss=mse", f"--input=x={tmp_path / 'x.npy'}",
                     f"--output-npz={tmp_path / 'x.npy'}")
    assert done.returncode == 2 and "is the file that is read" in done.stderr
    assert (tmp_path / "x.npy").read_bytes() == kept
    loss = graph(tmp_path, [("Mul", ["x", "loss"], ["y"], {})], [3], [3], {"loss": np.ones(3, np.float32)})
    done = tools.mlc("gradients", loss, "--loss=mse", f"--output-npz={tmp_path / 'g.npz'}")
    assert done.returncode == 2 and "a weight is called 'loss'" in done.stderr


@pytest.mark.parametrize("batch, size", [(0, 5), (2, 0)])
def test_an_empty_convolution(tools, tmp_path, batch, size):
    """Nothing is multiplied: the gradient is 0."""
    dims = [("x", [batch, 3, size, size])], [("y", [batch, 4, size, size])]
    from graphs import model
    onnx.save(model([("Conv", ["x", "w"], ["y"], {"pads": [1] * 4})], *dims, {"w": np.ones((4, 3, 3, 3), np.float32)}),
              tmp_path / "m.onnx")
    open_dims = [f"--dim=x_d{d}=0" for d, n in enumerate(dims[0][0][1]) if n == 0]
    done = tools.mlc("gradients", tmp_path / "m.onnx", "--loss=mse", *open_dims, "--reference",
                     f"--output-npz={tmp_path / 'o.npz'}")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "o.npz")["w"], np.zeros((4, 3, 3, 3)))
