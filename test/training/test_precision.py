"""Training with 16-bit floats: masters, casts, and the scale of the loss."""

import re

import numpy as np
import onnx
import pytest
from graphs import model
from onnx import TensorProto, helper, numpy_helper

KINDS = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}


def losses(text):
    return re.findall(r"^step \d+  loss (\S+)$", text, re.M)


def perceptron(weights, casts):
    """x W V + b, where `casts` says what product reads through a cast to which type."""
    nodes, held = [], dict(weights)

    def factor(name):
        if not casts:
            return name
        nodes.append(("Cast", [name], [name + "_small"], {"to": casts}))
        return name + "_small"

    def product(a, b, out):
        inputs = [factor(a), factor(b)]
        nodes.append(("MatMul", inputs, [out + "_small" if casts else out], {}))
        if casts:
            nodes.append(("Cast", [out + "_small"], [out], {"to": TensorProto.FLOAT}))

    product("x", "W", "h")
    nodes.append(("Tanh", ["h"], ["t"], {}))
    product("t", "V", "p")
    nodes.append(("Add", ["p", "b"], ["y"], {}))
    return model(nodes, [("x", [7, 5])], [("y", [7, 3])], held)


def samples(rng):
    return {"x": rng.standard_normal((14, 5)).astype(np.float32),
            "target": rng.standard_normal((14, 3)).astype(np.float32)}


def weights(rng):
    return {"W": rng.standard_normal((5, 9)).astype(np.float32) / 2, "V": rng.standard_normal((9, 3), np.float32),
            "b": np.zeros(3, np.float32)}


def trained(tools, folder, net, data, *flags, steps=12):
    """(the losses, the checkpoint, the text)."""
    onnx.save(net, folder / "m.onnx")
    np.savez(folder / "d.npz", **data)
    done = tools.mlc("train", folder / "m.onnx", "--loss=mse", f"--data={folder / 'd.npz'}", f"--steps={steps}",
                     "--log-every=1", f"--checkpoint={folder / 'c.npz'}", "-o", folder / "o.onnx", *flags)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "c.npz") as file:
        return losses(done.stdout), {name: file[name] for name in file}, done.stdout


def same(a, b):
    keys = {name for name in a if "/" in name}
    assert keys == {name for name in b if "/" in name}
    return all(a[name].tobytes() == b[name].tobytes() for name in keys)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_autocast_is_casts_around_products(tools, tmp_path, kind, optimizer):
    rng = np.random.default_rng(3)
    data, held = samples(rng), weights(rng)
    flags = [f"--optimizer={optimizer}", "--learning-rate=0.02", "--loss-scale=none"]
    want = trained(tools, tmp_path, perceptron(held, KINDS[kind]), data, *flags)
    got = trained(tools, tmp_path, perceptron(held, None), data, *flags, f"--autocast={kind}")
    wide = trained(tools, tmp_path, perceptron(held, None), data, *flags)
    assert got[0] == want[0] and same(got[1], want[1])
    # It is another number than in float32, and near it.
    assert got[0] != wide[0]
    assert np.allclose(np.array(got[0], float), np.array(wide[0], float), rtol=0.05)


def small_perceptron(net, kind):
    """`net` with weights of 16 bits."""
    small = onnx.ModelProto()
    small.CopyFrom(net)
    for tensor in small.graph.initializer:
        value = numpy_helper.to_array(tensor).astype(helper.tensor_dtype_to_np_dtype(kind))
        tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
    del small.graph.node[:]
    # The rest of the graph is of small floats, too.
    small.graph.node.extend([helper.make_node("Cast", ["x"], ["x_small"], to=kind)])
    for node in net.graph.node:
        small.graph.node.add().CopyFrom(node)
        for i, name in enumerate(node.input):
            if name == "x":
                small.graph.node[-1].input[i] = "x_small"
    small.graph.output[0].type.tensor_type.elem_type = kind
    return small


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_16_bits_have_masters(tools, tmp_path, kind):
    """They are changed in float32, and rounded where they are read and written."""
    rng = np.random.default_rng(4)
    data, held = samples(rng), weights(rng)
    net = perceptron(held, None)
    small = small_perceptron(net, KINDS[kind])
    found, state, _ = trained(tools, tmp_path, small, data, "--learning-rate=0.02", "--loss-scale=none", steps=40)
    wide, _, _ = trained(tools, tmp_path, net, data, "--learning-rate=0.02", steps=40)
    assert np.allclose(np.array(found, float), np.array(wide, float), rtol=0.05)
    assert float(found[-1]) < float(found[0])
    trained(tools, tmp_path, small, data, "--learning-rate=0.02", "--loss-scale=none", steps=40)
    for tensor in onnx.load(tmp_path / "o.onnx").graph.initializer:
        assert tensor.data_type == KINDS[kind]
        master = state["weight/" + tensor.name]
        assert master.dtype == np.float32
        want = master.astype(helper.tensor_dtype_to_np_dtype(KINDS[kind]))
        assert numpy_helper.to_array(tensor).tobytes() == want.tobytes()
    # Masters are between the small numbers.
    assert np.any(state["weight/W"].astype(np.float16).astype(np.float32) != state["weight/W"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", ["none", "256"])
def test_small_weights_kept_beside_masters(tools, tmp_path, kind, scale):
    """Nothing changes but the sums of gradients over batches, which are rounded."""
    rng = np.random.default_rng(8)
    data = samples(rng)
    net = small_perceptron(perceptron(weights(rng), None), KINDS[kind])
    flags = ["--optimizer=adamw", "--learning-rate=0.02", f"--loss-scale={scale}", f"--evaluate={tmp_path / 'd.npz'}"]
    want = trained(tools, tmp_path, net, data, *flags)
    got = trained(tools, tmp_path, net, data, *flags, "--keep-half")
    assert got[0] == want[0]
    for name in want[1]:
        # But for the last bit: where products are fused with sums is another place.
        assert name == "settings" or np.allclose(got[1][name], want[1][name], rtol=1e-4, atol=1e-6)
    assert re.findall("held-out.*", got[2]) == re.findall("held-out.*", want[2])
    want = trained(tools, tmp_path, net, data, *flags, "--accumulate=3")
    got = trained(tools, tmp_path, net, data, *flags, "--accumulate=3", "--keep-half")
    assert got[0] != want[0]
    assert np.allclose(np.array(got[0], float), np.array(want[0], float), rtol=0.02)
    # What is rounded is made of the masters again.
    trained(tools, tmp_path, net, data, *flags, "--accumulate=3", "--keep-half", steps=5)
    resumed = trained(tools, tmp_path, net, data, *flags, "--accumulate=3", "--keep-half", "--resume")
    assert same(resumed[1], got[1])


def test_no_small_weights_to_keep(tools, tmp_path):
    rng = np.random.default_rng(9)
    onnx.save(perceptron(weights(rng), None), tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", **samples(rng))
    done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}",
                     f"--checkpoint={tmp_path / 'c.npz'}", "--keep-half")
    assert done.returncode == 4 and "leave --keep-half out" in done.stderr


@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
@pytest.mark.parametrize("clip", [[], ["--clip-norm=0.5"]])
def test_a_scale_that_loses_nothing_changes_nothing(tools, tmp_path, optimizer, clip):
    rng = np.random.default_rng(5)
    data, held = samples(rng), weights(rng)
    flags = [f"--optimizer={optimizer}", *clip]
    plain = trained(tools, tmp_path, perceptron(held, None), data, *flags)
    scaled = trained(tools, tmp_path, perceptron(held, None), data, *flags, "--loss-scale=1024")
    # But for the last bit: where products are fused with sums is another place.
    assert np.allclose(np.array(plain[0], float), np.array(scaled[0], float), rtol=1e-6)
    assert "loss scale" not in plain[1] and list(scaled[1]["loss scale"]) == [1024, 12, 0, 0]


def small_gradient(size):
    """y = w x in float16, a gradient of about `size`."""
    nodes = [("Cast", ["x"], ["a"], {"to": TensorProto.FLOAT16}), ("Cast", ["w"], ["c"], {"to": TensorProto.FLOAT16}),
             ("Mul", ["a", "c"], ["m"], {}), ("Cast", ["m"], ["y"], {"to": TensorProto.FLOAT})]
    return model(nodes, [("x", [2, 3])], [("y", [2, 3])], {"w": np.zeros(3, np.float32)}), {
        "x": np.ones((2, 3), np.float32), "target": np.full((2, 3), -size, np.float32)}


def test_small_gradients_are_scaled(tools, tmp_path):
    """1e-8 is nothing in float16."""
    net, data = small_gradient(3e-8)
    _, lost, _ = trained(tools, tmp_path, net, data, "--learning-rate=1e6", "--loss-scale=none", steps=1)
    assert np.all(lost["weight/w"] == 0)
    _, kept, _ = trained(tools, tmp_path, net, data, "--learning-rate=1e6", "--loss-scale=65536", steps=1)
    want = -1e6 * (2 * 3e-8 / 6 * 2)
    assert np.allclose(kept["weight/w"], want, rtol=1e-3)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adamw"])
def test_steps_with_infinite_gradients_change_nothing(tools, tmp_path, optimizer):
    """A dynamic scale goes down until they are finite; it is as if there had been no such steps."""
    net, data = small_gradient(8.0)
    flags = [f"--optimizer={optimizer}", "--learning-rate=0.001"]
    _, state, text = trained(tools, tmp_path, net, data, *flags, "--loss-scale=dynamic", steps=9)
    skipped = re.findall(r"^step (\d+)  skipped: .* loss scale (\S+)$", text, re.M)
    scale, good, failed, count = state["loss scale"]
    assert count == len(skipped) and 1 <= count < 7 and good == 9 - count and failed == 0
    assert scale == 65536 / 2 ** count
    assert [int(step) for step, _ in skipped] == list(range(1, int(count) + 1))
    _, want, _ = trained(tools, tmp_path, net, data, *flags, f"--loss-scale={scale:g}", steps=9 - int(count))
    assert same(state, want)
    # A resumed run goes on with the scale.
    trained(tools, tmp_path, net, data, *flags, "--loss-scale=dynamic", steps=2)
    _, resumed, _ = trained(tools, tmp_path, net, data, *flags, "--loss-scale=dynamic", "--resume", steps=9)
    assert same(resumed, state) and np.array_equal(resumed["loss scale"], state["loss scale"])


def test_a_run_that_changes_nothing_says_so(tools, tmp_path):
    net, data = small_gradient(8.0)
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", **data)
    done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--loss-scale=1e30", "--steps=3",
                     "-o", tmp_path / "t.onnx")
    assert done.returncode == 5 and "nothing was learned: a gradient was not finite in any of 3 steps" in done.stderr, done.stderr
    assert not (tmp_path / "t.onnx").exists()


def test_float16_is_scaled_by_itself(tools, tmp_path):
    rng = np.random.default_rng(6)
    data, held = samples(rng), weights(rng)
    for flags, is_scaled in ((["--autocast=f16"], True), (["--autocast=bf16"], False), ([], False)):
        _, state, _ = trained(tools, tmp_path, perceptron(held, None), data, *flags, steps=2)
        assert ("loss scale" in state) == is_scaled


def test_what_does_not_fit(tools, tmp_path):
    net, data = small_gradient(8.0)
    trained(tools, tmp_path, net, data, "--loss-scale=dynamic", steps=2)

    def error(*flags, code):
        done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=99",
                         f"--checkpoint={tmp_path / 'c.npz'}", *flags)
        assert done.returncode == code
        return done.stderr

    for value in ("0", "-1", "inf", "nan", "1e40", "x", ""):
        assert "must be none, dynamic or a positive number" in error(f"--loss-scale={value}", code=2)
    assert "64 steps in a row changed nothing" in error("--loss-scale=1e30", code=5)
    trained(tools, tmp_path, net, data, "--loss-scale=dynamic", steps=2)
    assert "was made with loss scale dynamic, not loss scale none" in error("--resume", code=2)
    with np.load(tmp_path / "c.npz") as file:
        state = {name: file[name] for name in file}
    for bad in (np.zeros(4), np.array([1.0, -1, 0, 0]), np.array([np.inf, 0, 0, 0]), np.ones(3),
                np.array([1, 0.5, 0, 0]), np.ones(4, np.float32), None):
        changed = {**state, "loss scale": bad}
        if bad is None:
            del changed["loss scale"]
        np.savez(tmp_path / "c.npz", **changed)
        assert "'loss scale' is none" in error("--resume", "--loss-scale=dynamic", code=3)
