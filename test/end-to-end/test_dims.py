"""Open, zero and one dims: what ONNX accepts compiles, and one artifact serves every size."""

import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f32": TensorProto.FLOAT, "i32": TensorProto.INT32, "i64": TensorProto.INT64, "bool": TensorProto.BOOL}
END = np.iinfo(np.int64).max


def model(nodes, inputs, outputs=("y",), opset=17, **constants):
    """Inputs are (name, type, shape); an output is f32, or (name, type)."""
    typed = [output if isinstance(output, tuple) else (output, "f32") for output in outputs]
    graph = helper.make_graph(
        nodes, "dims",
        [helper.make_tensor_value_info(name, TYPES[kind], shape) for name, kind, shape in inputs],
        [helper.make_tensor_value_info(name, TYPES[kind], None) for name, kind in typed],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def reference(proto):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), options)


@pytest.fixture
def agrees(tools, tmp_path):
    """Compiles once with every dim open and compares each feed with ONNX Runtime."""

    def run(proto, *feeds):
        onnx.save(proto, tmp_path / "model.onnx")
        done = tools.mlc("compile", tmp_path / "model.onnx", "-o", tmp_path / "model.mlca")
        assert done.returncode == 0, done.stderr
        session = mlc.Session(mlc.load(tmp_path / "model.mlca"), threads=1)
        judge = reference(proto)
        for feed in feeds:
            for got, want in zip(session.run(feed).values(), judge.run(None, feed), strict=True):
                assert got.shape == want.shape and got.dtype == want.dtype
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        return session

    return run


rng = np.random.default_rng(11)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


node = helper.make_node


@pytest.mark.parametrize("start, end, step", [
    (-1, END, 1), (-3, -1, 1), (-2, -7, -2), (1, -1, 1), (-100, 100, 3), (5, -END, -1),
])
def test_slices_count_from_an_open_end(agrees, start, end, step):
    proto = model([node("Relu", ["x"], ["r"]), node("Slice", ["r", "s", "e", "a", "t"], ["c"]), node("Exp", ["c"], ["y"])],
                  [("x", "f32", ["T", 3])], s=[start], e=[end], a=[0], t=[step])
    agrees(proto, *({"x": f32(size, 3)} for size in (7, 2, 1, 0, 4)))


def test_a_slice_behind_a_resize(agrees):
    proto = model([node("Resize", ["x", "", "scales"], ["r"], mode="nearest"), node("Slice", ["r", "s", "e", "a"], ["y"])],
                  [("x", "f32", [1, 2, "H", "W"])], scales=np.array([1, 1, 2, 2], np.float32), s=[1, -3], e=[5, 2**31], a=[2, 3])
    agrees(proto, {"x": f32(1, 2, 4, 3)}, {"x": f32(1, 2, 2, 5)})


def test_nothing_is_left(agrees):
    """Static dims of 0 in front of and behind operators that read windows, parts and sums."""
    none = dict(s=[0], e=[0], a=[0])
    cut = node("Slice", ["x", "s", "e", "a"], ["z"])
    agrees(model([cut, node("Relu", ["z"], ["y"])], [("x", "f32", [4, 3])], **none), {"x": f32(4, 3)})
    again = node("Slice", ["z", "s2", "e2", "a2", "t2"], ["y"])
    agrees(model([cut, again], [("x", "f32", [9, 4])], s2=[0, 0], e2=[2**31 - 1, END], a2=[0, 1], t2=[1, 3], **none), {"x": f32(9, 4)})
    pools = [node("MaxPool", ["z"], ["y0"], kernel_shape=[2, 2]), node("AveragePool", ["z"], ["y1"], kernel_shape=[2, 2])]
    agrees(model([cut, *pools], [("x", "f32", [2, 4, 5, 5])], ["y0", "y1"], **none), {"x": f32(2, 4, 5, 5)})
    agrees(model([cut, node("Conv", ["z", "w"], ["y"])], [("x", "f32", [2, 4, 5, 5])], w=f32(3, 4, 3, 3), **none), {"x": f32(2, 4, 5, 5)})
    split = [node("Split", ["x", "parts"], ["a0", "b0"], axis=0), node("ReduceSum", ["a0", "a"], ["y0"]), node("Exp", ["b0"], ["y1"])]
    agrees(model(split, [("x", "f32", [4, 3])], ["y0", "y1"], parts=[0, 4], a=[0]), {"x": f32(4, 3)})
    agrees(model([node("MatMul", ["x", "w"], ["y"])], [("x", "f32", ["N", 0])], w=f32(0, 3)), {"x": f32(2, 0)})


@pytest.mark.parametrize("left, right", [((5, 1, 1), (5, 1, 1)), ((5, 2, 1, 1), (2, 1, 1)), ((1, 1), (1, 1)), ((3, 1, 1), (1, 1, 1))])
def test_products_of_one_element(agrees, left, right):
    agrees(model([node("MatMul", ["a", "b"], ["y"])], [("a", "f32", left), ("b", "f32", right)]), {"a": f32(*left), "b": f32(*right)})
    agrees(model([node("MatMul", ["a", "b"], ["p"]), node("Relu", ["p"], ["y"])], [("a", "f32", left)], b=f32(*right)), {"a": f32(*left)})


@pytest.mark.parametrize("channels, window", [(6, 1), (1, 1), (6, 3)])
def test_depthwise_on_one_pixel(agrees, channels, window):
    conv = node("Conv", ["x", "w", "b"], ["c"], group=channels, pads=[window // 2] * 4)
    agrees(model([conv, node("Relu", ["c"], ["y"])], [("x", "f32", [2, channels, 1, 1])], w=f32(channels, 1, window, window), b=f32(channels)),
           {"x": f32(2, channels, 1, 1)})


def test_open_dims_that_are_one_broadcast(agrees):
    agrees(model([node("Add", ["x", "c"], ["y"])], [("x", "f32", ["D", 3])], c=f32(4, 3)), {"x": f32(1, 3)}, {"x": f32(4, 3)})
    agrees(model([node("Mul", ["a", "b"], ["y"])], [("a", "f32", ["A", "B"]), ("b", "f32", ["C", "D"])]),
           *({"a": f32(*a), "b": f32(*b)} for a, b in [((1, 3), (4, 1)), ((4, 3), (4, 3)), ((0, 3), (0, 3)), ((5, 1), (1, 1)), ((1, 1), (2, 7))]))
    agrees(model([node("Where", ["m", "a", "b"], ["y"])], [("m", "bool", ["A", 3]), ("a", "f32", ["B", 1]), ("b", "f32", [4, "C"])]),
           {"m": f32(1, 3) > 0, "a": f32(4, 1), "b": f32(4, 3)}, {"m": f32(4, 3) > 0, "a": f32(1, 1), "b": f32(4, 1)})
    agrees(model([node("Expand", ["x", "s"], ["y"])], [("x", "f32", ["D", 3])], s=[4, 3]), {"x": f32(1, 3)}, {"x": f32(4, 3)})
    agrees(model([node("MatMul", ["a", "b"], ["y"])], [("a", "f32", ["A", 2, 3]), ("b", "f32", ["B", 3, 5])]),
           *({"a": f32(a, 2, 3), "b": f32(b, 3, 5)} for a, b in [(1, 4), (4, 1), (4, 4), (1, 1)]))
    masked = [node("Add", ["x", "m"], ["s"]), node("Softmax", ["s"], ["y"])]
    agrees(model(masked, [("x", "f32", ["N", 2, "S", "T"]), ("m", "f32", ["M", 1, 1, "U"])]),
           {"x": f32(2, 2, 5, 6), "m": f32(1, 1, 1, 6)}, {"x": f32(2, 2, 5, 6), "m": f32(2, 1, 1, 1)})


def test_dims_that_cannot_be_broadcast_are_named(agrees):
    session = agrees(model([node("Add", ["x", "c"], ["y"])], [("x", "f32", ["D", 3])], c=f32(4, 3)))
    with pytest.raises(Exception, match="the dim D must be 1 or 4 to be broadcast$"):
        session.run({"x": f32(2, 3)})


def test_computed_dims_are_not_repeated(tools, agrees, tmp_path):
    """Feature maps that meet have one size; a check at run time says so, and nothing is copied."""
    pools = [node("MaxPool", [x], [y], kernel_shape=[1, 1], strides=[s, s]) for x, y, s in (("x", "a", 2), ("a", "b", 3), ("x", "c", 6))]
    proto = model([*pools, node("Add", ["b", "c"], ["y"])], [("x", "f32", [1, 2, "H", "W"])])
    agrees(proto, {"x": f32(1, 2, 19, 6)}, {"x": f32(1, 2, 4, 33)})
    done = tools.mlc("compile", tmp_path / "model.onnx", "--compile-to=import")
    assert done.returncode == 0 and "mlc.add" in done.stdout
    assert "cannot be broadcast together" in done.stdout and "mlc.pad" not in done.stdout


def test_one_hot_and_group_norm_at_open_dims(agrees):
    agrees(model([node("OneHot", ["x", "d", "v"], ["y"], axis=1)], [("x", "i64", ["A", "B"]), ("v", "f32", ["V"])], d=5),
           {"x": rng.integers(-5, 5, (2, 3)), "v": f32(2)}, {"x": rng.integers(-5, 5, (1, 4)), "v": f32(2)})
    norm = node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)
    agrees(model([norm], [("x", "f32", ["N", "C", "H", 3]), ("s", "f32", ["C"]), ("b", "f32", ["C"])], opset=21),
           {"x": f32(1, 4, 3, 3), "s": f32(4), "b": f32(4)}, {"x": f32(2, 6, 1, 3), "s": f32(6), "b": f32(6)})


def test_norms_and_logarithms_of_integers(agrees):
    names = ["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"]
    nodes = [node(name, ["x"], [name], axes=[1]) for name in names]
    agrees(model(nodes, [("x", "i32", [4, 3])], [(name, "i32") for name in names]), {"x": rng.integers(1, 20, (4, 3)).astype(np.int32)})


@pytest.mark.parametrize("start, limit, step", [(0.5, 5.2, 0.3), (1.0, -3.3, -0.7), (0, 1, 0.1), (2.5, 1, 0.5)])
def test_ranges_of_fractions(agrees, start, limit, step):
    proto = model([node("Range", ["s", "l", "d"], ["r"]), node("Add", ["x", "r"], ["y"])], [("x", "f32", [1])],
                  s=np.float32(start), l=np.float32(limit), d=np.float32(step))
    agrees(proto, {"x": np.zeros(1, np.float32)})


def test_nodes_in_any_order(agrees):
    """ONNX Runtime sorts them, too; what a branch reads from around it counts."""
    agrees(model([node("Relu", ["a"], ["y"]), node("Exp", ["x"], ["a"])], [("x", "f32", ["D", 3])]), {"x": f32(2, 3)})
    branch = helper.make_graph([node("Relu", ["late"], ["taken"])], "branch", [], [helper.make_tensor_value_info("taken", TensorProto.FLOAT, None)])
    chosen = node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)
    agrees(model([chosen, node("Neg", ["x"], ["late"])], [("x", "f32", [3])], yes=True), {"x": f32(3)})


def test_names_that_branches_use_again(agrees):
    """In a branch, and in one inside of it, a name is the branch's own, whatever it is outside."""

    def branch(*nodes):
        return helper.make_graph(list(nodes), "branch", [], [helper.make_tensor_value_info("q", TensorProto.FLOAT, None)])

    inner = node("If", ["no"], ["r"], then_branch=branch(node("Neg", ["x"], ["q"])), else_branch=branch(node("Exp", ["x"], ["q"])))
    outer = branch(inner, node("Add", ["r", "x"], ["q"]))
    chosen = node("If", ["yes"], ["p"], then_branch=outer, else_branch=branch(node("Relu", ["x"], ["q"])))
    later = [node("Sub", ["p", "x"], ["q"]), node("Add", ["q", "p"], ["y"])]
    agrees(model([chosen, *later], [("x", "f32", ["D", 3])], yes=True, no=False), {"x": f32(2, 3)})


def test_a_slice_from_minus_a_size(agrees):
    """The newest rows of a cache: as many as the other input has."""
    proto = model([node("Shape", ["x"], ["d"]), node("Gather", ["d", "one"], ["rows"]), node("Neg", ["rows"], ["s"]),
                   node("Slice", ["k", "s", "e", "one"], ["c"]), node("Exp", ["c"], ["y"])],
                  [("k", "f32", ["B", "T", 4]), ("x", "f32", ["B", "S", 4])], one=[1], e=[END])
    agrees(proto, *({"k": f32(2, total, 4), "x": f32(2, new, 4)} for total, new in ((7, 3), (5, 1), (4, 4), (2, 6))))


def parts(*nodes):
    """x[n, 3] with what slices and shape arithmetic need."""
    return list(nodes), {"zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "five": np.array([5]),
                         "end": np.array([END]), "last": np.array([-1]), "real": np.float32(0)}


FIRST = node("Slice", ["x", "zero", "one", "zero"], ["a"])
LAST = node("Slice", ["x", "last", "end", "zero"], ["a"])
SIZE = [node("Shape", ["x"], ["xs"]), node("Gather", ["xs", "zero"], ["n"])]
HALF = [*SIZE, node("Div", ["n", "two"], ["h"]), node("Slice", ["x", "zero", "h", "zero"], ["a"])]
FROM_ONE_MINUS = [*SIZE, node("Sub", ["one", "n"], ["s"]), node("Slice", ["x", "s", "end", "zero"], ["y"])]


@pytest.mark.parametrize("nodes", [
    [FIRST, node("Sub", ["x", "a"], ["y"])],
    [LAST, node("Div", ["x", "a"], ["y"])],
    [FIRST, node("Less", ["x", "real"], ["c"]), node("Where", ["c", "x", "a"], ["y"])],
    [LAST, node("Max", ["a", "x", "a"], ["y"])],
    [LAST, node("Concat", ["x", "x"], ["d"], axis=0), node("Mul", ["d", "a"], ["y"])],
    [FIRST, node("Shape", ["x"], ["t"]), node("Expand", ["a", "t"], ["y"])],
    FROM_ONE_MINUS,
], ids=["first", "last", "where", "max", "concat", "expand", "from-one-minus"])
def test_one_row_beside_all(agrees, nodes):
    nodes, constants = parts(*nodes)
    agrees(model(nodes, [("x", "f32", ["n", 3])], **constants), *({"x": f32(n, 3)} for n in (1, 2, 4)))


def test_batches_of_one(agrees):
    nodes, constants = parts(FIRST, node("MatMul", ["a", "x"], ["y"]))
    agrees(model(nodes, [("x", "f32", ["n", 3, 3])], **constants), *({"x": f32(n, 3, 3)} for n in (1, 2, 4)))


def test_what_expand_makes_is_what_was_asked_for(agrees):
    nodes, constants = parts(*HALF, node("Expand", ["a", "xs"], ["y"]))
    session = agrees(model(nodes, [("x", "f32", ["n", 3])], **constants), {"x": f32(3, 3)}, {"x": f32(2, 3)})
    with pytest.raises(mlc.UsageError, match="to be broadcast"):
        session.run({"x": f32(4, 3)})
    pixels = [node("Conv", ["x", "w"], ["a"]), node("Shape", ["z"], ["t"]), node("Expand", ["a", "t"], ["y"])]
    session = agrees(model(pixels, [("x", "f32", [1, 1, "h", "w"]), ("z", "f32", [1, 1, "k", "k"])], w=f32(1, 1, 3, 3)),
                     {"x": f32(1, 1, 3, 3), "z": f32(1, 1, 5, 5)}, {"x": f32(1, 1, 4, 4), "z": f32(1, 1, 2, 2)})
    with pytest.raises(mlc.UsageError, match="to be broadcast"):
        session.run({"x": f32(1, 1, 4, 4), "z": f32(1, 1, 5, 5)})


def test_sizes_below_zero_are_divided_towards_zero(agrees):
    nodes, constants = parts(*SIZE, node("Sub", ["n", "five"], ["s"]), node("Div", ["s", "two"], ["y"]))
    agrees(model(nodes, [("x", "f32", ["n", 3])], [("y", "i64")], **constants),
           *({"x": f32(n, 3)} for n in (1, 2, 4, 5, 8)))


def test_shapes_from_any_operators(agrees):
    """What torch.nn.functional.pad exports, an If by an And, and sizes that are gathered, compressed and looked for."""
    pads = [node("Reshape", ["p", "rows"], ["m"]), node("Slice", ["m", "last", "far", "zero", "last"], ["r"]),
            node("Transpose", ["r"], ["t"], perm=[1, 0]), node("Reshape", ["t", "flat"], ["v"]),
            node("Cast", ["v"], ["c"], to=TensorProto.INT64), node("Pad", ["x", "c"], ["y"])]
    agrees(model(pads, [("x", "f32", ["n", 3])], p=[1, 2, 0, 1], rows=[-1, 2], last=[-1], far=[-END], zero=[0], flat=[-1]),
           {"x": f32(2, 3)})
    branch = helper.make_graph([node("Relu", ["x"], ["taken"])], "b", [], [helper.make_tensor_value_info("taken", TensorProto.FLOAT, None)])
    chosen = [*SIZE, node("Greater", ["n", "last"], ["some"]), node("And", ["some", "yes"], ["both"]), node("Squeeze", ["both"], ["one_"]),
              node("If", ["one_"], ["y"], then_branch=branch, else_branch=branch)]
    agrees(model(chosen, [("x", "f32", ["n", 3])], zero=[0], last=[-1], yes=[True]), {"x": f32(2, 3)})
    sizes = [node("Shape", ["x"], ["xs"]), node("GatherND", ["xs", "at"], ["a"]), node("Compress", ["xs", "keep"], ["b"], axis=0),
             node("NonZero", ["keep"], ["k"]), node("Squeeze", ["k", "first"], ["q"]), node("Concat", ["b", "a", "q"], ["t"], axis=0),
             node("Expand", ["one", "t"], ["y"])]
    agrees(model(sizes, [("x", "f32", ["n", 3])], at=[[1]], keep=[True, False], first=[0], one=np.float32([1])), {"x": f32(2, 3)})


def test_places_are_replaced(agrees):
    places = {"i": [[1], [3]], "u": f32(2, 3), "j": [[0, 2, 1]]}
    agrees(model([node("ScatterND", ["x", "i", "u"], ["y"])], [("x", "f32", ["n", 3])], i=places["i"], u=places["u"]), {"x": f32(4, 3)})
    agrees(model([node("ScatterElements", ["x", "j", "v"], ["y"], axis=0)], [("x", "f32", ["n", 3])], j=places["j"], v=np.float32([[-0.0, np.nan, 2]])),
           {"x": f32(4, 3)})
