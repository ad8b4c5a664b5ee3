"""Cluster files by the tools: shown, fitted to measured iterations, refused."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURED = pathlib.Path(__file__).parent / "vtrain"
MACHINES = sorted((ROOT / "simulator/cluster/machines").glob("*.json"))
FIT = ["calibrate", "--cluster=cluster:a100-800g", f"--iterations={MEASURED}/iterations_single_node.csv",
       f"--iterations={MEASURED}/iterations_multi_node.csv"]


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.stem)
def test_shipped_clusters_are_shown(tools, path):
    done = tools.mlc("inspect", f"cluster:{path.stem}")
    assert (done.returncode, done.stderr) == (0, "")
    for level in json.loads(path.read_text())["levels"]:
        assert f"  {level['name']} ({level['medium']}), {level['ranks']} ranks: " in done.stdout
    assert re.search(r"^  own  ", done.stdout, re.M)
    assert tools.mlc("inspect", path).stdout == done.stdout


def test_times_are_those_of_the_links(tools):
    done = tools.mlc("inspect", "cluster:flexflow-p100", "--ranks=16", "--bytes=16000000", "--json")
    said = json.loads(done.stdout)
    assert (said["name"], said["ranks"], said["bytes"]) == ("flexflow-p100", 16, 16000000)
    times = {name: row.get("16") for name, row in said["all_reduce_seconds"].items()}
    # A ring leaves each node once, at 11.5e9 bytes/s: 30 parts of a sixteenth, each with a latency of 5 us.
    assert times["ring"] == pytest.approx(30 * (1e6 / 11.5e9 + 5e-6), rel=1e-3)
    assert times["naive"] > times["colocated"] > times["ring"] / 2 and times["tree"] > times["halving-doubling"]


def test_fitted_constants_are_a_cluster(tools, tmp_path):
    fitted = tmp_path / "fitted.json"
    done = tools.mlc(*FIT, "--seed=1", "-o", fitted, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["fitted_rows"] == 310 and len(said["constants"]) <= 13
    assert said["one_node"]["rows"] == 1152 and said["one_node"]["mean_error"] < 0.055
    assert said["several_nodes"]["rows"] == 87 and said["several_nodes"]["mean_error"] < 0.09
    assert said["one_node"]["kendall_tau"] > 0.93 and said["several_nodes"]["kendall_tau"] > 0.84
    assert said["choice"]["mean_loss"] < 0.04
    training = json.loads(fitted.read_text())["training"]
    assert {key: entry["value"] for key, entry in training.items()} == said["constants"]
    assert all("fitted by mlc calibrate to 310 iterations" in entry["source"] for entry in training.values())
    again = tmp_path / "again.json"
    assert tools.mlc(*FIT, "--seed=1", "-o", again).returncode == 0
    assert again.read_bytes() == fitted.read_bytes()
    # Its own constants are where the next fit begins.
    assert tools.mlc("inspect", fitted).returncode == 0
    done = tools.mlc("calibrate", f"--cluster={fitted}", FIT[2], "--holdout=0")
    assert "fitted to 1440 of 1440 iterations" in done.stdout and "\n  several nodes" not in done.stdout


def iterations(path, *times):
    """The first measured row, with other times."""
    header, row = (MEASURED / "iterations_single_node.csv").read_text().splitlines()[:2]
    path.write_text("\n".join([header, *(f"{row.rpartition(',')[0]},{time}" for time in times)]) + "\n")
    return f"--iterations={path}"


def test_a_fit_to_one_row(tools, tmp_path):
    one = ["calibrate", "--cluster=cluster:p3.16xlarge", iterations(tmp_path / "one.csv", 372.2)]
    note = "one node: too few rows to hold 0.8 of them out; the errors are on rows that were fitted\n"
    for flags, said in ([], True), (["--holdout=0"], False):
        done = tools.mlc(*one, *flags)
        assert done.returncode == 0 and (note in done.stdout) == said, done.stdout
        assert re.search(r"^on all:.*tau\n  one node +1 +[0-9.]+ % +[0-9.]+ % +-\n", done.stdout, re.M), done.stdout
    agreement = json.loads(tools.mlc(*one, "--json").stdout)["one_node"]
    assert agreement["held_out"] is False and "kendall_tau" not in agreement
    # Absurd errors do not run together.
    done = tools.mlc(*one[:2], iterations(tmp_path / "tiny.csv", 0.001))
    assert re.search(r"^  one node +1 +[0-9.e+]+ % +[0-9.e+]+ % +-$", done.stdout, re.M), done.stdout
    done = tools.mlc(*one[:2], iterations(tmp_path / "tinier.csv", 1e-9))
    assert done.returncode == 3 and "iteration_ms: expected a number from 0.001 to 1e9, not '1e-09'" in done.stderr


def slow_cluster(path, rate, name="k80-4"):
    cluster = json.loads((ROOT / f"simulator/cluster/machines/{name}.json").read_text())
    for level in cluster["levels"]:
        level["bytes_per_second"]["value"] = rate
    path.write_text(json.dumps(cluster))
    return path


@pytest.mark.parametrize("rate", [1, 1e-300])
def test_times_that_are_too_long(tools, tmp_path, rate):
    path = slow_cluster(tmp_path / "slow.json", rate)
    done = tools.mlc("inspect", path)
    assert done.returncode == 0 and re.search(r"^  ring +too long +too long$", done.stdout, re.M), done.stdout
    assert done.stdout.endswith("\n  too long: more than 106 days\n")
    assert set(map(len, json.loads(tools.mlc("inspect", path, "--json").stdout)["all_reduce_seconds"].values())) == {0}
    # The longest times that there are keep their columns.
    done = tools.mlc("inspect", slow_cluster(tmp_path / "slow.json", 0.03), "--bytes=100000")
    assert re.search(r"^  ring +3.33e\+06 s +5e\+06 s$", done.stdout, re.M), done.stdout
    assert re.search(r"^  butterfly +3.33e\+06 s +6.67e\+06 s$", done.stdout, re.M), done.stdout


def test_no_iteration_ends(tools, tmp_path):
    path = slow_cluster(tmp_path / "slow.json", 1e-300, "p3.16xlarge")
    row = "2,16,8,1024,16,24,1024,2,1,1,372.2\n"
    table = tmp_path / "t.csv"
    table.write_text((MEASURED / "iterations_single_node.csv").read_text().split("\n")[0] + "\n" + row)
    done = tools.mlc("calibrate", f"--cluster={path}", f"--iterations={table}")
    assert done.returncode == 3 and "an iteration on 2 gpus would never end on it; give larger rates" in done.stderr


def test_cells_without_a_time_have_a_reason(tools, tmp_path):
    done = tools.mlc("inspect", "cluster:k80-4", "--ranks=3")
    assert re.search(r"^  butterfly +-$", done.stdout, re.M)
    assert "\n  -: the algorithm butterfly is for a power of two ranks, not 3; take halving-doubling\n" in done.stdout
    done = tools.mlc("inspect", "cluster:a100-800g", "--ranks=65")
    assert done.stdout.endswith("\n  -: programs of sends are run on up to 64 ranks; own has a time\n"), done.stdout
    one = json.loads((ROOT / "simulator/cluster/machines/this-machine.json").read_text())
    one["nodes"][0]["ranks"] = one["levels"][0]["ranks"] = 1
    path = tmp_path / "one.json"
    path.write_text(json.dumps(one))
    done = tools.mlc("inspect", path)
    assert done.returncode == 0 and done.stdout.endswith("\none rank: there is nothing to all-reduce\n")
    assert "the cluster has one rank" in tools.mlc("inspect", path, "--ranks=2").stderr


def test_a_server_is_one_of_the_ranks(tools, tmp_path):
    path = slow_cluster(tmp_path / "c.json", 1e9, "flexflow-p100")
    latency = json.loads(path.read_text())["levels"][0]["latency_seconds"]["value"]
    said = json.loads(tools.mlc("inspect", path, "--ranks=4", "--bytes=4000000", "--json").stdout)
    # Three workers, as docs/Clusters.md counts.
    assert said["all_reduce_seconds"]["server"]["4"] == pytest.approx(6 * 4e6 / 1e9 + 4 * latency, rel=1e-3)


@pytest.mark.parametrize("file", ["/dev/zero", "/tmp", "k80-4"])
def test_what_may_be_a_cluster(tools, file):
    done = tools.mlc("inspect", file)
    assert done.returncode == 3, done.stderr
    assert done.stderr.endswith("; make it with mlc compile, or give a cluster as FILE.json or cluster:NAME\n")


@pytest.mark.parametrize("arguments, code, message", [
    (["inspect", "cluster:x"], 2, "cluster:x: no such cluster ships with mlc; there are cluster:"),
    (["inspect", "cluster:k80-4", "--ranks=5"], 2, "--ranks 5: the cluster has 2 to 4"),
    (["inspect", "cluster:k80-4", "--ranks=0"], 2, "--ranks 0: the cluster has 2 to 4"),
    (["inspect", "cluster:k80-4", f"--bytes={2**63 - 1}"], 2,
     f"--bytes {2**63 - 1}: a collective of {2**61 - 1} elements; take fewer"),
    (["inspect", "model.mlca", "--ranks=2"], 2, "--bytes and --ranks are of clusters"),
    (["calibrate", "--cluster=cluster:k80-4", "--ranks=0"], 2, "measured on 2 to 64 ranks, not on 0; give --ranks"),
    (["inspect", "cluster:k80-4", "--bytes=0"], 2, "--bytes: expected"),
    (["inspect", "cluster:k80-4", "--dim=n=1"], 2, "of artifacts"),
    (["calibrate", "--iterations=x.csv"], 2, "give both"),
    (["calibrate", "--cluster=cluster:k80-4", "--ranks=1"], 2, "measured on 2 to 64 ranks, not on 1; give --ranks"),
    ([*FIT, "--ranks=2"], 2, "give one of them"),
    ([*FIT, "--holdout=1"], 2, "--holdout: expected a share from 0 to below 1"),
    ([*FIT, "model.onnx", "--timings=t.json"], 2, "give one of them"),
    (["calibrate", "--cluster=cluster:k80-4", f"--iterations={MEASURED}/iterations_single_node.csv"], 3,
     "has 8 gpus, and the cluster 4; take a cluster with more nodes"),
    (["calibrate", "--cluster=cluster:k80-4", "--iterations=none.csv"], 3, "none.csv: cannot be read")])
def test_wrong_command_lines(tools, arguments, code, message):
    done = tools.mlc(*arguments)
    assert done.returncode == code and message in done.stderr, done.stderr


@pytest.mark.parametrize("launch, engine", [([], "inproc"), (["launch", "-n", "3", "--", "mlc"], "gloo")])
def test_measured_links_are_a_cluster(tools, tmp_path, launch, engine):
    path = tmp_path / "links.json"
    launch = [str(tools.build / "bin/mlc") if word == "mlc" else word for word in launch]
    ranks = [] if launch else ["--ranks=3"]
    done = tools.mlc(*launch, "calibrate", "--cluster=cluster:this-machine", *ranks, "-o", path)
    assert done.returncode == 0, done.stderr
    read = json.loads(path.read_text())
    [level] = read["levels"]
    assert (level["name"], level["ranks"]) == (engine, 3)
    assert 0 < level["latency_seconds"]["value"] < 1
    rates = level["bytes_per_second"]["value"]
    assert [count for count, _ in rates] == [2, 3] and all(1e6 < rate < 1e13 for _, rate in rates)
    assert 1e8 < read["devices"]["core"]["sum_bytes_per_second"]["value"] < 1e12
    # A measured ring is what the file says again.
    said = json.loads(tools.mlc("inspect", path, "--json", f"--bytes={16 << 20}").stdout)
    assert 1e-4 < said["all_reduce_seconds"]["ring"]["3"] < 60


@pytest.mark.parametrize("change, message", [
    (('"k80": {', '"k8": {'), "nodes[0].device: 'k80' is unknown; do you mean 'k8'? or give one of k8"),
    (('"gpu:k80"', '"gpu:k81"'), "devices.k80.target: unknown target 'gpu:k81'; known targets: "),
    (('"ranks": 4,\n', '"ranks": 0,\n'), "levels[1].ranks: expected a whole number from 1 to 65536, not 0"),
    (("1e10", "0"), "bytes_per_second.value: expected a number above 0"),
    (("1e10", "NaN"), "line "), (("}", ""), "line ")])
def test_wrong_files(tools, tmp_path, change, message):
    path = tmp_path / "c.json"
    path.write_text((ROOT / "simulator/cluster/machines/k80-4.json").read_text().replace(*change, 1))
    done = tools.mlc("inspect", path)
    assert done.returncode == 3 and done.stderr.startswith(f"mlc: error: {path}: ") and message in done.stderr


def test_the_page_has_every_key(tools):
    page = (ROOT / "docs/Clusters.md").read_text()

    def keys(value):
        for key, inner in value.items() if isinstance(value, dict) else ():
            yield key
            yield from keys(inner)
        for inner in value if isinstance(value, list) else ():
            yield from keys(inner)
    named = {"k80", "v100", "a100", "p100", "core"}
    for path in MACHINES:
        for key in set(keys(json.loads(path.read_text()))) - named:
            assert f"`{key}`" in page, key
