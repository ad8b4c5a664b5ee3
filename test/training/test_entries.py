"""Steps of several batches, with everything that a step of one batch has."""

import json

import numpy as np
import pytest

import test_precision
import test_training_form


def halves(data):
    """As many samples again, so that a step takes two batches."""
    return {name: value[:14] for name, value in data.items()}


@pytest.mark.parametrize("optimizer", ["momentum", "adamw"])
def test_two_batches_are_one_of_twice_the_size(tools, tmp_path, optimizer):
    """The mean of the gradients of two batches; with scaled and narrow ones too."""
    from graphs import model
    rng = np.random.default_rng(9)
    held = {"W": rng.standard_normal((5, 3), np.float32)}

    def net(batch):
        return model([("MatMul", ["x", "W"], ["h"], {}), ("Tanh", ["h"], ["y"], {})], [("x", [batch, 5])],
                     [("y", [batch, 3])], held)

    data = {"x": rng.standard_normal((8, 5), np.float32), "target": rng.standard_normal((8, 3), np.float32)}
    for more in ([], ["--loss-scale=256"], ["--autocast=bf16"], ["--autocast=f16"], ["--clip-norm=0.01"]):
        flags = [f"--optimizer={optimizer}", "--learning-rate=0.05", *more]
        _, whole, _ = test_precision.trained(tools, tmp_path, net(8), data, *flags, steps=6)
        _, parts, _ = test_precision.trained(tools, tmp_path, net(4), data, *flags, "--accumulate=2", steps=6)
        tolerance = 0.02 if "--autocast" in str(more) else 1e-5
        assert np.allclose(whole["weight/W"], parts["weight/W"], atol=tolerance), more
        if "loss scale" in whole:
            assert np.array_equal(whole["loss scale"], parts["loss scale"])


def test_accumulated_infinities_change_nothing(tools, tmp_path):
    net, data = test_precision.small_gradient(8.0)
    flags = ["--optimizer=adamw", "--learning-rate=0.001", "--accumulate=3"]
    _, state, text = test_precision.trained(tools, tmp_path, net, data, *flags, "--loss-scale=dynamic", steps=9)
    scale, good, failed, count = state["loss scale"]
    assert count >= 1 and text.count("skipped") == count and good == 9 - count and failed == 0
    _, want, _ = test_precision.trained(tools, tmp_path, net, data, *flags, f"--loss-scale={scale:g}",
                                        steps=9 - int(count))
    assert test_precision.same(state, want)
    test_precision.trained(tools, tmp_path, net, data, *flags, "--loss-scale=dynamic", steps=2)
    _, resumed, _ = test_precision.trained(tools, tmp_path, net, data, *flags, "--loss-scale=dynamic", "--resume",
                                           steps=9)
    assert test_precision.same(resumed, state)


def test_each_batch_moves_the_statistics(tools, tmp_path):
    x, held, arguments = test_training_form.normalized(tmp_path, [test_training_form.node()])
    done = tools.mlc("train", *arguments, "--training-form", "--accumulate=3", "--steps=2")
    assert done.returncode == 0, done.stderr
    state = np.load(tmp_path / "c.npz")
    want = test_training_form.moved(held["mean"], x.mean((0, 2)), 6)
    assert test_training_form.close(state["weight/mean"], want)


def test_evaluation_is_by_the_running_statistics(tools, tmp_path):
    """In the model's own form, which says inference, whatever form is trained."""
    x, held, arguments = test_training_form.normalized(tmp_path, [test_training_form.node()])
    for more in ([], ["--accumulate=2"]):
        done = tools.mlc("train", *arguments, *more, "--training-form", "--steps=1", f"--evaluate={tmp_path / 'd.npz'}")
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "c.npz") as state:
            mean, variance = (state["weight/" + name][None, :, None] for name in ("mean", "variance"))
        loss = float(done.stdout.split("held-out loss ")[1].split()[0])
        assert abs(loss - np.mean((x - mean) ** 2 / (variance + 1e-5))) < 1e-4 * loss


def test_a_budget_tells_of_all_entries(tools, tmp_path):
    """Each entry has its own memory: what all of them need is said at once."""
    x, held, arguments = test_training_form.normalized(tmp_path, [test_training_form.node()])
    done = tools.mlc("train", *arguments, "--accumulate=2", "--clip-norm=1", "--steps=1", "--memory-budget=1")
    assert done.returncode == 9
    assert done.stderr.count("is below what any order of the steps needs") == 2, done.stderr


def test_a_held_out_loss_that_is_none_is_explained(tools, tmp_path):
    x, held, arguments = test_training_form.normalized(tmp_path, [test_training_form.node()])
    np.savez(tmp_path / "e.npz", x=np.full_like(x, np.nan), target=np.zeros_like(x))
    done = tools.mlc("train", *arguments, "--steps=1", f"--evaluate={tmp_path / 'e.npz'}")
    assert done.returncode == 2 and "the array 'x' has NaN in sample 0" in done.stderr
    # Finite samples whose squares are not.
    np.savez(tmp_path / "e.npz", x=np.full_like(x, 1e30), target=np.zeros_like(x))
    done = tools.mlc("train", *arguments, "--steps=1", f"--evaluate={tmp_path / 'e.npz'}")
    assert done.returncode == 0 and "one of its batches is not a finite number" in done.stderr


@pytest.mark.parametrize("flags, schedule", [([], "step(0)"), (["--accumulate=3"], "accumulate(0 to 2), apply")])
def test_inspect_tells_what_a_step_runs(tools, tmp_path, flags, schedule):
    """In the order in which the trainer runs it."""
    _, _, arguments = test_training_form.normalized(tmp_path, [test_training_form.node()])
    model = next(a for a in arguments if str(a).endswith(".onnx"))
    artifact = tmp_path / "t.mlca"
    done = tools.mlc("train", model, "--loss=mse", *flags, f"--artifact={artifact}")
    assert done.returncode == 0, done.stderr
    assert f"each step: {schedule}\n" in tools.mlc("inspect", artifact).stdout
    assert json.loads(tools.mlc("inspect", artifact, "--json").stdout)["schedule"] == schedule


def test_a_step_has_a_bounded_number_of_batches(tools, tmp_path):
    _, _, arguments = test_training_form.normalized(tmp_path, [test_training_form.node()])
    done = tools.mlc("train", *arguments, "--steps=1", "--accumulate=1048577")
    assert done.returncode == 2 and "--accumulate must be at most 1048576" in done.stderr
