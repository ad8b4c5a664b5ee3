"""Node cases that travel to a GPU: packed here, run on the emulator."""

import io
import os
import pathlib
import subprocess
import sys
import tarfile

import numpy as np

PROGRAM = pathlib.Path(__file__).with_name("packed_node_cases.py")


def call(tools, *arguments):
    env = {**os.environ, "MLC_BUILD": str(tools.build), "PYTHONPATH": str(PROGRAM.parents[2] / "runtime/python")}
    return subprocess.run([sys.executable, PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=env)


def with_wrong_output(packed, changed):
    """Copies a pack, whose first case expects something else; returns its name."""
    name = None
    with tarfile.open(packed) as old, tarfile.open(changed, "w:xz") as new:
        for member in old:
            content = old.extractfile(member).read() if member.isfile() else b""
            if member.name.endswith("/0.npz") and name is None:
                name = member.name.split("/")[0]
                arrays = dict(np.load(io.BytesIO(content)))
                arrays["out0"] = np.logical_not(arrays["out0"]).astype(arrays["out0"].dtype)
                file = io.BytesIO()
                np.savez(file, **arrays)
                content = file.getvalue()
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    return name


def test_pack_and_run(tools, tmp_path):
    packed, changed = tmp_path / "cases.tar.xz", tmp_path / "changed.tar.xz"
    done = call(tools, "pack", packed, "--every", 150)
    assert done.returncode == 0 and " cases, " in done.stdout, done.stdout + done.stderr
    done = call(tools, "run", packed, "--device", "emulator", "--processes", 2)
    count = int(done.stdout.split()[0])
    assert done.returncode == 0 and done.stdout == f"{count} passed\n" and count > 5, done.stdout + done.stderr
    name = with_wrong_output(packed, changed)
    done = call(tools, "run", changed, "--device", "emulator", "--processes", 1)
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == f"{count - 1} passed, 1 wrong", done.stdout
    assert done.stdout.startswith(f"{name}: output 0: "), done.stdout
