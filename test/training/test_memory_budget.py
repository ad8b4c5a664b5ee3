"""Memory budgets: gradients and weights keep their bits, and memory is what was planned."""

import json
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import trained


def read(file):
    with np.load(file) as arrays:
        return {name: arrays[name].tobytes() for name in arrays.files}


def bound_of(tools, *command):
    """What the error for a budget of one byte states."""
    done = tools.mlc(*command, "--memory-budget=1")
    assert done.returncode == 9, done.stderr
    return int(re.search(r"a memory budget of 1 bytes .* is below what any order of the steps needs, (\d+) bytes",
                         done.stderr)[1])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["depthwise", "unet", "gpt"])
def test_gradients_keep_their_bits(tools, tmp_path, name):
    arguments = trained.write(tmp_path, name)
    done = tools.mlc("gradients", *arguments, "--json", f"--output-npz={tmp_path / 'plain.npz'}")
    assert done.returncode == 0, done.stderr
    plain, want = json.loads(done.stdout), read(tmp_path / "plain.npz")
    assert "memory" not in plain
    full, bound = plain["arena_bytes"], bound_of(tools, "gradients", *arguments)
    found = 0
    for budget in (full, full - 64, bound + (full - bound) // 2):
        done = tools.mlc("gradients", *arguments, "--json", f"--memory-budget={budget}",
                         f"--output-npz={tmp_path / 'got.npz'}")
        if done.returncode:
            # Between the bound and what can be found.
            assert done.returncode == 9 and budget < full, done.stderr
            assert re.search(rf"a memory budget of {budget} bytes .* is too small: the least that was found is \d+ "
                             rf"bytes .*, and no order of the steps needs less than {bound} bytes", done.stderr)
            continue
        report, got = json.loads(done.stdout), read(tmp_path / "got.npz")
        memory = report["memory"]
        assert got == want
        assert memory["planned_bytes"] == report["arena_bytes"] <= budget
        assert (memory["without_budget_bytes"], memory["bound_bytes"]) == (full, bound)
        assert (memory["repeated_steps"] > 0) == (memory["planned_bytes"] < full) == (budget < full)
        found += budget < full
    assert found > 0


def test_training_keeps_its_bits(tools, tmp_path):
    model, inputs, flags = trained.build("gpt")
    onnx.save(model, tmp_path / "model.onnx")
    np.savez(tmp_path / "data.npz", **trained.samples(inputs))
    command = ["train", tmp_path / "model.onnx", *flags, f"--data={tmp_path / 'data.npz'}", "--steps=3",
               "--optimizer=adamw"]
    full, checkpoints = 0, []
    for budget in (1 << 30, None):
        budget, out = budget or full * 3 // 4, tmp_path / f"{bool(budget)}.npz"
        done = tools.mlc(*command, f"--checkpoint={out}", f"--memory-budget={budget}")
        assert done.returncode == 0, done.stderr
        planned, full, repeated = map(int, re.search(
            rf"^memory: (\d+) bytes planned, budget {budget}, (\d+) without it; (\d+) launches run again", done.stdout,
            re.M).groups())
        allocated = int(re.search(r"^memory: (\d+) bytes allocated$", done.stdout, re.M)[1])
        assert planned == allocated <= budget and (repeated > 0) == (planned < full) == (budget < full)
        checkpoints.append(read(out))
    assert checkpoints[0] == checkpoints[1]


def chain(folder, dim=64):
    """Products of which the first are read again at the end."""
    nodes = [helper.make_node("MatMul", inputs, [output], name=output) for output, inputs in (
        ("a", ["x", "w"]), ("b", ["a", "w"]), ("c", ["b", "w"]), ("d", ["c", "w"]), ("e", ["d", "b"]), ("y", ["e", "a"]))]
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [dim, dim]) for name in "xwy"]
    graph = helper.make_graph(nodes, "chain", tensors[:2], tensors[2:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def test_artifacts_say_what_they_take(tools, tmp_path):
    model, artifact = chain(tmp_path), tmp_path / "m.mlca"
    done = tools.mlc("compile", model, "-o", artifact, "--memory-budget=48KiB", "--explain")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^memory: 49152 bytes planned, budget 49152, 65536 without it; 1 launches run again, "
                     r"\d+\.\d % more time predicted$", done.stdout, re.M), done.stdout
    told = json.loads(tools.mlc("inspect", artifact, "--json").stdout)
    manifest = told["manifest"]
    assert told["arena_bytes"] == manifest["memory_planned"] == manifest["memory_budget"] == 49152
    assert (manifest["memory_without_budget"], manifest["repeated_steps"], len(told["steps"])) == (65536, 1, 7)
    assert 0 < manifest["predicted_extra_time"] < 0.5
    assert "--memory-budget=49152" in manifest["flags"]
    assert "memory_planned: 49152" in tools.mlc("inspect", artifact).stdout
    other = tmp_path / "n.mlca"
    assert tools.mlc("compile", model, "-o", other, "--memory-budget=49152").returncode == 0
    assert other.read_bytes() == artifact.read_bytes()


@pytest.mark.parametrize("text", ["", "0", "-5", "1.5XB", "GiB", "1e400GB", "99999999TiB", "0x10", "1 GiB", "nan", "0.5"])
def test_what_is_no_budget(tools, tmp_path, text):
    done = tools.mlc("compile", chain(tmp_path), "-o", tmp_path / "m.mlca", f"--memory-budget={text}")
    assert done.returncode == 2 and done.stderr == (
        f"mlc: error: --memory-budget={text}: expected a positive number of bytes, as 1500000, 1.5GB or 1.5GiB\n")
    assert not (tmp_path / "m.mlca").exists()


@pytest.mark.parametrize("text", ["65536", "65536B", "64KiB", "0.0625MiB", "70kB", "0.07MB", "1GB", "1.5GiB", "1TiB"])
def test_budgets_have_units(tools, tmp_path, text):
    done = tools.mlc("compile", chain(tmp_path), "-o", tmp_path / "m.mlca", f"--memory-budget={text}")
    assert done.returncode == 0, done.stderr
    told = json.loads(tools.mlc("inspect", tmp_path / "m.mlca", "--json").stdout)
    assert (told["arena_bytes"], told["manifest"]["repeated_steps"]) == (65536, 0)


def test_open_dims_are_named(tools, tmp_path):
    model, artifact = chain(tmp_path, "N"), tmp_path / "m.mlca"
    done = tools.mlc("compile", model, "-o", artifact, "--memory-budget=48KiB")
    assert done.returncode == 9 and not artifact.exists()
    assert "memory can be limited only where all sizes are fixed, and the dim N is open; give --dim N=SIZE" in done.stderr
    done = tools.mlc("compile", model, "-o", artifact, "--memory-budget=48KiB", "--dim=N=64")
    assert done.returncode == 0, done.stderr


def test_phases_know_no_budget(tools, tmp_path):
    done = tools.mlc("compile", chain(tmp_path), "--compile-to=fuse", "--memory-budget=48KiB")
    assert done.returncode == 2 and "--memory-budget and --compile-to exclude each other" in done.stderr
