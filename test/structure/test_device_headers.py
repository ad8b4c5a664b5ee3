"""The two headers named mlc_device.cuh, nvcc's and the emulator's, declare the same functions."""

import re

HEADERS = ("codegen/cuda/kernels/mlc_device.cuh", "runtime/emulator/include/mlc_device.cuh")


def functions(text):
    """Each function that kernels may call: its result, name and parameters, and the template's before it."""
    code = re.sub(r"//[^\n]*", "", text)
    found = re.findall(r"(template\s*<[^>]*>)?\s*MLC_DEVICE\s+([\w ]+?[ *]+)(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*\{", code)
    # Where a call stands, which the emulator's ask for by default, is no difference.
    return {tuple(re.sub(r"\s+", " ", re.sub(r",?[^,]* = [^,]*", "", part)).strip() for part in match) for match in found
            if not match[2].startswith("mlcEmulator")}


def test_both_headers_have_the_same_functions(tools):
    real, emulated = (functions((tools.source / name).read_text()) for name in HEADERS)
    assert len(real) > 20
    assert real == emulated


def test_functions_are_found():
    text = "template <int n>\nMLC_DEVICE void f(int (&to)[4], bool b) {}\nMLC_DEVICE uint8_t *g() { // x\n}"
    assert functions(text) == {("template <int n>", "void", "f", "int (&to)[4], bool b"), ("", "uint8_t *", "g", "")}
