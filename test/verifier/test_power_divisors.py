"""Powers as divisors: of what is positive they are not 0, whatever the exponent; of other bases they may be, or are no
number. What is divided and multiplied by one is what it was in the first case alone."""

import pytest

TEXT = """!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !x) -> !x {
  return %x : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = x[k] / DIVISOR * DIVISOR", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
"""
POSITIVE = ["pow(1 + x[k] * x[k], 0.75)", "pow(exp(x[k]), x[k])", "pow(pow(exp(x[k]), 1.5), 0.0 - 3.25)"]
NOT = ["pow(x[k] * x[k], 0.75)", "pow(x[k], 0.75)", "pow(1 - x[k] * x[k], 0.75)", "pow(x[k], 1 + x[k] * x[k])"]


@pytest.mark.parametrize("divisor", POSITIVE + NOT)
def test_divisor(tools, tmp_path, divisor):
    path = tmp_path / "pair.mlir"
    path.write_text(TEXT.replace("DIVISOR", divisor))
    done = tools.run("mlc-verify", path)
    assert (done.returncode == 0) == (divisor in POSITIVE), done.stdout + done.stderr
    assert done.returncode in (0, 5, 6)
