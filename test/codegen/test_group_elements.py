"""Of loop-group kernels: how each element is rounded, and what a task stores."""

import numpy as np
import pytest

from kernels import TARGETS, compile_kernels
from kernel_text import close, dims_type, generic, kernel, m

RNG = np.random.default_rng(2)


@pytest.fixture(params=TARGETS)
def build(request, tmp_path):
    return lambda text: compile_kernels(text, request.param, tmp_path)["k"]


def scaled_sum(dims, symbols=()):
    """A product, and behind it a sum with it: x * 0.9 + y."""
    t, maps = dims_type(dims, "f32"), [m(1, "d0")] * 2
    empty = f"tensor.empty({', '.join('%' + s for s in symbols)}) : {t}"
    return kernel([("x", dims), ("y", dims)], [(dims,)], f"""
  %c = arith.constant 0.9 : f32
  %e0 = {empty}
  """ + generic("p", [("%x", t)], [("%e0", t)], maps, ["parallel"], """^bb0(%a: f32, %o: f32):
      %v = arith.mulf %a, %c : f32
      linalg.yield %v : f32""", t) + f"""
  %e1 = {empty}
  """ + generic("r", [("%p", t), ("%y", t)], [("%e1", t)], [m(1, "d0")] * 3, ["parallel"], """^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32""", t) + f"\n  return %r : {t}", symbols)


@pytest.mark.parametrize("size", ["N", 1, 9, 16])
def test_elements_are_rounded_alike_wherever_vectors_end(build, size):
    """Once, as a fused multiply-add does."""
    run = build(scaled_sum([size], ("N",) if size == "N" else ()))
    for n in (1, 2, 3, 7, 8, 9, 15, 17, 33, 100) if size == "N" else (size,):
        x, y = RNG.standard_normal((2, n)).astype(np.float32)
        out, = run([x, y], [((n,), np.float32)], {"N": n} if size == "N" else {})
        np.testing.assert_array_equal(out, np.float32(x * np.float64(np.float32(0.9)) + y))


def test_no_task_stores_a_tensor_of_open_size(build):
    """What is read twice, and then summed up whole, is computed where it is read."""
    dims, t = ["N", "M"], "tensor<?x?xf32>"
    maps = [m(2, "d0", "d1")] * 3
    body = f"""
  %i = arith.constant 0.0 : f32
  %s0 = tensor.empty() : tensor<f32>
  %s = linalg.fill ins(%i : f32) outs(%s0 : tensor<f32>) -> tensor<f32>
  %e0 = tensor.empty(%N, %M) : {t}
  """ + generic("e", [("%x", t)], [("%e0", t)], maps[:2], ["parallel"] * 2, """^bb0(%a: f32, %o: f32):
      %v = math.exp %a : f32
      linalg.yield %v : f32""", t) + f"""
  %e1 = tensor.empty(%N, %M) : {t}
  """ + generic("d", [("%e", t), ("%x", t)], [("%e1", t)], maps, ["parallel"] * 2, """^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.subf %a, %b : f32
      linalg.yield %v : f32""", t) + generic(
        "r", [("%d", t), ("%e", t)], [("%s", "tensor<f32>")], [*maps[:2], "affine_map<(d0, d1) -> ()>"], ["reduction"] * 2,
        """^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %v = arith.addf %acc, %p : f32
      linalg.yield %v : f32""", "tensor<f32>") + "\n  return %r : tensor<f32>"
    run = build(kernel([("x", dims)], [([],)], body, ("N", "M")))
    assert run.description["scratch"] == "0"
    x = RNG.standard_normal((37, 53)).astype(np.float32)
    out, = run([x], [((), np.float32)], {"N": 37, "M": 53})
    e = np.exp(x.astype(float))
    close(out, np.float32(((e - x) * e).sum()), 1e-5)
