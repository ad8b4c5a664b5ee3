"""The command line's manners: help, wrong flags, exit codes, messages."""

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

COMMANDS = ["bench", "calibrate", "check", "collective", "compare", "compile", "gradients", "inspect", "launch", "optimize",
            "run", "train"]

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
    foreign = [o for o in options if re.match(r"(mlir|x86|debug|print|pass|time|stats|load|color)(?!-limit)\b", o)]
    assert foreign == [] and len(options) < 60


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
