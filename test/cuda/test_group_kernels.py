"""Kernels without contractions, of every skeleton, on the emulator against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto

from emulated import Graph

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def add(graph, name, skeleton, op, *arrays, tolerance=1e-5, constants=(), **attributes):
    """A case of one node; `arrays` are its inputs, `constants` come behind them."""
    case = graph.case(name, skeleton, tolerance)
    inputs = [case.input(a) for a in arrays]
    case.output(case.node(op, *inputs, *constants, **attributes))


def ints(*values):
    return np.array(values, np.int64)


def test_softmax(graph):
    for shape in [(3, 1), (17, 33), (5, 130), (2, 3, 257), (65,), (2, 40000), (3, 9001)]:
        skeleton = "warps" if 1 < shape[-1] <= 1 << 14 else "rows"
        add(graph, f"last{'x'.join(map(str, shape))}", skeleton, "Softmax", normal(*shape), axis=-1)
    add(graph, "first", "columns", "Softmax", normal(17, 300), axis=0)
    add(graph, "middle", "columns", "Softmax", normal(3, 17, 65), axis=1)
    add(graph, "narrow", "warps", "Softmax", normal(5, 33, dtype=np.float16), axis=-1, tolerance=1e-2)
    add(graph, "double", "warps", "Softmax", normal(5, 33, dtype=np.float64), axis=-1, tolerance=1e-13)
    add(graph, "log", "warps", "LogSoftmax", normal(5, 70), axis=-1)
    special = normal(4, 40)
    special[0, 3], special[1, 39], special[2, 0] = np.nan, np.inf, -np.inf
    add(graph, "special", "warps", "Softmax", special, axis=-1)
    case = graph.case("masked", "warps", 1e-5)
    scores = case.node("Mul", case.input(normal(2, 3, 17, 33)), np.float32(0.125))
    case.output(case.node("Softmax", case.node("Add", scores, case.input(normal(2, 1, 1, 33))), axis=-1))
    graph.check()


def test_long_rows(graph):
    """Whatever does not fit into shared memory, a block reads its row again: one kernel without scratch memory."""
    for name, shape in [("few", (2, 40000)), ("many", (130, 19001))]:
        case = graph.case(f"softmax_{name}", "rows", 1e-5, steps=1)
        case.output(case.node("Softmax", case.input(normal(*shape)), axis=-1))
        case = graph.case(f"norm_{name}", "rows", 1e-5, steps=1)
        case.output(case.node("LayerNormalization", case.input(normal(*shape)), normal(shape[1]), normal(shape[1])))
    case = graph.case("open", "rows", 1e-5, steps=1)
    first, *others = [normal(*shape) for shape in ((2, 20000), (5, 1), (0, 3), (4, 0), (3, 257))]
    case.output(case.node("LogSoftmax", case.input(first, ["R", "C"], others), axis=-1))
    graph.check()
    for case in graph.cases:
        assert "scratch +" not in graph.sources[graph.kernels[case.name][0]], case.name


def test_few_threads(graph):
    """What a group has in common may be few columns or a single row. Then its parts are kernels of their own."""
    add(graph, "columns", "sums", "Softmax", normal(600, 160), axis=0)
    case = graph.case("chosen", "elementwise", 1e-5)
    x = case.node("Relu", case.input(normal(400, 2, 130)))
    case.output(x)
    case.output(case.node("ReduceSum", case.node("Mul", x, x), ints(0), keepdims=0))
    case = graph.case("columns_open", "sums", 1e-5)
    case.output(case.node("Softmax", case.input(normal(400, 2, 130), [400, "R", 130], [normal(400, 1, 130)]), axis=0))
    graph.check()
    for case in graph.cases:
        assert len(graph.kernels[case.name]) > 1, case.name


def test_concatenations_read_once(graph):
    """They are computed where they are read, not stored by the one block that has all of them."""
    for name, dims, others in [("mean", None, ()), ("open", [1, "H", "W", 24], [normal(1, 3, 5, 24)])]:
        case = graph.case(name, "elementwise" if dims is None else None, 1e-5, steps=1)
        parts = [case.input(normal(1, 6, 7, 24), dims, others) for _ in range(3)]
        whole = case.node("Relu", case.node("Concat", *parts, axis=3))
        case.output(case.node("ReduceMean", whole, ints(1, 2)))
    case = graph.case("transposed", "elementwise", 0, steps=1)
    whole = case.node("Concat", *(case.input(normal(1, 9, 11, c)) for c in (40, 8, 33)), axis=3)
    case.output(case.node("Transpose", case.node("Relu", whole), perm=[0, 3, 1, 2]))
    case = graph.case("nested", "elementwise", 0, steps=1)
    inner = case.node("Concat", *(case.input(normal(3, c)) for c in (4, 5)), axis=1)
    outer = case.node("Concat", case.node("Neg", inner), case.input(normal(3, 6)), axis=1)
    case.output(case.node("Abs", outer))
    case = graph.case("twice", "warps", 1e-5, steps=1)
    whole = case.node("Concat", *(case.input(normal(5, c)) for c in (40, 24)), axis=1)
    case.output(case.node("Softmax", whole, axis=1))
    graph.check()
    for case in graph.cases:
        assert "scratch +" not in graph.sources[graph.kernels[case.name][0]], case.name


def test_normalizations(graph):
    for axis, shape in [(-1, (5, 130)), (1, (3, 5, 17)), (-1, (2, 3, 1)), (-1, (1, 5000))]:
        scale = shape[axis:]
        skeleton = "warps" if shape[-1] > 1 else "rows"
        add(graph, f"layer{axis % 9}x{shape[-1]}", skeleton, "LayerNormalization", normal(*shape), normal(*scale),
            normal(*scale), axis=axis)
    case = graph.case("residual", "warps", 1e-5)
    total = case.node("Add", case.input(normal(7, 96)), case.input(normal(7, 96)))
    case.output(case.node("LayerNormalization", total, case.input(normal(96)), case.input(normal(96))))
    case.output(total)
    case = graph.case("narrow", "warps", 1e-2)
    case.output(case.node("LayerNormalization", *(case.input(normal(*s, dtype=np.float16))
                                                  for s in ((7, 96), (96,), (96,)))))
    add(graph, "instance", "warps", "InstanceNormalization", normal(2, 3, 9, 11), normal(3), normal(3))
    case = graph.case("rms", "warps", 1e-5)
    x = case.input(normal(6, 65))
    mean = case.node("ReduceMean", case.node("Mul", x, x), ints(-1))
    root = case.node("Sqrt", case.node("Add", mean, np.float32(1e-6)))
    case.output(case.node("Mul", case.node("Div", x, root), case.input(normal(65))))
    graph.check()


def test_float_reductions(graph):
    rows = [((5, 100), (1,)), ((4, 7, 90), (2,)), ((4, 7, 9), (0, 2)), ((3, 70), (0, 1)), ((1000,), (0,)),
            ((2, 40000), (1,)), ((2, 3, 5, 6, 16), (2, 3)), ((300, 33), (1,)), ((2, 3, 65, 2), (1, 2))]
    for op in ("ReduceSum", "ReduceMax", "ReduceProd", "ReduceMin", "ReduceMean"):
        for i, (shape, axes) in enumerate(rows if op == "ReduceSum" else rows[:4]):
            value = RNG.uniform(0.9, 1.1, shape).astype(np.float32)
            add(graph, f"{op}{i}", None, op, value, constants=[ints(*axes)], keepdims=i % 2)
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"):
        add(graph, op, None, op, normal(7, 130), constants=[ints(-1)])
    add(graph, "columns", None, "ReduceSum", normal(130, 33), constants=[ints(0)])
    add(graph, "empty_sum", None, "ReduceSum", normal(0, 5), constants=[ints(0)])
    add(graph, "empty_prod", None, "ReduceProd", normal(5, 0), constants=[ints(1)])
    add(graph, "no_rows", None, "ReduceMax", normal(0, 5), constants=[ints(1)])
    special = normal(4, 100)
    special[0, 3], special[1, 99], special[2, 64], special[3, 7] = np.nan, np.inf, -np.inf, np.nan
    for op in ("ReduceSum", "ReduceMax", "ReduceMin"):
        add(graph, f"special_{op}", "warps", op, special, constants=[ints(1)])
    add(graph, "narrow", "warps", "ReduceSum", normal(3, 300, dtype=np.float16), constants=[ints(1)], tolerance=1e-2)
    add(graph, "double", "warps", "ReduceSum", normal(3, 300, dtype=np.float64), constants=[ints(1)], tolerance=1e-13)
    graph.check()


def test_nested_reductions(graph):
    """A block has several long reductions at a time: each warp takes one."""
    case = graph.case("norm", "rows", 1e-5)
    x = case.input(normal(3, 5, 100))
    rows = case.node("ReduceSum", case.node("Abs", x), ints(2))
    case.output(case.node("ReduceMax", rows, ints(1)))
    case = graph.case("normed", "rows", 1e-5)
    x = case.input(normal(3, 17, 130))
    rows = case.node("ReduceSum", case.node("Abs", x), ints(2))
    case.output(case.node("Div", x, case.node("ReduceMax", rows, ints(1))))
    case = graph.case("softmax_of_sums", "rows", 1e-5)
    x = case.input(normal(3, 17, 130))
    case.output(case.node("Softmax", case.node("ReduceMean", x, ints(2), keepdims=0), axis=1))
    case = graph.case("open", "rows", 1e-5)
    x = case.input(normal(3, 17, 130), ["A", "B", "C"], [normal(1, 40, 3), normal(2, 1, 0)])
    case.output(case.node("Softmax", case.node("ReduceSum", x, ints(2), keepdims=0), axis=1))
    graph.check()


def test_integer_reductions(graph):
    for dtype in (np.int32, np.int64, np.int8, np.uint8):
        for op in ("ReduceMax", "ReduceMin") + (("ReduceSum", "ReduceProd") if np.dtype(dtype).itemsize > 1 else ()):
            value = RNG.integers(1, 3 if op == "ReduceProd" else 100, (3, 90)).astype(dtype)
            expected = getattr(np, op[6:].lower())(value, axis=1, keepdims=True).astype(dtype)
            case = graph.case(f"{op}{np.dtype(dtype).name}", "warps", 0)
            case.output(case.node(op, case.input(value), ints(1)), expected)
    for i, (shape, axis) in enumerate([((5, 100), 1), ((5, 100), 0), ((4, 7, 9), 1), ((3000,), 0), ((2, 65), 1)]):
        value = RNG.integers(0, 9, shape).astype(np.float32)  # there are many equal ones
        add(graph, f"argmax{i}", None, "ArgMax", value, axis=axis, keepdims=i % 2)
        add(graph, f"argmin{i}", None, "ArgMin", value, axis=axis, select_last_index=1)
    graph.check()


def top_k(graph, name, value, k, dims=None, others=(), want=(0, 1), **attributes):
    """`want`: which of values and indices somebody reads; expected are those of stable sorting in NumPy."""
    case = graph.case(name, "topk", 0, steps=1)
    axis, largest = attributes.get("axis", -1), attributes.get("largest", 1)
    x = case.input(value, dims, others)
    names = case.node("TopK", x, k if isinstance(k, np.ndarray) else ints(k), outputs=2, **attributes)

    def best(value):
        # NaN is larger than any number; lexsort is stable, whatever the order of keys.
        nan = np.isnan(value) if value.dtype.kind == "f" else np.zeros(value.shape, bool)
        key, nan = np.where(nan, np.zeros(1, value.dtype), value), nan.astype(int)
        by = np.unique(key, return_inverse=True)[1].reshape(key.shape)
        order = np.lexsort((-by, -nan) if largest else (by, nan), axis)
        order = np.take(order, np.arange(int(np.ravel(k)[0])), axis)
        return np.take_along_axis(value, order, axis), order
    for i in want:
        case.output(names[i], best(value)[i] if not others else None)


def added(x, indices, updates):
    result = x.copy()
    np.add.at(result, tuple(np.moveaxis(indices, -1, 0)), updates)
    return result


def test_scatter_add(graph):
    """Rows, single elements, more of either than a block has, and none."""
    for i, (shape, width, picks) in enumerate([((300, 40), 1, 77), ((5, 129), 1, 33), ((700, 1), 1, 50), ((4000,), 1, 90),
                                               ((9, 300), 2, 500), ((7, 3, 5), 2, 64), ((1, 8), 1, 20), ((6, 8), 1, 0)]):
        for dtype in (np.float32, np.float16, np.int8, np.int64):
            x = RNG.integers(-9, 9, shape).astype(dtype)
            indices = np.stack([RNG.integers(-n, n, picks) for n in shape[:width]], -1)
            updates = RNG.integers(-9, 9, (picks, *shape[width:])).astype(dtype)
            case = graph.case(f"add{i}_{np.dtype(dtype).name}", "scatter", 0)
            case.output(case.node("ScatterND", case.input(x), case.input(indices), case.input(updates), reduction="add"),
                        added(x, indices, updates))
    graph.check()


def test_open_scatter_add(graph):
    case = graph.case("open", "scatter", 0)
    sizes = [(70, 9, 200), (1, 130, 3), (300, 17, 1)]
    x, updates = ([RNG.integers(-9, 9, (s[i], s[1])).astype(np.float32) for s in sizes] for i in (0, 2))
    indices = [RNG.integers(0, s[0], (s[2], 1)) for s in sizes]
    case.output(case.node("ScatterND", case.input(x[0], ["v", "d"], x[1:]), case.input(indices[0], ["t", 1], indices[1:]),
                          case.input(updates[0], ["t", "d"], updates[1:]), reduction="add"))
    graph.check()


def test_top_k(graph):
    for i, (shape, k, axis, largest) in enumerate([((3, 40), 5, 1, 1), ((3, 40), 40, 1, 0), ((17, 9), 3, 0, 1),
                                                   ((2, 300, 3), 7, 1, 1), ((4, 1), 1, 1, 1), ((2, 1025), 1025, 1, 1),
                                                   ((0, 5), 2, 1, 1), ((3, 5), 0, 1, 1), ((7, 2, 3), 7, 0, 0)]):
        top_k(graph, f"top{i}", RNG.permutation(np.prod(shape)).reshape(shape).astype(np.float32), k, axis=axis,
              largest=largest, sorted=i % 2)
    # In shared memory chunk by chunk; by merging; neither more than fits.
    for i, (length, k) in enumerate([(10000, 5), (9000, 2048), (9000, 2049), (20001, 20001), (4097, 4097)]):
        top_k(graph, f"long{i}", RNG.integers(0, 3000, (2, length)).astype(np.float32), k, largest=i % 2)
    # Rows are not of one piece.
    top_k(graph, "across", RNG.integers(0, 99, (4500, 3)).astype(np.float32), 4400, axis=0)
    value = normal(9, 70)
    top_k(graph, "values", value, 9, want=[0])
    top_k(graph, "indices", value, 9, want=[1])
    graph.check()


def test_top_k_types(graph):
    for dtype in (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
                  np.int64, np.uint64):
        for largest in (0, 1):
            if np.dtype(dtype).kind == "f":
                value = np.array([np.nan, 0, -0.0, np.inf, -np.inf, 1, -1, 5e-8, -5e-8, -np.nan, 0, np.nan], dtype)
            else:
                ends = np.iinfo(dtype)
                value = np.array([0, 1, ends.max, ends.min, ends.max - 1, ends.min + 1, 5, 1, 0, ends.max], dtype)
            value = np.stack([value, value[::-1], np.roll(value, 5)])
            top_k(graph, f"{np.dtype(dtype).name}_{largest}", value, value.shape[1], largest=largest)
    # 64 bits take twice the room.
    top_k(graph, "wide", RNG.integers(-9000, 9000, (1, 5000)), 3000)
    graph.check()


def test_top_k_of_bfloat16(graph):
    case = graph.case("bf16", "topk", 0)
    value = RNG.integers(-20, 20, (3, 50)).astype(np.float32)
    narrow = case.node("Cast", case.input(value), to=TensorProto.BFLOAT16)
    best, where = case.node("TopK", narrow, ints(50), outputs=2)
    order = np.argsort(-value, 1, kind="stable")
    case.output(case.node("Cast", best, to=TensorProto.FLOAT), np.take_along_axis(value, order, 1))
    case.output(where, order)
    graph.check()


def test_open_top_k(graph):
    """The sizes of a run choose how; scratch memory is there for the longest way."""
    def values(*shapes):
        return [RNG.permutation(np.prod(shape)).reshape(shape).astype(np.float32) for shape in shapes]
    first, *others = values((3, 5), (1, 3), (0, 9), (2, 3000))
    top_k(graph, "few", first, 3, ["N", "M"], others)
    case = graph.case("all", "topk", 0)
    first, *others = values((3, 5), (2, 1), (1, 2049), (1, 5000))
    x = case.input(first, ["P", "Q"], others)
    extent = case.node("Gather", case.node("Shape", x), ints(1))
    for name in case.node("TopK", x, extent, outputs=2, largest=0):
        case.output(name)
    graph.check()


def test_more_than_there_are(tools, tmp_path):
    graph = Graph(tools, tmp_path)
    top_k(graph, "top", normal(2, 3), 3, ["N", "M"], [normal(2, 2)])
    graph.compile()
    np.savez(tmp_path / "short.npz", top_in0=normal(2, 2))
    done = tools.mlc("run", graph.artifact, "--device", "emulator", "--input", tmp_path / "short.npz")
    assert done.returncode == 2 and "top" in done.stderr and "k is more" in done.stderr, done.stderr


TYPES = {TensorProto.BOOL: bool, TensorProto.INT8: np.int8, TensorProto.UINT8: np.uint8, TensorProto.INT16: np.int16,
         TensorProto.UINT16: np.uint16, TensorProto.INT32: np.int32, TensorProto.UINT32: np.uint32,
         TensorProto.INT64: np.int64, TensorProto.UINT64: np.uint64, TensorProto.FLOAT16: np.float16,
         TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.BFLOAT16: ml_dtypes.bfloat16}


def add_casts(graph, name, values, to):
    """Values in each type of `to`, one below the other, as doubles."""
    case = graph.case(name, "elementwise", 0)
    x, row = case.input(values), np.arange(len(to))[:, None]
    result = np.zeros((len(to), 1))
    for i, t in enumerate(to):
        part = case.node("Cast", case.node("Cast", x, to=t), to=TensorProto.DOUBLE)
        result = case.node("Where", row == i, part, result)
    with np.errstate(all="ignore"):
        expected = np.stack([values.astype(TYPES[t]).astype(np.float64) for t in to])
    case.output(result, expected)


def test_casts(graph):
    signed = [t for t, dtype in TYPES.items() if dtype is not bool and np.dtype(dtype).kind != "u"]
    for t, dtype in TYPES.items():
        if dtype is ml_dtypes.bfloat16:
            continue
        add_casts(graph, f"from_{np.dtype(dtype).name}", np.array([0, 1, 2.5, 3, 99.75, 127, 0.1]).astype(dtype), TYPES)
        if t in signed:
            add_casts(graph, f"negative_{np.dtype(dtype).name}", np.array([-1, -2.5, -99.75, -128]).astype(dtype),
                      signed)
    floats = [TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.BFLOAT16, TensorProto.BOOL]
    edges = [0.1, 1 / 3, 65504, 65519.99, 65520, 1e-8, 6e-8, 1e-5, 3e38, 1e-40, -0.0, np.nan, np.inf, -np.inf,
             2049, 2051, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -11, 1 + 2 ** -11 + 2 ** -20]
    add_casts(graph, "rounded_single", np.array(edges, np.float32), floats)
    with np.errstate(all="ignore"):
        add_casts(graph, "rounded_half", np.array(edges, np.float16), floats)
    add_casts(graph, "rounded_double", np.array([*edges, 1e300, 1 + 2 ** -11 + 2 ** -40]), floats[:3])
    wide = np.array([2 ** 24 + 1, 2 ** 31, 2 ** 31 - 1, -2 ** 31, 300, 65536 + 5, -129])
    add_casts(graph, "wrapped", wide, [t for t in TYPES if np.dtype(TYPES[t]).kind in "iu" and t != TensorProto.UINT64])
    add_casts(graph, "to_floats", wide, [TensorProto.FLOAT, TensorProto.DOUBLE])
    graph.check()


def test_elementwise(graph):
    case = graph.case("chain", "elementwise", 1e-5, steps=1)
    x, y = case.input(normal(3, 17, 33)), case.input(normal(17, 1))
    case.output(case.node("Tanh", case.node("Add", case.node("Sigmoid", x), case.node("Mul", y, np.float32(3)))))
    case = graph.case("special", "elementwise", 1e-5)
    special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 1e30], np.float32)
    x = case.input(special)
    for op in ("Relu", "Exp", "Tanh", "Sigmoid", "Sqrt", "Abs", "Floor", "Neg", "Reciprocal"):
        case.output(case.node(op, x))
    for op in ("Max", "Min", "Add", "Mul", "Div"):
        case.output(case.node(op, x, case.input(special[::-1].copy())))
    for op in ("Less", "Equal", "GreaterOrEqual"):
        case.output(case.node(op, x, case.input(special[::-1].copy())))
    for dtype in (np.int8, np.uint8, np.int32, np.int64):
        case = graph.case(np.dtype(dtype).name, "elementwise", 0)
        low = 0 if dtype is np.uint8 else -50
        a, b = case.input(RNG.integers(low, 50, (5, 33)).astype(dtype)), case.input(
            RNG.integers(1, 9, (5, 33)).astype(dtype))
        for op in ("Add", "Sub", "Mul", "Max", "Min"):
            case.output(case.node(op, a, b))
        case.output(case.node("Mod", a, b))
    case = graph.case("where", "elementwise", 0)
    case.output(case.node("Where", case.input(RNG.random((5, 1, 33)) > 0.5), case.input(normal(3, 33)),
                          case.input(normal(5, 3, 1))))
    add(graph, "scalar", "elementwise", "Exp", np.float32(0.5))
    add(graph, "empty", None, "Exp", normal(0, 5))
    add(graph, "half", "elementwise", "Exp", normal(130, dtype=np.float16), tolerance=1e-2)
    graph.check()


def test_moves(graph):
    for i, (shape, perm) in enumerate([((17, 33), (1, 0)), ((3, 5, 65), (2, 0, 1)), ((2, 3, 5, 7), (0, 2, 3, 1)),
                                       ((3, 1, 130), (1, 2, 0))]):
        add(graph, f"transpose{i}", None, "Transpose", normal(*shape), perm=perm, tolerance=0)
    for axis in range(3):
        parts = [normal(*(n if d == axis else 5 for d in range(3))) for n in (1, 17, 0, 3)]
        add(graph, f"concat{axis}", None, "Concat", *parts, axis=axis, tolerance=0)
    for mode in ("constant", "reflect", "edge"):
        add(graph, f"pad_{mode}", None, "Pad", normal(5, 7), constants=[ints(2, 3, 1, 4)], mode=mode, tolerance=0)
    value, case = normal(5, 7), graph.case("pad_negative", None, 0)
    padded = np.pad(value[1:, :5], ((0, 2), (3, 0)), constant_values=2)
    case.output(case.node("Pad", case.input(value), ints(-1, 3, 2, -2), np.float32(2)), padded)
    for i, (starts, ends, steps) in enumerate([((0, 1), (5, 17), (2, 3)), ((-1, 16), (-9, 0), (-1, -4)),
                                               ((3, 3), (3, 9), (1, 1))]):
        add(graph, f"slice{i}", None, "Slice", normal(7, 17), tolerance=0,
            constants=[ints(*starts), ints(*ends), ints(0, 1), ints(*steps)])
    add(graph, "tile", None, "Tile", normal(3, 5), constants=[ints(2, 3)], tolerance=0)
    add(graph, "expand", None, "Expand", normal(3, 1, 5), constants=[ints(2, 3, 4, 5)], tolerance=0)
    add(graph, "depth", None, "DepthToSpace", normal(1, 12, 3, 5), blocksize=2, tolerance=0)
    add(graph, "trilu", None, "Trilu", normal(2, 7, 9), upper=0, tolerance=0)
    add(graph, "cumsum", None, "CumSum", normal(5, 33), constants=[np.array(1)], reverse=1, exclusive=1)
    for dtype in (bool, np.int64, np.float64, np.float16, np.uint8):
        add(graph, f"transpose_{np.dtype(dtype).name}", None, "Transpose", (normal(9, 33) * 50 + 99).astype(dtype),
            tolerance=0)
    graph.check()


def test_computed_parts(graph):
    """One kernel computes the parts of a concatenation where it writes them."""
    for axis in (1, 2):
        case = graph.case(f"joined{axis}", "elementwise", 1e-6, steps=1)
        shape = [(3, 5 if axis == 2 else n, 9 if axis == 1 else n) for n in (4, 1, 17)]
        x, y, z = (case.input(normal(*s)) for s in shape)
        case.output(case.node("Concat", case.node("Relu", x), case.node("Tanh", case.node("Add", y, y)), z, axis=axis))
    # What others read too is a kernel of its own, and so are sums and products.
    case = graph.case("shared", None, 1e-6)
    x = case.node("Exp", case.input(normal(5, 8)))
    case.output(case.node("Concat", x, case.node("ReduceSum", x, ints(1)), axis=1))
    case.output(x)
    case = graph.case("product", "tensor", 2e-3)
    x, y = case.input(normal(33, 40)), case.input(normal(40, 17))
    case.output(case.node("Concat", case.node("MatMul", x, y), case.node("Neg", x), axis=1))
    case = graph.case("open", "elementwise", 1e-6)
    x = case.input(normal(3, 5), ["N", "M"], [normal(1, 0), normal(40, 33)])
    case.output(case.node("Concat", case.node("Abs", x), case.node("Neg", x), axis=1))
    graph.check()


def test_indexed_moves(graph):
    table = normal(17, 5)
    add(graph, "gather", None, "Gather", table, RNG.integers(-17, 17, (3, 4)), tolerance=0)
    add(graph, "gather_across", None, "Gather", table, RNG.integers(0, 5, 9).astype(np.int32), axis=1, tolerance=0)
    add(graph, "one_hot", None, "OneHot", RNG.integers(0, 5, 9), constants=[np.array(5), np.array([0, 1], np.float32)],
        tolerance=0)
    graph.check()


def test_pooling_and_resizing(graph):
    x = normal(2, 3, 13, 11)
    for i, attributes in enumerate([{}, {"strides": [2, 3], "pads": [1, 0, 1, 2]},
                                    {"strides": [2, 2], "ceil_mode": 1}, {"dilations": [2, 2]}]):
        for op in ("MaxPool", "AveragePool"):
            add(graph, f"{op}{i}", None, op, x, kernel_shape=[3, 3], **attributes)
    add(graph, "counted", None, "AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    add(graph, "global", "warps", "GlobalAveragePool", x)
    add(graph, "global_max", "warps", "GlobalMaxPool", x)
    none = np.zeros(0, np.float32)
    for mode, where in [("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners")]:
        # Of 0.6 of a size and align_corners onnx says other than all the world.
        for scale in (2, 0.6) if where != "align_corners" else (2, 3):
            add(graph, f"{mode}_{where}_{int(scale * 10)}", None, "Resize", normal(1, 2, 7, 5), mode=mode,
                constants=[none, np.array([1, 1, scale, scale], np.float32)], coordinate_transformation_mode=where)
    graph.check()


def test_open_sizes(graph):
    def value(*shapes):
        return normal(*shapes[0]), [normal(*shape) for shape in shapes[1:]]
    shapes = [(3, 130), (1, 1), (0, 5), (40, 300)]
    for name, skeleton, op, attributes in [
            ("softmax", "rows", "Softmax", {}), ("softmax_down", "columns", "Softmax", {"axis": 0}),
            ("exp", "elementwise", "Exp", {}), ("turned", None, "Transpose", {})]:
        case = graph.case(name, skeleton, 1e-5)
        first, others = value(*shapes)
        case.output(case.node(op, case.input(first, ["N", "M"], others), **attributes))
    case = graph.case("sum", "sums", 1e-5)
    first, others = value((3, 130), (1, 1), (4, 0), (5, 300))
    case.output(case.node("ReduceSum", case.input(first, ["R", "C"], others), ints(1)))
    case = graph.case("normalized", "warps", 1e-5)
    first, others = value((3, 5, 64), (1, 1, 64), (0, 2, 64), (2, 33, 64))
    case.output(case.node("LayerNormalization", case.input(first, ["B", "T", 64], others), case.input(normal(64)),
                          case.input(normal(64))))
    graph.check()
