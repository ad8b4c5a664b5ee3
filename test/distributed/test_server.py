"""Training by a parameter server: what one rank does, and workers that run ahead no further than they may."""

import re
import subprocess

import numpy as np
import onnx
import pytest

from graphs import model

import trained
from networks import FULL, Trained, difference, train, write
from test_processes import LAUNCHERS, launch

STEPS = 5
SERVER = "--algorithm=server"


def lead(run):
    return int(re.search(r"^staleness: at most (\d+) steps$", run.text, re.M)[1])


def same(many, one, bound=1e-12):
    np.testing.assert_allclose(many.losses, one.losses, rtol=2e-9)
    many.losses = one.losses
    assert difference(many, one) <= bound
    assert lead(many) == 0


@pytest.mark.parametrize("name,ranks", [(name, ranks) for name in ([name for name in trained.NETWORKS if name != "resnet"] if FULL else ["mlp", "gpt"])
                                        for ranks in ((2, 3, 4) if FULL or name == "mlp" else (3,))])
def test_without_staleness_it_is_one_rank(tools, tmp_path, name, ranks):
    """Of 7 samples workers have different numbers."""
    arguments = [*write(tmp_path, name, "float64"), *trained.OPTIMIZERS["momentum"][1], "--batch=7", f"--steps={STEPS}"]
    one = train(tools, arguments, tmp_path / "one.npz")
    many = train(tools, arguments, tmp_path / "many.npz", f"--ranks={ranks}", SERVER)
    same(many, one)
    # The server has weights, a sum of gradients and what the optimizer keeps, a worker weights and its gradients.
    assert len(set(many.state_bytes[:-1])) == 1 and many.state_bytes[-1] == 3 * many.state_bytes[0] // 2
    # A worker pushes gradients of half its states, and two numbers; the server sends as much to each.
    assert many.sent == [many.state_bytes[0] // 2 + 16] * (ranks - 1) + [(ranks - 1) * (many.state_bytes[0] // 2 + 16)]


def labelled(folder):
    """Samples of which few have a label that counts, and unequally many in each worker's part."""
    arguments = write(folder, "gpt", "float64")
    with np.load(folder / "gpt.npz") as file:
        arrays = dict(file)
    rng = np.random.default_rng(5)
    target = arrays["target"]
    target[rng.random(target.shape) < 0.7] = -1
    target[::3] = -1
    np.savez(folder / "gpt.npz", **arrays)
    return arguments


@pytest.mark.parametrize("flags", [["--batch=5"], ["--batch=4", "--accumulate=3"], ["--batch=6", "--clip-norm=0.1"]])
def test_labels_that_do_not_count(tools, tmp_path, flags):
    arguments = [*labelled(tmp_path), *trained.OPTIMIZERS["momentum"][1], *flags, f"--steps={STEPS}"]
    same(train(tools, arguments, tmp_path / "many.npz", "--ranks=4", SERVER),
         train(tools, arguments, tmp_path / "one.npz"))


def test_statistics_of_each_worker(tools, tmp_path):
    """The mean of the gradients of two batches of half the size (test_data_parallel.py)."""
    arguments = [*write(tmp_path, "resnet", "float64"), *trained.OPTIMIZERS["momentum"][1], f"--steps={STEPS}"]
    halves = train(tools, arguments, tmp_path / "halves.npz", "--batch=4", "--accumulate=2")
    local = train(tools, arguments, tmp_path / "local.npz", "--batch=8", "--ranks=3", SERVER, "--batch-statistics=local")
    same(local, halves)


def test_a_run_goes_on_with_a_server_or_without(tools, tmp_path):
    """Losses of held-out samples and the written model are the server's."""
    arguments = [*write(tmp_path, "mlp", "float64"), *trained.OPTIMIZERS["adamw"][1], "--batch=9", "--warmup=7"]
    data = next(a for a in arguments if str(a).startswith("--data=")).removeprefix("--data=")
    held_out = [f"--evaluate={data}", "--evaluate-every=3", "--steps=9"]
    one = train(tools, arguments, tmp_path / "one.npz", *held_out, "-o", tmp_path / "one.onnx")
    train(tools, arguments, tmp_path / "c.npz", "--steps=3", "--ranks=3", SERVER)
    train(tools, arguments, tmp_path / "c.npz", "--steps=6", "--resume")
    many = train(tools, arguments, tmp_path / "c.npz", *held_out, "--resume", "--ranks=4", SERVER, "-o",
                 tmp_path / "many.onnx")
    assert "resumed: after step 6\n" in many.text
    one.losses = one.losses[6:]
    same(many, one, 1e-11)
    lines = [[line for line in run.text.splitlines() if "held-out" in line] for run in (many, one)]
    assert len(lines[0]) == 1 and len(lines[1]) == 3
    assert float(lines[0][0].split()[-1]) == pytest.approx(float(lines[1][-1].split()[-1]), rel=1e-8)
    for a, b in zip(*(onnx.load(tmp_path / f"{which}.onnx").graph.initializer for which in ("one", "many"))):
        np.testing.assert_allclose(onnx.numpy_helper.to_array(a), onnx.numpy_helper.to_array(b), rtol=1e-9, atol=1e-12)


def test_a_scaled_loss(tools, tmp_path):
    """Gradients of float16 that become infinite at first: the server halves the scale and tells the workers."""
    arguments = [*write(tmp_path, "mlp"), "--batch=9", f"--steps={STEPS}", "--autocast=f16", "--loss-scale=dynamic"]
    one = train(tools, arguments, tmp_path / "one.npz")
    for staleness in (0, 2):
        many = train(tools, arguments, tmp_path / "many.npz", "--ranks=3", SERVER, f"--staleness={staleness}")
        np.testing.assert_allclose(many.losses, one.losses, rtol=2e-2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_with_staleness_it_trains_on(tools, tmp_path, optimizer):
    """As many small steps as workers come to what one step of SGD is, to a first order. Adam divides by the size of what
    each worker has."""
    arguments = [*write(tmp_path, "mlp", "float64"), f"--optimizer={optimizer}", "--learning-rate=0.003", "--batch=8",
                 "--steps=60"]
    one = train(tools, arguments, tmp_path / "one.npz")
    many = train(tools, arguments, tmp_path / "many.npz", "--ranks=5", SERVER, "--staleness=2")
    assert lead(many) <= 2
    assert len(many.losses) == 60 and many.losses[-10:].mean() < 0.9 * many.losses[:10].mean()
    if optimizer == "sgd":
        np.testing.assert_allclose(many.losses, one.losses, rtol=0.1)


@pytest.mark.parametrize("engine", LAUNCHERS)
def test_processes(tools, tmp_path, engine):
    arguments = [*write(tmp_path, "mlp", "float64"), "--optimizer=adamw", "--batch=8", f"--steps={STEPS}"]
    one = train(tools, arguments, tmp_path / "one.npz")
    out = tmp_path / "processes.npz"
    done = launch(tools, engine, 3, *arguments, f"--checkpoint={out}", SERVER)
    assert done.returncode == 0, done.stderr
    same(Trained(done, out), one)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_a_slow_worker_is_waited_for(tools, tmp_path, staleness):
    """Rank 0's link takes its time; the others are as far ahead as they may be, and no further."""
    if not (tools.build / "lib" / LAUNCHERS["gloo"][0]).exists():
        pytest.skip("there is no engine gloo")
    arguments = write(tmp_path, "mlp")
    mlc = str(tools.build / "bin/mlc")
    script = 'test "$RANK" != 0 || export MLC_LINK_LATENCY=0.1; exec "$@"'
    out = tmp_path / "c.npz"
    done = subprocess.run([mlc, "launch", "-n", "4", "sh", "-c", script, "sh", mlc, "train", *map(str, arguments), "--batch=9",
                           "--steps=12", "--threads=1", SERVER, f"--staleness={staleness}", f"--checkpoint={out}"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    run = Trained(done, out)
    assert lead(run) == staleness and len(run.losses) == 12


def normalized(folder):
    ones = np.ones(3, np.float32)
    onnx.save(model([("BatchNormalization", ["x", "scale", "bias", "mean", "var"], ["y"], {})], [("x", ["N", 3, 2])],
                    [("y", ["N", 3, 2])], {"scale": ones, "bias": ones, "mean": ones, "var": ones}), folder / "n.onnx")
    np.savez(folder / "n.npz", **{name: np.ones((12, 3, 2), np.float32) for name in ("x", "target")})
    return [folder / "n.onnx", "--loss=mse", f"--data={folder / 'n.npz'}", "--training-form"]


def test_what_a_server_cannot_do_is_refused(tools, tmp_path):
    mlp, resnet, normed = write(tmp_path, "mlp"), write(tmp_path, "resnet"), normalized(tmp_path)
    out = f"--checkpoint={tmp_path / 'c.npz'}"
    for arguments, flags, message in [
            (mlp, [SERVER, "--zero=1"], "--zero is not taken beside --algorithm=server"),
            (mlp, [SERVER, "--bucket-bytes=1"], "--bucket-bytes is not taken beside --algorithm=server"),
            (mlp, [SERVER, "--staleness=-1"], "--staleness counts from 0"),
            (mlp, ["--staleness=1"], "--staleness is of --algorithm=server"),
            (mlp, [SERVER, "--keep-half"], "--keep-half is not taken beside --algorithm=server"),
            (normed, [SERVER], "moves 'mean' by statistics of batches, of which a server sees nothing; give --freeze=mean, or give --algorithm=colocated"),
            (resnet, [SERVER], "needs something of all samples of a batch"),
            (mlp, [SERVER, "--batch=2", "--ranks=4"], "a batch of 2 samples is not one for 3 ranks")]:
        flags = flags if "--ranks=4" in flags else [*flags, "--batch=6", "--ranks=3"]
        done = tools.mlc("train", *arguments, out, *flags)
        assert done.returncode in (2, 4) and message in done.stderr, (flags, done.stderr)
    done = tools.mlc("train", *mlp, out, SERVER, "--batch=6")
    assert "--algorithm says something of several ranks, and there is one" in done.stderr


@pytest.mark.parametrize("staleness", [0, 2])
def test_a_full_disk_of_the_server_ends_all(tools, tmp_path, staleness):
    done = tools.mlc("train", *write(tmp_path, "mlp"), "--batch=8", "--steps=6", "--checkpoint-every=2", "--ranks=4", SERVER,
                     f"--staleness={staleness}", "--checkpoint=/dev/full", timeout=120)
    assert done.returncode != 0 and done.stderr.count("mlc: error:") == 1, done.stderr
