"""Pipelines that update weights while micro-batches are under way, beside delayed weights in numpy and in PyTorch."""

import json
import pathlib
import re
import subprocess

import delayed
import graphs
import mlc
import numpy as np
import onnx
import pytest

import trained
from rank_threads import on_threads

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = ROOT / ".torch/bin/python"
SAMPLES, BATCHES, STEPS, RATE = 3, 12, 2, 0.01


def model(dtype):
    kind = onnx.TensorProto.DOUBLE if dtype == np.float64 else onnx.TensorProto.FLOAT
    made = graphs.model(delayed.nodes(), [("x", [SAMPLES, delayed.INPUTS], kind)], [("y", [SAMPLES, delayed.OUTPUTS], kind)],
                        delayed.weights(dtype=dtype))
    for node in made.graph.node:
        node.name = node.output[0]
    return made


def samples(dtype, batches=BATCHES):
    rng = np.random.default_rng(4)
    shape = (STEPS, batches, SAMPLES)
    return rng.normal(size=(*shape, delayed.INPUTS)).astype(dtype), rng.normal(size=(*shape, delayed.OUTPUTS)).astype(dtype)


def plan(stages, schedule, batches=BATCHES, **more):
    ends = [{"until": f"h{first - 1}"} for first in delayed.layers_of(stages)[1:]]
    return {"mesh": {"data": 1, "stage": stages}, "stages": [*ends, {}], "schedule": schedule, "accumulate": batches, **more}


def train(tools, folder, stages, own, data, dtype=np.float64, optimizer="sgd", ranks=None):
    """The weights and the losses of a pipeline's steps."""
    onnx.save(model(dtype), folder / "m.onnx")
    (folder / "plan.json").write_text(json.dumps(own))
    done = tools.mlc("train", folder / "m.onnx", "--loss=mse", f"--optimizer={optimizer}", f"--plan={folder / 'plan.json'}",
                     f"--artifact={folder / 'm.mlca'}")
    assert done.returncode == 0, done.stderr
    artifact = mlc.load(folder / "m.mlca")

    def work(rank):
        trainer = mlc.Trainer(artifact, learning_rate=RATE, ranks=rank, threads=1)
        losses = [trainer.step([{"x": x, "target": t} for x, t in zip(*step)]) for step in zip(*data)]
        trainer.save(folder / "trained.npz")
        return losses

    found = on_threads(ranks or stages, work)
    assert all(one == found[0] for one in found)
    with np.load(folder / "trained.npz") as file:
        return {key.removeprefix("weight/"): file[key] for key in file if key.startswith("weight/")}, found[0]


def assert_equal(found, wanted, tolerance):
    assert found[0].keys() == wanted[0].keys()
    for name, value in wanted[0].items():
        np.testing.assert_allclose(found[0][name], value, rtol=0, atol=tolerance * np.abs(value).max(), err_msg=name)
    np.testing.assert_allclose(found[1], wanted[1], rtol=tolerance)


def steps_of(data):
    return [list(zip(*step)) for step in zip(*data)]


@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_pipedream(tools, tmp_path, stages, optimizer):
    data = samples(np.float64)
    found = train(tools, tmp_path, stages, plan(stages, "pipedream"), data, optimizer=optimizer)
    wanted = delayed.run(delayed.weights(), steps_of(data), stages, delayed.Optimizer(optimizer, RATE), delayed.pipedream(stages))
    assert_equal(found, wanted, 1e-10)
    # Weights that are not delayed are others.
    other = delayed.run(delayed.weights(), steps_of(data), stages, delayed.Optimizer(optimizer, RATE), lambda stage, k: k)
    with pytest.raises(AssertionError):
        assert_equal(found, other, 1e-5)


@pytest.mark.parametrize("stages, every", [(2, 2), (3, 3), (3, 2), (4, 6)])
def test_pipedream_2bw(tools, tmp_path, stages, every):
    data = samples(np.float64)
    found = train(tools, tmp_path, stages, plan(stages, "pipedream-2bw", update_every=every), data, optimizer="adam")
    wanted = delayed.run(delayed.weights(), steps_of(data), stages, delayed.Optimizer("adam", RATE), delayed.two_buffered(every),
                         every=every)
    assert_equal(found, wanted, 1e-10)


def versions_of(table):
    """The version that F, and B, of a stage reads for a micro-batch."""
    found = {(kind, int(stage), int(k)): int(version)
             for stage, kind, k, version in re.findall(r"(\d+)([FB])(\d+)@(\d+)", table)}
    return [lambda stage, k, kind=kind: found[kind, stage, k] for kind in "FB"]


@pytest.mark.parametrize("stages, every, flying", [(3, 1, 2), (3, 5, 3), (4, 2, 6)])
def test_ampnet(tools, tmp_path, stages, every, flying):
    """What is left at the end makes an update, too."""
    data = samples(np.float64)
    own = plan(stages, "ampnet", update_every=every, in_flight=flying)
    found = train(tools, tmp_path, stages, own, data, optimizer="momentum")
    table = tools.mlc("schedule", "ampnet", f"--stages={stages}", f"--micro-batches={BATCHES}", f"--update-every={every}",
                      f"--in-flight={flying}", "--csv").stdout
    wanted = delayed.run(delayed.weights(), steps_of(data), stages, delayed.Optimizer("momentum", RATE), *versions_of(table), every=every)
    assert_equal(found, wanted, 1e-10)


def test_ampnet_with_one_micro_batch_is_sgd(tools, tmp_path):
    data = samples(np.float32)
    found = train(tools, tmp_path, 3, plan(3, "ampnet", update_every=1, in_flight=1), data, dtype=np.float32)
    trainer = mlc.Trainer(model(np.float32), loss="mse", learning_rate=RATE, plan={"mesh": {"data": 1}, "stages": plan(3, "")["stages"]})
    for x, target in (one for step in steps_of(data) for one in step):
        trainer.step({"x": x, "target": target})
    trainer.save(tmp_path / "one.npz")
    with np.load(tmp_path / "one.npz") as one:
        for name, value in found[0].items():
            np.testing.assert_array_equal(value, one[f"weight/{name}"], name)


@pytest.mark.skipif(not TORCH.exists(), reason="no PyTorch; see requirements-torch.txt")
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 1e-5)])
@pytest.mark.parametrize("stages, every, optimizer", [(2, 1, "momentum"), (3, 1, "adam"), (4, 1, "momentum"), (4, 1, "adam"), (2, 2, "momentum"),
                                                      (4, 3, "adam")])
def test_pytorch(tools, tmp_path, stages, every, optimizer, dtype, tolerance):
    data = samples(dtype)
    np.savez(tmp_path / "task.npz", stages=stages, every=every, adam=optimizer == "adam", rate=RATE, two_buffered=every > 1, x=data[0],
             target=data[1], **delayed.weights(dtype=dtype))
    subprocess.run([TORCH, ROOT / "test/training/torch_delayed.py", tmp_path / "task.npz", tmp_path / "result.npz"], check=True)
    with np.load(tmp_path / "result.npz") as file:
        wanted = {name: file[name] for name in file if name != "loss"}, file["loss"]
    own = plan(stages, "pipedream-2bw", update_every=every) if every > 1 else plan(stages, "pipedream")
    assert_equal(train(tools, tmp_path, stages, own, data, dtype=dtype, optimizer=optimizer), wanted, tolerance)


def command_line(folder, *flags):
    """A model with labels, some of which do not count, beside batches of one kind."""
    made = graphs.model(delayed.nodes(), [("x", [SAMPLES, delayed.INPUTS])], [("y", [SAMPLES, delayed.OUTPUTS])], delayed.weights(dtype=np.float32))
    for node in made.graph.node:
        node.name = node.output[0]
    onnx.save(made, folder / "m.onnx")
    rng = np.random.default_rng(6)
    target = rng.integers(0, delayed.OUTPUTS, 60)
    target[rng.random(60) < 0.2] = -1
    np.savez(folder / "d.npz", x=rng.normal(size=(60, delayed.INPUTS)).astype(np.float32), target=target)
    return ["train", folder / "m.onnx", "--loss=cross-entropy", f"--data={folder / 'd.npz'}", "--optimizer=adam", "--seed=2", "--steps=4",
            "--log-every=1", "--threads=1", "--micro-batches=8", *flags]


def run(tools, folder, *arguments, launcher=()):
    out = folder / "c.npz"
    if "--resume" not in arguments:
        out.unlink(missing_ok=True)
    done = subprocess.run([*launcher, tools.build / "bin/mlc", *map(str, arguments), f"--checkpoint={out}"], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    with np.load(out) as file:
        return re.findall(r"^step .*$", done.stdout, re.M), {key: file[key] for key in file}, done.stdout + done.stderr


def same(a, b):
    return a[0] == b[0] and all(np.array_equal(a[1][key], b[1][key]) for key in a[1] if key != "settings")


SCHEDULES = [["--pipeline=pipedream"], ["--pipeline=pipedream-2bw", "--update-every=4"], ["--pipeline=ampnet", "--in-flight=2", "--update-every=3"]]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda flags: flags[0].removeprefix("--pipeline="))
def test_the_same_bits_on_all_engines(tools, tmp_path, schedule):
    flags = command_line(tmp_path, "--stage-ends=h1", *schedule)
    threads = run(tools, tmp_path, *flags, "--ranks=2")
    assert "; 0 allocations after the first step" in threads[2]
    # Weights, moments and sums; stage 0 of PipeDream has a version more of its weights, and both of PipeDream-2BW.
    states = [int(n) for n in re.findall(r"(\d+) bytes of states", threads[2])]
    weights = [sum(4 * value.size for name, value in delayed.weights().items() if delayed.stage_of(name, 2) == stage) for stage in (0, 1)]
    extra = {"pipedream": [1, 0], "pipedream-2bw": [1, 1], "ampnet": [0, 0]}[schedule[0].removeprefix("--pipeline=")]
    assert sum(states) == sum((4 + more) * own for more, own in zip(extra, weights))
    mlc_command = tools.build / "bin/mlc"
    assert same(threads, run(tools, tmp_path, *flags, launcher=[mlc_command, "launch", "-n", "2", "--"]))
    if (tools.build / "lib/libmlc_engine_mpi.so").exists():
        assert same(threads, run(tools, tmp_path, *flags, launcher=["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]))


def test_a_resumed_run(tools, tmp_path):
    """A checkpoint is between tables. Held-out losses are of the newest weights."""
    flags = command_line(tmp_path, "--stages=3", "--ranks=3", "--pipeline=pipedream", f"--evaluate={tmp_path / 'd.npz'}", "--evaluate-every=2")
    whole = run(tools, tmp_path, *flags)
    run(tools, tmp_path, *flags, "--steps=2")
    assert same((whole[0][3:], whole[1]), run(tools, tmp_path, *flags, "--resume"))
    # A table in a file, with its updates, says the same.
    done = tools.mlc("schedule", "pipedream", "--stages=3", "--micro-batches=8", "--csv")
    (tmp_path / "t.csv").write_text(done.stdout)
    from_file = run(tools, tmp_path, *flags, f"--pipeline={tmp_path / 't.csv'}")
    assert same(whole, from_file)
    # Adam counts updates, so another number of them is another training.
    done = tools.mlc(*flags, "--pipeline=1f1b", "--resume", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode != 0 and "8 updates of a step" in done.stderr, done.stderr


@pytest.mark.parametrize("flags, problem", [
    (["--pipeline=pipedream", "--clip-norm=1"], "leave --clip-norm out, give --loss-scale=none, or give a synchronous --pipeline"),
    (["--pipeline=ampnet", "--loss-scale=8"], "the schedule updates each stage by itself"),
    (["--pipeline=pipedream-2bw", "--update-every=3"], "3 micro-batches, which do not divide 8"),
    (["--pipeline=1f1b", "--update-every=2"], "1f1b has no gradients before an update"),
    (["--update-every=2"], "are of a schedule with a name"),
    (["--pipeline=ampnet", "--in-flight=0"], "--in-flight must be at least 1"),
])
def test_wrong_flags(tools, tmp_path, flags, problem):
    done = tools.mlc(*command_line(tmp_path, "--stages=2", "--ranks=2", *flags), f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode in (2, 4) and problem in done.stderr, done.stderr


def test_wrong_models_and_tables(tools, tmp_path):
    flags = command_line(tmp_path, "--stages=2", "--ranks=2")
    checkpoint = f"--checkpoint={tmp_path / 'c.npz'}"
    (tmp_path / "t.csv").write_text(",".join(f"0F{k}@0,0B{k}@0,0STEP{k + 1}" for k in range(8)) + "\n"
                                    + ",".join(f"1F{k},1B{k},1STEP{k + 1}" for k in range(8)) + "\n")
    done = tools.mlc(*flags, f"--pipeline={tmp_path / 't.csv'}", checkpoint)
    assert done.returncode == 3 and "0F1@0: it reads version 0, promised is version 1" in done.stderr, done.stderr
    # A weight of two stages.
    made = graphs.model([("MatMul", ["x", "w"], ["h"], {}), ("Tanh", ["h"], ["t"], {}), ("MatMul", ["t", "w"], ["y"], {})],
                        [("x", [3, 4])], [("y", [3, 4])], {"w": np.ones((4, 4), np.float32)})
    onnx.save(made, tmp_path / "tied.onnx")
    np.savez(tmp_path / "e.npz", x=np.ones((9, 4), np.float32), target=np.ones((9, 4), np.float32))
    done = tools.mlc("train", tmp_path / "tied.onnx", "--loss=mse", f"--data={tmp_path / 'e.npz'}", "--stage-ends=Tanh_1", "--ranks=2",
                     "--micro-batches=3", "--pipeline=pipedream", checkpoint)
    assert done.returncode == 4 and "'w' is read by stages 0 and 1" in done.stderr, done.stderr
    # Labels of an update that do not count.
    with np.load(tmp_path / "d.npz") as file:
        np.savez(tmp_path / "d.npz", x=file["x"], target=np.where(np.arange(60) < 40, -1, 1))
    done = tools.mlc(*flags, "--pipeline=pipedream", checkpoint)
    assert done.returncode == 5 and "all labels of an update's batches are negative" in done.stderr, done.stderr


def test_keyword_arguments(tmp_path):
    """A trainer in stages, with the flags of mlc train, from one program on all ranks."""
    data = samples(np.float32)
    batches = [{"x": x, "target": t} for x, t in zip(data[0][0], data[1][0])]

    def work(rank):
        trainer = mlc.Trainer(model(np.float32), loss="mse", learning_rate=RATE, ranks=rank, accumulate=BATCHES, stages=2,
                              pipeline="pipedream-2bw", update_every=3)
        return [trainer.step(batches) for _ in range(3)]

    losses = on_threads(2, work)
    assert losses[0] == losses[1] and losses[0][2] < losses[0][0]
    with pytest.raises(mlc.UnsupportedError, match="leave clip_norm and loss_scale out"):
        on_threads(2, lambda rank: mlc.Trainer(model(np.float32), loss="mse", ranks=rank, accumulate=BATCHES, stages=2, pipeline="pipedream",
                                               clip_norm=1))


def test_ampnet_comes_as_far_as_synchronous_steps(tools, tmp_path):
    """With as many samples, and gradients of weights that are up to five updates old."""
    path, *flags = [str(a) for a in trained.write(tmp_path, "mlp") if "--input" not in str(a)]
    np.savez(tmp_path / "d.npz", **trained.samples(trained.build("mlp")[1]))

    def last_loss(*more):
        done = tools.mlc("train", path, *flags, f"--data={tmp_path / 'd.npz'}", "--steps=60", "--learning-rate=0.05", "--seed=3",
                         "--micro-batches=8", "--stages=3", "--ranks=3", *more, f"--checkpoint={tmp_path / 'far.npz'}")
        assert done.returncode == 0, done.stderr
        return float(re.findall(r"^step 60 .* (\S+)$", done.stdout, re.M)[0])
    assert last_loss("--pipeline=ampnet", "--update-every=2", "--in-flight=6") < 1.05 * last_loss("--pipeline=1f1b") < 1
