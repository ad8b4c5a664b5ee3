"""The headers of each name, nvcc's and the emulator's, declare the same functions."""

import re

import pytest

FOLDERS = ("codegen/cuda/kernels", "runtime/emulator/include")


def functions(text):
    """Each function that kernels may call: its result, name and parameters, and the template's before it."""
    code = re.sub(r"//[^\n]*", "", text)
    found = re.findall(r"(template\s*<[^>]*>)?\s*MLC_DEVICE\s+([\w ]+?[ *]+)(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*\{", code)
    # Where a call stands, which the emulator's ask for by default, is no difference.
    return {tuple(re.sub(r"\s+", " ", re.sub(r",?[^,]* = [^,]*", "", part)).strip() for part in match) for match in found
            if not match[2].startswith("mlcEmulator")}


@pytest.mark.parametrize("name", ["mlc_device.cuh", "mlc_hopper.cuh"])
def test_both_headers_have_the_same_functions(tools, name):
    real, emulated = (functions((tools.source / folder / name).read_text()) for folder in FOLDERS)
    assert len(real) > 20
    assert real == emulated


def test_functions_are_found():
    text = "template <int n>\nMLC_DEVICE void f(int (&to)[4], bool b) {}\nMLC_DEVICE uint8_t *g() { // x\n}"
    assert functions(text) == {("template <int n>", "void", "f", "int (&to)[4], bool b"), ("", "uint8_t *", "g", "")}
