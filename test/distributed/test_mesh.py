"""mlc compile --mesh: a model for many ranks gives what ONNX Runtime gives."""

import json
import re
import subprocess

import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import trained
from networks import FULL, convert
from test_processes import LAUNCHERS

SEEDS = range(60) if FULL else (0, 2, 5, 11, 17, 23)
CUBES = range(300) if FULL else range(4)


def run(tools, folder, *launch):
    out = folder / f"{len(launch)}.npz"
    done = subprocess.run(
        [*launch, tools.build / "bin/mlc", "run", folder / "m.mlca", "--input", folder / "i.npz", "--output-npz", out,
         *([] if launch else ["--engine=inproc"])], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with np.load(out) as file:
        return dict(file)


def expected(folder, feed):
    session = onnxruntime.InferenceSession(folder / "m.onnx")
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feed)))


def random_mesh(numbers):
    axes = {"a": int(numbers.integers(1, 5))}
    if numbers.random() < 0.6:
        axes["b"] = int(numbers.integers(1, 4))
    while np.prod(list(axes.values())) > 8:
        axes["a"] -= 1
    return axes


def random_shardings(numbers, model, axes):
    """Of most inputs, weights and outputs: each axis splits one dim, or none; several may split the same."""
    tensors = {tensor.name: len(tensor.dims) for tensor in model.graph.initializer
               if tensor.data_type == TensorProto.FLOAT}
    for port in [*model.graph.input, *model.graph.output]:
        tensors[port.name] = len(port.type.tensor_type.shape.dim)
    for name, rank in tensors.items():
        if not rank or numbers.random() < 0.4:
            continue
        dims = ["-"] * rank
        for axis in axes:
            place = int(numbers.integers(rank))
            if numbers.random() < 0.7:
                dims[place] = axis if dims[place] == "-" else f"{dims[place]}+{axis}"
        yield f"--shard={name}={','.join(dims)}"


@pytest.mark.parametrize("seed", SEEDS)
def test_any_sharding(tools, tmp_path, seed):
    numbers = np.random.default_rng(seed)
    model, inputs, _ = trained.build(str(numbers.choice(list(trained.NETWORKS))))
    onnx.save(model, tmp_path / "m.onnx")
    axes = random_mesh(numbers)
    rewrites = ["--no-rewrites"] if numbers.random() < 0.7 else ["--search-steps=0.1"]
    mesh = ",".join(f"{axis}={size}" for axis, size in axes.items())
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", f"--mesh={mesh}", *rewrites,
                     *random_shardings(numbers, model, axes))
    assert done.returncode == 0, done.stderr
    feed = {port.name: inputs[port.name] for port in model.graph.input}
    np.savez(tmp_path / "i.npz", **feed)
    found = run(tools, tmp_path)
    for name, value in expected(tmp_path, feed).items():
        assert found[name].shape == value.shape
        assert np.max(np.abs(found[name] - value)) <= 1e-5 * np.max(np.abs(value)), done.args


@pytest.mark.parametrize("seed", CUBES)
def test_any_sharding_of_open_dims(tools, tmp_path, seed):
    """On meshes up to 2 x 2 x 2, whatever is split; what is split along an open dim needs its size."""
    numbers = np.random.default_rng(1000 + seed)
    model, inputs, _ = trained.build(str(numbers.choice(list(trained.NETWORKS))))
    onnx.save(convert(model, "float32"), tmp_path / "m.onnx")
    axes = {axis: int(numbers.integers(1, 3)) for axis in "abc"}
    flags = [f"--mesh={','.join(f'{axis}={size}' for axis, size in axes.items())}", *random_shardings(numbers, model, axes)]
    arguments = ["compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--no-rewrites", *flags]
    done = tools.mlc(*arguments)
    if done.returncode:
        assert done.returncode in (2, 4) and re.search("open dim|on a rank", done.stderr), (flags, done.stderr)
        samples = len(next(iter(inputs.values())))
        done = tools.mlc(*arguments, f"--dim=N={samples}")
    assert done.returncode == 0, (flags, done.stderr)
    feed = {port.name: inputs[port.name] for port in model.graph.input}
    np.savez(tmp_path / "i.npz", **feed)
    found = run(tools, tmp_path)
    for name, value in expected(tmp_path, feed).items():
        assert found[name].shape == value.shape
        assert np.max(np.abs(found[name] - value)) <= 1e-5 * np.max(np.abs(value)), flags


SMALL = {"Relu": {}, "LogSoftmax": {"axis": 1}, "Transpose": {"perm": [1, 0]}, "Softmax": {"axis": 0}, "CumSum": {}, "Pad": {}, "TopK": {"axis": 0},
         "ReduceSum": {"keepdims": 1}}


@pytest.mark.parametrize("seed", range(200) if FULL else range(10))
def test_uneven_parts_of_several_axes(tools, tmp_path, seed):
    """Dims of odd sizes, known and open, split over two axes and moved by single operators: the parts of a part add up."""
    numbers = np.random.default_rng(seed)
    operator = list(SMALL)[seed % len(SMALL)]
    further = {"CumSum": np.array(1), "Pad": np.array([1, 0, 0, 2]), "TopK": np.array([3]), "ReduceSum": np.array([int(numbers.integers(2))])}
    weights = [numpy_helper.from_array(value, "k") for name, value in further.items() if name == operator]
    outputs = ["y", "i"] if operator == "TopK" else ["y"]
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", *(weight.name for weight in weights)], outputs, **SMALL[operator])], "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 7])],
        [helper.make_tensor_value_info(name, TensorProto.INT64 if name == "i" else TensorProto.FLOAT, [None, None]) for name in outputs], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    axes = {"a": int(numbers.integers(2, 4)), "b": int(numbers.integers(2, 4))}

    def dims():
        first, second = numbers.permutation([["a+b", "-"], ["a", "b"], ["b", "a"], ["-", "b"], ["b", "-"], ["-", "a+b"]])[0]
        return f"{first},{second}"
    flags = [f"--mesh={','.join(f'{axis}={size}' for axis, size in axes.items())}", f"--shard=x={dims()}",
             *(f"--shard={name}={dims()}" for name in outputs)]
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", *flags)
    if done.returncode == 4:
        assert "split along the open dim N" in done.stderr, (flags, done.stderr)
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--dim=N=5", *flags)
    assert done.returncode == 0, (operator, flags, done.stderr)
    np.savez(tmp_path / "i.npz", x=numbers.standard_normal((5, 7)).astype(np.float32))
    found = run(tools, tmp_path)
    for name, value in expected(tmp_path, dict(np.load(tmp_path / "i.npz"))).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6, err_msg=f"{operator} {flags}")


@pytest.fixture
def layers(tmp_path):
    """Two dense layers, as in Megatron-LM: columns, then rows."""
    numbers = np.random.default_rng(0)
    weights = {"w1": (16, 32), "b": (32,), "w2": (32, 8)}
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h"]), helper.make_node("Add", ["h", "b"], ["s"]),
             helper.make_node("Relu", ["s"], ["r"]), helper.make_node("MatMul", ["r", "w2"], ["y"])]
    graph = helper.make_graph(
        nodes, "layers", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 8])],
        [numpy_helper.from_array(numbers.standard_normal(dims).astype(np.float32), name) for name, dims in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    feed = {"x": numbers.standard_normal((6, 16)).astype(np.float32)}
    np.savez(tmp_path / "i.npz", **feed)
    return tmp_path, feed


COLUMNS_AND_ROWS = ["--mesh=tensor=2", "--shard=w1=-,tensor", "--shard=b=tensor", "--shard=w2=tensor"]


@pytest.mark.parametrize("engine", LAUNCHERS)
def test_processes_run_it(tools, layers, engine):
    folder, feed = layers
    library, launcher = LAUNCHERS[engine]
    if not (tools.build / "lib" / library).exists():
        pytest.skip(f"there is no engine {engine}")
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", *COLUMNS_AND_ROWS, "--algorithm=ring")
    assert done.returncode == 0, done.stderr
    threads, processes = run(tools, folder), run(tools, folder, *launcher(str(tools.build / "bin/mlc"), 2))
    assert threads["y"].tobytes() == processes["y"].tobytes()
    assert np.max(np.abs(threads["y"] - expected(folder, feed)["y"])) < 1e-4


def test_weights_are_states_of_parts(tools, layers):
    """Columns and rows need one sum; each rank keeps half of the weights."""
    folder, _ = layers
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", *COLUMNS_AND_ROWS)
    assert done.returncode == 0, done.stderr
    shown = json.loads(tools.mlc("inspect", "--json", folder / "m.mlca").stdout)
    assert shown["mesh"] == {"tensor": 2}
    assert {state["name"] for state in shown["states"]} == {"w1", "b", "w2"}
    text = tools.mlc("inspect", folder / "m.mlca").stdout
    assert text.count("start all_reduce") == 1 and "w1  f32[16, 32], split: dim 1 over tensor" in text
    assert shown["manifest"]["flags"][-len(COLUMNS_AND_ROWS):] == COLUMNS_AND_ROWS


def test_one_dim_over_two_axes(tools, layers):
    """The batch over data and fsdp, of 6 samples 2, 1, 2 and 1; columns over tensor and data."""
    folder, feed = layers
    for flags in (["--mesh=data=2,fsdp=2", "--shard=x=data+fsdp", "--shard=w1=fsdp", "--shard=w2=-,fsdp", "--shard=y=data+fsdp"],
                  ["--mesh=tensor=2,data=2", "--shard=x=data", "--shard=w1=-,tensor+data", "--shard=b=tensor+data", "--shard=w2=tensor"]):
        done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", "--dim=N=6", *flags)
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(run(tools, folder)["y"], expected(folder, feed)["y"], atol=1e-4)
        if "fsdp" in flags[0]:
            model = mlc.load(folder / "m.mlca")
            np.testing.assert_array_equal(np.concatenate([model.part("x", feed["x"], rank) for rank in range(4)]), feed["x"])
            assert [len(model.part("x", feed["x"], rank)) for rank in range(4)] == [2, 1, 2, 1]
            text = tools.mlc("inspect", folder / "m.mlca").stdout
            assert "split: dim 0 over data+fsdp" in text
            shown = json.loads(tools.mlc("inspect", "--json", folder / "m.mlca").stdout)
            assert shown["inputs"][0]["split"] == {"0": "data+fsdp"}


@pytest.mark.parametrize("flags,message", [
    (["--shard=x=a"], "--shard is about the ranks of a mesh, and there is none; give --mesh=AXIS=N,..."),
    (["--algorithm=ring"], "--algorithm is about the ranks of a mesh, and there is none; give --mesh=AXIS=N,..."),
    (["--mesh=a"], "--mesh=a: expected AXIS=N,... with names of letters, digits and _, and N >= 1"),
    (["--mesh=a=0"], "--mesh=a=0: expected AXIS=N,..."),
    (["--mesh=a=99999999999999999999"], "expected AXIS=N,..."),
    (["--mesh=a=2,b=40000"], "has more than 65536 ranks"),
    (["--mesh=a=2,a=2"], "has two axes 'a'; give each another name"),
    (["--mesh=a=2", "--algorithm=best"], "no algorithm 'best'; there are "),
    (["--mesh=a=2", "--algorithm=server"], "give colocated"),
    (["--mesh=a=2", "--algorithm="], "--algorithm= names no algorithm; there are "),
    (["--mesh=b=4,a=3", "--algorithm=butterfly"], "along the axis a: the algorithm butterfly is for a power of two ranks, not 3"),
    (["--mesh="], "--mesh= has no axes; give AXIS=N,..."),
    (["--mesh=a=2", "--shard=w1"], "--shard=w1: expected NAME=AXIS,... with an axis or - for each dim"),
    (["--mesh=a=2", "--shard=w1=b"], "--shard=w1=b, --mesh=a=2: 'b' is no axis of the mesh; a dim that is whole is -"),
    (["--mesh=a=2", "--shard=w1=a,a"], "'a' splits twice; it can split one dim, once"),
    (["--mesh=a=2", "--shard=w1=a+a"], "'a' splits twice; it can split one dim, once"),
    (["--mesh=a=2,b=2", "--shard=w1=b+a"], "'b' stands before 'a'; give them in the order of the mesh, a+b"),
    (["--mesh=a=2", "--shard=w1=a+"], "'' is no axis of the mesh"),
    (["--mesh=a=2", "--shard=w1=a+-"], "'-' is no axis of the mesh"),
    (["--mesh=a=2", "--shard=w1=a", "--shard=w1=-,a"], "'w1' is named twice; say it once, with the axes of all its dims"),
    (["--mesh=a=2", "--shard=w1=a,-,-"], "'w1' has 2 dims, and the sharding of 'w1' says how 3 are split"),
    (["--mesh=a=2", "--shard=v=a"], "m.onnx: has no input, weight, output or node 'v' for --shard; it has x, y, w1, b, w2"),
    (["--mesh=a=2", "--shard=x=a"], "input 'x' is split along the open dim N; give --dim N=SIZE"),
    (["--mesh=a=2", "--emit=cuda"], "--emit and --mesh exclude each other"),
])
def test_refusals(tools, layers, flags, message):
    folder, _ = layers
    out = folder / "refused"
    done = tools.mlc("compile", folder / "m.onnx", "-o", out, *flags)
    assert done.returncode != 0 and message in done.stderr, done.stderr
    assert not out.exists()


def test_names_that_begin_so(tools, layers):
    """w* are both matrices; of several flags that name a tensor the last counts."""
    folder, _ = layers
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", "--mesh=a=2", "--shard=w*=-,a", "--shard=w2=a")
    assert done.returncode == 0, done.stderr
    text = tools.mlc("inspect", folder / "m.mlca").stdout
    assert "w1  f32[16, 32], split: dim 1 over a" in text and "w2  f32[32, 8], split: dim 0 over a" in text


@pytest.mark.parametrize("wide, narrow", [(np.int32, np.int8), (np.uint32, np.int16), (np.float32, np.float16), (np.int64, np.int32)])
def test_rows_that_end_in_one_narrow_element(tools, tmp_path, wide, narrow):
    """17 of them in a row, of which LLVM stores the last as wide as it was before it was narrowed, if one lets it
    (codegen/cpu/MaskedStores.h): over the beginning of what another rank sends."""
    kinds = [helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in (wide, narrow)]
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=kinds[1])], "cast",
                              [helper.make_tensor_value_info("x", kinds[0], [17, 17, 17])],
                              [helper.make_tensor_value_info("y", kinds[1], [17, 17, 17])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    x = np.random.default_rng(0).integers(0, 100, (17, 17, 17)).astype(wide)
    np.savez(tmp_path / "i.npz", x=x)
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--mesh=a=3", "--shard=x=-,a", "--shard=y=a")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(run(tools, tmp_path)["y"], x.astype(narrow))


@pytest.mark.parametrize("ranks", [2, 5])
def test_windows_of_which_ranks_have_no_step(tools, tmp_path, ranks):
    """A filter of up to 2 times as many steps as there are ranks, each of which has its part of them. They lie two apart,
    so that the window of no step would begin behind its end."""
    numbers = np.random.default_rng(ranks)
    for steps in range(1, 2 * ranks + 1):
        x, w = (numbers.standard_normal(dims).astype(np.float32) for dims in [(2, 3, 1), (2, 3, steps)])
        node = helper.make_node("Conv", ["x", "w"], ["y"], dilations=[2], pads=[steps - 1] * 2)
        graph = helper.make_graph([node], "window", [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
                                                     for name, value in {"x": x, "w": w}.items()],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2, 1])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
        np.savez(tmp_path / "i.npz", x=x, w=w)
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", f"--mesh=a={ranks}", "--shard=w=-,-,a")
        assert done.returncode == 0, done.stderr
        want = expected(tmp_path, {"x": x, "w": w})["y"]
        np.testing.assert_allclose(run(tools, tmp_path)["y"], want, rtol=1e-4, atol=1e-4)
