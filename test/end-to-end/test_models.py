"""Some of the models of ./dev models, so that every test run has seen whole
ones: compiled once with open dims, run at two sizes, compared with ONNX Runtime."""

import subprocess
import sys

import catalog
import mlc
import numpy as np
import onnxruntime
import pytest

NAMES = ["Magika", "PP-OCR v2 cls", "seeded squeezenet", "seeded inception_v2", "seeded shufflenet",
         "light zfnet512"]


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_onnx_runtime(tools, tmp_path, name):
    model = next(catalog.models(tmp_path, [name]), None)
    if model is None:
        pytest.skip("not installed")
    artifact = tmp_path / "model.mlca"
    done = tools.mlc("compile", model.path, "-o", artifact)
    assert done.returncode == 0, done.stderr
    session = mlc.Session(mlc.load(artifact), threads=2)
    reference = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
    for case in model.cases:
        for kind in ("random", "real"):
            arrays = catalog.feed(model, case, kind)
            for got, want in zip(session.run(arrays).values(), reference.run(None, arrays), strict=True):
                assert got.shape == want.shape
                assert np.abs(got - want).max() <= model.tolerance * np.abs(want).max()
        memory = session.memory
        assert memory.arena_bytes <= 1.05 * memory.lower_bound_bytes


def test_demo_reads_the_line(tools):
    done = subprocess.run([sys.executable, tools.source / "tools/demo.py", "--build", tools.build],
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mlc and ONNX Runtime agree" in done.stdout
    lines = [line.split("  ")[-1] for line in done.stdout.splitlines() if "drawn" in line]
    assert len(lines) == 1 and done.stdout.count(lines[0].strip()) == 3
