"""A plan says what flags say: printed, read again, compared between ranks."""

import json
import subprocess

import mlc
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

MESH = ["--mesh=data=2,fsdp=2", "--shard=x=data+fsdp", "--shard=w*=-,fsdp", "--algorithm=ring"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    weights = {"w1": rng.normal(0, .3, (8, 16)), "w2": rng.normal(0, .3, (16, 4))}
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w1"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
         helper.make_node("MatMul", ["b", "w2"], ["y"])], "dense",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    x = rng.normal(size=(48, 8)).astype(np.float32)
    np.savez(tmp_path / "d.npz", x=x, target=(x[:, 0] > 0).astype(np.int64))
    return tmp_path


def printed(tools, *arguments):
    done = tools.mlc(*arguments, "--print-plan")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plan_compiles_what_flags_do(tools, folder):
    text = printed(tools, "compile", folder / "m.onnx", *MESH)
    assert json.loads(text) == {"mesh": {"data": 2, "fsdp": 2}, "shard": {"x": "data+fsdp", "w*": "-,fsdp"}, "algorithm": "ring"}
    (folder / "p.json").write_text(text)
    assert printed(tools, "compile", folder / "m.onnx", f"--plan={folder / 'p.json'}") == text
    for out, flags in (("a", MESH), ("b", [f"--plan={folder / 'p.json'}"])):
        done = tools.mlc("compile", folder / "m.onnx", "-o", folder / out, "--dim=n=6", *flags)
        assert done.returncode == 0, done.stderr
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    model = mlc.compile(folder / "m.onnx", dims={"n": 6}, plan=json.loads(text))
    assert model.mesh == {"data": 2, "fsdp": 2}
    model.save(folder / "c")
    assert (folder / "c").read_bytes() == (folder / "a").read_bytes()


@pytest.mark.parametrize("flags", [["--zero=3", "--prefetch-limit=100", "--bucket-bytes=64"], ["--algorithm=ring", "--fusion=horovod"],
                                   ["--batch-statistics=local"], ["--accumulate=2", "--groups=3", "--memory-budget=64KiB"], []])
def test_a_plan_trains_what_flags_do(tools, folder, flags):
    train = ["train", folder / "m.onnx", "--loss=cross-entropy", f"--data={folder / 'd.npz'}", "--batch=12", "--steps=5", "--optimizer=adam",
             "--ranks=2"]
    (folder / "p.json").write_text(printed(tools, "train", folder / "m.onnx", "--ranks=2", *flags))
    for out, given in (("a.npz", flags), ("b.npz", [f"--plan={folder / 'p.json'}"])):
        done = tools.mlc(*train, *given, f"--checkpoint={folder / out}")
        assert done.returncode == 0, done.stderr
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


def test_the_first_bucket_is_as_the_others(tools, folder):
    """Where a plan says of buckets what a flag does."""
    (folder / "p.json").write_text('{"mesh": {"data": 2}, "bucket_bytes": 64}')
    for out, flags in (("a", ["--bucket-bytes=64"]), ("b", [f"--plan={folder / 'p.json'}"])):
        done = tools.mlc("train", folder / "m.onnx", "--loss=cross-entropy", "--batch=12", "--ranks=2", *flags, f"--artifact={folder / out}")
        assert done.returncode == 0, done.stderr
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


def test_a_plan_of_the_ranks_that_were_launched(tools, folder):
    done = subprocess.run([tools.build / "bin/mlc", "launch", "-n", "2", "--", tools.build / "bin/mlc", "train", folder / "m.onnx", "--print-plan",
                           "--zero=1"], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout) == {"mesh": {"data": 2}, "zero": 1}, done.stderr


def test_what_is_not_of_ranks_alone(tools, folder):
    """Batches of a step and memory are in the plan of one rank, too."""
    flags = ["--accumulate=3", "--memory-budget=24KiB"]
    text = printed(tools, "train", folder / "m.onnx", *flags)
    assert json.loads(text) == {"mesh": {"data": 1}, "memory": 24576, "accumulate": 3}
    plan = folder / "p.json"
    for given in (text, text.replace("24576", '"24KiB"')):
        plan.write_text(given)
        assert printed(tools, "train", folder / "m.onnx", f"--plan={plan}") == text
        for out, some in (("a", flags), ("b", [f"--plan={plan}"])):
            done = tools.mlc("train", folder / "m.onnx", "--loss=cross-entropy", "--batch=12", *some, f"--artifact={folder / out}")
            assert done.returncode == 0, done.stderr
        assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    plan.write_text('{"mesh": {}, "memory": "20kB"}')
    for out, some in (("a", ["--memory-budget=20000"]), ("b", [f"--plan={plan}"])):
        done = tools.mlc("compile", folder / "m.onnx", "--dim=n=12", *some, "-o", folder / out)
        assert done.returncode == 0, done.stderr
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    trainer = mlc.Trainer(folder / "m.onnx", loss="cross-entropy", batch=12, plan={"mesh": {"data": 1}, "accumulate": 3})
    assert trainer.accumulate == 3


def test_python_opens_the_groups_of_a_plan(folder):
    plan, ranks = {"mesh": {"data": 2}, "groups": 2}, mlc.Ranks.threads(2, groups=3)
    assert [one.groups for one in ranks] == [3, 3]
    with pytest.raises(mlc.UsageError, match="plan: its collectives take 2 groups in turn, and the ranks have 3; open them with groups=2"):
        mlc.Trainer(folder / "m.onnx", loss="cross-entropy", batch=12, plan=plan, ranks=ranks[0])


def test_a_server_is_one_rank_more(tools, folder):
    text = printed(tools, "train", folder / "m.onnx", "--ranks=3", "--algorithm=server", "--staleness=2")
    assert json.loads(text) == {"mesh": {"data": 2}, "algorithm": "server", "staleness": 2}
    (folder / "p.json").write_text(text)
    done = tools.mlc("train", folder / "m.onnx", "--loss=cross-entropy", f"--data={folder / 'd.npz'}", "--batch=12", "--steps=3", "--ranks=3",
                     f"--plan={folder / 'p.json'}", f"--checkpoint={folder / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    assert "staleness: at most" in done.stdout


def test_python_trains_by_a_plan(folder):
    plan = {"mesh": {"data": 2}, "zero": 1}
    with pytest.raises(mlc.Error, match="needs 2 ranks"):
        mlc.Trainer(folder / "m.onnx", loss="cross-entropy", batch=12, plan=plan)
    with pytest.raises(mlc.UsageError, match="exclude each other"):
        mlc.Trainer(folder / "m.onnx", loss="cross-entropy", batch=12, plan=plan, zero=2)
    for wrong in ([], 3, b"plan.json", {"mesh": {"data": object()}}):
        with pytest.raises(mlc.UsageError, match="^plan: "):
            mlc.Trainer(folder / "m.onnx", loss="cross-entropy", batch=12, plan=wrong)
    with pytest.raises(mlc.UsageError, match="mesh: expected names of axes"):
        mlc.compile(folder / "m.onnx", mesh={"a": "2,b=2"})
    assert mlc.compile(folder / "m.onnx", plan={"mesh": {"a": np.int64(2)}}).mesh == {"a": 2}
    with pytest.raises(mlc.BadFileError, match="no stage 7 of ZeRO"):
        mlc.Trainer(folder / "m.onnx", loss="cross-entropy", batch=12, plan={**plan, "zero": 7})


def test_what_does_not_fit_is_named(tools, folder):
    plan = folder / "p.json"

    def error(text, *flags, command=("compile", "-o", "out"), code=3):
        plan.write_text(text)
        done = tools.mlc(command[0], folder / "m.onnx", *command[1:], f"--plan={plan}", *flags)
        assert done.returncode == code and str(plan) in done.stderr or code == 2, done.stderr
        return done.stderr

    assert "line 1, column 2: expected a key, a string" in error("{mesh}")
    assert '"mesh": {"data": 2}' not in error("")
    assert "is no key of a plan; there are mesh, shard, algorithm, memory" in error('{"meshes": {}}')
    assert "exclude each other; say it in the plan" in error("{}", "--mesh=a=2", code=2)
    assert """"shard": "x": there is no mesh with an axis 'data'; give one""" in error('{"shard": {"x": "data"}}')
    assert 'has no "mesh"; give {"AXIS": RANKS}' in error('{"algorithm": "ring"}')
    assert "has no input, weight, output or node 'v'" in error('{"mesh": {"a": 2}, "shard": {"v": "a"}}', code=2)
    for memory in ("0", "-1", "1.5", '"1 GiB"', '"lots"', "true", "4611686018427387905"):
        assert '"memory": expected a' in error(f'{{"mesh": {{}}, "memory": {memory}}}')
    assert "exclude each other" in error('{"mesh": {}}', "--memory-budget=1GiB", code=2)
    assert '"accumulate": is of mlc train' in error('{"mesh": {}, "accumulate": 2}')
    train = ("train", "--loss=cross-entropy", f"--data={folder / 'd.npz'}", "--batch=12", f"--checkpoint={folder / 'c.npz'}")
    assert "the plan is of 4 ranks, and there is 1; start it with mlc launch -n 4, or give --ranks=4" in error(
        '{"mesh": {"data": 4}}', command=train, code=2)
    assert "exclude each other" in error('{"mesh": {"data": 2}}', "--zero=1", "--ranks=2", command=train, code=2)
    for key, value, why in (("accumulate", 0, "1 to 1048576 batches, not of 0"), ("accumulate", 2**20 + 1, "1 to 1048576 batches"),
                            ("groups", 0, "0 groups of ranks; give 1 to 64"), ("groups", 65, "65 groups of ranks; give 1 to 64"),
                            ("groups", 2, "groups are of several ranks, and there is one; give more"),
                            ("bucket_bytes", 5, "buckets are of several ranks, and there is one"), ("zero", 1, "there is one; give more"),
                            ("staleness", 1, "give that, or leave the staleness out"), ("prefetch_limit", 1, "or leave the limit out")):
        assert why in error(f'{{"mesh": {{"data": 1}}, "{key}": {value}}}', command=train)
    assert "exclude each other" in error('{"mesh": {"data": 1}}', "--accumulate=2", command=train, code=2)
    done = tools.mlc("compile", folder / "m.onnx", "-o", "out", f"--plan={folder / 'none.json'}")
    assert done.returncode == 3 and "none.json: cannot be read: No such file" in done.stderr
