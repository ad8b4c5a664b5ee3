"""Gradients of whole networks beside PyTorch's (reference.json)."""

import json

import graphs
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


@pytest.mark.sampled(3)
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


MASK = np.array([True, False, True, False])


def masked(name, nodes):
    """`<name>` is a weight, which the nodes make `<name>/z` of; what is not masked counts."""
    return [*nodes, ("Where", ["c", f"{name}/z", "none"], [f"{name}/o"], {}), ("ReduceSum", [f"{name}/o"], [f"{name}/y"], {"keepdims": 0})]


def summed(name, nodes):
    return [*nodes, ("ReduceSum", [f"{name}/z"], [f"{name}/y"], {"keepdims": 0})]


# Of each: what the loss is of it, the weight, and its gradient.
E = float(np.e)
STEEP = {
    "log": (masked("log", [("Log", ["log"], ["log/z"], {})]), [1, 0, 2, -1], [1, 0, .5, 0]),
    "tiny": (masked("tiny", [("Log", ["tiny"], ["tiny/z"], {})]), [1, 1e-40, 2, 1e-45], [1, 0, .5, 0]),
    "sqrt": (masked("sqrt", [("Sqrt", ["sqrt"], ["sqrt/z"], {})]), [4, 0, 1, -2], [.25, 0, .5, 0]),
    "quotient": (masked("quotient", [("Div", ["quotient", "quotient"], ["q0"], {}), ("Div", ["q0", "quotient"], ["quotient/z"], {})]),
                 [1, 0, 2, 0], [-1, 0, -.25, 0]),
    "inverse": (masked("inverse", [("Reciprocal", ["inverse"], ["inverse/z"], {})]), [1, 0, 2, 1e-30], [-1, 0, -.25, 0]),
    "power": (masked("power", [("Pow", ["power", "half"], ["power/z"], {})]), [4, 0, 1, -1], [.25, 0, .5, 0]),
    "exp": (masked("exp", [("Exp", ["exp"], ["exp/z"], {})]), [0, 1000, 1, 1000], [1, 0, E, 0]),
    "product": (masked("product", [("Log", ["x"], ["logs"], {}), ("Mul", ["product", "logs"], ["product/z"], {})]), [1, 2, 3, 4],
                [0, 0, np.log(3), 0]),
    "chain": (masked("chain", [("Log", ["chain"], ["c0"], {}), ("Tanh", ["c0"], ["c1"], {}), ("Mul", ["c1", "c1"], ["chain/z"], {})]),
              [E, -1, 1, 0], [2 * np.tanh(1) / np.cosh(1) ** 2 / E, 0, 0, 0]),
    "row": (summed("row", [("Log", ["row"], ["w0"], {}), ("Softmax", ["w0"], ["w1"], {"axis": 1}), ("Gather", ["w1", "first"], ["w2"], {}),
                           ("Mul", ["w2", "weigh"], ["row/z"], {})]), [[1, 2], [-1, -1]], [[2, -1], [0, 0]]),
    "norm": (summed("norm", [("ReduceL2", ["norm"], ["norm/z"], {"axes": [1], "keepdims": 0})]), [[3, 4], [0, 0]], [[.6, .8], [0, 0]]),
    "spread": (summed("spread", [("ReduceMean", ["spread"], ["s0"], {"axes": [1]}), ("Sub", ["spread", "s0"], ["s1"], {}),
                                 ("Mul", ["s1", "s1"], ["s2"], {}), ("ReduceMean", ["s2"], ["s3"], {"axes": [1]}),
                                 ("Sqrt", ["s3"], ["spread/z"], {})]), [[1, 3], [2, 2]], [[-.5, .5], [0, 0]]),
    "root": (summed("root", [("Pow", ["root", "half"], ["root/z"], {})]), [4, 0], [.25, 0]),
    "unit": (summed("unit", [("LpNormalization", ["unit"], ["unit/z"], {"axis": 1})]), [[3, 4, 0], [0, 0, 0]],
             [[.032, -.024, .2], [0, 0, 0]]),
    "top": (summed("top", [("TopK", ["top", "two"], ["t0", "t1"], {"axis": 1}), ("Mul", ["t0", "weigh"], ["top/z"], {})]),
            [[1, 5, 3], [2, 2, 2]], [[0, 10, 1], [10, 1, 0]]),
    "rest": (summed("rest", [("Mod", ["rest", "three"], ["r0"], {"fmod": 1}), ("Max", ["rest", "r0", "none"], ["rest/z"], {})]),
             [2, 7, -4], [1, 1, 0]),
}


def test_what_nobody_reads_has_no_gradient(tools, tmp_path):
    """Though it be infinite or NaN; and norms, roots and deviations have the gradient 0 at 0."""
    nodes = [node for made, _, _ in STEEP.values() for node in made]
    nodes.append(("Sum", [f"{name}/y" for name in STEEP], ["y"], {}))
    held = {name: np.array(value, np.float32) for name, (_, value, _) in STEEP.items()}
    other = {"none": np.float32(0), "half": np.float32(.5), "three": np.float32(3), "two": np.array([2]),
             "weigh": np.array([[10, 1]], np.float32), "first": np.array([0])}
    net = graphs.model(nodes, [("c", [4], onnx.TensorProto.BOOL), ("x", [4])], [("y", [])], {**held, **other})
    onnx.save(net, tmp_path / "m.onnx")
    np.save(tmp_path / "c.npy", MASK)
    np.save(tmp_path / "x.npy", np.float32([1, 0, 3, -1]))
    for more in ([], ["--reference"]):
        done = tools.mlc("gradients", tmp_path / "m.onnx", f"--input=c={tmp_path / 'c.npy'}", f"--input=x={tmp_path / 'x.npy'}",
                         f"--output-npz={tmp_path / 'g.npz'}", *more)
        assert done.returncode == 0, done.stderr
        found = np.load(tmp_path / "g.npz")
        for name, (_, _, want) in STEEP.items():
            np.testing.assert_allclose(found[name], want, rtol=1e-5, atol=1e-6, err_msg=name)


def test_what_is_not_finite_ends_with_6(tools, tmp_path):
    path = graph(tmp_path, [("Log", ["w"], ["l"], {}), ("Mul", ["l", "x"], ["m"], {}), ("ReduceSum", ["m"], ["y"], {"keepdims": 0})],
                 [2], [], {"w": np.float32([0, 3])})
    np.save(tmp_path / "x.npy", np.float32([1, 2]))
    done = tools.mlc("gradients", path, f"--input=x={tmp_path / 'x.npy'}", f"--output-npz={tmp_path / 'g.npz'}")
    assert done.returncode == 6 and "not finite: the loss, the gradient of 'w'" in done.stderr, done.stderr
    assert np.load(tmp_path / "g.npz")["w"].tolist() == [np.inf, np.float32(2 / 3)]


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
    # The mean of nothing is no number.
    assert done.returncode == 6 and "not finite: the loss;" in done.stderr, done.stderr
    assert np.array_equal(np.load(tmp_path / "o.npz")["w"], np.zeros((4, 3, 3, 3)))
