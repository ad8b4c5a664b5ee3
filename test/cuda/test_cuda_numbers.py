"""Numbers that an attack from outside found wrong, and what may not be in an artifact."""

import math
import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper


def run(tools, folder, nodes, x, kind, opset=17):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, list(x.shape))],
                              [helper.make_tensor_value_info("y", T.FLOAT, list(x.shape))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), folder / "m.onnx")
    np.save(folder / "x.npy", x)
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", "--target=cuda:sm_80")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("run", folder / "m.mlca", "--device=emulator", "--input", f"x={folder / 'x.npy'}",
                     "--output-dir", folder / "out")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return np.load(folder / "out/0.npy")


@pytest.mark.parametrize("dtype, kind", [(np.int64, T.INT64), (np.int32, T.INT32), (np.uint32, T.UINT32)])
def test_integers_are_rounded_to_float16(tools, tmp_path, dtype, kind):
    x = np.array([2049, 70000, 65519, 65520, 16777217, 3], dtype)
    y = run(tools, tmp_path, [helper.make_node("Cast", ["x"], ["h"], to=T.FLOAT16),
                              helper.make_node("Cast", ["h"], ["y"], to=T.FLOAT)], x, kind)
    np.testing.assert_array_equal(y, [2048, np.inf, 65504, np.inf, np.inf, 3])


def test_integers_are_rounded_to_bfloat16(tools, tmp_path):
    y = run(tools, tmp_path, [helper.make_node("Cast", ["x"], ["h"], to=T.BFLOAT16),
                              helper.make_node("Cast", ["h"], ["y"], to=T.FLOAT)], np.array([257, 255, -257]), T.INT64)
    np.testing.assert_array_equal(y, [256, 255, -256])


FLOATS = {"half": np.float16, "single": np.float32, "double": np.float64}
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FAR = [np.nan, np.inf, -np.inf, 0.99, -0.99, -1.5, 127.9, 128, -128.9, -129, 255.5, 300.75, 32767.5, -32769, 65504, 65536, -7e4,
       2147483520, 2147483647, 2147483648, -2147483648, -2147484000, 4294967040, 4294967295, 4294967296, 1e10, -1e10,
       9.2233714e18, 9.3e18, -9.2233720e18, -9.4e18, 1.8e19, 1.9e19, 1e30, -1e30]


def truncated(value, kind):
    """Docs/Judges.md: towards 0, what does not fit to the nearest end, NaN to 0."""
    ends = np.iinfo(kind)
    if np.isnan(value):
        return 0
    return min(max(int(value) if np.isfinite(value) else int(np.sign(value)) << 70, ends.min), ends.max)


def test_casts_that_do_not_fit_have_one_rule(tools, tmp_path):
    """The evaluator in both precisions, folding, CPU and GPU."""
    with np.errstate(over="ignore"):
        arrays = {name: np.array(FAR, kind) for name, kind in FLOATS.items()}
    nodes, outputs, want = [], [], {}
    for name, x in arrays.items():
        for source in (name, f"{name}_constant"):
            for kind in (*INTEGERS, np.bool_):
                result = f"{source}_{np.dtype(kind).name}"
                to = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
                nodes.append(helper.make_node("Cast", [source], [result], to=to))
                outputs.append(helper.make_tensor_value_info(result, to, x.shape))
                want[result] = x != 0 if kind is np.bool_ else np.array([truncated(v, kind) for v in x], kind)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in arrays.items()]
    constants = [onnx.numpy_helper.from_array(x, f"{name}_constant") for name, x in arrays.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    for name, x in arrays.items():
        np.save(tmp_path / f"{name}.npy", x)
    files = [tmp_path / f"{name}.npy" for name in arrays]

    def made(folder, *command, inputs):
        done = tools.run(*command, *inputs, f"--output-dir={tmp_path / folder}")
        assert (done.returncode, done.stderr) == (0, "")
        for i, (name, value) in enumerate(want.items()):
            got = np.load(tmp_path / folder / f"{i}.npy")
            np.testing.assert_array_equal(got.astype(value.dtype) if "eval" in folder else got, value, f"{folder}, {name}")

    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlir", "--compile-to=import")
    assert done.returncode == 0, done.stderr
    for domain in ("native", "float64"):
        made(f"eval {domain}", "mlc-eval", tmp_path / "m.mlir", f"--domain={domain}", inputs=[f"--input={file}" for file in files])
    for target in ("cpu", "cuda:sm_80"):
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", f"--target={target}")
        assert done.returncode == 0, done.stderr
        device = [] if target == "cpu" else ["--device=emulator"]
        made(target[:4], "mlc", "run", tmp_path / "m.mlca", *device, inputs=[f"--input={file.stem}={file}" for file in files])


@pytest.mark.parametrize("op, want", [
    ("Softplus", lambda x: np.log1p(np.exp(x))), ("Elu", np.expm1), ("Selu", lambda x: 1.75809934 * np.expm1(x))])
def test_small_values_keep_their_digits(tools, tmp_path, op, want):
    x = np.array([-60, -20, -15, -1e-3, -1e-6], np.float32)
    y = run(tools, tmp_path, [helper.make_node(op, ["x"], ["y"])], x, T.FLOAT)
    np.testing.assert_allclose(y, want(x.astype(np.float64)), rtol=2e-6)


@pytest.mark.parametrize("kind", [T.FLOAT16, T.BFLOAT16])
def test_tails_of_gelu_keep_their_digits(tools, tmp_path, kind):
    """1 + erf(x), of which a difference of 16-bit numbers near 1 would leave nothing."""
    x = np.concatenate([np.linspace(-5, 5, 2001), [-np.inf, np.inf, np.nan, 0]]).astype(np.float16)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    nodes = [helper.make_node("Cast", ["x"], ["c"], to=kind), helper.make_node("Gelu", ["c"], ["g"]),
             helper.make_node("Cast", ["g"], ["y"], to=T.FLOAT)]
    y = run(tools, tmp_path, nodes, x, T.FLOAT16, 20)
    wide = x.astype(dtype).astype(np.float64)
    with np.errstate(invalid="ignore"):
        want = wide * 0.5 * np.array([math.erfc(-value / math.sqrt(2)) for value in wide])
    want[np.isneginf(wide)] = y[np.isneginf(wide)]  # -inf times 0 is no number
    np.testing.assert_allclose(y, want, rtol=1e-3 if kind == T.FLOAT16 else 5e-3, atol=1e-7)


def test_sums_behind_error_functions_keep_their_digits(tools, tmp_path):
    """1 + erf(x) - 1 as float16: all but the error of the first sum is cancelled."""
    x = np.linspace(-1e-2, 1e-2, 101).astype(np.float32)
    nodes = [helper.make_node("Constant", [], ["one"], value_float=1.0), helper.make_node("Erf", ["x"], ["e"]),
             helper.make_node("Add", ["e", "one"], ["s"]), helper.make_node("Sub", ["s", "one"], ["d"]),
             helper.make_node("Cast", ["d"], ["h"], to=T.FLOAT16), helper.make_node("Cast", ["h"], ["y"], to=T.FLOAT)]
    y = run(tools, tmp_path, nodes, x, T.FLOAT)
    np.testing.assert_allclose(y, [math.erf(value) for value in x], rtol=1e-3, atol=3e-7)


def test_artifacts_do_not_tell_where_they_were_made(tools, tmp_path):
    """Neither the cache nor the current folder is in the bytes."""
    graph = helper.make_graph([helper.make_node("Sin", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", T.FLOAT, [9])],
                              [helper.make_tensor_value_info("y", T.FLOAT, [9])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    made = []
    for name, cache in (("first folder", "off"), ("second", tmp_path / "cache"), ("third", tmp_path / "cache")):
        (tmp_path / name).mkdir()
        done = tools.run("mlc", "compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80",
                         cwd=tmp_path / name, env={**os.environ, "MLC_CACHE": str(cache)})
        assert done.returncode == 0, done.stderr
        made.append((tmp_path / "m.mlca").read_bytes())
        assert name.encode() not in made[-1]
    assert made[0] == made[1] == made[2]
