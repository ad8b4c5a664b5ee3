"""mlc.scatter_add, by its definition and by the library's kernel, and ONNX's operators that become it."""

import subprocess

import mlc
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "ui8": np.uint8, "i16": np.int16,
         "ui16": np.uint16, "i32": np.int32, "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64}
TARGETS = [("cpu", "cpu"), ("cuda:sm_80", "emulator")]
rng = np.random.default_rng(5)


COMBINE = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def expected(x, indices, updates, axis, part=None, reduction="sum"):
    """In order, each sum rounded; half floats in float32 and rounded once. `part`: where x begins, in how many slices."""
    kind = np.float32 if x.dtype == np.float16 else x.dtype
    y, n = np.moveaxis(x, axis, 0).astype(kind), x.shape[axis]
    places = range(axis, axis + indices.ndim)
    slices = np.moveaxis(updates, list(places), list(range(indices.ndim))).reshape(indices.size, *y.shape[1:])
    begin, whole = part or (0, n)
    for at, one in zip(indices.reshape(-1).astype(np.int64), slices):
        at += whole if at < 0 else 0
        if at >= 0 and 0 <= at - begin < n:
            y[at - begin] = COMBINE[reduction](y[at - begin], one.astype(kind))
    return np.moveaxis(y, 0, axis).astype(x.dtype)


def module(x, indices, updates, axis, types, part=None, reduction="sum"):
    parts = ", begin = #mlc.int<{}>, whole = #mlc.int<{}>".format(*part) if part else ""
    parts += f', reduction = "{reduction}"' if reduction != "sum" else ""

    def type_of(array, element):
        return "tensor<" + "".join(f"{d}x" for d in array.shape) + element + ">"
    t, i, u = type_of(x, types[0]), type_of(indices, types[1]), type_of(updates, types[0])
    return f"""func.func @main(%x: {t} {{mlc.name = "x"}}, %i: {i} {{mlc.name = "i"}}, %u: {u} {{mlc.name = "u"}}) -> {t} {{
      %0 = mlc.scatter_add %x, %i, %u {{axis = {axis} : i64{parts}}} : ({t}, {i}, {u}) -> {t}
      return %0 : {t}\n}}"""


@pytest.fixture
def agree(tools, tmp_path):
    def tool(name, *arguments):
        done = subprocess.run([tools.build / "bin" / name, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def check(x, indices, updates, axis, types=("f32", "i64"), targets=TARGETS, part=None, reduction="sum"):
        (tmp_path / "f.mlir").write_text(module(x, indices, updates, axis, types, part, reduction))
        arrays = {"x": x, "i": indices, "u": updates}
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
        want = expected(x, indices, updates, axis, part, reduction)
        tool("mlc-eval", "f.mlir", *[f"--input={name}.npy" for name in arrays], "--output-dir", "out")
        defined = np.load(tmp_path / "out/0.npy")
        if x.dtype.kind == "f":
            digits = np.finfo(x.dtype).eps * 8
            np.testing.assert_allclose(defined, want, rtol=digits, atol=digits * 8)
        else:
            np.testing.assert_array_equal(defined, want)
        for target, device in targets:
            tool("mlc-opt", "f.mlir", "--mlc-lower-to-linalg", f"--mlc-fuse=target={target}", "-o", "k.mlir")
            # On GPUs a kernel, not a call of the host's library.
            assert ("exec.library" in (tmp_path / "k.mlir").read_text()) == (target == "cpu")
            tool("mlc-translate", "k.mlir", f"--target={target}", "-o", "f.mlca")
            model = mlc.load(tmp_path / "f.mlca")
            for threads in (1, 2):
                (got,) = mlc.Session(model, threads=threads, device=device).run(arrays).values()
                np.testing.assert_array_equal(got, want)
    return check


def numbers(kind, *dims):
    if kind.startswith("f"):
        return rng.normal(size=dims).astype(TYPES[kind])
    info = np.iinfo(TYPES[kind])
    return rng.integers(info.min, info.max, dims, TYPES[kind])


@pytest.mark.parametrize("kind", TYPES)
def test_types(kind, agree):
    """Indices repeat, and some are out of range. Integers wrap around."""
    indices = rng.integers(-9, 9, (3, 11))
    with np.errstate(over="ignore"):
        agree(numbers(kind, 7, 5), indices, numbers(kind, 3, 11, 5), 0, (kind, "i64"))


@pytest.mark.parametrize("reduction", ["prod", "max", "min"])
@pytest.mark.parametrize("kind", TYPES)
def test_other_reductions(kind, reduction, agree):
    """Of signed and unsigned integers; one NaN is the result where it falls."""
    indices = rng.integers(-9, 9, (3, 5))
    x, updates = numbers(kind, 7, 5), numbers(kind, 3, 5, 5)
    if kind.startswith("f") and reduction != "prod":
        indices[0, 0] = 2
        updates[0, 0, 1] = x[2, 3] = np.nan
    with np.errstate(over="ignore"):
        agree(x, indices, updates, 0, (kind, "i64"), reduction=reduction)
        agree(x, np.int64(3), updates[0, 0], 0, (kind, "i64"), reduction=reduction)


@pytest.mark.parametrize("kind", ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64"])
def test_types_of_indices(kind, agree):
    top = 2 ** (31 if kind in ("i32", "ui32") else 6)
    indices = np.array([3, 0, 3, top, 6, 2], np.int64).astype(TYPES[kind])
    if kind.startswith("i"):
        indices[4] = -1
    agree(numbers("f32", 7, 5), indices, numbers("f32", 6, 5), 0, ("f32", kind))


@pytest.mark.parametrize("dims,axis,picks", [
    ((40, 6), 0, (9,)), ((40, 6), 1, (9, 2)), ((3, 40, 6), 1, (17,)), ((50, 20, 3), 1, (8,)), ((64,), 0, (100,)),
    ((5, 3), 0, ()), ((5, 3), 1, ()), ((4, 0), 0, (3,)), ((4, 6), 1, (0,)), ((0, 6), 0, (3,)), ((1, 129), 0, (7,))])
def test_shapes(dims, axis, picks, agree):
    indices = rng.integers(0, max(dims[axis], 1), picks)
    updates = numbers("f32", *dims[:axis], *picks, *dims[axis + 1:])
    agree(numbers("f32", *dims), np.asarray(indices), updates, axis)


@pytest.mark.parametrize("begin, whole", [(0, 20), (7, 20), (13, 20), (13, 15), (20, 20), (9, 0)])
def test_parts(begin, whole, agree):
    """Of 7 slices from `begin` on, by indices of the whole; the last indices are as far from it as there are."""
    indices = np.append(rng.integers(-25, 25, 50), [-2**63, 2**63 - 1])
    agree(numbers("f32", 3, 7, 5), indices, numbers("f32", 3, 52, 5), 1, part=(begin, whole))


def test_order_of_sums(agree):
    """1 + 2^-24 + ... + 2^-24 stays 1 from the left, and not from the right."""
    updates = np.full((64, 3), 2.0**-24, np.float32)
    agree(np.ones((2, 3), np.float32), np.ones(64, np.int64), updates, 0, targets=TARGETS)


def test_half_floats_are_rounded_once(agree):
    updates = np.full((64, 3), 2.0**-11, np.float16)
    x = np.ones((2, 3), np.float16)
    assert expected(x, np.ones(64, np.int64), updates, 0)[1, 0] == 1 + 64 * 2.0**-11
    agree(x, np.ones(64, np.int64), updates, 0, ("f16", "i64"))


# ---------------------------------------------------------------------------
# ONNX
# ---------------------------------------------------------------------------


@pytest.fixture
def run(tools, tmp_path):
    def compile_and_run(op, arrays, opset=18, constants=(), **attributes):
        node = helper.make_node(op, list(arrays), ["y"], **attributes)
        kind = helper.np_dtype_to_tensor_dtype
        inputs = [helper.make_tensor_value_info(k, kind(a.dtype), [f"{k}{i}" for i in range(a.ndim)] if k == "x" else a.shape)
                  for k, a in arrays.items() if k not in constants]
        graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")],
                                  [numpy_helper.from_array(arrays[k], k) for k in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
        onnx.save(model, tmp_path / "m.onnx")
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
        assert done.returncode == 0, done.stderr
        fed = {k: a for k, a in arrays.items() if k not in constants}
        return next(iter(mlc.load(tmp_path / "m.mlca").run(fed).values()))
    return compile_and_run


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter_elements(axis, run):
    """Of an input of open dims; indices cover a part of it."""
    x, u = numbers("f32", 5, 6, 7), numbers("f32", 4, 3, 7)
    indices = rng.integers(-x.shape[axis], x.shape[axis], u.shape)
    want = x.copy()
    for place in np.ndindex(u.shape):
        at = list(place)
        at[axis] = indices[place]
        want[tuple(at)] += u[place]
    np.testing.assert_array_equal(run("ScatterElements", {"x": x, "i": indices, "u": u}, axis=axis, reduction="add"), want)
    picked = run("GatherElements", {"x": x, "i": indices}, axis=axis)
    inner = x[tuple(slice(None) if d == axis % 3 else slice(n) for d, n in enumerate(u.shape))]
    np.testing.assert_array_equal(picked, np.take_along_axis(inner, indices, axis))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_scatter_nd(width, run):
    x = numbers("f32", 5, 6, 7)
    indices = np.stack([rng.integers(-n, n, (4, 3)) for n in x.shape[:width]], -1)
    u = numbers("f32", 4, 3, *x.shape[width:])
    want = x.copy()
    for place in np.ndindex(4, 3):
        want[tuple(indices[place])] += u[place]
    np.testing.assert_array_equal(run("ScatterND", {"x": x, "i": indices, "u": u}, reduction="add"), want)
    np.testing.assert_array_equal(run("GatherND", {"x": x, "i": indices}), x[tuple(np.moveaxis(indices, -1, 0))])


def test_indices_out_of_range_add_nothing(run):
    """Also where their place in the flattened tensor would be another row's."""
    x, u = numbers("f32", 3, 4), numbers("f32", 3, 2)
    indices = np.int64([[0, 4], [-5, 1], [2**40, -4]])
    want = x.copy()
    want[0, 0] += u[0, 0]
    want[1, 1] += u[1, 1]
    want[2, 0] += u[2, 1]
    np.testing.assert_array_equal(run("ScatterElements", {"x": x, "i": indices, "u": u}, axis=1, reduction="add"), want)


@pytest.mark.parametrize("kind", ["f32", "f16", "i8", "ui64", "i1"])
@pytest.mark.parametrize("constants", [(), ("i", "u")])
def test_the_last_of_several_is_written(kind, constants, run):
    """ONNX leaves open which; never their sum. Values are taken whole: -0 and NaN."""
    x, u = (rng.normal(size=(rows, 6)) > 0 if kind == "i1" else numbers(kind, rows, 6) for rows in (5, 9))
    if kind == "f32":
        u[8], u[7, 0] = -0.0, np.nan
    rows, elements = rng.integers(-5, 5, (9, 1)), rng.integers(-5, 5, u.shape)
    want, want_elements = x.copy(), x.copy()
    for i, j in np.ndindex(u.shape):
        want[rows[i, 0], j], want_elements[elements[i, j], j] = u[i, j], u[i, j]
    for op, indices, expect in (("ScatterND", rows, want), ("ScatterElements", elements, want_elements)):
        got = run(op, {"x": x, "i": indices, "u": u}, constants=constants)
        np.testing.assert_array_equal(got, expect)
        assert kind != "f32" or (np.signbit(got) == np.signbit(expect)).all()


def test_no_updates_change_nothing(run):
    x = numbers("f32", 5, 6)
    got = run("ScatterND", {"x": x, "i": np.zeros((0, 1), np.int64), "u": np.zeros((0, 6), np.float32)})
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("reduction", ["mul", "max", "min"])
def test_reductions(reduction, run):
    """As ONNX's reference evaluator has them; some indices are named again."""
    x, u = numbers("f32", 5, 6), numbers("f32", 4, 6)
    combine = {"mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    elements, rows = rng.integers(-5, 5, u.shape), rng.integers(-5, 5, (4, 1))
    want, want_rows = x.copy(), x.copy()
    for i, j in np.ndindex(u.shape):
        want[elements[i, j], j] = combine(want[elements[i, j], j], u[i, j])
        want_rows[rows[i, 0], j] = combine(want_rows[rows[i, 0], j], u[i, j])
    for op, indices, expect in (("ScatterElements", elements, want), ("ScatterND", rows, want_rows)):
        np.testing.assert_array_equal(run(op, {"x": x, "i": indices, "u": u}, reduction=reduction), expect)


def test_other_reductions_are_refused(tools, tmp_path):
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3, 4])
    for op, picks in (("ScatterElements", [3, 4]), ("ScatterND", [3, 1])):
        i = helper.make_tensor_value_info("i", onnx.TensorProto.INT64, picks)
        node = helper.make_node(op, ["x", "i", "x"], ["y"], reduction="mean")
        graph = helper.make_graph([node], "g", [x, i], [helper.make_empty_tensor_value_info("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
        assert done.returncode == 4 and "reduction mean is not supported" in done.stderr
        x.type.tensor_type.elem_type = onnx.TensorProto.BOOL
        node.attribute[0].s = b"add"
        graph = helper.make_graph([node], "g", [x, i], [helper.make_empty_tensor_value_info("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
        assert done.returncode == 4 and "reduction add of bool is not supported" in done.stderr
        x.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
