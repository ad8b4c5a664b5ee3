"""mlc-verify --trail: what mlc optimize writes is replayed, what was tampered
with is refused, and nothing crashes the checker."""

import copy
import json
import pathlib
import re
import sys

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import graphs

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "experiments"))
import models  # noqa: E402


def trail_of(model):
    (text,) = [p.value for p in model.metadata_props if p.key == "mlc.trail"]
    return json.loads(text)


def with_trail(model, trail):
    """A copy of `model` with another trail: JSON, or any text."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    kept = [p for p in result.metadata_props if p.key != "mlc.trail"]
    del result.metadata_props[:]
    result.metadata_props.extend(kept)
    entry = result.metadata_props.add()
    entry.key = "mlc.trail"
    entry.value = trail if isinstance(trail, str) else json.dumps(trail)
    return result


def check(tools, model, result, *flags):
    return tools.run("mlc-verify", "--trail", model, result, *flags, timeout=60)


@pytest.fixture(scope="module")
def optimized(tools, tmp_path_factory):
    """(path of the model, the optimized model): batch norms folded into
    convolutions, with a real parameter and open dims."""
    folder = tmp_path_factory.mktemp("trail")
    path, result = folder / "model.onnx", folder / "out.onnx"
    graphs.save(path, graphs.small_network())
    done = tools.mlc("optimize", path, "-o", result)
    assert done.returncode == 0, done.stderr
    return path, onnx.load(result)


@pytest.mark.parametrize("name", models.EXPERIMENTS)
def test_experiments_replay(name, tools, tmp_path):
    path, result = tmp_path / "m.onnx", tmp_path / "o.onnx"
    models.write(name, path, small=True)
    assert tools.mlc("optimize", path, "-o", result, "--time-limit=1").returncode == 0
    done = check(tools, path, result, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (trail,) = trail_of(onnx.load(result))
    assert answer["verdict"] == "replayed" and answer["steps"] == len(trail["steps"])


def test_replay(optimized, tools, tmp_path):
    path, model = optimized
    assert len(trail_of(model)[0]["steps"]) >= 1
    result = graphs.save(tmp_path / "o.onnx", model)
    done = check(tools, path, result)
    assert done.returncode == 0 and done.stdout.startswith("replayed: "), done.stderr


def test_fixed_dims(tools, tmp_path):
    path, result = tmp_path / "m.onnx", tmp_path / "o.onnx"
    graphs.save(path, graphs.small_network())
    assert tools.mlc("optimize", path, "-o", result, "--dim=N=2").returncode == 0
    assert check(tools, path, result, "--dim=N=2").returncode == 0
    assert check(tools, path, result).returncode == 5


def test_optimized_again(optimized, tools, tmp_path):
    """A model that has a trail already gets a new one, about itself."""
    first = graphs.save(tmp_path / "1.onnx", optimized[1])
    second = tmp_path / "2.onnx"
    assert tools.mlc("optimize", first, "-o", second).returncode == 0
    assert len(trail_of(onnx.load(second))[0]["steps"]) == 0
    assert check(tools, first, second).returncode == 0


# Tampered trails


def edit_step(**changes):
    def edit(trail):
        trail[0]["steps"][0].update(changes)
    return edit


def edit_symbol(kind, name, value):
    def edit(trail):
        symbols = trail[0]["steps"][0][kind]
        if value is None:
            del symbols[name]
        else:
            symbols[name] = value
    return edit


def edit_number(value):
    """Of the rule's one real parameter."""
    def edit(trail):
        (name,) = trail[0]["steps"][0]["reals"]
        edit_symbol("reals", name, value)(trail)
    return edit


def edit_list(key, index, value):
    def edit(trail):
        trail[0]["steps"][0][key][index] = value
    return edit


def edit_end(change):
    def edit(trail):
        change(trail[0])
    return edit


def repeat_chosen(trail):
    trail["chosen"].append(trail["chosen"][-1])


def drop_first_step(trail):
    del trail["steps"][0]


def other_operand(trail):
    op = next(op for op in trail["chosen"] if len(op) > 1 and op[1] != 0)
    op[1] = 0


BIG = 4294967294
TRAILS = {
    "hash": (edit_step(hash="0" * 32), "step 1"),
    "no such rule": (edit_step(rule="miracle"), "step 1"),
    "another rule": (edit_step(rule="relu_of_relu_is_relu"), "step 1"),
    "fewer arguments": (lambda t: t[0]["steps"][0]["arguments"].pop(), "step 1"),
    "other argument": (edit_list("arguments", 1, 0), "step 1"),
    "no argument": (edit_list("arguments", 1, None), "step 1"),
    "argument out of range": (edit_list("arguments", 1, BIG), "step 1"),
    "swapped weights": (lambda t: t[0]["steps"][0]["arguments"].reverse(), "step 1"),
    "other place": (edit_list("before", 0, 1), "step 1"),
    "place out of range": (edit_list("before", 0, BIG), "step 1"),
    "fewer places": (lambda t: t[0]["steps"][0]["before"].pop(), "step 1"),
    "more places": (lambda t: t[0]["steps"][0]["before"].append(0), "step 1"),
    "symbol": (edit_symbol("integers", "p", "5"), "step 1"),
    "symbol missing": (edit_symbol("integers", "p", None), "step 1"),
    "symbol unknown": (edit_symbol("integers", "zz", "5"), "step 1"),
    "symbol negative": (edit_symbol("integers", "pt", "-1"), "step 1"),
    "symbol maybe negative": (edit_symbol("integers", "pt", "N - 1"), "step 1"),
    "symbol garbage": (edit_symbol("integers", "pt", "1> {"), "step 1"),
    "symbol zero": (edit_symbol("integers", "sh", "0"), "step 1"),
    "symbol huge": (edit_symbol("integers", "sh", "9223372036854775807"), "step 1"),
    "symbol overflowing": (edit_symbol("integers", "sh", "9" * 40), "step 1"),
    "symbol deep": (edit_symbol("integers", "sh", "(" * 100000), "step 1"),
    "symbol wide": (edit_symbol("integers", "sh", "*".join(f"(a{i} + b{i})" for i in range(60))), "step 1"),
    "number": (edit_number("0.5"), "step 1"),
    "number missing": (edit_number(None), "step 1"),
    "number garbage": (edit_number("small"), "step 1"),
    "no step": (edit_end(drop_first_step), "the result"),
    "no end": (edit_end(lambda t: t["chosen"].clear()), "the result"),
    "end twice": (edit_end(repeat_chosen), "the result"),
    "end backwards": (edit_end(lambda t: t["chosen"].reverse()), "the result"),
    "end out of range": (edit_end(lambda t: t["chosen"].append([BIG])), "the result"),
    "end without operand": (edit_end(lambda t: t["chosen"][-1].pop()), "the result"),
    "end with another operand": (edit_end(other_operand), "the result"),
    "output": (edit_end(lambda t: t["outputs"].__setitem__(0, 0)), "the result"),
    "output out of range": (edit_end(lambda t: t["outputs"].__setitem__(0, BIG)), "the result"),
    "fewer outputs": (edit_end(lambda t: t["outputs"].clear()), "the result"),
    "fewer operators": (edit_end(lambda t: t["chosen"].pop()), "the result"),
    "function": (edit_end(lambda t: t.update(function="other")), "a trail of other"),
    "no trail": (lambda t: t.clear(), "have a trail"),
}


@pytest.mark.parametrize("name", TRAILS)
def test_tampered_trail(name, optimized, tools, tmp_path):
    edit, place = TRAILS[name]
    path, model = optimized
    trail = copy.deepcopy(trail_of(model))
    edit(trail)
    assert trail != trail_of(model)
    done = check(tools, path, graphs.save(tmp_path / "o.onnx", with_trail(model, trail)))
    assert done.returncode == 5, done.stdout + done.stderr
    assert done.stderr.startswith("mlc: error: ") and place in done.stderr, done.stderr


def test_steps_in_another_order(tools, tmp_path):
    """A step that needs another is refused in front of it."""
    path, result = tmp_path / "m.onnx", tmp_path / "o.onnx"
    models.write("inception-v3", path, small=True)
    assert tools.mlc("optimize", path, "-o", result).returncode == 0
    model = onnx.load(result)
    trail = trail_of(model)
    trail[0]["steps"].reverse()
    done = check(tools, path, graphs.save(result, with_trail(model, trail)))
    assert done.returncode == 5 and "step " in done.stderr


# Tampered graphs


def flip_weight(model):
    tensor = max(model.graph.initializer, key=lambda t: len(t.raw_data))
    data = bytearray(tensor.raw_data)
    data[-1] ^= 1
    tensor.raw_data = bytes(data)


def reshape_weight(model):
    tensor = max(model.graph.initializer, key=lambda t: len(t.raw_data))
    tensor.dims[0], tensor.dims[1] = tensor.dims[1], tensor.dims[0]


def node(model, op):
    return next(n for n in model.graph.node if n.op_type == op)


def set_attribute(model):
    (pads,) = [a for a in node(model, "Conv").attribute if a.name == "pads"]
    pads.ints[0] += 1


def add_node(model):
    model.graph.node.add(op_type="Relu", input=[model.graph.input[0].name], output=["more"])


def rename_output(model):
    model.graph.output[0].name = "other"
    model.graph.node[-1].output[0] = "other"


def two_trails(model):
    model.metadata_props.add(key="mlc.trail", value="[]")


GRAPHS = {
    "weight": (flip_weight, "weight"),
    "dims of a weight": (reshape_weight, "weight"),
    "weight missing": (lambda m: m.graph.initializer.pop(), "weights"),
    "operator": (lambda m: setattr(node(m, "Relu"), "op_type", "Sigmoid"), "Sigmoid instead of Relu"),
    "domain": (lambda m: setattr(node(m, "Relu"), "domain", "elsewhere"), "node"),
    "attribute": (set_attribute, "attributes"),
    "operand": (lambda m: node(m, "Relu").input.__setitem__(0, m.graph.input[0].name), "input 0"),
    "node missing": (lambda m: m.graph.node.pop(), "nodes"),
    "node more": (add_node, "nodes"),
    "output": (rename_output, "output 0"),
    "type of input": (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 10), "input 0"),
    "opset": (lambda m: setattr(m.opset_import[0], "version", 18), "versions"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_tampered_graph(name, optimized, tools, tmp_path):
    change, text = GRAPHS[name]
    path, model = optimized
    changed = with_trail(model, trail_of(model))
    change(changed)
    done = check(tools, path, graphs.save(tmp_path / "o.onnx", changed))
    assert done.returncode == 5 and text in done.stderr, done.stdout + done.stderr


def test_inner_names_are_free(optimized, tools, tmp_path):
    path, model = optimized
    text = with_trail(model, trail_of(model))
    for n in text.graph.node:
        n.name = "node of " + n.name
        for names in (n.input, n.output):
            for i, name in enumerate(names):
                names[i] = "inner" + name if name.startswith("mlc_") else name
    for tensor in text.graph.initializer:
        tensor.name = "inner" + tensor.name
    assert check(tools, path, graphs.save(tmp_path / "o.onnx", text)).returncode == 0


def test_another_model(optimized, tools, tmp_path):
    other = graphs.save(tmp_path / "other.onnx", graphs.small_network(seed=1))
    done = check(tools, other, graphs.save(tmp_path / "o.onnx", optimized[1]))
    assert done.returncode == 5 and "its data differs" in done.stderr


BAD = {
    "no json": "[{",
    "no array": "7",
    "no fields": "[{}]",
    "words for terms": '[{"function": "main", "steps": [], "chosen": [["a"]], "outputs": []}]',
    "deep": "[" * 1000000,
}


@pytest.mark.parametrize("name", BAD)
def test_bad_trail(name, optimized, tools, tmp_path):
    path, model = optimized
    done = check(tools, path, graphs.save(tmp_path / "o.onnx", with_trail(model, BAD[name])))
    assert done.returncode == 3 and "mlc.trail" in done.stderr


def test_bad_files(optimized, tools, tmp_path):
    path, model = optimized
    result = graphs.save(tmp_path / "o.onnx", model)
    plain = tmp_path / "plain.onnx"
    assert tools.run("mlc-translate", path, "-o", plain).returncode == 0
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(result.read_bytes()[:-7])
    twice = with_trail(model, trail_of(model))
    two_trails(twice)
    for left, right, text in [
        (path, plain, "no trail"), (path, tmp_path / "missing.onnx", "cannot be read"),
        (path, damaged, "damaged"), (damaged, result, "damaged.onnx"),
        (path, graphs.save(tmp_path / "twice.onnx", twice), "two trails"),
    ]:
        done = check(tools, left, right)
        assert done.returncode == 3 and text in done.stderr, done.stderr
    done = check(tools, path, result, "--rules", tmp_path / "missing.mlir")
    assert done.returncode == 3 and "missing.mlir" in done.stderr
    for arguments in ([path], [path, result, "--dim=x"], [path, result, "--function=f"]):
        assert tools.run("mlc-verify", "--trail", *arguments).returncode == 2


# Trails by hand


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
    steps = [step("relu_of_relu_is_relu_rank4", [0], [1, 2], A0="1", A1="2", A2="3", A3="4")]
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
  rule.assume positive 1
  rule.require a ge 2
  func.func @before(%x: !t, %s: !t) -> !t {
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


@pytest.mark.parametrize("scale, text", [
    ([[1, 2], [3, -0.5]], "not all positive"),
    ([[1, 2], [3, 0]], "not all positive"),
    ([[1, 2], [3, np.nan]], "not all positive"),
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
    assert done.returncode == 5 and "not known at compile time" in done.stderr


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
    wrong = RULES.replace("rule.assume positive 1\n", "")
    model, result, rules = scaled(tools, tmp_path, [[1, 2], [3, 0.5]], wrong)
    done = finished(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "the rule is not proved" in done.stderr


# What the checker is made of


def test_independence():
    """Small, and without the engines that write trails."""
    files = [p for pattern in ("rewrites/Replay/*", "tools/mlc-verify/TrailCommand*", "tools/mlc-verify/Model*")
             for p in ROOT.glob(pattern) if p.suffix in (".cpp", ".h")]
    text = "".join(p.read_text() for p in files)
    assert len(files) == 10 and text.count("\n") < 1500
    engines = r'"rewrites/(EGraph|Extract|Search|Match|Greedy|Cost|Equations)'
    assert not re.search(rf"#include {engines}", text)
