"""What random graphs found, each as small as it became: results are the standard's."""

import math

import mlc
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper


def results(tools, folder, nodes, feed, outputs, opset=17):
    """What these nodes, compiled, give for these inputs."""
    inputs = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feed.items()]
    graph = helper.make_graph(nodes, "found", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / "m.onnx")
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca")
    assert done.returncode == 0, done.stderr
    return list(mlc.load(folder / "m.mlca").run(feed).values())


def output(name, type, shape):
    return helper.make_tensor_value_info(name, type, shape)


def test_large_unsigned_index_is_not_negative(tools, tmp_path):
    depth = helper.make_node("Constant", [], ["d"], value=onnx.numpy_helper.from_array(
        np.array(3, np.int64)))
    node = helper.make_node("OneHot", ["i", "d", "v"], ["y"])
    feed = {"i": np.array([2 ** 64 - 1, 1], np.uint64), "v": np.array([0, 1], np.float32)}
    (y,) = results(tools, tmp_path, [depth, node], feed, [output("y", TensorProto.FLOAT, [2, 3])])
    np.testing.assert_array_equal(y, [[0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("type, lambd, bias, want", [
    ("int8", 0.25, 1.0, [-127, -1, 0, 0, 0, 126]),
    ("int8", 1.5, 0.0, [-128, -2, 0, 0, 0, 127]),
    ("int8", 200.0, 0.0, [0] * 6),
    ("uint8", 1.0, 1.0, [0, 1, 254, 0, 0, 1]),
])
def test_shrink_of_integers(tools, tmp_path, type, lambd, bias, want):
    x = [-128, -2, -1, 0, 1, 127] if type == "int8" else [0, 2, 255, 1, 0, 2]
    x = np.array(x, type)
    node = helper.make_node("Shrink", ["x"], ["y"], lambd=lambd, bias=bias)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    (y,) = results(tools, tmp_path, [node], {"x": x}, [output("y", kind, [6])])
    np.testing.assert_array_equal(y, np.array(want, type))


def test_defaults_of_attributes_are_float32(tools, tmp_path):
    """Leaving alpha out is the same as writing 0.01, which a model holds as float32."""
    x = np.array([-1.0, -3.0], np.float64)
    got = []
    for attributes in ({}, {"alpha": 0.01}):
        node = helper.make_node("LeakyRelu", ["x"], ["y"], **attributes)
        got += results(tools, tmp_path, [node], {"x": x}, [output("y", TensorProto.DOUBLE, [2])])
    np.testing.assert_array_equal(got[0], got[1])


def test_scalars_keep_their_rank(tools, tmp_path):
    node = helper.make_node("Neg", ["x"], ["y"])
    (y,) = results(tools, tmp_path, [node], {"x": np.array(2.0, np.float32)},
                   [output("y", TensorProto.FLOAT, [])])
    assert y.shape == () and y == -2


def test_sign_of_a_negative_zero_is_zero(tools, tmp_path):
    x = np.array([-0.0, 0.0, -3.0, np.nan], np.float32)
    node = helper.make_node("Sign", ["x"], ["y"])
    (y,) = results(tools, tmp_path, [node], {"x": x}, [output("y", TensorProto.FLOAT, [4])])
    np.testing.assert_array_equal(y, [0, 0, -1, np.nan])
    assert not np.signbit(y[:2]).any()


def test_erf_of_integers(tools, tmp_path):
    x = np.array([-9, -1, 0, 1, 9], np.int32)
    node = helper.make_node("Erf", ["x"], ["y"])
    (y,) = results(tools, tmp_path, [node], {"x": x}, [output("y", TensorProto.INT32, [5])], opset=12)
    np.testing.assert_array_equal(y, [-1, 0, 0, 0, 1])


@pytest.mark.parametrize("opset, bounds", [(8, {}), (8, {"min": 0.0}), (13, {}), (13, {"max": 1.0})])
def test_clip_without_a_bound_has_the_largest_number(tools, tmp_path, opset, bounds):
    x = np.array([-np.inf, -1.0, 2.0, np.inf, np.nan], np.float32)
    largest = np.finfo(np.float32).max
    if opset < 11:
        nodes = [helper.make_node("Clip", ["x"], ["y"], **bounds)]
    else:
        nodes = [helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(
            np.array(value, np.float32))) for name, value in bounds.items()]
        names = [name if name in bounds else "" for name in ("min", "max")]
        nodes += [helper.make_node("Clip", ["x", *names], ["y"])]
    (y,) = results(tools, tmp_path, nodes, {"x": x}, [output("y", TensorProto.FLOAT, [5])], opset)
    np.testing.assert_array_equal(y, np.clip(x, bounds.get("min", -largest), bounds.get("max", largest)))


def test_float64_product_to_float16_rounds_once(tools, tmp_path):
    """1 + 2^-11 + 2^-40 is above the middle of two float16 numbers, and in the middle as float32."""
    a = np.diag([1.0, 1 + 2.0 ** -11 + 2.0 ** -40, 65519.999, 2.0 ** -25 * 1.0001, 1e300, -3.0, 1e-300])
    nodes = [helper.make_node("MatMul", ["a", "b"], ["p"]),
             helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT16)]
    feed = {"a": a, "b": np.eye(7)}
    (y,) = results(tools, tmp_path, nodes, feed, [output("y", TensorProto.FLOAT16, [7, 7])])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(y, (feed["a"] @ feed["b"]).astype(np.float16))


def test_integer_product_to_bfloat16(tools, tmp_path):
    a = np.array([[127, -128], [3, 77]], np.int8)
    nodes = [helper.make_node("MatMulInteger", ["a", "b"], ["p"]),
             helper.make_node("Cast", ["p"], ["h"], to=TensorProto.BFLOAT16),
             helper.make_node("Cast", ["h"], ["y"], to=TensorProto.FLOAT)]
    (y,) = results(tools, tmp_path, nodes, {"a": a, "b": a}, [output("y", TensorProto.FLOAT, [2, 2])])
    bits = (a.astype(np.int64) @ a).astype(np.float32).view(np.uint32)
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000
    np.testing.assert_array_equal(y, bits.astype(np.uint32).view(np.float32))


@pytest.mark.parametrize("type", ["uint8", "int8", "uint16", "int16"])
def test_what_does_not_fit_is_still_of_its_type(tools, tmp_path, type):
    x = np.array([1e10, -1e10, np.nan, np.inf, -1.0, 70000.0, 3.7, -3.7] * 5, np.float32)
    nodes = [helper.make_node("Cast", ["x"], ["i"], to=helper.np_dtype_to_tensor_dtype(np.dtype(type))),
             helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)]
    (y,) = results(tools, tmp_path, nodes, {"x": x}, [output("y", TensorProto.FLOAT, [40])])
    bounds = np.iinfo(type)
    assert ((y >= bounds.min) & (y <= bounds.max) & (y == np.trunc(y))).all()
    assert (y[6::8] == 3).all() and (bounds.min == 0 or (y[7::8] == -3).all())


def test_infinite_weights_stay_where_they_are(tools, tmp_path):
    """Winograd would spread them over a tile."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 64, 20, 20)).astype(np.float32)
    w = rng.normal(size=(64, 64, 3, 3)).astype(np.float32)
    w[:, 0, 1, 1] = np.inf
    constant = helper.make_node("Constant", [], ["w"], value=onnx.numpy_helper.from_array(w))
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    (y,) = results(tools, tmp_path, [constant, node], {"x": x}, [output("y", TensorProto.FLOAT, [1, 64, 18, 18])])
    np.testing.assert_array_equal(y[0, 5], np.sign(x[0, 0, 1:-1, 1:-1]) * np.inf)


def test_gelu_of_float64_does_not_cancel(tools, tmp_path):
    x = np.array([-30.0, -8.0, -4.7, -1.0, -1e-9, 0.5, 6.0], np.float64)
    node = helper.make_node("Gelu", ["x"], ["y"])
    (y,) = results(tools, tmp_path, [node], {"x": x}, [output("y", TensorProto.DOUBLE, [7])], opset=20)
    want = [0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x]
    np.testing.assert_allclose(y, want, rtol=5e-13)  # exp of -450 has the most


def test_power_of_float64_keeps_its_digits(tools, tmp_path):
    """One part of a logarithm is off by hundreds of roundings where the exponent is hundreds."""
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(-3, 3, 20000))
    y = rng.uniform(-690, 690, 20000) / np.maximum(np.abs(np.log(x)), 1e-3)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5, -3.0, 1e308, 5e-324, 2.0 ** 53 + 1]
    x, y = (np.concatenate([v, w.ravel()]) for v, w in zip((x, y), np.meshgrid(special, special)))
    node = helper.make_node("Pow", ["x", "y"], ["z"])
    (z,) = results(tools, tmp_path, [node], {"x": x, "y": y},
                   [output("z", TensorProto.DOUBLE, x.shape)])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(z, np.power(x, y), rtol=32 * 2.0 ** -53, atol=5e-324)


def test_outer_product_with_a_stretched_factor(tools, tmp_path):
    """A convolution over one channel and one tap is one, whose input moves on by its stride."""
    x = np.random.default_rng(0).normal(size=(3, 1, 3, 9)).astype(np.float32)
    w = np.arange(1, 5, dtype=np.float32).reshape(4, 1, 1, 1)
    node = helper.make_node("Conv", ["x", "w"], ["c"], strides=[1, 3])
    (y,) = results(tools, tmp_path, [node, helper.make_node("Log", ["c"], ["y"])], {"x": x, "w": w},
                   [output("y", TensorProto.FLOAT, [3, 4, 3, 3])])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(y, np.log(w.reshape(1, 4, 1, 1) * x[..., ::3]), rtol=1e-5)


@pytest.mark.parametrize("type", [np.int32, np.int64, np.uint64, np.uint8])
def test_integers_that_pass_float16_are_rounded(tools, tmp_path, type):
    x = np.array([2049, 70000, 4097, 3]).astype(type)
    nodes = [helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
             helper.make_node("Cast", ["h"], ["y"], to=TensorProto.FLOAT)]
    (y,) = results(tools, tmp_path, nodes, {"x": x}, [output("y", TensorProto.FLOAT, [4])])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(y, x.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("opset", [7, 8, 9])
def test_slope_of_prelu_is_broadcast_from_the_back(tools, tmp_path, opset):
    """Only before opset 7 was a vector one slope for each channel."""
    x, slope = -np.ones((1, 3, 2, 3), np.float32), np.array([1, 2, 3], np.float32)
    node = helper.make_node("PRelu", ["x", "s"], ["y"])
    (y,) = results(tools, tmp_path, [node], {"x": x, "s": slope},
                   [output("y", TensorProto.FLOAT, x.shape)], opset=opset)
    np.testing.assert_array_equal(y, x * slope)


def test_softmax_of_computed_squares_stays_below_one(tools, tmp_path):
    """The square less the largest square, rounded, is 0 and not what was rounded."""
    x = np.array([[3.3e7, 1.1e7, -3.3e7 - 8, 5.0]], np.float32)
    nodes = [helper.make_node("Mul", ["x", "x"], ["s"]),
             helper.make_node("LogSoftmax", ["s"], ["y"], axis=1)]
    (y,) = results(tools, tmp_path, nodes, {"x": x}, [output("y", TensorProto.FLOAT, x.shape)])
    s = x * x
    np.testing.assert_array_equal(y, s - s.max())


def test_linear_resize_of_float64_has_its_weights(tools, tmp_path):
    x = np.array([[[[1.0, 2.0, 4.0]]]])
    scales = helper.make_node("Constant", [], ["f"], value_floats=[1.0, 1.0, 1.0, 3.0])
    node = helper.make_node("Resize", ["x", "", "f"], ["y"], mode="linear",
                            coordinate_transformation_mode="align_corners")
    (y,) = results(tools, tmp_path, [scales, node], {"x": x},
                   [output("y", TensorProto.DOUBLE, [1, 1, 1, 9])])
    np.testing.assert_allclose(y.ravel(), np.interp(np.linspace(0, 2, 9), range(3), x.ravel()),
                               rtol=1e-15)


def test_unsigned_sums_wrap_when_folded(tools, tmp_path):
    x = np.array([[16095406051471954218, 9506702349278779477, 4080153596849282807]], np.uint64)
    nodes = [helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(x)),
             helper.make_node("ReduceSum", ["c"], ["y"], axes=[0, 1], keepdims=0)]
    y, _ = results(tools, tmp_path, [*nodes, helper.make_node("Neg", ["d"], ["e"])],
                   {"d": np.zeros(1, np.float32)},
                   [output("y", TensorProto.UINT64, []), output("e", TensorProto.FLOAT, [1])],
                   opset=11)
    assert y == x.sum(dtype=np.uint64)


def test_signed_sums_wrap_when_folded(tools, tmp_path):
    x = np.array([2 ** 63 - 1, 5, 7], np.int64)
    nodes = [helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(x)),
             helper.make_node("ReduceSum", ["c"], ["s"], axes=[0], keepdims=1),
             helper.make_node("Add", ["s", "d"], ["y"])]
    (y,) = results(tools, tmp_path, nodes, {"d": np.array([1], np.int64)},
                   [output("y", TensorProto.INT64, [1])], opset=11)
    assert y == -(2 ** 63) + 12


@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("type, tolerance", [(np.float32, 1e-6), (np.float64, 1e-13)])
def test_gelu_of_a_product_keeps_its_small_values(tools, tmp_path, type, tolerance, columns):
    """Also where a product has one column, which is computed without vectors."""
    x = np.zeros((5, 7), type)
    x[:, 0] = [-1, -3, -5.5, -8.25, -10]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(type))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["c"]), helper.make_node("Gelu", ["c"], ["y"])]
    (y,) = results(tools, tmp_path, nodes, {"x": x, "w": np.ones((7, columns), type)},
                   [output("y", kind, [5, columns])], opset=20)
    want = [[v / 2 * math.erfc(-v / math.sqrt(2))] * columns for v in x[:, 0].astype(float)]
    np.testing.assert_allclose(y, want, rtol=tolerance)
