"""mlc-verify --trail on trails written by hand: what the checker concludes from
steps, and what it asks of rules."""

import re

import numpy as np
import onnx
import pytest

import graphs
from trails import check, trail_of, with_trail


def hand_made(tools, tmp_path, before, after, steps, chosen, outputs):
    """Paths of the model `before`, and of `after` with a trail of this."""
    model, plain = tmp_path / "m.onnx", tmp_path / "p.onnx"
    graphs.save(model, before)
    graphs.save(tmp_path / "after.onnx", after)
    done = tools.run("mlc-translate", tmp_path / "after.onnx", "-o", plain)
    assert done.returncode == 0, done.stderr
    trail = [{"function": "main", "steps": steps, "chosen": chosen, "outputs": outputs}]
    return model, graphs.save(tmp_path / "o.onnx", with_trail(onnx.load(plain), trail))


def step(rule, arguments, before, digest="", **integers):
    return {"rule": rule, "hash": digest, "arguments": arguments, "before": before,
            "integers": integers, "reals": {}, "places": [], "gain": 0}


def finished(tools, model, result, *flags):
    """Checks with the hash that the checker asks for."""
    asked = check(tools, model, result, *flags)
    digest = re.search(r"the rule's hash is (\w+)", asked.stderr)
    if digest:
        changed = onnx.load(result)
        trail = trail_of(changed)
        for entry in trail[0]["steps"]:
            entry["hash"] = digest[1]
        onnx.save(with_trail(changed, trail), result)
    return check(tools, model, result, *flags)


def test_congruence(tools, tmp_path):
    """b = relu(relu(x)) equals a = relu(x), so sigmoid(b) equals sigmoid(a)."""
    ports = [("x", [1, 2, 3, 4])], [("y", [1, 2, 3, 4])]
    before = graphs.model(
        [("Relu", ["x"], ["a"], {}), ("Relu", ["a"], ["b"], {}), ("Sigmoid", ["a"], ["c"], {}),
         ("Sigmoid", ["b"], ["d"], {}), ("Sub", ["c", "d"], ["y"], {})], *ports)
    after = graphs.model(
        [("Relu", ["x"], ["a"], {}), ("Sigmoid", ["a"], ["c"], {}), ("Sub", ["c", "c"], ["y"], {})], *ports)
    # Terms: x 0, a 1, b 2, c 3, d 4, y 5; the step makes relu(x) once more, 6.
    steps = [step("relu_of_relu_rank4", [0], [1, 2], A0="1", A1="2", A2="3", A3="4")]
    chosen = [[1, 0], [3, 1], [5, 3, 3]]
    model, result = hand_made(tools, tmp_path, before, after, steps, chosen, [5])
    done = finished(tools, model, result)
    assert done.returncode == 0, done.stderr
    # Without the step nothing says that c and d are equal.
    model, result = hand_made(tools, tmp_path, before, after, [], chosen, [5])
    done = check(tools, model, result)
    assert done.returncode == 5 and "not known to equal" in done.stderr


RULES = """
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
rule.def @scale_behind_relu "a positive scale moves behind a rectifier" {
  rule.require a ge 2
  func.func @before(%x: !t, %s: !t {rule.positive}) -> !t {
    %0 = mlc.mul %x, %s : (!t, !t) -> !t
    %1 = mlc.relu %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t, %s: !t) -> !t {
    %0 = mlc.relu %x : (!t) -> !t
    %1 = mlc.mul %0, %s : (!t, !t) -> !t
    return %1 : !t
  }
}
"""


def scaled(tools, tmp_path, scale, rules=RULES):
    """relu(x * scale) as relu(x) * scale, by a rule of one's own."""
    scale = np.array(scale, np.float32)
    ports = [("x", list(scale.shape))], [("y", list(scale.shape))]
    before = graphs.model([("Mul", ["x", "s"], ["p"], {}), ("Relu", ["p"], ["y"], {})], *ports, {"s": scale})
    after = graphs.model([("Relu", ["x"], ["r"], {}), ("Mul", ["r", "s"], ["y"], {})], *ports, {"s": scale})
    # Terms: x 0, s 1, x * s 2, y 3; the step makes relu(x) 4 and relu(x) * s 5.
    rows, columns = map(str, scale.shape)
    steps = [step("scale_behind_relu", [0, 1], [2, 3], a=rows, b=columns)]
    model, result = hand_made(tools, tmp_path, before, after, steps, [[1], [4, 0], [5, 4, 1]], [5])
    file = tmp_path / "rules.mlir"
    file.write_text(rules)
    return model, result, file


def test_own_rule(tools, tmp_path):
    model, result, rules = scaled(tools, tmp_path, [[1, 2], [3, 0.5]])
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 0, done.stderr
    done = check(tools, model, result)
    assert done.returncode == 5 and "step 1" in done.stderr and "--rules" in done.stderr


FALSE = RULES.replace(" {rule.positive}", "")


@pytest.mark.parametrize("scale", [[[1, 2], [3, -0.5]], [[1, 2], [3, 0.5]]])
def test_own_false_rule(tools, tmp_path, scale):
    """A file says what it likes: its rules are proved before they are believed,
    also where they happen to be right."""
    assert FALSE != RULES
    model, result, rules = scaled(tools, tmp_path, scale, FALSE)
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "step 1" in done.stderr, done.stderr
    assert "your rule is not proved: refuted" in done.stderr, done.stderr


UNKNOWN = """
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
rule.def @relu_of_clip "true, and beyond the prover" {
  rule.assume_real lo ge 0.0
  rule.assume_real hi ge 0.0
  func.func @before(%x: !t) -> !t {
    %0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : (!t) -> !t
    %1 = mlc.relu %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t) -> !t {
    %0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : (!t) -> !t
    return %0 : !t
  }
}
"""


def test_own_unknown_rule(tools, tmp_path):
    """What is not refuted is not believed for that."""
    ports = [("x", [2, 2])], [("y", [2, 2])]
    clip, weights = ("Clip", ["x", "lo", "hi"]), {"lo": np.float32(0.5), "hi": np.float32(2)}
    before = graphs.model([(*clip, ["c"], {}), ("Relu", ["c"], ["y"], {})], *ports, weights)
    after = graphs.model([(*clip, ["y"], {})], *ports, weights)
    # Terms: x 0, the clip 1, its relu 2; the step makes the clip once more, 3.
    steps = [step("relu_of_clip", [0], [1, 2], a="2", b="2")]
    steps[0]["reals"] = {"lo": "0.5", "hi": "2"}
    model, result = hand_made(tools, tmp_path, before, after, steps, [[3, 0]], [3])
    rules = tmp_path / "rules.mlir"
    rules.write_text(UNKNOWN)
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "your rule is not proved: unknown" in done.stderr, done.stderr


def test_own_rule_under_a_shipped_name(tools, tmp_path):
    """What is proved of the shipped rule says nothing of another of its name."""
    name = "relu_of_relu_rank4"
    model, result, rules = scaled(tools, tmp_path, [[1, 2], [3, 0.5]], FALSE.replace("scale_behind_relu", name))
    done = check(tools, model, result, "--rules", rules)
    assert done.returncode == 3 and "exists already" in done.stderr, done.stderr


def test_rests_on(tools, tmp_path):
    """Who vouches for what: the rules of the user's files are named."""
    model, result, rules = scaled(tools, tmp_path, [[1, 2], [3, 0.5]])
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "rests on" in said and "scale_behind_relu" in said and "proved just now" in said and "Z3" in said, said


@pytest.mark.parametrize("scale, text", [
    ([[1, 2], [3, -0.5]], "the elements of %s, term 1, are not all positive"),
    ([[1, 2], [3, 0]], "the elements of %s, term 1, are not all positive"),
    ([[1, 2], [3, np.nan]], "the elements of %s, term 1, are not all positive"),
    ([[1, 2]], "a >= 2"),
])
def test_assumption_does_not_hold(tools, tmp_path, scale, text):
    model, result, rules = scaled(tools, tmp_path, scale)
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "step 1" in done.stderr and text in done.stderr, done.stderr


def test_positive_but_not_constant(tools, tmp_path):
    """Nobody knows the signs of an input."""
    ports = [("x", [2, 2]), ("s", [2, 2])], [("y", [2, 2])]
    before = graphs.model([("Mul", ["x", "s"], ["p"], {}), ("Relu", ["p"], ["y"], {})], *ports)
    after = graphs.model([("Relu", ["x"], ["r"], {}), ("Mul", ["r", "s"], ["y"], {})], *ports)
    steps = [step("scale_behind_relu", [0, 1], [2, 3], a="2", b="2")]
    model, result = hand_made(tools, tmp_path, before, after, steps, [[4, 0], [5, 4, 1]], [5])
    rules = tmp_path / "rules.mlir"
    rules.write_text(RULES)
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "%s, term 1, is not known at compile time" in done.stderr


def test_computed_constant(tools, tmp_path):
    """Signs are judged of what an earlier step made constant: -(-s) is s."""
    scale = np.array([[[[1, 2]]]], np.float32)
    rules = RULES.replace("tensor<?x?xf32, #mlc.dims<[a, b]>>", "tensor<?x?x?x?xf32, #mlc.dims<[a, b, c, d]>>")
    rules = rules.replace("a ge 2", "d ge 2")
    for sign, code in ((1, 0), (-1, 5)):
        ports = [("x", [1, 1, 1, 2])], [("y", [1, 1, 1, 2])]
        weights = {"s": sign * scale}
        before = graphs.model([("Mul", ["x", "s"], ["p"], {}), ("Relu", ["p"], ["y"], {})], *ports, weights)
        after = graphs.model([("Relu", ["x"], ["r"], {}), ("Mul", ["r", "s"], ["y"], {})], *ports, weights)
        steps = [step("scale_behind_relu", [0, 1], [2, 3], a="1", b="1", c="1", d="2")]
        model, result = hand_made(tools, tmp_path, before, after, steps, [[1], [4, 0], [5, 4, 1]], [5])
        file = tmp_path / "rules.mlir"
        file.write_text(rules)
        assert finished(tools, model, result, "--rules", file).returncode == code


COMPUTE = """
rule.def @scale_behind_relu "a scale of the columns becomes part of the right operand" {
  func.func @before(%x: tensor<?x?xf32, #mlc.dims<[m, k]>>, %w: tensor<?x?xf32, #mlc.dims<[k, n]>>, %s: tensor<1x?xf32, #mlc.dims<[1, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>> {
    %0 = mlc.matmul %x, %w : (tensor<?x?xf32, #mlc.dims<[m, k]>>, tensor<?x?xf32, #mlc.dims<[k, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>>
    %1 = mlc.broadcast %s {dims = #mlc.dims<[m, n]>} : (tensor<1x?xf32, #mlc.dims<[1, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>>
    %2 = mlc.mul %0, %1 : (tensor<?x?xf32, #mlc.dims<[m, n]>>, tensor<?x?xf32, #mlc.dims<[m, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>>
    return %2 : tensor<?x?xf32, #mlc.dims<[m, n]>>
  }
  func.func @after(%x: tensor<?x?xf32, #mlc.dims<[m, k]>>, %w: tensor<?x?xf32, #mlc.dims<[k, n]>>, %s: tensor<1x?xf32, #mlc.dims<[1, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>> {
    %0 = mlc.compute %w, %s {definition = "(w, s) Y[i, j] = w[i, j] * s[0, j]", dims = #mlc.dims<[k, n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?x?xf32, #mlc.dims<[k, n]>>, tensor<1x?xf32, #mlc.dims<[1, n]>>) -> tensor<?x?xf32, #mlc.dims<[k, n]>>
    %1 = mlc.matmul %x, %0 : (tensor<?x?xf32, #mlc.dims<[m, k]>>, tensor<?x?xf32, #mlc.dims<[k, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>>
    return %1 : tensor<?x?xf32, #mlc.dims<[m, n]>>
  }
}
"""


def test_computed_weight(tools, tmp_path):
    """A weight by a definition of its own is folded like any constant."""
    w, s = np.arange(1, 7, dtype=np.float32).reshape(2, 3), np.array([[2, 3, 0.5]], np.float32)
    ports = [("x", [4, 2])], [("y", [4, 3])]
    before = graphs.model(
        [("MatMul", ["x", "w"], ["p"], {}), ("Mul", ["p", "s"], ["y"], {})], *ports, {"w": w, "s": s})
    # Terms: x 0, w 1, x w 2, s 3, repeated 4, y 5; the step makes w s 6 and x (w s) 7.
    steps = [step("scale_behind_relu", [0, 1, 3], [2, 4, 5], m="4", k="2", n="3")]
    rules = tmp_path / "rules.mlir"
    rules.write_text(COMPUTE)
    for weights, code in ((w * s, 0), (w * s + 1, 5)):
        after = graphs.model([("MatMul", ["x", "w"], ["y"], {})], *ports, {"w": weights})
        model, result = hand_made(tools, tmp_path, before, after, steps, [[1], [3], [6, 1, 3], [7, 0, 6]], [7])
        done = finished(tools, model, result, "--rules", rules)
        assert done.returncode == code, done.stderr


def test_wrong_rule(tools, tmp_path):
    """A rule that cannot be proved proves nothing."""
    wrong = RULES.replace(" {rule.positive}", "")
    model, result, rules = scaled(tools, tmp_path, [[1, 2], [3, 0.5]], wrong)
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "your rule is not proved" in done.stderr
