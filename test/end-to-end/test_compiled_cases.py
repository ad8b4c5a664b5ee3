"""The onnx package's node cases through compiled code for this CPU."""

import pytest

from node_cases import cases, outcome


@pytest.mark.parametrize("initial", sorted({case.name[5:6] for case in cases()}))
def test_compiled_node_cases(initial, tmp_path):
    mine = [case for case in cases() if case.name[5:6] == initial]
    results = {case.name: outcome(case, tmp_path) for case in mine}
    wrong = {name: text for name, text in results.items() if text not in ("passed", "unsupported")}
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())
