"""mlc.Trainer over the stages of a pipeline."""

import mlc
import numpy as np
import pytest

from rank_threads import on_threads
from test_trainer import LOSS, MODEL, batches, folder  # noqa: F401


def test_stages_on_ranks(folder):
    """A pipeline has the losses and the weights of its stages on one rank."""
    batch = batches()[0]

    def losses(own, plan, name, **more):
        plan = {"plan": {"accumulate": 2, "stages": 2, **plan}} if plan else {}
        mine = mlc.Trainer(MODEL, **LOSS, ranks=own, learning_rate=0.01, **plan, **more)
        found = [mine.step([batch, batch]) for _ in range(3)]
        mine.save(folder / name)
        return found

    one = losses(None, {"mesh": {"data": 1}}, "one.npz")

    def on_ranks(count, *what, **more):
        return on_threads(count, lambda rank: losses(rank, *what, **more))

    assert on_ranks(2, {"mesh": {"data": 1, "stage": 2}, "schedule": "gpipe"}, "two.npz") == [one, one]
    # Two that split the batch, and two for each half of the first weight.
    eight = on_ranks(8, None, "eight.npz", accumulate=2, stages=2, zero=1, mesh={"data": 2, "stage": 2, "tensor": 2}, shard={"w1": "-,tensor"})
    for own in eight:
        np.testing.assert_allclose(own, one, rtol=1e-6)
    # Keyword arguments say the same.
    mine = mlc.Trainer(MODEL, **LOSS, learning_rate=0.01, accumulate=2, stages=2)
    assert [mine.step([batch, batch]) for _ in range(3)] == one
    with pytest.raises(mlc.UnsupportedError, match="no node 'none' to end a stage with"):
        mlc.Trainer(MODEL, **LOSS, stage_ends=["none"])
    with pytest.raises(mlc.UsageError, match="a schedule is of several ranks"):
        mlc.Trainer(MODEL, **LOSS, stages=2, pipeline="gpipe")
    with np.load(folder / "one.npz") as a, np.load(folder / "two.npz") as b:
        assert all(np.array_equal(a[key], b[key]) for key in a if key.startswith("weight/"))
