"""docs/AddAStep.md, followed literally in a copy of the runtime: its code goes
into the two files that it names, which compile. In a full run all of the copy
is compiled, and the step that it adds runs."""

import re
import shutil
import subprocess

import pytest

from suite import FULL

# Files of the runtime that only tools use.
TOOLS = {"RunArguments.cpp", "RunCommand.cpp", "RunRanks.cpp"}


def insert(path, before, text):
    """Puts `text` in front of the one place where `before` stands."""
    old = path.read_text()
    assert old.count(before) == 1
    path.write_text(old.replace(before, text + before))


def follow(page, runtime):
    """Does what the page says; the files that it changed."""
    row, kinds, declarations, definitions = re.findall(r"```c\+\+\n(.*?)```", page, re.S)
    steps, execution = runtime / "Step.h", runtime / "SessionSteps.cpp"
    insert(steps, "/// All kinds; a kind's index", row + "\n")
    text, count = re.subn(r"using StepDetail =.*?;\n", kinds, steps.read_text(), flags=re.S)
    assert count == 1
    steps.write_text(text)
    insert(execution, "  Scratch scratch() const {", declarations + "\n")
    insert(execution, "Status Session::makeStep(", definitions + "\n")
    return {steps.name, execution.name}


COMPILE = ["clang++-22", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-deprecated-declarations"]


@pytest.fixture
def copied(tools, tmp_path):
    """A copy of the runtime that has what the page adds."""
    runtime = tmp_path / "runtime"
    shutil.copytree(tools.source / "runtime", runtime, ignore=shutil.ignore_patterns("python"))
    shutil.copy(tools.build / "runtime/Version.h", runtime)
    changed = follow((tools.source / "docs/AddAStep.md").read_text(), runtime)
    assert changed == {path.name for path in runtime.iterdir() if path.is_file() and path.name != "Version.h"
                       and path.read_bytes() != (tools.source / "runtime" / path.name).read_bytes()}
    return runtime


def test_a_step_touches_two_files(tools, copied):
    for source in (copied / "SessionSteps.cpp", copied / "Step.cpp", tools.source / "test/docs/copy_step.cpp"):
        subprocess.run([*COMPILE, f"-I{copied.parent}", "-fsyntax-only", source], check=True)


@pytest.mark.skipif(not FULL, reason="./dev test --full compiles a copy of the runtime")
def test_the_added_step_runs(tools, copied, tmp_path):
    sources = [path for path in [*copied.glob("*.cpp"), *copied.glob("cuda/*.cpp")] if path.name not in TOOLS]
    program = tmp_path / "copy"
    subprocess.run([*COMPILE, f"-I{tmp_path}", *sources, tools.source / "test/docs/copy_step.cpp", "-ldl", "-lz", "-pthread",
                    "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "copy (rounds 2): 1 4",
        "the program is damaged: a copy step has a wrong number of inputs",
        "the program is damaged: a copy step names no expression as its rounds",
    ]
    assert done.returncode == 0
