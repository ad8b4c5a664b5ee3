"""The wheel: what it holds, that it is the same bytes each time, and that a fresh
environment runs an artifact with it and NumPy alone."""

import pathlib
import subprocess
import sys
import zipfile

import mlc
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper


@pytest.fixture(scope="module")
def wheel(tools, tmp_path_factory):
    made = []
    for name in ("one", "two"):
        folder = tmp_path_factory.mktemp(name)
        done = subprocess.run([tools.source / "dev", "wheel", folder], capture_output=True, text=True, timeout=600,
                              cwd=tools.source, env={"PATH": "/usr/bin:/bin", "MLC_PYTHON": sys.executable,
                                                     "HOME": str(folder)})
        assert done.returncode == 0, done.stderr
        made.append(pathlib.Path(done.stdout.splitlines()[-1]))
    assert made[0].name == made[1].name and made[0].read_bytes() == made[1].read_bytes()
    return made[0]


def test_what_it_holds(wheel):
    assert wheel.name.startswith("mlc-") and "-py3-none-linux_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"mlc/__init__.py", "mlc/py.typed", "mlc/libmlc_runtime.so"} <= set(names)
    assert not [name for name in names if "pycache" in name or name.endswith(("setup.py", "pyproject.toml"))]


def test_a_fresh_environment_runs_an_artifact(wheel, tmp_path):
    nodes = [helper.make_node("Softmax", ["x"], ["y"], axis=1)]
    proto = helper.make_model(helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 9])]),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    mlc.compile(proto, target="cpu:x86-64-v3").save(tmp_path / "m.mlca")
    x = np.random.default_rng(0).normal(size=(4, 9)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=300)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
                    wheel], check=True, timeout=300)
    code = ("import sys, mlc, numpy as np\n"
            "assert 'venv' in mlc.__file__, mlc.__file__\n"
            "np.save('y.npy', mlc.load('m.mlca')(np.load('x.npy')))\n"
            "mapped = open('/proc/self/maps').read()\n"
            "assert 'venv' in mapped and 'LLVM' not in mapped and 'MLIR' not in mapped\n")
    # NumPy is this environment's: the test needs no network.
    site = tmp_path / "numpy"
    site.mkdir()
    for folder in pathlib.Path(np.__file__).parents[1].glob("numpy*"):
        (site / folder.name).symlink_to(folder)
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env={"PATH": "", "PYTHONPATH": str(site)})
    assert done.returncode == 0, done.stderr
    want = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), want, rtol=1e-5, atol=1e-7)
