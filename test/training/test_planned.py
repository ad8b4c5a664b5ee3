"""Plans of mlc plan train as one rank does: tensors inside are pinned, and gradients follow."""

import json
import re

import pytest
from test_meshes import is_step
from test_stages import arguments, in_doubles, train


@pytest.mark.parametrize("name, room", [("mlp", 1.1), ("alexnet", 1.05), ("gpt", 1.0), ("resnet", 1.1)])
def test_a_found_plan(tools, tmp_path, name, room):
    """So little memory that much has to be split."""
    flags = arguments(tmp_path, name)
    in_doubles(tmp_path, flags)
    one = train(tools, tmp_path, "one", *flags)
    model, loss = str(flags[0]), [flag for flag in map(str, flags) if flag.startswith(("--loss", "--class-axis"))]

    def plan(memory):
        return tools.mlc("plan", model, "--planner=shardings", *loss, "--ranks=2", "--mesh=data=1,tensor=2", f"--memory={memory}",
                         "--cluster=cluster:p3.16xlarge", "-o", tmp_path / "plan.json")
    done = plan(1)
    assert done.returncode == 9, done.stderr
    least = int(re.search(r"needs at least (\d+) bytes, and there are 1$", done.stderr, re.M)[1])
    done = plan(int(least * room))
    assert done.returncode == 0, done.stderr
    assert any("tensor" in split for split in json.loads((tmp_path / "plan.json").read_text())["shard"].values())
    checked = tools.mlc("check-plan", tmp_path / "plan.json", model, *loss)
    assert checked.returncode == 0, checked.stderr
    is_step(one, train(tools, tmp_path, "many", *flags, "--ranks=2", f"--plan={tmp_path / 'plan.json'}"), tolerance=1e-9)


def test_a_plan_of_operators(tools, tmp_path):
    """Of --planner=soap: dense layers by their weights."""
    flags = arguments(tmp_path, "alexnet")
    in_doubles(tmp_path, flags)
    one = train(tools, tmp_path, "one", *flags)
    model, loss = str(flags[0]), [flag for flag in map(str, flags) if flag.startswith(("--loss", "--class-axis"))]
    done = tools.mlc("plan", model, "--planner=soap", *loss, "--ranks=2", "--budget=3000", "--cluster=cluster:k80-4", "-o",
                     tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    assert "split1" in str(json.loads((tmp_path / "plan.json").read_text())["shard"])
    is_step(one, train(tools, tmp_path, "many", *flags, "--ranks=2", f"--plan={tmp_path / 'plan.json'}"), tolerance=1e-9)
