"""Elementary functions in kernels against libm in double precision."""

import math
import subprocess

import numpy as np
import pytest

from kernels import TARGETS, compile_kernels

N = 4099


def text(functions, element):
    t = f"tensor<{N}x{element}>"
    parts = []
    for name, op, arity in functions:
        arguments = ", ".join(f"%x{i}: {t}" for i in range(arity))
        values = ", ".join(f"%x{i}" for i in range(arity))
        types = ", ".join([t] * arity)
        scalars = ", ".join(f"%a{i}: {element}" for i in range(arity))
        operands = ", ".join(f"%a{i}" for i in range(arity))
        ident = "affine_map<(d0) -> (d0)>"
        parts.append(f"""
func.func @{name}({arguments}) -> {t} attributes {{mlc.kernel, mlc.symbols = []}} {{
  %e = tensor.empty() : {t}
  %r = linalg.generic {{indexing_maps = [{', '.join([ident] * (arity + 1))}],
      iterator_types = ["parallel"]}} ins({values} : {types}) outs(%e : {t}) {{
    ^bb0({scalars}, %o: {element}):
      %v = {op} {operands} : {element}
      linalg.yield %v : {element}
  }} -> {t}
  return %r : {t}
}}""")
    return "\n".join(parts)


UNARY = {
    # name: (op, function, ranges)
    "exp": ("math.exp", np.exp, [(-110, 90), (-1e-3, 1e-3)]),
    "exp2": ("math.exp2", np.exp2, [(-126, 127)]),
    "expm1": ("math.expm1", np.expm1, [(-30, 80), (-1e-2, 1e-2)]),
    "tanh": ("math.tanh", np.tanh, [(-12, 12), (-1e-3, 1e-3), (-0.7, 0.7)]),
    "log": ("math.log", np.log, [(0, 10), (0.9, 1.1), (0, 1e-37), (0, 1e30)]),
    "log2": ("math.log2", np.log2, [(0, 10), (0.9, 1.1)]),
    "log10": ("math.log10", np.log10, [(0, 10), (0.9, 1.1)]),
    "log1p": ("math.log1p", np.log1p, [(-0.99, 10), (-1e-4, 1e-4)]),
    "erf": ("math.erf", np.vectorize(math.erf), [(-5, 5), (-1e-3, 1e-3)]),
    "sin": ("math.sin", np.sin, [(-10, 10), (-1e6, 1e6), (-1e-3, 1e-3)]),
    "cos": ("math.cos", np.cos, [(-10, 10), (-1e6, 1e6)]),
    "rsqrt": ("math.rsqrt", lambda x: 1 / np.sqrt(x), [(0, 10), (0, 1e30)]),
    "sqrt": ("math.sqrt", np.sqrt, [(0, 10)]),
    "floor": ("math.floor", np.floor, [(-10, 10)]),
    "ceil": ("math.ceil", np.ceil, [(-10, 10)]),
    "roundeven": ("math.roundeven", np.rint, [(-10, 10)]),
    "atan": ("math.atan", np.arctan, [(-10, 10)]),
    "asin": ("math.asin", np.arcsin, [(-1, 1), (-1e-3, 1e-3)]),
    "acos": ("math.acos", np.arccos, [(-1, 1)]),
    "sinh": ("math.sinh", np.sinh, [(-90, 90), (-1e-2, 1e-2)]),
    "cosh": ("math.cosh", np.cosh, [(-90, 90)]),
}
BINARY = {
    "powf": ("math.powf", np.power), "remf": ("arith.remf", np.fmod)}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -3e38,
           88.7, 88.73, -87.4, -103.0, 0.5, -0.5, 2.0, 3.0]


def ulps(actual, expected, dtype):
    """Distance in units in the last place of the rounded expectation."""
    rounded = expected.astype(dtype)
    spacing = np.spacing(np.abs(rounded)).astype(np.float64)
    tiny = np.finfo(dtype).tiny
    spacing = np.maximum(spacing, np.spacing(dtype(tiny)))
    return np.abs(actual.astype(np.float64) - expected) / spacing


def check(actual, expected, dtype, limit):
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(rounded))
    near_overflow = np.abs(expected) > np.finfo(dtype).max * (1 - 1e-6)
    infinite = np.isinf(rounded) & ~near_overflow
    np.testing.assert_array_equal(actual[infinite], rounded[infinite])
    error = ulps(actual[finite], expected[finite], dtype)
    assert error.max(initial=0) <= limit, (
        error.max(), error.argmax(), actual[finite][error.argmax()],
        expected[finite][error.argmax()])


def samples(low, high, dtype, seed):
    x = np.random.default_rng(seed).uniform(low, high, N).astype(dtype)
    x[:len(SPECIAL)] = SPECIAL
    return x


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element,dtype", [("f32", np.float32),
                                           ("f64", np.float64)])
def test_functions(target, element, dtype, tmp_path):
    names = list(UNARY)
    functions = [(n, UNARY[n][0], 1) for n in names]
    functions += [(n, BINARY[n][0], 2) for n in BINARY]
    kernels = compile_kernels(text(functions, element), target, tmp_path)
    assert undefined(tmp_path / "k.so") == []
    failures = []
    with np.errstate(all="ignore"):
        for name in names:
            for i, (low, high) in enumerate(UNARY[name][2]):
                x = samples(low, high, dtype, i)
                if name in ("sin", "cos"):
                    x[np.isfinite(x) & (np.abs(x) > 1e9)] = 1e9
                out, = kernels[name]([x], [((N,), dtype)])
                expected = UNARY[name][1](x.astype(np.longdouble if element == "f64" and name not in ("erf",) else np.float64)).astype(np.float64)
                # Denormal results may be off by their own coarse spacing.
                limit = 4 if element == "f32" else 4500
                try:
                    check(out, expected, dtype, limit)
                except AssertionError as error:
                    failures.append((name, low, high, str(error)[:400]))
        for name in BINARY:
            rng = np.random.default_rng(7)
            x = rng.uniform(0, 8, N).astype(dtype)
            y = rng.uniform(-6, 6, N).astype(dtype)
            grid = np.array(SPECIAL)
            count = len(grid) ** 2
            x[:count] = np.repeat(grid, len(grid))
            y[:count] = np.tile(grid, len(grid))
            x[count:count + 100] *= -1
            y[count:count + 100] = np.rint(y[count:count + 100])
            if name == "remf":
                # Quotients beyond 2^53 are not promised.
                far = np.abs(x.astype(float)) > 1e15 * np.abs(y.astype(float))
                x[far & (y != 0)] = 0
            out, = kernels[name]([x, y], [((N,), dtype)])
            expected = BINARY[name][1](x.astype(np.float64), y.astype(np.float64))
            try:
                check(out, expected, dtype, 4 if element == "f32" else 4500)
            except AssertionError as error:
                failures.append((name, str(error)[:600]))
    assert not failures, "\n".join(map(str, failures))


def undefined(path):
    done = subprocess.run(["nm", "-D", "--undefined-only", str(path)],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("target", TARGETS)
def test_integer_power(target, tmp_path):
    run = compile_kernels(text([("p", "math.ipowi", 2)], "i64"), target,
                          tmp_path)["p"]
    rng = np.random.default_rng(0)
    x, y = rng.integers(-5, 6, N), rng.integers(0, 12, N)
    out, = run([x, y], [((N,), np.int64)])
    np.testing.assert_array_equal(out, x ** y)
