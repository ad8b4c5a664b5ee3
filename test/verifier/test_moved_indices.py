"""Indices that are data and that stages move: two lookups are equal only where their indices are the same elements."""

import itertools

import pytest

TYPES = """!x = tensor<?x?xf32, #mlc.dims<[a, b]>>
!i = tensor<?x?xi64, #mlc.dims<[c, c]>>
!o = tensor<?x?x?xf32, #mlc.dims<[c, c, b]>>
"""


def transpose(result, operand):
    return f"  %{result} = mlc.transpose %{operand} {{permutation = array<i64: 1, 0>}} : (!i) -> !i\n"


def through(kind):
    small = f"tensor<?x?x{kind}, #mlc.dims<[c, c]>>"
    return (f"  %s = mlc.cast %i {{to = {kind}}} : (!i) -> {small}\n"
            f"  %t = mlc.cast %s {{to = i64}} : ({small}) -> !i\n")


def compute(text):
    return (f'  %t = "mlc.compute"(%i) {{definition = "(i; c) Y[p, q] = {text}", dims = #mlc.dims<[c, c]>, '
            "integers = #mlc.dims<[c]>, reals = [], type = i64} : (!i) -> !i\n")


# What stands at [p, q], and how it comes there.
WAYS = {
    "[p, q]": ["  %t = mlc.reshape %i {dims = #mlc.dims<[c, c]>} : (!i) -> !i\n", transpose("s", "i") + transpose("t", "s")],
    "[q, p]": [transpose("t", "i"), compute("i[q, p]")],
    "-[p, q]": ["  %t = mlc.neg %i : (!i) -> !i\n"],
    "[c - 1 - p, q]": ["  %t = mlc.slice %i {starts = #mlc.dims<[c - 1, 0]>, sizes = #mlc.dims<[c, c]>, "
                       "steps = #mlc.dims<[-1, 1]>} : (!i) -> !i\n"],
    "[p, q] mod 2^32": [through("i32")],
    "[p, q] mod 2^8": [through("i8")],
    "[q, p + 1]": [compute("i<i[p, q]>[q, p + 1]")],
}
PAIRS = list(itertools.combinations([(name, way) for name, ways in WAYS.items() for way in ways], 2))


def function(name, way):
    return (f"func.func @{name}(%x: !x, %i: !i) -> !o {{\n{way}"
            "  %r = mlc.gather %x, %t {axis = 0 : i64} : (!x, !i) -> !o\n  return %r : !o\n}\n")


@pytest.mark.parametrize("one, other", PAIRS, ids=[f"{a} {b}" for (a, _), (b, _) in PAIRS])
def test_lookups_by_moved_indices(tools, tmp_path, one, other):
    path = tmp_path / "lookups.mlir"
    path.write_text(TYPES + function("before", one[1]) + function("after", other[1]))
    done = tools.run("mlc-verify", path, timeout=120)
    assert done.returncode == (0 if one[0] == other[0] else 5), done.stdout + done.stderr
