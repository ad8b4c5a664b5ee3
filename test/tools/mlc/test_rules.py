"""--rules: a user's rules are proved when they are read, and then applied like the shipped ones."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

TYPES = """\
!t = tensor<?x?xf32, #mlc.dims<[m, n]>>
!r = tensor<?x1xf32, #mlc.dims<[m, 1]>>
"""
RIGHT = TYPES + """
rule.def @abs_of_neg "the sign does not matter to a magnitude" {
  func.func @before(%x: !t) -> !t {
    %0 = mlc.neg %x : (!t) -> !t
    %1 = mlc.abs %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t) -> !t {
    %0 = mlc.abs %x : (!t) -> !t
    return %0 : !t
  }
}
"""
WRONG = RIGHT.replace("@abs_of_neg", "@not_so").replace("%0 = mlc.abs %x", "%0 = mlc.neg %x")
CONDITIONAL = TYPES + """
rule.def @sum_of_one "the negative sum of one negative number is the number" {
  rule.require n eq 1
  func.func @before(%x: !t) -> !r {
    %0 = mlc.neg %x : (!t) -> !t
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 1>} : (!t) -> !r
    %2 = mlc.neg %1 : (!r) -> !r
    return %2 : !r
  }
  func.func @after(%x: !t) -> !r {
    %0 = mlc.reshape %x {dims = #mlc.dims<[m, 1]>} : (!t) -> !r
    return %0 : !r
  }
}
"""


def save(folder, nodes, dims, result):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8),
              folder / "m.onnx")
    return folder / "m.onnx"


def magnitude(folder):
    return save(folder, [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Abs", ["a"], ["y"])],
                [3, 4], [3, 4])


def negative_sum(folder, columns):
    nodes = [helper.make_node("Neg", ["x"], ["a"]),
             helper.make_node("ReduceSum", ["a"], ["b"], axes=[1]),
             helper.make_node("Neg", ["b"], ["y"])]
    return save(folder, nodes, [5, columns], [5, 1])


def optimized(tools, model, rules, *flags):
    file, result = model.parent / "rules.mlir", model.parent / "o.onnx"
    file.write_text(rules)
    done = tools.mlc("optimize", model, "-o", result, "--rules", file, *flags)
    return done, file, result


def used(result):
    (trail,) = [p.value for p in onnx.load(result).metadata_props if p.key == "mlc.trail"]
    return [step["rule"] for step in json.loads(trail)[0]["steps"]]


def test_a_right_rule_is_applied_and_its_trail_replayed(tools, tmp_path):
    model = magnitude(tmp_path)
    done, file, result = optimized(tools, model, RIGHT, "--explain")
    assert done.returncode == 0, done.stderr
    assert used(result) == ["abs_of_neg"] and "the sign does not matter" in done.stdout
    assert [n.op_type for n in onnx.load(result).graph.node] == ["Abs"]
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    [got] = onnxruntime.InferenceSession(result).run(None, {"x": x})
    assert np.array_equal(got, np.abs(x))
    alone = tools.run("mlc-verify", "--trail", model, result)
    assert alone.returncode == 5 and "--rules" in alone.stderr
    proved = tools.run("mlc-verify", "--trail", model, result, "--rules", file)
    assert proved.returncode == 0 and "proved just now: abs_of_neg" in proved.stdout


def test_compiled_code_uses_it(tools, tmp_path):
    model, file = magnitude(tmp_path), tmp_path / "r.mlir"
    file.write_text(RIGHT)
    done = tools.mlc("compile", model, "-o", tmp_path / "m.mlca", "--rules", file)
    assert done.returncode == 0, done.stderr
    shown = tools.mlc("inspect", tmp_path / "m.mlca")
    assert "abs_of_neg" in shown.stdout
    plain = tools.mlc("compile", model, "-o", tmp_path / "p.mlca")
    assert plain.returncode == 0 and "abs_of_neg" not in tools.mlc("inspect", tmp_path / "p.mlca").stdout


def test_a_pass_takes_it(tools, tmp_path):
    model, file = magnitude(tmp_path), tmp_path / "r.mlir"
    file.write_text(RIGHT)
    graph = tools.mlc("compile", model, "--compile-to=import", "-o", tmp_path / "m.mlir")
    assert graph.returncode == 0, graph.stderr
    done = tools.run("mlc-opt", f"--mlc-apply-rules=rules={file}", tmp_path / "m.mlir")
    assert done.returncode == 0 and "mlc.neg" not in done.stdout and "mlc.abs" in done.stdout
    file.write_text(WRONG)
    done = tools.run("mlc-opt", f"--mlc-apply-rules=rules={file}", tmp_path / "m.mlir")
    assert done.returncode != 0 and "@not_so is refuted" in done.stderr


def test_a_wrong_rule_is_refused_with_its_counterexample(tools, tmp_path):
    done, file, result = optimized(tools, magnitude(tmp_path), RIGHT + WRONG.removeprefix(TYPES))
    assert done.returncode == 5 and not result.exists()
    assert f"{file}: rule @not_so is refuted" in done.stderr and "%x [" in done.stderr


@pytest.mark.parametrize("columns, applies", [(1, True), (2, False)])
def test_a_condition_decides_where_it_holds(columns, applies, tools, tmp_path):
    model = negative_sum(tmp_path, columns)
    done, _, result = optimized(tools, model, CONDITIONAL)
    assert done.returncode == 0, done.stderr
    assert ("sum_of_one" in used(result)) == applies
    x = np.random.default_rng(2).standard_normal((5, columns)).astype(np.float32)
    [got] = onnxruntime.InferenceSession(result).run(None, {"x": x})
    np.testing.assert_allclose(got, x.sum(axis=1, keepdims=True), rtol=1e-6)
    without = CONDITIONAL.replace("  rule.require n eq 1\n", "")
    done, _, _ = optimized(tools, model, without)
    assert done.returncode == 5 and "@sum_of_one is refuted" in done.stderr


@pytest.mark.parametrize("text, why", [
    ("", "has no rules"),
    ("rule.def", "see docs/AddARewrite.md"),
    (RIGHT.replace("mlc.neg", "mlc.nag"), "see docs/AddARewrite.md"),
    (RIGHT + RIGHT.removeprefix(TYPES), "redefinition of symbol named 'abs_of_neg'"),
])
def test_bad_files_are_told(text, why, tools, tmp_path):
    done, file, result = optimized(tools, magnitude(tmp_path), text)
    assert done.returncode == 3 and str(file) in done.stderr and why in done.stderr
    assert not result.exists()


def test_flags_that_make_no_sense(tools, tmp_path):
    model = magnitude(tmp_path)
    done, file, _ = optimized(tools, model, RIGHT, "--rules", tmp_path / "rules.mlir")
    assert done.returncode == 3 and "a rule named @abs_of_neg exists already" in done.stderr
    done, _, _ = optimized(tools, model, RIGHT, "--no-rewrites")
    assert done.returncode == 2 and "exclude each other" in done.stderr
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", "--rules", tmp_path / "none.mlir")
    assert done.returncode == 3 and "none.mlir" in done.stderr
    file = tmp_path / "r.mlir"
    file.write_text(RIGHT)
    done = tools.mlc("optimize", model, "-o", file, "--rules", file)
    assert done.returncode == 2 and file.read_text() == RIGHT
