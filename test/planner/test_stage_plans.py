"""mlc plan: stages and replicas for measured layers."""

import json
import pathlib
import re

import pytest

PROFILES = pathlib.Path(__file__).parent / "pipedream"


def plan(tools, network, *flags):
    return tools.mlc("plan", PROFILES / f"{network}.csv", f"--edges={PROFILES / f'{network}_edges.csv'}", *flags)


@pytest.mark.parametrize("network, gpus, replicas", [
    ("vgg16", 4, [3, 1]), ("alexnet", 4, [3, 1]), ("alexnet", 16, [15, 1]), ("gnmt", 4, [1, 1, 1, 1])])
def test_stages_are_those_that_pipedream_published(tools, network, gpus, replicas):
    done = plan(tools, network, f"--ranks={gpus}", "--bandwidth=1.25e9", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [stage["replicas"] for stage in found["stages"]] == replicas
    names = [layer for stage in found["stages"] for layer in stage["layers"]]
    listed = [line.split(",")[0] for line in (PROFILES / f"{network}.csv").read_text().splitlines()[1:]]
    assert sorted(names) == sorted(listed)
    assert found["seconds"] < found["seconds_on_one_rank"]


def test_levels_of_a_cluster(tools):
    """16 ranks are two nodes of 8, and each node is divided by itself."""
    done = plan(tools, "alexnet", "--ranks=16", "--cluster=cluster:p3.16xlarge", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(stage["replicas"] for stage in found["stages"]) == 2
    for stage in found["stages"]:
        assert sum(inner["replicas"] for inner in stage["inner"]) == 8
    one = json.loads(plan(tools, "alexnet", "--ranks=8", "--cluster=cluster:p3.16xlarge", "--json").stdout)
    assert found["seconds"] < one["seconds"] and "inner" not in one["stages"][0]


def test_the_page_has_what_it_prints(tools):
    page = (tools.source / "docs/Planners.md").read_text()
    command, printed = re.search(r"^\$ mlc (plan test.*)\n((?:.*\n)*?)```", page, re.M).groups()
    done = tools.mlc(*command.split(), cwd=tools.source)
    assert done.returncode == 0 and done.stdout == printed


@pytest.mark.parametrize("flags, problem", [
    ([], "no file"),
    (["layers.csv"], "--edges says"),
    (["none.csv", "--edges=edges.csv"], "none.csv: cannot be read"),
    (["layers.csv", "--edges=none.csv"], "none.csv: cannot be read"),
    (["layers.csv", "--edges=layers.csv", "--ranks=2", "--bandwidth=1"], "the first line must be from,to"),
    (["layers.csv", "--edges=edges.csv", "--bandwidth=1"], "--bandwidth needs --ranks"),
    (["layers.csv", "--edges=edges.csv", "--bandwidth=0", "--ranks=2"], "--bandwidth must be above 0"),
    (["layers.csv", "--edges=edges.csv", "--bandwidth=nan", "--ranks=2"], "--bandwidth"),
    (["layers.csv", "--edges=edges.csv", "--bandwidth=1", "--ranks=2", "--cluster=cluster:k80-4"], "not both"),
    (["layers.csv", "--edges=edges.csv", "--ranks=0"], "--ranks must be 1 to"),
    (["layers.csv", "--edges=edges.csv", "--ranks=1000000000"], "--ranks must be 1 to"),
    (["layers.csv", "--edges=edges.csv", "--ranks=9", "--cluster=cluster:p3.16xlarge"], "do not fill groups of 8"),
    (["layers.csv", "--edges=edges.csv", "--ranks=5", "--cluster=cluster:k80-4"], "has 4"),
    (["layers.csv", "--edges=edges.csv", "--cluster=cluster:none"], "no such cluster"),
])
def test_wrong_input_is_named(tools, tmp_path, flags, problem):
    (tmp_path / "layers.csv").write_text("layer,operator,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,Conv,1,2,3,4\nb,Relu,1,2,3,4\n")
    (tmp_path / "edges.csv").write_text("from,to\na,b\n")
    done = tools.mlc("plan", *flags, cwd=tmp_path)
    assert done.returncode in (2, 3) and problem in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_too_many_layers_are_refused(tools, tmp_path):
    rows = "".join(f"l{i},Conv,1,1,1,1\n" for i in range(2000))
    (tmp_path / "layers.csv").write_text("layer,operator,forward_ms,backward_ms,activation_bytes,parameter_bytes\n" + rows)
    (tmp_path / "edges.csv").write_text("from,to\n" + "".join(f"l{i},l{i + 1}\n" for i in range(1999)))
    done = tools.mlc("plan", tmp_path / "layers.csv", f"--edges={tmp_path / 'edges.csv'}", "--ranks=64", "--bandwidth=1e9")
    assert done.returncode != 0 and "steps to divide exactly, and at most 3e+09 are taken" in done.stderr
