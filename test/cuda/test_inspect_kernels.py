"""What mlc inspect says of kernels for GPUs, and the machine code that it writes:
tensor cores are used, asynchronous copies and ldmatrix feed them."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

NVDISASM = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"), None)


def matmul(path, op, kinds, result, m=64, k=64, n=64):
    graph = helper.make_graph(
        [helper.make_node(op, ["a", "b"], ["y"])], "g",
        [helper.make_tensor_value_info("a", kinds[0], [m, k]), helper.make_tensor_value_info("b", kinds[1], [k, n])],
        [helper.make_tensor_value_info("y", result, [m, n])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def extracted(tools, tmp_path, *options):
    artifact, folder = tmp_path / "m.mlca", tmp_path / "kernels"
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", artifact, "--target=cuda:sm_80", *options)
    assert done.returncode == 0, done.stderr
    done = tools.mlc("inspect", artifact, f"--extract={folder}")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.skipif(NVDISASM is None, reason="nvdisasm is not installed")
@pytest.mark.parametrize("op, kinds, result, wanted", [
    ("MatMul", (T.FLOAT, T.FLOAT), T.FLOAT, ["HMMA.1688.F32.TF32", "LDGSTS", "LDSM"]),
    ("MatMul", (T.FLOAT16, T.FLOAT16), T.FLOAT16, ["HMMA.16816.F32", "LDGSTS.E.BYPASS.128", "LDSM.16.M88", "LDSM.16.MT88"]),
    ("MatMulInteger", (T.UINT8, T.INT8), T.INT32, ["IMMA.16832.U8.S8", "LDGSTS", "LDSM"])], ids=["tf32", "f16", "bytes"])
def test_tensor_cores_are_used(tools, tmp_path, op, kinds, result, wanted):
    matmul(tmp_path / "m.onnx", op, kinds, result)
    folder, _ = extracted(tools, tmp_path)
    (cubin,) = folder.glob("*.cubin")
    text = subprocess.run([NVDISASM, "-c", cubin], capture_output=True, text=True, check=True).stdout
    for instruction in wanted:
        assert instruction in text
    # Nothing goes by way of the stack.
    assert not re.search(r"\b(LDL|STL)\b", text)


def test_what_is_extracted(tools, tmp_path):
    matmul(tmp_path / "m.onnx", "MatMul", (T.FLOAT, T.FLOAT), T.FLOAT)
    folder, text = extracted(tools, tmp_path, "--precision=ieee")
    names = sorted(path.name for path in folder.iterdir())
    symbol = names[0].split(".")[0]
    assert names == sorted([f"{symbol}.cu", f"{symbol}.cubin", f"{symbol}.ptx", "mlc_device.cuh"])
    assert f"MLC_KERNEL({symbol}, " in (folder / f"{symbol}.cu").read_text()
    assert ".target sm_80" in (folder / f"{symbol}.ptx").read_text()
    line = next(line for line in text.splitlines() if symbol in line and "tiles" in line)
    _, skeleton, block, registers, shared, stack, spilled, launches = line.split()
    assert (skeleton, stack, spilled, launches) == ("tiles", "0", "0", "1")
    assert int(block) >= 32 and int(registers) > 0 and int(shared) > 0


def test_nothing_to_extract(tools, tmp_path):
    matmul(tmp_path / "m.onnx", "MatMul", (T.FLOAT, T.FLOAT), T.FLOAT)
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("inspect", tmp_path / "m.mlca", f"--extract={tmp_path / 'kernels'}")
    assert done.returncode == 2 and "--target=cuda:sm_80" in done.stderr


def test_compiled_kernels_are_kept(tools, tmp_path):
    """The same bytes with the cache and without; a damaged entry counts as none."""
    matmul(tmp_path / "m.onnx", "MatMul", (T.FLOAT, T.FLOAT), T.FLOAT)

    def compiled(name, cache):
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / name, "--target=cuda:sm_80",
                         env={**os.environ, "MLC_CACHE": str(cache)})
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_bytes()

    without = compiled("a", "off")
    assert compiled("b", tmp_path / "cache") == without
    (entry,) = (tmp_path / "cache/cuda").iterdir()
    whole = entry.read_bytes()
    assert compiled("c", tmp_path / "cache") == without
    for damaged in (b"", whole[:40], whole[:-7], bytes([whole[0] ^ 1]) + whole[1:], np.random.default_rng(0).bytes(999)):
        entry.write_bytes(damaged)
        assert compiled("d", tmp_path / "cache") == without
        # Made again, and read from then on.
        repaired = entry.read_bytes()
        assert repaired != damaged and compiled("d", tmp_path / "cache") == without
        assert entry.read_bytes() == repaired
    # A folder that cannot be made is no error.
    (tmp_path / "file").write_text("")
    assert compiled("e", tmp_path / "file") == without


def test_damaged_modules_of_the_emulator_are_made_again(tools, tmp_path):
    matmul(tmp_path / "m.onnx", "MatMul", (T.FLOAT, T.FLOAT), T.FLOAT)
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80")
    assert done.returncode == 0, done.stderr
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.ones((64, 64), np.float32))

    def run():
        done = tools.mlc("run", tmp_path / "m.mlca", "--device=emulator", "--input", f"a={tmp_path / 'a.npy'}", "--input",
                         f"b={tmp_path / 'b.npy'}", env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")})
        assert (done.returncode, done.stderr) == (0, ""), done.stderr

    run()
    (module,) = (tmp_path / "cache/mlc/emulator").glob("*.so")
    whole = module.read_bytes()
    for damaged in (b"", whole[:3000], whole[:-1], whole[:5000] + b"x" * 99 + whole[5099:]):
        module.write_bytes(damaged)
        run()
        assert module.read_bytes() != damaged


def test_without_nvrtc(tools, tmp_path):
    matmul(tmp_path / "m.onnx", "MatMul", (T.FLOAT, T.FLOAT), T.FLOAT)
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80",
                     env={**os.environ, "MLC_NVRTC": str(tmp_path / "nothing.so")})
    assert done.returncode == 7 and "nvidia-cuda-nvrtc" in done.stderr and "MLC_NVRTC" in done.stderr
    assert not (tmp_path / "m.mlca").exists()
    # Nothing in the variable is no name: the linker's is taken.
    nvrtc = os.environ.get("MLC_NVRTC")
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80",
                     env={**os.environ, "MLC_NVRTC": "", "MLC_CACHE": "off",
                          "LD_LIBRARY_PATH": os.path.dirname(nvrtc) if nvrtc else ""})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("fault, code", [("cuLaunchKernel:1", 8), ("cuMemAlloc_v2:1", 9), ("cuModuleLoadData:1", 8),
                                         ("cuStreamSynchronize:1", 8), ("cuMemcpyHtoDAsync_v2:1", 8)])
def test_a_driver_that_fails(tools, tmp_path, fault, code):
    matmul(tmp_path / "m.onnx", "MatMul", (T.FLOAT, T.FLOAT), T.FLOAT)
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80")
    assert done.returncode == 0, done.stderr
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.ones((64, 64), np.float32))
    arguments = ["run", tmp_path / "m.mlca", "--device=emulator", "--input", f"a={tmp_path / 'a.npy'}",
                 "--input", f"b={tmp_path / 'b.npy'}", "--output-dir", tmp_path / "out"]
    failing = fault if code == 8 else fault + "=2"
    done = tools.mlc(*arguments, env={**os.environ, "MLC_EMULATOR_FAIL": failing})
    assert done.returncode == code and "CUDA error" in done.stderr, done.stderr
    assert not (tmp_path / "out/0.npy").exists()
    if fault.startswith("cuLaunch"):
        # The node has no name in the model: mlc gives it one.
        assert re.search(r"kernel mlc_\w+ \(node ", done.stderr), done.stderr


def test_no_binary_links_cuda(tools):
    """CUDA's libraries are loaded when they are needed, and only then."""
    for path in [tools.build / "bin/mlc", tools.build / "bin/mlc-run", tools.build / "lib/libmlc_runtime.so"]:
        text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        assert not re.search(r"libcuda|libnvrtc|libcudart|libcublas|libcudnn", text)
