"""TeraPipe: stages work on slices of sequences, and train as they do on whole ones."""

import json

import numpy as np
import pytest

from test_stages import arguments, farthest, in_doubles, losses, train


@pytest.mark.parametrize("stages, slices", [(2, 3), (3, 2), (2, 6)])
def test_slices_train_as_sequences_do(tools, tmp_path, stages, slices):
    """Weights are tied, and norms are of all gradients. One rank has all of the model, without stages."""
    flags = arguments(tmp_path, "gpt", "--clip-norm=0.5", "--accumulate=2")
    pipeline = [f"--stages={stages}", f"--ranks={stages}", "--pipeline=terapipe", f"--slices={slices}"]
    for tolerance in (1e-5, 1e-12):
        whole = train(tools, tmp_path, "whole", *flags)
        sliced = train(tools, tmp_path, "sliced", *flags, *pipeline)
        assert "; 0 allocations after the first step" in sliced[2]
        np.testing.assert_allclose(losses(sliced[0]), losses(whole[0]), rtol=1e-6)
        assert farthest(whole[1], sliced[1]) < tolerance
        in_doubles(tmp_path, flags)


def test_processes_and_a_plan(tools, tmp_path):
    flags = arguments(tmp_path, "gpt", "--accumulate=2")
    threads = train(tools, tmp_path, "threads", *flags, "--stages=2", "--ranks=2", "--pipeline=terapipe", "--slices=2")
    plan = {"mesh": {"data": 1, "stage": 2}, "stages": 2, "schedule": "terapipe", "slices": 2, "accumulate": 2}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    flags.remove("--accumulate=2")
    processes = train(tools, tmp_path, "processes", *flags, f"--plan={tmp_path / 'plan.json'}", launched=[2])
    assert threads[0] == processes[0]
    assert all(np.array_equal(threads[1][key], processes[1][key]) for key in threads[1] if key != "settings")


@pytest.mark.parametrize("name, more, problem", [
    ("translator", ["--slices=5"], "inputs have sequences of 5 and of 4 positions"),
    ("gpt", ["--slices=4"], "4 slices do not divide sequences of 6 positions"),
    ("lstm", ["--slices=4"], "inputs have sequences of 16 and of 7 positions"),
    ("unet", ["--slices=2"], "it mixes positions"),
    ("gpt", ["--slices=0"], "--slices must be at least 1"),
    ("gpt", ["--slices=2", "--pipeline=gpipe"], "gpipe has no slices"),
])
def test_refused(tools, tmp_path, name, more, problem):
    done = tools.mlc("train", *arguments(tmp_path, name), "--stages=2", "--ranks=2", "--pipeline=terapipe", *more, f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode in (2, 4) and problem in done.stderr, done.stderr
