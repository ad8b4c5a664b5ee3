"""Numbers that random models found wrong: bools beside contractions, integers
beyond 2^53, folded constants, small floats, denormals, infinities. Judged by
ONNX Runtime without its optimizations, or by NumPy where it is exact."""

import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper


def graph_model(nodes, inputs, outputs, constants=None, opset=20):
    """`inputs` and `outputs` are {name: (type, dims)}."""
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(name, *info) for name, info in inputs.items()],
        [helper.make_tensor_value_info(name, *info) for name, info in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


@pytest.fixture
def run(tools, tmp_path):
    def compile_and_run(model, arrays, *flags):
        onnx.save(model, tmp_path / "m.onnx")
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", *flags)
        assert done.returncode == 0, done.stderr
        return list(mlc.Session(mlc.load(tmp_path / "m.mlca"), threads=1).run(arrays).values())
    return compile_and_run


def judged(model, arrays):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, arrays)


RNG = np.random.default_rng(7)
FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def normal(*dims):
    return RNG.normal(size=dims).astype(np.float32)


# ---------------------------------------------------------------------------
# Bools
# ---------------------------------------------------------------------------


def attention():
    """A mask is read in the tail of the product. Sizes are no multiple of a vector."""
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]),
             helper.make_node("Where", ["mask", "s", "low"], ["masked"]),
             helper.make_node("Softmax", ["masked"], ["y"], axis=-1)]
    arrays = {"q": normal(2, 13, 19), "k": normal(2, 19, 21), "mask": RNG.random((2, 13, 21)) < 0.6}
    inputs = {"q": (FLOAT, [2, 13, 19]), "k": (FLOAT, [2, 19, 21]), "mask": (BOOL, [2, 13, 21])}
    return graph_model(nodes, inputs, {"y": (FLOAT, [2, 13, 21])}, {"low": np.float32(-1e9)}), arrays


def row_mask():
    """The mask differs along rows only, or along columns only."""
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]),
             helper.make_node("Where", ["rows", "s", "zero"], ["a"]),
             helper.make_node("Where", ["columns", "a", "one"], ["y"])]
    arrays = {"q": normal(17, 5), "k": normal(5, 33), "rows": RNG.random((17, 1)) < 0.5,
              "columns": RNG.random((33,)) < 0.5}
    inputs = {"q": (FLOAT, [17, 5]), "k": (FLOAT, [5, 33]), "rows": (BOOL, [17, 1]), "columns": (BOOL, [33])}
    return graph_model(nodes, inputs, {"y": (FLOAT, [17, 33])},
                       {"zero": np.float32(0), "one": np.float32(1)}), arrays


def compared(operator, x, weights, attributes=None):
    made = [helper.make_node(operator, ["x", "w"], ["s"], **(attributes or {})),
            helper.make_node("Greater", ["s", "zero"], ["y"])]
    rank = x.ndim
    return graph_model(made, {"x": (FLOAT, x.shape)}, {"y": (BOOL, [None] * rank)},
                       {"w": weights, "zero": np.float32(0)}), {"x": x}


BOOLS = {
    "attention": attention,
    "row-mask": row_mask,
    "conv": lambda: compared("Conv", x=normal(2, 5, 9, 11), weights=normal(7, 5, 3, 3)),
    "conv-blocked": lambda: compared("Conv", x=normal(1, 16, 12, 12), weights=normal(32, 16, 3, 3)),
    "conv-padded": lambda: compared("Conv", x=normal(1, 16, 12, 12), weights=normal(32, 16, 3, 3),
                                    attributes={"pads": [1, 1, 1, 1]}),
    "depthwise": lambda: compared("Conv", x=normal(1, 8, 9, 9), weights=normal(8, 1, 3, 3),
                                  attributes={"group": 8}),
    "conv-transpose": lambda: compared("ConvTranspose", x=normal(1, 5, 6, 6), weights=normal(5, 7, 3, 3)),
    "gemm": lambda: compared("Gemm", x=normal(13, 19), weights=normal(19, 37)),
    "gemm-columns": lambda: compared("Gemm", x=normal(3, 64), weights=normal(37, 64), attributes={"transB": 1}),
    "vector": lambda: compared("MatMul", x=normal(1, 300), weights=normal(300, 40)),
}


@pytest.mark.parametrize("name", BOOLS)
def test_bools_beside_contractions(name, run):
    model, arrays = BOOLS[name]()
    [expected], [got] = judged(model, arrays), run(model, arrays)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------------
# Integers
# ---------------------------------------------------------------------------

BIG = [2**53 + 1, 2**63 - 1, -(2**63), -(2**53) - 1, 2**62 + 3, 0, 7]


@pytest.mark.parametrize("low, high", [(0, 2**63 - 1), (-(2**63), 2**53 + 1), (-(2**53) - 1, 2**62 + 1)])
def test_clip_keeps_integers(low, high, run):
    x = np.array(BIG, np.int64)
    model = graph_model([helper.make_node("Clip", ["x", "low", "high"], ["y"])],
                        {"x": (TensorProto.INT64, [7])}, {"y": (TensorProto.INT64, [7])},
                        {"low": np.int64(low), "high": np.int64(high)})
    np.testing.assert_array_equal(run(model, {"x": x})[0], np.clip(x, low, high))


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, -(2**63)])
def test_pad_and_fill_keep_integers(value, run):
    nodes = [helper.make_node("Pad", ["x", "pads", "value"], ["padded"]),
             helper.make_node("Shape", ["x"], ["shape"]),
             helper.make_node("ConstantOfShape", ["shape"], ["filled"],
                              value=numpy_helper.from_array(np.array([value], np.int64)))]
    i64 = TensorProto.INT64
    for dims in ([3], ["N"]):
        model = graph_model(nodes, {"x": (i64, dims)}, {"padded": (i64, [None]), "filled": (i64, [None])},
                            {"pads": np.array([1, 2]), "value": np.int64(value)})
        padded, filled = run(model, {"x": np.array([1, 2, 3], np.int64)})
        np.testing.assert_array_equal(padded, np.array([value, 1, 2, 3, value, value], np.int64))
        np.testing.assert_array_equal(filled, np.full(3, value, np.int64))


FOLDS = {
    # name: (operator, constants)
    "int8-sum": ("Add", [np.array([100, -100, 5], np.int8), np.array([100, -100, 1], np.int8)]),
    "uint8-difference": ("Sub", [np.array([3, 200], np.uint8), np.array([5, 100], np.uint8)]),
    "int32-product": ("Mul", [np.array([2**30, 7], np.int32), np.array([4, -3], np.int32)]),
    "int64-product": ("Mul", [np.array([2**62 + 1, 7]), np.array([4, -3])]),
    "negated-zero": ("Neg", [np.array([0.0, 1.0], np.float32)]),
    "product-of-zero": ("Mul", [np.array([0.0, 2.0], np.float32), np.array([-3.0, 0.5], np.float32)]),
    "quotient-of-zero": ("Div", [np.array([0.0, 2.0], np.float32), np.array([-4.0, 0.5], np.float32)]),
    "ceiling": ("Ceil", [np.array([-0.5, 0.5, -1.5], np.float32)]),
    "least": ("Neg", [np.array([-128, 127], np.int8)]),
}


@pytest.mark.parametrize("name", FOLDS)
def test_folding_computes_as_machines_do(name, run):
    operator, values = FOLDS[name]
    kind = helper.np_dtype_to_tensor_dtype(values[0].dtype)
    names = [f"c{i}" for i in range(len(values))]
    model = graph_model([helper.make_node(operator, names, ["y"])], {},
                        {"y": (kind, [len(values[0])])}, dict(zip(names, values)))
    compute = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
               "Neg": np.negative, "Ceil": np.ceil}[operator]
    [got], expected = run(model, {}), compute(*values)
    np.testing.assert_array_equal(got, expected)
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


def test_a_sum_is_not_folded_where_float32_rounds(run):
    values = np.array([2**24, 1, -(2**24)], np.float32)
    model = graph_model([helper.make_node("ReduceSum", ["c"], ["y"], keepdims=0)], {}, {"y": (FLOAT, [])},
                        {"c": values})
    assert run(model, {})[0] in (0.0, judged(model, {})[0])


# ---------------------------------------------------------------------------
# Small floats
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [[10000], [3, 5000]])
def test_sums_of_float16_are_of_float32(dims, run):
    half = TensorProto.FLOAT16
    x = np.ones(dims, np.float16)
    w = np.ones([dims[-1], 4], np.float16)
    nodes = [helper.make_node("ReduceSum", ["x", "axis"], ["sum"], keepdims=0),
             helper.make_node("ReduceMean", ["x", "axis"], ["mean"], keepdims=0),
             helper.make_node("MatMul", ["x", "w"], ["product"])]
    model = graph_model(nodes, {"x": (half, dims)},
                        {name: (half, None) for name in ("sum", "mean", "product")},
                        {"axis": np.array([-1]), "w": w})
    total, mean, product = run(model, {"x": x})
    assert np.all(total == np.float16(dims[-1]))
    assert np.all(mean == 1)
    assert np.all(product == np.float16(dims[-1]))


def small_float_model(kind, operator, inputs, attributes):
    """`operator` in a small type; what goes in and out is float32."""
    nodes = [helper.make_node("Cast", [name], [name + "_"], to=kind) for name in inputs]
    nodes += [helper.make_node(operator, [name + "_" for name in inputs], ["y_"], **attributes),
              helper.make_node("Cast", ["y_"], ["y"], to=FLOAT)]
    return graph_model(nodes, {name: (FLOAT, value.shape) for name, value in inputs.items()}, {"y": (FLOAT, None)})


SMALL = {
    "MatMul": ({"x": normal(9, 300), "w": normal(300, 21)}, {}),
    "Gemm": ({"x": normal(9, 64), "w": normal(21, 64)}, {"transB": 1}),
    "Conv": ({"x": normal(1, 16, 9, 9), "w": normal(24, 16, 3, 3)}, {"pads": [1, 1, 1, 1]}),
    "Softmax": ({"x": 4 * normal(5, 777)}, {}),
    "LayerNormalization": ({"x": normal(5, 300), "s": normal(300), "b": normal(300)}, {}),
    "ReduceSumSquare": ({"x": normal(5, 300)}, {}),
    "ReduceL2": ({"x": normal(5, 3000)}, {}),
    "AveragePool": ({"x": normal(1, 3, 40, 40)}, {"kernel_shape": [32, 32]}),
}


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
@pytest.mark.parametrize("operator", SMALL)
def test_small_floats_round_once(operator, kind, run):
    inputs, attributes = SMALL[operator]
    import ml_dtypes
    small = np.float16 if kind == TensorProto.FLOAT16 else ml_dtypes.bfloat16
    rounded = {name: value.astype(small).astype(np.float32) for name, value in inputs.items()}
    names = list(inputs)
    exact = graph_model([helper.make_node(operator, names, ["y"], **attributes)],
                        {name: (FLOAT, value.shape) for name, value in inputs.items()}, {"y": (FLOAT, None)})
    [expected] = judged(exact, rounded)
    [got] = run(small_float_model(kind, operator, inputs, attributes), rounded)
    unit = 2.0**-10 if kind == TensorProto.FLOAT16 else 2.0**-7
    np.testing.assert_allclose(got, expected.reshape(got.shape), rtol=0.51 * unit, atol=2e-5)


@pytest.mark.parametrize("dims", [["n", 70, "m"], [2, 70, 19], ["n", 70, 3]])
@pytest.mark.parametrize("columns", [13, 200])
def test_transposed_rows_of_float16(dims, columns, run):
    """Rows that lie across their buffer are cast once, for any sizes; a tail rounds each step."""
    half = TensorProto.FLOAT16
    w, b = normal(70, columns).astype(np.float16), normal(columns).astype(np.float16)
    model = graph_model([helper.make_node("Transpose", ["x"], ["rows"], perm=[0, 2, 1]),
                         helper.make_node("MatMul", ["rows", "w"], ["product"]),
                         helper.make_node("Add", ["product", "b"], ["sum"]),
                         helper.make_node("Mul", ["sum", "sum"], ["y"])],
                        {"x": (half, dims)}, {"y": (half, None)}, {"w": w, "b": b})
    for batch, rows in ((1, 1), (3, 19), (0, 5), (2, 41)):
        fixed = [n if isinstance(n, int) else dict(n=batch, m=rows)[n] for n in dims]
        x = normal(*fixed).astype(np.float16)
        product = (x.transpose(0, 2, 1).astype(np.float64) @ w.astype(np.float64)).astype(np.float16)
        total = product + b
        [got] = run(model, {"x": x})
        # A product that is a tie in float32 may go the other way.
        np.testing.assert_allclose(got, total * total, rtol=5e-3, atol=2e-2)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_folding_does_not_cancel(kind, run):
    """Softplus is log(1 + exp(x)), of which nothing would be left for small x."""
    x = np.linspace(-30, 30, 121).astype(kind)
    model = graph_model([helper.make_node("Softplus", ["x"], ["y"]), helper.make_node("Add", ["y", "z"], ["sum"])],
                        {"z": (helper.np_dtype_to_tensor_dtype(x.dtype), [1])},
                        {"sum": (helper.np_dtype_to_tensor_dtype(x.dtype), None)}, {"x": x})
    [got] = run(model, {"z": np.zeros(1, kind)})
    exact = np.maximum(x, 0).astype(np.longdouble) + np.log1p(np.exp(-np.abs(x).astype(np.longdouble)))
    np.testing.assert_allclose(got, exact.astype(kind), rtol=4 * np.finfo(kind).eps)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("base", [np.float32, np.float16])
def test_exponents_keep_their_precision(base, constant, run):
    """No odd exponent becomes even, none that is not 0 becomes 0."""
    x = np.array([-1, -2, -np.inf, -1, 3, -4], base)
    for y in (np.array([16777217, 3, 33554433, 2**53 - 1, 2, -1], np.int64),
              np.array([2049, 3, 4097, 16777217, 2, -1], np.int32),
              np.array([2049, 3, 4097, 32767, 2, -1], np.int16),
              np.array([1e-308, 0.5, 16777217, 3, 1 + 1e-9, -1], np.float64)):
        kinds = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in (x, y)]
        inputs = {"x": (kinds[0], [6])}
        if not constant:
            inputs["y"] = (kinds[1], [6])
        model = graph_model([helper.make_node("Pow", ["x", "y"], ["z"])], inputs, {"z": (kinds[0], [6])},
                            {"y": y} if constant else None)
        [got] = run(model, {"x": x} if constant else {"x": x, "y": y})
        with np.errstate(all="ignore"):
            expected = (x.astype(np.float64) ** y.astype(np.float64)).astype(base)
        np.testing.assert_allclose(got, expected, rtol=2e-6)


# ---------------------------------------------------------------------------
# Denormals, infinities, NaN
# ---------------------------------------------------------------------------


def test_denormal_constants_keep_their_values(run):
    tiny = np.array([1e-40], np.float32)
    x = np.array([1e-39, 3e-41, 1.0, 0.0], np.float32)
    nodes = [helper.make_node("Div", ["x", "tiny"], ["quotient"]),
             helper.make_node("Greater", ["tiny", "x"], ["greater"]),
             helper.make_node("Pow", ["tiny", "half"], ["root"]),
             helper.make_node("Mul", ["x", "tiny"], ["product"])]
    model = graph_model(nodes, {"x": (FLOAT, [4])},
                        {"quotient": (FLOAT, [4]), "greater": (BOOL, [4]), "root": (FLOAT, [1]),
                         "product": (FLOAT, [4])},
                        {"tiny": tiny, "half": np.float32(0.5)})
    quotient, greater, root, product = run(model, {"x": x})
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(quotient, x / tiny, rtol=1e-6)
    np.testing.assert_array_equal(greater, tiny > x)
    np.testing.assert_allclose(root, np.sqrt(tiny.astype(np.float64)), rtol=1e-6)
    np.testing.assert_array_equal(product, x * tiny)


@pytest.mark.parametrize("divisor", [1e-40, 3e38, 2e-38, 1e-30, 7.0, np.inf, 0.0, np.nan])
def test_division_by_one_number(divisor, run):
    x = np.array([1e-39, 3e38, 1.0, 0.0, -5.0, np.inf, 1e-20, 123.0, 4.0], np.float32)
    model = graph_model([helper.make_node("Div", ["x", "d"], ["y"])],
                        {"x": (FLOAT, [9]), "d": (FLOAT, [1])}, {"y": (FLOAT, [9])})
    d = np.array([divisor], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(model, {"x": x, "d": d})[0], x / d, rtol=3e-7)


def test_log_sum_exp_of_infinities(run):
    inf = np.inf
    x = np.array([[1, inf, 2], [-inf, -inf, -inf], [-inf, 3, 1], [np.nan, 1, inf], [1000, 1000, 1000]], np.float32)
    model = graph_model([helper.make_node("ReduceLogSumExp", ["x", "axis"], ["y"], keepdims=0)],
                        {"x": (FLOAT, [5, 3])}, {"y": (FLOAT, [5])}, {"axis": np.array([1])})
    with np.errstate(divide="ignore"):
        expected = np.logaddexp.reduce(x.astype(np.float64), axis=1)
    np.testing.assert_allclose(run(model, {"x": x})[0], expected, rtol=1e-6)


@pytest.mark.parametrize("operator, judge", [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
def test_nan_is_the_extreme(operator, judge, run):
    x = normal(6, 21)
    x[0, 5] = x[0, 9] = x[2, 0] = x[3, 20] = np.nan
    x[4] = np.inf
    x[5] = -np.inf
    model = graph_model([helper.make_node(operator, ["x"], ["y"], axis=1, keepdims=0)],
                        {"x": (FLOAT, [6, 21])}, {"y": (TensorProto.INT64, [6])})
    np.testing.assert_array_equal(run(model, {"x": x})[0], judge(x, axis=1))


@pytest.mark.parametrize("k", [2**63 - 1, -(2**63), 2**62, -(2**62), 1, -1])
@pytest.mark.parametrize("upper", [0, 1])
def test_trilu_takes_any_diagonal(k, upper, run):
    x = normal(5, 7)
    model = graph_model([helper.make_node("Trilu", ["x", "k"], ["y"], upper=upper)],
                        {"x": (FLOAT, [5, 7])}, {"y": (FLOAT, [5, 7])}, {"k": np.int64(k)})
    near = int(np.clip(k, -100, 100))
    np.testing.assert_array_equal(run(model, {"x": x})[0], np.triu(x, near) if upper else np.tril(x, near))


# ---------------------------------------------------------------------------
# Quotients
# ---------------------------------------------------------------------------

DIVISORS = {"constant": ([], {"d": np.float32(49)}),
            "input": ([], {}),
            "largest": ([helper.make_node("ReduceMax", ["x"], ["d"], keepdims=0)], {}),
            "sum": ([helper.make_node("ReduceSum", ["x"], ["d"], keepdims=0)], {}),
            "norm": ([helper.make_node("ReduceL2", ["x"], ["d"], keepdims=0)], {})}


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("after", ["Identity", "Floor"])
def test_a_quotient_by_one_number_is_rounded_once(divisor, after, run):
    """x times 1/49 is less than 1 for x = 49, and its floor is 0."""
    made, constants = DIVISORS[divisor]
    x = np.arange(1, 50 * 49 + 1, dtype=np.float32).reshape(50, 49)
    if divisor in ("largest", "sum", "norm"):
        x = x[:1] if divisor == "largest" else np.float32(49) * (np.arange(49) == 3).astype(np.float32)[None]
    nodes = [*made, helper.make_node("Div", ["x", "d"], ["q"]), helper.make_node(after, ["q"], ["y"])]
    inputs = {"x": (FLOAT, x.shape), **({"d": (FLOAT, [])} if divisor == "input" else {})}
    arrays = {"x": x, **({"d": np.float32(49)} if divisor == "input" else {})}
    (y,) = run(graph_model(nodes, inputs, {"y": (FLOAT, x.shape)}, constants), arrays, "--no-rewrites")
    quotient = x / np.float32(49)
    np.testing.assert_array_equal(y, np.floor(quotient) if after == "Floor" else quotient)


@pytest.mark.parametrize("transform", ["align_corners", "half_pixel", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize("dims", [[1, 1, 13, 7], [1, 1, "h", "w"]])
def test_nearest_neighbours_are_those_of_onnx_runtime(transform, dims, run):
    """Coordinates that are whole, or half-way between two, in float32."""
    x = RNG.permutation(13 * 7).astype(np.float32).reshape(1, 1, 13, 7)
    cases = [("s", np.array([1, 1, a, b], np.float32)) for a, b in ((0.6, 2.2), (1.7, 3), (2, 0.3))]
    cases += [("z", np.array([1, 1, a, b], np.int64)) for a, b in ((61, 29), (5, 100), (26, 14))]
    nodes, constants = [], {}
    for i, (kind, value) in enumerate(cases):
        name = f"{kind}{i}"
        constants[name] = value
        for nearest in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
            inputs = ["x", "", name] if kind == "s" else ["x", "", "", name]
            nodes.append(helper.make_node("Resize", inputs, [f"{name}_{nearest}"], mode="nearest", nearest_mode=nearest,
                                          coordinate_transformation_mode=transform))
    names = [node.output[0] for node in nodes]
    proto = graph_model(nodes, {"x": (FLOAT, dims)}, {name: (FLOAT, None) for name in names}, constants, opset=18)
    for name, got, want in zip(names, run(proto, {"x": x}), judged(proto, {"x": x}), strict=True):
        np.testing.assert_array_equal(got, want, f"{name} of {cases}")


# ---------------------------------------------------------------------------
# Positions
# ---------------------------------------------------------------------------


def test_nearest_elements_are_the_same_in_double(run, tools, tmp_path):
    """Positions are float32 in each step, whatever elements are computed with."""
    x = np.arange(40, dtype=np.float32).reshape(1, 1, 1, 40)
    nodes, constants = [], {}
    for scale in (1.7, 0.6, 0.85, 3.2):
        constants[f"s{scale}"] = np.array([1, 1, 1, scale], np.float32)
        for transform in ("half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"):
            for nearest in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
                nodes.append(helper.make_node("Resize", ["x", "", f"s{scale}"], [f"{scale}_{transform}_{nearest}"], mode="nearest",
                                              coordinate_transformation_mode=transform, nearest_mode=nearest))
    names = [node.output[0] for node in nodes]
    model = graph_model(nodes, {"x": (FLOAT, x.shape)}, {name: (FLOAT, None) for name in names}, constants)
    found = run(model, {"x": x})
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlir", "--compile-to=import")
    assert done.returncode == 0, done.stderr
    np.save(tmp_path / "x.npy", x)
    done = tools.run("mlc-eval", tmp_path / "m.mlir", "--domain=float64", f"--input={tmp_path / 'x.npy'}",
                     f"--output-dir={tmp_path / 'out'}")
    assert done.returncode == 0, done.stderr
    for i, (name, got, want) in enumerate(zip(names, found, judged(model, {"x": x}), strict=True)):
        np.testing.assert_array_equal(got, want, name)
        np.testing.assert_array_equal(np.load(tmp_path / f"out/{i}.npy"), want, name)
