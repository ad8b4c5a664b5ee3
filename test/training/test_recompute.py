"""Backward passes that compute their stage's forward pass again, which takes less memory."""

import re

import numpy as np
import pytest

from test_stages import arguments, farthest, losses, nodes_of, train


def flags_of(folder, name, *more):
    return arguments(folder, name, "--micro-batches=4", "--stages=2", "--clip-norm=0.5", *more)


@pytest.mark.parametrize("name", ["mlp", "gpt", "unet", "lstm"])
def test_a_step_is_the_same(tools, tmp_path, name):
    """Training that keeps less has the same losses and weights, and less memory for what waits for backward passes."""
    flags = flags_of(tmp_path, name)
    one = train(tools, tmp_path, "one", *flags)
    found = {}
    for kind, more in (("all", ()), ("none", ("--recompute",)), ("some", ("--recompute", f"--keep-results={nodes_of(flags[0])[2]}"))):
        many = train(tools, tmp_path, kind, *flags, "--ranks=2", *more)
        np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=1e-5)
        assert farthest(one[1], many[1]) < 1e-5
        found[kind] = [int(bytes) for bytes in re.findall(r"(\d+) carried", many[2])]
    assert len(found["all"]) == 2 and found["none"][0] < found["all"][0]
    assert all(none <= some <= every for none, some, every in zip(found["none"], found["some"], found["all"]))


@pytest.mark.parametrize("more", [["--ranks=2", "--pipeline=gpipe", "--keep-results=*"], ["--ranks=3", "--replicas=2,1"],
                                  ["--ranks=4", "--mesh=stage=2,data=1,tensor=2", "--shard=*.up.weight=-,tensor", "--shard=*.down.weight=tensor"],
                                  ["--ranks=4", "--zero=3"]])
def test_beside_replicas_split_weights_and_zero(tools, tmp_path, more):
    flags = flags_of(tmp_path, "gpt")
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, "--recompute", *more)
    np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=1e-5)
    assert farthest(one[1], many[1]) < 1e-4


def test_versions_of_weights(tools, tmp_path):
    """A backward pass computes again with the version that its forward pass read."""
    flags = arguments(tmp_path, "unet", "--micro-batches=6", "--stages=2", "--ranks=2", "--pipeline=pipedream")
    one, many = train(tools, tmp_path, "one", *flags), train(tools, tmp_path, "many", *flags, "--recompute")
    np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=1e-5)
    assert farthest(one[1], many[1]) < 1e-5


@pytest.mark.parametrize("more, problem", [
    (["--stages=1", "--recompute"], "compute again in a step of several stages"),
    (["--stages=2", "--ranks=2", "--keep-results=x"], '"keep_results" is of backward passes that compute again'),
    (["--stages=2", "--ranks=2", "--recompute", "--keep-results=nobody"], "no node is called 'nobody'"),
    (["--stages=2", "--ranks=2", "--recompute", "--pipeline=zero-bubble"], "would both compute the forward pass again"),
    (["--stages=2", "--ranks=2", "--recompute", "--pipeline=terapipe", "--slices=2"], "without slices"),
])
def test_what_is_refused(tools, tmp_path, more, problem):
    done = tools.mlc("train", *arguments(tmp_path, "gpt", "--micro-batches=4", f"--checkpoint={tmp_path / 'c.npz'}", *more))
    assert done.returncode in (2, 4) and problem in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
