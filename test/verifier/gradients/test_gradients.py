"""Gradients that mlc-opt makes and ones that are written by hand, and which of them are proved for all sizes; and
mistakes in them, of which none is proved."""

import json
import pathlib
import re

import numpy as np
import pytest

from wrong import WRONG

HERE = pathlib.Path(__file__).parent
# Not proved, and why.
UNKNOWN = {
    "gather": "a term is cancelled by none",
    "cast": "rounded", "cast_narrowing": "rounded", "resize": "rounded",
    "block": "takes too many operations",
    "max_pool_as_pairs": "the order of a maximum",
}


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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EMITTED)
def test_what_is_made_is_proved(tools, tmp_path, name):
    path = tmp_path / "gradient.mlir"
    assert differentiated(tools, name, path)
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


@pytest.mark.parametrize("name, gradient, expected", [
    ("exp", "longer", "refuted"), ("exp", "divides", "refuted"), ("exp", "of_other_sizes", "refuted"),
    ("exp", "of_other_names", "proved"), ("sum", "sum_gradient", "proved"), ("loops", "loops_gradient", "proved"),
    ("constants", "constants_gradient", "refuted"),
    ("best", "best_gradient", "the derivative of 'mlc.top_k' is not known"),
])
def test_odd_ones(tools, name, gradient, expected):
    """Results that are too long, divisors that are 0 where the function has a value, other dims; scalars, linalg, and
    functions that no float reaches."""
    done = tools.run("mlc-verify", HERE / "odd.mlir", f"--gradient-of={name}", f"--gradient={gradient}")
    assert done.stdout.startswith(expected) or expected in done.stdout.splitlines()[0], done.stdout + done.stderr


@pytest.mark.parametrize("flags, code, message", [
    (["--gradient-of=exp"], 2, "--gradient-of and --gradient go together"),
    (["--gradient-of=exp", "--gradient=none"], 3, "holds no function @none"),
    (["--gradient-of=exp", "--gradient=sum"], 3, "expected 2 arguments, got 1"),
    (["--gradient-of=sum", "--gradient=divides"], 3, "for argument #1, where a ranked tensor like tensor<f32>"),
    (["--gradient-of=best", "--gradient=divides"], 3, "for argument #0"),
    (["--gradient-of=number", "--gradient=number_gradient"], 3, "a gradient has f32 for argument #0, where a ranked"),
    (["--gradient-of=outside", "--gradient=outside"], 3, "expected 2 arguments, got 1"),
    (["--jvp=outside"], 4, "requires one block to have a derivative"),
    (["--jvp=exp", "--gradient-of=exp", "--gradient=divides"], 2, "--jvp takes one file"),
    (["--jvp=exp", "--function=exp"], 2, "--function names what is compared"),
    (["--jvp=none"], 3, "holds no function @none"),
    (["--jvp=best"], 4, "'mlc.top_k' op has no derivative"),
    (["--trail", "--jvp=exp"], 2, "--trail takes the model"),
])
def test_what_is_refused(tools, flags, code, message):
    done = tools.run("mlc-verify", HERE / "odd.mlir", *flags)
    assert done.returncode == code and message in done.stderr, done.stderr


def test_a_name_that_is_taken(tools, tmp_path):
    path = tmp_path / "two.mlir"
    done = tools.run("mlc-verify", HERE / "hand.mlir", "--jvp=relu")
    path.write_text(done.stdout)
    done = tools.run("mlc-verify", path, "--jvp=relu")
    assert done.returncode == 3 and "has a function @relu_jvp already" in done.stderr


@pytest.mark.parametrize("name", ["conv", "softmax", "batch_norm"])
def test_the_kernel_checks_proofs_of_gradients(tools, tmp_path, name):
    """Also those of several statements: of softmax it is said that it does without its maximum."""
    question = [HERE / "hand.mlir", f"--gradient-of={name}", f"--gradient={name}_gradient"]
    proof = tmp_path / "gradient.proof"
    assert tools.run("mlc-verify", *question, "--proof", proof).returncode == 0
    assert tools.run("mlc-verify", *question, "--check-proof", proof).returncode == 0
    other = "conv_dilated" if name != "conv_dilated" else "conv"
    other = [HERE / "hand.mlir", f"--gradient-of={other}", f"--gradient={other}_gradient"]
    assert tools.run("mlc-verify", *other, "--check-proof", proof).returncode == 6


def evaluated(tools, text, function, inputs, folder, size):
    """The results of one of several functions."""
    folder.mkdir()
    (folder / "f.mlir").write_text(text)
    flags = ["--symbol", f"h={size}"]
    for i, array in enumerate(inputs):
        np.save(folder / f"in{i}.npy", array)
        flags += ["--input", folder / f"in{i}.npy"]
    done = tools.run("mlc-eval", folder / "f.mlir", "--function", function, *flags, "--output-dir", folder / "out")
    assert done.returncode == 0, done.stderr
    return [np.load(path) for path in sorted((folder / "out").iterdir())]


@pytest.mark.parametrize("name, dims", [
    ("softmax", [(3, 5)]), ("concat", [(3, 2), (3, 4)]), ("max_pool_as_pairs", [(2, 3, 6)]),
    ("conv", [(2, 3, 7), (4, 3, 3)]),
    ("reshape", [(2, 3, 5)]), ("batch_norm", [(2, 5, 3), (5,), (5,), (5,), (5,)]), ("used_twice", [(4,), (4,)]),
])
def test_the_forward_derivative_is_what_differences_are(tools, tmp_path, name, dims):
    rng = np.random.default_rng(11)
    done = tools.run("mlc-verify", HERE / "hand.mlir", f"--jvp={name}")
    assert done.returncode == 0, done.stderr
    x = [rng.uniform(0.5, 2, d).astype(np.float32) for d in dims]
    t = [rng.standard_normal(d).astype(np.float32) for d in dims]
    h = np.float32(2**-9)
    up, down = ([a + s * b for a, b in zip(x, t)] for s in (h, -h))
    slopes = evaluated(tools, done.stdout, name + "_jvp", x + t, tmp_path / "slopes", 3)
    highs = evaluated(tools, done.stdout, name, up, tmp_path / "up", 3)
    lows = evaluated(tools, done.stdout, name, down, tmp_path / "down", 3)
    assert len(slopes) == len(highs)
    for slope, high, low in zip(slopes, highs, lows):
        np.testing.assert_allclose(slope, (high - low) / (2 * h), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("name, x, expected", [
    ("sigmoid", [-1e4, -100, 0, 100, 1e4], [0, 3.72e-44, 0.25, 0, 0]),
    ("elu", [-1e4, -1, 100, 1e4], [0, 0.36788, 1, 1]),
    ("silu", [-100, 0, 100], [0, 0.5, 1]),
])
def test_gradients_do_not_overflow(tools, tmp_path, name, x, expected):
    """Where an exponential is infinite in float32, its share of the gradient is 0 and not NaN."""
    assert differentiated(tools, name, tmp_path / "gradient.mlir")
    text = re.sub(r'#mlc.real<"?alpha"?>', "#mlc.real<1.0>", (tmp_path / "gradient.mlir").read_text())
    ones = np.ones(len(x), np.float32)
    (found,) = evaluated(tools, text, name + "_gradient", [np.float32(x), ones], tmp_path / "values", 1)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_quotient_of_large_numbers_has_a_gradient(tools, tmp_path):
    assert differentiated(tools, "div", tmp_path / "gradient.mlir")
    x, y, dy = np.float32([1e30]), np.float32([1e20]), np.float32([1])
    text = (tmp_path / "gradient.mlir").read_text()
    _, found = evaluated(tools, text, "div_gradient", [x, y, dy], tmp_path / "values", 1)
    np.testing.assert_allclose(found, [-1e-10], rtol=1e-5)


def listed(page, mark):
    """The names in what follows a mark, up to the end of the point or parenthesis."""
    text = re.search(rf"<!-- {mark} -->(.*?)(?=\n- |\n\n|; a gradient)", page, re.S).group(1)
    return set(re.findall(r"`(\w+)`", text))


def test_the_page_tells_what_is_not_proved(tools):
    page = (tools.source / "docs/Differentiation.md").read_text()
    assert listed(page, "unknown") == set(UNKNOWN)
    assert f"Of {len(WRONG)} mistakes" in page


POWER = """!n = tensor<?xf32, #mlc.dims<[n]>>
func.func @f(%x: !n) -> !n {{
  %r = mlc.compute %x {{definition = "(x) Y[i] = pow(x[i], {power})", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32}} : (!n) -> !n
  return %r : !n
}}
func.func @g(%x: !n, %d: !n) -> !n {{
  %r = mlc.compute %x, %d {{definition = "(x, d) Y[i] = {slope} * d[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32}} : (!n, !n) -> !n
  return %r : !n
}}
"""


@pytest.mark.parametrize("power, slope", [("0.5", "0.5 / sqrt(x[i])"), ("-0.5", "-0.5 / (x[i] * sqrt(x[i]))")])
def test_zero_to_a_negative_power_is_no_number(tools, tmp_path, power, slope):
    """A right gradient is not refuted where J has no value."""
    path = tmp_path / "power.mlir"
    for sign, verdict in (("", "unknown"), ("2 * ", "refuted")):
        path.write_text(POWER.format(power=power, slope=sign + slope))
        done = tools.run("mlc-verify", path, "--gradient-of=f", "--gradient=g", "--json")
        assert json.loads(done.stdout)["verdict"] in (verdict, "proved" if not sign else verdict), done.stdout


@pytest.mark.parametrize("flag", ["proof", "certificate"])
def test_what_is_read_is_not_written(tools, tmp_path, flag):
    path, link, other = tmp_path / "f.mlir", tmp_path / "link", tmp_path / "other"
    path.write_text(POWER.format(power="2", slope="2 * x[i]"))
    kept = path.read_text()
    arguments = ["mlc-verify", path, "--gradient-of=f", "--gradient=g"]
    done = tools.run(*arguments, f"--{flag}={path}")
    assert done.returncode == 2 and "is the file that is read" in done.stderr
    assert path.read_text() == kept
    link.symlink_to(other)
    assert tools.run(*arguments, f"--{flag}={link}").returncode == 0
    assert link.is_symlink() and other.stat().st_size > 0
    full = pathlib.Path("/dev/full")
    done = tools.run(*arguments, f"--{flag}=/dev/full")
    assert done.returncode == 9 and full.is_char_device()
