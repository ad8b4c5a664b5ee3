"""A proof has a direction: what a rule that is proved one way says in e-graphs and trails, what stands for a rule's
parameters, and what is kept of floats."""

import json

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import graphs
from test_trail_by_hand import finished, hand_made, step
from trails import check, trail_of

TYPE = "!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\n"


def rule(name, arguments, before, after):
    """`before` and `after`: lines without types of results and operands, the last value is returned."""
    def side(which, lines):
        body = "\n".join(f"    %{i} = {line.replace('TT', '!t, !t').replace('T', '!t')}" for i, line in enumerate(lines))
        last = f"%{len(lines) - 1}" if lines else "%x"
        return f"  func.func @{which}({arguments}) -> !t {{\n{body}\n    return {last} : !t\n  }}\n"
    return f'rule.def @{name} "a rule" {{\n{side("before", before)}{side("after", after)}}}\n'


EXP_OF_LOG = rule("exp_of_sum", "%x: !t, %y: !t",
                  ["mlc.log %x : (T) -> T", "mlc.add %0, %y : (TT) -> T", "mlc.exp %1 : (T) -> T"],
                  ["mlc.exp %y : (T) -> T", "mlc.mul %x, %0 : (TT) -> T"])
BACK = rule("exp_of_log", "%x: !t", ["mlc.log %x : (T) -> T", "mlc.exp %0 : (T) -> T"], [])
ROOTS = rule("roots_commute", "%x: !t, %y: !t",
             ["mlc.sqrt %x : (T) -> T", "mlc.add %0, %y : (TT) -> T"],
             ["mlc.sqrt %x : (T) -> T", "mlc.add %y, %0 : (TT) -> T"])
CLIP = rule("clip_by_relu", "%x: !t",
            ["mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : (T) -> T", "mlc.exp %0 : (T) -> T",
             "mlc.log %1 : (T) -> T"],
            ["mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<hi>, type = f32} : () -> T",
             "mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<lo>, type = f32} : () -> T",
             "mlc.max %x, %1 : (TT) -> T", "mlc.sub %0, %2 : (TT) -> T", "mlc.relu %3 : (T) -> T",
             "mlc.sub %0, %4 : (TT) -> T"])
SCALE = rule("scale_of_sum", "%x: !t, %y: !t, %s: !t",
             ["mlc.add %x, %y : (TT) -> T", "mlc.mul %0, %s : (TT) -> T"],
             ["mlc.mul %x, %s : (TT) -> T", "mlc.mul %y, %s : (TT) -> T", "mlc.add %0, %1 : (TT) -> T"])


def written(tmp_path, *rules):
    file = tmp_path / "rules.mlir"
    file.write_text(TYPE + "".join(rules))
    return file


def test_which_ways(tools, tmp_path):
    done = tools.run("mlc-rules", "verify", written(tmp_path, EXP_OF_LOG, BACK, ROOTS, CLIP, SCALE), "--json")
    assert done.returncode == 0, done.stderr
    ways = {one["name"]: one["two_way"] for one in json.loads(done.stdout)}
    assert ways == {"exp_of_sum": False, "exp_of_log": False, "roots_commute": True, "clip_by_relu": True,
                    "scale_of_sum": True}


def test_e_graph(tools, tmp_path):
    """The logarithm that is there does not stand for the product."""
    dims = [64, 64]
    made = graphs.model(
        [("Log", ["x"], ["l"], {}), ("Add", ["l", "y"], ["a"], {}), ("Exp", ["a"], ["e"], {}),
         ("Where", ["m", "a", "z"], ["o3"], {}), ("Where", ["m", "e", "z"], ["o1"], {}),
         ("Exp", ["y"], ["f"], {}), ("Mul", ["x", "f"], ["o2"], {})],
        [("m", dims, onnx.TensorProto.BOOL), ("x", dims), ("y", dims)], [(f"o{i}", dims) for i in (1, 2, 3)],
        {"z": np.zeros(dims, np.float32)})
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    rules = written(tmp_path, EXP_OF_LOG)
    done = tools.mlc("optimize", path, "-o", result, "--rules", rules)
    assert done.returncode == 0, done.stderr
    assert check(tools, path, result, "--rules", rules).returncode == 0
    optimized = onnx.load(result)
    # By its direction the rule is used: one exponential is enough.
    assert [node.op_type for node in optimized.graph.node].count("Exp") == 1
    feed = {"m": np.zeros(dims, bool), "x": -np.ones(dims, np.float32), "y": -2 * np.ones(dims, np.float32)}
    for one in ReferenceEvaluator(optimized).run(None, feed):
        assert np.isfinite(one).all()


@pytest.mark.parametrize("backwards", [False, True])
def test_trail(tools, tmp_path, backwards):
    """exp(log x) may become x, and x never exp(log x)."""
    ports = [("x", [2, 2])], [("o", [2, 2]), ("p", [2, 2])]
    nodes = [("Log", ["x"], ["l"], {}), ("Exp", ["l"], ["e"], {}), ("Neg", ["e"], ["o"], {}), ("Abs", ["x"], ["p"], {})]
    # Terms: x 0, l 1, e 2, o 3, p 4.
    steps = [step("exp_of_log", [0], [1, 2], a="2", b="2")]
    if backwards:
        after, chosen = [*nodes[:3], ("Abs", ["e"], ["p"], {})], [[1, 0], [2, 1], [3, 2], [4, 2]]
    else:
        after, chosen = [("Neg", ["x"], ["o"], {}), nodes[3]], [[3, 0], [4, 0]]
    model, result = hand_made(tools, tmp_path, graphs.model(nodes, *ports), graphs.model(after, *ports), steps, chosen,
                              [3, 4])
    done = finished(tools, model, result, "--rules", written(tmp_path, BACK))
    if backwards:
        assert done.returncode == 5 and "term 4 reads term 2, which is not known to equal its operand" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


def test_a_refinement_is_no_equality(tools, tmp_path):
    """A two-way step over what only refines its operand goes one way, too."""
    ports = [("x", [2, 2]), ("y", [2, 2]), ("s", [2, 2])], [("o", [2, 2]), ("p", [2, 2])]
    first = [("Log", ["x"], ["l"], {}), ("Exp", ["l"], ["e"], {}), ("Add", ["e", "y"], ["a"], {}),
             ("Mul", ["a", "s"], ["o"], {}), ("Mul", ["x", "s"], ["b"], {}), ("Mul", ["y", "s"], ["c"], {}),
             ("Add", ["b", "c"], ["p"], {})]
    # Terms: x 0, y 1, s 2, l 3, e 4, a 5, o 6, b 7, c 8, p 9; steps make x s 10, y s 11 and their sum 12.
    steps = [step("exp_of_log", [0], [3, 4], a="2", b="2"), step("scale_of_sum", [0, 1, 2], [5, 6], a="2", b="2")]
    rules = written(tmp_path, BACK, SCALE)
    hashes = {one["name"]: one["hash"] for one in
              json.loads(tools.run("mlc-rules", "list", rules, "--json").stdout)}
    for entry in steps:
        entry["hash"] = hashes[entry["rule"]]
    forward = graphs.model([first[4], first[5], ("Add", ["b", "c"], ["o"], {}), ("Identity", ["o"], ["p"], {})], *ports)
    model, result = hand_made(tools, tmp_path, graphs.model(first, *ports), forward, steps,
                              [[7, 0, 2], [8, 1, 2], [9, 7, 8]], [9, 9])
    done = check(tools, model, result, "--rules", rules)
    assert done.returncode == 0, done.stderr
    back = graphs.model([*first[:4], ("Identity", ["o"], ["p"], {})], *ports)
    model, result = hand_made(tools, tmp_path, graphs.model(first, *ports), back, steps,
                              [[3, 0], [4, 3], [5, 4, 1], [6, 5, 2]], [6, 6])
    done = check(tools, model, result, "--rules", rules)
    assert done.returncode == 5 and "output 1 is term 6, which is not known to equal term 9" in done.stderr, done.stderr


@pytest.mark.parametrize("high", [6, np.inf, np.nan, 1e39])
def test_parameters(tools, tmp_path, high):
    """A proof is of finite numbers of the type that a parameter fills."""
    ports = [("x", [64, 64])], [("y", [64, 64])]
    before = graphs.model([("Clip", ["x", "lo", "hi"], ["c"], {}), ("Exp", ["c"], ["e"], {}), ("Log", ["e"], ["y"], {})],
                          *ports, {"lo": np.float32(0), "hi": np.float32(min(high, 3e38))})
    # Terms: x 0, c 1, e 2, y 3; the step makes hi 4, lo 5, max 6, difference 7, relu 8, y 9.
    number = "%.17g" % high
    steps = [step("clip_by_relu", [0], [1, 2, 3], a="64", b="64")]
    steps[0]["reals"] = {"lo": "0", "hi": number}
    model, result = hand_made(tools, tmp_path, before, before, steps, [[1, 0], [2, 1], [3, 2]], [3])
    rules = written(tmp_path, CLIP)
    done = finished(tools, model, result, "--rules", rules)
    if high == 6:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 5 and f"hi = {number} is not what the proof assumes" in done.stderr, done.stderr
    if np.isfinite(high):
        return
    before.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(np.float32(high), "hi"))
    optimized = tmp_path / "o4.onnx"
    done = tools.mlc("optimize", graphs.save(model, before), "-o", optimized, "--rules", rules)
    assert done.returncode == 0, done.stderr
    assert all(one["rule"] != "clip_by_relu" for one in trail_of(onnx.load(optimized))[0]["steps"])


@pytest.mark.parametrize("value", [2, -np.inf, np.nan])
def test_constants(tools, tmp_path, value):
    """So is a literal that stands for an argument, unless the rule keeps every bit."""
    ports = [("x", [2, 2]), ("s", [2, 2])], [("y", [2, 2])]
    weights = {"c": np.array([[1, 2], [3, value]], np.float32)}
    before = graphs.model([("Add", ["x", "c"], ["a"], {}), ("Mul", ["a", "s"], ["y"], {})], *ports, weights)
    # Terms: x 0, s 1, c 2, a 3, y 4.
    steps = [step("scale_of_sum", [0, 2, 1], [3, 4], a="2", b="2")]
    model, result = hand_made(tools, tmp_path, before, before, steps, [[2], [3, 0, 2], [4, 3, 1]], [4])
    done = finished(tools, model, result, "--rules", written(tmp_path, SCALE))
    if value == 2:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 5 and "%y, term 2, has an infinity or a NaN" in done.stderr, done.stderr


# What is kept of floats


def pair(before, after, types="f32"):
    """One function after the other over %x, %y, %z: [n]."""
    def side(name, lines):
        body = "\n".join(f"  %{i} = {line.replace('TT', 'T, T').replace('T', '!t')}" for i, line in enumerate(lines))
        last = f"%{len(lines) - 1}" if lines else "%x"
        return f"func.func @{name}(%x: !t, %y: !t, %z: !t) -> !t {{\n{body}\n  return {last} : !t\n}}\n"
    return f"!t = tensor<?x{types}, #mlc.dims<[n]>>\n{side('before', before)}{side('after', after)}"


def fill(number):
    return f"mlc.fill {{dims = #mlc.dims<[n]>, value = #mlc.real<{number}>, type = f32}} : () -> T"


def two(name, x="%x", y="%y"):
    return f"mlc.{name} {x}, {y} : (TT) -> T"


LABELS = {
    "add commutes": ("bit-exact", [two("add")], [two("add", "%y", "%x")]),
    "mul commutes": ("bit-exact", [two("mul")], [two("mul", "%y", "%x")]),
    # Of 0 and -0, code gives one or the other.
    "max commutes": ("value-changing", [two("max")], [two("max", "%y", "%x")]),
    "min commutes": ("value-changing", [two("min")], [two("min", "%y", "%x")]),
    "nested": ("bit-exact", [two("add"), two("mul", "%0", "%z")], [two("add", "%y", "%x"), two("mul", "%z", "%0")]),
    "times one": ("bit-exact", [fill("1.0"), two("mul", "%x", "%0")], []),
    "over one": ("bit-exact", [fill("1.0"), two("div", "%x", "%0")], []),
    "less zero": ("bit-exact", [fill("0.0"), two("sub", "%x", "%0")], []),
    "twice negated": ("bit-exact", ["mlc.neg %x : (T) -> T", "mlc.neg %0 : (T) -> T"], []),
    "plus zero": ("value-changing", [fill("0.0"), two("add", "%x", "%0")], []),
    "less minus zero": ("value-changing", [fill("-0.0"), two("sub", "%x", "%0")], []),
    "other order": ("reassociating", [two("add"), two("add", "%0", "%z")],
                    [two("add", "%y", "%z"), two("add", "%x", "%0")]),
    "less itself": ("value-changing", [two("add"), two("sub", "%0", "%y")], []),
}
CLASSES = ["bit-exact", "reassociating", "value-changing"]


@pytest.mark.parametrize("name", LABELS)
def test_label(name, tools, tmp_path):
    kept, before, after = LABELS[name]
    file = tmp_path / "pair.mlir"
    file.write_text(pair(before, after))
    done = tools.run("mlc-verify", file, "--require=bit-exact")
    found = done.stdout.split("(")[1].split(",")[0]
    # What only adds a 0 is reassociating at best.
    assert found == kept or (kept == "value-changing" and found == "reassociating"), done.stdout
    assert done.returncode == (0 if found == "bit-exact" else 6), done.stderr
    if done.returncode:
        assert f"the proof is {found}, and --require=bit-exact asks for more" in done.stderr
    if name == "other order":
        assert tools.run("mlc-verify", file, "--require=reassociating").returncode == 0


@pytest.mark.parametrize("after,kept", [("not(x[k] < y[k])", "value-changing"), ("y[k] <= x[k]", "reassociating")])
def test_what_differs_for_nan_is_no_other_order(tools, tmp_path, after, kept):
    """x >= y is false where one of them is NaN, and not(x < y) true."""
    kind = "tensor<?xf32, #mlc.dims<[n]>>"

    def function(name, body):
        result = "tensor<?xi1, #mlc.dims<[n]>>"
        return (f'func.func @{name}(%x: {kind}, %y: {kind}) -> {result} {{\n  %r = mlc.compute %x, %y {{definition = "(x, y; n) Y[k] = {body}", '
                f'dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = i1}} : ({kind}, {kind}) -> {result}\n  return %r : {result}\n}}\n')
    file = tmp_path / "pair.mlir"
    file.write_text(function("before", "x[k] >= y[k]") + function("after", after))
    done = tools.run("mlc-verify", file, "--require=reassociating")
    assert done.returncode == (6 if kept == "value-changing" else 0), done.stdout + done.stderr


def test_elements_stand_alone(tools, tmp_path):
    """Where one element has no value, the others keep theirs."""
    file = tmp_path / "pair.mlir"
    file.write_text("""!t = tensor<?xf32, #mlc.dims<[n]>>
!o = tensor<1xf32>
func.func @before(%x: !t) -> !t {
  %0 = mlc.log %x : (!t) -> !t
  return %0 : !t
}
func.func @after(%x: !t) -> !t {
  %0 = mlc.log %x : (!t) -> !t
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (!t) -> !o
  %2 = mlc.broadcast %1 {dims = #mlc.dims<[n]>} : (!o) -> !t
  %3 = mlc.add %0, %2 : (!t, !t) -> !t
  %4 = mlc.sub %3, %2 : (!t, !t) -> !t
  return %4 : !t
}
""")
    done = tools.run("mlc-verify", file)
    assert done.returncode != 0 and not done.stdout.startswith("proved"), done.stdout


def test_fp(tools, tmp_path):
    """`--fp` takes the rules of a class: zeros that join groups let NaN of one reach another."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((64, 4, 1, 1)).astype(np.float32)}
    made = graphs.model([("Conv", ["x", "w"], ["y"], {"group": 16})],
                        [("x", [1, 64, 8, 8])], [("y", [1, 64, 8, 8])], weights)
    path = graphs.save(tmp_path / "m.onnx", made)
    steps = {}
    for mode in ("strict", "reassociate", "fast"):
        result = tmp_path / f"{mode}.onnx"
        done = tools.mlc("optimize", path, "-o", result, f"--fp={mode}")
        assert done.returncode == 0, done.stderr
        steps[mode] = trail_of(onnx.load(result))[0]["steps"]
        for kept in CLASSES[:2]:
            done = check(tools, path, result, f"--require={kept}")
            if mode == "strict" or (mode, kept) == ("reassociate", "reassociating"):
                assert done.returncode == 0, done.stderr
    assert not steps["strict"] and not steps["reassociate"], steps
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--fp=loose")
    assert done.returncode == 2, done.stderr
