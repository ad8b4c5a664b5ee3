"""Bad input, full disks, small memory and interrupts: the right exit code, an
error that names the place, and no partial output."""

import os
import pathlib
import resource
import signal
import subprocess
import time

import graphs
import numpy as np
import onnx
import pytest


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return graphs.save(tmp_path_factory.mktemp("models") / "network.onnx", graphs.small_network())


@pytest.fixture(scope="module")
def artifact(tools, network):
    path = network.with_suffix(".mlca")
    assert tools.mlc("compile", network, "-o", path).returncode == 0
    return path


@pytest.fixture(scope="module")
def slow_network(tmp_path_factory):
    """Takes long enough to compile to be interrupted."""
    rng = np.random.default_rng(0)
    nodes, weights, value = [], {}, "x"
    for i in range(60):
        weights[f"w{i}"] = (rng.standard_normal((16 + i, 16 + max(i - 1, 0), 3, 3)) * 0.1).astype(np.float32)
        nodes.append(("Conv", [value, f"w{i}"], [f"c{i}"], {"pads": [1, 1, 1, 1]}))
        value = f"c{i}"
    made = graphs.model(nodes, [("x", [1, 16, 40, 40])], [(value, [1, 75, 40, 40])], weights)
    return graphs.save(tmp_path_factory.mktemp("slow") / "slow.onnx", made)


def check_failure(done, code, *parts):
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stderr.startswith("mlc: error: ")
    for part in parts:
        assert str(part) in done.stderr


def is_empty(folder):
    return list(pathlib.Path(folder).iterdir()) == []


@pytest.mark.parametrize("command", ["compile", "check", "bench", "compare", "optimize", "inspect", "run"])
def test_missing_file(tools, tmp_path, command):
    flags = ["-o", tmp_path / "out"] if command in ("compile", "optimize") else []
    done = tools.mlc(command, tmp_path / "absent.onnx", *flags)
    check_failure(done, 3, tmp_path / "absent.onnx")
    assert is_empty(tmp_path)


def test_truncated_models(tools, network, tmp_path):
    """Cut off anywhere: refused with its name, or still a whole model."""
    data = network.read_bytes()
    out = tmp_path / "out.mlca"
    for size in sorted({0, 1, 7, len(data) - 1, *range(0, len(data), max(1, len(data) // 40))}):
        cut = tmp_path / "cut.onnx"
        cut.write_bytes(data[:size])
        done = tools.mlc("compile", cut, "-o", out)
        check_failure(done, 3, cut)
        assert not out.exists()


def test_truncated_and_damaged_artifacts(tools, artifact, tmp_path):
    data = artifact.read_bytes()
    path = tmp_path / "cut.mlca"
    for size in range(0, len(data), max(1, len(data) // 25)):
        path.write_bytes(data[:size])
        check_failure(tools.mlc("inspect", path), 3, path)
    for at in range(0, len(data), max(1, len(data) // 25)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:])
        done = tools.mlc("run", path)
        assert done.returncode in (2, 3, 8) and done.stderr.startswith("mlc: error: ")


def test_unsupported_nodes_are_all_listed(tools, tmp_path):
    made = graphs.model(
        [("Det", ["x"], ["a"], {}), ("Relu", ["x"], ["b"], {}), ("NonZero", ["b"], ["c"], {})],
        [("x", [4, 4])], [("a", []), ("c", [2, None], onnx.TensorProto.INT64)])
    path = graphs.save(tmp_path / "model.onnx", made)
    done = tools.mlc("compile", path, "-o", tmp_path / "out.mlca")
    check_failure(done, 4, path, "Det_0", "NonZero_2")
    assert not (tmp_path / "out.mlca").exists()
    done = tools.mlc("check", path)
    assert done.returncode == 4 and "Det_0" in done.stdout and "NonZero_2" in done.stdout


@pytest.mark.parametrize("flags, part", [
    (["--dim=M=3"], "M"),
    (["--target=gpu"], "gpu"),
    (["--compile-to=nowhere"], "nowhere"),
    (["--compile-to"], "requires a value"),
])
def test_wrong_options(tools, network, tmp_path, flags, part):
    done = tools.mlc("compile", network, "-o", tmp_path / "out", *flags)
    check_failure(done, 2, part)
    assert is_empty(tmp_path)


def test_output_cannot_be_made(tools, network, tmp_path):
    done = tools.mlc("compile", network, "-o", tmp_path / "absent" / "out.mlca")
    check_failure(done, 2, tmp_path / "absent" / "out.mlca")
    check_failure(tools.mlc("compile", network, "-o", tmp_path), 2, tmp_path)
    assert is_empty(tmp_path)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))


@pytest.mark.parametrize("command", ["compile", "optimize"])
def test_full_disk(tools, network, tmp_path, command):
    done = tools.mlc(command, network, "-o", tmp_path / "out", preexec_fn=limit_files)
    check_failure(done, 9, "File too large")
    assert is_empty(tmp_path)
    if os.path.exists("/dev/full"):
        check_failure(tools.mlc(command, network, "-o", "/dev/full"), 9, "/dev/full")
        assert pathlib.Path("/dev/full").is_char_device()


def test_full_disk_while_running(tools, artifact, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((64, 3, 16, 16), np.float32))
    done = tools.mlc("run", artifact, f"--input=x={tmp_path}/x.npy",
                     f"--output-dir={tmp_path}/out", preexec_fn=limit_files)
    check_failure(done, 9)
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True


def test_out_of_memory(tools, tmp_path):
    made = graphs.model([("Relu", ["x"], ["y"], {})], [("x", ["N"])], [("y", ["N"])])
    path = graphs.save(tmp_path / "big.onnx", made)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    done = tools.mlc("bench", path, "--dim=N=4000000000", preexec_fn=limit)
    check_failure(done, 9)


@pytest.mark.parametrize("delay", [0.05, 0.3, 1.0])
def test_interrupt(tools, slow_network, tmp_path, delay):
    process = subprocess.Popen([tools.build / "bin/mlc", "compile", slow_network, "-o", tmp_path / "out"],
                               stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("it had finished")
    if delay < 0.2 and process.returncode == -signal.SIGINT:
        return  # before main
    assert process.returncode == 130 and "interrupted" in errors
    assert is_empty(tmp_path)


def test_wrong_inputs(tools, artifact, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    check_failure(tools.mlc("run", artifact, f"--input=x={tmp_path}/x.npy"), 2, "x")
    check_failure(tools.mlc("run", artifact, f"--input=q={tmp_path}/x.npy"), 2, "q")
    check_failure(tools.mlc("run", artifact, f"--input=x={tmp_path}/absent.npy"), 3, "absent.npy")
    check_failure(tools.mlc("run", artifact), 2, "x")


def test_a_closed_pipe_is_no_error(tools, artifact):
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {tools.build}/bin/mlc inspect --json {artifact} | head -c 1"],
                          capture_output=True, text=True)
    assert done.stderr == ""
