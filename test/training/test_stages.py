"""Steps cut into stages: the cut is proved, and a pipeline trains as one rank does."""

import random
import re
import shutil

import graphs
import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

import trained


def nodes_of(path):
    return [node.name for node in onnx.load(path).graph.node if node.name]


def random_ends(path, stages, seed):
    """Nodes that stages end with, in the order of the model."""
    names = nodes_of(path)[1:-1]
    places = sorted(random.Random(seed).sample(range(len(names)), stages - 1))
    return [names[i] for i in places]


def opt(tools, *arguments):
    done = tools.run("mlc-opt", *arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("name", sorted(trained.NETWORKS))
def test_stages_are_proved_to_be_the_step(tools, tmp_path, name):
    model, loss, *more = [str(a) for a in trained.write(tmp_path, name) if "--input" not in str(a)]
    done = tools.mlc("train", model, loss, *more, "--compile-to=import", "--training-form")
    assert done.returncode == 0, done.stderr
    (tmp_path / "import.mlir").write_text(done.stdout)
    axis = [a.removeprefix("--") for a in more if a.startswith("--class-axis")]
    step = f"--mlc-add-training-step={loss.removeprefix('--')} {' '.join(axis)} states=true apart=true optimizer=adam clip-norm=1"
    opt(tools, tmp_path / "import.mlir", step, "--mlc-join-stages", "-o", tmp_path / "whole.mlir")

    def is_proved(what):
        opt(tools, tmp_path / "cut.mlir", "--mlc-join-stages", "-o", tmp_path / "joined.mlir")
        done = tools.run("mlc-verify", tmp_path / "whole.mlir", tmp_path / "joined.mlir")
        assert done.returncode == 0, (what, done.stdout)

    for stages in (2, 3, 4):
        split = random.Random(f"{name} {stages}").choice(["true", "false"])
        opt(tools, tmp_path / "import.mlir", f"--mlc-assign-stages=stages={stages}", step,
            f"--mlc-cut-stages=split-backward={split}", "-o", tmp_path / "cut.mlir")
        is_proved(stages)
        # The printed module has no names of nodes, so mlc train cuts at random ones.
        schedule = "zero-bubble" if split == "false" else "1f1b"
        for seed in range(9):
            ends = random_ends(model, stages, f"{name} {stages} {seed}")
            done = tools.mlc("train", model, loss, *more, "--training-form", "--optimizer=adam", "--clip-norm=1", f"--ranks={stages}",
                             f"--pipeline={schedule}", f"--stage-ends={','.join(ends)}", "--compile-to=distribute")
            # Nodes that do nothing are gone, and two ends may be one.
            if "does not come after the end" not in done.stderr:
                break
        assert done.returncode == 0, done.stderr
        (tmp_path / "cut.mlir").write_text(done.stdout)
        is_proved(ends)


def train(tools, folder, name, *flags, command="mlc", launched=()):
    checkpoint = folder / f"{name}.npz"
    checkpoint.unlink(missing_ok=True)
    mlc = tools.build / "bin/mlc"
    arguments = ["train", *flags, f"--checkpoint={checkpoint}", "--log-every=1"]
    done = tools.mlc("launch", "-n", str(launched[0]), "--", mlc, *arguments) if launched else tools.mlc(*arguments)
    assert done.returncode == 0, done.stderr
    with np.load(checkpoint) as file:
        return re.findall(r"^step .*$", done.stdout, re.M), {k: file[k] for k in file}, done.stdout + done.stderr


def arguments(folder, name, *more):
    model, *flags = [str(a) for a in trained.write(folder, name) if "--input" not in str(a)]
    _, inputs, _ = trained.build(name)
    np.savez(folder / "d.npz", **trained.samples(inputs))
    return [model, *flags, f"--data={folder / 'd.npz'}", "--steps=4", "--optimizer=momentum", "--learning-rate=0.01", "--seed=3", *more]


def farthest(a, b):
    """How far the states are apart, relative to the largest element of each."""
    assert a.keys() == b.keys()
    floats = [k for k in a if a[k].dtype.kind == "f" and a[k].size]
    return max(np.max(np.abs(a[k] - b[k])) / max(np.max(np.abs(a[k])), 1e-3) for k in floats)


def in_doubles(folder, flags):
    """The model and its samples with all floats in 64 bits."""
    model = onnx.load(flags[0])
    tensors = [*model.graph.initializer, *(a.t for node in model.graph.node for a in node.attribute if a.name == "value")]
    for tensor in tensors:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    onnx.save(model, flags[0])
    with np.load(folder / "d.npz") as file:
        data = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in file.items()}
    np.savez(folder / "d.npz", **data)


def losses(steps):
    return np.array([float(line.split()[-1]) for line in steps])


@pytest.mark.parametrize("name", trained.NETWORKS)
def test_a_step_in_stages_is_the_step(tools, tmp_path, name):
    flags = arguments(tmp_path, name, "--accumulate=2", "--clip-norm=0.5", "--training-form")
    whole = train(tools, tmp_path, "whole", *flags)
    staged = train(tools, tmp_path, "staged", *flags, "--stages=3")
    np.testing.assert_allclose(losses(staged[0]), losses(whole[0]), rtol=1e-6)
    in_doubles(tmp_path, flags)
    whole = train(tools, tmp_path, "whole", *flags)
    staged = train(tools, tmp_path, "staged", *flags, "--stages=3")
    assert {v.dtype for v in whole[1].values()} <= {np.dtype("float64"), np.dtype("int64"), np.dtype("uint8")}
    assert farthest(whole[1], staged[1]) < 1e-12


SCHEDULES = {  # ranks, stages, micro-batches
    "1f1b": (2, 2, 4), "gpipe": (3, 3, 3), "interleaved-1f1b": (2, 4, 4), "zbv": (2, 4, 4), "zero-bubble": (2, 2, 4),
    "breadth-first": (2, 4, 4), "chimera": (4, 4, 8),
}
# Those have the gradients of inputs and of weights apart, and so other code than the entry of both; or other sums: from the
# last micro-batch on, or of two ranks.
ROUNDED = {"zero-bubble", "breadth-first", "chimera"}


@pytest.mark.parametrize("name", ["mlp", "gpt", "unet"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_pipelines_have_the_bits_of_one_rank(tools, tmp_path, name, schedule):
    ranks, stages, batches = SCHEDULES[schedule]
    flags = arguments(tmp_path, name, f"--micro-batches={batches}", "--clip-norm=0.5", f"--stages={stages}", "--loss-scale=8")
    many = train(tools, tmp_path, "many", *flags, f"--ranks={ranks}", f"--pipeline={schedule}")
    # A rank for each stage does the same as two with two each.
    others = ["--ranks=4", "--pipeline=zero-bubble"] if schedule == "zbv" else []
    one = train(tools, tmp_path, "one", *flags, *others)
    assert "; 0 allocations after the first step" in many[2]
    if schedule in ROUNDED:
        assert farthest(one[1], many[1]) < 1e-5
        return
    assert one[0] == many[0]
    for key in one[1]:
        np.testing.assert_array_equal(one[1][key], many[1][key], key)
    # Each rank has the weights, moments and sums of its stages; embedding is read by two.
    states = [int(n) for n in re.findall(r"(\d+) bytes of states", many[2])]
    whole = 3 * sum(value.nbytes for key, value in many[1].items() if key.startswith("weight/"))
    assert len(states) == ranks
    assert sum(states) == whole if name != "gpt" else whole < sum(states) < 1.2 * whole


def test_a_table_from_a_file(tools, tmp_path):
    flags = arguments(tmp_path, "mlp", "--micro-batches=4", "--stages=2", "--ranks=2")
    one = train(tools, tmp_path, "one", *flags)
    done = tools.mlc("schedule", "gpipe", "--stages=2", "--micro-batches=4", "--transfers", "--csv")
    assert done.returncode == 0
    table = tmp_path / "table.csv"
    table.write_text(done.stdout)
    many = train(tools, tmp_path, "many", *flags, f"--pipeline={table}")
    assert all(np.array_equal(one[1][key], many[1][key]) for key in one[1])
    done = tools.mlc("train", *flags, f"--pipeline={table}", "--print-plan")
    assert done.returncode == 0
    (tmp_path / "plan.json").write_text(done.stdout)
    own = [flag for flag in flags if not flag.startswith(("--micro", "--stages", "--ranks"))]
    again = train(tools, tmp_path, "again", *own, f"--plan={tmp_path / 'plan.json'}", "--ranks=2")
    assert all(np.array_equal(one[1][key], again[1][key]) for key in one[1])

    def refused(text):
        table.write_text(text)
        done = tools.mlc("train", *flags, f"--pipeline={table}", f"--checkpoint={tmp_path / 'c.npz'}")
        assert done.returncode in (2, 3), done.stderr
        return done.stderr

    lines = table.read_text().splitlines()
    assert "rank 0: 0B2 is missing" in refused("\n".join([lines[0].replace(",0B2", ""), lines[1]]))
    assert "has 1 line, one for each rank, and there are 2 ranks" in refused(lines[0])
    assert "1F9" in refused("\n".join([lines[0], lines[1].replace("1F0", "1F9")]))
    assert "cannot be read" in tools.mlc("train", *flags, f"--pipeline={tmp_path / 'none.csv'}", f"--checkpoint={tmp_path / 'c.npz'}").stderr


def test_statistics_are_of_one_rank(tools, tmp_path):
    """Running statistics move in the order of micro-batches."""
    rng = np.random.default_rng(5)
    nodes = [("MatMul", ["x", "w"], ["h"], {}), ("BatchNormalization", ["h", "scale", "b", "mean", "var"], ["n"], {}),
             ("Relu", ["n"], ["r"], {}), ("MatMul", ["r", "v"], ["y"], {})]
    weights = {"w": rng.normal(size=(5, 6)), "scale": np.ones(6), "b": np.zeros(6), "mean": np.zeros(6), "var": np.ones(6),
               "v": rng.normal(size=(6, 3))}
    onnx.save(graphs.model(nodes, [("x", [4, 5])], [("y", [4, 3])], {k: v.astype(np.float32) for k, v in weights.items()}), tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=rng.normal(size=(32, 5)).astype(np.float32), target=rng.normal(size=(32, 3)).astype(np.float32))
    flags = [str(tmp_path / "m.onnx"), "--loss=mse", f"--data={tmp_path / 'd.npz'}", "--steps=3", "--optimizer=adam", "--training-form",
             "--micro-batches=4", "--stages=2"]
    one = train(tools, tmp_path, "one", *flags)
    assert np.abs(one[1]["weight/mean"]).max() > 0
    many = train(tools, tmp_path, "many", *flags, "--ranks=2")
    assert all(np.array_equal(one[1][key], many[1][key]) for key in one[1])
    done = tools.mlc("train", *flags, "--ranks=2", "--pipeline=chimera", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 4 and "moves running statistics, and several ranks have it" in done.stderr, done.stderr


def test_eight_ranks(tools, tmp_path):
    flags = arguments(tmp_path, "gpt", "--micro-batches=4", "--stages=8")
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, "--ranks=8")
    assert all(np.array_equal(one[1][key], many[1][key]) for key in one[1])


def test_processes_and_resuming(tools, tmp_path):
    """Processes over Gloo; a run that goes on on other ranks, with statistics and dropped elements."""
    flags = arguments(tmp_path, "resnet", "--micro-batches=3", "--stages=3", "--training-form", "--evaluate-every=2",
                      f"--evaluate={tmp_path / 'd.npz'}")
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, launched=[3])
    assert [line for line in many[0] if "loss" in line] == one[0]
    assert re.findall("held-out.*", one[2]) == re.findall("held-out.*", many[2])
    train(tools, tmp_path, "half", *flags, "--steps=2", "--ranks=3")
    shutil.copy(tmp_path / "half.npz", tmp_path / "kept.npz")
    done = tools.mlc("train", *flags, "--ranks=3", "--resume", f"--checkpoint={tmp_path / 'kept.npz'}")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "kept.npz") as resumed:
        assert all(np.array_equal(one[1][key], resumed[key]) for key in one[1] if key != "settings")


@pytest.mark.parametrize("flags, problem", [
    (["--stages=0"], "--stages must be at least 1"),
    (["--stages=2", "--stage-ends=relu_2_0"], "leave --stages out"),
    (["--stage-ends=relu_2_1"], "has no node 'relu_2_1' to end a stage with; did you mean 'relu_2_0'?"),
    (["--stages=99"], "too few for 99 stages"),
    (["--stages=2", "--ranks=3"], "3 ranks for 2 stages; each rank has a stage at least"),
    (["--stages=2", "--pipeline=1f1b"], "a schedule is of several ranks, and there is one"),
    (["--pipeline=1f1b", "--ranks=2"], "a schedule is of several stages, and there is one"),
    (["--stages=2", "--ranks=2", "--pipeline=1f2b"], "1f2b"),
    (["--stages=2", "--ranks=2", "--zero=1"], "stages are not taken beside"),
    (["--stages=2", "--ranks=2", "--batch-statistics=local"], "stages are not taken beside"),
    (["--stages=2", "--ranks=2", "--pipeline="], "--pipeline= names no schedule"),
    (["--micro-batches=0"], "--micro-batches must be at least 1"),
    (["--micro-batches=2", "--accumulate=3"], "say the same, and differ"),
    (["--stages=2", "--ranks=2", "--algorithm=ring"], "stages are not taken beside"),
])
def test_wrong_flags(tools, tmp_path, flags, problem):
    done = tools.mlc("train", *arguments(tmp_path, "mlp"), *flags, f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 2 or "has no node" in done.stderr or "too few" in done.stderr, done.stderr
    assert problem in done.stderr
    assert not (tmp_path / "c.npz").exists()


def test_ends_that_import_drops(tools, tmp_path):
    """A node that does nothing is gone; the last one before it counts."""
    rng = np.random.default_rng(5)
    nodes = [("MatMul", ["x", "w"], ["h"], {}), ("Identity", ["h"], ["i"], {}), ("Transpose", ["v"], ["t"], {"perm": [1, 0]}),
             ("Relu", ["i"], ["r"], {}), ("MatMul", ["r", "t"], ["y"], {})]
    weights = {"w": rng.normal(size=(5, 6)).astype(np.float32), "v": rng.normal(size=(3, 6)).astype(np.float32)}
    model = graphs.model(nodes, [("x", [4, 5])], [("y", [4, 3])], weights)
    for node, name in zip(model.graph.node, ("first", "nothing", "turned", "relu", "last")):
        node.name = name
    onnx.save(model, tmp_path / "m.onnx")

    def entries(end):
        done = tools.mlc("train", tmp_path / "m.onnx", "--loss=mse", f"--stage-ends={end}", "--compile-to=distribute", "-o", tmp_path / "cut.mlir")
        return (tmp_path / "cut.mlir").read_text() if done.returncode == 0 else done.stderr

    first = entries("first")
    assert '"1F"' in first and "mlc.relu" in first.split('"1F"')[1].split("return")[0]
    # What depends on weights alone ends a stage where it stands, and belongs to its reader.
    assert entries("nothing") == entries("turned") == first
    assert "mlc.relu" not in entries("relu").split('"1F"')[1].split("return")[0]
    assert "has no node 'no' to end a stage with" in entries("no")
    assert "the stage after node 'last' is empty" in entries("last")
