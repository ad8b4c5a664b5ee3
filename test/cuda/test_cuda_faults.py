"""What a user is told when the driver fails: kernel and nodes, the code, and no output."""

import os
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

# By graph functions: only a session that runs several times has them.
ONCE = [("cuInit:1", 8), ("cuDeviceGet:1", 8), ("cuDevicePrimaryCtxRetain:1", 8), ("cuStreamCreate:1", 8),
        ("cuCtxSetCurrent:1", 8), ("cuModuleLoadData:2", 8), ("cuModuleGetFunction:1", 8), ("cuMemAlloc_v2:1", 9),
        ("cuMemAlloc_v2:3", 9), ("cuMemAllocHost_v2:1=2", 9), ("cuMemcpyHtoDAsync_v2:1", 8), ("cuLaunchKernel:1", 8),
        ("cuLaunchKernel:3", 8), ("cuMemcpyDtoHAsync_v2:1", 8), ("cuStreamSynchronize:1", 8)]
OFTEN = [("cuStreamBeginCapture_v2:1", 8), ("cuStreamEndCapture:1", 8), ("cuGraphInstantiateWithFlags:1", 8),
         ("cuGraphInstantiateWithFlags:1=2", 9), ("cuGraphLaunch:1", 8), ("cuGraphLaunch:2", 8), ("cuLaunchKernel:5", 8)]


@pytest.fixture(scope="module")
def artifact(tools, tmp_path_factory):
    """Three kernels, whose nodes have names."""
    folder = tmp_path_factory.mktemp("faults")
    nodes = [helper.make_node("Softmax", ["x"], ["a"], name="first", axis=-1),
             helper.make_node("MatMul", ["a", "x"], ["b"], name="second"),
             helper.make_node("Softmax", ["b"], ["y"], name="third", axis=0)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", T.FLOAT, [16, 16])],
                              [helper.make_tensor_value_info("y", T.FLOAT, [16, 16])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "m.onnx")
    np.save(folder / "x.npy", np.random.default_rng(0).random((16, 16), np.float32))
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", "--target=cuda:sm_80", "--no-rewrites")
    assert done.returncode == 0, done.stderr
    return folder / "m.mlca"


def failing(tools, fault, *arguments):
    done = tools.mlc(*arguments, env={**os.environ, "MLC_EMULATOR_FAIL": fault})
    (line,) = done.stderr.splitlines()
    assert line.startswith("mlc: error: ") and "CUDA error " in line
    return done.returncode, line


def run_of(artifact, *more):
    return ["run", artifact, "--device=emulator", "--input", f"x={artifact.parent / 'x.npy'}", *more]


@pytest.mark.parametrize("fault, code", ONCE)
def test_one_run(tools, artifact, tmp_path, fault, code):
    found, line = failing(tools, fault, *run_of(artifact, "--output-dir", tmp_path / "out"))
    assert found == code, line
    assert not (tmp_path / "out/0.npy").exists()
    if fault.startswith("cuLaunchKernel"):
        node = {"1": "first", "3": "third"}[fault[-1]]
        assert re.search(rf"kernel mlc_\w+ \(node {node}\): CUDA error 999 \(CUDA_ERROR_UNKNOWN\)", line)
    if fault.startswith("cuMemAlloc_v2"):
        assert re.search(r"out of memory on emulator: cannot allocate \d+ bytes: CUDA error 2 ", line)


@pytest.mark.parametrize("fault, message", [
    ("cuMemcpyDtoHAsync_v2:1", "cannot copy from the GPU"),
    ("cuMemAlloc_v2:2", "; run it on smaller dims, or end what else uses the device"),
    ("cuModuleLoadData:1=222", "newer than the driver: update the driver, or compile the model again with an older one"),
    ("cuModuleLoadData:1=209", "; compile the model again for target cuda:sm_90a"),
])
def test_messages_name_the_file_and_what_to_do(tools, artifact, fault, message):
    _, line = failing(tools, fault, *run_of(artifact))
    assert line.startswith(f"mlc: error: {artifact}: ") and message in line


def test_a_device_that_does_not_open(tools, artifact):
    found, line = failing(tools, "cuDevicePrimaryCtxRetain:1", *run_of(artifact))
    assert found == 8 and "device 'emulator' cannot be used: cannot make a context on the GPU: " in line


@pytest.mark.parametrize("fault, code", OFTEN)
def test_runs_that_are_recorded(tools, artifact, fault, code):
    found, line = failing(tools, fault, "bench", artifact, "--device=emulator", "--runs=2")
    assert found == code, line
    if fault.startswith(("cuGraph", "cuStreamEnd")):
        assert re.search(r"3 launches, the last of them of kernel mlc_\w+ \(node third\)", line)
    if fault.startswith("cuLaunch"):  # the second of those that are recorded
        assert "(node second)" in line


def test_what_fails_in_a_kernel(tools, artifact):
    """The launch is made and its work fails: the wait for it tells of that, and how to learn which it was. Loading
    has waited twice before."""
    found, line = failing(tools, "cuStreamSynchronize:3=719", *run_of(artifact))
    assert found == 8
    assert re.search(r"one of 3 launches on emulator has failed, the last of them of kernel mlc_\w+ \(node third\): "
                     r"CUDA error 719 .*CUDA_LAUNCH_BLOCKING=1", line)


def test_top_k_is_recorded(tools, tmp_path):
    """Nothing of it waits for the host."""
    graph = helper.make_graph(
        [helper.make_node("TopK", ["x", "k"], ["v", "i"], name="best")], "g",
        [helper.make_tensor_value_info("x", T.FLOAT, [4, 50])],
        [helper.make_tensor_value_info("v", T.FLOAT, [4, 3]), helper.make_tensor_value_info("i", T.INT64, [4, 3])],
        [helper.make_tensor("k", T.INT64, [1], [3])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80")
    assert done.returncode == 0, done.stderr
    code, line = failing(tools, "cuGraphLaunch:1", "bench", tmp_path / "m.mlca", "--device=emulator", "--runs=2")
    assert code == 8 and "(node best)" in line
