"""The pages on how to extend mlc, followed literally: their blocks go where the
pages say, and what comes out does what they say."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import follow  # noqa: E402


@pytest.fixture(scope="module")
def operator(tools, tmp_path_factory):
    """Programs with the operator of the page."""
    followed = follow.Followed("docs/AddAnOp.md", tools.build, tmp_path_factory.mktemp("asinh"))
    followed.make("bin/mlc", "bin/mlc-eval", "bin/mlc-opt", "bin/coverage-tests")
    return followed


def run(*command, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_blocks_are_formatted(operator):
    files = [path for path in operator.changed if path.startswith(str(operator.tree)) and path.endswith((".h", ".cpp"))]
    assert len(files) == 3
    run("clang-format-22", "--dry-run", "-Werror", *files)


def test_the_operator_answers_every_question(operator):
    run(operator.build / "bin/coverage-tests")


def test_an_operator_is_four_files(operator):
    """Besides its tests, and the table of reference functions that measures its error."""
    files = {path.removeprefix(str(operator.tree)).lstrip("/") for path in operator.changed
             if path.startswith(str(operator.tree))}
    assert len({file for file in files if not file.startswith(("test/", "tools/bench/")) and "/" in file}) == 4, files


def test_the_operators_values(operator):
    told = run(sys.executable, "-m", "pytest", "-q", "-c", operator.tree / "test/pytest.ini", "--rootdir", operator.tree,
               "-k", "asinh", operator.tree / "test/coverage/test_evaluator.py", MLC_BUILD=str(operator.build))
    assert "2 passed" in told


def test_the_operators_code(operator):
    """Compiled for this machine, over all magnitudes in float32 and all numbers of
    the small types."""
    told = run(sys.executable, operator.tree / "tools/bench/functions.py", "--build", operator.build, "--only", "Asinh",
               "--inputs", 200000)
    worst = [float(line.split()[3]) for line in told.splitlines() if " float32 " in line]
    assert worst and max(worst) <= 3  # as the page says
    text = run(operator.build / "bin/mlc-opt", "--mlc-lower-to-linalg", operator.tree / "asinh.mlir")
    assert "linalg.generic" in text and "math.log" in text


def test_the_formula_that_first_comes_to_mind():
    """What the page says of it, in float32."""
    with np.errstate(all="ignore"):
        x = np.float32([-1e4, 2e19, 9e-9])
        assert np.log(x + np.sqrt(x * x + np.float32(1))).tolist() == [-np.inf, np.inf, 0]


PLACED = "In `a.txt`, {}:\n\n```text\nnew\n```\n"


@pytest.mark.parametrize("place,text", [
    ("after the line that begins `one`", "one\nnew\n  two\ntwo too\n"),
    ("before the line that begins `two too`", "one\n  two\nnew\ntwo too\n"),
    ("at the end", "one\n  two\ntwo too\nnew\n"),
])
def test_places(tmp_path, place, text):
    (tmp_path / "a.txt").write_text("one\n  two\ntwo too\n")
    (block,) = follow.blocks(PLACED.format(place))
    follow.put(tmp_path, block)
    assert (tmp_path / "a.txt").read_text() == text


@pytest.mark.parametrize("line,said", [("three", "0 lines begin with 'three'"), ("two", "2 lines begin with 'two'")])
def test_places_that_are_not_one(tmp_path, line, said):
    (tmp_path / "a.txt").write_text("one\n  two\ntwo too\n")
    (block,) = follow.blocks(PLACED.format(f"after the line that begins `{line}`"))
    with pytest.raises(LookupError, match=said):
        follow.put(tmp_path, block)


def test_the_rule_is_proved_and_its_near_miss_refuted(tools, tmp_path):
    (block,) = follow.blocks((tools.source / "docs/AddARewrite.md").read_text())
    rules = tmp_path / block["file"]
    rules.parent.mkdir()
    rules.write_text((tools.source / block["file"]).read_text())
    follow.put(tmp_path, block)
    done = tools.run("mlc-rules", "verify", rules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("slice_inside_border ")] == ["proved"]
    rules.write_text(re.sub("  rule.require .*\n", "", block["text"]))
    done = tools.run("mlc-rules", "verify", rules)
    assert done.returncode == 5 and "refuted" in done.stdout, done.stdout + done.stderr
