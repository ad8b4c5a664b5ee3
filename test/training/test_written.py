"""Plans of mlc plan --strategy train as one rank does; test_planned.py has those of optcnn."""

import json

import pytest
from test_meshes import is_step
from test_stages import arguments, in_doubles, train


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
