"""What the Python tests share: the tools of this build."""

import atexit
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("MLC_BUILD", ROOT / "build")).resolve()
sys.path[:0] = [str(ROOT / folder) for folder in ("test", "test/models", "test/training", "test/transport", "runtime/python", "tools/bench", "tools/experiments")]


import suite  # noqa: E402

os.environ["MLC_BUILD"] = str(BUILD)  # where `import mlc` finds its library


# Runs of mpirun that begin at the same time fail in a folder that they share.
if shutil.which("mpirun") and "OMPI_MCA_orte_tmpdir_base" not in os.environ:
    os.environ["OMPI_MCA_orte_tmpdir_base"] = tempfile.mkdtemp(prefix="mpi")
    atexit.register(shutil.rmtree, os.environ["OMPI_MCA_orte_tmpdir_base"], ignore_errors=True)


# As ./dev has it: NVRTC of .venv makes code for GPUs.
for found in (ROOT / ".venv/lib").glob("python*/site-packages/nvidia/*/lib/libnvrtc.so.13"):
    os.environ.setdefault("MLC_NVRTC", str(found))


class Tools:
    """Runs a tool of the build; `tools.mlc("compile", ...)`."""

    build = BUILD
    source = ROOT

    def run(self, tool, *arguments, **options):
        options = {"capture_output": True, "text": True, "timeout": 600, **options}
        return subprocess.run([BUILD / "bin" / tool, *map(str, arguments)], **options)

    def mlc(self, *arguments, **options):
        return self.run("mlc", *arguments, **options)


@pytest.fixture(scope="session")
def tools():
    return Tools()


def pytest_collection_modifyitems(config, items):
    """Of a test that is `sampled`, every so many; a test that is asked for by name is run."""
    if suite.FULL or any("::" in argument for argument in config.args):
        return
    count, kept, left = collections.Counter(), [], []
    for item in items:
        mark = item.get_closest_marker("sampled")
        place = count[item.path, item.originalname] if mark else 0
        if mark:
            count[item.path, item.originalname] += 1
        (left if mark and place % mark.args[0] else kept).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
