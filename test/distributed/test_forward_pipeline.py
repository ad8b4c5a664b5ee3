"""mlc compile --stages: a model in stages, by a pipeline of micro-batches, gives what ONNX Runtime gives."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading

import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import trained
from networks import FULL, convert
from test_processes import LAUNCHERS


def write(folder, name, samples=8):
    """The network with an open batch, and inputs of that many samples."""
    model, inputs, _ = trained.build(name)
    onnx.save(convert(model, "float32"), folder / "m.onnx")
    rng = np.random.default_rng(7)
    feed = {}
    for port in model.graph.input:
        value = np.concatenate([inputs[port.name]] * samples)[:samples]
        feed[port.name] = value if value.dtype != np.float32 else value + rng.standard_normal(value.shape).astype(np.float32)
    np.savez(folder / "i.npz", **feed)
    return feed


def compile(tools, folder, *flags):
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", *flags)
    assert done.returncode == 0, done.stderr


def run(tools, folder, *flags, launcher=()):
    out = folder / "o.npz"
    out.unlink(missing_ok=True)
    done = subprocess.run([*launcher, tools.build / "bin/mlc", "run", folder / "m.mlca", "--threads=1", "--input", folder / "i.npz",
                           "--output-npz", out, *flags], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with np.load(out) as file:
        return dict(file)


def same_bits(a, b):
    return a.keys() == b.keys() and all(a[k].shape == b[k].shape and a[k].tobytes() == b[k].tobytes() for k in a)


def check(folder, feed, found):
    session = onnxruntime.InferenceSession(folder / "m.onnx")
    names = [output.name for output in session.get_outputs()]
    assert list(found) == names
    for name, value in zip(names, session.run(None, feed)):
        assert found[name].shape == value.shape
        assert np.max(np.abs(found[name] - value)) <= 1e-5 * np.max(np.abs(value)), name


CASES = [("gpt", 4, 4, "1f1b"), ("unet", 3, 2, "gpipe"), ("alexnet", 4, 2, "interleaved-1f1b"), ("mlp", 4, 4, "chimera"),
         ("translator", 2, 8, "1f1b"), ("lstm", 4, 4, "breadth-first"), ("depthwise", 2, 1, "zero-bubble")]


@pytest.mark.parametrize("name,stages,batches,schedule", CASES if FULL else CASES[:4])
def test_ranks_have_the_bits_of_one(tools, tmp_path, name, stages, batches, schedule):
    feed = write(tmp_path, name)
    ranks = stages // 2 if schedule in ("interleaved-1f1b", "breadth-first") else stages
    compile(tools, tmp_path, f"--stages={stages}", f"--micro-batches={batches}", f"--pipeline={schedule}", f"--mesh=stage={ranks}")
    alone, together = run(tools, tmp_path), run(tools, tmp_path, f"--ranks={ranks}")
    assert same_bits(alone, together)
    check(tmp_path, feed, alone)


@pytest.fixture
def layers(tmp_path):
    """Two results, of different stages; what skips a stage; and an input that all samples share."""
    rng = np.random.default_rng(0)
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"), helper.make_node("Relu", ["a"], ["b"], name="relu"),
             helper.make_node("Add", ["b", "shared"], ["c"], name="shift"), helper.make_node("MatMul", ["c", "w1"], ["d"], name="second"),
             helper.make_node("Add", ["d", "a"], ["e"], name="skip"), helper.make_node("Mul", ["e", "u"], ["y"], name="scale"),
             helper.make_node("Tanh", ["c"], ["z"], name="tanh")]
    ports = {"x": ["N", 6], "u": ["N", 1], "shared": [1, 6], "y": ["N", 6], "z": ["N", 6]}
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in ports.items()}
    weights = [numpy_helper.from_array(rng.standard_normal((6, 6)).astype(np.float32), name) for name in ("w0", "w1")]
    graph = helper.make_graph(nodes, "layers", [info[n] for n in ("x", "u", "shared")], [info[n] for n in ("y", "z")], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    feed = {name: rng.standard_normal((12 if ports[name][0] == "N" else 1, ports[name][1])).astype(np.float32)
            for name in ("x", "u", "shared")}
    np.savez(tmp_path / "i.npz", **feed)
    return tmp_path, feed


def test_results_of_several_stages(tools, layers):
    folder, feed = layers
    compile(tools, folder, "--stage-ends=relu,shift", "--micro-batches=3")
    alone, together = run(tools, folder), run(tools, folder, "--ranks=3")
    assert same_bits(alone, together)
    check(folder, feed, alone)
    shown = json.loads(tools.mlc("inspect", "--json", folder / "m.mlca").stdout)
    assert [(port["name"], port["dims"]) for port in shown["inputs"]] == [("x", ["3 * N", 6]), ("u", ["3 * N", 1]), ("shared", [1, 6])]
    assert shown["schedule"] == "3 stages, a batch in 3 micro-batches, on several ranks, each with a line of this table\n" \
        "0F0,0F1,0F2\n1F0,1F1,1F2\n2F0,2F1,2F2\n"
    assert shown["manifest"]["flags"][-3:] == ["--mesh=stage=3", "--stage-ends=relu,shift", "--micro-batches=3"]
    reads = {entry["name"]: [port["name"] for port in entry["inputs"]] for entry in shown["entries"]}
    assert reads == {"0F": ["x"], "1F": ["shared", "0F/relu"], "2F": ["u", "1F/shift", "0F/first"]}
    text = tools.mlc("inspect", folder / "m.mlca").stdout
    assert "pipeline: 3 stages" in text and "x  f32[3 * N, 6]" in text and "entry 0F:" in text


def test_a_plan_says_the_same(tools, layers):
    folder, _ = layers
    flags = ["--stages=2", "--micro-batches=4", "--pipeline=gpipe"]
    printed = tools.mlc("compile", folder / "m.onnx", *flags, "--print-plan").stdout
    assert json.loads(printed) == {"mesh": {"stage": 2}, "micro_batches": 4, "stages": 2, "schedule": "gpipe"}
    (folder / "plan.json").write_text(printed)
    compile(tools, folder, *flags)
    first = (folder / "m.mlca").read_bytes()
    compile(tools, folder, f"--plan={folder / 'plan.json'}")
    assert (folder / "m.mlca").read_bytes() == first
    done = tools.mlc("check-plan", folder / "plan.json", folder / "m.onnx")
    assert done.returncode == 0 and "2 stages, 4 micro-batches, without training" in done.stdout, done.stderr
    done = tools.mlc("train", folder / "m.onnx", f"--plan={folder / 'plan.json'}", "--loss=mse", "--print-plan")
    assert done.returncode == 3 and "is of a model without training, which mlc compile takes" in done.stderr
    (folder / "plan.json").write_text(json.dumps({"stages": [{"until": "reul"}, {}], "micro_batches": 4}))
    done = tools.mlc("check-plan", folder / "plan.json", folder / "m.onnx")
    assert done.returncode == 3 and "did you mean 'relu'?" in done.stderr


def test_ranks_that_share_a_stage(tools, layers):
    folder, feed = layers
    (folder / "plan.json").write_text(json.dumps({"stages": [{"until": "relu", "ranks": "0"}, {"ranks": "1-2"}], "micro_batches": 4}))
    compile(tools, folder, f"--plan={folder / 'plan.json'}")
    alone, together = run(tools, folder), run(tools, folder, "--ranks=3")
    assert same_bits(alone, together)
    check(folder, feed, alone)


@pytest.mark.parametrize("table", ["0F1,0F0,2F1,2F0\n1F1,1F0\n", "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n1F0,1F1,1B0,1B1\n"])
def test_tables_of_ones_own(tools, layers, table):
    """Of a table that trains, the forward passes."""
    folder, feed = layers
    (folder / "t.csv").write_text(table)
    compile(tools, folder, "--stages=3", "--micro-batches=2", "--mesh=stage=2", f"--pipeline={folder / 't.csv'}")
    alone, together = run(tools, folder), run(tools, folder, "--ranks=2")
    assert same_bits(alone, together)
    check(folder, feed, alone)


def test_a_stage_that_reads_rows_alone(tools, tmp_path):
    """What it reads has 4 N elements, and N is known from an input that only says so."""
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="relu"), helper.make_node("Reshape", ["a", "all"], ["b"], name="flat"),
             helper.make_node("Sigmoid", ["b"], ["c"], name="sigmoid"), helper.make_node("Tanh", ["c"], ["y"], name="tanh")]
    graph = helper.make_graph(nodes, "rows", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None])], [numpy_helper.from_array(np.array([-1]), "all")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    feed = {"x": np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)}
    np.savez(tmp_path / "i.npz", **feed)
    compile(tools, tmp_path, "--stage-ends=flat", "--micro-batches=2")
    alone = run(tools, tmp_path)
    assert same_bits(alone, run(tools, tmp_path, "--ranks=2"))
    check(tmp_path, feed, alone)


@pytest.mark.parametrize("engine", LAUNCHERS if FULL else ["gloo"])
def test_processes_run_it(tools, layers, engine):
    folder, _ = layers
    library, launcher = LAUNCHERS[engine]
    if not (tools.build / "lib" / library).exists():
        pytest.skip(f"there is no engine {engine}")
    compile(tools, folder, "--stages=3", "--micro-batches=4")
    assert same_bits(run(tools, folder), run(tools, folder, launcher=launcher(str(tools.build / "bin/mlc"), 3)))


def test_python_runs_it(layers):
    """Batches of two sizes, one after the other; all ranks have the results."""
    folder, feed = layers
    model = mlc.compile(folder / "m.onnx", stages=3, micro_batches=3)
    assert (model.stages.count, model.stages.micro_batches, model.stages.ranks) == (3, 3, 3)
    assert [port.dims for port in model.inputs] == [("3 * N", 6), ("3 * N", 1), (1, 6)]
    half = {"x": feed["x"][:6], "u": feed["u"][:6], "shared": feed["shared"]}
    batches = [feed, half, feed, feed]
    alone = [model.run(batch) for batch in batches]
    assert same_bits(alone[0], alone[2]) and same_bits({k: v[:6] for k, v in alone[0].items()}, alone[1])
    check(folder, feed, alone[0])
    np.testing.assert_array_equal(model(*feed.values())[0], alone[0]["y"])
    found, more = {}, {}

    def work(ranks):
        session = model.session(threads=1, ranks=ranks)
        found[ranks.rank] = [session.run(batch) for batch in batches]
        before = session.allocations
        session.run(feed)
        more[ranks.rank] = session.allocations - before
        ranks.finish()
    threads = [threading.Thread(target=work, args=(ranks,)) for ranks in mlc.Ranks.threads(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for rank in range(3):
        assert all(same_bits(a, b) for a, b in zip(found[rank], alone))
        assert more[rank] == 0
    with pytest.raises(mlc.UsageError, match="input 'x' has 10 samples, which 3 micro-batches do not divide; give a multiple of 3"):
        model.run({"x": feed["x"][:10], "u": feed["u"][:10], "shared": feed["shared"]})
    with pytest.raises(mlc.UsageError, match="is a pipeline of 3 stages"):
        mlc.Session(model)
    with pytest.raises(mlc.UsageError, match="input 'u' is missing"):
        model.run({"x": feed["x"], "shared": feed["shared"]})


def test_a_fixed_batch_is_that_of_a_micro_batch(tools, tmp_path):
    """Three times the model's four samples, on a model that mixes samples."""
    model, inputs, _ = trained.build("resnet")
    onnx.save(model, tmp_path / "m.onnx")
    x = np.concatenate([inputs["x"], inputs["x"][::-1], -inputs["x"]])
    np.savez(tmp_path / "i.npz", x=x)
    compile(tools, tmp_path, "--stages=2", "--micro-batches=3")
    alone = run(tools, tmp_path)
    assert same_bits(alone, run(tools, tmp_path, "--ranks=2"))
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    parts = [session.run(None, {"x": x[i:i + 4]})[0] for i in (0, 4, 8)]
    np.testing.assert_allclose(next(iter(alone.values())), np.concatenate(parts), rtol=1e-4, atol=1e-5)
    # An open batch may have any size, so its micro-batches have to be alike.
    onnx.save(convert(model, "float32"), tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--stages=2", "--micro-batches=3")
    assert done.returncode == 4 and "cannot be carried out in micro-batches: it depends on the number of samples, N" in done.stderr


@pytest.mark.parametrize("flags,message", [
    (["--stages=0"], "--stages must be at least 1"),
    (["--stages=1"], "a pipeline has two stages at least"),
    (["--stages=90"], "operators, too few for 90 stages"),
    (["--stages=2", "--stage-ends=relu"], "leave --stages out"),
    (["--stage-ends=rel"], "has no node 'rel' to end a stage with; did you mean 'relu'?"),
    (["--micro-batches=2"], "micro-batches and a schedule are of stages, and there is one; give --stages=N"),
    (["--stages=2", "--micro-batches=0"], "1 to 1048576 micro-batches, not 0"),
    (["--stages=2", "--micro-batches=1000000000"], "1 to 1048576 micro-batches, not 1000000000"),
    (["--stages=2", "--mesh=stage=3"], "3 ranks for 2 stages"),
    (["--stages=2", "--mesh=data=2"], "the stages of a model are on the axis \"stage\", and 'data' would split them"),
    (["--stages=2", "--mesh=stage=2", "--shard=w0=stage"], "leave shardings and the algorithm out"),
    (["--stages=2", "--pipeline=best"], "'best'"),
    (["--stages=2", "--micro-batches=4", "--pipeline=pipedream"], "the schedule pipedream has no forward passes for inference"),
    (["--stages=2", "--pipeline=none.csv"], "none.csv: "),
    (["--stages=2", "--parameter=w0"], "has the parameter 'w0', and stages of a model without training have constants alone"),
    (["--stages=2", "--emit=cuda"], "the program of --emit runs on one rank"),
])
def test_refusals(tools, layers, flags, message):
    folder, _ = layers
    out = folder / "refused"
    done = tools.mlc("compile", folder / "m.onnx", "-o", out, *flags)
    assert done.returncode != 0 and message in done.stderr, done.stderr
    assert not out.exists()


@pytest.mark.parametrize("plan,message", [
    ({"stages": [{"until": "relu"}, {}], "micro_batches": 2, "zero": 1}, '"zero": is of mlc train'),
    ({"stages": 2, "micro_batches": "two"}, '"micro_batches": expected a whole number, not a string'),
    ({"stages": [{"until": "relu", "ranks": "0"}, {"ranks": "0"}], "mesh": {"stage": 2}}, 'rank 0 is in the "ranks" of stages 0 and 1'),
    ({"stages": 2, "schedule": ""}, '"schedule": expected the name of a schedule'),
    ({"micro_batches": 2}, "a pipeline has two stages at least"),
])
def test_bad_plans(tools, layers, plan, message):
    folder, _ = layers
    (folder / "plan.json").write_text(json.dumps(plan))
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", f"--plan={folder / 'plan.json'}")
    assert done.returncode == 3 and f"plan.json: {message}" in done.stderr, done.stderr


@pytest.mark.parametrize("table,message", [
    ("0F0,0F1\n1F1\n", "1F0"), ("0F0,0F1,0F0\n1F0,1F1\n", "rank 0, cell 3, 0F0"),
    ("0F0,0F1\n", "has 1 line, one for each rank, and there are 2 ranks"),
    ("0F0,0F1\n1F0,1F1,1F2\n", "1F2"), ("0F0.0,0F0.1\n1F0.0,1F0.1\n", "slices of sequences are of training")])
def test_bad_tables(tools, layers, table, message):
    folder, _ = layers
    (folder / "t.csv").write_text(table)
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", "--stages=2", "--micro-batches=2", "--mesh=stage=2",
                     f"--pipeline={folder / 't.csv'}")
    assert done.returncode != 0 and "t.csv: " in done.stderr and message in done.stderr, done.stderr


def small(folder, node, dims=("N", 4), result=("N", 4), **attributes):
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["a"], name="relu"), helper.make_node(node, ["a"], ["y"], name="last", **attributes)], "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")


@pytest.mark.parametrize("model,message", [
    (dict(node="Softmax", axis=0), "cannot be carried out in micro-batches: it mixes samples"),
    (dict(node="ReduceSum", result=(1, 1)), "it mixes samples"),
    (dict(node="Transpose", result=(4, "N"), perm=[1, 0]), "result 'y' does not have the samples of a batch along its first dim"),
    (dict(node="Sigmoid", dims=("N", "N"), result=("N", "N")), "input 'x' has samples along dim 1, N"),
    (dict(node="ReduceSum", dims=(3, 4), result=(), keepdims=0), "result 'y' does not have the 3 samples of a batch along its first dim"),
    (dict(node="Sigmoid", dims=(), result=()), "has no input with dims, so there is no batch to divide"),
])
def test_what_cannot_be_divided(tools, tmp_path, model, message):
    small(tmp_path, **model)
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--stages=2", "--micro-batches=2")
    assert done.returncode == 4 and message in done.stderr, done.stderr
    # Whole batches can go through the stages.
    compile(tools, tmp_path, "--stages=2")


def test_a_batch_that_does_not_divide(tools, layers):
    folder, _ = layers
    compile(tools, folder, "--stages=2", "--micro-batches=5")
    for ranks in ([], ["--ranks=2"]):
        done = tools.mlc("run", folder / "m.mlca", "--input", folder / "i.npz", *ranks)
        assert done.returncode == 2 and "input 'x' has 12 samples, which 5 micro-batches do not divide; give a multiple of 5" in done.stderr
    done = tools.mlc("run", folder / "m.mlca", "--input", folder / "i.npz", "--ranks=3")
    assert done.returncode == 2 and "2 stages" in done.stderr and "there are 3" in done.stderr, done.stderr
    done = tools.mlc("bench", folder / "m.mlca")
    assert done.returncode == 2 and "is a pipeline of 2 stages" in done.stderr, done.stderr


KILLED = """
import os, signal, sys
import mlc, numpy as np
ranks = mlc.Ranks(timeout=60)
session = mlc.load(sys.argv[1]).session(threads=1, ranks=ranks)
feed = dict(np.load(sys.argv[2]))
session.run(feed)
if ranks.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    session.run(feed)
except mlc.Error as failure:
    print(f"on rank {ranks.rank}: {failure}", file=sys.stderr, flush=True)
    ranks.abort(9)
"""


def test_a_killed_rank(tools, layers):
    """The others, which wait for it, name it and end."""
    folder, _ = layers
    library, launcher = LAUNCHERS["gloo"]
    if not (tools.build / "lib" / library).exists():
        pytest.skip("there is no engine gloo")
    compile(tools, folder, "--stages=3", "--micro-batches=4")
    (folder / "killed.py").write_text(KILLED)
    package = pathlib.Path(mlc.__file__).parents[1]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [subprocess.Popen(
        [sys.executable, folder / "killed.py", folder / "m.mlca", folder / "i.npz"], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(package), "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "3",
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}) for rank in range(3)]
    errors = [process.communicate(timeout=100)[1] for process in processes]
    assert all(process.returncode for process in processes)
    assert all(re.search(f"on rank {rank}: .*rank 1", errors[rank]) for rank in (0, 2)), errors
