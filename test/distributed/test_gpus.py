"""Sessions on GPUs whose ranks exchange by NCCL: device memory is handed over, in order with the sessions' streams.

The test's NCCL reads when its collective begins, waits, and writes at the end, and refuses what is not the device's memory."""

import os
import re
import signal
import subprocess
import sys
import time

import gpus
import numpy as np
import pytest

import programs
import ranks
from networks import Trained, train, write
from programs import each, module, reshape, sharding, size_of, type_of

COUNT = 3
TARGET = "cuda:sm_90"
TRAINING = ["--optimizer=adamw", f"--target={TARGET}", "--threads=1"]


@pytest.fixture(scope="module")
def prepared(tools, tmp_path_factory):
    """Of each stage: the arguments, the folder of NVRTC's results, and what ranks that are threads train, over the host's copies."""
    folder, made = tmp_path_factory.mktemp("gpus"), {}
    cache = folder / "cache"
    arguments = [*map(str, write(folder, "mlp")), *TRAINING]

    def of(stage, batch, *more):
        flags = [*arguments, f"--zero={stage}", f"--batch={batch}", *more]
        key = tuple(flags)
        if key not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("MLC_CACHE", str(cache))
                made[key] = train(tools, flags, folder / f"{len(made)}.npz", "--steps=3", f"--ranks={COUNT}", "--device=emulator")
        return flags, cache, made[key]
    return of


def launch(tools, flags, cache, out, *more, count=COUNT, **environment):
    mlc = str(tools.build / "bin/mlc")
    return subprocess.run([mlc, "launch", "-n", str(count), "--", mlc, "train", *flags, "--engine=nccl", f"--checkpoint={out}",
                           "--checkpoint-every=1000000", "--timeout=60", *more], capture_output=True, text=True, timeout=300,
                          env=gpus.environment(tools, cache, **environment))


def on_gpus(tools, flags, cache, out, *more, **environment):
    done = launch(tools, flags, cache, out, "--device=cuda", *more, **environment)
    assert done.returncode == 0, done.stderr
    return Trained(done, out)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", [9, 8])
@pytest.mark.parametrize("stage", [0, 1, 3])
def test_training_has_the_bits_of_the_host_s_way(tools, tmp_path, prepared, stage, batch):
    flags, cache, threads = prepared(stage, batch)
    record = tmp_path / "calls"
    record.mkdir()
    gpu = on_gpus(tools, flags, cache, tmp_path / "gpu.npz", "--steps=3", MLC_NCCL_RECORD=str(record), MLC_NCCL_DELAY="3000")
    assert gpu.bits() == threads.bits() and list(gpu.losses) == list(threads.losses)
    called = [line.split() for path in record.iterdir() for line in path.read_text().splitlines()[1:]]
    assert called and all("stream=0" not in words for words in called if words[0] != "ncclGroupEnd")
    names = {words[0] for words in called}
    # Parts of two sizes are groups of reductions and broadcasts.
    assert names >= ({"ncclAllReduce"} if stage == 0 else {"ncclAllReduce", "ncclReduce", "ncclBroadcast"}), names


@pytest.mark.parametrize("stage", [0, 3])
def test_groups_are_called_in_one_order(tools, tmp_path, prepared, stage):
    """Of all communicators together, as one GPU may not have room for several of NCCL's kernels; each has its own stream."""
    flags, cache, threads = prepared(stage, 9, "--bucket-bytes=1")
    record = tmp_path / "calls"
    record.mkdir()
    gpu = on_gpus(tools, flags, cache, tmp_path / "gpu.npz", "--steps=3", "--groups=3", MLC_NCCL_RECORD=str(record),
                  MLC_NCCL_DELAY="3000")
    assert gpu.bits() == threads.bits() and list(gpu.losses) == list(threads.losses)
    orders, streams = {}, {}
    for path in record.iterdir():
        communicator, rank = map(int, path.name.split("."))
        for line in path.read_text().splitlines()[1:]:
            name, *words = line.split()
            given = dict(word.split("=") for word in words if "=" in word)
            # Transfers, by which ranks meet before they split, are other ones on each.
            if name in ("ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclAllGather", "ncclReduceScatter"):
                orders.setdefault(rank, []).append((int(given["turn"]), communicator, name, words[0]))
                streams.setdefault(rank, {}).setdefault(communicator, set()).add(given["stream"])
    called = [[call[1:] for call in sorted(orders[rank])] for rank in range(COUNT)]
    assert called[0] == called[1] == called[2] and len(called[0]) > 3 * 4
    for rank in range(COUNT):
        assert sorted(streams[rank]) == [0, 1, 2] and len(set.union(*streams[rank].values())) == 3


@pytest.mark.parametrize("schedule", ["1f1b", "zero-bubble"])
def test_pipelines_have_the_bits_of_the_host_s_way(tools, tmp_path, prepared, schedule):
    """Messages of a pipeline go over NCCL, a communicator and a stream for each pair of ranks and each direction."""
    more = [f"--pipeline={schedule}", "--stages=3", "--micro-batches=4"]
    flags, cache, threads = prepared(0, 3, *more)
    record = tmp_path / "calls"
    record.mkdir()
    gpu = on_gpus(tools, flags, cache, tmp_path / "gpu.npz", "--steps=3", MLC_NCCL_RECORD=str(record), MLC_NCCL_DELAY="3000")
    assert gpu.bits() == threads.bits() and list(gpu.losses) == list(threads.losses)
    called = [line.split() for path in record.iterdir() for line in path.read_text().splitlines()[1:]]
    assert sum(words[0] == "ncclSend" for words in called) >= 3 * 4 * 2 * 2
    assert all("stream=0" not in words for words in called if words[0] != "ncclGroupEnd")


def test_nothing_of_what_is_exchanged_is_copied(tools, tmp_path, prepared):
    """Copies of two steps more: those of samples, rates and losses alone, as without other ranks; over the host's way more."""
    flags, cache, _ = prepared(0, 9)

    def of_two_steps(*command, **more):
        told = []
        for steps in (3, 5):
            folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            done = subprocess.run([*command, *flags, f"--steps={steps}", f"--checkpoint={folder}.npz"], capture_output=True, text=True,
                                  timeout=300, env=gpus.environment(tools, cache, MLC_EMULATOR_CALLS=str(folder), **more))
            assert done.returncode == 0, done.stderr
            told.append(gpus.copies(folder))
        assert len(told[0]) == len(told[1]) > 0
        return {kind: (told[1][0][kind][0] - told[0][0][kind][0], told[1][0][kind][1] - told[0][0][kind][1])
                for kind in ("HtoD", "DtoH", "DtoD")}
    mlc = str(tools.build / "bin/mlc")
    many = [mlc, "launch", "-n", str(COUNT), "--", mlc, "train", "--engine=nccl"]
    gpu = of_two_steps(*many, "--device=cuda")
    host = of_two_steps(*many, "--device=emulator")
    assert gpu["DtoH"] == (2, 8)  # a loss each
    assert host["DtoH"][0] > 2 and host["DtoH"][1] > 8 + 2 * 4 * 851  # the gradients
    assert host["HtoD"][1] - gpu["HtoD"][1] == host["DtoH"][1] - gpu["DtoH"][1]
    assert gpu["DtoD"] == host["DtoD"]


@pytest.mark.parametrize("stage", [0, 3])
@pytest.mark.parametrize("deaf", ["0", "1"])
def test_without_the_events_the_numbers_are_wrong(tools, tmp_path, prepared, stage, deaf):
    """Stream 0 is NCCL's, which waits for what computes the operands, and 1 the session's, which waits for the results."""
    flags, cache, threads = prepared(stage, 9)
    out = tmp_path / "deaf.npz"
    done = launch(tools, flags, cache, out, "--device=cuda", "--steps=3", MLC_NCCL_DELAY="3000", MLC_TEST_DEAF_STREAM=deaf)
    if done.returncode == 0:
        assert Trained(done, out).bits() != threads.bits()
    else:
        assert "is not a finite number" in done.stderr


def test_programs_of_sends_and_receives_go_over_the_host(tools, tmp_path, prepared):
    flags, cache, threads = prepared(0, 9, "--algorithm=ring")
    gpu = on_gpus(tools, flags, cache, tmp_path / "gpu.npz", "--steps=3")
    assert gpu.bits() == threads.bits() and gpu.sent == threads.sent and gpu.sent[0] > 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
@pytest.mark.parametrize("isStuck", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
def test_a_rank_that_fails_ends_those_whose_streams_wait(tools, tmp_path, prepared, how, isStuck, groups):
    """Also where ncclCommAbort does not return."""
    flags, cache, _ = prepared(0, 9, "--bucket-bytes=1") if groups > 1 else prepared(0, 9)
    mlc, victim, timeout = str(tools.build / "bin/mlc"), 1, 3
    more = {"MLC_NCCL_STUCK": "1"} if isStuck else {}
    run = subprocess.Popen([mlc, "launch", "-n", str(COUNT), "--grace=20", "--", mlc, "train", *flags, "--engine=nccl", "--device=cuda",
                            f"--groups={groups}",
                            "--steps=100000000", "--learning-rate=1e-9", f"--checkpoint={tmp_path / 'c.npz'}",
                            "--checkpoint-every=100000000", f"--timeout={timeout}"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=gpus.environment(tools, cache, **more))
    pids = {}
    try:
        pids = ranks.ranks_of(run.pid, COUNT, "RANK")
        while not (line := run.stdout.readline()).startswith("step"):
            assert line or run.poll() is None, run.stderr.read()
        begin = time.monotonic()
        os.kill(pids[victim], how)
        others = [pid for rank, pid in pids.items() if rank != victim]
        while ranks.alive(others) and time.monotonic() < begin + timeout + 15:
            time.sleep(0.02)
        assert time.monotonic() - begin <= timeout + 5
        for pid in ranks.alive(pids.values()):
            os.kill(pid, signal.SIGKILL)
        _, errors = run.communicate(timeout=60)
        for rank in {0, 1, 2} - {victim}:
            told = re.search(rf"mlc: error: (?:\S+: )?rank {rank}: collective \d+(?: of group [^(]*)? \(all-reduce of the engine, of \d+ f32[^)]*\): ([^\n]*)",
                             errors)
            assert told and re.search(rf"rank {victim}\b", told.group(1)), errors
    finally:
        for pid in ranks.alive(pids.values()):
            os.kill(pid, signal.SIGKILL)
        if run.poll() is None:
            run.kill()


def test_gpus_that_contradict(tools, tmp_path, prepared):
    flags, cache, _ = prepared(0, 9)
    done = launch(tools, flags, cache, tmp_path / "c.npz", "--device=cuda:2", "--steps=1")
    assert done.returncode == 8 and "ranks 0 and 1 have the same GPU (0000:02:00.0); give device cuda, with which" in done.stderr
    done = launch(tools, flags, cache, tmp_path / "c.npz", "--device=cuda", "--steps=1", MLC_EMULATOR_DEVICES="2")
    assert done.returncode == 8 and "LOCAL_RANK is 2, and there is no device 'cuda:2'; the emulator has 2 GPUs" in done.stderr
    assert "start fewer ranks on a machine, or give each its device cuda:N" in done.stderr
    done = launch(tools, flags, cache, tmp_path / "c.npz", "--device=cuda", "--steps=1", MLC_LINK_LATENCY="0.1")
    assert done.returncode == 2 and "a link is made slow for what is in the host's memory alone; leave" in done.stderr


def axis(count, name="data"):
    return f'axis = #dist.axis<"{name}", {count}>'


def run(tools, folder, artifact, inputs, count, **more):
    mlc = str(tools.build / "bin/mlc")
    command = programs.command(tools, folder, artifact, inputs, "--engine=nccl", "--device=cuda", "--timeout=60")
    done = subprocess.run([mlc, "launch", "-n", str(count), "--", *map(str, command)], capture_output=True, text=True, timeout=300,
                          env=gpus.environment(tools, "off", MLC_NCCL_DELAY="2000", **more))
    assert done.returncode == 0, done.stderr
    return dict(np.load(folder / "outputs.npz"))


def test_a_program_of_all_collectives(tools, tmp_path):
    """Parts of two sizes; the shift is sends and receives. The second run of a profile has the first one's memory."""
    part, rows = size_of(7, COUNT), size_of(5, COUNT)
    before, after = [rows, "7"], ["5", part]
    text = module({"data": COUNT}, {"x": each(COUNT, [7]), "p": (type_of([part]), sharding("data")),
                                    "q": (type_of(before), sharding("data", ""))},
                  {"a": each(COUNT, [7]), "b": each(COUNT, [7]), "c": (type_of([part]), sharding("data")),
                   "d": (type_of(after), sharding("", "data")), "e": each(COUNT, [7]), "f": each(COUNT, [7])}, [
        reshape("u", "x", [1, 7], [7]),
        "%t = mlc.add %u, %u : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>",
        f'%r = dist.all_reduce %t {{{axis(COUNT)}, reduction = "sum"}} : (tensor<7xf32>) -> tensor<7xf32>',
        f"%g = dist.all_gather %p {{{axis(COUNT)}, dims = array<i64: 0>, extents = #mlc.dims<[7]>, units = #mlc.dims<[1]>}} : "
        f"({type_of([part])}) -> tensor<7xf32>",
        "%v = mlc.add %r, %g : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>",
        f'%c = dist.reduce_scatter %v {{{axis(COUNT)}, dims = array<i64: 0>, extents = #mlc.dims<[7]>, units = #mlc.dims<[1]>, '
        f'reduction = "sum"}} : (tensor<7xf32>) -> {type_of([part])}',
        f"%s = mlc.add %q, %q : ({type_of(before)}, {type_of(before)}) -> {type_of(before)}",
        f"%d = dist.all_to_all %s {{{axis(COUNT)}, split = 1 : i64, splitExtent = #mlc.int<7>, join = 0 : i64, "
        f"joinExtent = #mlc.int<5>}} : ({type_of(before)}) -> {type_of(after)}",
        f"%k = dist.broadcast %t {{{axis(COUNT)}, root = 1 : i64}} : (tensor<7xf32>) -> tensor<7xf32>",
        f"%h = dist.shift %k {{{axis(COUNT)}, by = 1 : i64}} : (tensor<7xf32>) -> tensor<7xf32>",
        reshape("a", "r", [7], [1, 7]), reshape("b", "g", [7], [1, 7]), reshape("e", "k", [7], [1, 7]), reshape("f", "h", [7], [1, 7]),
        f"return %a, %b, %c, %d, %e, %f : {type_of([1, 7])}, {type_of([1, 7])}, {type_of([part])}, {type_of(after)}, "
        f"{type_of([1, 7])}, {type_of([1, 7])}"])
    artifact = programs.compile(tools, tmp_path, text, target=TARGET)
    random = np.random.default_rng(3)
    x, p, q = (random.integers(-8, 8, shape).astype(np.float32) for shape in ((COUNT, 7), (7,), (5, 7)))
    record = tmp_path / "calls"
    record.mkdir()
    got = run(tools, tmp_path, artifact, {"x": x, "p": p, "q": q}, COUNT, MLC_NCCL_RECORD=str(record))
    total = 2 * x.sum(0)
    assert np.array_equal(got["a"], np.broadcast_to(total, x.shape))
    assert np.array_equal(got["b"], np.broadcast_to(p, x.shape))
    assert np.array_equal(got["c"], COUNT * (total + p))
    assert np.array_equal(got["d"], 2 * q)
    assert np.array_equal(got["e"], np.broadcast_to(2 * x[1], x.shape))
    assert np.array_equal(got["f"], np.concatenate([np.zeros((1, 7), np.float32), got["e"][1:]]))
    names = {line.split()[0] for path in record.iterdir() for line in path.read_text().splitlines()}
    assert names >= {"ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclSend", "ncclRecv"}


def test_groups_of_two_axes(tools, tmp_path):
    text = module({"row": 2, "column": 2}, {"x": (type_of([1, 1, 4]), sharding("row", "column", ""))},
                  {"a": (type_of([1, 1, 4]), sharding("row", "column", "")),
                   "b": (type_of([1, 1, 4]), sharding("row", "column", ""))}, [
        f'%a = dist.all_reduce %x {{{axis(2, "column")}, reduction = "sum"}} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>',
        f'%b = dist.all_reduce %a {{{axis(2, "row")}, reduction = "sum"}} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>',
        "return %a, %b : tensor<1x1x4xf32>, tensor<1x1x4xf32>"])
    x = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
    got = run(tools, tmp_path, programs.compile(tools, tmp_path, text, target=TARGET), {"x": x}, 4)
    assert np.array_equal(got["a"], np.broadcast_to(x.sum(1, keepdims=True), x.shape))
    assert np.array_equal(got["b"], np.broadcast_to(x.sum((0, 1)), x.shape))


SCRIPT = """
import sys
import mlc, numpy as np
own = mlc.Ranks("nccl", device=sys.argv[2], timeout=60)
model = mlc.load(sys.argv[1])
session = model.session(device=sys.argv[3], ranks=own)
x = np.arange(6, dtype=np.float32).reshape(3, 2)
y = session.run({"x": model.part("x", x, own.rank)})["y"]
# One write: processes share a pipe.
sys.stdout.write(f"{own.rank} {y.tolist()}\\n")
sys.stdout.flush()
own.finish()
"""


@pytest.mark.parametrize("ranksOn, sessionOn, text", [
    ("cuda", "cuda", None), ("cuda", "cuda:3", "the session is on cuda:3, and what its ranks exchange is on cuda:"),
    (7, "cuda", "device: expected one of ")])
def test_the_c_interface(tools, tmp_path, ranksOn, sessionOn, text):
    program = module({"data": COUNT}, {"x": each(COUNT, [2])}, {"y": each(COUNT, [2])}, [
        f'%y = dist.all_reduce %x {{{axis(COUNT)}, reduction = "sum"}} : (tensor<1x2xf32>) -> tensor<1x2xf32>',
        "return %y : tensor<1x2xf32>"])
    artifact = programs.compile(tools, tmp_path, program, target=TARGET)
    script = SCRIPT.replace("sys.argv[2]", repr(ranksOn))
    done = subprocess.run([str(tools.build / "bin/mlc"), "launch", "-n", str(COUNT), "--", sys.executable, "-c", script, str(artifact), "",
                           sessionOn], capture_output=True, text=True, timeout=120,
                          env=gpus.environment(tools, "off", PYTHONPATH=str(tools.source / "runtime/python")))
    if text:
        assert done.returncode != 0 and text in done.stderr, done.stderr
    else:
        assert done.returncode == 0 and sorted(done.stdout.splitlines()) == [f"{r} [[6.0, 9.0]]" for r in range(COUNT)], done.stderr


def test_the_measurement(tools):
    """tools/bench/nccl_device.py over what is emulated; without a GPU it says that it has done nothing."""
    script = tools.source / "tools/bench/nccl_device.py"
    done = subprocess.run([sys.executable, script, f"--build={tools.build}", "--emulated", "--ranks=2", "--steps=3", "--sizes=4096"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.endswith("all is right\n"), done.stdout + done.stderr
    assert re.search(r"^all-to-all +4096 ", done.stdout, re.M) and "training, 2 ranks: " in done.stdout
    if not os.path.exists("/dev/nvidiactl"):
        done = subprocess.run([sys.executable, script, f"--build={tools.build}"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 77 and done.stdout.startswith("SKIPPED, nothing was checked: "), done.stdout + done.stderr
