"""The emulator as a device of the Python package: memory, streams, several devices."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import mlc
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper


def save(folder):
    """relu(x w) with an open number of rows, and w."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])], "g",
        [helper.make_tensor_value_info("x", T.FLOAT, ["N", 20])], [helper.make_tensor_value_info("y", T.FLOAT, ["N", 9])],
        [helper.make_tensor("w", T.FLOAT, [20, 9], np.random.default_rng(0).standard_normal(180))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "m.onnx")
    return folder / "m.onnx", onnx.numpy_helper.to_array(graph.initializer[0])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return mlc.compile(save(tmp_path_factory.mktemp("device"))[0], target="cuda:sm_80")


class Driver:
    """The emulator's functions by ctypes, as a program beside mlc has CUDA's."""

    def __init__(self, tools):
        self.library = ctypes.CDLL(str(tools.build / "bin" / "libmlc_emulator.so"))
        self.library.mlcEmulatorReport.restype = ctypes.c_char_p

    def __call__(self, name, *arguments):
        assert getattr(self.library, name)(*arguments) == 0, name

    def enter(self, device):
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def stream(self):
        handle = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(handle), 1)
        return handle.value

    def report(self):
        return self.library.mlcEmulatorReport().decode()


@pytest.fixture(scope="module")
def driver(tools):
    found = Driver(tools)
    found.enter(0)
    return found


class Array:
    """Memory of a device, as other packages show it."""

    def __init__(self, driver, shape):
        self.driver, self.shape, self.nbytes, memory = driver, shape, int(np.prod(shape)) * 4, ctypes.c_ulonglong()
        driver("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(self.nbytes))
        self.address = memory.value
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (self.address, False), "version": 3}

    def fill(self, values, stream):
        values = np.ascontiguousarray(values, np.float32)
        self.driver("cuMemcpyHtoDAsync_v2", ctypes.c_ulonglong(self.address), ctypes.c_void_p(values.ctypes.data),
                    ctypes.c_size_t(self.nbytes), ctypes.c_void_p(stream))

    def read(self, stream):
        """Which waits, as a copy to memory that is not pinned does."""
        values = np.zeros(self.shape, np.float32)
        self.driver("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(values.ctypes.data), ctypes.c_ulonglong(self.address),
                    ctypes.c_size_t(self.nbytes), ctypes.c_void_p(stream))
        return values


def test_runs_of_two_sizes_allocate_once(tmp_path):
    path, weights = save(tmp_path)
    model = mlc.compile(path, target="cuda:sm_80")
    assert model.manifest["precision"] == "tf32" and model.manifest["kernels"]
    session = model.session(device="emulator")
    seen = {}
    for n in (5, 70, 5, 5, 5, 70, 70, 5):
        x = np.random.default_rng(n).standard_normal((n, 20)).astype(np.float32)
        (y,) = session.run([x]).values()
        want = np.maximum(x.astype(np.float64) @ weights, 0)
        assert np.linalg.norm(y - want) <= 2e-3 * np.linalg.norm(want)
        # Bit for bit what it was, recorded or not.
        assert np.array_equal(seen.setdefault(n, y), y)
    settled = session.allocations
    for n in (5, 5, 5):
        session.run([np.zeros((n, 20), np.float32)])
    assert session.allocations == settled


@pytest.mark.parametrize("own", [False, True])
def test_runs_in_a_stream(model, driver, own):
    # Nothing waits between what fills inputs, the runs and what reads outputs.
    stream = driver.stream() if own else None
    session = model.session(device="emulator", stream=stream)
    assert session.stream == stream if own else session.stream
    plain = model.session(device="emulator")
    x, y, z = Array(driver, (6, 20)), Array(driver, (6, 9)), Array(driver, (6, 9))
    for seed in range(5):
        values = np.random.default_rng(seed).standard_normal((6, 20))
        x.fill(values, session.stream)
        for out in (y, z):
            session.bind({"x": x}, out={"y": out})
            session.enqueue()
        assert session.outputs()["y"] is z
        (want,) = plain.run([values.astype(np.float32)]).values()
        assert np.array_equal(y.read(session.stream), want)
        assert np.array_equal(z.read(session.stream), want)
    session.wait()
    costs = plain.step_costs
    assert max(cost.contraction_operations for cost in costs) == 2 * 6 * 20 * 9
    assert costs[-1].bytes_written == y.nbytes
    # An output that is not bound: who asks for it waits.
    session.bind({"x": x})
    session.enqueue()
    assert np.array_equal(session.outputs()["y"], want)
    assert driver.report() == ""


def test_who_does_not_wait_for_a_stream_is_found(model, driver):
    """That is, the tests above would see a run that comes too early."""
    session = model.session(device="emulator")
    x, y, other = Array(driver, (6, 20)), Array(driver, (6, 9)), driver.stream()
    x.fill(np.ones((6, 20)), session.stream)
    session.bind({"x": x}, out={"y": y})
    session.enqueue()
    assert not np.array_equal(y.read(other), y.read(session.stream))


def test_streams_and_arrays_that_are_refused(model, driver):
    for wrong in (0, -1, True, "7", 2**64):
        with pytest.raises(mlc.UsageError, match="expected the handle of a CUDA stream"):
            model.session(device="emulator", stream=wrong)
    with pytest.raises(mlc.UsageError, match="is a default one"):
        model.session(device="emulator", stream=1)
    session = model.session(device="emulator")
    with pytest.raises(mlc.UsageError, match="input 'x' is bound to the host's memory"):
        session.bind({"x": np.zeros((1, 20), np.float32)})
        session.enqueue()
    x = Array(driver, (6, 20))
    for change, message in ({"typestr": "<f8"}, "is made of <f8"), ({"shape": (120,)}, "has 1 dims"), \
            ({"strides": (4, 24)}, "not dense"):
        x.__cuda_array_interface__ |= change
        with pytest.raises(mlc.UsageError, match=message):
            session.bind({"x": x})
        x = Array(driver, (6, 20))
    y = Array(driver, (6, 9))
    y.__cuda_array_interface__["data"] = (y.address, True)
    with pytest.raises(mlc.UsageError, match="read-only"):
        session.bind({"x": x}, out={"y": y})


def test_the_cpu_has_no_streams(tmp_path):
    session = mlc.compile(save(tmp_path)[0]).session()
    assert session.stream is None
    x = np.ones((2, 20), np.float32)
    session.bind([x])
    session.enqueue()  # over when it returns
    assert session.outputs()["y"].shape == (2, 9)
    with pytest.raises(mlc.UsageError, match="device 'cpu' has no streams"):
        session.model.session(stream=64)


TWO_DEVICES = """
import sys, threading
import numpy as np
import mlc
from mlc import DeviceError

model = mlc.load(sys.argv[1])
rows = {n: np.random.default_rng(n).standard_normal((n, 20)).astype(np.float32) for n in (3, 7, 40)}
want = {n: model.session(device="emulator").run([x])["y"] for n, x in rows.items()}
wrong = []

def work(device):
    try:
        session = model.session(device=device)
        for n in (3, 7, 7, 7, 40, 3, 3, 3):
            if not np.array_equal(session.run([rows[n]])["y"], want[n]):
                wrong.append((device, n))
    except mlc.Error as failure:
        wrong.append((device, str(failure)))

threads = [threading.Thread(target=work, args=[name]) for name in ("emulator", "emulator:1", "emulator:1", "emulator:0")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
try:
    model.session(device="emulator:2")
except DeviceError as failure:
    print(failure, failure.code)
print(wrong)
"""


def in_process(tools, tmp_path, script, **variables):
    """Runs a script on the artifact in a process of its own, to which the variables
    are said."""
    mlc.compile(save(tmp_path)[0], target="cuda:sm_80").save(tmp_path / "m.mlca")
    paths = os.pathsep.join([str(tools.source / "runtime/python"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-c", script, tmp_path / "m.mlca"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": paths, **variables})


def test_sessions_on_two_devices_in_threads(tools, tmp_path):
    done = in_process(tools, tmp_path, TWO_DEVICES, MLC_EMULATOR_DEVICES="2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("there is no device 'emulator:2'; the emulator has 2 GPUs, as MLC_EMULATOR_DEVICES says 8\n"
                           "[]\n")


@pytest.mark.parametrize("variables, message", [
    ({"MLC_EMULATOR_DEVICES": "many"}, "MLC_EMULATOR_DEVICES is 'many'; expected a number from 1 to 16"),
    ({"MLC_EMULATOR_SEED": "x"}, "MLC_EMULATOR_SEED is 'x'; expected a number"),
    ({"MLC_EMULATOR_COUNTERS": "/nowhere/c.json"},
     "MLC_EMULATOR_COUNTERS is '/nowhere/c.json'; expected a file that can be written"),
    ({"MLC_EMULATOR_FAIL": "cuMemAlloc_v2"}, "MLC_EMULATOR_FAIL: 'cuMemAlloc_v2' names no call that shall fail"),
])
def test_garbage_in_the_environment(tools, tmp_path, variables, message):
    done = in_process(tools, tmp_path, "import sys, mlc; mlc.load(sys.argv[1]).session(device='emulator')", **variables)
    assert "mlc.DeviceError: there is no device 'emulator': the driver cannot be used" in done.stderr
    assert message in done.stderr.splitlines()[-1]


def test_a_device_that_is_not_there(tools, model, tmp_path):
    model.save(tmp_path / "m.mlca")
    np.save(tmp_path / "x.npy", np.zeros((1, 20), np.float32))
    for name, message in ("emulator:1", "the emulator has 1 GPU, as MLC_EMULATOR_DEVICES says"), ("cuda:7", "libcuda"):
        done = tools.mlc("run", tmp_path / "m.mlca", f"--device={name}", "--input", f"x={tmp_path}/x.npy")
        assert done.returncode == 8
        assert f"there is no device '{name}'" in done.stderr and message in done.stderr
