"""BatchNormalization and Dropout as in training, and weights that are no initializers."""

import numpy as np
import onnx
import pytest
from graphs import model
from onnx import helper, numpy_helper

BN = ["scale", "bias", "mean", "variance"]
MOMENTUM = 0.75


def normalized(tmp_path, nodes, weights=(), **more):
    """`x` of 6 samples of 3 channels; a step sees them all."""
    rng = np.random.default_rng(1)
    held = {"scale": np.ones(3), "bias": np.zeros(3), "mean": np.array([1.0, -2.0, 0.5]),
            "variance": np.array([1.0, 4.0, 0.25]), **dict(weights)}
    held = {name: np.asarray(value, np.float32) for name, value in held.items()}
    net = model(nodes, [("x", [6, 3, 5])], [("y", [6, 3, 5])], held, **more)
    onnx.save(net, tmp_path / "m.onnx")
    x = (2 * rng.standard_normal((6, 3, 5)) + 1).astype(np.float32)
    np.savez(tmp_path / "d.npz", x=x, target=np.zeros_like(x))
    # So small that weights stay as they are.
    return x, held, [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--learning-rate=1e-20",
                     f"--checkpoint={tmp_path / 'c.npz'}"]


def node(inputs=("x",), output="y", **attributes):
    return ("BatchNormalization", [*inputs, *BN], output if isinstance(output, list) else [output],
            {"momentum": MOMENTUM, **attributes})


def moved(before, batch, times):
    for _ in range(times):
        before = MOMENTUM * before + (1 - MOMENTUM) * batch
    return before


def close(got, want):
    return np.max(np.abs(got - want)) < 1e-5


@pytest.mark.parametrize("form", ["flag", "model", "model with outputs"])
def test_batches_move_the_running_statistics(tools, tmp_path, form):
    nodes = {"flag": [node()], "model": [node(training_mode=1)],
             "model with outputs": [node(output=["y", "m", "v"], training_mode=1)]}[form]
    x, held, arguments = normalized(tmp_path, nodes)
    flags = ["--training-form"] if form == "flag" else []
    done = tools.mlc("train", *arguments, *flags, "--steps=3", "-o", tmp_path / "o.onnx")
    assert done.returncode == 0, done.stderr
    assert "trained: 2 weights" in done.stdout and "moved:   mean      the running mean" in done.stdout
    state = np.load(tmp_path / "c.npz")
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    assert close(state["weight/mean"], moved(held["mean"], mean, 3))
    assert close(state["weight/variance"], moved(held["variance"], variance, 3))
    written = onnx.load(tmp_path / "o.onnx")
    weights = {t.name: numpy_helper.to_array(t) for t in written.graph.initializer}
    assert np.array_equal(weights["mean"], state["weight/mean"])
    assert np.array_equal(weights["variance"], state["weight/variance"])
    # All else is as it was, the form too.
    assert written.graph.node == onnx.load(tmp_path / "m.onnx").graph.node
    # The loss is that of the batch's statistics: of numbers with variance 1.
    loss = float(done.stdout.split("loss ")[1].split()[0])
    assert abs(loss - np.mean(variance / (variance + 1e-5))) < 1e-5


def test_in_the_models_form_they_stay(tools, tmp_path):
    _, _, arguments = normalized(tmp_path, [node()])
    done = tools.mlc("train", *arguments, "--steps=2")
    assert done.returncode == 0 and "frozen:  mean" in done.stdout
    assert "weight/mean" not in np.load(tmp_path / "c.npz")
    # One form does not go on with another's checkpoint.
    done = tools.mlc("train", *arguments, "--steps=3", "--resume", "--training-form")
    assert done.returncode == 2 and "was made with in the model's form" in done.stderr


def test_a_frozen_statistic_stays(tools, tmp_path):
    x, held, arguments = normalized(tmp_path, [node()])
    done = tools.mlc("train", *arguments, "--steps=1", "--training-form", "--freeze=mean")
    assert done.returncode == 0 and "frozen:  mean      named by --freeze" in done.stdout
    state = np.load(tmp_path / "c.npz")
    assert "weight/mean" not in state
    assert close(state["weight/variance"], moved(held["variance"], x.var((0, 2)), 1))


def test_two_nodes_with_one_statistic(tools, tmp_path):
    """Each moves what the other has left."""
    x, held, arguments = normalized(tmp_path, [node(output="h"), ("Add", ["h", "two"], ["i"], {}), node(["i"])],
                                    {"two": np.full((1, 3, 1), 2)})
    done = tools.mlc("train", *arguments, "--steps=1", "--training-form", "--freeze=two")
    assert done.returncode == 0, done.stderr
    state = np.load(tmp_path / "c.npz")
    assert close(state["weight/mean"], moved(moved(held["mean"], x.mean((0, 2)), 1), np.float32(2), 1))


def test_statistics_are_resumed(tools, tmp_path):
    _, _, arguments = normalized(tmp_path, [node()])
    arguments = [*arguments, "--training-form", "--batch=2", "--learning-rate=0.05"]
    arguments.remove("--learning-rate=1e-20")
    net = onnx.load(tmp_path / "m.onnx")
    for value in (*net.graph.input, *net.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(net, tmp_path / "m.onnx")
    whole = tools.mlc("train", *arguments, "--steps=7")
    assert whole.returncode == 0, whole.stderr
    want = {k: v.tobytes() for k, v in np.load(tmp_path / "c.npz").items()}
    assert tools.mlc("train", *arguments, "--steps=4").returncode == 0
    assert tools.mlc("train", *arguments, "--steps=7", "--resume").returncode == 0
    assert {k: v.tobytes() for k, v in np.load(tmp_path / "c.npz").items()} == want


@pytest.mark.parametrize("opset", [7, 11, 13])
def test_dropout_drops(tools, tmp_path, opset):
    dropout = ("Dropout", ["m"] if opset < 12 else ["m", "ratio"], ["y"], {"ratio": 0.25} if opset < 12 else {})
    weights = {"w": np.ones(4, np.float32)}
    if opset >= 12:
        weights["ratio"] = np.float32(0.25)
    net = model([("Mul", ["x", "w"], ["m"], {}), dropout], [("x", [64, 4])], [("y", [64, 4])], weights, opset=opset)
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.ones((64, 4), np.float32), target=np.zeros((64, 4), np.float32))
    arguments = [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--learning-rate=1e-20",
                 "--log-every=1", "--steps=6", f"--checkpoint={tmp_path / 'c.npz'}"]

    def losses(*flags):
        done = tools.mlc("train", *arguments, *flags)
        assert done.returncode == 0, done.stderr
        return [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("step")]

    assert losses() == [1.0] * 6
    found = losses("--training-form")
    # Three quarters of the elements are 4/3: their squares' mean is near 4/3.
    assert len(set(found)) > 3 and all(abs(loss - 4 / 3) < 0.25 for loss in found)


def test_weights_in_constant_nodes(tools, tmp_path):
    """They are trained if one asks for it, and written where they were."""
    net = model([("MatMul", ["x", "w"], ["m"], {}), ("Mul", ["m", "half"], ["y"], {})], [("x", [4, 3])],
                [("y", [4, 2])], {"unread": np.ones(2, np.float32)})
    constants = {"w": np.arange(6, dtype=np.float32).reshape(3, 2) / 8, "half": np.full(1, 0.5, np.float32)}
    for name, value in constants.items():
        net.graph.node.insert(0, helper.make_node("Constant", [], [name],
                                                  value=numpy_helper.from_array(value, name + "_value")))
    onnx.save(net, tmp_path / "m.onnx")
    rng = np.random.default_rng(2)
    x, target = rng.standard_normal((4, 3), np.float32), rng.standard_normal((4, 2), np.float32)
    np.savez(tmp_path / "d.npz", x=x, target=target)
    arguments = [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--learning-rate=0.5",
                 "--steps=1", "-o", tmp_path / "o.onnx"]
    done = tools.mlc("train", *arguments)
    assert done.returncode == 2 and "name one with --train" in done.stderr
    done = tools.mlc("train", *arguments, "--train=w")
    assert done.returncode == 0, done.stderr
    assert "frozen:  half    is in a Constant node" in done.stdout
    w = constants["w"].astype(np.float64)
    gradient = x.T @ (2 * (x @ w * 0.5 - target) / target.size * 0.5)
    written = {n.output[0]: numpy_helper.to_array(n.attribute[0].t)
               for n in onnx.load(tmp_path / "o.onnx").graph.node if n.op_type == "Constant"}
    assert close(written["w"], w - 0.5 * gradient)
    assert np.array_equal(written["half"], constants["half"])
