"""mlc-rules audit answers the literature's rules rightly, says why, and survives bad input."""

import json
import re

import pytest

KEYS = {"name", "text", "before", "after", "condition", "verdict", "seconds", "source", "expect"}


@pytest.fixture(scope="module")
def answers(tools):
    done = tools.run("mlc-rules", "audit", tools.source / "test/rules/literature.mlir", "--json")
    assert done.returncode == 5 and done.stderr == ""
    return json.loads(done.stdout)


def test_every_answer_is_right(answers):
    assert len(answers) >= 60
    assert sum(a["expect"] == "refuted" for a in answers) >= 20
    assert [(a["name"], a["verdict"]) for a in answers if a["verdict"] != a["expect"]] == []


def test_conditions_are_found(answers):
    """The known traps are recovered, with the condition that repairs each rule."""
    wanted = [a for a in answers if "holds" in a]
    assert len(wanted) >= 20
    other = [(a["name"], a["holds"], a["holds_if"]) for a in wanted if a["holds"] != a["holds_if"]]
    # Under the expected condition the kernel has no proof: a window of one in the border is a maximum within a mean.
    assert other == [("avg_pool_of_relu", "k == 1", "%x is all-equal or %x is non-negative")]


def test_answers_are_whole(answers):
    for answer in answers:
        assert KEYS <= answer.keys(), answer["name"]
        if answer["verdict"] == "proved":
            assert answer["float_class"] in ("bit-exact", "reassociating", "value-changing")
        else:
            assert "before" in answer["counterexample"] and "holds_if" in answer


def test_counterexamples_are_small(answers):
    """No size is above 4: what is shown can be followed by hand."""
    for answer in answers:
        for name, value in re.findall(r"^  (\w+) = (\d+)$", answer.get("counterexample", ""), re.M):
            assert int(value) <= 4, (answer["name"], name, value)


PAIR = """
!t = tensor<?xf32, #mlc.dims<[n]>>
func.func @{name}_before(%x: !t) -> !t attributes {{mlc.assume = ["{assume}"]}} {{
  %0 = mlc.fill {{dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32}} : () -> !t
  %1 = mlc.mul %x, %0 : (!t, !t) -> !t
  %2 = mlc.relu %1 : (!t) -> !t
  return %2 : !t
}}
func.func @{name}_after(%x: !t) -> !t {{
  %0 = mlc.fill {{dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32}} : () -> !t
  %1 = mlc.relu %x : (!t) -> !t
  %2 = mlc.mul %1, %0 : (!t, !t) -> !t
  return %2 : !t
}}
"""


def test_pairs_of_functions(tools, tmp_path):
    file = tmp_path / "pairs.mlir"
    file.write_text(PAIR.format(name="scaled", assume="real t > 0.0"))
    done = tools.run("mlc-rules", "audit", file, "--json")
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)
    assert (answer["name"], answer["verdict"], answer["condition"]) == ("scaled", "proved", "t > 0")
    file.write_text(PAIR.format(name="scaled", assume="n >= 0"))
    done = tools.run("mlc-rules", "audit", file)
    assert done.returncode == 5
    assert "holds only if t >= 0" in done.stdout and "0 before, -1 after" in done.stdout


@pytest.mark.parametrize("text, what", [
    ("", "no rules"),
    ("nonsense", "1:1: "),
    (PAIR.format(name="scaled", assume="n ~ 0"), "scaled: 'n ~ 0' must compare"),
    ("func.func @alone_before() { return }", "expected a rule.def"),
])
def test_bad_files_are_named(tools, tmp_path, text, what):
    file = tmp_path / "bad.mlir"
    file.write_text(text)
    done = tools.run("mlc-rules", "audit", file)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stderr.startswith(f"mlc: error: {file}: ") and what in done.stderr


def test_what_cannot_be_judged_is_unknown(tools, tmp_path):
    file = tmp_path / "scalars.mlir"
    file.write_text("func.func @x_before(%a: i32) -> i32 { return %a : i32 }\n"
                    "func.func @x_after(%a: i32) -> i32 { return %a : i32 }\n")
    done = tools.run("mlc-rules", "audit", file)
    assert done.returncode == 6 and "argument #0 is not a ranked tensor" in done.stdout


def test_usage(tools, tmp_path):
    done = tools.run("mlc-rules", "audit")
    assert done.returncode == 2 and done.stderr.startswith("mlc: error: expected a file of rules")
    done = tools.run("mlc-rules", "audit", tmp_path / "missing.mlir")
    assert done.returncode == 3 and "give the path of a rule file" in done.stderr
