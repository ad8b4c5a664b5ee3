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

import graphs
from trails import check, trail_of, with_trail

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "experiments"))
import models  # noqa: E402


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
    assert tools.mlc("optimize", path, "-o", result).returncode == 0
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


BIG = 2147483646  # the greatest number of a term
TRAILS = {
    "hash": (edit_step(hash="0" * 32), "step 1"),
    "no such rule": (edit_step(rule="miracle"), "step 1"),
    "another rule": (edit_step(rule="relu_of_relu"), "step 1"),
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


def rename_output(model):
    model.graph.output[0].name = "other"
    model.graph.node[-1].output[0] = "other"


def two_trails(model):
    model.metadata_props.add(key="mlc.trail", value="[]")


COMPUTED = "output 'y' is computed in another way"
GRAPHS = {
    "weight": (flip_weight, COMPUTED),
    "dims of a weight": (reshape_weight, "cannot be imported"),
    "weight missing": (lambda m: m.graph.initializer.pop(), "cannot be imported"),
    "operator": (lambda m: setattr(node(m, "Relu"), "op_type", "Sigmoid"), COMPUTED),
    "domain": (lambda m: setattr(node(m, "Relu"), "domain", "elsewhere"), "cannot be imported"),
    "attribute": (set_attribute, COMPUTED),
    "operand": (lambda m: node(m, "Relu").input.__setitem__(0, m.graph.input[0].name), "o.onnx: "),
    "node missing": (lambda m: m.graph.node.pop(), "cannot be imported"),
    "output": (rename_output, "output 0 is called 'other' instead of 'y'"),
    "type of input": (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 10), "o.onnx: "),
    "dim of input": (lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_value", 2), "input 'x' is a"),
    "opset": (lambda m: setattr(m.opset_import[0], "version", 99), "o.onnx: "),
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
    # Nor does it matter what nobody reads, and what is said beside the graph.
    text.graph.node.add(op_type="Relu", input=[model.graph.input[0].name], output=["more"])
    text.doc_string = text.producer_name = "other"
    ports = {port.name for port in [*text.graph.input, *text.graph.output]}
    for n in text.graph.node:
        n.name = "node of " + n.name
        for names in (n.input, n.output):
            for i, name in enumerate(names):
                names[i] = name if name in ports else "inner" + name
    for tensor in text.graph.initializer:
        tensor.name = "inner" + tensor.name
    assert check(tools, path, graphs.save(tmp_path / "o.onnx", text)).returncode == 0


def test_another_model(optimized, tools, tmp_path):
    other = graphs.save(tmp_path / "other.onnx", graphs.small_network(seed=1))
    done = check(tools, other, graphs.save(tmp_path / "o.onnx", optimized[1]))
    assert done.returncode == 5 and COMPUTED in done.stderr


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
        (path, plain, "no trail"), (path, tmp_path / "missing.onnx", "cannot read"),
        (path, damaged, "damaged"), (damaged, result, "damaged.onnx"),
        (path, graphs.save(tmp_path / "twice.onnx", twice), "two trails"),
    ]:
        done = check(tools, left, right)
        assert done.returncode == 3 and text in done.stderr, done.stderr
    done = check(tools, path, result, "--rules", tmp_path / "missing.mlir")
    assert done.returncode == 3 and "missing.mlir" in done.stderr
    for arguments in ([path], [path, result, "--dim=x"], [path, result, "--function=f"]):
        assert tools.run("mlc-verify", "--trail", *arguments).returncode == 2


# What is written as it came


def test_nothing_to_do(tools, tmp_path):
    """Nodes, names, attributes, opset and comments stay."""
    made = graphs.model(
        [("Clip", ["x"], ["c"], {"min": -1.0, "max": 2.0}), ("Dropout", ["c"], ["y"], {"ratio": 0.25})],
        [("x", ["N", 8])], [("y", ["N", 8])], opset=9)
    made.ir_version = 6
    made.graph.node[0].doc_string = "of a node"
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    done = tools.mlc("optimize", path, "-o", result)
    assert done.returncode == 0 and not done.stderr, done.stderr
    written = onnx.load(result)
    assert check(tools, path, result).returncode == 0
    del written.metadata_props[:]
    assert written == made


def test_many_bools(tools, tmp_path):
    """Folded constants of many bools are data like others."""
    mask = np.random.default_rng(1).integers(0, 2, (40, 50)).astype(bool)
    made = graphs.model([("Not", ["m"], ["y"], {}), ("Relu", ["x"], ["r"], {}), ("Relu", ["r"], ["z"], {})],
                        [("x", [8])], [("y", [40, 50], 9), ("z", [8])], {"m": mask})
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    done = tools.mlc("optimize", path, "-o", result)
    assert done.returncode == 0 and not done.stderr, done.stderr
    written = onnx.load(result)
    assert len(trail_of(written)[0]["steps"]) == 1 and check(tools, path, result).returncode == 0
    data = next(t for t in written.graph.initializer if list(t.dims) == [40, 50])
    assert (onnx.numpy_helper.to_array(data) == ~mask).all()
    data.raw_data = data.raw_data[:-1] + bytes([1 - data.raw_data[-1]])
    assert check(tools, path, graphs.save(result, written)).returncode == 5


def test_open_dims_that_decide(tools, tmp_path):
    """x[N - K:] counts from the end where N < K: mlc's graph has one meaning only, which artifacts
    check; what other runtimes are given keeps both, so no rule is in it."""
    made = graphs.model(
        [("Relu", ["x"], ["r"], {}), ("Relu", ["r"], ["s"], {}), ("Shape", ["w"], ["n"], {}), ("Shape", ["v"], ["k"], {}),
         ("Sub", ["n", "k"], ["from"], {}), ("Slice", ["s", "from", "end"], ["y"], {})],
        [("x", [8]), ("w", ["N"]), ("v", ["K"])], [("y", ["M"])], {"end": np.int64([8])})
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    done = tools.mlc("optimize", path, "-o", result)
    assert done.returncode == 0 and "is written as it came" in done.stderr and "slice's bound" in done.stderr
    assert check(tools, path, result).returncode == 0
    written = onnx.load(result)
    assert trail_of(written)[0]["steps"] == [] and list(written.graph.node) == list(made.graph.node)
    # Nor does the checker take a rewritten one.
    del written.graph.node[1]
    written.graph.node[-1].input[0] = "r"
    done = check(tools, path, graphs.save(result, written))
    assert done.returncode == 5, done.stdout
    # With both fixed there is one meaning.
    fixed = ["--dim=N=5", "--dim=K=3"]
    done = tools.mlc("optimize", path, "-o", result, *fixed)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert len(trail_of(onnx.load(result))[0]["steps"]) == 1
    assert check(tools, path, result, *fixed).returncode == 0


# What the checker is made of


def test_independence():
    """Small, and without the engines that write trails and the exporter."""
    patterns = ("rewrites/ProofLog/*", "tools/mlc-verify/TrailCommand*", "passes/Import/GraphEquality*",
                "passes/Import/ForExport*")
    files = [p for pattern in patterns for p in ROOT.glob(pattern) if p.suffix in (".cpp", ".h")]
    text = "".join(p.read_text() for p in files)
    assert len(files) == 14 and text.count("\n") < 2350
    engines = r'"(rewrites/(EGraph|Extract|Search|Cost|Rules/(Match|Equations))|passes/Export)'
    assert not re.search(rf"#include {engines}", text)
