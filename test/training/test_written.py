"""Plans of mlc plan --strategy train as one rank does; test_planned.py has those of optcnn."""

import json
import re

import numpy as np
import pytest
import ranks
from test_meshes import is_step
from test_stages import arguments, farthest, in_doubles, train


@pytest.mark.parametrize("strategy, name, ranks, more", [
    ("data-parallel", "translator", 2, []), ("parameter-server", "alexnet", 2, []), ("zero-1", "gpt", 2, []), ("zero-3", "unet", 2, []),
    ("one-weird-trick", "resnet", 2, []), ("megatron", "gpt", 2, []), ("layer-per-device", "lstm", 2, []),
    ("equal-stages", "resnet", 3, []), ("torchgpipe", "gpt", 4, []),
    ("gspmd", "gpt", 4, ["--mesh=data=2,t=2", "--shard=*.up.weight=-,t", "--shard=embedding=-,t"]),
])
def test_a_written_strategy(tools, tmp_path, strategy, name, ranks, more):
    flags = arguments(tmp_path, name)
    in_doubles(tmp_path, flags)
    loss = [flag for flag in map(str, flags) if flag.startswith(("--loss", "--class-axis"))]
    done = tools.mlc("plan", flags[0], *loss, f"--strategy={strategy}", f"--ranks={ranks}", "--cluster=cluster:p3.16xlarge", *more,
                     "-o", tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    one = train(tools, tmp_path, "one", *flags)
    is_step(one, train(tools, tmp_path, "many", *flags, f"--ranks={ranks}", f"--plan={tmp_path / 'plan.json'}"), tolerance=1e-9)
    if strategy in ("megatron", "one-weird-trick"):
        assert any("tensor" in split for split in json.loads((tmp_path / "plan.json").read_text())["shard"].values())


@pytest.mark.parametrize("kind, count, flags", [
    ("tensor", 2, ["--strategy=megatron"]), ("pipeline", 4, ["--strategy=torchgpipe"]), ("ZeRO", 3, ["--strategy=zero-3"]), ("found", 4, []),
])
def test_plans_over_mpi(tools, tmp_path, kind, count, flags):
    """tools/bench/plans.py compares their times with simulated ones."""
    own = arguments(tmp_path, "gpt" if kind != "ZeRO" else "resnet")
    in_doubles(tmp_path, own)
    loss = [flag for flag in map(str, own) if flag.startswith(("--loss", "--class-axis"))]
    launch = ranks.mpirun(tools, count)
    # Found are copies of a pipeline, where data parallelism alone has too few samples.
    done = tools.mlc("plan", own[0], *loss, *flags, f"--ranks={count}", "--cluster=cluster:p3.16xlarge", "-o", tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    one = train(tools, tmp_path, "one", *own)
    done = ranks.output([*launch, tools.build / "bin/mlc", "train", *own, f"--plan={tmp_path / 'plan.json'}", "--log-every=1",
                         f"--checkpoint={tmp_path / 'many.npz'}"])
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^step .*$", done.stdout, re.M) == one[0]
    with np.load(tmp_path / "many.npz") as many:
        assert farthest(one[1], {key: many[key] for key in many}) < 1e-9
