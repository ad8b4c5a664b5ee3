"""Steps of training, partitioned: eight networks with the batch on ranks, states of which each rank has a part."""

import collections
import re
import sys

import numpy as np
import pytest
import trained

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from partitioned import differ, exchanges, partition, run, sharded, training_step  # noqa: E402

# How many weights each has, statistics of the batch that are exchanged, and sums of the loss.
NETWORKS = {"mlp": (6, 0, 2), "alexnet": (8, 0, 2), "resnet": (24, 20, 2), "depthwise": (12, 0, 1), "unet": (16, 0, 2),
            "lstm": (5, 0, 2), "gpt": (36, 0, 2), "translator": (46, 0, 2)}


def batch(inputs):
    return lambda name, rank: ["data", *[""] * (rank - 1)] if name in inputs else None


def mesh(ranks):
    return f'#dist.axis<"data", {ranks}>'


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", NETWORKS)
def test_batches_are_split(tools, tmp_path, name, ranks):
    assert set(NETWORKS) == set(trained.NETWORKS)
    step, inputs = training_step(tools, tmp_path, name, 8, "optimizer=momentum")
    rank = partition(tools, tmp_path, sharded(step, mesh(ranks), batch(inputs)))
    found = exchanges(rank)
    weights, statistics, sums = NETWORKS[name]
    # Gradients once each, and numbers; a statistic has an element for each channel.
    assert {kind for kind, _ in found} == {"all_reduce"}
    assert len(found) == weights + statistics + sums, found
    largest = max(weight.size for weight in weights_of(name))
    assert all(size <= largest for _, size in found)
    assert differ(tools, tmp_path, inputs.values()) < 1e-13


def weights_of(name):
    net = trained.Network(sum(map(ord, name)))
    trained.NETWORKS[name](net)
    return net.weights.values()


def test_no_rank_sees_the_whole_batch(tools, tmp_path):
    """59 is the size of nothing else."""
    for name in NETWORKS:
        step, inputs = training_step(tools, tmp_path, name, 59, "optimizer=sgd")
        rank = partition(tools, tmp_path, sharded(step, mesh(2), batch(inputs)))
        assert "tensor<59x" in step and "59x" not in rank


def states(kinds):
    def axes(name, rank):
        return ["data", *[""] * (rank - 1)] if "/" in name and name.split("/")[0] in kinds and rank else None
    return axes


MOMENTS = {"momentum", "first moment", "second moment"}


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("optimizer,clip", [("momentum", 0), ("adamw", 1)])
@pytest.mark.parametrize("name", ["mlp", "resnet", "gpt"])
def test_states_of_the_optimizer_are_split(tools, tmp_path, name, optimizer, clip, ranks):
    """A gradient is reduced to the parts, a weight gathered from them: ZeRO. The norm of all, and whether all are finite, are
    numbers."""
    step, inputs = training_step(tools, tmp_path, name, 8, f"optimizer={optimizer} clip-norm={clip} states=true "
                                 f"scale-loss={'yes' if clip else 'no'} autocast={'none' if clip else 'f16'}")
    axes = batch(inputs), states(MOMENTS)
    text = sharded(step, mesh(ranks), lambda *of: axes[0](*of) or axes[1](*of))
    counts = collections.Counter(kind for kind, _ in exchanges(partition(tools, tmp_path, text)))
    weights, statistics, sums = NETWORKS[name]
    assert counts == {"reduce_scatter": weights, "all_gather": weights, "all_reduce": statistics + sums + 2 * clip}
    assert differ(tools, tmp_path, inputs.values(), "--function=step") < 1e-13


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name,again", [("mlp", 2), ("lstm", 2), ("gpt", 18)])
def test_weights_are_split(tools, tmp_path, name, again, ranks):
    """Nobody keeps a weight: with `reshard-after-forward`, not even from the loss to the gradients."""
    step, inputs = training_step(tools, tmp_path, name, 8, "optimizer=adamw states=true")
    axes = batch(inputs), states({"weight", *MOMENTS})
    text = sharded(step, mesh(ranks), lambda *of: axes[0](*of) or axes[1](*of))
    weights, statistics, sums = NETWORKS[name]
    for options, more in (("", 0), ("reshard-after-forward=true", again)):
        counts = collections.Counter(kind for kind, _ in exchanges(partition(tools, tmp_path, text, options)))
        assert counts == {"reduce_scatter": weights, "all_gather": weights + more, "all_reduce": sums}
        assert differ(tools, tmp_path, inputs.values(), "--function=step") < 1e-13


@pytest.mark.parametrize("name,sums", [("gpt", 8), ("translator", 11)])
@pytest.mark.parametrize("ranks", [(1, 2), (3, 2)])
def test_axes_together(tools, tmp_path, name, sums, ranks):
    """The batch and states of the optimizer on one axis; on the other heads of attention and columns of the first, rows of the
    second product of layers: two sums a layer for the loss, two for the gradients, but for those behind what is given."""
    step, inputs = training_step(tools, tmp_path, name, 6, "optimizer=adamw states=true")

    def axes(called, rank):
        if called in inputs or "/" not in called:
            return batch(inputs)(called, rank)
        kind, weight = called.split("/")
        of = [""] * rank
        if re.search(r"\.([qkv]|up)\.(weight|bias)$", weight):
            of[-1] = "model"
        elif re.search(r"\.(out|down)\.weight$", weight):
            of[0] = "model"
        if kind in MOMENTS and of[0] == "":
            of[0] = "data"
        return of

    rank = partition(tools, tmp_path, sharded(step, f'{mesh(ranks[0])}, #dist.axis<"model", {ranks[1]}>', axes))
    found = collections.Counter(re.findall(r'= dist\.(\w+) .*axis = #dist.axis<"(\w+)"', rank))
    assert {kind for kind, axis in found if axis == "model"} == {"all_reduce"} and found["all_reduce", "model"] == sums
    assert found["reduce_scatter", "data"] == found["all_gather", "data"]
    assert (found["all_reduce", "data"] == 0) == (ranks[0] == 1)
    assert differ(tools, tmp_path, inputs.values(), "--function=step") < 1e-13


@pytest.mark.parametrize("ranks", [2, 3])
def test_classes_are_split(tools, tmp_path, ranks):
    """Each rank looks labels up among its own classes; the loss of one that is no class is NaN, that of a negative one is none."""
    step, inputs = training_step(tools, tmp_path, "gpt", 6, "optimizer=adamw states=true")
    rank = partition(tools, tmp_path, sharded(step, mesh(ranks), lambda called, rank: (
        ["data"] + [""] * (rank - 1) if called.endswith("/embedding") else None)))
    kinds = collections.Counter(exchanges(rank))
    # Of the largest and the sum of a word's logits, of the loss, and of the table, which is small.
    assert kinds == {("all_reduce", 36): 2, ("all_reduce", 1): 1, ("all_reduce", 288): 1, ("all_gather", 88): 1}
    inputs["target"][0, :2] = -1, -7
    assert differ(tools, tmp_path, inputs.values(), "--function=step") < 1e-13
    inputs["target"][1, 2] = 11
    one, other = (run(tools, tmp_path, name, inputs.values(), "--function=step", *more) for name, more in (("whole", []), ("rank", ["--ranks"])))
    assert any(np.isnan(a).all() for a in one)
    for a, b in zip(one, other):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_mistakes_are_seen(tools, tmp_path):
    """A sum that is not made changes what ranks give."""
    step, inputs = training_step(tools, tmp_path, "mlp", 8, "optimizer=sgd")
    rank = partition(tools, tmp_path, sharded(step, mesh(2), batch(inputs)))
    (tmp_path / "rank.mlir").write_text(rank.replace('reduction = "sum"', 'reduction = "max"'))
    one, other = run(tools, tmp_path, "whole", inputs.values()), run(tools, tmp_path, "rank", inputs.values(), "--ranks")
    assert any((a != b).any() for a, b in zip(one, other))


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name,dim,kinds", [("unet", 2, {"halo"}), ("resnet", 3, {"halo"}), ("gpt", 1, {"all_to_all"}),
                                            ("lstm", 1, {"all_gather"}), ("depthwise", 1, set())])
def test_other_dims_are_split(tools, tmp_path, name, dim, kinds, ranks):
    """Rows and columns of images, channels, positions of words: of inputs, and of targets that have them."""
    step, inputs = training_step(tools, tmp_path, name, 4, "optimizer=momentum")
    place = {"unet": 1, "gpt": 1}.get(name, 0)

    def axes(called, rank):
        own = place if called == "target" else dim
        return ["data" if d == own else "" for d in range(rank)] if called in inputs and rank > own else None

    found = exchanges(partition(tools, tmp_path, sharded(step, mesh(ranks), axes)))
    assert kinds | {"all_reduce"} <= {kind for kind, _ in found}
    assert differ(tools, tmp_path, inputs.values()) < 1e-13
