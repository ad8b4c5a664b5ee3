"""Gradients that mlc-opt makes and ones that are written by hand, and which of them are proved for all sizes; and
mistakes in them, of which none is proved."""

import json
import pathlib
import re

import pytest

from wrong import WRONG

HERE = pathlib.Path(__file__).parent
# Not proved, and why. docs/Differentiation.md tells it; a test holds that to this.
UNKNOWN = {
    "cast": "rounded", "cast_narrowing": "rounded", "resize": "rounded",
    "clip_as_selects": "the order of a maximum", "max_pool_as_pairs": "the order of a maximum",
}
# mlc-opt makes none.
WITHOUT = {"gather", "lrn"}


def names(file):
    return re.findall(r"^func\.func @(\w+)\(", (HERE / file).read_text(), re.M)


def judge(tools, path, name, *flags):
    done = tools.run("mlc-verify", path, f"--gradient-of={name}", f"--gradient={name}_gradient", "--json", *flags)
    assert done.returncode in (0, 5, 6), done.stderr
    return json.loads(done.stdout)


def differentiated(tools, name, path):
    """A file with the function and the gradient that mlc-opt makes."""
    done = tools.run("mlc-opt", HERE / "functions.mlir", f"--mlc-differentiate=function={name}", "-o", path)
    return done.returncode == 0


EMITTED, BY_HAND = names("functions.mlir"), [n for n in names("hand.mlir") if not n.endswith("_gradient")]


@pytest.mark.parametrize("name", EMITTED)
def test_what_is_made_is_proved(tools, tmp_path, name):
    path = tmp_path / "gradient.mlir"
    if not differentiated(tools, name, path):
        assert name in WITHOUT
        return
    answer = judge(tools, path, name)
    expected = "unknown" if name in UNKNOWN else "proved"
    assert answer["verdict"] == expected, answer
    if expected == "proved":
        assert any("derivative: mlc's forward derivative" in line for line in answer["rests_on"])


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_written_is_proved(tools, name):
    answer = judge(tools, HERE / "hand.mlir", name)
    expected = "unknown" if name in UNKNOWN else "proved"
    assert answer["verdict"] == expected, answer


def function_and_gradient(name):
    """The types, the function and its gradient, apart."""
    first, *parts = re.split(r"^(?=//|func\.func)", (HERE / "hand.mlir").read_text().split("\n\n", 1)[1], flags=re.M)
    own = {re.match(r"func\.func @(\w+)", part).group(1): part for part in parts if part.startswith("func.func")}
    return first, own[name], own[name + "_gradient"]


def test_there_are_as_many_mistakes_as_were_made():
    assert len(WRONG) >= 60 and len(set(WRONG)) == len(WRONG)


@pytest.mark.parametrize("name", sorted({name for name, _, _ in WRONG}))
def test_mistakes_are_seen(tools, tmp_path, name):
    """Refuted with numbers, or the file is refused: it is no gradient of the function."""
    types, function, gradient = function_and_gradient(name)
    for i, (_, old, new) in enumerate(w for w in WRONG if w[0] == name):
        assert old in gradient, (name, old)
        path = tmp_path / f"{i}.mlir"
        path.write_text(types + function + gradient.replace(old, new, 1))
        done = tools.run("mlc-verify", path, f"--gradient-of={name}", f"--gradient={name}_gradient")
        assert done.returncode in (3, 5), (name, old, new, done.stdout)
        if done.returncode == 5:
            assert "gradient of %" in done.stdout and "before" in done.stdout
