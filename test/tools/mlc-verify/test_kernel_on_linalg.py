"""What the kernel says of the soundness tests' functions of linalg: it accepts those that are equal, and no others."""

import importlib.util
import re

import pytest

PROVED = {"proved", "bit-exact", "reassociating", "value-changing"}


@pytest.fixture(scope="module")
def statements(tools):
    folder = tools.source / "test/verifier/soundness"
    spec = importlib.util.spec_from_file_location("verdicts", folder / "verdicts.py")
    verdicts = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verdicts)
    found = [s for path in sorted(folder.glob("*.mlir")) for s in verdicts.statements(path.read_text())]
    return [s for s in found if re.search(r"linalg|tensor\.|scf\.|arith\.", s[2]) and "error" not in s[0]]


def test_the_kernel_accepts_what_is_equal(tools, statements, tmp_path):
    accepted = refused = 0
    for i, (answers, why, text) in enumerate(statements):
        (tmp_path / f"{i}.mlir").write_text(text)
        done = tools.run("mlc-verify", tmp_path / f"{i}.mlir", "--proof", tmp_path / f"{i}.proof")
        assert "the reading of '" not in done.stdout, (why, done.stdout)
        is_accepted = bool(PROVED & set(answers))
        assert done.returncode == (0 if is_accepted else 6), (why, done.stdout + done.stderr)
        accepted += is_accepted
        refused += not is_accepted
    assert accepted >= 20 and refused >= 70
