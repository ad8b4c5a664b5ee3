"""Loop-group kernels against NumPy in double precision."""

import itertools
import math

import numpy as np
import pytest

from kernels import TARGETS, compile_kernels
from kernel_text import close, dims_type, generic, kernel, m

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


@pytest.fixture(params=TARGETS)
def build(request, tmp_path):
    return lambda text: compile_kernels(text, request.param, tmp_path)["k"]


def relu_add(dims, symbols=()):
    t = dims_type(dims, "f32")
    sizes = ", ".join(f"%{d}" for d in dims if not isinstance(d, int))
    n = len(dims)
    ident = m(n, *[f"d{i}" for i in range(n)])
    return kernel([("x", dims), ("y", dims)], [(dims,)], f"""
  %z = arith.constant 0.0 : f32
  %e = tensor.empty({sizes}) : {t}
  """ + generic("a", [("%x", t), ("%y", t)], [("%e", t)], [ident] * 3,
                ["parallel"] * n, """^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32""", t) + "\n" + generic(
        "b", [("%a", t)], [("%e", t)], [ident] * 2, ["parallel"] * n,
        """^bb0(%p: f32, %o: f32):
      %s = arith.maximumf %p, %z : f32
      linalg.yield %s : f32""", t) + f"\n  return %b : {t}", symbols)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (16,), (33,), (3, 5, 7),
                                   (0, 4), (2, 10000)])
def test_elementwise_static(build, shape):
    x, y = RNG.standard_normal((2, *shape)).astype(np.float32)
    run = build(relu_add(list(shape)))
    out, = run([np.asarray(x), np.asarray(y)], [(shape, np.float32)])
    close(out, np.maximum(x + y, 0))


def test_elementwise_dynamic_and_nan(build):
    run = build(relu_add(["N", 3, "M"], ("N", "M")))
    for n, k in [(0, 4), (1, 1), (5, 0), (4, 37), (3, 5000)]:
        x, y = RNG.standard_normal((2, n, 3, k)).astype(np.float32)
        x[..., :1] = np.nan
        x[..., 1:2] = np.inf
        out, = run([x, y], [(x.shape, np.float32)], {"N": n, "M": k}, split=3)
        np.testing.assert_array_equal(out, np.maximum(x + y, 0))


def reduction(dims, kept, combine, init, element="f32", out=None, extra=""):
    t = dims_type(dims, element)
    n = len(dims)
    kept_dims = [dims[i] for i in kept]
    to = dims_type(kept_dims, element)
    return kernel([("x", dims, element)], [(kept_dims, element)], f"""
  %i = arith.constant {init} : {element}
  %e = tensor.empty() : {to}
  %f = linalg.fill ins(%i : {element}) outs(%e : {to}) -> {to}
  """ + generic("r", [("%x", t)], [("%f", to)],
                [m(n, *[f"d{i}" for i in range(n)]),
                 m(n, *[f"d{i}" for i in kept])],
                ["parallel" if i in kept else "reduction" for i in range(n)],
                f"""^bb0(%a: {element}, %acc: {element}):
      {extra}%s = {combine} %acc, %a : {element}
      linalg.yield %s : {element}""", to) + f"\n  return %r : {to}")


@pytest.mark.parametrize("shape,kept", [
    ((5, 100), (0,)), ((5, 100), (1,)), ((100, 3), (1,)), ((4, 7, 9), (0,)),
    ((4, 7, 9), (0, 2)), ((4, 7, 9), (1,)), ((4, 7, 9), ()), ((1000,), ()),
    ((2, 3, 5, 6, 16), (0, 1, 4)), ((0, 5), (1,)), ((5, 0), (0,)),
    ((3, 4099), (0,)), ((300, 33), (0,))])
@pytest.mark.parametrize("combine,init,function", [
    ("arith.addf", "0.0", np.sum), ("arith.maximumf", "0xFF800000", np.max),
    ("arith.mulf", "1.0", np.prod), ("arith.minnumf", "0x7F800000", np.min)])
def test_reductions(build, shape, kept, combine, init, function):
    x = RNG.uniform(0.9, 1.1, shape).astype(np.float32)
    run = build(reduction(list(shape), kept, combine, init))
    out_shape = tuple(shape[i] for i in kept)
    out, = run([x], [(out_shape, np.float32)], split=2)
    axes = tuple(i for i in range(len(shape)) if i not in kept)
    initial = {"0.0": 0, "1.0": 1, "0xFF800000": -np.inf,
               "0x7F800000": np.inf}[init]
    with np.errstate(all="ignore"):
        expected = function(x.astype(float), axis=axes, initial=initial)
    # Every step of a sum or product may round by half of 2^-23.
    count = x.size // max(1, math.prod(out_shape))
    close(out, expected.astype(np.float32), max(2e-6, 2.0**-24 * count))


def test_integer_reduction(build):
    x = RNG.integers(-100, 100, (6, 37)).astype(np.int64)
    run = build(reduction([6, 37], (0,), "arith.addi", "0", "i64"))
    out, = run([x], [((6,), np.int64)])
    np.testing.assert_array_equal(out, x.sum(1))


@pytest.mark.parametrize("permutation", [(1, 0), (0, 2, 1), (2, 0, 1),
                                         (0, 2, 3, 1), (0, 3, 1, 2)])
@pytest.mark.parametrize("element,dtype", [("f32", np.float32),
                                           ("i8", np.int8), ("i64", np.int64)])
def test_transpose(build, permutation, element, dtype):
    shape = (19, 34, 9, 5)[:len(permutation)]
    x = RNG.integers(-99, 99, shape).astype(dtype)
    out_shape = [shape[p] for p in permutation]
    n = len(shape)
    t, to = dims_type(shape, element), dims_type(out_shape, element)
    source = [None] * n
    for i, p in enumerate(permutation):
        source[p] = f"d{i}"
    run = build(kernel([("x", list(shape), element)], [(out_shape, element)],
                       f"%e = tensor.empty() : {to}\n" + generic(
        "r", [("%x", t)], [("%e", to)],
        [m(n, *source), m(n, *[f"d{i}" for i in range(n)])], ["parallel"] * n,
        f"^bb0(%a: {element}, %o: {element}):\nlinalg.yield %a : {element}",
        to) + f"\nreturn %r : {to}"))
    out, = run([x], [(tuple(out_shape), dtype)], split=3)
    np.testing.assert_array_equal(out, x.transpose(permutation))


def pool(dims, kernel_size, stride, pad, blocked, kind):
    """Max or average pooling over padded [n, c, h, w] or [n, cb, h, w, 16]."""
    n, c, h, w = dims[:4]
    tail = dims[4:]
    sizes = [(x + 2 * pad - kernel_size) // stride + 1 for x in (h, w)]
    t = dims_type(dims, "f32")
    padded = [n, c, h + 2 * pad, w + 2 * pad, *tail]
    tp = dims_type(padded, "f32")
    out = [n, c, *sizes, *tail]
    to = dims_type(out, "f32")
    k = f"tensor<{kernel_size}x{kernel_size}xf32>"
    loops = len(out) + 2
    u, v = f"d{loops - 2}", f"d{loops - 1}"
    read = ["d0", "d1", f"d2 * {stride} + {u}", f"d3 * {stride} + {v}",
            *[f"d{i}" for i in range(4, len(out))]]
    zero = "0xFF800000" if kind == "max" else "0.0"
    op = "arith.maximumf" if kind == "max" else "arith.addf"
    zeros = ", ".join("0" for _ in tail)
    low = f"[0, 0, {pad}, {pad}{', ' + zeros if tail else ''}]"
    body = f"""
  %z = arith.constant {zero} : f32
  %p = tensor.pad %x low{low} high{low} {{
  ^bb0({', '.join(f'%i{i}: index' for i in range(len(dims)))}):
    tensor.yield %z : f32
  }} : {t} to {tp}
  %k = tensor.empty() : {k}
  %e = tensor.empty() : {to}
  %f = linalg.fill ins(%z : f32) outs(%e : {to}) -> {to}
  """ + generic("r", [("%p", tp), ("%k", k)], [("%f", to)],
                [m(loops, *read), m(loops, u, v),
                 m(loops, *[f"d{i}" for i in range(len(out))])],
                ["parallel"] * len(out) + ["reduction"] * 2,
                f"""^bb0(%a: f32, %b: f32, %acc: f32):
      %s = {op} %a, %acc : f32
      linalg.yield %s : f32""", to)
    result = "r"
    if kind != "max":
        ident = m(len(out), *[f"d{i}" for i in range(len(out))])
        body += f"\n%c = arith.constant {float(kernel_size ** 2)} : f32\n"
        body += generic("q", [("%r", to)], [("%e", to)], [ident] * 2,
                        ["parallel"] * len(out), """^bb0(%a: f32, %o: f32):
      %s = arith.divf %a, %c : f32
      linalg.yield %s : f32""", to)
        result = "q"
    return kernel([("x", dims)], [(out,)], body + f"\nreturn %{result} : {to}"), out


@pytest.mark.parametrize("dims,size,stride,pad", [
    ([1, 3, 9, 11], 3, 2, 1), ([2, 2, 8, 40], 2, 2, 0),
    ([1, 2, 9, 11, 16], 3, 2, 1), ([1, 2, 7, 7, 16], 3, 1, 1)])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_pooling(build, dims, size, stride, pad, kind):
    x = RNG.standard_normal(dims).astype(np.float32)
    text, out_shape = pool(dims, size, stride, pad, len(dims) == 5, kind)
    out, = build(text)([x], [(tuple(out_shape), np.float32)], split=2)
    fill = -np.inf if kind == "max" else 0
    widths = [(0, 0), (0, 0), (pad, pad), (pad, pad)] + [(0, 0)] * (len(dims) - 4)
    padded = np.pad(x.astype(float), widths, constant_values=fill)
    expected = np.empty(out_shape)
    for i, j in itertools.product(range(out_shape[2]), range(out_shape[3])):
        window = padded[:, :, i * stride:i * stride + size,
                        j * stride:j * stride + size]
        expected[:, :, i, j] = (window.max((2, 3)) if kind == "max"
                                else window.mean((2, 3)))
    close(out, expected)


def test_layer_norm(build):
    rows, cols = 6, 77
    t, tr, tc = (dims_type(d, "f32") for d in ([rows, cols], [rows], [cols]))
    full, row, col = (m(2, *e) for e in (["d0", "d1"], ["d0"], ["d1"]))
    one = m(1, "d0")
    body = f"""
  %z = arith.constant 0.0 : f32
  %n = arith.constant {float(cols)} : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : {tr}
  %e = tensor.empty() : {t}
  %f = linalg.fill ins(%z : f32) outs(%er : {tr}) -> {tr}
""" + "\n".join([
        generic("s", [("%x", t)], [("%f", tr)], [full, row],
                ["parallel", "reduction"], """^bb0(%a: f32, %c: f32):
      %v = arith.addf %c, %a : f32
      linalg.yield %v : f32""", tr),
        generic("mean", [("%s", tr)], [("%er", tr)], [one, one], ["parallel"],
                """^bb0(%a: f32, %c: f32):
      %v = arith.divf %a, %n : f32
      linalg.yield %v : f32""", tr),
        generic("d", [("%x", t), ("%mean", tr)], [("%e", t)], [full, row, full],
                ["parallel"] * 2, """^bb0(%a: f32, %b: f32, %c: f32):
      %v = arith.subf %a, %b : f32
      linalg.yield %v : f32""", t),
        generic("q", [("%d", t)], [("%f", tr)], [full, row],
                ["parallel", "reduction"], """^bb0(%a: f32, %c: f32):
      %w = arith.mulf %a, %a : f32
      %v = arith.addf %c, %w : f32
      linalg.yield %v : f32""", tr),
        generic("i", [("%q", tr)], [("%er", tr)], [one, one], ["parallel"],
                """^bb0(%a: f32, %c: f32):
      %u = arith.divf %a, %n : f32
      %w = arith.addf %u, %eps : f32
      %v = math.sqrt %w : f32
      linalg.yield %v : f32""", tr),
        generic("y", [("%d", t), ("%i", tr), ("%gain", tc), ("%bias", tc)],
                [("%e", t)], [full, row, col, col, full], ["parallel"] * 2,
                """^bb0(%a: f32, %s1: f32, %g1: f32, %b1: f32, %c: f32):
      %u = arith.divf %a, %s1 : f32
      %w = arith.mulf %u, %g1 : f32
      %v = arith.addf %w, %b1 : f32
      linalg.yield %v : f32""", t)]) + f"\nreturn %y : {t}"
    run = build(kernel([("x", [rows, cols]), ("gain", [cols]), ("bias", [cols])],
                       [([rows, cols],)], body))
    x = RNG.standard_normal((rows, cols)).astype(np.float32)
    g, b = RNG.standard_normal((2, cols)).astype(np.float32)
    out, = run([x, g, b], [((rows, cols), np.float32)], split=2)
    d = x.astype(float)
    expected = ((d - d.mean(1, keepdims=True)) /
                np.sqrt(d.var(1, keepdims=True) + 1e-5) * g + b)
    close(out, expected, 2e-6)
    assert run.description["tasks"] == str(rows)


def test_gather_stays_inside(build):
    t, ti = "tensor<50x20xf32>", "tensor<7xi64>"
    to = "tensor<7x20xf32>"
    body = f"%e = tensor.empty() : {to}\n" + generic(
        "r", [("%i", ti)], [("%e", to)], [m(2, "d0"), m(2, "d0", "d1")],
        ["parallel"] * 2, f"""^bb0(%a: i64, %o: f32):
      %p = arith.index_cast %a : i64 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %x[%p, %j] : {t}
      linalg.yield %v : f32""", to) + f"\nreturn %r : {to}"
    run = build(kernel([("x", [50, 20]), ("i", [7], "i64")], [([7, 20],)], body))
    x = RNG.standard_normal((50, 20)).astype(np.float32)
    i = np.array([3, 0, 49, 1 << 40, -5, 50, 7], np.int64)
    out, = run([x, i], [((7, 20), np.float32)])
    np.testing.assert_array_equal(out, x[np.clip(i, 0, 49)])


def test_half_types_round_once(build):
    for element, dtype in [("f16", np.float16)]:
        t = dims_type([3, 21], element)
        ident = m(2, "d0", "d1")
        body = f"%e = tensor.empty() : {t}\n" + generic(
            "r", [("%x", t), ("%y", t)], [("%e", t)], [ident] * 3,
            ["parallel"] * 2, f"""^bb0(%a: {element}, %b: {element}, %o: {element}):
      %v = arith.mulf %a, %b : {element}
      %w = arith.addf %v, %a : {element}
      linalg.yield %w : {element}""", t) + f"\nreturn %r : {t}"
        run = build(kernel([("x", [3, 21], element), ("y", [3, 21], element)],
                           [([3, 21], element)], body))
        x, y = RNG.standard_normal((2, 3, 21)).astype(dtype)
        out, = run([x, y], [((3, 21), dtype)])
        wide = x.astype(np.float32)
        np.testing.assert_array_equal(
            out, (wide * y.astype(np.float32) + wide).astype(dtype))


def test_bool_select(build):
    t, tb = "tensor<5x19xf32>", "tensor<5x19xi1>"
    ident = m(2, "d0", "d1")
    body = f"""
  %e = tensor.empty() : {t}
  %eb = tensor.empty() : {tb}
""" + generic("c", [("%x", t), ("%y", t)], [("%eb", tb)], [ident] * 3,
              ["parallel"] * 2, """^bb0(%a: f32, %b: f32, %o: i1):
      %v = arith.cmpf olt, %a, %b : f32
      linalg.yield %v : i1""", tb) + "\n" + generic(
        "r", [("%c", tb), ("%m", tb), ("%x", t), ("%y", t)], [("%e", t)],
        [ident] * 5, ["parallel"] * 2,
        """^bb0(%c1: i1, %m1: i1, %a: f32, %b: f32, %o: f32):
      %n = arith.andi %c1, %m1 : i1
      %v = arith.select %n, %a, %b : f32
      linalg.yield %v : f32""", t) + f"\nreturn %r, %c : {t}, {tb}"
    run = build(kernel([("x", [5, 19]), ("y", [5, 19]), ("m", [5, 19], "i1")],
                       [([5, 19],), ([5, 19], "i1")], body))
    x, y = RNG.standard_normal((2, 5, 19)).astype(np.float32)
    mask = RNG.integers(0, 2, (5, 19)).astype(bool)
    out, less = run([x, y, mask], [((5, 19), np.float32), ((5, 19), np.bool_)])
    np.testing.assert_array_equal(less, x < y)
    np.testing.assert_array_equal(out, np.where((x < y) & mask, x, y))


def test_movement(build):
    body = """
  %c = tensor.concat dim(1) %x, %y : (tensor<4x6x5xf32>, tensor<4x3x5xf32>) -> tensor<4x9x5xf32>
  %s = tensor.extract_slice %c[1, 2, 0] [3, 3, 5] [1, 2, 1] : tensor<4x9x5xf32> to tensor<3x3x5xf32>
  %m = tensor.collapse_shape %c [[0], [1, 2]] : tensor<4x9x5xf32> into tensor<4x45xf32>
  %p = tensor.expand_shape %m [[0], [1, 2]] output_shape [4, 15, 3] : tensor<4x45xf32> into tensor<4x15x3xf32>
  return %c, %s, %m, %p : tensor<4x9x5xf32>, tensor<3x3x5xf32>, tensor<4x45xf32>, tensor<4x15x3xf32>"""
    run = build(kernel([("x", [4, 6, 5]), ("y", [4, 3, 5])],
                       [([4, 9, 5],), ([3, 3, 5],), ([4, 45],), ([4, 15, 3],)],
                       body))
    x = RNG.standard_normal((4, 6, 5)).astype(np.float32)
    y = RNG.standard_normal((4, 3, 5)).astype(np.float32)
    c, s, joined, parts = run([x, y], [((4, 9, 5), np.float32),
                                       ((3, 3, 5), np.float32),
                                       ((4, 45), np.float32),
                                       ((4, 15, 3), np.float32)])
    whole = np.concatenate([x, y], 1)
    np.testing.assert_array_equal(c, whole)
    np.testing.assert_array_equal(s, whole[1:4, 2:7:2])
    np.testing.assert_array_equal(joined, whole.reshape(4, 45))
    np.testing.assert_array_equal(parts, whole.reshape(4, 15, 3))


def test_insert_and_pad(build):
    body = """
  %v = arith.constant 2.5 : f32
  %i = tensor.insert_slice %y into %x[1, 3] [2, 20] [2, 1] : tensor<2x20xf32> into tensor<4x30xf32>
  %p = tensor.pad %i low[1, 2] high[0, 3] {
  ^bb0(%a: index, %b: index):
    tensor.yield %v : f32
  } : tensor<4x30xf32> to tensor<5x35xf32>
  return %p : tensor<5x35xf32>"""
    run = build(kernel([("x", [4, 30]), ("y", [2, 20])], [([5, 35],)], body))
    x = RNG.standard_normal((4, 30)).astype(np.float32)
    y = RNG.standard_normal((2, 20)).astype(np.float32)
    out, = run([x, y], [((5, 35), np.float32)])
    x[1:5:2, 3:23] = y
    np.testing.assert_array_equal(
        out, np.pad(x, ((1, 0), (2, 3)), constant_values=2.5))


def test_constants(build):
    body = """
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<5x3xf32>
""" + generic("r", [("%x", "tensor<5x3xf32>"), ("%c", "tensor<3xf32>")],
              [("%e", "tensor<5x3xf32>")],
              [m(2, "d0", "d1"), m(2, "d1"), m(2, "d0", "d1")],
              ["parallel"] * 2, """^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.mulf %a, %b : f32
      linalg.yield %v : f32""", "tensor<5x3xf32>") + \
        "\nreturn %r : tensor<5x3xf32>"
    run = build(kernel([("x", [5, 3])], [([5, 3],)], body))
    x = RNG.standard_normal((5, 3)).astype(np.float32)
    out, = run([x], [((5, 3), np.float32)])
    np.testing.assert_array_equal(out, x * np.float32([1, 2, 4]))


def test_constant_output(build):
    t = "tensor<3xf32>"
    body = f"""
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : {t}
  return %c, %x, %c : {t}, {t}, {t}"""
    run = build(kernel([("x", [3])], [([3],)] * 3, body))
    x = RNG.standard_normal(3).astype(np.float32)
    outs = run([x], [((3,), np.float32)] * 3)
    for out, expected in zip(outs, ([1, 2, 4], x, [1, 2, 4])):
        np.testing.assert_array_equal(out, np.float32(expected))


def argmax(rows, cols):
    t = dims_type([rows, cols], "f32")
    tv, ti = dims_type([rows], "f32"), dims_type([rows], "i64")
    body = f"""
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i64
  %ev = tensor.empty() : {tv}
  %ei = tensor.empty() : {ti}
  %fv = linalg.fill ins(%ninf : f32) outs(%ev : {tv}) -> {tv}
  %fi = linalg.fill ins(%z : i64) outs(%ei : {ti}) -> {ti}
  %r:2 = linalg.generic {{indexing_maps = [{m(2, 'd0', 'd1')}, {m(2, 'd0')}, {m(2, 'd0')}],
      iterator_types = ["parallel", "reduction"]}} ins(%x : {t}) outs(%fv, %fi : {tv}, {ti}) {{
    ^bb0(%a: f32, %best: f32, %at: i64):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i64
      %more = arith.cmpf ogt, %a, %best : f32
      %v = arith.select %more, %a, %best : f32
      %w = arith.select %more, %ji, %at : i64
      linalg.yield %v, %w : f32, i64
  }} -> ({tv}, {ti})
  return %r#1 : {ti}"""
    return kernel([("x", [rows, cols])], [([rows], "i64")], body)


def test_arg_max(build):
    x = RNG.standard_normal((9, 31)).astype(np.float32)
    out, = build(argmax(9, 31))([x], [((9,), np.int64)])
    np.testing.assert_array_equal(out, x.argmax(1))


def test_pieces_share_rows(build):
    """A concatenation written as insertions runs row by row, without scratch."""
    t, to = "tensor<6x5x7xf32>", "tensor<6x8x7xf32>"
    body = f"""
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : {t}
""" + generic("a", [("%x", t)], [("%e0", t)],
              [m(3, "d0", "d1", "d2")] * 2, ["parallel"] * 3,
              """^bb0(%p: f32, %o: f32):
      %v = arith.maximumf %p, %z : f32
      linalg.yield %v : f32""", t) + f"""
  %e = tensor.empty() : {to}
  %i = tensor.insert_slice %a into %e[0, 0, 0] [6, 5, 7] [1, 1, 1] : {t} into {to}
  %j = tensor.insert_slice %y into %i[0, 5, 0] [6, 3, 7] [1, 1, 1] : tensor<6x3x7xf32> into {to}
  return %j : {to}"""
    run = build(kernel([("x", [6, 5, 7]), ("y", [6, 3, 7])], [([6, 8, 7],)],
                       body))
    assert run.description["scratch"] == "0"
    assert run.description["tasks"] == "6"
    x = RNG.standard_normal((6, 5, 7)).astype(np.float32)
    y = RNG.standard_normal((6, 3, 7)).astype(np.float32)
    out, = run([x, y], [((6, 8, 7), np.float32)], split=3)
    np.testing.assert_array_equal(
        out, np.concatenate([np.maximum(x, 0), y], 1))
