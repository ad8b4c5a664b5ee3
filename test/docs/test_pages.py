"""The pages of docs/ that are made from the code are current, and what the
others name exists."""

import re
import subprocess
import sys

import pytest


def test_generated_pages_are_current(tools):
    done = subprocess.run([sys.executable, tools.source / "docs/generate.py", "--check",
                           "--build", tools.build], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


PAGES = ["README.md", "docs/Architecture.md", "docs/AddAnOp.md", "docs/AddAPass.md", "docs/AddARewrite.md",
         "docs/AddAStep.md", "docs/Embed.md", "docs/Python.md", "docs/States.md"]


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(tools, page):
    text = (tools.source / page).read_text()
    named = re.findall(r"(?<![\w/.<>-])((?:dialects|rewrites|verifier|passes|codegen|runtime|simulator|tools|test|docs)"
                       r"/[\w/.-]*[\w])", text)
    missing = sorted({path for path in named if not (tools.source / path).exists()
                      and not list(tools.source.glob(f"{path}.*"))})
    assert missing == []


def test_every_folder_has_a_readme(tools):
    folders = {"dialects", "rewrites", "verifier", "passes", "codegen", "runtime", "tools/mlc", "test/models"}
    assert [f for f in sorted(folders) if not (tools.source / f / "README.md").exists()] == []
