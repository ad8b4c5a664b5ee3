"""ONNX's Einsum, which becomes sums and matrix products, beside numpy's."""

import mlc
import numpy as np
import onnx
import pytest
from onnx import helper

rng = np.random.default_rng(4)
SIZES = dict(zip("abcdefghijB", [2, 3, 4, 5, 2, 3, 2, 3, 4, 5, 3]))


@pytest.fixture
def imported(tools, tmp_path):
    """The end of compiling an Einsum of these arrays; those in `opened` have open dims."""
    def compile_it(equation, arrays, opened=False):
        names = [f"x{i}" for i in range(len(arrays))]
        terms = equation.split("->")[0].split(",")
        inputs = [helper.make_tensor_value_info(
            k, helper.np_dtype_to_tensor_dtype(a.dtype), list(term.strip()) if opened else a.shape)
            for k, a, term in zip(names, arrays, terms)]
        node = helper.make_node("Einsum", names, ["y"], equation=equation)
        graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
        return tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
    return compile_it


def check(imported, folder, equation, arrays, **options):
    done = imported(equation, arrays, **options)
    assert done.returncode == 0, done.stderr
    (y,) = mlc.load(folder / "m.mlca").run({f"x{i}": a for i, a in enumerate(arrays)}).values()
    want = np.einsum(equation.replace(" ", ""), *arrays)
    assert y.shape == want.shape and y.dtype == want.dtype
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-4)


def letters(*terms, kind="f"):
    return [np.round(rng.normal(size=[SIZES[c] for c in term]) * 4).astype(kind) for term in terms]


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("equation", [
    "ab->ba", "ab->", "ab->b", "aa->a", "aab->ba", "aa", "a,a", "a,a->a", "a,b->ba", "ba,ca", "abc,cd->abd",
    "bd,edf->bef", "bef,efd,be->bd", "abc,cd,def->abd", "abc,de->da", " ab , bc -> ca ", "aB,Bc", "abcd,cdae->eb", ",ab->ba"])
def test_equations(equation, opened, imported, tmp_path):
    """Also with dims that are open, where indices that are equal tie them."""
    terms = equation.replace(" ", "").split("->")[0].split(",")
    check(imported, tmp_path, equation, letters(*terms), opened=opened)


@pytest.mark.parametrize("equation,shapes", [
    ("...ii->...i", [(2, 3, 4, 4)]), ("...ab,...bc->...ac", [(2, 1, 3, 4), (5, 4, 2)]), ("...a,a->...", [(2, 3, 4), (4,)]),
    ("a...,...b->b...a", [(2, 3, 1), (1, 5, 4)]), ("...,...", [(2, 3), (3,)]), ("a...->...", [(2, 3)]),
    ("ab,bc->ac", [(2, 1), (3, 4)]), ("a,a->a", [(1,), (4,)]), ("ab,ab,ab->b", [(1, 3), (2, 1), (1, 1)])])
def test_dims_without_names(equation, shapes, imported, tmp_path):
    check(imported, tmp_path, equation, [rng.normal(size=s).astype("f") for s in shapes])


@pytest.mark.parametrize("kind", ["d", "i4", "i8"])
def test_types(kind, imported, tmp_path):
    check(imported, tmp_path, "abc,cd->bd", letters("abc", "cd", kind=kind))


@pytest.mark.parametrize("equation", ["ab->c", "ab->aa", "ab,bc->ac", "abc->a", "a1->a", "...abc->abc", "a->a->a"])
def test_wrong_equations(equation, imported):
    done = imported(equation, letters("ab"))
    assert done.returncode == 3 and "Einsum" in done.stderr, done.stderr


def test_dims_that_differ(imported):
    done = imported("ab,bc->ac", [np.zeros((2, 3), "f"), np.zeros((4, 2), "f")])
    assert done.returncode == 3 and "dims of one index, or of '...', must be equal" in done.stderr, done.stderr
