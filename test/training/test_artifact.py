"""`mlc train --artifact` and `--export`: what trains nothing, and which flags it refuses (test/python/test_trainer.py runs what
they write)."""

import numpy as np
import onnx
import pytest

import trained

REFUSED = {
    "samples": (["--artifact=a.mlca", "--data=d.npz"], "--data is for training, and --artifact trains nothing"),
    "a checkpoint": (["--artifact=a.mlca", "--checkpoint=c.npz"], "--artifact trains nothing that -o or --checkpoint could hold"),
    "a model": (["--artifact=a.mlca", "-o", "o.onnx"], "--artifact trains nothing that -o or --checkpoint could hold"),
    "a server": (["--artifact=a.mlca", "--ranks=3", "--algorithm=server"], "--algorithm=server has another program for its workers"),
    "no folder": (["--artifact=nowhere/a.mlca"], "nowhere/a.mlca: there is no folder 'nowhere'"),
    "both": (["--artifact=a.mlca", "--export"], "--export and --artifact are two commands"),
    "no checkpoint": (["--export", "-o", "o.onnx"], "--export needs --checkpoint=FILE.npz and -o MODEL.onnx"),
    "to go on": (["--export", "--checkpoint=c.npz", "-o", "o.onnx", "--resume"], "--resume is for training"),
    "no file": (["--export", "--checkpoint=c.npz", "-o", "o.onnx"], "c.npz: cannot open"),
    "standard output": (["--data=d.npz", "--checkpoint=-"], "--checkpoint is a file, not '-'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused(tools, tmp_path, what):
    model, _, flags = trained.build("mlp")
    onnx.save(model, tmp_path / "m.onnx")
    further, message = REFUSED[what]
    done = tools.mlc("train", "m.onnx", *flags, *further, cwd=tmp_path)
    assert done.returncode in (2, 3) and f"mlc: error: {message}" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx"]


def test_a_checkpoint_of_another_model_is_refused(tools, tmp_path):
    model, _, _ = trained.build("mlp")
    onnx.save(model, tmp_path / "m.onnx")
    for arrays, message in [({"x": np.zeros(3)}, "has no weight of m.onnx"),
                            ({"weight/first.weight": np.zeros((2, 2), np.float32)}, "has another type or other dims")]:
        np.savez(tmp_path / "c.npz", **arrays)
        done = tools.mlc("train", "m.onnx", "--export", "--checkpoint=c.npz", "-o", "o.onnx", cwd=tmp_path)
        assert done.returncode == 3 and message in done.stderr
        assert not (tmp_path / "o.onnx").exists()
