"""States of modules in several functions, compiled and run, beside NumPy: what a run leaves in them, whatever reads and
writes them in whatever order, and what several entries see of each other."""

import json
import re

import mlc
import numpy as np
import pytest

V = "tensor<40x48xf32>"


def state(name):
    return f'{{mlc.state = "{name}"}}'


def function(name, inputs, states, body, results):
    """A function over states of type V; `results` are (value, type, attributes)."""
    arguments = [f'%{i}: {t} {{mlc.name = "{i}"}}' for i, t in inputs.items()] + [f"%{s}: {V} {state(s)}" for s in states]
    types = ", ".join(f"{t} {a}" for _, t, a in results)
    return (f"func.func @{name}({', '.join(arguments)}) -> ({types}) {{\n  {body}\n  return "
            f"{', '.join(v for v, _, _ in results)} : {', '.join(t for _, t, _ in results)}\n}}\n")


def new(value, name):
    return value, V, state(name)


def out(value, name, type=V):
    return value, type, f'{{mlc.name = "{name}"}}'


def op(result, text, operands=2, to=V):
    name, *rest = text.split(" ", 1)
    return f"{result} = mlc.{name} {rest[0]} : ({', '.join([V] * operands)}) -> {to}\n  "


def compile(tools, folder, text, target="cpu"):
    """Through the phases, as far as they ask nothing of the model's origin."""
    (folder / "m.mlir").write_text(text)
    passes = [f"--mlc-assign-layout=target={target}", "--mlc-lower-to-linalg", f"--mlc-fuse=target={target}",
              f"--mlc-transform-constants=target={target}"]
    done = tools.run("mlc-opt", folder / "m.mlir", *passes, "-o", folder / "k.mlir")
    assert done.returncode == 0, done.stderr
    done = tools.run("mlc-translate", folder / "k.mlir", f"--target={target}", "-o", folder / "m.mlca")
    assert done.returncode == 0, done.stderr
    return mlc.load(folder / "m.mlca")


RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 48)).astype(np.float32)
A, B = (RNG.normal(size=(40, 48)).astype(np.float32) for _ in range(2))

# name: (states that are arguments, body, results, meaning: (x, a, b) -> (a, b, outputs), copies at the most)
CASES = {
    "plain update": (
        ["a"], op("%0", "add %a, %x"), [new("%0", "a")],
        lambda x, a, b: (a + x, b, {}), 0),
    "chain of updates": (
        ["a", "b"], op("%0", "mul %a, %b") + op("%1", "add %0, %x") + op("%2", "sub %b, %1"),
        [new("%1", "a"), new("%2", "b")],
        lambda x, a, b: (a * b + x, b - (a * b + x), {}), 1),
    "both of both": (
        ["a", "b"], op("%0", "add %a, %b") + op("%1", "sub %a, %b"), [new("%0", "a"), new("%1", "b")],
        lambda x, a, b: (a + b, a - b, {}), 1),
    "swap": (
        ["a", "b"], "", [new("%b", "a"), new("%a", "b")],
        lambda x, a, b: (b, a, {}), 3),
    "swap with outputs": (
        ["a", "b"], op("%0", "add %a, %x"), [new("%b", "a"), new("%0", "b"), out("%a", "old"), out("%0", "new")],
        lambda x, a, b: (b, a + x, {"old": a, "new": a + x}), 4),
    "read after the update": (
        ["a", "b"], op("%0", "add %a, %x") + op("%1", "reverse %a {axes = array<i64: 0>}", 1) + op("%2", "add %1, %0"),
        [new("%0", "a"), new("%2", "b")],
        lambda x, a, b: (a + x, a[::-1] + a + x, {}), 1),
    "reversed": (
        ["a"], op("%0", "reverse %a {axes = array<i64: 1>}", 1), [new("%0", "a")],
        lambda x, a, b: (a[:, ::-1], b, {}), 1),
    "reversed and updated in one kernel": (
        ["a"], op("%0", "reverse %a {axes = array<i64: 1>}", 1) + op("%1", "add %0, %a"), [new("%1", "a")],
        lambda x, a, b: (a[:, ::-1] + a, b, {}), 1),
    "rolled": (
        ["a"],
        op("%0", "slice %a {starts = #mlc.dims<[1, 0]>, sizes = #mlc.dims<[39, 48]>, steps = #mlc.dims<[1, 1]>}", 1,
           "tensor<39x48xf32>")
        + op("%1", "slice %a {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[1, 48]>, steps = #mlc.dims<[1, 1]>}", 1,
             "tensor<1x48xf32>")
        + f"%2 = mlc.concat %0, %1 {{axis = 0 : i64}} : (tensor<39x48xf32>, tensor<1x48xf32>) -> {V}\n",
        [new("%2", "a")],
        lambda x, a, b: (np.roll(a, -1, 0), b, {}), 1),
    "reshaped": (
        ["a"],
        op("%0", "reshape %a {dims = #mlc.dims<[48, 40]>}", 1, "tensor<48x40xf32>")
        + "%1 = mlc.relu %0 : (tensor<48x40xf32>) -> tensor<48x40xf32>\n  "
        + f"%2 = mlc.reshape %1 {{dims = #mlc.dims<[40, 48]>}} : (tensor<48x40xf32>) -> {V}\n",
        [new("%2", "a")],
        lambda x, a, b: (np.maximum(a, 0), b, {}), 0),
    "rows of another": (
        ["a", "b"], op("%0", "softmax %a {axis = 1 : i64}", 1) + op("%1", "add %b, %0"),
        [new("%0", "a"), new("%1", "b"), out("%a", "old")],
        lambda x, a, b: (softmax(a), b + softmax(a), {"old": a}), 3),
    "product of itself": (
        ["a"],
        op("%0", "transpose %a {permutation = array<i64: 1, 0>}", 1, "tensor<48x40xf32>")
        + f"%1 = mlc.matmul %a, %0 : ({V}, tensor<48x40xf32>) -> tensor<40x40xf32>\n  "
        + f"%2 = mlc.matmul %1, %a : (tensor<40x40xf32>, {V}) -> {V}\n  " + op("%3", "add %2, %a"),
        [new("%3", "a")],
        lambda x, a, b: (a @ a.T @ a + a, b, {}), 1),
    "unchanged and set": (
        ["a", "b"], "", [new("%a", "a"), new("%x", "b"), out("%b", "old")],
        lambda x, a, b: (a, x, {"old": b}), 3),
    "written without a look": (
        [], op("%0", "add %x, %x"), [new("%0", "b"), out("%0", "y")],
        lambda x, a, b: (a, x + x, {"y": x + x}), 0),
    "one value for two": (
        ["a", "b"], op("%0", "add %a, %b"), [new("%0", "a"), new("%0", "b")],
        lambda x, a, b: (a + b, a + b, {}), 1),
}


def softmax(a):
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def module(case):
    """The case, and an entry that names both states."""
    states, body, results, _, _ = CASES[case]
    return (function("main", {"x": V}, states, body, results)
            + function("look", {}, ["a", "b"], "", [out("%a", "a"), out("%b", "b")]))


def check_case(session, case, tolerance=2e-4):
    _, _, results, meaning, _ = CASES[case]
    look = session.entry("look")
    a, b = A, B
    session.set_state("a", a)
    session.set_state("b", b)
    allocations = None
    x = np.empty_like(X)  # at one address: whether it is used in place does not change
    for turn in range(3):
        x[:] = X * (turn + 1)
        got = session.run({"x": x})
        a, b, outputs = meaning(x, a, b)
        assert got.keys() == outputs.keys()
        for name, value in [*outputs.items(), ("a", a), ("b", b)]:
            have = got[name] if name in outputs else session.state(name)
            np.testing.assert_allclose(have, value, rtol=tolerance, atol=tolerance * abs(value).max(), err_msg=f"{name}, {turn}")
        seen = look.run({})
        assert (seen["a"] == session.state("a")).all() and (seen["b"] == session.state("b")).all()
        a, b = seen["a"], seen["b"]  # roundings do not add up
        if turn == 1:
            allocations = session.allocations
    assert session.allocations == allocations


@pytest.mark.parametrize("case", CASES)
def test_a_run_leaves_the_new_values(tools, tmp_path, case):
    model = compile(tools, tmp_path, module(case))
    assert model.entries == ("main", "look") and {s.name for s in model.states} == {"a", "b"}
    check_case(model.session(threads=2), case)
    copies = sum(kind == "assign" for _, kind in model.steps)
    assert copies <= CASES[case][4], model.steps


@pytest.mark.parametrize("case", ["plain update", "chain of updates", "both of both", "swap with outputs", "reversed",
                                  "rolled", "rows of another", "product of itself"])
def test_on_the_emulated_gpu(tools, tmp_path, case):
    model = compile(tools, tmp_path, module(case), "cuda:sm_80")
    check_case(model.session(device="emulator"), case, 2e-3)  # products in TF32


def test_open_dims_beside_states(tools, tmp_path):
    rows = "tensor<?x48xf32, #mlc.dims<[N, 48]>>"
    text = f"""
func.func @main(%x: {rows} {{mlc.name = "x"}}, %s: tensor<1x48xf32> {{mlc.state = "s", mlc.initial = dense<1.0> : tensor<1x48xf32>}})
    -> ({rows} {{mlc.name = "y"}}, tensor<1x48xf32> {{mlc.state = "s"}}) {{
  %b = mlc.broadcast %s {{dims = #mlc.dims<[N, 48]>}} : (tensor<1x48xf32>) -> {rows}
  %0 = mlc.add %x, %b : ({rows}, {rows}) -> {rows}
  %1 = mlc.reduce %0 {{axes = array<i64: 0>, kind = "sum"}} : ({rows}) -> tensor<1x48xf32>
  return %0, %1 : {rows}, tensor<1x48xf32>
}}
"""
    model = compile(tools, tmp_path, text)
    session, s = model.session(), np.ones((1, 48), np.float32)
    for n in (3, 1, 7, 3):
        x = RNG.normal(size=(n, 48)).astype(np.float32)
        np.testing.assert_allclose(session.run({"x": x})["y"], x + s, rtol=1e-5, atol=1e-5)
        s = (x + s).sum(0, keepdims=True)
        np.testing.assert_allclose(session.state("s"), s, rtol=1e-4, atol=1e-4)
    session.reset_states()
    assert (session.state("s") == 1).all()


def test_entries_share_kernels_and_constants(tools, tmp_path):
    row = "[" + ", ".join(f"{i}.0" for i in range(48)) + "]"
    weights = "dense<[" + ", ".join([row] * 40) + f"]> : {V}"
    body = f"%w = mlc.constant {weights}\n  %0 = mlc.add %a, %w : ({V}, {V}) -> {V}\n"
    one = function("main", {}, ["a"], body, [new("%0", "a")])
    sizes = []
    for count in (1, 2):
        text = one + "".join(one.replace("@main", f"@other{i}") for i in range(count - 1))
        model = compile(tools, tmp_path, text)
        assert len(model.entries) == count
        images = (tmp_path / "k.mlir").read_text()
        assert images.count("func.func private @k") == 1
        sizes.append((tmp_path / "m.mlca").stat().st_size)
    assert sizes[1] - sizes[0] < 4096


@pytest.mark.parametrize("text, message", [
    (f'func.func @main(%x: tensor<?xf32, #mlc.dims<[N]>> {{mlc.state = "s"}}) -> () {{ return }}', "needs a name and fixed dims"),
    (f'func.func @main(%x: {V} {state("s")}, %y: {V}) -> () {{ return }}', "stands behind a parameter or a state"),
    (f'func.func @main(%x: {V} {state("s")}, %y: {V} {state("s")}) -> () {{ return }}', "two arguments are the state 's'"),
    (f'func.func @main(%x: {V}) -> ({V} {state("s")}, {V} {state("s")}) {{ return %x, %x : {V}, {V} }}',
     "two results are the state 's'"),
    (f'func.func @main(%x: {V} {{mlc.state = "s", mlc.initial = dense<0.0> : tensor<3xf32>}}) -> () {{ return }}',
     "must hold the elements of a"),
])
def test_wrong_states(tools, tmp_path, text, message):
    done = tools.run("mlc-opt", "--mlc-lower-to-linalg", "--mlc-fuse", "-", input=text)
    assert done.returncode == 1 and message in done.stderr, done.stderr


@pytest.mark.parametrize("other, message", [
    (f'tensor<7xf32> {state("s")}', "has another type in another program"),
    (f'{V} {{mlc.state = "s", mlc.initial = dense<2.0> : {V}}}', "has another value in another program"),
])
def test_states_that_differ_between_programs(tools, tmp_path, other, message):
    text = (f'func.func @main(%s: {V} {{mlc.state = "s", mlc.initial = dense<1.0> : {V}}}) -> () {{ return }}\n'
            f"func.func @other(%s: {other}) -> () {{ return }}\n")
    (tmp_path / "m.mlir").write_text(text)
    done = tools.run("mlc-opt", "--mlc-lower-to-linalg", "--mlc-fuse", tmp_path / "m.mlir", "-o", tmp_path / "k.mlir")
    assert done.returncode == 0, done.stderr
    done = tools.run("mlc-translate", tmp_path / "k.mlir", "-o", tmp_path / "m.mlca")
    assert done.returncode != 0 and message in done.stderr, done.stderr


def test_inspect_lists_entries_and_states(tools, tmp_path):
    compile(tools, tmp_path, module("chain of updates"))
    text = tools.mlc("inspect", tmp_path / "m.mlca").stdout
    assert re.search(r"entry main:\ninputs:\n  x  f32\[40, 48\]\noutputs:\nstates:\n  a  f32\[40, 48\]\n  b  f32\[40, 48\]\n", text)
    assert re.search(r"entry look:\ninputs:\noutputs:\n  a  f32\[40, 48\]\n  b  f32\[40, 48\]\nsteps \(0\):\n", text)
    all = json.loads(tools.mlc("inspect", "--json", tmp_path / "m.mlca").stdout)
    assert [state["name"] for state in all["states"]] == ["a", "b"]
    assert [(entry["name"], len(entry["inputs"]), len(entry["outputs"])) for entry in all["entries"]] == [
        ("main", 1, 0), ("look", 0, 2)]
    # An artifact without them looks as it did.
    plain = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}\n"
    compile(tools, tmp_path, plain)
    assert not {"states", "entries"} & json.loads(tools.mlc("inspect", "--json", tmp_path / "m.mlca").stdout).keys()


def test_states_by_python(tools, tmp_path):
    model = compile(tools, tmp_path, module("plain update"))
    session = model.session()
    with pytest.raises(mlc.UsageError, match="state 'a' has no value yet; set or load it"):
        session.run({"x": X})
    with pytest.raises(mlc.UsageError, match="there is no state 'c'; the model has a, b"):
        session.set_state("c", A)
    with pytest.raises(mlc.UsageError, match="state 'a' is float64"):
        session.set_state("a", A.astype(np.float64))
    with pytest.raises(mlc.UsageError, match="dim 0 is 39, the model needs 40"):
        session.set_state("a", A[1:])
    with pytest.raises(mlc.UsageError, match="there is no entry 'other'; the model has main, look"):
        session.entry("other")
    session.set_state("a", A)
    session.set_state("b", B)
    path = tmp_path / "states.npz"
    session.save_states(path)
    with np.load(path) as file:
        assert (file["a"] == A).all() and (file["b"] == B).all()
    session.run({"x": X})
    assert (session.state("a") == A + X).all()
    np.savez(tmp_path / "part.npz", a=B)
    with pytest.raises(mlc.BadFileError, match="has no array 'b'"):
        session.load_states(tmp_path / "part.npz")
    assert (session.state("a") == A + X).all()
    np.savez_compressed(tmp_path / "both.npz", a=B, b=A, more=X)
    session.load_states(tmp_path / "both.npz")
    assert (session.state("a") == B).all() and (session.state("b") == A).all()
    session.reset_states()
    with pytest.raises(mlc.UsageError, match="has no value"):
        session.state("a")
    # An entry is a model: it can be run, saved and opened by itself, and outlives what it came from.
    entry = model.entry("look")
    entry.save(tmp_path / "copy.mlca")
    del model, session
    again = mlc.load(tmp_path / "copy.mlca").entry("look")
    assert [port.name for port in again.outputs] == ["a", "b"] and again.entries == entry.entries == ("main", "look")
