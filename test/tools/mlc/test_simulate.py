"""mlc simulate: what a pipeline's step takes on a cluster, before it is compiled."""

import json
import re
import xml.etree.ElementTree

import numpy as np
import onnx
import pytest

import trained

SCHEDULES = {  # ranks, stages, micro-batches
    "1f1b": (2, 2, 4), "interleaved-1f1b": (2, 4, 4), "zbv": (2, 4, 4), "chimera": (4, 4, 8), "gpipe": (3, 3, 2),
    # Ranks of stages that share micro-batches, which they do not divide.
    "1f1b 3,1": (4, 2, 7), "gpipe 1,2": (3, 2, 5),
}


def flags_of(folder, name, schedule):
    model, *flags = [str(a) for a in trained.write(folder, name) if "--input" not in str(a)]
    ranks, stages, batches = SCHEDULES[schedule]
    schedule, *shared = schedule.split()
    return [model, *flags, "--optimizer=momentum", "--clip-norm=0.5", f"--ranks={ranks}", f"--stages={stages}",
            f"--micro-batches={batches}", f"--pipeline={schedule}", *(f"--replicas={one}" for one in shared)]


def simulate(tools, *flags):
    done = tools.mlc("simulate", *flags, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["gpt", "unet", "lstm"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bytes_are_those_of_the_ranks(tools, tmp_path, name, schedule):
    """What ranks send and what they allocate; skip connections and tied weights included."""
    flags = [*flags_of(tmp_path, name, schedule), "--no-rewrites", "--threads=1"]
    predicted = simulate(tools, *flags)
    assert predicted["memory_is_compiled"]
    _, inputs, _ = trained.build(name)
    np.savez(tmp_path / "d.npz", **trained.samples(inputs))
    done = tools.mlc("train", *flags, f"--data={tmp_path / 'd.npz'}", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    sent = re.findall(r"^rank \d+: \d+ bytes of states, (\d+) bytes sent", text, re.M)
    assert [str(rank["sent_bytes"]) for rank in predicted["ranks"]] == sent
    assert [memory_of(rank) for rank in predicted["ranks"]] == taken(text)


SPLIT = {  # ranks, and their flags
    "data": (2, []),
    "zero": (2, ["--zero=3"]),
    "data, stages": (4, ["--mesh=data=2,stage=2", "--stages=2"]),
    "stages, data, zero": (4, ["--mesh=stage=2,data=2", "--stages=2", "--zero=1"]),
    "data, stages, zero": (4, ["--mesh=data=2,stage=2", "--stages=2", "--zero=2", "--pipeline=zero-bubble"]),
    "tensor": (2, ["--mesh=data=1,tensor=2", "--shard=layer0.up.weight=-,tensor"]),
}


@pytest.mark.parametrize("what", SPLIT)
def test_bytes_of_ranks_that_share_a_batch(tools, tmp_path, what):
    """Collectives are counted too: each of the alike ranks sends what the simulated one does."""
    model, *flags = [str(a) for a in trained.write(tmp_path, "gpt") if "--input" not in str(a)]
    ranks, more = SPLIT[what]
    flags = [model, *flags, f"--ranks={ranks}", "--micro-batches=2", "--no-rewrites", "--threads=1", "--algorithm=ring", *more]
    done = tools.mlc("simulate", *flags, "--json")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    predicted = json.loads(done.stdout)
    _, inputs, _ = trained.build("gpt")
    np.savez(tmp_path / "d.npz", **trained.samples(inputs))
    done = tools.mlc("train", *flags, f"--data={tmp_path / 'd.npz'}", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    sent = [int(n) for n in re.findall(r"^rank \d+: \d+ bytes of states, (\d+) bytes sent", done.stdout + done.stderr, re.M)]
    assert len(sent) == ranks == predicted["copies"] * len(predicted["ranks"])
    for rank in predicted["ranks"]:
        assert rank["sent_bytes"] == sent[rank["rank"]]


def test_parts_of_different_sizes(tools, tmp_path):
    """Ranks that do not divide a batch, or the states of ZeRO: the first rank, which has the largest parts, is simulated."""
    model, *flags = [str(a) for a in trained.write(tmp_path, "gpt") if "--input" not in str(a)]
    _, inputs, _ = trained.build("gpt")
    np.savez(tmp_path / "d.npz", **trained.samples(inputs))
    flags = [model, *flags, "--ranks=3", "--batch=3", "--optimizer=adam", "--no-rewrites", "--threads=1", "--algorithm=ring"]
    network = onnx.load(model)
    for value in (*network.graph.input, *network.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    onnx.save(network, model)
    found = simulate(tools, *flags, "--zero=3")["ranks"][0]
    done = tools.mlc("train", *flags, "--zero=3", f"--data={tmp_path / 'd.npz'}", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    states = [int(n) for n in re.findall(r"^rank \d+: (\d+) bytes of states", done.stdout + done.stderr, re.M)]
    assert found["memory"]["states"] == states[0] == max(states) > min(states)


PARTS = ["states", "arenas", "carried", "sums", "samples", "scratch"]


def memory_of(rank):
    return [rank["memory"][part] for part in PARTS]


def taken(text):
    """For each rank what training says that it allocates, in the order of PARTS."""
    states = re.findall(r"^rank \d+: (\d+) bytes of states", text, re.M)
    others = re.findall(r"^rank \d+: (\d+) bytes of arenas, (\d+) carried between entries, (\d+) of sums, (\d+) of samples, (\d+) of scratch",
                        text, re.M)
    return [[int(number) for number in (first, *rest)] for first, rest in zip(states, others, strict=True)]


def test_memory_of_compiled_entries_and_estimates(tools, tmp_path):
    """The entries' code takes what their kernels say. Operators alone tell within 10 %."""
    flags = flags_of(tmp_path, "gpt", "1f1b")
    found, compiled, estimated = (simulate(tools, *flags, *how) for how in ([], ["--compile"], ["--estimate"]))
    assert found["ranks"] == compiled["ranks"] and found["entries"] == compiled["entries"]
    assert not estimated["memory_is_compiled"]
    for one, other in zip(found["ranks"], estimated["ranks"], strict=True):
        for part in ("states", "carried", "sums", "samples"):
            assert one["memory"][part] == other["memory"][part]
        assert abs(other["memory"]["total"] / one["memory"]["total"] - 1) < 0.1
        # Over time memory grows to what it is at the end, and is never all in use.
        over_time = one["memory"]["over_time"]
        allocated = [point["allocated"] for point in over_time]
        assert allocated == sorted(allocated) and allocated[-1] == one["memory"]["total"] == sum(memory_of(one))
        assert max(point["in_use"] for point in over_time) == one["memory"]["most_in_use"] <= allocated[-1]
        assert one["memory"]["most_at"] in [point["action"] for point in over_time]


def cluster_of(tools, path, name="this-machine", **device):
    """A cluster like the one of that name, with other numbers of its devices."""
    cluster = json.loads((tools.source / f"simulator/cluster/machines/{name}.json").read_text())
    for one in cluster["devices"].values():
        for key, value in device.items():
            one[key]["value"] = value
    path.write_text(json.dumps(cluster))
    return f"--cluster={path}"


def test_memory_that_is_too_small(tools, tmp_path):
    flags = flags_of(tmp_path, "gpt", "1f1b")
    ranks = [rank["memory"] for rank in simulate(tools, *flags)["ranks"]]
    capacity = ranks[1]["total"] - 1 if ranks[1]["total"] > ranks[0]["total"] else ranks[0]["total"] - 1
    least = min(rank["total"] for rank in ranks)
    assert least <= capacity
    done = tools.mlc("simulate", *flags, cluster_of(tools, tmp_path / "c.json", memory_bytes=capacity))
    rank = max(range(2), key=lambda r: ranks[r]["total"])
    first = next(point["action"] for point in ranks[rank]["over_time"] if point["allocated"] > capacity)
    assert done.returncode == 9 and f"rank {rank}, {first}: " in done.stderr and "(1 after the step)" in done.stderr, done.stderr


def test_report(tools, tmp_path):
    flags = flags_of(tmp_path, "unet", "1f1b")
    found = json.loads(tools.mlc("simulate", *flags, "--json", f"--report={tmp_path / 'r.html'}").stdout)
    page = (tmp_path / "r.html").read_text()
    assert "<script" not in page and "href" not in page and page.count("<svg") == 1 + len(found["ranks"])
    # It is XML but for its first line and an empty element of the head.
    xml.etree.ElementTree.fromstring(page.replace("<!doctype html>", "").replace("<meta charset='utf-8'>", ""))
    for rank in found["ranks"]:
        for number in (rank["memory"]["states"], rank["memory"]["carried"], rank["sent_bytes"]):
            assert f"<td>{number}</td>" in page or f"{number} bytes" in page
        assert rank["waits"][0]["to_seconds"] > rank["waits"][0]["from_seconds"] or not rank["waits"]
    assert re.search(r"1F0 waits \S+ \ws for 0SEND_F0 of rank 0: \d+ bytes", page)
    first = found["ranks"][1]["waits"][0]
    assert first["next"] == "1F0" and first["message_from"] == 0 and first["message_bytes"] > 0
    again = tools.mlc("simulate", *flags, f"--report={tmp_path / 's.html'}")
    assert again.returncode == 0 and (tmp_path / "s.html").read_text() == page


def slow_model(tmp_path, width, layers):
    """Products that are predicted to take long; their weights are zeros."""
    nodes = [onnx.helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"product{i}") for i in range(layers)]
    nodes.append(onnx.helper.make_node("ReduceMean", [f"x{layers}"], ["loss"], keepdims=0, name="mean"))
    weights = [onnx.numpy_helper.from_array(np.zeros((width, width), np.float32), f"w{i}") for i in range(layers)]
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "g", [info("x0", 1, ["n", width])], [info("loss", 1, [])], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), tmp_path / "slow.onnx")
    return tmp_path / "slow.onnx"


@pytest.mark.parametrize("launcher", [[], ["launch", "-n", "2", "--"]])
def test_replay(tools, tmp_path, launcher):
    """On threads, and on processes over Gloo. Waits take no core, so busy machines matter little."""
    flags = ["simulate", slow_model(tmp_path, 256, 4), "--batch=8192", "--stages=2", "--micro-batches=4", "--estimate", "--replay",
             "--replay-steps=1", "--json"]
    if launcher:
        done = tools.mlc(*launcher, tools.build / "bin/mlc", *flags)
    else:
        done = tools.mlc(*flags, "--ranks=2")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["replayed_seconds"]) == 1
    # No step is faster than its waits; how much slower is for tools/bench/replay.py to say.
    assert max(rank["busy_seconds"] for rank in found["ranks"]) <= found["replayed_seconds"][0] < found["seconds"] + 2


@pytest.mark.parametrize("schedule, name", [(["pipedream"], "unet"), (["pipedream", "--replicas=2,1,1"], "unet"), (["pipedream-2bw", "--update-every=2"], "unet"),
                                            (["ampnet", "--in-flight=2"], "unet"), (["terapipe", "--slices=2"], "gpt"),
                                            (["pipedream", "--replicas=2,1,1", "--recompute"], "unet"), (["1f1b", "--recompute"], "gpt")])
def test_asynchronous_schedules_slices_and_recomputing(tools, tmp_path, schedule, name):
    """Bytes are those that ranks send and allocate, versions of weights included, and all updates take time."""
    model, *flags = [str(a) for a in trained.write(tmp_path, name) if "--input" not in str(a)]
    _, inputs, _ = trained.build(name)
    np.savez(tmp_path / "d.npz", **trained.samples(inputs))
    ranks = 4 if "--replicas=2,1,1" in schedule else 3
    flags = [model, *flags, f"--ranks={ranks}", "--stages=3", "--micro-batches=6", "--no-rewrites", "--threads=1", f"--pipeline={schedule[0]}", *schedule[1:]]
    predicted = simulate(tools, *flags)
    done = tools.mlc("train", *flags, f"--data={tmp_path / 'd.npz'}", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 0, done.stderr
    sent = re.findall(r"^rank \d+: \d+ bytes of states, (\d+) bytes sent", done.stdout + done.stderr, re.M)
    assert [str(rank["sent_bytes"]) for rank in predicted["ranks"]] == sent
    assert predicted["memory_is_compiled"]
    assert [memory_of(rank) for rank in predicted["ranks"]] == taken(done.stdout + done.stderr)
    # Ranks that share a stage all update it.
    more = sum(rank["busy_seconds"] for rank in predicted["ranks"]) - predicted["seconds_on_one_rank"]
    assert 0 < more < predicted["seconds"] if ranks == 4 else abs(more) < 1e-9


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
    (["--svg=-"], "--svg, --trace, --report and --save-plan write to files"),
    (["--estimate", "--compile"], "--estimate and --compile exclude each other"),
    (["--threads=0"], "--threads must be at least 1"),
    (["--replay-steps=0"], "--replay-steps must be at least 1"),
])
def test_wrong_flags(tools, tmp_path, more, problem):
    flags = [flag for flag in flags_of(tmp_path, "mlp", "1f1b") if not more[0].startswith("--ranks") or not flag.startswith("--ranks")]
    done = tools.mlc("simulate", *flags, *more)
    assert done.returncode in (2, 3) and problem in done.stderr, done.stderr


def test_a_cluster_that_is_too_small(tools, tmp_path):
    flags = [flag for flag in flags_of(tmp_path, "mlp", "1f1b") if not flag.startswith(("--ranks", "--stages", "--pipeline"))]
    done = tools.mlc("simulate", *flags, "--ranks=5", "--stages=5", "--cluster=cluster:k80-4")
    assert done.returncode == 2 and "has 4 ranks, and the plan 5" in done.stderr, done.stderr
