"""Programs that `mlc compile --emit=cuda` writes: built by a host compiler against
the emulator they write the bytes of `mlc run`; nvcc takes them without a warning."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

NVCC = shutil.which("nvcc") or next(map(str, pathlib.Path("/usr/local").glob("cuda*/bin/nvcc")), None)
CLANG = shutil.which("clang++-22") or shutil.which("clang++")


def open_sizes(path):
    """Two outputs, open dims, a softmax and a product."""
    graph = helper.make_graph(
        [helper.make_node("Softmax", ["x"], ["s"], axis=-1), helper.make_node("MatMul", ["s", "w"], ["y"]),
         helper.make_node("ReduceMax", ["x"], ["m"], axes=[0], keepdims=0)], "g",
        [helper.make_tensor_value_info("x", T.FLOAT, ["N", 50])],
        [helper.make_tensor_value_info("y", T.FLOAT, ["N", 7]), helper.make_tensor_value_info("m", T.FLOAT, [50])],
        [onnx.numpy_helper.from_array(np.random.default_rng(1).standard_normal((50, 7)).astype(np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return [(33, 50)]


def top_k(path):
    """Of open rows: the sizes of a run choose how they are sorted, and how much scratch memory that takes."""
    graph = helper.make_graph(
        [helper.make_node("TopK", ["x", "k"], ["v", "i"]), helper.make_node("Shape", ["x"], ["s"]),
         helper.make_node("Gather", ["s", "one"], ["n"]), helper.make_node("TopK", ["x", "n"], ["a", "b"], largest=0)],
        "g", [helper.make_tensor_value_info("x", T.FLOAT, ["N", "M"])],
        [helper.make_tensor_value_info(name, kind, None)
         for name, kind in [("v", T.FLOAT), ("i", T.INT64), ("a", T.FLOAT), ("b", T.INT64)]],
        [helper.make_tensor("k", T.INT64, [1], [3]), helper.make_tensor("one", T.INT64, [1], [1])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return [(2, 2500)]


def experiment(name):
    def write(path):
        sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/experiments"))
        import catalog
        import models
        models.write(name, path, small=True)
        return [[d.dim_value for d in i.type.tensor_type.shape.dim] for i in catalog.fed_inputs(onnx.load(path))]
    return write


MODELS = {"open sizes": open_sizes, "bert-base": experiment("bert-base"), "top-k": top_k, "llama": experiment("llama"),
          "nasrnn": experiment("nasrnn"), "mobilenet-v2": experiment("mobilenet-v2")}


def emit(tools, folder, write, *options, target="cuda:sm_80"):
    shapes = write(folder / "m.onnx")
    done = tools.mlc("compile", folder / "m.onnx", "--emit=cuda", "-o", folder / "program", f"--target={target}", *options)
    assert done.returncode == 0, done.stderr
    rng = np.random.default_rng(0)
    inputs = []
    for i, (shape, value) in enumerate(zip(shapes, onnx.load(folder / "m.onnx").graph.input)):
        inputs.append(folder / f"x{i}.npy")
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        array = rng.integers(-100, 100, shape) if dtype == np.int8 else rng.standard_normal(shape)
        np.save(inputs[-1], array.astype(dtype))
    return folder / "program", inputs


def host_build(tools, program):
    sources = ["model.cu", *sorted(str(path.relative_to(program)) for path in program.glob("kernels/*.cu"))]
    return subprocess.run([CLANG, "-std=c++17", "-x", "c++", f"-I{tools.source / 'runtime/emulator/include'}", *sources,
                           f"-L{tools.build / 'bin'}", "-lmlc_emulator", f"-Wl,-rpath,{(tools.build / 'bin').resolve()}",
                           "-o", "model"], cwd=program, capture_output=True, text=True)


def check_bytes(tools, folder, program, inputs, target):
    """The program writes what `mlc run` writes on the emulator."""
    done = host_build(tools, program)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    (folder / "out").mkdir()
    done = subprocess.run(["./model", *inputs, folder / "out"], cwd=program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = [i.name for i in onnx.load(folder / "m.onnx").graph.input][:len(inputs)]
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", f"--target={target}")
    assert done.returncode == 0, done.stderr
    arguments = [part for name, path in zip(names, inputs) for part in ("--input", f"{name}={path}")]
    done = tools.mlc("run", folder / "m.mlca", "--device=emulator", "--output-dir", folder / "want", *arguments)
    assert done.returncode == 0, done.stderr
    files = sorted(path.name for path in (folder / "want").glob("*.npy"))
    assert files and files == sorted(path.name for path in (folder / "out").iterdir())
    for file in files:
        want, got = np.load(folder / "want" / file), np.load(folder / "out" / file)
        assert want.dtype == got.dtype and want.shape == got.shape and want.tobytes() == got.tobytes()


def check_nvcc(program, *architecture):
    done = subprocess.run([NVCC, "-std=c++17", *architecture, "-Werror", "all-warnings", "-Iinclude", "model.cu",
                           *sorted(map(str, program.glob("kernels/*.cu"))), "-o", "model"],
                          cwd=program, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_bytes_as_a_run(tools, tmp_path, name):
    program, inputs = emit(tools, tmp_path, MODELS[name])
    check_bytes(tools, tmp_path, program, inputs, "cuda:sm_80")


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
@pytest.mark.parametrize("name", ["open sizes", "top-k", "nasrnn"])
def test_nvcc_warns_of_nothing(tools, tmp_path, name):
    program, _ = emit(tools, tmp_path, MODELS[name])
    check_nvcc(program, "-arch=sm_80")


def write_nodes(path, nodes, inputs, constants=()):
    """A model whose output is y; inputs and constants are of float32, unless an input says otherwise."""
    rng = np.random.default_rng(2)
    values = [helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in inputs]
    kind = np.float16 if inputs[0][1] == T.FLOAT16 else np.float32
    weights = [onnx.numpy_helper.from_array((rng.standard_normal(dims) / 8).astype(kind), name) for name, dims in constants]
    graph = helper.make_graph(nodes, "g", values, [onnx.ValueInfoProto(name="y")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def open_products(path):
    """Maps of open sizes."""
    node = helper.make_node
    write_nodes(path, [node("MatMul", ["x", "v"], ["t"]), node("Gelu", ["t"], ["u"]), node("MatMul", ["u", "w"], ["y"])],
                [("x", T.FLOAT16, ["N", 72])], [("v", (72, 136)), ("w", (136, 72))])
    return [(70, 72)]


def pixels(path):
    node = helper.make_node
    write_nodes(path, [node("Conv", ["x", "u"], ["a"]), node("Conv", ["a", "v"], ["b"], pads=[1, 1, 1, 1], strides=[2, 2]),
                       node("Relu", ["b"], ["c"]), node("Conv", ["c", "w"], ["d"], pads=[1, 1, 1, 1]),
                       node("GlobalAveragePool", ["d"], ["y"])],
                [("x", T.FLOAT16, [3, 3, 16, 18])], [("u", (64, 3, 1, 1)), ("v", (64, 64, 3, 3)), ("w", (72, 64, 3, 3))])
    return [(3, 3, 16, 18)]


def along_k(path):
    """Constants of float32, in another order than the model's."""
    node = helper.make_node
    write_nodes(path, [node("MatMul", ["x", "w"], ["t"]), node("Relu", ["t"], ["y"])], [("x", T.FLOAT, [2, 40, 64])],
                [("w", (64, 40))])
    return [(2, 40, 64)]


def parts(path):
    """Blocks share tiles, with counters."""
    node = helper.make_node
    write_nodes(path, [node("Gemm", ["x", "z"], ["y"], transB=1)], [("x", T.FLOAT16, [40, 1032]), ("z", T.FLOAT16, [72, 1032])])
    return [(40, 1032), (72, 1032)]


def bytes_of_batches(path):
    node = helper.make_node
    write_nodes(path, [node("Transpose", ["z"], ["t"], perm=[0, 2, 1]), node("MatMulInteger", ["x", "t"], ["y"])],
                [("x", T.INT8, [3, 40, 144]), ("z", T.INT8, [3, 72, 144])])
    return [(3, 40, 144), (3, 72, 144)]


@pytest.mark.parametrize("write", [open_products, pixels, along_k, parts, bytes_of_batches])
def test_programs_with_maps(tools, tmp_path, write):
    """Of kernels for sm_90a, whose factors come by tensor maps."""
    program, inputs = emit(tools, tmp_path, write, target="cuda:sm_90a")
    assert "MapRequest" in (program / "model.cu").read_text()
    check_bytes(tools, tmp_path, program, inputs, "cuda:sm_90a")
    if NVCC:
        check_nvcc(program, "-gencode=arch=compute_90a,code=sm_90a")


def test_wrong_arrays_are_refused(tools, tmp_path):
    program, (x,) = emit(tools, tmp_path, open_sizes)
    assert host_build(tools, program).returncode == 0

    def said(*arguments):
        done = subprocess.run(["./model", *arguments], cwd=program, capture_output=True, text=True)
        assert done.returncode == 1, done
        return done.stderr

    assert "usage" in said()
    assert "cannot be read" in said(tmp_path / "nothing.npy", tmp_path)
    np.save(tmp_path / "wide.npy", np.zeros((3, 51), np.float32))
    assert "dim 1 must be 50" in said(tmp_path / "wide.npy", tmp_path)
    np.save(tmp_path / "double.npy", np.zeros((3, 50)))
    assert "has type <f4" in said(tmp_path / "double.npy", tmp_path)
    whole = x.read_bytes()
    for cut in (0, 5, 9, 30, 130, len(whole) - 3):
        (tmp_path / "cut.npy").write_bytes(whole[:cut])
        assert "error: " in said(tmp_path / "cut.npy", tmp_path)
    os.truncate(program / "weights.bin", 10)
    assert "weights.bin" in said(x, tmp_path)


def test_all_files_or_none(tools, tmp_path):
    """Weights that the model reads are not written over, and nothing is half there."""
    folder = tmp_path / "model"
    folder.mkdir()
    open_sizes(tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    before = (folder / "weights.bin").read_bytes()
    done = tools.mlc("compile", folder / "m.onnx", "--emit=cuda", "-o", folder, "--target=cuda:sm_80")
    assert done.returncode == 2 and "weights.bin" in done.stderr, done.stderr
    assert (folder / "weights.bin").read_bytes() == before and not (folder / "model.cu").exists()
    (tmp_path / "p/weights.bin").mkdir(parents=True)
    done = tools.mlc("compile", tmp_path / "m.onnx", "--emit=cuda", "-o", tmp_path / "p", "--target=cuda:sm_80")
    assert done.returncode == 2 and "weights.bin" in done.stderr, done.stderr
    assert not [path for path in (tmp_path / "p").rglob("*") if path.is_file()]
    done = tools.mlc("compile", tmp_path / "m.onnx", "--emit=cuda", "-o", "-", "--target=cuda:sm_80", cwd=tmp_path)
    assert done.returncode == 2 and "folder" in done.stderr and not (tmp_path / "-").exists()


def test_what_cannot_be_emitted(tools, tmp_path):
    open_sizes(tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "--emit=cuda", "-o", tmp_path / "p")
    assert done.returncode == 4 and "cuda:sm_80" in done.stderr
    done = tools.mlc("compile", tmp_path / "m.onnx", "--emit=fortran", "-o", tmp_path / "p", "--target=cuda:sm_80")
    assert done.returncode == 2 and "there is cuda" in done.stderr


def run_program(program, *arguments):
    return subprocess.run([program / "model", *arguments], capture_output=True, text=True, timeout=300)


def test_sizes_that_overflow(tools, tmp_path):
    # A file of no elements may say that it has as many columns as it wants.
    graph = helper.make_graph(
        [helper.make_node("ReduceMax", ["x"], ["y"], axes=[0], keepdims=0)], "g",
        [helper.make_tensor_value_info("x", T.FLOAT, ["Z", "N", "M"])], [helper.make_tensor_value_info("y", T.FLOAT, ["N", "M"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    program = tmp_path / "program"
    done = tools.mlc("compile", tmp_path / "m.onnx", "--emit=cuda", "-o", program, "--target=cuda:sm_80")
    assert done.returncode == 0, done.stderr
    done = host_build(tools, program)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for shape, status, message in ((2, 3, 5), 0, ""), ((0, 1 << 40, 1 << 40), 1, "error: a size overflows 64 bits\n"):
        with open(tmp_path / "x.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            file.write(bytes(4 * shape[0] * 15 if shape[0] else 0))
        done = run_program(program, tmp_path / "x.npy", tmp_path)
        assert (done.returncode, done.stderr) == (status, message)


def test_a_folder_is_needed(tools, tmp_path):
    open_sizes(tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "--emit=cuda", "--target=cuda:sm_80")
    assert done.returncode == 2 and "give its folder with -o DIR" in done.stderr


SHARED = """
#include <cuda_runtime.h>
#include <cstdio>
extern "C" __global__ void k(long long) {}
static int launch(size_t bytes) {
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.dynamicSmemBytes = bytes;
  return cudaLaunchKernelEx(&config, k, 0ll);
}
static int ask(int bytes) { return cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); }
int main() {
  std::printf("%d %d %d ", launch(48 << 10), launch((48 << 10) + 1), launch(size_t(1) << 32));
  std::printf("%d %d %d ", ask((227 << 10) + 1), ask(-1), launch(100 << 10));
  std::printf("%d %d %d\\n", ask(100 << 10), launch(100 << 10), launch((100 << 10) + 1));
}
"""


def test_shared_memory_is_asked_for(tools, tmp_path):
    """The emulator's cuda_runtime.h refuses what CUDA's does."""
    (tmp_path / "model.cu").write_text(SHARED)
    done = host_build(tools, tmp_path)
    assert done.returncode == 0, done.stderr
    assert run_program(tmp_path).stdout == "0 1 1 1 1 1 0 0 1\n"
