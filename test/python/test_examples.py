"""runtime/python/examples: what they train, and how well, judged by ONNX Runtime."""

import gzip
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_digits_are_learned(tmp_path):
    done = subprocess.run([sys.executable, ROOT / "runtime/python/examples/digits.py", "digits.onnx"], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "runtime/python")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = [float(percent) for percent in re.findall(r"accuracy (\S+)%", done.stdout)]
    assert len(told) == 10 and told[-1] >= 97
    # The model that was written is as good, elsewhere too.
    folder = pathlib.Path(importlib.util.find_spec("sklearn").origin).parent
    table = np.loadtxt(gzip.open(folder / "datasets/data/digits.csv.gz"), delimiter=",", dtype=np.float32)
    held_out = table[np.random.default_rng(0).permutation(len(table))][1437:]
    session = onnxruntime.InferenceSession(tmp_path / "digits.onnx")
    scores = session.run(None, {"image": held_out[:, :64].reshape(-1, 1, 8, 8) / 16})[0]
    assert np.mean(scores.argmax(1) == held_out[:, 64]) * 100 == pytest.approx(told[-1], abs=0.3)
