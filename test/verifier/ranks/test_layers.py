"""Attention by heads, cross entropy over a split vocabulary, experts behind a gate: what the partitioner makes of them is
proved for every number of ranks, whatever size is split, and mistakes in it are refuted."""

import pathlib

import pytest

import mistakes
import splits
import sweep

FUNCTIONS = splits.functions([pathlib.Path(__file__).parent / "layers.mlir"])
EXCHANGES = {  # what ranks exchange
    ("attention", "b"): "nothing", ("attention", "d"): "all_reduce, all_reduce, all_gather, all_reduce",
    ("attention", "e"): "all_reduce, all_reduce", ("attention", "h"): "all_reduce",
    ("attention", "s"): "all_gather of results, all_gather of results",
    ("cross_entropy", "d"): "all_reduce", ("cross_entropy", "n"): "nothing",
    ("cross_entropy", "v"): "all_reduce, all_reduce, all_reduce",
    ("experts", "c"): "all_reduce", ("experts", "d"): "all_reduce, all_reduce", ("experts", "f"): "all_reduce",
    ("experts", "n"): "all_reduce", ("experts", "x"): "all_reduce, all_reduce, all_reduce",
}
# Softmax subtracts the maximum so that nothing overflows; among real numbers it may subtract anything that all ranks have. A loss
# of one label is the largest of its terms, which are 0 or minus a logarithm that is not positive.
HARMLESS = ['"max"} : (tensor<?x1xf32', "sum{ for max{ in", 'max in %9 = dist.all_reduce', "abs( for neg("]


def is_harmless(name, symbol, what):
    return (name, symbol) in (("cross_entropy", "v"), ("experts", "x")) and any(text in what for text in HARMLESS)


def test_all_sizes_are_there():
    assert [(name, symbol) for name, function in FUNCTIONS.items() for symbol in function.factors()] == list(EXCHANGES)


@pytest.mark.parametrize("name, symbol", EXCHANGES)
def test_layers_are_proved_and_mistakes_refuted(tools, tmp_path, name, symbol):
    program, exchanges, least = sweep.made(tools, tmp_path, FUNCTIONS[name], symbol)
    assert exchanges == EXCHANGES[name, symbol]
    answer = sweep.judge(tools, tmp_path, FUNCTIONS[name], symbol, least, program)
    assert answer["verdict"] == "proved", answer
    wrong = [(what, text) for what, text in mistakes.mistakes(program) if not is_harmless(name, symbol, what)]
    assert len(wrong) >= (1 if exchanges == "nothing" else 5)
    for what, text in wrong:
        answer = sweep.judge(tools, tmp_path, FUNCTIONS[name], symbol, least, text)
        assert answer["verdict"] == "refuted", (what, answer)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_layers_run(tools, tmp_path, name):
    ran = [sweep.run(tools, tmp_path, FUNCTIONS[name], symbol, 3, (3,)) for symbol in FUNCTIONS[name].factors()]
    assert any(ran)
