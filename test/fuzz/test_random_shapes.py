"""A few random models with open sizes in every test run: `./dev fuzz-shapes`."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("kind", ["pairs", "arithmetic"])
def test_random_shapes(tools, kind):
    done = subprocess.run(
        [sys.executable, tools.source / "test/fuzz/shapes", "20", "--kind", kind, "--jobs=1", f"--build={tools.build}"],
        capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert f"20 models of {kind}, 0 fail" in done.stdout
