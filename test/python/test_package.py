"""The Python package: what it takes, what it refuses, what it gives back. Judged by
ONNX Runtime and NumPy."""

import inspect
import pathlib
import re
import subprocess
import sys

import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from mlc import _errors
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(5)
FLOAT = TensorProto.FLOAT


def f32(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def proto_of(nodes, inputs, outputs, weights=None):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, *info) for name, info in inputs.items()],
        [helper.make_tensor_value_info(name, *info) for name, info in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


WEIGHTS = {"w": f32(6, 5), "b": f32(5)}
DENSE = proto_of([helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["s"]),
                  helper.make_node("Relu", ["s"], ["y"])],
                 {"x": (FLOAT, ["n", 6])}, {"s": (FLOAT, ["n", 5]), "y": (FLOAT, ["n", 5])}, WEIGHTS)
ABS = proto_of([helper.make_node("Abs", ["x"], ["y"])], {"x": (FLOAT, ["n"])}, {"y": (FLOAT, ["n"])})


def typed(element):
    return mlc.compile(proto_of([helper.make_node("Identity", ["x"], ["y"])],
                                {"x": (element, ["n"])}, {"y": (element, ["n"])}))


def judged(proto, arrays):
    return onnxruntime.InferenceSession(proto.SerializeToString()).run(None, arrays)


@pytest.fixture(scope="module")
def dense():
    return mlc.compile(DENSE)


@pytest.fixture(scope="module")
def absolute():
    return mlc.compile(ABS.SerializeToString())


def test_a_model_says_what_it_takes(dense):
    assert dense.inputs == (mlc.Port("x", "float32", ("n", 6)),)
    assert [port.name for port in dense.outputs] == ["s", "y"]
    assert repr(dense) == "<mlc.Model (x: float32[n, 6]) -> (s: float32[n, 5], y: float32[n, 5])>"
    assert dense.manifest["inputs"][0]["name"] == "x" and dense.parameters == ()
    assert {kind for _, kind in dense.steps} == {"launch"}
    assert mlc.devices()[0] == "cpu" and mlc.version() == dense.manifest["version"]


def test_all_ways_to_run_agree_with_onnx_runtime(dense):
    x = f32(3, 6)
    want = judged(DENSE, {"x": x})
    for got in (dense(x), dense(x=x), dense.run({"x": x}).values(), dense.run([x]).values(),
                mlc.Session(dense, threads=2).run_async({"x": x}).result().values()):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_one_output_is_an_array(absolute):
    x = f32(7)
    assert isinstance(absolute(x), np.ndarray)
    np.testing.assert_array_equal(absolute(x), np.abs(x))
    np.testing.assert_array_equal(absolute(x[::2]), np.abs(x[::2]))  # not dense
    assert absolute(f32(0)).shape == (0,)


@pytest.mark.parametrize("given,text", [
    ([f32(2, 6).astype(np.float64)], "input 'x' is float64, the model takes float32; convert it"),
    ([np.arange(12).reshape(2, 6)], "input 'x' is int64"),
    ([f32(6)], "input 'x' has 1 dims, the model takes 2"),
    ([f32(2, 5)], "dim 1 is 5, the model needs 6"),
    ([], "input 'x' is missing"),
    ([f32(2, 6), f32(2, 6)], "2 inputs are given, the model has 1"),
    (["text"], "is made of str"),
    ([[[1, 2, 3, 4, 5, "6"]]], "is made of"),
])
def test_wrong_inputs_are_refused_by_name(dense, given, text):
    with pytest.raises(mlc.UsageError, match=text) as caught:
        dense(*given)
    assert caught.value.code == 2


def test_wrong_names_are_refused(dense):
    with pytest.raises(mlc.UsageError, match="there is no input 'z'; the model has x"):
        dense.run({"x": f32(2, 6), "z": 1})
    with pytest.raises(mlc.UsageError, match="given twice"):
        dense(f32(2, 6), x=f32(2, 6))


def test_python_numbers_are_taken_where_they_are_exact(absolute):
    assert absolute([1, -2, 0.5]).tolist() == [1, 2, 0.5]
    assert absolute([]).shape == (0,)
    np.testing.assert_array_equal(absolute([0.1]), np.float32([0.1]))
    with pytest.raises(mlc.UsageError, match="does not have"):
        absolute([2**24 + 1])


@pytest.mark.parametrize("element,good,bad", [
    (TensorProto.INT64, [-2**63, 2**63 - 1], [[1.0], [True], [2**63]]),
    (TensorProto.UINT8, [0, 255], [[256], [-1], [0.5]]),
    (TensorProto.BOOL, [True, False], [[1], [0.0]]),
    (TensorProto.FLOAT16, [1, 0.1, 65504.0], [[True], [2049], [65520]]),
    (TensorProto.BFLOAT16, [1, 0.5], [[257]]),
])
def test_lists_of_other_types(element, good, bad):
    model = typed(element)
    dtype = model(good).dtype
    assert model(good).tolist() == np.array(good).astype(dtype).tolist()
    for values in bad:
        with pytest.raises((mlc.UsageError, OverflowError)):
            model(values)


class Capsule:
    """An array that is nothing but DLPack."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device, 0


def test_dlpack_is_taken_without_a_copy(absolute):
    memory = np.zeros(64 + 16, np.uint8)
    x = memory[-memory.ctypes.data % 64:][:16].view(np.float32)
    session = mlc.Session(absolute, threads=1)
    session.bind({"x": Capsule(x)})
    for value in (-3, 4):
        x[:] = value
        session.invoke()
        assert session.outputs()["y"].tolist() == [abs(value)] * 4
    with pytest.raises(mlc.UsageError, match="copy it to the CPU"):
        absolute(Capsule(x, device=2))
    np.testing.assert_array_equal(np.from_dlpack(absolute(x)), np.abs(x))


def test_results_do_not_change_with_the_next_run(absolute):
    session = mlc.Session(absolute)
    first = session.run({"x": [-1.0, 2.0]})["y"]
    view = session.run({"x": [-3.0, 4.0]}, copy=False)["y"]
    assert first.tolist() == [1, 2] and view.tolist() == [3, 4]
    session.run({"x": [5.0, 6.0]})
    assert view.tolist() == [5, 6]
    del session
    assert view.tolist() == [5, 6]  # the memory lives as long as its views


@pytest.mark.parametrize("offset", [0, 1])
def test_outputs_are_left_in_the_callers_arrays(dense, offset):
    session = mlc.Session(dense)
    memory = np.full(64, 7, np.float32)
    out = memory[offset:offset + 15].reshape(3, 5)
    x = f32(3, 6)
    results = session.run({"x": x}, out={"y": out})
    assert results["y"] is out
    np.testing.assert_allclose(out, judged(DENSE, {"x": x})[1], rtol=1e-5, atol=1e-6)
    assert (np.delete(memory, np.arange(offset, offset + 15)) == 7).all()
    smaller = session.run({"x": x[:2]}, out={"y": out})["y"]
    assert smaller.shape == (2, 5) and smaller.base is not None
    with pytest.raises(mlc.UsageError, match="output 'y' has 80 bytes, and the memory given for it 60"):
        session.run({"x": f32(4, 6)}, out={"y": out})
    session.run({"x": -x})  # into the session's own memory again
    np.testing.assert_allclose(out[:2], judged(DENSE, {"x": x})[1][:2], rtol=1e-5, atol=1e-6)


def test_arrays_for_outputs_are_checked(dense):
    session, x = mlc.Session(dense), f32(2, 6)
    good = np.zeros((2, 5), np.float32)
    frozen = good.copy()
    frozen.flags.writeable = False
    for out, text in (({"q": good}, "there is no output 'q'"), ({"y": good.astype(np.float64)}, "numpy array of float32"),
                      ({"y": good.T}, "dense"), ({"y": frozen}, "writable"), ({"y": [0.0]}, "numpy array")):
        with pytest.raises(mlc.UsageError, match=text):
            session.run({"x": x}, out=out)
    with pytest.raises(mlc.UsageError, match="overlaps"):
        session.run({"x": x}, out={"y": x.reshape(-1)[:10].reshape(2, 5)})


def test_a_run_beside_the_caller(absolute):
    session = mlc.Session(absolute)
    x = f32(1 << 20)
    run = session.run_async({"x": x})
    try:
        session.invoke()
        assert run.done()  # it may end at any moment
    except mlc.UsageError as refused:
        assert re.search("call its result.. first", str(refused))
    np.testing.assert_array_equal(run.result()["y"], np.abs(x))
    assert run.done() and run.result() is run.result()
    failing = mlc.Session(mlc.compile(DENSE)).run_async({"x": f32(2, 5)})
    for _ in range(2):
        with pytest.raises(mlc.UsageError, match="dim 1 is 5"):
            failing.result()


def test_parameters_can_be_set():
    model = mlc.compile(DENSE, parameters=["w"], dims={"n": 3})
    assert model.parameters == (mlc.Port("w", "float32", (6, 5)),)
    one, other, x = mlc.Session(model), mlc.Session(model), f32(3, 6)
    changed = f32(6, 5)
    one.set_parameter("w", changed)
    np.testing.assert_array_equal(one.parameter("w"), changed)
    np.testing.assert_array_equal(other.parameter("w"), WEIGHTS["w"])
    for session, weight in ((one, changed), (other, WEIGHTS["w"])):
        np.testing.assert_allclose(session.run({"x": x})["s"], x @ weight + WEIGHTS["b"], rtol=1e-5, atol=1e-5)
    for name, value, text in (("w", changed.T, "dim 0 is 5, the model needs 6"), ("b", f32(5), "no parameter 'b'"),
                              ("w", changed.astype(np.float16), "parameter 'w' is float16")):
        with pytest.raises(mlc.UsageError, match=text):
            one.set_parameter(name, value)


def test_a_packed_parameter_is_packed_again():
    """A blocked convolution, whose weights a step of the program packs."""
    weight = f32(24, 16, 3, 3)
    proto = proto_of([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)],
                     {"x": (FLOAT, [1, 16, 9, 9])}, {"y": (FLOAT, [1, 24, 9, 9])}, {"w": weight})
    session, x = mlc.Session(mlc.compile(proto, parameters=["w"]), profile=True), f32(1, 16, 9, 9)

    def check(proto):
        np.testing.assert_allclose(session.run({"x": x})["y"], judged(proto, {"x": x})[0], rtol=1e-4, atol=1e-4)
    check(proto)
    assert 0 not in session.step_times
    check(proto)
    assert 0 in session.step_times  # packed already
    before = session.allocations
    changed = onnx.ModelProto.FromString(proto.SerializeToString())
    changed.graph.initializer[0].CopyFrom(numpy_helper.from_array(-2 * weight, "w"))
    session.set_parameter("w", -2 * weight)
    check(changed)
    check(changed)
    assert session.allocations == before + 1  # the copy


def test_steady_state_allocates_nothing(dense):
    session, x = mlc.Session(dense), f32(4, 6)
    out = np.zeros((4, 5), np.float32)

    def cycle():
        session.run({"x": x}, out={"y": out})
        session.run_async({"x": x}, out={"y": out}).result()
        session.run({"x": x})
    cycle()
    before = session.allocations
    cycle()
    assert session.allocations == before
    assert session.memory.allocated_bytes >= session.memory.arena_bytes > 0


def test_save_and_load(dense, tmp_path):
    dense.save(tmp_path / "m.mlca")
    x = f32(2, 6)
    for model in (mlc.load(tmp_path / "m.mlca"), mlc.load((tmp_path / "m.mlca").read_bytes())):
        np.testing.assert_array_equal(model(x)[1], dense(x)[1])
        model.save(tmp_path / "again.mlca")
        assert (tmp_path / "again.mlca").read_bytes() == (tmp_path / "m.mlca").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.mlca", "m.mlca"]


def test_errors_are_the_tools(tmp_path):
    with pytest.raises(mlc.BadFileError) as caught:
        mlc.load(tmp_path / "absent.mlca")
    assert caught.value.code == 3
    with pytest.raises(mlc.BadFileError):
        mlc.load(b"no artifact")
    with pytest.raises(mlc.BadFileError):
        mlc.compile(tmp_path / "absent.onnx")
    with pytest.raises(mlc.UsageError, match="no open dim 'k'"):
        mlc.compile(DENSE, dims={"k": 3})
    loop = proto_of([helper.make_node("NonZero", ["x"], ["y"])], {"x": (FLOAT, [3])}, {"y": (TensorProto.INT64, [1, "k"])})
    with pytest.raises(mlc.UnsupportedError, match="NonZero") as caught:
        mlc.compile(loop)
    assert "mlc: error" not in str(caught.value)
    with pytest.raises(mlc.DeviceError, match="no device 'cuda:0'"):
        mlc.Session(mlc.compile(ABS), device="cuda:0")


def test_how_rewrites_are_searched():
    assert mlc.optimize(DENSE, search="backtracking", search_steps=1e-9).report["stop_reason"] == "step-limit"
    assert "--search-steps=2.5" in mlc.compile(DENSE, search_steps=2.5, time_limit=1e3).manifest["flags"]
    with pytest.raises(mlc.UsageError, match="^search_steps: "):
        mlc.compile(DENSE, search_steps=0)
    with pytest.raises(mlc.ResourceError, match="not done after the 1e-06 s of time_limit"):
        mlc.compile(DENSE, time_limit=1e-6)


def test_every_flag_is_an_argument(tools):
    """Of what makes a program; flags that write or print something else are the command line's alone."""
    names = {"dim": "dims", "micro-batches": "accumulate", "no-rewrites": "rewrites", "parameter": "parameters"}

    def check(command, arguments, others):
        flags = re.findall(r"^  --([a-z0-9-]+)", tools.mlc(command, "--help").stdout, re.M)
        missing = [flag for flag in flags if not {names.get(flag), flag.replace("-", "_")} & set(arguments) and flag not in others]
        assert len(flags) > 10 and not missing, (command, missing)

    general = {"help", "help-list"}
    check("compile", inspect.signature(mlc.compile).parameters, general | {"compile-to", "emit", "explain", "json", "print-plan"})
    check("optimize", inspect.signature(mlc.optimize).parameters, general | {"explain", "json"})
    own = {*inspect.signature(mlc.Trainer).parameters, *re.findall(r"\w+", mlc.Trainer.__doc__)}
    check("train", own, general | {"artifact", "best", "checkpoint", "checkpoint-every", "compile-to", "data", "engine", "evaluate", "evaluate-every",
                                   "export", "groups", "log", "log-every", "metric", "print-plan", "resume", "seed", "staleness", "steps", "timeout"})


def test_a_program_for_ranks_of_a_mesh():
    model = mlc.compile(DENSE, dims={"n": 8}, mesh={"data": 2, "fsdp": 2}, shard={"x": "data+fsdp"}, algorithm="ring", fp="strict",
                        precision="ieee", checked=True, memory_budget="1MiB")
    assert model.mesh == {"data": 2, "fsdp": 2} and len(model.part("x", f32(8, 6), 3)) == 2
    flags = model.manifest["flags"]
    for flag in ("--mesh=data=2,fsdp=2", "--shard=x=data+fsdp", "--algorithm=ring", "--fp=strict", "--checked"):
        assert flag in flags
    with pytest.raises(mlc.UsageError, match="'b' is no axis of the mesh"):
        mlc.compile(DENSE, mesh={"a": 2}, shard={"x": "b"})
    with pytest.raises(mlc.UsageError, match="mesh: expected a dict, not 'data=2'"):
        mlc.compile(DENSE, mesh="data=2")
    with pytest.raises(mlc.UsageError, match="^fp='exact': "):
        mlc.compile(DENSE, fp="exact")


def test_optimize_and_compare(tmp_path):
    made = mlc.optimize(DENSE)
    x = f32(2, 6)
    for got, want in zip(judged(made.proto(), {"x": x}), judged(DENSE, {"x": x})):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert made.report["search"] == "egraph"
    made.save(tmp_path / "o.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "o.onnx"))
    report = mlc.compare(DENSE, dims={"n": 2}, seed=3)
    assert report and {entry["name"] for entry in report.outputs} == {"s", "y"}
    assert report.reference.startswith("ONNX Runtime")
    assert not mlc.compare(DENSE, {"x": x}, tolerance=1e-30) or not any(
        entry["error"] for entry in mlc.compare(DENSE, {"x": x}).outputs)


def test_without_a_compiler(dense, tmp_path, tools):
    """The package alone loads and runs; what compiles says what is missing."""
    dense.save(tmp_path / "m.mlca")
    package = tmp_path / "site" / "mlc"
    package.mkdir(parents=True)
    for file in (tools.source / "runtime/python/mlc").glob("*.py"):
        (package / file.name).write_bytes(file.read_bytes())
    (package / "libmlc_runtime.so").write_bytes((tools.build / "lib/libmlc_runtime.so").read_bytes())
    code = ("import mlc, numpy as np; m = mlc.load('m.mlca'); print(m(np.zeros((1, 6), np.float32))[1].shape)\n"
            "try: mlc.compile('m.onnx')\nexcept mlc.DeviceError as e: print(e)")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""})
    assert done.returncode == 0, done.stderr
    assert "(1, 5)" in done.stdout and "the executable mlc, which compiles, is not here" in done.stdout


def test_errors_are_those_of_the_list_of_exit_codes():
    listed = {int(code) for code in re.findall(r"^MLC_EXIT\(\w+, (\d+),", (ROOT / "runtime/ExitCodes.def").read_text(),
                                               re.M)}
    assert listed == {0, 130} | set(_errors._BY_CODE)
