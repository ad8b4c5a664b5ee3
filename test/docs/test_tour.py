"""README.md's tour: what its commands print is what it shows."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import tour  # noqa: E402


def test_the_tour(tools, tmp_path):
    _, wrong = tour.follow(tour.README.read_text(), tools.build.resolve(), tmp_path)
    assert not wrong, "\n\n".join(wrong)


SESSION = "```\n$ printf 'took 1.5 ms\\na\\nb  3\\nc d e\\n'; false\n{}$ echo $?\n1\n```\n"


@pytest.mark.parametrize("shown", [
    "took 1.5 ms\na\nb  3\nc d e\n", "took 27 ms\n...\nc d e\n", "...\nb 3\n...\n", "took 3 ms\na\nb 3\nc d ...\n"])
def test_what_fits(tools, tmp_path, shown):
    text, wrong = tour.follow(SESSION.format(shown), tools.build, tmp_path)
    assert not wrong
    assert ("\ntook 1.5 ms" in text) == ("took" in shown) and text.count("...") == shown.count("...")
    assert tour.follow(text, tools.build, tmp_path) == (text, [])


@pytest.mark.parametrize("shown", [
    "", "took 1.5 ms\na\nb  3\n", "took 1.5 s\n...\n", "...\nb 4\n...\n", "...\nc\n", "took 3 ms\na\nb 3\nc e ...\n"])
def test_what_does_not(tools, tmp_path, shown):
    text, wrong = tour.follow(SESSION.format(shown), tools.build, tmp_path)
    assert len(wrong) == 1 and text == SESSION.format("took 1.5 ms\na\nb  3\nc d e\n")
