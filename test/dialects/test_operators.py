"""Each operation, attribute and type of the dialects is printed and read again by a test of this folder."""

import re

import pytest

def declared(folder):
    """Names of operations, and mnemonics of attributes and types, in what tablegen made of the dialects."""
    operations, mnemonics = set(), set()
    for file in folder.rglob("*.h.inc"):
        text = file.read_text()
        operations.update(re.findall(r'StringLiteral\("(\w+\.\w+)"\)', text))
        mnemonics.update(re.findall(r'getMnemonic\(\) \{\s*return \{"(\w+)"\}', text))
    return operations, mnemonics


@pytest.fixture(scope="module")
def dialects(tools):
    operations, mnemonics = declared(tools.build / "dialects")
    assert len(operations) > 80 and {"mlc.neg", "exec.launch", "rule.def"} < operations
    assert {"dims", "real", "buffer"} <= mnemonics
    return operations, mnemonics


@pytest.fixture(scope="module")
def read(tools):
    """What the tests read by round_trip.py, without comments: files with a RUN line, and the operators' samples."""
    folder = tools.source / "test/dialects"
    files = [file for file in folder.glob("*.mlir")
             if re.search(r"^// RUN: .*round_trip\.py .*%s$", file.read_text(), re.M)]
    assert len(files) >= 5
    assert re.search(r"^# RUN: .*round_trip\.py .*%source/test/coverage/samples\.mlir$",
                     (folder / "Files.test").read_text(), re.M)
    files.append(tools.source / "test/coverage/samples.mlir")
    return "\n".join(re.sub(r"//.*", "", file.read_text()) for file in files)


def unread(operations, text):
    return operations - set(re.findall(r"(?<![\w.])([a-z]+\.\w+)", text))


def test_operations_round_trip(dialects, read):
    assert unread(dialects[0], read) == set()


def test_attributes_and_types_round_trip(dialects, read):
    assert dialects[1] - set(re.findall(r"[#!]\w+\.(\w+)", read)) == set()


@pytest.mark.parametrize("kind,line", [
    ("static", r"tensor<(\d+x)*\w+>\) ->"), ("empty", r"[<x]0x"), ("open", r"#mlc\.dims<\[[^]]*[a-zA-Z][^]]*\]>>")])
def test_operators_round_trip_over(dialects, read, kind, line):
    operators = {name for name in dialects[0] if name.startswith("mlc.")}
    some = "\n".join(text for text in read.splitlines() if re.search(line, text))
    without_tensors = {"mlc.check", "mlc.constant", "mlc.fill", "mlc.iota", "mlc.int_tensor", "mlc.threefry"}
    assert unread(operators, some) <= without_tensors


def test_these_checks_can_fail(dialects, read):
    assert unread(dialects[0] | {"mlc.unheard"}, read) == {"mlc.unheard"}
