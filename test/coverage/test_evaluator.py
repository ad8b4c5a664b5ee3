"""The evaluator's values beside those of numpy and of ONNX Runtime.

Each case is an operator of the mlc dialect with its attributes, its operands
and what somebody else computes for them. Sizes are odd on purpose.
"""

import os
import pathlib
import subprocess

import numpy as np
import onnxruntime
import pytest
from onnx import helper

BUILD = pathlib.Path(os.environ.get("MLC_BUILD", pathlib.Path(__file__).parents[2] / "build"))
TYPES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "bool": "i1",
}
rng = np.random.default_rng(7)


def normal(*dims, dtype=np.float32):
    return rng.standard_normal(dims).astype(dtype)


def positive(*dims):
    return (rng.random(dims) + 0.5).astype(np.float32)


def integers(*dims, low=-9, high=10, dtype=np.int64):
    return rng.integers(low, high, dims).astype(dtype)


def bools(*dims):
    return rng.random(dims) < 0.5


def onnx_op(op, inputs, outputs=1, opset=21, **attributes):
    """What ONNX Runtime gives for one node."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    kinds = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, kinds(x.dtype), x.shape)
            for n, x in zip(names, inputs)
            if n
        ],
        [helper.make_empty_tensor_value_info(r) for r in results],
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    feeds = {n: x for n, x in zip(names, inputs) if n}
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def type_of(array):
    dims = "".join(f"{d}x" for d in array.shape)
    return f"tensor<{dims}{TYPES[str(array.dtype)]}>"


def dims(*values):
    return f"#mlc.dims<[{', '.join(map(str, values))}]>"


def real(value):
    return f"#mlc.real<{value:.17e}>"


def axes(*values):
    return f"array<i64: {', '.join(map(str, values))}>"


def evaluate(folder, text, inputs, *flags):
    """The result arrays of @main in `text`."""
    (folder / "f.mlir").write_text(text)
    command = [BUILD / "bin" / "mlc-eval", folder / "f.mlir", *flags]
    for i, array in enumerate(inputs):
        np.save(folder / f"in{i}.npy", np.ascontiguousarray(array))
        command += ["--input", folder / f"in{i}.npy"]
    done = subprocess.run(
        [*command, "--output-dir", folder / "out"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + text
    count = len(list((folder / "out").iterdir()))
    return [np.load(folder / "out" / f"{i}.npy") for i in range(count)]


def function(op, attributes, inputs, expected):
    arguments = ", ".join(f"%x{i}: {type_of(x)}" for i, x in enumerate(inputs))
    operands = ", ".join(f"%x{i}" for i in range(len(inputs)))
    types = ", ".join(type_of(x) for x in inputs)
    results = ", ".join(type_of(y) for y in expected)
    names = [f"%y{i}" for i in range(len(expected))]
    values = "{" + ", ".join(f"{k} = {v}" for k, v in attributes.items()) + "}"
    return (
        f"func.func @main({arguments}) -> ({results}) {{\n"
        f"  {', '.join(names)} = mlc.{op} {operands} {values} : ({types}) -> ({results})\n"
        f"  return {', '.join(names)} : {results}\n}}\n"
    )


CASES = {}


def case(label, op, inputs, expected, tolerance=1e-5, **attributes):
    if not isinstance(expected, (list, tuple)):
        expected = [expected]
    assert label not in CASES
    # bools of attributes read "true", numbers "1 : i64"
    CASES[label] = (op, attributes, inputs, expected, tolerance)


X = normal(3, 5, 7)
for op, onnx_name in [
    ("neg", "Neg"),
    ("abs", "Abs"),
    ("exp", "Exp"),
    ("tanh", "Tanh"),
    ("erf", "Erf"),
    ("sin", "Sin"),
    ("cos", "Cos"),
    ("floor", "Floor"),
    ("ceil", "Ceil"),
    ("round_even", "Round"),
    ("sigmoid", "Sigmoid"),
    ("relu", "Relu"),
    ("sign", "Sign"),
]:
    case(op, op, [X], onnx_op(onnx_name, [X]))
P = positive(3, 5, 7)
for op, onnx_name in [("log", "Log"), ("sqrt", "Sqrt"), ("reciprocal", "Reciprocal")]:
    case(op, op, [P], onnx_op(onnx_name, [P]))
case("sqrt_f64", "sqrt", [P.astype(np.float64)], np.sqrt(P.astype(np.float64)), 1e-15)
case("exp_f16", "exp", [X.astype(np.float16)], np.exp(X.astype(np.float16)), 2e-3)
case("not", "not", [B := bools(4, 3)], ~B)
case("leaky_relu", "leaky_relu", [X], onnx_op("LeakyRelu", [X], alpha=0.3), alpha=real(0.3))
case("elu", "elu", [X], onnx_op("Elu", [X], alpha=0.7), alpha=real(0.7))
case(
    "hard_sigmoid",
    "hard_sigmoid",
    [X],
    onnx_op("HardSigmoid", [X], alpha=0.3, beta=0.4),
    alpha=real(0.3),
    beta=real(0.4),
)
case("clip", "clip", [X], np.clip(X, -0.5, 0.25), min=real(-0.5), max=real(0.25))
case("relu_nan", "relu", [np.float32([np.nan, -1, 2])], np.float32([np.nan, 0, 2]))

Y = normal(3, 5, 7)
for op, fn in [
    ("add", np.add),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("div", np.divide),
    ("min", np.minimum),
    ("max", np.maximum),
]:
    case(op, op, [X, Y], fn(X, Y), 0)
    I8, J8 = integers(4, 3, dtype=np.int8, high=120), integers(4, 3, low=1, dtype=np.int8)
    expected = np.trunc(I8 / J8).astype(np.int8) if op == "div" else fn(I8, J8)
    case(op + "_i8", op, [I8, J8], expected, 0)
I64 = integers(4, 3, low=-(2**40), high=2**40)
case("mul_wraps", "mul", [I64, I64], I64 * I64, 0)
U8 = rng.integers(0, 255, (4, 3)).astype(np.uint8)
case("add_ui8", "add", [U8, U8], U8 + U8, 0)
case("max_ui8", "max", [U8, U8[::-1].copy()], np.maximum(U8, U8[::-1]), 0)
case("pow", "pow", [P, Y], np.power(P, Y))
J = integers(4, 3, low=1)
K = integers(4, 3) * 3
case("mod", "mod", [K, J], np.mod(K, J), 0)
for op, fn in [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)]:
    case(op, op, [B, (C := bools(4, 3))], fn(B, C), 0)
Q = integers(4, 3, low=0, high=3).astype(np.float32)
R = integers(4, 3, low=0, high=3).astype(np.float32)
for predicate, fn in [
    ("eq", np.equal),
    ("ne", np.not_equal),
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
]:
    case("compare_" + predicate, "compare", [Q, R], fn(Q, R), 0, predicate=f'"{predicate}"')
case("select", "select", [B, Q, R], np.where(B, Q, R), 0)
for source, target in [
    (X * 3, np.int32),
    (X, np.float16),
    (X, np.float64),
    (X, np.bool_),
    (K, np.float32),
    (K, np.int8),
    (B, np.float32),
    (U8, np.int64),
]:
    label = f"cast_{source.dtype}_{np.dtype(target)}"
    case(label, "cast", [source], source.astype(target), 0, to=TYPES[str(np.dtype(target))])

A, W = normal(2, 3, 5, 7), normal(2, 3, 7, 6)
case("matmul", "matmul", [A, W], np.matmul(A, W))
case("matmul_int", "matmul", [K, K.T.copy()], K @ K.T, 0)
case("matmul_empty", "matmul", [normal(3, 0), normal(0, 4)], np.zeros((3, 4), np.float32), 0)
case("matmul_no_rows", "matmul", [normal(0, 3), normal(3, 4)], np.zeros((0, 4), np.float32), 0)
case("matmul_tall", "matmul", [M := normal(1, 999), N := normal(999, 1)], M @ N, 1e-4)


def convolution(label, x, w, strides, pads, dilations, groups):
    case(
        label,
        "conv",
        [x, w],
        onnx_op("Conv", [x, w], strides=strides, pads=pads, dilations=dilations, group=groups),
        strides=dims(*strides),
        pads=dims(*pads),
        dilations=dims(*dilations),
        groups=f"#mlc.int<{groups}>",
    )


convolution("conv", normal(2, 3, 9, 8), normal(5, 3, 3, 2), [2, 1], [1, 0, 2, 1], [1, 2], 1)
convolution("conv_grouped", normal(1, 6, 7, 7), normal(4, 3, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 2)
convolution("conv_depthwise", normal(1, 5, 6, 6), normal(5, 1, 3, 3), [2, 2], [0, 0, 1, 1], [1, 1], 5)
convolution("conv_1d", normal(2, 3, 11), normal(4, 3, 4), [3], [2, 1], [1], 1)
convolution("conv_wide", normal(1, 2, 3, 300), normal(2, 2, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 1)
T, TW = normal(1, 4, 5, 4), normal(4, 3, 3, 2)
case(
    "conv_transpose",
    "conv_transpose",
    [T, TW],
    onnx_op(
        "ConvTranspose",
        [T, TW],
        strides=[2, 3],
        pads=[1, 0, 0, 1],
        dilations=[1, 1],
        output_padding=[1, 0],
        group=2,
    ),
    strides=dims(2, 3),
    pads=dims(1, 0, 0, 1),
    dilations=dims(1, 1),
    output_padding=dims(1, 0),
    groups="#mlc.int<2>",
)


def pool(label, op, onnx_name, x, kernel, strides, pads, ceil_pads=(0, 0), ceil=0, **more):
    attributes = dict(
        kernel=dims(*kernel),
        strides=dims(*strides),
        pads=dims(*pads),
        dilations=dims(1, 1),
        ceil_pads=dims(*ceil_pads),
    )
    if op == "avg_pool":
        attributes["count_include_pad"] = "true" if more.get("count_include_pad") else "false"
    case(
        label,
        op,
        [x],
        onnx_op(onnx_name, [x], kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceil, **more),
        **attributes,
    )


Z = normal(2, 3, 9, 8)
pool("max_pool", "max_pool", "MaxPool", Z, [3, 2], [2, 2], [1, 0, 1, 1])
pool("avg_pool", "avg_pool", "AveragePool", Z, [3, 2], [2, 1], [1, 0, 1, 1])
pool("avg_pool_counted", "avg_pool", "AveragePool", Z, [3, 3], [2, 2], [1, 1, 1, 1], count_include_pad=1)

for kind, fn in [("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min), ("mean", np.mean)]:
    for where in [(1,), (0, 2), (0, 1, 2)]:
        case(
            f"reduce_{kind}_{len(where)}",
            "reduce",
            [X],
            fn(X.astype(np.float64), axis=where, keepdims=True).astype(np.float32),
            kind=f'"{kind}"',
            axes=axes(*where),
        )
case("reduce_i32", "reduce", [S := integers(3, 5, dtype=np.int32)], S.max(0, keepdims=True), 0, kind='"max"', axes=axes(0))
case("reduce_empty", "reduce", [normal(3, 0)], np.zeros((3, 1), np.float32), 0, kind='"sum"', axes=axes(1))
case("softmax", "softmax", [X], onnx_op("Softmax", [X], axis=1), axis="1 : i64")
case("log_softmax", "log_softmax", [X], onnx_op("LogSoftmax", [X], axis=2), axis="2 : i64")
BN = [normal(2, 3, 4, 5), positive(3), normal(3), normal(3), positive(3)]
case("batch_norm", "batch_norm", BN, onnx_op("BatchNormalization", BN, epsilon=1e-3), epsilon=real(1e-3))
LN = [X, normal(5, 7), normal(5, 7)]
case(
    "layer_norm",
    "layer_norm",
    LN,
    onnx_op("LayerNormalization", LN, axis=1, epsilon=1e-5),
    axis="1 : i64",
    epsilon=real(1e-5),
)
L = normal(2, 7, 3, 3)
for size in (3, 5):
    case(
        f"lrn_{size}",
        "lrn",
        [L],
        onnx_op("LRN", [L], size=size, alpha=0.01, beta=0.6, bias=1.5),
        size=f"#mlc.int<{size}>",
        alpha=real(0.01),
        beta=real(0.6),
        bias=real(1.5),
    )
for exclusive in (0, 1):
    for reverse in (0, 1):
        case(
            f"cumsum_{exclusive}{reverse}",
            "cumsum",
            [X],
            onnx_op("CumSum", [X, np.array(1)], exclusive=exclusive, reverse=reverse),
            axis="1 : i64",
            exclusive="true" if exclusive else "false",
            reverse="true" if reverse else "false",
        )
for op, fn in [("arg_max", np.argmax), ("arg_min", np.argmin)]:
    case(op, op, [Q], np.expand_dims(fn(Q, axis=1), 1), 0, axis="1 : i64")

case("reshape", "reshape", [X], X.reshape(7, 15), 0, dims=dims(7, 15))
case("transpose", "transpose", [A], A.transpose(3, 1, 0, 2), 0, permutation=axes(3, 1, 0, 2))
case("broadcast", "broadcast", [D := normal(3, 1, 5, 1)], np.broadcast_to(D, (3, 4, 5, 2)), 0, dims=dims(3, 4, 5, 2))
case(
    "slice",
    "slice",
    [A],
    A[:, 0:3:2, 4:1:-1, 1:6:2],
    0,
    starts=dims(0, 0, 4, 1),
    sizes=dims(2, 2, 3, 3),
    steps=dims(1, 2, -1, 2),
)
case("reverse", "reverse", [X], X[::-1, :, ::-1], 0, axes=axes(0, 2))
E = normal(3, 2, 7)
case("concat", "concat", [X, E, normal(3, 0, 7)], np.concatenate([X, E], 1), 0, axis="1 : i64")
for mode in ("constant", "edge", "reflect"):
    more = {"constant_values": 2.5} if mode == "constant" else {}
    case(
        "pad_" + mode,
        "pad",
        [X],
        np.pad(X, [(1, 0), (2, 3), (0, 4)], mode=mode, **more),
        0,
        low=dims(1, 2, 0),
        high=dims(0, 3, 4),
        mode=f'"{mode}"',
        value=real(2.5),
    )
G = integers(2, 4, low=-5, high=5)
case("gather", "gather", [X, G], np.take(X, G, axis=1), 0, axis="1 : i64")
IM = normal(1, 2, 5, 7)
for transform in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
    for mode in ("nearest", "linear"):
        for size in ((8, 11), (3, 4)):
            case(
                f"resize_{mode}_{transform}_{size[0]}",
                "resize",
                [IM],
                onnx_op(
                    "Resize",
                    [IM, None, None, np.int64([1, 2, *size])],
                    mode=mode,
                    coordinate_transformation_mode=transform,
                    nearest_mode="round_prefer_floor",
                ),
                dims=dims(1, 2, *size),
                mode=f'"{mode}"',
                transform=f'"{transform}"',
                nearest_mode='"round_prefer_floor"',
                scales="[]",
            )
TK = normal(3, 9, 2)
case(
    "top_k",
    "top_k",
    [TK],
    onnx_op("TopK", [TK, np.int64([4])], outputs=2, axis=1),
    0,
    axis="1 : i64",
    k="#mlc.int<4>",
    largest="true",
    sorted="true",
)
case("fill", "fill", [], np.full((3, 2), 1.5, np.float32), 0, dims=dims(3, 2), value=real(1.5), type="f32")
case(
    "iota",
    "iota",
    [],
    np.broadcast_to(np.arange(5, 14, 3)[:, None], (3, 2)).copy(),
    0,
    dims=dims(3, 2),
    axis="0 : i64",
    start="#mlc.int<5>",
    step="#mlc.int<3>",
)
case("int_tensor", "int_tensor", [], np.int64([4, -2, 9]), 0, values=dims(4, -2, 9), dims=dims(3))


@pytest.mark.parametrize("label", CASES)
def test_value(label, tmp_path):
    op, attributes, inputs, expected, tolerance = CASES[label]
    expected = [np.asarray(y) for y in expected]
    results = evaluate(tmp_path, function(op, attributes, inputs, expected), inputs)
    for result, want in zip(results, expected, strict=True):
        assert result.shape == want.shape and result.dtype == want.dtype
        if want.dtype.kind == "f" and tolerance:
            np.testing.assert_allclose(result, want, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("label", ["matmul", "softmax", "conv", "layer_norm", "avg_pool", "lrn_3"])
def test_intervals_hold_the_value(label, tmp_path):
    op, attributes, inputs, expected, _ = CASES[label]
    text = function(op, attributes, inputs, [np.asarray(y) for y in expected])
    (bounds,) = evaluate(tmp_path, text, inputs, "--domain", "interval")
    low, high = bounds[..., 0], bounds[..., 1]
    (double,) = evaluate(tmp_path, text, inputs, "--domain", "float64")
    margin = 1e-12 * (1 + np.abs(double))
    assert (low <= high).all() and (high - low <= margin).all()
    assert (low - margin <= double).all() and (double <= high + margin).all()


def test_undefined_names_the_place(tmp_path):
    x = np.zeros((2, 3), np.int64)
    text = function("div", {}, [x, x], [x])
    (tmp_path / "f.mlir").write_text(text)
    np.save(tmp_path / "a.npy", x)
    one = np.ones((2, 3), np.int64)
    one[1, 2] = 0
    np.save(tmp_path / "b.npy", one)
    done = subprocess.run(
        [BUILD / "bin" / "mlc-eval", tmp_path / "f.mlir"]
        + ["--input", tmp_path / "a.npy", "--input", tmp_path / "b.npy"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "stage y at [1, 2]: division by zero" in done.stderr
