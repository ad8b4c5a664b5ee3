"""Steps of several batches, held-out samples, and what training takes."""

import re

import numpy as np
import onnx
import pytest
from graphs import model

RNG = np.random.default_rng(11)
SAMPLES, BATCH = 24, 4
WEIGHTS = {"w": RNG.normal(size=(5, 6)).astype(np.float32), "b": RNG.normal(size=6).astype(np.float32),
           "v": RNG.normal(size=(6, 3)).astype(np.float32)}
X = RNG.normal(size=(SAMPLES, 5)).astype(np.float32)
TARGET = RNG.normal(size=(SAMPLES, 3)).astype(np.float32)
OPTIMIZERS = {
    "sgd": ["--optimizer=sgd", "--learning-rate=0.1"],
    "clipped": ["--optimizer=momentum", "--learning-rate=0.05", "--clip-norm=0.5"],
    "adamw": ["--optimizer=adamw", "--learning-rate=0.01", "--weight-decay=0.1"],
}


def write(folder, dropout=False):
    nodes = [("MatMul", ["x", "w"], ["p"], {}), ("Add", ["p", "b"], ["q"], {}), ("Tanh", ["q"], ["h"], {})]
    weights = dict(WEIGHTS)
    if dropout:
        nodes.append(("Dropout", ["h", "ratio", "on"], ["d"], {"seed": 3}))
        weights |= {"ratio": np.float32(0.5), "on": np.array(True)}
    nodes.append(("MatMul", ["d" if dropout else "h", "v"], ["y"], {}))
    onnx.save(model(nodes, [("x", ["N", 5])], [("y", ["N", 3])], weights), folder / "m.onnx")
    np.savez(folder / "d.npz", x=X, target=TARGET)
    return [folder / "m.onnx", "--loss=mse", f"--data={folder / 'd.npz'}", "--log-every=1", "--seed=5"]


def train(tools, arguments, checkpoint, *more):
    done = tools.mlc("train", *arguments, f"--checkpoint={checkpoint}", *more)
    assert done.returncode == 0, done.stderr
    losses = [float(x) for x in re.findall(r"^step \d+  loss (\S+)$", done.stdout, re.M)]
    with np.load(checkpoint) as file:
        return losses, {name: file[name] for name in file if name not in ("step", "settings")}, done


def gradients(w, x, target):
    """Of the mean of the squares, in double precision."""
    h = np.tanh(x @ w["w"] + w["b"])
    y = h @ w["v"]
    dy = 2 * (y - target) / y.size
    dq = dy @ w["v"].T * (1 - h * h)
    return ((y - target) ** 2).mean(), {"w": x.T @ dq, "b": dq.sum(0), "v": h.T @ dy}


def test_a_step_of_all_samples(tools, tmp_path):
    """Against the same in NumPy: six batches are all there are, in whatever order."""
    losses, weights, _ = train(tools, write(tmp_path), tmp_path / "c.npz", "--optimizer=momentum", "--learning-rate=0.1",
                               f"--batch={BATCH}", f"--accumulate={SAMPLES // BATCH}", "--steps=5")
    w = {k: v.astype(np.float64) for k, v in WEIGHTS.items()}
    velocity = {k: 0 for k in w}
    for loss in losses:
        want, g = gradients(w, X.astype(np.float64), TARGET)
        assert loss == pytest.approx(want, rel=1e-5)
        velocity = {k: 0.9 * velocity[k] + g[k] for k in w}
        w = {k: w[k] - 0.1 * velocity[k] for k in w}
    assert len(losses) == 5
    for k in w:
        np.testing.assert_allclose(weights[f"weight/{k}"], w[k], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(weights[f"momentum/{k}"], velocity[k], rtol=1e-4, atol=1e-5)


def test_losses_and_weights_are_pytorchs(tools, tmp_path):
    """Of six steps of PyTorch 2.15, each of `(loss / 6).backward()` for six batches, clip_grad_norm_(0.5) and AdamW."""
    losses, weights, _ = train(tools, write(tmp_path), tmp_path / "c.npz", *OPTIMIZERS["adamw"], "--clip-norm=0.5",
                               f"--batch={BATCH}", f"--accumulate={SAMPLES // BATCH}", "--steps=6")
    np.testing.assert_allclose(losses, [2.4128798, 2.3033559, 2.1979509, 2.0967568, 1.999823, 1.9071822], rtol=1e-6)
    for name, want in {"w": 21.65493, "b": 3.255831, "v": 13.165195}.items():
        assert np.abs(weights[f"weight/{name}"].astype(np.float64)).sum() == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_batches_together_are_a_large_one(tools, tmp_path, optimizer):
    arguments = [*write(tmp_path), *OPTIMIZERS[optimizer], "--steps=7"]
    one = train(tools, arguments, tmp_path / "1.npz", "--batch=12")
    three = train(tools, arguments, tmp_path / "3.npz", "--batch=4", "--accumulate=3")
    np.testing.assert_allclose(one[0], three[0], rtol=1e-4)
    assert one[1].keys() == three[1].keys() and len(one[1]) >= 3
    for name, value in one[1].items():
        np.testing.assert_allclose(value, three[1][name], rtol=2e-3, atol=1e-5, err_msg=name)


def test_labels_that_count_weigh_alike(tools, tmp_path):
    """However they are distributed: some batches have few, and one of three none. So do those of held-out samples."""
    onnx.save(model([("MatMul", ["x", "w"], ["p"], {}), ("Tanh", ["p"], ["h"], {}), ("MatMul", ["h", "v"], ["y"], {})],
                    [("x", ["N", 5])], [("y", ["N", 3])], {"w": WEIGHTS["w"], "v": WEIGHTS["v"]}), tmp_path / "m.onnx")
    labels = np.where(np.arange(SAMPLES) % 3 == 0, np.arange(SAMPLES) % 2, -1)
    arguments = [tmp_path / "m.onnx", "--loss=cross-entropy", "--log-every=1", f"--data={tmp_path / 'd.npz'}",
                 f"--evaluate={tmp_path / 'd.npz'}", "--evaluate-every=6", *OPTIMIZERS["adamw"], "--steps=6"]
    np.savez(tmp_path / "d.npz", x=X, target=labels)
    one = train(tools, arguments, tmp_path / "1.npz", "--batch=12")
    for more in (["--accumulate=6"], ["--accumulate=3", "--ranks=2"]):
        size = 12 // int(more[0].split("=")[1])
        many = train(tools, arguments, tmp_path / "m.npz", f"--batch={size}", *more)
        np.testing.assert_allclose(one[0], many[0], rtol=1e-4)
        for name, value in one[1].items():
            np.testing.assert_allclose(value, many[1][name], rtol=2e-3, atol=1e-5, err_msg=name)
        held_out = [float(re.search(r"held-out loss (\S+)", run[2].stdout)[1]) for run in (one, many)]
        assert held_out[1] == pytest.approx(held_out[0], rel=1e-4)
    np.savez(tmp_path / "d.npz", x=X, target=np.full(SAMPLES, -1))
    done = tools.mlc("train", *arguments, f"--checkpoint={tmp_path / 'n.npz'}", "--batch=2", "--accumulate=6")
    assert done.returncode == 5 and "all labels of its batches are negative" in done.stderr


def test_interrupted_between_steps(tools, tmp_path):
    """To the same bits, random numbers among them."""
    arguments = [*write(tmp_path, dropout=True), *OPTIMIZERS["adamw"], "--batch=4", "--accumulate=3"]
    whole = train(tools, arguments, tmp_path / "w.npz", "--steps=9")
    first = train(tools, arguments, tmp_path / "p.npz", "--steps=4")
    rest = train(tools, arguments, tmp_path / "p.npz", "--steps=9", "--resume")
    assert first[0] + rest[0] == whole[0]
    assert all(value.tobytes() == rest[1][name].tobytes() for name, value in whole[1].items())
    done = tools.mlc("train", *arguments[:-1], "--steps=12", f"--checkpoint={tmp_path / 'p.npz'}", "--resume")
    assert done.returncode == 2 and "was made with accumulated batches 3; go on as it was" in done.stderr, done.stderr
    done = tools.mlc("train", *arguments[:-1], "--accumulate=4", "--steps=12", f"--checkpoint={tmp_path / 'p.npz'}", "--resume")
    assert done.returncode == 2 and "with accumulated batches 3, not accumulated batches 4" in done.stderr, done.stderr
    train(tools, arguments[:-1], tmp_path / "one.npz", "--steps=1")
    done = tools.mlc("train", *arguments, "--steps=12", f"--checkpoint={tmp_path / 'one.npz'}", "--resume")
    assert done.returncode == 2 and "was made without accumulated batches 3" in done.stderr, done.stderr


def test_held_out_samples(tools, tmp_path):
    arguments = [*write(tmp_path), *OPTIMIZERS["sgd"], "--batch=4"]
    np.savez(tmp_path / "e.npz", x=X[:11] * 2, target=TARGET[:11])
    for more in ([], ["--accumulate=2"]):
        plain = train(tools, arguments, tmp_path / "c.npz", "--steps=6", *more)
        losses, weights, done = train(tools, arguments, tmp_path / "h.npz", "--steps=6", *more,
                                      f"--evaluate={tmp_path / 'e.npz'}", "--evaluate-every=4")
        # Looking at others changes nothing.
        assert losses == plain[0]
        assert all(value.tobytes() == plain[1][name].tobytes() for name, value in weights.items())
        found = re.findall(r"^step (\d+)  held-out loss (\S+)$", done.stdout, re.M)
        assert [step for step, _ in found] == ["4", "6"]
        # Two whole batches of the eleven, drawn by the order of an epoch.
        w = {k.removeprefix("weight/"): v.astype(np.float64) for k, v in weights.items()}
        each = ((np.tanh(X[:11].astype(np.float64) * 2 @ w["w"] + w["b"]) @ w["v"] - TARGET[:11]) ** 2).mean(1)
        lowest, highest = np.sort(each)[:8].mean(), np.sort(each)[3:].mean()
        assert lowest * 0.999 <= float(found[-1][1]) <= highest * 1.001
    np.savez(tmp_path / "e.npz", x=X[:8], target=TARGET[:8])
    _, weights, done = train(tools, arguments, tmp_path / "h.npz", "--steps=6", f"--evaluate={tmp_path / 'e.npz'}")
    loss, _ = gradients({k.removeprefix("weight/"): v.astype(np.float64) for k, v in weights.items()}, X[:8], TARGET[:8])
    assert float(re.search(r"step 6  held-out loss (\S+)", done.stdout)[1]) == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("more", [[], ["--accumulate=3"]])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_steps_allocate_nothing_and_keep_weights_once(tools, tmp_path, optimizer, more):
    _, values, done = train(tools, write(tmp_path), tmp_path / "c.npz", *OPTIMIZERS[optimizer], "--batch=4", "--steps=9", *more)
    states, step, least, allocations = re.search(
        r"^memory: (\S+) MB of states, (\S+) MB for a step \(at least (\S+) MB in this order\); "
        r"(\d+) allocations after the first step$", done.stderr, re.M).groups()
    assert allocations == "0" and float(least) <= float(step)
    bytes = sum(value.nbytes for value in values.values())
    if more:
        bytes += sum(value.nbytes for name, value in values.items() if name.startswith("weight/"))
    assert float(states) == pytest.approx(bytes / 2**20, abs=0.006)


def test_wrong_numbers(tools, tmp_path):
    arguments = [*write(tmp_path), "--batch=4", f"--checkpoint={tmp_path / 'c.npz'}"]

    def error(*more, code=2):
        done = tools.mlc("train", *arguments, *more)
        assert done.returncode == code, done.stderr
        return done.stderr

    assert "--accumulate must be at least 1" in error("--accumulate=0")
    assert "--evaluate-every must be at least 1" in error("--evaluate-every=0", f"--evaluate={tmp_path / 'd.npz'}")
    assert "--evaluate-every needs --evaluate" in error("--evaluate-every=3")
    np.savez(tmp_path / "e.npz", x=X[:3], target=TARGET[:3])
    assert "has 3 samples, and a batch takes 4" in error(f"--evaluate={tmp_path / 'e.npz'}")
    (tmp_path / "c.npz").write_bytes((tmp_path / "d.npz").read_bytes())
    assert "c.npz" in error(f"--evaluate={tmp_path / 'c.npz'}")
    assert (tmp_path / "c.npz").read_bytes() == (tmp_path / "d.npz").read_bytes()
