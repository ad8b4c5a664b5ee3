"""Collectives in programs: modules written by hand, compiled, and run on several ranks, against NumPy."""

import json
import signal
import time

import numpy as np
import programs
import pytest
import ranks
from programs import each, module, parts, reshape, sharding, size_of, type_of


def axis(count, name="data"):
    return f'axis = #dist.axis<"{name}", {count}>'


def numbers(random, shape, element):
    """Small whole numbers, whose sums every type holds."""
    return random.integers(-8, 8, shape).astype(programs.TYPES[element])


@pytest.fixture
def random():
    return np.random.default_rng(5)


def gloo(tools, count):
    """How mlc launch starts so many."""
    return ranks.over_gloo(tools, count)[:5]


@pytest.mark.parametrize("element", ["f32", "f16", "i32"])
@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("algorithm", ["", "ring", "tree"])
def test_all_reduce_of_several(tools, tmp_path, random, count, element, algorithm):
    """Two operands, one that a kernel computes and one that is an input; a result is read and given out."""
    chosen = f', algorithm = "{algorithm}"' if algorithm else ""
    t = lambda dims: type_of(dims, element)  # noqa: E731
    text = module({"data": count}, {"x": each(count, [3, 5], element), "y": each(count, [7], element)},
                  {"a": each(count, [3, 5], element), "b": each(count, [7], element)}, [
        reshape("u", "x", [1, 3, 5], [3, 5], element), reshape("v", "y", [1, 7], [7], element),
        f"%s = mlc.add %u, %u : ({t([3, 5])}, {t([3, 5])}) -> {t([3, 5])}",
        f'%r:2 = dist.all_reduce %s, %v {{{axis(count)}, reduction = "sum"{chosen}}} : ({t([3, 5])}, {t([7])}) -> '
        f"({t([3, 5])}, {t([7])})",
        f"%w = mlc.add %r#0, %u : ({t([3, 5])}, {t([3, 5])}) -> {t([3, 5])}",
        reshape("a", "w", [3, 5], [1, 3, 5], element), reshape("b", "r#1", [7], [1, 7], element),
        f"return %a, %b : {t([1, 3, 5])}, {t([1, 7])}"])
    artifact = programs.compile(tools, tmp_path, text)
    x, y = numbers(random, (count, 3, 5), element), numbers(random, (count, 7), element)
    got = programs.run(tools, tmp_path, artifact, {"x": x, "y": y})
    assert np.array_equal(got["a"], 2 * x.sum(0, dtype=x.dtype) + x)
    assert np.array_equal(got["b"], np.broadcast_to(y.sum(0, dtype=y.dtype), (count, 7)))


@pytest.mark.parametrize("reduction,numpy", [("max", np.max), ("min", np.min), ("prod", np.prod)])
def test_other_reductions(tools, tmp_path, random, reduction, numpy):
    text = module({"data": 3}, {"x": each(3, [6])}, {"y": each(3, [6])}, [
        reshape("u", "x", [1, 6], [6]),
        f'%r = dist.all_reduce %u {{{axis(3)}, reduction = "{reduction}"}} : (tensor<6xf32>) -> tensor<6xf32>',
        reshape("y", "r", [6], [1, 6]), "return %y : tensor<1x6xf32>"])
    x = numbers(random, (3, 6), "f32")
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], np.broadcast_to(numpy(x, 0), (3, 6)))


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("extent", [12, 7, 2])
@pytest.mark.parametrize("dim,unit", [(0, 1), (1, 1), (0, 2)])
def test_reduce_scatter(tools, tmp_path, random, count, extent, dim, unit):
    shape = [5, 5]
    shape[dim] = extent * unit
    part = [str(n) for n in shape]
    part[dim] = size_of(extent, count) if unit == 1 else f"{unit} * ({size_of(extent, count)})"
    part[dim] = str(eval(part[dim])) if extent % count == 0 else part[dim]
    if unit != 1 and extent % count:
        pytest.skip("a result of parts of units is no part of whole elements")
    axes = ["", ""]
    axes[dim] = "data"
    text = module({"data": count}, {"x": each(count, shape)}, {"y": (type_of(part), sharding(*axes))}, [
        reshape("u", "x", [1, *shape], shape),
        f'%r = dist.reduce_scatter %u {{{axis(count)}, dims = array<i64: {dim}>, extents = #mlc.dims<[{extent}]>, '
        f'units = #mlc.dims<[{unit}]>, reduction = "sum"}} : ({type_of(shape)}) -> {type_of(part)}',
        f"return %r : {type_of(part)}"])
    x = numbers(random, (count, *shape), "f32")
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], x.sum(0))


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("extent", [12, 7, 2])
@pytest.mark.parametrize("dim", [0, 1])
def test_all_gather(tools, tmp_path, random, count, extent, dim):
    shape = [5, 5]
    shape[dim] = extent
    part = [str(n) for n in shape]
    part[dim] = size_of(extent, count)
    axes = ["", ""]
    axes[dim] = "data"
    text = module({"data": count}, {"x": (type_of(part), sharding(*axes))}, {"y": each(count, shape)}, [
        f"%s = mlc.add %x, %x : ({type_of(part)}, {type_of(part)}) -> {type_of(part)}",
        f"%r = dist.all_gather %s {{{axis(count)}, dims = array<i64: {dim}>, extents = #mlc.dims<[{extent}]>, "
        f"units = #mlc.dims<[1]>}} : ({type_of(part)}) -> {type_of(shape)}",
        reshape("y", "r", shape, [1, *shape]), f"return %y : {type_of([1, *shape])}"])
    x = numbers(random, shape, "f32")
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], np.broadcast_to(2 * x, (count, *shape)))


@pytest.mark.parametrize("count", [2, 4])
def test_several_parts_are_one_message(tools, tmp_path, random, count):
    """Reduce-scatter and all-gather of two operands, which lie together as long as their parts are alike."""
    a, b, pa, pb = [8, 3], [5, 4], [8 // count, 3], [5, 4 // count]
    both = f"dims = array<i64: 0, 1>, extents = #mlc.dims<[8, 4]>, units = #mlc.dims<[1, 1]>, {axis(count)}"
    text = module({"data": count}, {"x": each(count, a), "y": each(count, b)}, {"u": each(count, a), "v": each(count, b)}, [
        reshape("xs", "x", [1, *a], a), reshape("ys", "y", [1, *b], b),
        f'%s:2 = dist.reduce_scatter %xs, %ys {{{both}, reduction = "sum"}} : ({type_of(a)}, {type_of(b)}) -> '
        f"({type_of(pa)}, {type_of(pb)})",
        f"%t = mlc.add %s#0, %s#0 : ({type_of(pa)}, {type_of(pa)}) -> {type_of(pa)}",
        f"%g:2 = dist.all_gather %t, %s#1 {{{both}}} : ({type_of(pa)}, {type_of(pb)}) -> ({type_of(a)}, {type_of(b)})",
        reshape("u", "g#0", a, [1, *a]), reshape("v", "g#1", b, [1, *b]),
        f"return %u, %v : {type_of([1, *a])}, {type_of([1, *b])}"])
    artifact = programs.compile(tools, tmp_path, text)
    x, y = numbers(random, (count, *a), "f32"), numbers(random, (count, *b), "f32")
    got = programs.run(tools, tmp_path, artifact, {"x": x, "y": y})
    assert np.array_equal(got["u"], np.broadcast_to(2 * x.sum(0), x.shape))
    assert np.array_equal(got["v"], np.broadcast_to(y.sum(0), y.shape))
    shown = tools.mlc("inspect", artifact).stdout
    assert shown.count("start reduce_scatter") == 1 and "args (1; " not in shown
    assert f"args ({count}; {44 // count})" in shown  # 24 and 20 elements


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("split,join", [(0, 1), (1, 0), (2, 0), (1, 2)])
@pytest.mark.parametrize("extents", [(12, 24), (7, 12), (12, 5), (7, 3)])
def test_all_to_all(tools, tmp_path, random, count, split, join, extents):
    whole = [3, 3, 3]
    whole[split], whole[join] = extents
    before, after = [str(n) for n in whole], [str(n) for n in whole]
    before[join], after[split] = size_of(extents[1], count), size_of(extents[0], count)
    axes = {"in": ["", "", ""], "out": ["", "", ""]}
    axes["in"][join] = axes["out"][split] = "data"
    text = module({"data": count}, {"x": (type_of(before), sharding(*axes["in"]))},
                  {"y": (type_of(after), sharding(*axes["out"]))}, [
        f"%y = dist.all_to_all %x {{{axis(count)}, split = {split} : i64, splitExtent = #mlc.int<{extents[0]}>, "
        f"join = {join} : i64, joinExtent = #mlc.int<{extents[1]}>}} : ({type_of(before)}) -> {type_of(after)}",
        f"return %y : {type_of(after)}"])
    x = random.standard_normal(whole).astype(np.float32)
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], x)


@pytest.mark.parametrize("root", [0, 2])
def test_broadcast(tools, tmp_path, random, root):
    text = module({"data": 3}, {"x": each(3, [4], "i32")}, {"y": each(3, [4], "i32")}, [
        reshape("u", "x", [1, 4], [4], "i32"),
        f"%r = dist.broadcast %u {{{axis(3)}, root = {root} : i64}} : (tensor<4xi32>) -> tensor<4xi32>",
        f"%s = mlc.add %r, %u : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>",
        reshape("y", "s", [4], [1, 4], "i32"), "return %y : tensor<1x4xi32>"])
    x = numbers(random, (3, 4), "i32")
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], x + x[root])


@pytest.mark.parametrize("by", [1, -1, 2, 0, 9])
def test_shift(tools, tmp_path, random, by):
    text = module({"data": 4}, {"x": each(4, [5])}, {"y": each(4, [5])}, [
        f"%y = dist.shift %x {{{axis(4)}, by = {by} : i64}} : (tensor<1x5xf32>) -> tensor<1x5xf32>",
        "return %y : tensor<1x5xf32>"])
    x = numbers(random, (4, 5), "f32")
    want = np.zeros_like(x)
    for rank in range(4):
        if 0 <= rank - by < 4:
            want[rank] = x[rank - by]
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], want)


@pytest.mark.parametrize("count,extent", [(2, 8), (3, 9), (4, 10)])
@pytest.mark.parametrize("low,high", [(1, 1), (2, 0), (0, 1)])
def test_halo(tools, tmp_path, random, count, extent, low, high):
    """Along dim 1; what comes is given out by rank, filled up to the largest part."""
    size = size_of(extent, count)
    most = -(-extent // count) + low + high
    wide = f"{low + high} + {size}" if not size.isdigit() else str(int(size) + low + high)
    fill = f"{most} - ({wide})" if not size.isdigit() else str(most - int(wide))
    text = module({"data": count}, {"x": (type_of([3, size]), sharding("", "data"))}, {"y": each(count, [3, most])}, [
        f"%h = dist.halo %x {{{axis(count)}, dim = 1 : i64, low = {low} : i64, high = {high} : i64}} : "
        f"({type_of([3, size])}) -> {type_of([3, wide])}",
        f'%p = mlc.pad %h {{low = #mlc.dims<[0, 0]>, high = #mlc.dims<[0, {fill}]>, mode = "constant", '
        f"value = #mlc.real<-1.0>}} : ({type_of([3, wide])}) -> {type_of([3, most])}",
        reshape("y", "p", [3, most], [1, 3, most]), f"return %y : {type_of([1, 3, most])}"])
    x = random.standard_normal((3, extent)).astype(np.float32)
    padded = np.pad(x, ((0, 0), (low, high)))
    want, begin = np.full((count, 3, most), -1, np.float32), 0
    for rank, part in enumerate(parts(x, count, 1)):
        width = part.shape[1] + low + high
        want[rank, :, :width] = padded[:, begin:begin + width]
        begin += part.shape[1]
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["y"], want)


def test_an_axis_of_one_rank_needs_no_others(tools, tmp_path, random):
    text = module({"data": 1}, {"x": (type_of([4]), sharding("data"))}, {"y": (type_of([6]), sharding("data"))}, [
        f'%r = dist.all_reduce %x {{{axis(1)}, reduction = "sum"}} : (tensor<4xf32>) -> tensor<4xf32>',
        f"%y = dist.halo %r {{{axis(1)}, dim = 0 : i64, low = 1 : i64, high = 1 : i64}} : (tensor<4xf32>) -> tensor<6xf32>",
        "return %y : tensor<6xf32>"])
    x = numbers(random, (4,), "f32")
    artifact = programs.compile(tools, tmp_path, text)
    assert np.array_equal(programs.run(tools, tmp_path, artifact, {"x": x}, options=())["y"], np.pad(x, 1))
    assert "start" not in tools.mlc("inspect", artifact).stdout


def test_two_axes(tools, tmp_path, random):
    """Sums over the rows of a 2 x 3 mesh, then over its columns."""
    text = module({"row": 2, "column": 3}, {"x": (type_of([1, 1, 4]), sharding("row", "column", ""))},
                  {"a": (type_of([1, 1, 4]), sharding("row", "column", "")),
                   "b": (type_of([1, 1, 4]), sharding("row", "column", ""))}, [
        f'%a = dist.all_reduce %x {{{axis(3, "column")}, reduction = "sum"}} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>',
        f'%b = dist.all_reduce %a {{{axis(2, "row")}, reduction = "sum", algorithm = "ring"}} : (tensor<1x1x4xf32>) -> '
        "tensor<1x1x4xf32>",
        "return %a, %b : tensor<1x1x4xf32>, tensor<1x1x4xf32>"])
    x = numbers(random, (2, 3, 4), "f32")
    got = programs.run(tools, tmp_path, programs.compile(tools, tmp_path, text), {"x": x})
    assert np.array_equal(got["a"], np.broadcast_to(x.sum(1, keepdims=True), x.shape))
    assert np.array_equal(got["b"], np.broadcast_to(x.sum((0, 1)), x.shape))


def test_whole_tensors_are_cut_and_joined(tools, tmp_path, random):
    """Uneven parts of both dims, on a mesh of two axes, without an exchange."""
    part = [size_of(7, 2, "row"), size_of(5, 3, "column")]
    kind = (type_of(part), sharding("row", "column"))
    text = module({"row": 2, "column": 3}, {"x": kind}, {"y": kind}, [
        f"%y = mlc.add %x, %x : ({type_of(part)}, {type_of(part)}) -> {type_of(part)}", f"return %y : {type_of(part)}"])
    x = numbers(random, (7, 5), "f32")
    artifact = programs.compile(tools, tmp_path, text)
    assert np.array_equal(programs.run(tools, tmp_path, artifact, {"x": x})["y"], 2 * x)
    # The same of parts, each rank's in a file of its own.
    for rank, (rows, columns) in enumerate([(rows, columns) for rows in (slice(0, 4), slice(4, 7))
                                            for columns in (slice(0, 2), slice(2, 4), slice(4, 5))]):
        np.save(tmp_path / f"x{rank}.npy", x[rows, columns])
    done = tools.mlc("run", artifact, "--engine=inproc", "--own-parts", f"--input=x={tmp_path}/x%r.npy",
                     f"--output-npz={tmp_path}/own%r.npz")
    assert done.returncode == 0, done.stderr
    for rank in range(6):
        assert np.array_equal(np.load(tmp_path / f"own{rank}.npz")["y"], 2 * np.load(tmp_path / f"x{rank}.npy"))
    for output in ("--output-npz", "--output-dir"):
        done = tools.mlc("run", artifact, "--engine=inproc", "--own-parts", f"--input=x={tmp_path}/x%r.npy", f"{output}={tmp_path}/one")
        assert done.returncode == 2 and "put %r, the rank, into the path" in done.stderr and not (tmp_path / "one").exists()
    # Who has an error is named, and its code is that of all.
    np.save(tmp_path / "x4.npy", x[:1, :1])
    done = tools.mlc("run", artifact, "--engine=inproc", "--own-parts", f"--input=x={tmp_path}/x%r.npy")
    assert done.returncode == 2 and "rank 4: " in done.stderr and "dim 0 is 1" in done.stderr, done.stderr


SUM = ["%r = dist.all_reduce %x {" + axis(4) + ', reduction = "sum"} : (tensor<1x8xf32>) -> tensor<1x8xf32>',
       "return %r : tensor<1x8xf32>"]


def sum_of_four(tools, folder):
    return programs.compile(tools, folder, module({"data": 4}, {"x": each(4, [8])}, {"y": each(4, [8])}, SUM))


def test_processes(tools, tmp_path, random):
    """The same over Gloo, and over MPI, as in threads."""
    artifact, x = sum_of_four(tools, tmp_path), numbers(random, (4, 8), "f32")
    want = np.broadcast_to(x.sum(0), x.shape)
    assert np.array_equal(programs.run(tools, tmp_path, artifact, {"x": x}, gloo(tools, 4), ())["y"], want)
    assert np.array_equal(programs.run(tools, tmp_path, artifact, {"x": x}, ranks.mpirun(tools, 4), ())["y"], want)


def test_a_wrong_number_of_ranks_is_told(tools, tmp_path):
    artifact = sum_of_four(tools, tmp_path)
    x = {"x": np.zeros((4, 8), np.float32)}
    alone = ranks.output(programs.command(tools, tmp_path, artifact, x))
    assert alone.returncode == 2
    assert alone.stderr.strip().endswith("needs 4 ranks (4 'data'), and the session has no others; start it with mlc "
                                         "launch -n 4, or its ranks as threads by engine inproc")
    three = ranks.output([*gloo(tools, 3), *programs.command(tools, tmp_path, artifact, x)])
    assert three.returncode == 2 and "needs 4 ranks (4 'data'), and there are 3" in three.stderr
    four = ranks.output(programs.command(tools, tmp_path, artifact, x, "--engine=inproc", "--ranks=2"))
    assert four.returncode == 2 and "there are 2" in four.stderr


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_rank_that_goes_ends_the_others(tools, tmp_path, how):
    """A chain of products and sums that takes minutes; one rank is killed, or stopped, in it."""
    square = "tensor<700x700xf32>"
    lines, value = [], "x"
    for step in range(400):
        lines += [f"%m{step} = mlc.matmul %{value}, %x : ({square}, {square}) -> {square}",
                  f'%r{step} = dist.all_reduce %m{step} {{{axis(3)}, reduction = "sum"}} : ({square}) -> {square}']
        value = f"r{step}"
    text = module({"data": 3}, {"x": (square,)}, {"y": (square,)}, [*lines, f"return %{value} : {square}"])
    artifact = programs.compile(tools, tmp_path, text)
    command = programs.command(tools, tmp_path, artifact, {"x": np.zeros((700, 700), np.float32)}, "--timeout=3", "--threads=1")
    launcher = [*gloo(tools, 3), *map(str, command)]
    begin = time.monotonic()
    code, errors, left = ranks.disturb(launcher, 3, "RANK", 1, how, wait=3)
    assert time.monotonic() - begin < 3 + 3 + 5 + 10  # until it is killed, the timeout, and the machine's own time
    assert code != 0 and not left
    assert "rank 1" in errors and "collective" in errors and "all-reduce" in errors


@pytest.mark.parametrize("algorithm,message", [
    ("server", "the algorithm server has a rank with nothing to add"),
    ("butterfly", "the algorithm butterfly is for a power of two ranks, not 3")])
def test_an_algorithm_that_does_not_fit_is_told(tools, tmp_path, algorithm, message):
    text = module({"data": 3}, {"x": each(3, [8])}, {"y": each(3, [8])}, [
        f'%y = dist.all_reduce %x {{{axis(3)}, reduction = "sum", algorithm = "{algorithm}"}} : (tensor<1x8xf32>) -> '
        "tensor<1x8xf32>", "return %y : tensor<1x8xf32>"])
    artifact = programs.compile(tools, tmp_path, text)
    x = {"x": np.zeros((3, 8), np.float32)}
    done = ranks.output(programs.command(tools, tmp_path, artifact, x, "--engine=inproc"))
    assert done.returncode == 2 and done.stderr.count(message) == 3


def test_inspect_shows_ranks(tools, tmp_path):
    part = size_of(7, 4)
    text = module({"data": 4}, {"x": each(4, [8]), "w": (type_of([part]), 'mlc.state = "w"', sharding("data"))},
                  {"y": each(4, [8]), "z": (type_of([7]),)}, [
        SUM[0].replace("%r", "%y"),
        f"%z = dist.all_gather %w {{{axis(4)}, dims = array<i64: 0>, extents = #mlc.dims<[7]>, units = #mlc.dims<[1]>}} : "
        f"({type_of([part])}) -> tensor<7xf32>", "return %y, %z : tensor<1x8xf32>, tensor<7xf32>"])
    artifact = programs.compile(tools, tmp_path, text)
    shown = tools.mlc("inspect", artifact).stdout
    for line in ["ranks: 4 along data", "  x  f32[1, 8], split: dim 0 over data", "  w  f32[7], split: dim 0 over data",
                 "start all_reduce (collective all_reduce, reduction sum, axis data, ticket ", "wait  (ticket 1)"]:
        assert line in shown, shown
    described = json.loads(tools.mlc("inspect", "--json", artifact).stdout)
    assert described["mesh"] == {"data": 4}
    assert described["states"][0]["split"] == {"0": "data"} and described["states"][0]["dims"] == [7]
    assert "split" not in described["outputs"][1]
