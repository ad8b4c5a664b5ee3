"""Kernels whose outputs may be inputs' memory: which say so, and which must not. That they compute the same there, is
tested of every kernel that runs in these tests (kernels.py)."""

import numpy as np
import pytest

from kernels import TARGETS, compile_kernels

RNG = np.random.default_rng(2)
R, C = 37, 53
T = f"tensor<{R}x{C}xf32>"
MAPS = """#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#0 = affine_map<(i, j) -> ()>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
"""


def step(result, operands, maps, body, type=T, kinds='"parallel", "parallel"'):
    """A linalg.generic whose body computes %r of %p0, %p1, ..."""
    names = ", ".join(f"%{o}" for o in operands)
    types = ", ".join({"s": "tensor<f32>", "u": f"tensor<{C}x{R}xf32>"}.get(o, T) for o in operands)
    arguments = ", ".join(f"%p{i}: f32" for i in range(len(operands)))
    return f"""
  %{result} = linalg.generic {{indexing_maps = [{', '.join(f'#{m}' for m in maps)}, #id], iterator_types = [{kinds}]}}
      ins({names} : {types}) outs(%e : {T}) {{
  ^bb0({arguments}, %o: f32):
    {body}
    linalg.yield %r : f32
  }} -> {T}"""


def kernel(arguments, body, results):
    types = ", ".join(f"%{n}: {t}" for n, t in arguments)
    return f"""{MAPS}func.func @k({types}) -> ({', '.join([T] * len(results))}) attributes {{mlc.kernel, mlc.symbols = []}} {{
  %e = tensor.empty() : {T}{body}
  return {', '.join(f'%{r}' for r in results)} : {', '.join([T] * len(results))}
}}"""


ADD, MUL = "%r = arith.addf %p0, %p1 : f32", "%r = arith.mulf %p0, %p1 : f32"
A, B, S, U = ("a", T), ("b", T), ("s", "tensor<f32>"), ("u", f"tensor<{C}x{R}xf32>")
DOT = f"""
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : {T}) -> {T}
  %g = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %y : tensor<{R}x19xf32>, tensor<19x{C}xf32>) outs(%f : {T}) {{
  ^bb0(%p0: f32, %p1: f32, %o: f32):
    %m = arith.mulf %p0, %p1 : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  }} -> {T}"""
X, Y = ("x", f"tensor<{R}x19xf32>"), ("y", f"tensor<19x{C}xf32>")

# arguments, body, results; pairs (input, output); the meaning
CASES = {
    "sum": ([A, B], step("c", "ab", ["id", "id"], ADD), ["c"], {(0, 0), (1, 0)}, lambda a, b: [a + b]),
    "with a scalar": ([A, S], step("c", "as", ["id", "0"], MUL), ["c"], {(0, 0)}, lambda a, s: [a * s]),
    "transposed": ([A, U], step("c", "au", ["id", "t"], ADD), ["c"], {(0, 0)}, lambda a, u: [a + u.T]),
    "read behind": (  # the second reads a when the first is written
        [A, B], step("c", "ab", ["id", "id"], ADD) + step("d", "ca", ["id", "id"], MUL), ["c", "d"],
        {(1, 0), (0, 1), (1, 1)}, lambda a, b: [a + b, (a + b) * a]),
    "read behind, transposed": (
        [A, B, U],
        step("c", "au", ["id", "t"], ADD) + step("d", "cb", ["id", "id"], MUL), ["c", "d"],
        {(0, 0), (0, 1), (1, 1)}, lambda a, b, u: [a + u.T, (a + u.T) * b]),
    "behind a product": (
        [X, Y, A, B], DOT + step("c", "ga", ["id", "id"], ADD) + step("d", "cb", ["id", "id"], MUL), ["c", "d"],
        {(2, 0), (2, 1), (3, 0), (3, 1)}, lambda x, y, a, b: [x @ y + a, (x @ y + a) * b]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_pairs(tmp_path, target, name):
    arguments, body, results, pairs, meaning = CASES[name]
    run = compile_kernels(kernel(arguments, body, results), target, tmp_path)["k"]
    assert {tuple(pair) for pair in run.description["in_place"]} == pairs
    shapes = {T: (R, C), "tensor<f32>": (), U[1]: (C, R), X[1]: (R, 19), Y[1]: (19, C)}
    inputs = [RNG.normal(size=shapes[type]).astype(np.float32) for _, type in arguments]
    for split in (1, 3):
        got = run(inputs, [((R, C), np.float32)] * len(results), split=split)
        for have, want in zip(got, meaning(*inputs)):
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_square_and_transposed_is_not(tmp_path, target):
    """Where the shapes are equal, only the order of what is read says it."""
    square = kernel([A, B], step("c", "ab", ["t", "id"], ADD), ["c"]).replace(f"{R}x{C}", f"{C}x{C}")
    run = compile_kernels(square, target, tmp_path)["k"]
    assert run.description["in_place"] == [[1, 0]]
    a, b = (RNG.normal(size=(C, C)).astype(np.float32) for _ in range(2))
    np.testing.assert_allclose(run([a, b], [((C, C), np.float32)])[0], a.T + b, rtol=1e-5)
