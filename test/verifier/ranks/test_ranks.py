"""Programs of one rank among N, proved equal to the function that all of them carry out, for every N and every size of
a part; wrong ones, of which none is; and both run, on numbers."""

import json

import pytest

from cases import AXIS, CASES, Case

WRONG = [(name, i) for name, case in CASES.items() for i in range(len(case.wrong))]


def judge(tools, folder, case, program):
    before, rank, after = (folder / f"{name}.mlir" for name in ("before", "rank", "after"))
    before.write_text(case.before())
    rank.write_text(program)
    done = tools.run("mlc-opt", rank, "--mlc-stack-ranks", "-o", after)
    assert done.returncode == 0, done.stderr
    done = tools.run("mlc-verify", before, after, "--json")
    assert done.returncode in (0, 5, 6), done.stderr
    return json.loads(done.stdout)


def mistaken(case, wrong):
    text = case.after()
    for old, new in [wrong] if isinstance(wrong, tuple) else wrong:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("name", CASES)
def test_every_number_of_ranks_is_proved(tools, tmp_path, name):
    answer = judge(tools, tmp_path, CASES[name], CASES[name].after())
    assert answer["verdict"] == "proved", answer


@pytest.mark.parametrize("name, i", WRONG)
def test_mistakes_are_refuted(tools, tmp_path, name, i):
    case = CASES[name]
    answer = judge(tools, tmp_path, case, mistaken(case, case.wrong[i]))
    assert answer["verdict"] == "refuted", answer
    assert answer["counterexample"]["symbols"]["N"] >= 1


def test_what_operators_require_is_shown(tools, tmp_path):
    """A sum of [B, L] and [B, 1] has no meaning, whatever its stage would read; a halo is no more than a part."""
    softmax = CASES["softmax"]
    answer = judge(tools, tmp_path, softmax, mistaken(softmax, ("%a, %w : (!x, !x)", "%a, %n : (!x, !m)")))
    assert answer["verdict"] == "refuted" and "not after" in answer["counterexample"]["text"], answer
    for least, verdict in ((1, "refuted"), (2, "proved")):
        wide = Case(dict(X="N * L", x="L", h="L + 2"), [("X", "x", '["a"]')], [("X", "x", '["a"]')], "return %a : !X",
                    f"%h = dist.halo %a {{{AXIS}, dim = 0, low = 2, high = 0}} : (!x) -> !h\n"
                    "%y = mlc.slice %h {starts = #mlc.dims<[2]>, sizes = #mlc.dims<[L]>, steps = #mlc.dims<[1]>} : (!h) -> !x\n"
                    "return %y : !x", assume=("N >= 1", f"L >= {least}"))
        answer = judge(tools, tmp_path, wide, wide.after())
        assert answer["verdict"] == verdict, answer
        if verdict == "refuted":
            assert "what the function requires" in answer["counterexample"]["text"]


COMPUTE = '%y = mlc.compute %a {{definition = "(x; l) {}", dims = #mlc.dims<[{}]>, integers = #mlc.dims<[L]>, reals = [], type = f32}} : '


@pytest.mark.parametrize("result, whole, rank", [
    # A padding of -1 on rank 2.
    ("N * (L + 1)", "Y[i] = x<0>[mod(i, l + 1) + floordiv(i, l + 1) - 1]",
     'mlc.pad %a {low = #mlc.dims<[1 - rank.a]>, high = #mlc.dims<[rank.a]>, mode = "constant", value = #mlc.real<0.0>}'),
    # A step of 0 on rank 0.
    ("N * L", "Y[i] = x<0>[floordiv(i, l) * mod(i, l)]",
     "mlc.slice %a {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[L]>, steps = #mlc.dims<[rank.a]>}"),
])
def test_lists_that_differ_between_ranks_have_bounds_on_each(tools, tmp_path, result, whole, rank):
    """Such operators would be refused if they said the numbers; their definitions do not tell."""
    operand = "N * L" if "slice" in rank else "L"
    part = result.removeprefix("N * ").strip("()")
    case = Case({"x": operand, "Y": result, "y": part}, [("x", "x", None)], [("Y", "y", '["a"]')],
                COMPUTE.format(whole, result) + "(!x) -> !Y\nreturn %y : !Y", f"%y = {rank} : (!x) -> !y\nreturn %y : !y")
    answer = judge(tools, tmp_path, case, case.after())
    assert answer["verdict"] == "refuted" and "what the function requires" in answer["counterexample"]["text"], answer


def values(tools, path, symbols, *flags):
    """What mlc-eval prints, exactly where numbers are fractions."""
    done = tools.run("mlc-eval", path, "--print", *flags, *(f"--symbol={name}={value}" for name, value in symbols.items()))
    return done.stdout if done.returncode == 0 else done.stderr


def both(tools, folder, case, program, ranks):
    before, rank = folder / "before.mlir", folder / "rank.mlir"
    before.write_text(case.before())
    rank.write_text(program)
    symbols = {**case.sizes, "N": ranks}
    # exp has no value among fractions.
    domain = "--domain=interval" if "exp" in program else "--domain=rational"
    return (values(tools, before, symbols, domain), values(tools, rank, symbols, domain, "--ranks"))


def test_intervals_are_compared_as_such():
    assert agree("0: [1] f32: [1, 2]\n", "0: [1] f32: [1.5, 3]\n") and not agree("0: [1] f32: [1, 2]\n", "0: [1] f32: [3, 4]\n")


def agree(one, other):
    """The same, or intervals that overlap."""
    if "[" not in one.split(":", 2)[-1]:
        return one == other and one.startswith("0:")
    def intervals(text):
        return [tuple(map(float, pair.split(","))) for pair in text.split(":", 2)[2].replace("[", "").split("]")[:-1]]
    a, b = intervals(one), intervals(other)
    return len(a) == len(b) and all(x[0] <= y[1] and y[0] <= x[1] for x, y in zip(a, b))


@pytest.mark.parametrize("name", CASES)
def test_ranks_that_run_give_what_the_function_gives(tools, tmp_path, name):
    for ranks in (2, 3):
        one, other = both(tools, tmp_path, CASES[name], CASES[name].after(), ranks)
        assert agree(one, other), (ranks, one, other)


@pytest.mark.parametrize("name, i", WRONG)
def test_mistakes_are_seen_when_they_run(tools, tmp_path, name, i):
    """By other numbers, or by ranks that differ where they should not."""
    case = CASES[name]
    one, other = both(tools, tmp_path, case, mistaken(case, case.wrong[i]), 3)
    assert not agree(one, other)
    if not other.startswith("0:"):
        assert "different ones" in other or "halo" in other, other
