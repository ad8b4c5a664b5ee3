"""Fixtures of the tests of CUDA kernels."""

import pytest

from emulated import Graph


@pytest.fixture
def graph(tools, tmp_path):
    """Operators that are compiled together and run on the emulator."""
    return Graph(tools, tmp_path)
