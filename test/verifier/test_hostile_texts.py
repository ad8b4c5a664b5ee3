"""Texts that random changes of rules and statements came to (./dev fuzz-texts)
and on which a tool once crashed or hung. Each ends soon, with an answer."""

import pytest

PAD = """!x = tensor<4xf32>
!y = tensor<6xf32>
func.func @b(%x: !x) -> !y {{
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[{low}] high[1] {{
  ^bb0(%i: index):
    tensor.yield %z : f32
  }} : !x to !y
  return %p : !y
}}
func.func @a(%x: !x) -> !y {{
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {{
  ^bb0(%i: index):
    tensor.yield %z : f32
  }} : !x to !y
  return %p : !y
}}
"""
JOIN = """func.func @b(%x: tensor<8xf32>) -> tensor<16xf32> {{
  %s = tensor.concat dim({dim}) %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}}
func.func @a(%x: tensor<8xf32>) -> tensor<16xf32> {{
  %s = tensor.concat dim(0) %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}}
"""
GROUPS = """func.func @b(%x: tensor<0x2xf32>) -> tensor<0xf32> {{
  %s = tensor.collapse_shape %x {groups} : tensor<0x2xf32> into tensor<0xf32>
  return %s : tensor<0xf32>
}}
func.func @a(%x: tensor<0x2xf32>) -> tensor<0xf32> {{
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<0x2xf32> into tensor<0xf32>
  return %s : tensor<0xf32>
}}
"""
NAMED = """!x = tensor<?x?xf32, #mlc.dims<[{dims}]>>
func.func @b(%x: !x) -> !x {{ return %x : !x }}
func.func @a(%x: !x) -> !x {{ return %x : !x }}
"""
SUM = """!x = tensor<?xf32, #mlc.dims<[n]>>
!one = tensor<1xf32>
func.func @b(%x: !x) -> !one {{
  %0 = mlc.compute %x {{definition = "(x; n) Y[i] = sum{{r < n}}(x[r])", dims = #mlc.dims<[1]>,
    integers = #mlc.dims<[n]>, reals = [], type = f32}} : (!x) -> !one
  return %0 : !one
}}
func.func @a(%x: !x) -> !one {{
  %0 = mlc.compute %x {{definition = "(x; n, e) Y[i] = sum{{r < n}}(x<0>[r + e])", dims = #mlc.dims<[1]>,
    integers = #mlc.dims<[n, max(n - {number}, 0)]>, reals = [], type = f32}} : (!x) -> !one
  return %0 : !one
}}
"""
RULE = """!n = tensor<?x?xf32, #mlc.dims<[n, n]>>
!a = tensor<?x?xf32, #mlc.dims<[2 * n, n]>>
!b = tensor<?x?xf32, #mlc.dims<[n, 2 * n]>>
!y = tensor<?xf32, #mlc.dims<[2 * n * n]>>
rule.def @two_axes "concatenations along different axes" {{
  rule.require n eq {number}
  func.func @before(%x: !n, %y: !n) -> !y {{
    %0 = mlc.concat %x, %y {{axis = 0 : i64}} : (!n, !n) -> !a
    %1 = mlc.reshape %0 {{dims = #mlc.dims<[2 * n * n]>}} : (!a) -> !y
    return %1 : !y
  }}
  func.func @after(%x: !n, %y: !n) -> !y {{
    %0 = mlc.concat %x, %y {{axis = 1 : i64}} : (!n, !n) -> !b
    %1 = mlc.reshape %0 {{dims = #mlc.dims<[2 * n * n]>}} : (!b) -> !y
    return %1 : !y
  }}
}}
"""
LEAST, MOST = -2**63, 2**63 - 1


@pytest.mark.parametrize("text,code,said", [
    (PAD.format(low=LEAST), 3, "must have a width for each dim and side"),
    (PAD.format(low=1), 0, "proved"),
    (JOIN.format(dim=-1), 3, "joins along dim -1, which not all of its tensors have"),
    (JOIN.format(dim=0), 0, "proved"),
    (GROUPS.format(groups=f"[[{LEAST}, 1]]"), 3, "must group all dims in order"),
    (GROUPS.format(groups="[[0, 1]]"), 0, "proved"),
    (NAMED.format(dims="n"), 3, "names 1 dims of a tensor of 2"),
    (NAMED.format(dims="n, m, n"), 3, "names 3 dims of a tensor of 2"),
    (NAMED.format(dims="n, m"), 0, "proved"),
    (SUM.format(number=LEAST), 6, "unknown"),
    (SUM.format(number=f"{MOST} * n"), 0, "proved"),
], ids=["pad", "pad right", "concat", "concat right", "collapse", "collapse right", "dims short", "dims long",
        "dims right", "least number", "large product"])
def test_statement(tools, tmp_path, text, code, said):
    (tmp_path / "t.mlir").write_text(text)
    done = tools.run("mlc-verify", tmp_path / "t.mlir", timeout=60)
    assert done.returncode == code and said in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("number", [MOST, LEAST, 2**62])
def test_rule(tools, tmp_path, number):
    (tmp_path / "r.mlir").write_text(RULE.format(number=number))
    done = tools.run("mlc-rules", "verify", tmp_path / "r.mlir", timeout=60)
    assert done.returncode in (3, 5, 6), (done.returncode, done.stderr)
