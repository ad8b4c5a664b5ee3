"""usage: limits.py LIMIT: a module with an expression that is beyond that limit."""

import sys

DIMS = "func.func private @f(tensor<?xf32, #mlc.dims<[{}]>>)"
COMPUTE = """func.func @f(%x: tensor<2xf32>) {{
  %r = mlc.compute %x {{definition = "(x; n, m) Y[i] = {}", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n, m]>,
    reals = [], type = f32}} : (tensor<2xf32>) -> tensor<2xf32>
  return
}}"""


def nested(levels):
    return f"floordiv(3 * {nested(levels - 1)} + 1, 2)" if levels else "n"


def power(base, times):
    return "*".join([f"({base})"] * times)


SUM = "n + m + 1"  # its 8th power has 45 terms, its 10th 66
LIMITS = {
    "operands": DIMS.format(" + ".join(["1"] * 4097)),
    "depth": DIMS.format("(" * 65 + "n" + ")" * 65),
    "height": DIMS.format(nested(50)),
    "terms": DIMS.format("*".join("(" + " + ".join(f"{name}{i}" for i in range(33)) + ")" for name in "ab")),
    "choices": DIMS.format("min(" + ", ".join(f"n{i}" for i in range(65)) + ")"),
    "sum": COMPUTE.format("+".join(["x[i]"] * 2002)),
    "calls": COMPUTE.format("exp(exp(x[i]))" + "+exp(x[i])" * 1000),
    "product": COMPUTE.format(f"f32(({power(SUM, 10)}) * ({power(SUM, 10)}))"),
    "integer": COMPUTE.format("f32(" + "+".join(f"floordiv({power(SUM, 8)}, {k})" for k in range(2, 80)) + ")"),
    "brackets": COMPUTE.format("(" * 65 + "1" + ")" * 65),
    "text": COMPUTE.format(" " * 65536 + "1"),
}

if __name__ == "__main__":
    print(LIMITS[sys.argv[1]])
