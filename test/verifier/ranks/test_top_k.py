"""The k largest of what is split: the same as of the whole, the lower index first where elements are equal."""

import re

import numpy as np
import pytest

import sweep


def function(size, k, largest, axis=1, split=1, ranks=None):
    """Of [5, size] along dim 1, or turned along dim 0, with dim `split` over the ranks."""
    dims = (5, size) if axis == 1 else (size, 5)
    kept = (5, k) if axis == 1 else (k, 5)
    x, y, i = (f"tensor<{a}x{b}x{kind}>" for (a, b), kind in ((dims, "f32"), (kept, "f32"), (kept, "i64")))
    axes = ", ".join('"a"' if d == split else '""' for d in range(2))
    mesh = f' attributes {{dist.mesh = [#dist.axis<"a", {ranks}>]}}' if ranks else ""
    sharding = f" {{dist.sharding = #dist.sharding<[{axes}]>}}" if ranks else ""
    return (f"module{mesh} {{\nfunc.func @main(%x: {x}{sharding}) -> ({y}, {i}) {{\n"
            f"  %v, %i = mlc.top_k %x {{axis = {axis} : i64, k = #mlc.int<{k}>, largest = {str(largest).lower()}, "
            f"sorted = true}} : ({x}) -> ({y}, {i})\n  return %v, %i : {y}, {i}\n}}\n}}\n")


def values(size, axis):
    """Few values, so that most are equal to others, on other ranks too; one row has no number at some places."""
    x = np.random.default_rng(size).integers(0, 3, (5, size)).astype(np.float32)
    x[1] = 1
    x[2, ::3] = np.nan
    x[3, -1], x[3, 0] = np.inf, -np.inf
    return np.ascontiguousarray(x if axis == 1 else x.T)


def expected(x, k, largest, axis):
    """By NumPy: NaN is above all."""
    keys = np.where(np.isnan(x), np.inf, x), np.isnan(x)
    sign = -1 if largest else 1
    order = np.lexsort((sign * keys[0], sign * keys[1].astype(int)), axis=axis)
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis=axis), order


def ran(tools, folder, program, x):
    rank = folder / "run.mlir"
    rank.write_text(program)
    np.save(folder / "x.npy", x)
    return sweep.evaluate(tools, folder, rank, [f"--input={folder / 'x.npy'}"], "--ranks")


def made(tools, folder, *arguments, **named):
    return sweep.partitioned(tools, folder, function(*arguments, **named)).read_text()


@pytest.mark.parametrize("size", (4, 5, 7, 40, 41, 47))
@pytest.mark.parametrize("ranks", (2, 3, 4))
@pytest.mark.parametrize("axis", (0, 1))
def test_it_is_that_of_the_whole(tools, tmp_path, size, ranks, axis):
    x = values(size, axis)
    for k, largest in ((1, False), (2, True), (4, axis == 0)):
        for split in (0, 1):
            program = made(tools, tmp_path, size, k, largest, axis, split, ranks)
            gathered = re.findall(r"= dist\.all_gather %(\w+)", program)
            if split != axis:  # rows of a rank's own; the results come as parts
                assert not gathered
            elif ranks * k * (4 + 8) < size * 4:  # candidates, and where they were
                assert len(gathered) == 2 and not any(name.startswith("arg") for name in gathered)
            found = ran(tools, tmp_path, program, x)
            for one, other in zip(expected(x, k, largest, axis), found, strict=True):
                assert np.array_equal(one, other, equal_nan=True), (k, largest, split, one, other)


MISTAKES = [
    (r" \+ i64\([^)]*\)", ""),  # places in the part
    (r"%(\w+) = dist\.all_gather %values", r"%t = dist.shift %values {axis = #dist.axis<\"a\", 3>, by = 1} : "
     r"(tensor<5x2xf32>) -> tensor<5x2xf32>\n    %\1 = dist.all_gather %t"),  # values of others than the indices
    ("largest = true", "largest = false"),
    (r"index\(x1\[i, j\]\)", "j"),  # the first candidates
]


@pytest.mark.parametrize("text, instead", MISTAKES)
def test_mistakes_are_seen_when_they_run(tools, tmp_path, text, instead):
    x = np.random.default_rng(3).permutation(5 * 42).reshape(5, 42).astype(np.float32)
    program = made(tools, tmp_path, 42, 2, True, ranks=3)
    assert np.array_equal(ran(tools, tmp_path, program, x)[1], expected(x, 2, True, 1)[1])
    wrong, count = re.subn(text, instead.replace('\\"', '"'), program, count=1)
    assert count == 1
    found = ran(tools, tmp_path, wrong, x)
    assert not all(np.array_equal(a, b) for a, b in zip(expected(x, 2, True, 1), found))


TOP_K = re.compile(r"%(\w+), %(\w+) = mlc\.top_k %(\w+) \{axis = (\d) : i64, k = .*, largest = (\w+), .*\} : "
                   r"\((tensor<.*>)\) -> \((tensor<.*>), (tensor<.*>)\)")


def by_definition(text):
    """With what top_k says of itself in place of it, which has no definition: an element stands at a place p of the
    result that has p elements before it, larger ones and equal ones of a lower index."""
    def instead(found):
        values, indices, x, axis, largest, own, of_values, of_indices = found.groups()
        dims = sweep.splits.Type(own).dims
        at = [f"i{d}" for d in range(len(dims))]

        def element(name):
            return f"x[{', '.join(name if d == int(axis) else i for d, i in enumerate(at))}]"
        order = ">" if largest == "true" else "<"
        before = (f"sum{{q < n}}(select({element('q')} {order} {element('j')}, f32(1), select({element('q')} == {element('j')}, "
                  "select(q < j, f32(1), f32(0)), f32(0))))")

        def compute(name, kind, type_, chosen, nothing):
            return (f'%{name} = mlc.compute %{x} {{definition = "(x; n) Y[{", ".join(at)}] = sum{{j < n}}(select({before} == '
                    f'f32({at[int(axis)]}), {chosen}, {nothing}))", dims = #mlc.dims<[{", ".join(sweep.splits.Type(type_).dims)}]>, '
                    f"integers = #mlc.dims<[{dims[int(axis)]}]>, reals = [], type = {kind}}} : ({own}) -> {type_}")
        return (compute(values, "f32", of_values, element("j"), "0.0") + "\n    "
                + compute(indices, "i64", of_indices, "i64(j)", "i64(0)"))
    return TOP_K.sub(instead, text)


def judged(tools, folder, symbol, text="", instead=""):
    """mlc-verify's verdict of what ranks carry out, by the definition, with a mistake."""
    top_k = sweep.splits.functions()["top_k"]
    program, _, _ = sweep.made(tools, folder, top_k, symbol)
    wrong, count = re.subn(text, instead, program, count=1)
    assert count == 1
    before, rank, after = (folder / f"{name}.mlir" for name in ("before", "rank", "after"))
    for path, own in ((before, top_k.question(symbol)), (rank, wrong)):
        path.write_text(own)
        done = tools.run("mlc-opt", path, *["--mlc-stack-ranks"] * (path == rank))
        assert done.returncode == 0, done.stderr
        (after if path == rank else before).write_text(by_definition(done.stdout))
    done = tools.run("mlc-verify", before, after)
    assert done.returncode in (0, 5, 6), done.stderr
    return done.returncode, done.stdout


def test_rows_are_proved_by_the_definition(tools, tmp_path):
    code, text = judged(tools, tmp_path, "a")
    assert code == 0, text


def test_candidates_are_not_refuted(tools, tmp_path):
    code, text = judged(tools, tmp_path, "b")
    assert code == 6, text


@pytest.mark.parametrize("text, instead", [MISTAKES[0], *MISTAKES[2:]])
def test_mistakes_are_refuted(tools, tmp_path, text, instead):
    code, answer = judged(tools, tmp_path, "b", text, instead)
    assert code == 5, answer
