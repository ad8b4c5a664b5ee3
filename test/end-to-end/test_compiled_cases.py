"""The onnx package's node cases through compiled code for this CPU: every third, or all (`./dev test --full`)."""

import pytest

from node_cases import cases, outcome
from suite import sample

PARTS = 12


@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_node_cases(part, tmp_path):
    mine = sample(cases(), 3)[part::PARTS]
    assert len(mine) > 40
    results = {case.name: outcome(case, tmp_path) for case in mine}
    wrong = {name: text for name, text in results.items() if text not in ("passed", "unsupported")}
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())
