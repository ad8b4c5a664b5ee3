"""Pipelines train as torch.distributed.pipelining does: 50 steps of the GPT with tied weights, over gloo."""

import json
import pathlib
import subprocess

import numpy as np
import pytest

from test_stages import arguments, losses, train

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = ROOT / ".torch/bin/python"
ENDS = {2: ["add_36_0"], 4: ["add_25_0", "add_36_0", "add_59_0"]}
CASES = {"gpipe": ("GPipe", 4, 4), "1f1b": ("1F1B", 2, 2), "interleaved-1f1b": ("Interleaved1F1B", 2, 4),
         "breadth-first": ("LoopedBFS", 2, 4), "zero-bubble": ("InterleavedZeroBubble", 2, 4)}


@pytest.mark.skipif(not TORCH.exists(), reason="no PyTorch in .torch/ (requirements-torch.txt)")
@pytest.mark.parametrize("name", CASES)
def test_losses_are_those_of_pytorch(tools, tmp_path, name):
    theirs, ranks, stages = CASES[name]
    done = subprocess.run([TORCH, pathlib.Path(__file__).parent / "torch_pipeline.py", f"--schedule={theirs}", f"--ranks={ranks}",
                           "--micro-batches=4", f"--ends={','.join(ENDS[stages])}"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    flags = [flag for flag in arguments(tmp_path, "gpt") if not flag.startswith(("--steps", "--learning-rate"))]
    steps, _, _ = train(tools, tmp_path, name, *flags, "--steps=50", "--learning-rate=0.05", "--micro-batches=4",
                        f"--stage-ends={','.join(ENDS[stages])}", f"--pipeline={name}", "--engine=gloo", launched=(ranks,))
    found = losses(steps)
    assert len(found) == len(expected) == 50 and found[-1] < 0.7 * found[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
