"""The benchmark for GPUs: packed, and run on the emulator, where times mean
nothing but errors do."""

import json
import os
import subprocess
import sys


def test_pack_and_run_on_the_emulator(tools, tmp_path):
    script, folder, table = tools.source / "tools/bench/gpu.py", tmp_path / "pack", tmp_path / "table.json"
    done = subprocess.run([sys.executable, script, "pack", folder, "--small", "--build", tools.build],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # From the folder alone.
    alone = {name: value for name, value in os.environ.items() if name not in ("MLC_BUILD", "PYTHONPATH")}
    done = subprocess.run([sys.executable, folder / "gpu.py", "run", folder, "--device=emulator", "--runs=1",
                           f"--json={table}"], capture_output=True, text=True, env=alone, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(table.read_text())
    assert len(rows) >= 9 and all(row["right"] for row in rows)
    assert "WRONG" not in done.stdout and "emulator:" not in done.stderr
