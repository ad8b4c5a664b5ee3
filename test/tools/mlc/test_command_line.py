"""The command line's manners: help, wrong flags, exit codes, messages."""

import os
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

COMMANDS = ["bench", "calibrate", "check", "collective", "compare", "compile", "gradients", "inspect", "launch", "optimize",
            "plan", "run", "schedule", "simulate", "train"]

WRONG = [
    ([], "no command"),
    (["inspekt"], "unknown subcommand 'inspekt'; did you mean 'inspect'?"),
    (["--flag"], "unknown command line argument '--flag'"),
    (["inspect"], "no file"),
    (["inspect", "a", "b"], "too many positional arguments"),
    (["inspect", "--jsn", "a"], "unknown command line argument '--jsn'; did you mean '--json'?"),
    (["inspect", "--dim"], "--dim option: requires a value"),
    (["inspect", "a", "--dim=N"], "--dim N: expected NAME=N"),
    (["inspect", "a", "--dim=N=-1"], "--dim N=-1: expected NAME=N"),
    (["inspect", "a", "--dim=N=1", "--dim=N=2"], "two values"),
    (["inspect", "a", "--json=maybe"], "invalid value for boolean argument"),
    # Only what is near is suggested; values are listed.
    (["frobnicate"], "unknown subcommand 'frobnicate'; see --help"),
    (["optimise"], "unknown subcommand 'optimise'; did you mean 'optimize'?"),
    (["inspect", "--quantize", "a"], "unknown command line argument '--quantize'; see --help"),
    (["optimize", "a", "--search=best"], "--search=best: expected one of egraph, greedy, backtracking"),
    (["optimize", "a", "-o", "b", "--assume=n=any"], "--assume n=any: expected a number"),
]


@pytest.mark.parametrize("arguments, message", WRONG, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_wrong_command_lines(tools, arguments, message):
    done = tools.mlc(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert all(line.startswith("mlc: error: ") for line in done.stderr.splitlines())


def test_help_names_every_command(tools):
    done = tools.mlc("--help")
    assert done.returncode == 0
    assert re.findall(r"^  (\w+) +- ", done.stdout, re.M) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_our_options_alone(tools, command):
    done = tools.mlc(command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    options = re.findall(r"^  --([\w-]+)", done.stdout, re.M)
    foreign = [o for o in options if re.match(r"(mlir|x86|debug|print|pass|time|stats|load|color)(?!-limit|-plan)\b", o)]
    assert foreign == [] and len(options) < 80  # LLVM's are hundreds


def test_version(tools):
    assert re.fullmatch(r"mlc \d+\.\d+\.\d+.*\n", tools.mlc("--version").stdout)


@pytest.mark.parametrize("contents", [b"", b"x", b"\0" * 4096])
def test_not_an_artifact(tools, tmp_path, contents):
    path = tmp_path / "a.mlca"
    path.write_bytes(contents)
    done = tools.mlc("inspect", path)
    assert done.returncode == 3
    assert done.stderr.startswith(f"mlc: error: {path}: ") and ";" in done.stderr


@pytest.mark.parametrize("version, warned", [(3, False), (8, True)])
def test_inputs_with_values(tools, tmp_path, version, warned):
    """From IR version 4 on whoever runs the model may replace them; mlc takes them as constant and says so."""
    names = ["x", "w", "a", "b", "c"]
    proto = helper.make_model(
        helper.make_graph(
            [helper.make_node("Sum", names, ["y"])],
            "g",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in names],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
            [numpy_helper.from_array(np.ones(3, np.float32), name) for name in names[1:]],
        ),
        opset_imports=[helper.make_opsetid("", 8)],
        ir_version=version,
    )
    onnx.save(proto, tmp_path / "m.onnx")
    for command, output in (("compile", "m.mlca"), ("optimize", "o.onnx")):
        done = tools.mlc(command, tmp_path / "m.onnx", "-o", tmp_path / output)
        assert done.returncode == 0
        text = f"mlc: warning: {tmp_path / 'm.onnx'}: inputs 'w', 'a', 'b' and others have values in the file"
        assert done.stderr.startswith(text) if warned else not done.stderr


def test_check_tells_the_dims_that_stay_open(tools, tmp_path):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "m"]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    for flags, said in (([], "; open dims: n, m\n"), (["--dim=n=4"], "; open dims: m\n"),
                        (["--dim=n=any"], "; open dims: n, m\n"), (["--dim=n=4", "--dim=m=0"], "can be compiled\n")):
        done = tools.mlc("check", tmp_path / "m.onnx", *flags)
        assert done.returncode == 0 and done.stdout.endswith(said), (flags, done.stdout)


def relus(path, dims=(2, 3)):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)  # noqa: E731
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [value("x")], [value("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_files_of_another_kind(tools, tmp_path):
    model, artifact, weights = relus(tmp_path / "m.onnx"), tmp_path / "m.mlca", tmp_path / "w.safetensors"
    assert tools.mlc("compile", model, "-o", artifact).returncode == 0
    weights.write_bytes(len(b'{"a": 1}').to_bytes(8, "little") + b'{"a": 1}' + bytes(8))
    np.savez(tmp_path / "w.npz", a=np.ones(3))
    for command, file, said in (
            ("run", model, "is a model; compile it first"), ("inspect", model, "is a model; compile it first"),
            ("inspect", weights, "is a safetensors file, not an mlc artifact"),
            ("check", weights, "is a safetensors file, which has weights and no graph; export"),
            ("check", tmp_path / "w.npz", "is a zip archive, as PyTorch and NumPy write, not a model"),
            ("check", artifact, "is an artifact of mlc, compiled already; give the model")):
        done = tools.mlc(command, file)
        assert done.returncode == 3 and f"{file}: {said}" in done.stderr, done.stderr


def test_what_nobody_may_ever_write_to_is_not_read(tools, tmp_path):
    model = relus(tmp_path / "m.onnx")
    os.mkfifo(tmp_path / "fifo.json")
    fifo = tmp_path / "fifo.json"
    for arguments in (["check", fifo], ["compile", fifo, "-o", "x"], ["optimize", model, "-o", "x", "--target", fifo], ["optimize", model, "-o", "x", "--rules", fifo],
                      ["optimize", model, "-o", "x", "--timings", fifo], ["run", fifo]):
        done = tools.mlc(*arguments, timeout=60)
        assert done.returncode == 3 and "is not a regular file" in done.stderr, (arguments, done.stderr)
    for tool, *arguments in (["mlc-verify", fifo], ["mlc-rules", "verify", fifo], ["mlc-check", fifo, fifo]):
        done = tools.run(tool, *arguments, timeout=60)
        assert done.returncode == 3 and "is not a regular file" in done.stderr, (tool, done.stderr)
    # What the shell has opened is read.
    done = tools.mlc("check", "/dev/stdin", input=model.read_bytes(), text=False)
    assert done.returncode == 0, done.stderr


def test_deep_nesting_is_an_error(tools, tmp_path):
    model, deep = relus(tmp_path / "m.onnx"), tmp_path / "deep.json"
    deep.write_text("[" * 20000 + "]" * 20000)
    for flag in ("--target", "--timings", "--rules"):
        done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", flag, deep)
        assert done.returncode == 3 and "nested more than 1000 deep" in done.stderr, done.stderr
    text = tmp_path / "deep.mlir"
    for deep in ("module {" * 20000, "func.func @f() attributes {a = " + "[" * 20000, "#a = affine_map<(d) -> (" + "-" * 20000):
        text.write_text(deep)
        done = tools.run("mlc-verify", text)
        assert done.returncode == 3 and "nested more than 1000 deep" in done.stderr, done.stderr[-300:]


def test_nodes_that_cannot_be_compiled(tools, tmp_path):
    """Totals first, then for each operator and reason three nodes; no line twice."""
    nodes = [helper.make_node("NonZero", ["x"], [f"i{i}"], name=f"where_{i}") for i in range(7)]
    nodes += [helper.make_node("Det", ["x"], ["d"], name="det"), helper.make_node("Det", ["x"], ["e"], name="det")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 3])
    y = helper.make_tensor_value_info("d", TensorProto.FLOAT, ["batch"])
    graph = helper.make_graph(nodes, "g", [x], [y])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    listed = [
        "NonZero: the shape of its output depends on data, which is not supported; have the exporter give it a fixed "
        "size, or end the model before it",
        *[f"where_{i}: NonZero of opset 17 on (f32[batch, 3, 3])" for i in range(3)],
        "4 more like these; mlc check --json lists all",
        "Det: this operator is not supported; docs/OnnxOperators.md lists what can be compiled",
        "det: Det of opset 17 on (f32[batch, 3, 3])",
    ]
    total = f"{path}: 9 nodes cannot be compiled: 7 NonZero, 2 Det"
    done = tools.mlc("check", path)
    assert done.returncode == 4 and done.stdout.splitlines()[:7] == listed
    assert done.stderr == f"mlc: error: {total}\n"
    done = tools.mlc("compile", path, "-o", tmp_path / "m.mlca")
    assert done.returncode == 4
    assert done.stderr.splitlines()[:8] == [f"mlc: error: {line}" for line in [total, *(f"{path}: {line}" for line in listed)]]
    lines = done.stderr.splitlines()
    assert len(lines) == len(set(lines))


def test_predictions_take_sizes(tools, tmp_path):
    path = relus(tmp_path / "m.onnx", ["batch", "w"])
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--assume=batch=1")
    assert done.returncode == 0 and "(with batch = 1, w = 64)" in done.stdout
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--assume=n=1")
    assert done.returncode == 2 and "--assume n=1: the model has no open dim of this name; it has batch, w" in done.stderr


def test_the_last_of_a_flag_counts(tools, tmp_path):
    """Of one that takes one value, as docs/CommandLine.md says."""
    model = tmp_path / "m.onnx"
    onnx.save(helper.make_model(helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])), model)
    done = tools.mlc("compile", model, "--mesh=a=2", "--mesh=b=4", "--print-plan")
    assert done.returncode == 0 and '{"b": 4}' in done.stdout, done.stderr
