"""Training on several ranks is training on one, but for the order of additions."""

import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import trained
from networks import FULL, difference, train, write

STEPS = trained.STEPS if FULL else 6
BATCH = 12
# Of losses, relative to them; and of states, whose rounding batch statistics magnify most.
BOUND = {"float32": 1e-5, "float64": 1e-12}
STATES_BOUND = {"float32": 1e-4, "float64": 1e-12}
# Later, a difference of rounding in float32 decides about a ReLU of this one (docs/Measurements/data-parallel.md).
LENGTH = {("resnet", "float32"): 25}
CASES = [(name, dtype, ranks)
         for name in trained.NETWORKS for dtype in BOUND for ranks in (2, 3, 4)
         if FULL or (name, dtype, ranks) in {("mlp", "float32", 3), ("mlp", "float64", 4), ("resnet", "float64", 2),
                                             ("gpt", "float32", 2), ("unet", "float64", 3)}]


@pytest.fixture(scope="module")
def alone(tools, tmp_path_factory):
    """On one rank, once for each network and precision."""
    known = {}

    def find(name, dtype, *flags, steps=STEPS):
        if (name, dtype, flags) not in known:
            folder = tmp_path_factory.mktemp(name)
            arguments = [*write(folder, name, dtype), *trained.OPTIMIZERS["momentum"][1], f"--steps={steps}", *flags]
            known[name, dtype, flags] = arguments, train(tools, arguments, folder / "one.npz"), folder
        return known[name, dtype, flags]
    return find


@pytest.mark.parametrize("name,dtype,ranks", CASES)
def test_as_on_one_rank(tools, alone, name, dtype, ranks):
    steps = min(STEPS, LENGTH.get((name, dtype), STEPS))
    arguments, one, folder = alone(name, dtype, f"--batch={BATCH}", steps=steps)
    many = train(tools, arguments, folder / "many.npz", f"--ranks={ranks}", "--algorithm=ring")
    # They are printed with 9 digits; the others are compared in the states alone.
    printed = np.max(np.abs(many.losses - one.losses) / one.losses)
    many.losses = one.losses
    worst = difference(many, one)
    print(f"{name} {dtype} {ranks} ranks, {steps} steps: losses {printed:.2g}, states {worst:.2g}")
    assert printed <= max(BOUND[dtype], 2e-9) and worst <= STATES_BOUND[dtype]
    assert all(sent > 0 for sent in many.sent)


@pytest.mark.parametrize("name", trained.NETWORKS if FULL else ["mlp"])
def test_parts_of_different_sizes(tools, alone, name):
    arguments, one, folder = alone(name, "float64", "--batch=7")
    many = train(tools, arguments, folder / "many.npz", "--ranks=3")
    many.losses = one.losses
    assert difference(many, one) <= BOUND["float64"]


def test_accumulated_batches_are_reduced_once(tools, alone):
    """As DistributedDataParallel's no_sync: K batches send what one does."""
    arguments, one, folder = alone("mlp", "float64", "--batch=6", "--accumulate=3")
    many = train(tools, arguments, folder / "many.npz", "--ranks=2", "--algorithm=ring")
    many.losses = one.losses
    assert difference(many, one) <= BOUND["float64"]
    single, _, _ = alone("mlp", "float64", "--batch=6")
    once = train(tools, single, folder / "once.npz", "--ranks=2", "--algorithm=ring")
    # Each batch has a loss, too, and a number of targets that count, in 64 bytes each.
    assert max(many.sent) <= max(once.sent) + 3 * 2 * 64


@pytest.mark.parametrize("zero", [0, 2])
def test_gradients_that_others_read_are_accumulated(tools, tmp_path, zero):
    """Of a normalization by running statistics, the sum of gradients is a gradient, and a term of the scale's."""
    numbers = np.random.default_rng(0)
    weights = {"w": (3, 4), "scale": (4,), "bias": (4,), "mean": (4,), "variance": (4,)}
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"]),
         helper.make_node("BatchNormalization", ["h", "scale", "bias", "mean", "variance"], ["y"])],
        "network", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["N", 4])],
        [numpy_helper.from_array(1 + numbers.random(dims), name) for name, dims in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=numbers.standard_normal((24, 3)), target=numbers.standard_normal((24, 4)))
    arguments = [tmp_path / "m.onnx", f"--data={tmp_path / 'd.npz'}", "--loss=mse", "--log-every=1", "--batch=6",
                 "--accumulate=2", "--steps=6", "--optimizer=adamw"]
    one = train(tools, arguments, tmp_path / "one.npz")
    many = train(tools, arguments, tmp_path / "many.npz", "--ranks=4", f"--zero={zero}")
    many.losses = one.losses
    assert difference(many, one) <= BOUND["float64"]


def test_norms_and_held_out_losses(tools, alone):
    arguments, one, folder = alone("mlp", "float64", f"--batch={BATCH}", "--clip-norm=0.3")
    data = next(a for a in arguments if str(a).startswith("--data=")).removeprefix("--data=")
    held_out = [f"--evaluate={data}", "--evaluate-every=2"]
    many = train(tools, arguments, folder / "many.npz", "--ranks=3", *held_out)
    one = train(tools, arguments, folder / "one.npz", *held_out)
    many.losses = one.losses
    assert difference(many, one) <= BOUND["float64"]
    lines = [[line for line in run.text.splitlines() if "held-out" in line] for run in (many, one)]
    assert len(lines[1]) == STEPS // 2
    for a, b in zip(*lines):
        assert float(a.split()[-1]) == pytest.approx(float(b.split()[-1]), rel=1e-8)


def test_a_run_has_the_bits_of_another(tools, alone):
    """Three ranks, whose timing differs from run to run."""
    arguments, _, folder = alone("mlp", "float32", f"--batch={BATCH}")
    for algorithm in ("ring", "own"):
        runs = [train(tools, arguments, folder / f"{i}.npz", "--ranks=3", f"--algorithm={algorithm}") for i in range(3)]
        assert runs[0].bits() == runs[1].bits() == runs[2].bits()


def test_statistics_of_each_rank(tools, tmp_path):
    """As DistributedDataParallel, whose ranks normalize their own samples: the mean of the gradients of two batches of
    half the size."""
    arguments = [*write(tmp_path, "resnet", "float64"), *trained.OPTIMIZERS["momentum"][1], "--steps=5"]
    halves = train(tools, arguments, tmp_path / "halves.npz", "--batch=4", "--accumulate=2")
    local = train(tools, arguments, tmp_path / "local.npz", "--batch=8", "--ranks=2", "--batch-statistics=local")
    whole = train(tools, arguments, tmp_path / "whole.npz", "--batch=8", "--ranks=2")
    local.losses = whole.losses = halves.losses
    assert difference(local, halves) <= 1e-12
    assert difference(whole, halves) > 1e-3


def test_what_ranks_cannot_share_is_refused(tools, tmp_path):
    arguments = write(tmp_path, "mlp")
    out = f"--checkpoint={tmp_path / 'c.npz'}"
    for flags, message in [
            (["--batch=2", "--ranks=3"], "a batch of 2 samples is not one for 3 ranks"),
            (["--batch=6", "--zero=1"], "--zero says something of several ranks, and there is one; start it with mlc launch -n N, or give --ranks=N"),
            (["--batch=6", "--bucket-bytes=5"], "--bucket-bytes says something of several ranks, and there is one"),
            (["--batch=6", "--ranks=2", "--bucket-bytes=0"], "--bucket-bytes must be positive"),
            (["--batch=6", "--ranks=2", "--first-bucket-bytes=0"], "--first-bucket-bytes must be positive"),
            (["--batch=6", "--ranks=2", "--zero=4"], "--zero=4 is no stage; give 0, 1, 2 or 3"),
            (["--batch=6", "--ranks=2", "--algorithm=star"], "no algorithm 'star'; there are server"),
            (["--batch=6", "--ranks=2", "--bucket-bytes=-1"], "must be positive"),
            (["--batch=6", "--ranks=2", "--timeout=0"], "--timeout is a number of seconds"),
            (["--batch=7", "--ranks=2", "--batch-statistics=local"], "7 samples is not one of 2 groups of as many; give another --batch, or give --batch-statistics=global"),
            (["--batch=6", "--engine=inproc"], "say how many with --ranks=N"),
            (["--batch=7", "--ranks=2", "--memory-budget=1GB"], "only where all ranks have parts of one size"),
            (["--batch=6", "--ranks=300"], "300 ranks; the engine inproc takes 1 to 256")]:
        done = tools.mlc("train", *arguments, out, *flags)
        assert done.returncode not in (0, 1) and done.returncode < 64 and message in done.stderr, done.stderr
    done = tools.mlc("train", *arguments, out, "--batch=6", "--steps=1", "--zero=0", "--groups=1", "--algorithm=own")
    assert done.returncode == 0, done.stderr  # what one rank does anyway


def test_many_threads_end_at_once(tools, tmp_path):
    """Ranks wait two seconds for each other's last words: all at the same time."""
    start = time.monotonic()
    done = tools.mlc("train", *write(tmp_path, "mlp"), f"--checkpoint={tmp_path / 'c.npz'}", "--batch=2", "--ranks=40")
    assert "a batch of 2 samples is not one for 40 ranks" in done.stderr
    assert time.monotonic() - start < 20
