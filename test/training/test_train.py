"""`mlc train` beside PyTorch, and interrupted."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import torch_gradients
import trained

# How often a run is killed; measurements take more.
KILLS = int(os.environ.get("MLC_KILLS", "5"))
REFERENCE = json.loads((torch_gradients.HERE / "reference.json").read_text())


def write(folder, name):
    """The model and its samples; the arguments that say what is trained on what."""
    model, inputs, flags = trained.build(name)
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "data.npz", **trained.samples(inputs))
    return [folder / "model.onnx", *flags, f"--data={folder / 'data.npz'}", f"--seed={trained.SEED}"]


def losses(text):
    return [float(loss) for loss in re.findall(r"^step \d+  loss (\S+)$", text, re.M)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("optimizer", trained.OPTIMIZERS)
@pytest.mark.parametrize("name", trained.NETWORKS)
def test_losses_are_pytorchs(tools, tmp_path, name, optimizer):
    done = tools.mlc("train", *write(tmp_path, name), *trained.OPTIMIZERS[optimizer][1], f"--steps={trained.STEPS}",
                     "--log-every=1", f"--checkpoint={tmp_path / 'out.npz'}", "--checkpoint-every=1000")
    assert done.returncode == 0, done.stderr
    got, want = np.array(losses(done.stdout)), np.array(REFERENCE[name]["losses"][optimizer])
    assert got.shape == want.shape
    assert np.max(np.abs(got - want) / np.maximum(np.abs(want), 1e-2)) <= 1e-4, (got, want)


def arrays(path):
    with np.load(path) as file:
        return {name: file[name].tobytes() for name in file}


def test_interrupted_runs_end_alike(tools, tmp_path):
    """Killed at any moment, while a checkpoint is written too, and resumed until it is done."""
    arguments = [*write(tmp_path, "mlp"), "--optimizer=adamw", "--steps=4000", "--batch=9", "--threads=1"]
    whole, pieces = tmp_path / "whole.npz", tmp_path / "pieces.npz"
    assert tools.mlc("train", *arguments, f"--checkpoint={whole}").returncode == 0
    command = [tools.build / "bin/mlc", "train", *map(str, arguments), f"--checkpoint={pieces}",
               "--checkpoint-every=1", "--log-every=1", "--resume"]
    rng, kills = np.random.default_rng(5), 0
    for attempt in range(KILLS + 1):
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if attempt < KILLS:
            # Once it has compiled, some moment of its steps.
            while not run.stdout.readline().startswith("step"):
                assert run.poll() is None
            time.sleep(rng.uniform(0, 0.02))
            run.send_signal(signal.SIGKILL)
        run.communicate()
        kills += run.returncode == -signal.SIGKILL
    assert run.returncode == 0 and kills > 0
    print(kills, "killed")
    assert arrays(whole) == arrays(pieces)


def test_the_trained_model_is_written(tools, tmp_path):
    out = tmp_path / "out.onnx"
    done = tools.mlc("train", *write(tmp_path, "depthwise"), "--steps=5", "-o", out,
                     f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    assert "frozen:  low" in done.stdout
    before, after = onnx.load(tmp_path / "model.onnx"), onnx.load(out)
    checkpoint = np.load(tmp_path / "c.npz")
    changed = 0
    for old, new in zip(before.graph.initializer, after.graph.initializer):
        a, b = numpy_helper.to_array(old), numpy_helper.to_array(new)
        if f"weight/{old.name}" in checkpoint:
            assert np.array_equal(checkpoint[f"weight/{old.name}"], b)
            changed += not np.array_equal(a, b)
        else:
            assert np.array_equal(a, b)
    assert changed == 12
    assert after.graph.node == before.graph.node


def test_a_schedule_and_clipping(tools, tmp_path):
    """Against the same in NumPy: one weight, one number."""
    from graphs import model
    net = model([("Mul", ["x", "w"], ["y"], {})], [("x", [1, 1])], [("y", [1, 1])], {"w": np.array([[3]], np.float32)})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.array([[2]], np.float32), target=np.array([[1]], np.float32))
    done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--learning-rate=0.1",
                     "--schedule=cosine", "--warmup=2", "--clip-norm=4", "--steps=6", "--log-every=1",
                     f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    w, want = 3.0, []
    for step in range(6):
        want.append((2 * w - 1) ** 2)
        rate = 0.1 * (step + 1) / 2 if step < 2 else 0.05 * (1 + np.cos(np.pi * (step - 2) / 4))
        gradient = 4 * (2 * w - 1)
        w -= rate * gradient * min(1, 4 / (abs(gradient) + 1e-6))
    assert np.allclose(losses(done.stdout), want, rtol=1e-5)


def test_what_does_not_fit_is_named(tools, tmp_path):
    arguments = write(tmp_path, "mlp")
    checkpoint = f"--checkpoint={tmp_path / 'c.npz'}"

    def error(*more, of=arguments, code=2):
        done = tools.mlc("train", *of, *more)
        assert done.returncode == code, done.stderr
        return done.stderr

    assert "would be lost" in error()
    assert "no samples; give --data" in error(checkpoint, of=arguments[:1])
    assert "--resume needs --checkpoint" in error("--resume", "-o", tmp_path / "o.onnx")
    assert "--steps must be at least 1" in error(checkpoint, "--steps=0")
    assert "--momentum must be at least 0 and less than 1" in error(checkpoint, "--optimizer=momentum", "--momentum=1")
    assert "--momentum is of --optimizer=momentum" in error(checkpoint, "--momentum=0.5")
    assert "--nesterov is of --optimizer=momentum" in error(checkpoint, "--optimizer=adam", "--nesterov")
    assert "--beta1 is of --optimizer=adam or adamw" in error(checkpoint, "--beta1=0.5")
    assert "--clip-norm must be positive" in error(checkpoint, "--clip-norm=0")
    assert "--batch must be at least 1" in error(checkpoint, "--batch=0")
    assert "is both the checkpoint and the model" in error(checkpoint, "-o", tmp_path / "c.npz")
    assert "there is no folder" in error(checkpoint, "-o", tmp_path / "nowhere/o.onnx")
    assert "is a folder" in error("-o", tmp_path)
    assert "--learning-rate must be positive" in error(checkpoint, "--learning-rate=-1")
    assert "has no weight 'nothing'" in error(checkpoint, "--train=nothing")
    assert "nothing is trained" in error(checkpoint, "--freeze=*")
    assert "is no loss" in error(checkpoint, "--loss=output", code=4)
    assert "axis 5 of the classes" in error(checkpoint, "--class-axis=5", code=4)
    assert "'target' has 5 as its first dim, and a batch has 9 samples" in error(checkpoint, "--class-axis=0")
    assert "--epsilon must be positive" in error(checkpoint, "--optimizer=adam", "--epsilon=0")
    data = dict(np.load(tmp_path / "data.npz"))
    bad = tmp_path / "bad.npz"
    for change, message in [
            ({"x": data["x"].astype(np.float64)}, "is f64[27, 13]; a batch takes f32[9, 13]"),
            ({"x": data["x"][:, :-1]}, "is f32[27, 12]"),
            ({"target": data["target"] + 9}, "but there are 5 classes"),
            ({"target": data["target"][:9]}, "the array 'target' has 9 samples, and 'x' 27"),
            ({"x": np.where(np.arange(27)[:, None] == 4, np.nan, data["x"]).astype(np.float32)}, "'x' has NaN in sample 4"),
            ({"x": data["x"][:5], "target": data["target"][:5]}, "has 5 samples, and a batch takes 9"),
    ]:
        np.savez(bad, **{**data, **change})
        assert message in error(checkpoint, of=[*arguments[:2], f"--data={bad}"])
    np.savez(bad, x=data["x"])
    assert "has no array 'target'" in error(checkpoint, of=[*arguments[:2], f"--data={bad}"])
    bad.write_bytes((tmp_path / "data.npz").read_bytes()[:200])
    assert "bad.npz" in error(checkpoint, of=[*arguments[:2], f"--data={bad}"], code=3)
    assert not (tmp_path / "c.npz").exists()


def test_checkpoints_that_do_not_fit(tools, tmp_path):
    arguments = [*write(tmp_path, "mlp"), f"--checkpoint={tmp_path / 'c.npz'}", "--steps=3"]
    assert tools.mlc("train", *arguments).returncode == 0
    kept = (tmp_path / "c.npz").read_bytes()

    def error(*more, code):
        done = tools.mlc("train", *arguments, "--resume", *more)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stderr

    assert "was made with optimizer sgd, not optimizer adam" in error("--optimizer=adam", code=2)
    assert "was made with seed 7, not seed 8" in error("--seed=8", code=2)
    assert "was made with weight decay 0, not weight decay 0.5" in error("--weight-decay=0.5", code=2)
    assert "'weight/third.weight' was trained, and is not now" in error("--freeze=third.weight", code=2)
    assert "was written after step 3, and --steps=2 ends before" in error("--steps=2", code=2)
    assert (tmp_path / "c.npz").read_bytes() == kept
    for size in (0, 10, len(kept) // 2, len(kept) - 1):
        (tmp_path / "c.npz").write_bytes(kept[:size])
        assert "c.npz" in error("--steps=5", code=3)
    names = dict(np.load(tmp_path / "data.npz"))
    np.savez(tmp_path / "c.npz", **names)
    assert "is no checkpoint" in error("--steps=5", code=3)


def test_a_full_disk_keeps_the_old_checkpoint(tools, tmp_path):
    """A file may have no more bytes than half a checkpoint."""
    path = tmp_path / "c.npz"
    arguments = [*write(tmp_path, "mlp"), f"--checkpoint={path}"]
    assert tools.mlc("train", *arguments, "--steps=3").returncode == 0
    kept = path.read_bytes()

    def limit():
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * 1024 * 64, resource.RLIM_INFINITY))

    # Compiling needs files of its own, so only the checkpoint is made impossible: its folder takes none.
    if os.getuid() == 0:
        subprocess.run(["chattr", "+i", tmp_path], check=False, capture_output=True)
    try:
        (tmp_path / "probe").write_bytes(b"")
        pytest.skip("skipped: this file system has no immutable folders")
    except OSError:
        done = tools.mlc("train", *arguments, "--steps=6", "--resume", preexec_fn=limit)
    finally:
        subprocess.run(["chattr", "-i", tmp_path], check=False, capture_output=True)
    assert done.returncode != 0 and "c.npz" in done.stderr
    assert path.read_bytes() == kept


def test_a_loss_that_is_lost_ends_training(tools, tmp_path):
    done = tools.mlc("train", *write(tmp_path, "depthwise"), "--learning-rate=1e30", "--steps=20",
                     f"--checkpoint={tmp_path / 'c.npz'}", "--checkpoint-every=1")
    assert done.returncode == 5 and "is not a finite number; lower --learning-rate" in done.stderr


def test_dropout_draws_anew_in_each_step(tools, tmp_path):
    """And the same again after an interruption."""
    from graphs import model
    net = model([("Mul", ["x", "w"], ["m"], {}), ("Dropout", ["m", "ratio", "on"], ["y"], {"seed": 3})],
                [("x", [64, 4])], [("y", [64, 4])],
                {"w": np.ones(4, np.float32), "ratio": np.float32(0.5), "on": np.array(True)})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.ones((64, 4), np.float32), target=np.zeros((64, 4), np.float32))
    arguments = [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--learning-rate=1e-20",
                 "--log-every=1", f"--checkpoint={tmp_path / 'c.npz'}"]
    whole = tools.mlc("train", *arguments, "--steps=8")
    assert whole.returncode == 0, whole.stderr
    found = losses(whole.stdout)
    # Half of the elements is 2, the others are 0.
    assert len(set(found)) > 4 and all(1 < loss < 3 for loss in found)
    first = tools.mlc("train", *arguments, "--steps=3")
    rest = tools.mlc("train", *arguments, "--steps=8", "--resume")
    assert losses(first.stdout) + losses(rest.stdout) == found


def test_what_is_not_finite_is_not_kept(tools, tmp_path):
    """An update can lose what the loss before it has not."""
    from graphs import model
    net = model([("Mul", ["x", "w"], ["y"], {})], [("x", [2, 3])], [("y", [2, 3])], {"w": np.ones(3, np.float32)})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.full((2, 3), 1e30, np.float32), target=np.zeros((2, 3), np.float32))
    arguments = [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--learning-rate=1e30",
                 f"--checkpoint={tmp_path / 'c.npz'}", "-o", tmp_path / "o.onnx"]
    for data in (1e10, 1e15):
        np.savez(tmp_path / "d.npz", x=np.full((2, 3), data, np.float32), target=np.zeros((2, 3), np.float32))
        done = tools.mlc("train", *arguments, "--steps=1")
        assert done.returncode == 5 and "'weight/w' is not finite after step 1, and nothing is written" in done.stderr
        assert not (tmp_path / "c.npz").exists() and not (tmp_path / "o.onnx").exists()


def test_labels_that_do_not_count(tools, tmp_path):
    arguments = write(tmp_path, "mlp")
    data = dict(np.load(tmp_path / "data.npz"))
    np.savez(tmp_path / "data.npz", x=data["x"], target=np.full_like(data["target"], -1))
    done = tools.mlc("train", *arguments, "--steps=2", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 5 and "all labels of its batch are negative" in done.stderr


def test_what_samples_cannot_be_trained_on_is_said_of_them(tools, tmp_path):
    """And nothing is compiled for it; the rate is not to blame."""
    from graphs import model
    nodes = [("Mul", ["x", "w"], ["y"], {})]
    net = model(nodes, [("x", ["N", 3])], [("y", ["N", 3])], {"w": np.ones(3, np.float32)})
    onnx.save(net, tmp_path / "m.onnx")
    x = np.ones((8, 3), np.float32)
    np.savez(tmp_path / "d.npz", x=x, target=x)
    arguments = [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=4",
                 f"--checkpoint={tmp_path / 'c.npz'}"]
    done = tools.mlc("train", *arguments)
    assert done.returncode == 2 and "'x' leaves open how many samples a batch has (N); give --batch=NUMBER" in done.stderr
    x[5, 1] = np.inf
    np.savez(tmp_path / "d.npz", x=x, target=np.ones_like(x))
    done = tools.mlc("train", *arguments, "--batch=4")
    assert done.returncode == 5 and "d.npz: 'x' of sample 5 is not finite; leave such samples out" in done.stderr
    # A model may ask for NaN.
    x[5, 1] = np.nan
    np.savez(tmp_path / "d.npz", x=x, target=np.ones_like(x))
    assert "'x' has NaN in sample 5" in tools.mlc("train", *arguments, "--batch=4").stderr
    nodes = [("IsNaN", ["x"], ["n"], {}), ("Where", ["n", "zero", "x"], ["k"], {}), ("Mul", ["k", "w"], ["y"], {})]
    onnx.save(model(nodes, [("x", ["N", 3])], [("y", ["N", 3])], {"w": np.ones(3, np.float32), "zero": np.float32(0)}),
              tmp_path / "m.onnx")
    done = tools.mlc("train", *arguments, "--batch=4")
    assert done.returncode == 0, done.stderr


def test_weights_that_the_loss_does_not_read_stay(tools, tmp_path):
    """Whatever the weight decay; and weights that an exporter has merged are named."""
    from graphs import model
    ones = np.ones(3, np.float32)
    net = model([("Identity", ["a.scale"], ["b.scale"], {}), ("Mul", ["x", "a.scale"], ["m"], {}), ("Mul", ["m", "b.scale"], ["n"], {}),
                 ("Add", ["n", "shift"], ["o"], {}), ("Sub", ["o", "shift"], ["y"], {}), ("Mul", ["x", "other"], ["z"], {})],
                [("x", [2, 3])], [("y", [2, 3]), ("z", [2, 3])], {"a.scale": ones, "shift": ones * 0, "other": ones * 5})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.ones((2, 3), np.float32), target=np.zeros((2, 3), np.float32))
    done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=3", "--optimizer=adamw",
                     "--weight-decay=0.5", "--learning-rate=0.1", "-o", tmp_path / "t.onnx")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^frozen:  other +the loss does not depend on it$", done.stdout, re.M), done.stdout
    assert "the weight 'a.scale', also called 'b.scale' is read by 2 nodes, and all its elements are equal" in done.stderr
    assert "the weight 'shift' is read by 2 nodes" in done.stderr and "'other'" not in done.stderr
    after = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(tmp_path / "t.onnx").graph.initializer}
    assert (after["other"] == 5).all() and (after["a.scale"] < 0.9).all()
    done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--train=other", "-o", tmp_path / "t.onnx")
    assert done.returncode == 2 and "nothing is trained: the loss depends on no weight that may change" in done.stderr


def test_a_batch_has_one_size(tools, tmp_path):
    from graphs import model
    net = model([("Mul", ["x", "w"], ["y"], {})], [("x", ["N", 3])], [("y", ["N", 3])], {"w": np.ones(3, np.float32)})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.ones((8, 3), np.float32), target=np.zeros((8, 3), np.float32))
    arguments = [tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=1",
                 f"--checkpoint={tmp_path / 'c.npz'}", "--batch=2"]
    done = tools.mlc("train", *arguments, "--dim=N=4")
    assert done.returncode == 2 and "--dim=N=4 is another size than --batch=2" in done.stderr
    assert tools.mlc("train", *arguments, "--dim=N=2").returncode == 0


def test_a_double_is_trained_as_one(tools, tmp_path):
    from graphs import model
    double = onnx.TensorProto.DOUBLE
    net = model([("Mul", ["x", "w"], ["y"], {})], [("x", [1, 1], double)], [("y", [1, 1], double)],
                {"w": np.array([[3.0]])})
    onnx.save(net, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.array([[2.0]]), target=np.array([[1.0]]))
    done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=1",
                     "--learning-rate=0.1", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    assert abs(np.load(tmp_path / "c.npz")["weight/w"][0, 0] - (3 - 0.1 * 4 * 5)) < 1e-15
