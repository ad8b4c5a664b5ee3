"""The program that measures on GPUs (tools/bench/gpu): packed, and run on the
emulator, where times mean nothing but errors do."""

import importlib
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

CASES = ["gemm bert 128x768x768 bias f16", "conv 32 28x28 512>128 1x1/1 f16", "softmax 1024 f16", "transpose 01 f32",
         "softmaxes 1 f32"]
MODULES = ["failure", "graph", "places", "checks", "peers", "timing", "workers", "sanitize", "report", "numpy_ops", "cases",
           "onnx_files"]


@pytest.fixture(scope="module")
def packed(tools, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu") / "pack"
    done = subprocess.run([sys.executable, tools.source / "tools/bench/gpu", "pack", folder, "--small", "--build", tools.build,
                           "--only", "|".join(f"^{re.escape(case)}$" for case in CASES)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 cases" in done.stdout
    return folder


@pytest.fixture
def folder(packed, tmp_path):
    return shutil.copytree(packed, tmp_path / "pack")


def run(folder, *options, device="emulator", **variables):
    """From the folder alone."""
    alone = {name: value for name, value in os.environ.items() if name not in ("MLC_BUILD", "PYTHONPATH")}
    return subprocess.run([sys.executable, folder / "gpu", "run", folder, f"--device={device}", *map(str, options)],
                          capture_output=True, text=True, env={**alone, **variables}, cwd=folder.parent)


def rows_of(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def statuses(folder):
    return {row["case"]: row["status"] for row in rows_of(folder) if row["phase"] in ("right", "networks")}


@pytest.fixture(scope="module")
def parts(packed):
    """The program's modules; those of the same names that other tests use stay as they are."""
    others = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    sys.path.insert(0, str(packed / "gpu"))
    try:
        yield type("Parts", (), {name: importlib.import_module(name) for name in MODULES})
    finally:
        sys.path.remove(str(packed / "gpu"))
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(others)


def test_all_phases_on_the_emulator(folder):
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "emulator:" not in done.stderr
    rows = rows_of(folder)
    assert rows[0]["phase"] == "machine" and rows[0]["device"] == "emulator"
    assert statuses(folder) == dict.fromkeys(CASES, "right")
    assert all(row["error"] <= row["tolerance"] for row in rows if row.get("status") == "right")
    assert {row["phase"]: row["reason"] for row in rows if row.get("status") == "skipped"} == {
        "sanitize": "compute-sanitizer needs a GPU; the emulator checks by itself",
        "times": "the emulator's times say nothing of a GPU", "compiled": "the emulator's times say nothing of a GPU"}
    tables = (folder / "results.md").read_text()
    assert "Right: 4 of 4 kernels." in tables and "softmaxes 1 f32" in tables
    assert tables in done.stdout


def test_only_and_resume(folder):
    assert run(folder, "--only=transpose", "--phases=right").returncode == 0
    assert statuses(folder) == {"transpose 01 f32": "right"}
    done = run(folder)
    assert done.returncode == 2 and "go on behind them by --resume" in done.stderr
    # Ended while it wrote a line.
    with open(folder / "results.jsonl", "a") as file:
        file.write('{"phase": "right", "ca')
    assert run(folder, "--resume", "--only=01|softmax 1024", "--phases=right").returncode == 0
    assert statuses(folder) == {"transpose 01 f32": "right", "softmax 1024 f16": "right"}
    assert len(rows_of(folder)) == 3  # the machine, and each case once
    # Results of another pack are none of this one's.
    pack = folder / "pack.json"
    pack.write_text(pack.read_text() + "\n")
    done = run(folder, "--resume")
    assert done.returncode == 2 and "is of another pack or device" in done.stderr


def test_nothing_is_begun_beyond_the_budget(folder):
    done = run(folder, "--budget=0")
    assert done.returncode == 0, done.stderr
    assert "right: out of time; 4 left for --resume" in done.stdout and statuses(folder) == {}


def test_a_wrong_result_is_found(folder):
    packed = json.loads((folder / "pack.json").read_text())
    (entry,) = (entry for entry in packed["entries"] if entry["name"].startswith("gemm"))
    entry["small"]["graph"]["constants"]["w"]["pattern"][0] += 1  # not what was compiled
    (folder / "pack.json").write_text(json.dumps(packed))
    done = run(folder, "--only=gemm|transpose", "--phases=right")
    assert done.returncode == 1 and "1 results are not as they should be" in done.stdout
    assert statuses(folder) == {entry["name"]: "wrong", "transpose 01 f32": "right"}


def test_outputs_that_are_not_written_are_found(folder, parts):
    place = parts.places.Host("cpu", folder)
    got, want = place.empty([4], "f16"), place.double(parts.numpy_ops.np.arange(4.0))
    place.poison(got)
    got[1:] = [1, 2, 3]
    assert place.difference(got, want) == (0, 0, 1)
    got[0] = 1.5
    error, norm, bad = place.difference(got, want)
    assert (error, bad) == (0.5, 0) and norm == pytest.approx(1.5 / 14 ** 0.5)


def compiler(tmp_path, act):
    """A compiler for the emulator that does `act` when it is called first, and compiles from then on."""
    path = tmp_path / "compiler"
    path.write_text(f'#!/bin/sh\nif [ ! -e {tmp_path}/called ]; then echo $$ > {tmp_path}/called; {act}; fi\n'
                    'exec "$(command -v clang++-22 || command -v clang++)" "$@"\n')
    path.chmod(0o755)
    return {"MLC_EMULATOR_CXX": str(path), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def is_alive(process):
    """Whether it runs still; one that only its parent's wait is missing from does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_case_that_hangs_is_ended_and_named(folder, tmp_path):
    variables = compiler(tmp_path, "sleep 1000")
    done = run(folder, "--only=softmax 1024", "--phases=right", "--case-limit=4", **variables)
    assert done.returncode == 1 and "softmax 1024 f16" in done.stdout
    (row,) = (row for row in rows_of(folder) if row["case"] == "softmax 1024 f16")
    assert row["status"] == "hung" and row["reason"] == "no answer after 4 s; the process was ended"
    hanging = int((tmp_path / "called").read_text())
    until = time.monotonic() + 60
    while is_alive(hanging) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(hanging)
    # It is not tried again, and the others are done.
    done = run(folder, "--resume", "--only=softmax 1024|transpose", "--phases=right", **variables)
    assert done.returncode == 1
    assert statuses(folder) == {"softmax 1024 f16": "hung", "transpose 01 f32": "right"}


def test_a_case_that_ends_its_process_is_named(folder, tmp_path):
    variables = compiler(tmp_path, "kill -9 $PPID; sleep 1")
    done = run(folder, "--only=softmax 1024|transpose", "--phases=right", **variables)
    assert done.returncode == 1, done.stderr
    assert statuses(folder) == {"softmax 1024 f16": "crashed", "transpose 01 f32": "right"}


def test_a_case_that_loses_the_device_ends_its_process(folder, parts):
    """CUDA answers nothing in a process any more after a kernel has failed."""
    worker = parts.workers.Worker(folder, "emulator")
    worker.command = [sys.executable, "-c", "import json, os, sys\nfor line in sys.stdin:\n    print(json.dumps({'process': "
                      "os.getpid(), **json.loads(line)}), flush=True)"]
    fine, lost, next_one = (worker.ask({"status": "failed", "is_lost": is_lost}, 20) for is_lost in (False, True, False))
    worker.stop()
    assert fine["process"] == lost["process"] != next_one["process"]
    assert "is_lost" not in lost


def test_a_damaged_pack(folder):
    artifact = next(folder.glob("softmax-1024*.xz"))
    artifact.write_bytes(artifact.read_bytes()[:100])
    assert run(folder, "--only=softmax 1024|transpose", "--phases=right").returncode == 1
    assert statuses(folder) == {"softmax 1024 f16": "failed", "transpose 01 f32": "right"}
    pack = folder / "pack.json"
    pack.write_text(pack.read_text()[:1000])
    done = run(folder, "--resume")
    assert done.returncode == 3 and "pack.json is damaged" in done.stderr and "pack again" in done.stderr
    pack.unlink()
    done = run(folder, "--resume")
    assert done.returncode == 3 or "was not packed" in done.stderr


@pytest.mark.parametrize("options, code, message", [
    (["--device=abacus"], 2, "unknown device 'abacus'; give cuda:N or emulator"),
    (["--device=cuda:99"], 2, "has only small sizes"),
    (["--only=nothing like it"], 2, "has 'nothing like it' in its name"),
    (["--phases=right,left"], 2, "unknown phase 'left'"),
    (["--only=("], 2, "'(' is no regular expression"),
    (["--budget=-5"], 2, "'-5' is not a number from 0 on"),
    (["--rounds=0"], 2, "'0' is not a whole number from 1 on"),
    (["--results=/dev/full"], 9, "/dev/full: No space left on device; results cannot be written"),
    (["--results=pack/pack.json/results"], 9, "pack/pack.json/results: Not a directory; results cannot be written")])
def test_what_cannot_be_run(packed, options, code, message):
    done = run(packed, *options)
    assert done.returncode == code and message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_a_gpu_that_is_not_there(folder):
    packed = json.loads((folder / "pack.json").read_text())
    (folder / "pack.json").write_text(json.dumps({**packed, "small": False}))
    done = run(folder, device="cuda:99")
    assert done.returncode == 8, done.stderr
    assert "cuda:99 needs PyTorch" in done.stderr or "there is no device cuda:99" in done.stderr


def test_where_nothing_can_be_packed(tools, tmp_path):
    (tmp_path / "file").write_text("mine")
    for target, message in (tmp_path / "file/pack", "Not a directory; cannot pack there"), (
            tmp_path, "is not empty, and nothing was packed there"):
        done = subprocess.run([sys.executable, tools.source / "tools/bench/gpu", "pack", target, "--build", tools.build],
                              capture_output=True, text=True)
        assert done.returncode in (2, 9) and message in done.stderr
    assert (tmp_path / "file").read_text() == "mine"
    done = subprocess.run([sys.executable, tools.source / "tools/bench/gpu", "pack", tmp_path / "new", "--build", tools.build,
                           "--arch=sm_1"], capture_output=True, text=True)
    assert done.returncode == 2 and "unknown target 'cuda:sm_1'" in done.stderr


def test_times_are_of_a_launch(parts):
    times = {"mlc": ([1.0, 1.2, 1.4], [1.1, 1.1, 1.3]), "other": ([2.0] * 3, [2.2] * 3)}
    found = parts.timing.summary(times, 10)
    assert found["mlc"]["us"] == pytest.approx(115) and found["mlc"]["aa"] == pytest.approx(1.1 / 1.2)
    assert found["other"] == {"us": pytest.approx(210), "aa": pytest.approx(1.1), "spread": pytest.approx(0.2 / 2.1)}
    said = []
    call = parts.timing.in_turn([lambda: said.append("a"), lambda: said.append("b")])
    for _ in range(3):
        call()
    assert said == ["b", "a", "b"]


def test_a_bias_is_a_part_of_the_peers_product(parts):
    def ops(graph):
        return [item["op"] for item in parts.peers.with_linear({"constants": {}, **graph})["nodes"]]
    assert ops(parts.cases.gemm(4, 5, 6, "bias gelu")) == ["Linear", "Gelu"]
    assert ops(parts.cases.gemm(4, 5, 6, "bias residual")) == ["Linear", "Add"]
    assert ops(parts.cases.square(4, 5, 6)) == ["MatMul"]
    # A sum with a matrix is none.
    matrix = parts.cases.gemm(4, 5, 6, "bias")
    matrix["constants"]["b"] = parts.graph.patterned([4, 6], 1)
    assert ops(matrix) == ["MatMul", "Add"]


def test_tables_of_a_gpu(parts, tmp_path):
    entries = {"p": {"kind": "products", "type": "f16"}, "s": {"kind": "memory", "type": "f32"}, "n": {"kind": "networks"}}
    results = parts.report.Results(tmp_path / "results.jsonl", False)
    results.add({"phase": "machine", "case": "", "gpu": "NVIDIA H200"})
    time_row = {"status": "done", "us": 100.0, "peer_us": 200.0, "ratio": 0.5, "aa": 1.0, "spread": 0.01, "launches": 1.0,
                "skeletons": ["tensor"], "tflops": 494.7, "tbs": 2.0}
    for row in ({"phase": "times", "case": "copy", "status": "done", "tbs": 4.0}, {"phase": "times", "case": "p", **time_row},
                {"phase": "times", "case": "s", **time_row}, {"phase": "compiled", "case": "s", **time_row, "ratio": 0.75},
                {"phase": "networks", "case": "n", "status": "right", "error": 1e-3, "us": 103.0, "rewrites": 1.03, "aa": 1.0},
                {"phase": "compiled", "case": "n", "status": "hung", "reason": "no answer"}):
        results.add(row)
    text = results.write_tables(entries).read_text()
    assert "| p |  | 100.0 | 200.0 | 0.50 |  | 1.00, 1% | 495 | 50% | 1 tensor |" in text
    assert "| s |  | 100.0 | 200.0 | 0.50 | 0.75 | 1.00, 1% | 2.00 | 50% of the copy | 1 tensor |" in text
    assert "| n | 1.0e-03 | 103.0 |  |  | 1.03 **slower** | 1.00 |" in text
    assert "| compiled | n | hung | no answer |" in text and len(results.bad()) == 1


def test_what_compute_sanitizer_says(parts):
    output = """========= COMPUTE-SANITIZER
gpu case: softmax 1024 f16
gpu case: gemm f16
========= Invalid __global__ read of size 4 bytes
=========     at k1+0x90
gpu case: add f32
========= ERROR SUMMARY: 1 error
"""
    found, last = parts.sanitize.reports(output)
    assert found == {"gemm f16": "Invalid __global__ read of size 4 bytes"} and last == "add f32"
    assert parts.sanitize.reports(output + "gpu case: \n")[1] == ""


def watcher(tmp_path, monkeypatch, act):
    """A compute-sanitizer that does `act`."""
    path = tmp_path / "compute-sanitizer"
    path.write_text(f"#!/bin/sh\n{act}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


def test_compute_sanitizer_runs_the_small_sizes(folder, parts, tmp_path, monkeypatch):
    """By one that finds a fault in the last case."""
    report = "========= Invalid __global__ read of size 4 bytes"
    watcher(tmp_path, monkeypatch, f'shift 6; "$@" | sed "s/^gpu case: $/{report}\\n&/"; exit 99')
    *found, row = parts.sanitize.sanitize(folder, "emulator", "memcheck", ["transpose 01 f32", "softmax 1024 f16"], 300)
    assert found == [{"case": "softmax 1024 f16 (memcheck)", "status": "wrong",
                      "reason": "Invalid __global__ read of size 4 bytes"}]
    assert (row["case"], row["status"], row["reason"], row["cases"]) == ("memcheck", "wrong", "1 cases are reported", 2)


def test_a_case_that_hangs_under_compute_sanitizer_is_named(folder, parts, tmp_path, monkeypatch):
    watcher(tmp_path, monkeypatch, "echo 'gpu case: softmax 1024 f16'; exec sleep 1000")
    assert parts.sanitize.sanitize(folder, "emulator", "racecheck", ["softmax 1024 f16"], 3) == [
        {"case": "racecheck", "status": "hung", "cases": 1, "seconds": pytest.approx(3, abs=60),
         "reason": "ended after 3 s, at softmax 1024 f16"}]


def test_pictures_with_channels_last(tools, folder, parts):
    """As a convolution is packed where that takes fewer launches."""
    dims = (1, 6, 8, 16, 3, 1, 1, "relu")
    graph, last = ({**parts.cases.conv(*dims, layout=layout), "dtype": "f16", "opset": 20} for layout in ("nchw", "nhwc"))
    model = parts.onnx_files.model_of(parts.graph.joined(parts.graph.instances(last, 2)))
    (folder / "last.onnx").write_bytes(model.SerializeToString())
    done = tools.mlc("compile", folder / "last.onnx", "-o", folder / "last.mlca", "--target=cuda:sm_90a", "--no-rewrites")
    assert done.returncode == 0, done.stderr
    (folder / "last.mlca.xz").write_bytes(lzma.compress((folder / "last.mlca").read_bytes()))
    entry = {"small": {"graph": graph, "instances": 2, "layout": "nhwc", "file": "last"}, "tolerance": 3e-3}
    row = parts.checks.check(parts.places.Host("emulator", folder), entry, "small")
    assert row["status"] == "right", row


def test_constants_are_the_same_everywhere(parts):
    graph = parts.graph
    made = graph.period_of(graph.patterned([3], 0.5, 2), "f32")
    assert len(made) == graph.PERIOD and made.std() == pytest.approx(0.5)
    assert made[:3].tolist() == [float(parts.numpy_ops.np.float32(0.5 * v)) for v in graph.pattern()[2:5]]
    # Rounded to even as hardware does.
    values = parts.numpy_ops.np.array([1.00390625, 1.01171875, -3.0, 1e-3])
    assert graph.rounded(values, "bf16").tolist() == [1.0, 1.015625, -3.0, 0.00099945068359375]
