"""What docs/Sharding.md says of each operator is so: what the partitioner makes of it is proved, or is not and has a
reason; and it runs, on parts of which one is larger than another. sweep.py has all sizes."""

import re

import pytest

import sweep
from splits import functions

FUNCTIONS = functions()
SAID = sweep.rows(sweep.PAGE.read_text())
PAIRS = sweep.pairs()
# Stand in modules, or are made of others when a graph is lowered.
NO_OPERATORS = {"mlc.check", "mlc.threefry"}


def test_the_page_has_all():
    assert list(SAID) == PAIRS and len(PAIRS) > 200
    proved = sum(verdict == "proved" for _, verdict in SAID.values())
    assert f"{len(PAIRS)} pairs of a function and a size: {proved} proved" in sweep.PAGE.read_text()


def test_reasons_are_words():
    reasons = [verdict for _, verdict in SAID.values() if verdict != "proved"]
    assert reasons and all(re.fullmatch(r"unknown: [\w ,.'-]+(: [\w ,.'-]+)*", reason) for reason in reasons), reasons
    assert sweep.in_words("after: cannot show that a divisor is not zero: {%26 : all(%27 >= 0)} (1/1)") == (
        "after: cannot show that a divisor is not zero")
    assert sweep.in_words("result 0: a term is cancelled by none: 0:0:;3:0:exp;") == "result 0: a term is cancelled by none"
    assert sweep.in_words("{%26}: 3") == "no proof was found"


def test_every_operator_is_there(tools):
    declared = set()
    for file in (tools.build / "dialects/Graph").glob("*.h.inc"):
        declared.update(re.findall(r'StringLiteral\("(mlc\.\w+)"\)', file.read_text()))
    assert len(declared) > 60
    used = {name for function in FUNCTIONS.values() for name in re.findall(r"mlc\.\w+", function.body)}
    assert declared - used == NO_OPERATORS


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name, symbol", PAIRS)
def test_what_is_made_is_proved(tools, tmp_path, name, symbol):
    exchanges, answer = sweep.prove(tools, tmp_path, FUNCTIONS[name], symbol)
    assert (exchanges, sweep.told(name, answer)) == SAID[name, symbol], answer


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_ranks_give_what_the_operator_gives(tools, tmp_path, name):
    ran = [sweep.run(tools, tmp_path, FUNCTIONS[name], symbol, 7, (3,)) for symbol in FUNCTIONS[name].factors()]
    assert any(ran)


SUM = re.compile(r"^ *(%\w+) = dist\.all_reduce (%\w+) \{.*\n", re.M)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name, symbol", [pair for pair, (exchanges, _) in SAID.items() if "all_reduce" in exchanges])
def test_no_sum_is_superfluous(tools, tmp_path, name, symbol):
    """With what a rank itself has in place of what all have together, nothing is proved."""
    function = FUNCTIONS[name]
    program, _, least = sweep.made(tools, tmp_path, function, symbol)
    sums = list(SUM.finditer(program))
    assert sums
    for found in sums:
        without = program.replace(found.group(), "")
        without = re.sub(rf"{found.group(1)}\b", found.group(2), without)
        answer = sweep.judge(tools, tmp_path, function, symbol, least, without)
        assert answer["verdict"] == "refuted", (found.group(), answer)


def test_wrong_runs_are_seen(tools, tmp_path, monkeypatch):
    """A partitioner that leaves out the sum."""
    made = sweep.partitioned

    def without(tools, folder, text):
        rank = made(tools, folder, text)
        rank.write_text(re.sub(r'reduction = "sum"', 'reduction = "max"', rank.read_text()))
        return rank
    monkeypatch.setattr(sweep, "partitioned", without)
    with pytest.raises(sweep.Failure, match="matmul by k = 7 over 3 ranks"):
        sweep.run(tools, tmp_path, FUNCTIONS["matmul"], "k", 7, (3,))
