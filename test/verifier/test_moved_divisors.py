"""Divisors behind reshapes of reshapes: a variance and something positive is what the function divides by already, if
each element is the one that it was; what only looks like it is not."""

import pytest

TYPES = """!x = tensor<?x?xf32, #mlc.dims<[a, b * c]>>
!rows = tensor<?x?xf32, #mlc.dims<[a * b, c]>>
!parts = tensor<?x?x?xf32, #mlc.dims<[a, b, c]>>
!turned = tensor<?x?x?xf32, #mlc.dims<[b, a, c]>>
!y = tensor<?xf32, #mlc.dims<[a]>>
"""
ASSUME = '{mlc.assume = ["a >= 1", "b >= 1", "c >= 1"]}'


def compute(operands, types, names, body):
    return (f'  %r = "mlc.compute"({operands}) {{definition = "({names}; b, c) Y[i] = {body}", dims = #mlc.dims<[a]>, '
            f"integers = #mlc.dims<[b, c]>, reals = [], type = f32}} : ({types}) -> !y\n  return %r : !y\n")


BEFORE = (f"func.func @before(%x: !x) -> !y attributes {ASSUME} {{\n"
          + compute("%x", "!x", "x", "1.0 / sqrt(sum{j < b * c}((x[i, j] - sum{k < b * c}(x[i, k]) / f32(b * c)) * "
                    "(x[i, j] - sum{k < b * c}(x[i, k]) / f32(b * c))) / f32(b * c) + 0.5)") + "}\n")
PARTS = ("  %rows = mlc.reshape %x {dims = #mlc.dims<[a * b, c]>} : (!x) -> !rows\n"
         "  %p = mlc.reshape %rows {dims = #mlc.dims<[a, b, c]>} : (!rows) -> !parts\n")
TURNED = ("  %rows = mlc.reshape %x {dims = #mlc.dims<[a * b, c]>} : (!x) -> !rows\n"
          "  %p = mlc.reshape %rows {dims = #mlc.dims<[b, a, c]>} : (!rows) -> !turned\n")
MEAN = "sum{u < b, v < c}(p[i, u, v]) / f32(b * c)"


def after(movement, body, kind="!parts"):
    return f"func.func @after(%x: !x) -> !y attributes {ASSUME} {{\n{movement}{compute('%p', kind, 'p', body)}}}\n"


def inverse(one, other, more="+ 0.5", mean=MEAN):
    return f"1.0 / sqrt(sum{{j < b, k < c}}(({one} - {mean}) * ({other} - {mean})) / f32(b * c) {more})"


SAME = inverse("p[i, j, k]", "p[i, j, k]")
WRONG = {
    # Not the elements of a row.
    "another order": after(TURNED, SAME.replace("[i, j, k]", "[j, i, k]").replace("[i, u, v]", "[u, i, v]"), "!turned"),
    # A sum of products that are no squares may be anything.
    "no squares": after(PARTS, inverse("p[i, j, k]", "p<0>[i, j, c - 1 - k]")),
    "another row": after(PARTS, inverse("p[i, j, k]", "p<0>[i + 1, j, k]")),
    "less": after(PARTS, inverse("p[i, j, k]", "p[i, j, k]", "- 0.5")),
    "nothing more": after(PARTS, inverse("p[i, j, k]", "p[i, j, k]", "")),
    "mean of a part": after(PARTS, inverse("p[i, j, k]", "p[i, j, k]", mean="sum{v < c}(p[i, j, v]) / f32(c)")),
    "mean of one row's part": after(PARTS, inverse("p[i, j, k]", "p[i, j, k]", mean="sum{v < c}(p<0>[i, 0, v]) / f32(c)")),
}


def verdict(tools, folder, program):
    path = folder / "divisors.mlir"
    path.write_text(TYPES + BEFORE + program)
    done = tools.run("mlc-verify", path)
    assert done.returncode in (0, 5, 6), done.stderr
    return done.returncode, done.stdout


def test_the_same_divisor_is_proved(tools, tmp_path):
    code, text = verdict(tools, tmp_path, after(PARTS, SAME))
    assert code == 0, text


@pytest.mark.parametrize("name", WRONG)
def test_what_looks_like_it_is_refuted(tools, tmp_path, name):
    code, text = verdict(tools, tmp_path, WRONG[name])
    assert code == 5, text


def test_its_proof_is_none_of_the_others(tools, tmp_path):
    proof, path = tmp_path / "true.proof", tmp_path / "statement.mlir"
    path.write_text(TYPES + BEFORE + after(PARTS, SAME))
    assert tools.run("mlc-verify", path, "--proof", proof).returncode == 0
    assert tools.run("mlc-verify", path, "--check-proof", proof).returncode == 0
    for program in WRONG.values():
        path.write_text(TYPES + BEFORE + program)
        assert tools.run("mlc-verify", path, "--check-proof", proof).returncode == 6
