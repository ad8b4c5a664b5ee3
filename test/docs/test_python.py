"""docs/Python.md: its examples do what it says that they do."""

import doctest
import re


def test_examples(tools, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A fence ends what is printed, as an empty line does.
    text = re.sub(r"^```.*$", "", (tools.source / "docs/Python.md").read_text(), flags=re.M)
    examples = doctest.DocTestParser().get_doctest(text, {}, "Python.md", "docs/Python.md", 0)
    assert len(examples.examples) > 20
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)
