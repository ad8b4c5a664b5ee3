"""Passes are composed in passes/Pipeline.cpp alone, phase by phase, and tools hold none of it: of passes/Differentiate and
passes/Distribute they know what these are told, and two functions that are no passes."""

import re
import subprocess

import pytest

# What a tool may include, and which: options, forward derivatives, ranks by the evaluator.
OPTIONS = {"passes/Differentiate/TrainingOptions.h"}
OWN = {("tools/mlc-verify/mlc-verify.cpp", "passes/Differentiate/Forward.h"),
       ("tools/mlc-eval/mlc-eval.cpp", "passes/Distribute/RunRanks.h")}
COMPOSES = re.compile(r"\b(?:Op)?PassManager\b|\badd(?:Nested)?Pass(?:es)?\s*[<(]|\badd[A-Z]\w*Passes\s*\(|\bcreate\w+Pass\s*\(")


def strangers(name, text):
    """Includes of a tool's file that say more of those phases than their options."""
    found = re.findall(r'^#include "(passes/(?:Differentiate|Distribute)/[^"]+)"', text, re.M)
    return [target for target in found if target not in OPTIONS and (name, target) not in OWN]


def compositions(text):
    return COMPOSES.findall(re.sub(r"//[^\n]*", "", text))


@pytest.fixture(scope="module")
def sources(tools):
    files = subprocess.run(["git", "ls-files", "tools"], cwd=tools.source, capture_output=True, text=True, check=True)
    return {name: (tools.source / name).read_text() for name in files.stdout.splitlines() if name.endswith((".h", ".cpp"))}


def test_tools_know_options_alone(sources):
    assert {name: found for name, text in sources.items() if (found := strangers(name, text))} == {}


def test_tools_compose_no_passes(sources):
    assert {name: found for name, text in sources.items() if (found := compositions(text))} == {}


def test_what_is_looked_for_is_found():
    assert strangers("tools/mlc/A.cpp", '#include "passes/Distribute/Partition.h"\n') == ["passes/Distribute/Partition.h"]
    assert strangers("tools/mlc/A.cpp", '#include "passes/Differentiate/Forward.h"\n')
    assert not strangers("tools/mlc/A.cpp", '#include "passes/Differentiate/TrainingOptions.h"\n')
    for text in ("mlir::PassManager passes(context);", "pm.addPass(make());", "pm.addNestedPass<FuncOp>(make());",
                 "addDistributePasses(pm, plan);", "createPartitionPass()"):
        assert compositions(text), text
    assert not compositions("compilation.runTo(phase); // addPass(x)")


def test_phases_stand_in_every_place(tools):
    """The table, --compile-to's help and the drawing have them in one order."""
    table = re.findall(r'^    \{"([a-z]+)", "', (tools.source / "passes/Phases.cpp").read_text(), re.M)
    assert table[:4] == ["import", "differentiate", "distribute", "optimize"] and table[-1] == "fuse"
    for command in ("compile", "gradients", "train"):
        said = re.search(r"--compile-to=<phase>.*: ([a-z, ]+)$", tools.mlc(command, "--help").stdout, re.M).group(1)
        assert said.split(", ") == table, command
    page = (tools.source / "docs/Architecture.md").read_text()
    drawn = re.findall(r"│ passes/(\w+)", page.split("## Layers")[0])
    assert [name.lower() for name in drawn if name != "Memory"] == table
