"""Pipelines that update weights while micro-batches are under way, beside delayed weights in numpy and in PyTorch."""

import json
import pathlib
import re
import subprocess
import threading

import delayed
import graphs
import mlc
import numpy as np
import onnx
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = ROOT / "torch/bin/python"
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


def on_threads(count, work):
    """The results of work(rank) of all ranks."""
    ranks, found = mlc.Ranks.threads(count), [None] * count

    def run(i):
        try:
            found[i] = work(ranks[i])
            ranks[i].finish()
        except BaseException as failure:
            found[i] = failure

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return found


def train(tools, folder, stages, own, data, dtype=np.float64, optimizer="sgd"):
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

    found = on_threads(stages, work)
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
