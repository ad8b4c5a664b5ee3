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
    """The tests that round_trip.py reads, without comments."""
    files = [file for file in (tools.source / "test/dialects").glob("*.mlir")
             if re.search(r"^// RUN: .*round_trip\.py .*%s$", file.read_text(), re.M)]
    assert len(files) >= 6
    return "\n".join(re.sub(r"//.*", "", file.read_text()) for file in files)


def test_operations_round_trip(dialects, read):
    assert dialects[0] - set(re.findall(r"\b(\w+\.\w+)\b", read)) == set()


def test_attributes_and_types_round_trip(dialects, read):
    assert dialects[1] - set(re.findall(r"[#!]\w+\.(\w+)", read)) == set()


def test_each_operator_is_read_with_open_dims_too(dialects, tools):
    text = (tools.source / "test/dialects/OpenDims.mlir").read_text()
    operators = {name for name in dialects[0] if name.startswith("mlc.")}
    assert operators - set(re.findall(r"= (mlc\.\w+)", text)) == {"mlc.constant", "mlc.check"}
