"""Random graphs: of three hundred (`./dev fuzz-graphs 300 --seed 1 --quick`) every third fifty, in parts that run side by
side, or all (`./dev test --full`)."""

import subprocess
import sys

import pytest

from suite import sample

PARTS, EACH = sample(range(6), 3), 50


@pytest.mark.parametrize("part", PARTS)
def test_random_graphs(tools, part):
    done = subprocess.run(
        [sys.executable, tools.source / "test/fuzz/graphs", str(EACH), "--seed",
         str(1 + part * EACH), "--quick", "--jobs=1", "--no-reduce", f"--build={tools.build}",
         "--except", str(tools.source / "test/fuzz/open.txt")],
        capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert f"{EACH} graphs, 0 fail" in done.stdout
