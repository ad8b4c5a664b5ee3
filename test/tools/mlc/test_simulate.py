"""mlc simulate: what a pipeline's step takes on a cluster, before it is compiled."""

import json
import re
import xml.etree.ElementTree

import numpy as np
import pytest

import trained

SCHEDULES = {  # ranks, stages, micro-batches
    "1f1b": (2, 2, 4), "interleaved-1f1b": (2, 4, 4), "zbv": (2, 4, 4), "chimera": (4, 4, 8), "gpipe": (3, 3, 2),
}


def flags_of(folder, name, schedule):
    model, *flags = [str(a) for a in trained.write(folder, name) if "--input" not in str(a)]
    ranks, stages, batches = SCHEDULES[schedule]
    return [model, *flags, "--optimizer=momentum", "--clip-norm=0.5", f"--ranks={ranks}", f"--stages={stages}",
            f"--micro-batches={batches}", f"--pipeline={schedule}"]


def simulate(tools, *flags):
    done = tools.mlc("simulate", *flags, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["gpt", "unet", "lstm"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bytes_are_those_that_ranks_send(tools, tmp_path, name, schedule):
    """Skip connections and tied weights included."""
    flags = flags_of(tmp_path, name, schedule)
    predicted = simulate(tools, *flags)
    _, inputs, _ = trained.build(name)
    np.savez(tmp_path / "d.npz", **trained.samples(inputs))
    done = tools.mlc("train", *flags, f"--data={tmp_path / 'd.npz'}", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}", "--no-rewrites")
    assert done.returncode == 0, done.stderr
    sent = re.findall(r"^rank \d+: \d+ bytes of states, (\d+) bytes sent", done.stdout + done.stderr, re.M)
    assert [str(rank["sent_bytes"]) for rank in predicted["ranks"]] == sent


@pytest.mark.parametrize("schedule, name", [(["pipedream"], "unet"), (["pipedream-2bw", "--update-every=2"], "unet"),
                                            (["ampnet", "--in-flight=2"], "unet"), (["terapipe", "--slices=2"], "gpt")])
def test_asynchronous_schedules_and_slices(tools, tmp_path, schedule, name):
    """Bytes are those that ranks send, and all updates take time."""
    model, *flags = [str(a) for a in trained.write(tmp_path, name) if "--input" not in str(a)]
    _, inputs, _ = trained.build(name)
    np.savez(tmp_path / "d.npz", **trained.samples(inputs))
    flags = [model, *flags, "--ranks=3", "--stages=3", "--micro-batches=6", f"--pipeline={schedule[0]}", *schedule[1:]]
    predicted = simulate(tools, *flags)
    done = tools.mlc("train", *flags, f"--data={tmp_path / 'd.npz'}", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}", "--no-rewrites")
    assert done.returncode == 0, done.stderr
    sent = re.findall(r"^rank \d+: \d+ bytes of states, (\d+) bytes sent", done.stdout + done.stderr, re.M)
    assert [str(rank["sent_bytes"]) for rank in predicted["ranks"]] == sent
    assert abs(sum(rank["busy_seconds"] for rank in predicted["ranks"]) - predicted["seconds_on_one_rank"]) < 1e-9


def test_times(tools, tmp_path):
    flags = flags_of(tmp_path, "unet", "1f1b")
    here, there = simulate(tools, *flags), simulate(tools, *flags, "--cluster=cluster:p3.16xlarge")
    assert here["cluster"] == "this-machine" and there["cluster"] == "p3.16xlarge"
    for found in here, there:
        # No rank is idle longer than the step, and none computes more than its stages.
        busy = [rank["busy_seconds"] for rank in found["ranks"]]
        assert max(busy) <= found["seconds"]
        assert abs(sum(busy) - found["seconds_on_one_rank"]) < 1e-9
        assert all(abs(rank["idle"] - (1 - rank["busy_seconds"] / found["seconds"])) < 1e-9 for rank in found["ranks"])
    # Where links are slow, the step is longer by them alone.
    cluster = json.loads((tools.source / "simulator/cluster/machines/p3.16xlarge.json").read_text())
    for level in cluster["levels"]:
        level["latency_seconds"]["value"] *= 1000
    (tmp_path / "slow.json").write_text(json.dumps(cluster))
    slow = simulate(tools, *flags, f"--cluster={tmp_path / 'slow.json'}")
    assert slow["seconds_on_one_rank"] == there["seconds_on_one_rank"]
    # Two messages a micro-batch each way follow each other at least once.
    assert slow["seconds"] - there["seconds"] > 2 * 999 * 3.4e-6


def test_pictures(tools, tmp_path):
    flags = flags_of(tmp_path, "mlp", "chimera")
    done = tools.mlc("simulate", *flags, f"--svg={tmp_path / 's.svg'}", f"--trace={tmp_path / 't.json'}")
    assert done.returncode == 0, done.stderr
    assert re.match(r"step: \S+ \ws on 4 ranks of this-machine, idle ", done.stdout)
    xml.etree.ElementTree.parse(tmp_path / "s.svg")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]


@pytest.mark.parametrize("more, problem", [
    (["--cluster=none.json"], "none.json: cannot be read"),
    (["--cluster=cluster:k80"], "cluster:k80"),
    (["--ranks=1"], "a schedule is of several ranks"),
    (["--compile-to=fuse"], "--compile-to is of mlc train"),
    (["--svg=-"], "--svg and --trace write to files"),
])
def test_wrong_flags(tools, tmp_path, more, problem):
    flags = [flag for flag in flags_of(tmp_path, "mlp", "1f1b") if not more[0].startswith("--ranks") or not flag.startswith("--ranks")]
    done = tools.mlc("simulate", *flags, *more)
    assert done.returncode in (2, 3) and problem in done.stderr, done.stderr


def test_a_cluster_that_is_too_small(tools, tmp_path):
    flags = [flag for flag in flags_of(tmp_path, "mlp", "1f1b") if not flag.startswith(("--ranks", "--stages", "--pipeline"))]
    done = tools.mlc("simulate", *flags, "--ranks=5", "--stages=5", "--cluster=cluster:k80-4")
    assert done.returncode == 2 and "has 4 ranks, and the plan 5" in done.stderr, done.stderr
