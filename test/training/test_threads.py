"""Training gives the same bits whatever the number of threads, and on every run."""

import numpy as np
import onnx
import pytest

import test_train
import trained


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", trained.NETWORKS)
def test_two_threads_give_the_bits_of_one(tools, tmp_path, name):
    arguments = test_train.write(tmp_path, name)
    states = []
    for threads in (1, 2, 1):
        out = tmp_path / f"{len(states)}.npz"
        done = tools.mlc("train", *arguments, "--optimizer=adamw", "--clip-norm=1", "--steps=4",
                         f"--threads={threads}", f"--checkpoint={out}")
        assert done.returncode == 0, done.stderr
        states.append(test_train.arrays(out))
    assert states[0] == states[1] == states[2]


def test_large_sums_are_shared_alike(tools, tmp_path):
    """Sums over a batch that threads share are of the same parts."""
    from graphs import model
    rng = np.random.default_rng(8)
    net = model([("MatMul", ["x", "w"], ["m"], {}), ("Add", ["m", "b"], ["a"], {}), ("Tanh", ["a"], ["y"], {})],
                [("x", [512, 96])], [("y", [512, 33])],
                {"w": rng.standard_normal((96, 33), np.float32) / 10, "b": np.zeros(33, np.float32)})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=rng.standard_normal((512, 96), np.float32),
             target=rng.standard_normal((512, 33), np.float32))
    states = []
    for threads in (1, 2, 3, 5):
        out = tmp_path / f"{threads}.npz"
        done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=20",
                         "--learning-rate=0.5", f"--threads={threads}", f"--checkpoint={out}")
        assert done.returncode == 0, done.stderr
        states.append(test_train.arrays(out))
    assert all(state == states[0] for state in states)
