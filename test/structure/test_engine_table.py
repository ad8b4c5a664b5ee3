"""Engines are rows of runtime/Engines.def, from which flags, help and messages follow: nothing else lists them."""

import re

FOLDERS = ("cmake", "codegen", "dialects", "passes", "runtime", "tools/mlc")
SUFFIXES = (".h", ".cpp", ".def", ".py", ".cmake", ".txt", ".in")
# The table with what reads it, what builds the plugins, and an engine that says how it differs from the others.
KNOWN = {"runtime/Engines.def", "runtime/Engines.h", "runtime/transport/CMakeLists.txt", "runtime/transport/NcclEngine.cpp"}


def rows(text):
    return re.findall(r'^MLC_ENGINE\("(\w+)"', text, re.M)


def lists(text, names):
    return sum(bool(re.search(rf"\b{name}\b", text)) for name in names) >= 3


def test_only_the_table_lists_engines(tools):
    names = rows((tools.source / "runtime/Engines.def").read_text())
    assert len(names) == len(set(names)) > 3
    files = [file for folder in FOLDERS for file in (tools.source / folder).rglob("*") if file.suffix in SUFFIXES]
    assert {str(file.relative_to(tools.source)) for file in files if lists(file.read_text(), names)} == KNOWN


def test_this_check_can_fail():
    assert lists('"take mpi, gloo or nccl"', ["mpi", "gloo", "nccl", "inproc"])
    assert not lists('"--engine=mpi" is of mpirun; "gloo"', ["mpi", "gloo", "nccl", "inproc"])
