"""Numbers that small float types round, or that are beyond them, in definitions and in linalg."""

import pytest

PAIR = """!n = tensor<?xf32, #mlc.dims<[n]>>
func.func @before() -> !n {{
  %r = mlc.fill {{dims = #mlc.dims<[n]>, value = #mlc.real<{before}>, type = f32}} : () -> !n
  return %r : !n
}}
func.func @after() -> !n {{
  %0 = mlc.fill {{dims = #mlc.dims<[n]>, value = #mlc.real<{number}>, type = {kind}}} : () -> tensor<?x{kind}, #mlc.dims<[n]>>
  %1 = mlc.cast %0 {{to = {small}}} : (tensor<?x{kind}, #mlc.dims<[n]>>) -> tensor<?x{small}, #mlc.dims<[n]>>
  %r = mlc.cast %1 {{to = f32}} : (tensor<?x{small}, #mlc.dims<[n]>>) -> !n
  return %r : !n
}}
"""


@pytest.mark.parametrize("small, number, kind, before, verdict", [
    ("f4E2M1FN", "500.0", "f32", "6.0", "unknown"), ("f4E2M1FN", "-500.0", "i32", "-6.0", "unknown"),
    ("f6E2M3FN", "500.0", "f64", "7.5", "unknown"), ("f4E2M1FN", "4.0", "i32", "4.0", "proved"),
    ("f16", "257.0", "i32", "257.0", "proved"), ("f16", "2049.0", "i32", "2048.0", "proved"),
    ("f16", "100000.0", "i64", "65504.0", "refuted"), ("bf16", "257.0", "i32", "257.0", "refuted")])
def test_constants(small, number, kind, before, verdict, tools, tmp_path):
    """What is beyond a type has no value in it, also where the type has no infinity."""
    path = tmp_path / "p.mlir"
    path.write_text(PAIR.format(small=small, number=number, kind=kind, before=before))
    done = tools.run("mlc-verify", path)
    assert done.stdout.startswith(verdict), done.stdout + done.stderr


BEYOND = """!n = tensor<?xf32, #mlc.dims<[n]>>
!h = tensor<?xbf16, #mlc.dims<[n]>>
func.func @before(%x: !n) -> !n {
  return %x : !n
}
func.func @after(%x: !n) -> !n {
  %c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<3.4e38>, type = f32} : () -> !n
  %h = mlc.cast %c {to = bf16} : (!n) -> !h
  %f = mlc.cast %h {to = f32} : (!h) -> !n
  %s = mlc.add %x, %f : (!n, !n) -> !n
  %r = mlc.sub %s, %f : (!n, !n) -> !n
  return %r : !n
}
"""


def test_the_largest_float32_is_beyond_bfloat16(tools, tmp_path):
    """Though both have the same exponents; by the kernel alone, too."""
    path = tmp_path / "p.mlir"
    path.write_text(BEYOND)
    assert tools.run("mlc-verify", path).stdout.startswith("refuted")
    done = tools.run("mlc-verify", path, f"--proof={tmp_path / 'p.proof'}")
    assert done.returncode == 6 and "defined" in done.stdout, done.stdout


LOOP = """func.func @{name}(%xT: tensor<?xi16>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %xT, %c0 : tensor<?xi16>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%xT : tensor<?xi16>) outs(%e : tensor<?xf32>) {{
  ^bb0(%x: i16, %out: f32):
    %s = arith.sitofp %x : i16 to {small}
    %f = arith.extf %s : {small} to f32
    linalg.yield %f : f32
  }} -> tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""


def test_integers_in_linalg(tools, tmp_path):
    """A run rounds them as the reading does."""
    for small in ("f16", "bf16"):
        (tmp_path / "p.mlir").write_text("".join(LOOP.format(name=name, small=small) for name in ("before", "after")))
        done = tools.run("mlc-verify", tmp_path / "p.mlir")
        assert done.stdout.startswith("proved (bit-exact"), done.stdout


MINUS = """!e = tensor<?xf8E8M0FNU, #mlc.dims<[n]>>
func.func @before(%x: !e) -> !e {
  return %x : !e
}
func.func @after(%x: !e) -> !e {
  %0 = mlc.neg %x : (!e) -> !e
  %1 = mlc.neg %0 : (!e) -> !e
  return %1 : !e
}
"""


def test_a_type_without_a_sign_keeps_no_bits_of_what_is_negated(tools, tmp_path):
    (tmp_path / "p.mlir").write_text(MINUS)
    assert not tools.run("mlc-verify", tmp_path / "p.mlir").stdout.startswith("proved (bit-exact")


@pytest.mark.parametrize("kind, value", [("f8E8M0FNU", "0.0"), ("f8E8M0FNU", "-1.0"), ("f4E2M1FN", "500.0")])
def test_constants_that_a_type_has_not(kind, value, tools, tmp_path):
    (tmp_path / "p.mlir").write_text(f"""func.func @f() -> tensor<3x{kind}> {{
  %r = mlc.fill {{dims = #mlc.dims<[3]>, value = #mlc.real<{value}>, type = {kind}}} : () -> tensor<3x{kind}>
  return %r : tensor<3x{kind}>
}}
""")
    done = tools.run("mlc-opt", tmp_path / "p.mlir")
    assert done.returncode != 0 and f"requires a value that '{kind}' has" in done.stderr
