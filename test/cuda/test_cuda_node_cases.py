"""A fixed tenth of the node cases as GPU kernels on the emulator; all of them:
all_node_cases.py beside this file."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end-to-end"))
from node_cases import cases, outcome  # noqa: E402

TENTH = list(cases())[::10]


@pytest.mark.parametrize("part", range(8))
def test_node_cases_on_the_emulator(part, tmp_path):
    results = {case.name: outcome(case, tmp_path, "cuda:sm_80", "emulator") for case in TENTH[part::8]}
    wrong = {name: text for name, text in results.items() if text not in ("passed", "unsupported")}
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())
