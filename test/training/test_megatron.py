"""Megatron-LM (Shoeybi et al. 2019): heads, columns and rows of weights on t ranks; two sums a layer forward, two backward."""

import re

import numpy as np
import onnx
import pytest
import trained
from mesh_matrix import SHARDS
from test_meshes import is_step
from test_stages import in_doubles, train

LAYERS, BATCH, LENGTH, WIDTH, WORDS = 2, 2, 6, 16, 64
ACTIVATIONS = BATCH * LENGTH * WIDTH  # the paper's bsh


def sums(text):
    return [np.prod([int(n) for n in dims.split("x")[:-1]], dtype=int) for dims in re.findall(r"= dist\.all_reduce.*-> tensor<(\S+)>", text)]


def write(folder, change=None):
    """Flags of a GPT with norms, and of samples."""
    net = trained.Network(7)
    inputs, output, dims, loss, target = trained.gpt(net, LENGTH, WIDTH, WORDS, heads=4)
    if change:
        change(target)
    onnx.save(net.model(inputs, output, dims), folder / "gpt.onnx")
    np.savez(folder / "d.npz", **trained.samples({**inputs, "target": target}))
    flags = [folder / "gpt.onnx", *loss, f"--data={folder / 'd.npz'}", "--steps=4", "--optimizer=momentum", "--learning-rate=0.01"]
    in_doubles(folder, flags)
    return flags


def split(ranks, vocabulary):
    return [f"--ranks={ranks}", f"--mesh=data=1,tensor={ranks}", "--algorithm=ring", *SHARDS, *["--shard=embedding=tensor"] * vocabulary]


@pytest.mark.parametrize("vocabulary", [False, True])
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_gpt_with_norms(tools, tmp_path, ranks, vocabulary):
    """Also the embedding by words: a sum of what is looked up and one of the gradient of the last product's input, of the
    largest and of the sum of exponentials of each word's logits, and of the loss, a number."""
    flags = write(tmp_path)
    many = split(ranks, vocabulary)
    done = tools.mlc("train", *flags, *many, "--compile-to=distribute")
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"= dist\.(\w+)", done.stdout)) == {"all_reduce"}
    expected = [ACTIVATIONS] * (4 * LAYERS + 2 * vocabulary) + [BATCH * LENGTH, BATCH * LENGTH, 1] * vocabulary
    assert sorted(sums(done.stdout)) == sorted(expected)
    many = train(tools, tmp_path, "many", *flags, *many)
    is_step(train(tools, tmp_path, "one", *flags), many, tolerance=1e-11)
    # Each rank sends 2 (t - 1) / t of the bytes; of the one number, whole elements.
    for sent in re.findall(r"(\d+) bytes sent", many[2]):
        assert abs(int(sent) - 2 * (ranks - 1) / ranks * 8 * sum(expected)) <= 8


def test_labels_that_do_not_count(tools, tmp_path):
    def change(target):
        target[0, 1] = -1
    flags = write(tmp_path, change)
    is_step(train(tools, tmp_path, "one", *flags), train(tools, tmp_path, "many", *flags, *split(4, True)), tolerance=1e-11)
