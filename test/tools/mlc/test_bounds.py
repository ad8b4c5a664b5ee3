"""Crafted files of a few bytes or many parts: compiled with little, or refused
with a stated bound (exit code 9) before they cost anything."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

MANY = 100_000
HUGE = 2**30

# Far above what is needed and far below what these files took: a test of
# memory that does not depend on the machine. Time only ends what hangs.
MEMORY = 900 << 20
HANG = 60


def info(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def number(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def filled(name="c", value=1.5, dtype=TensorProto.FLOAT):
    return helper.make_node("ConstantOfShape", ["shape"], [name],
                            value=helper.make_tensor("value", dtype, [1], [value]))


def many_inputs():
    return model([helper.make_node("Relu", ["x0"], ["y"])],
                 [info(f"x{i}", [4]) for i in range(MANY)], [info("y", [4])])


def many_outputs():
    return model([helper.make_node("Relu", ["x"], [f"y{i}"]) for i in range(MANY)],
                 [info("x", [4])], [info(f"y{i}", [4]) for i in range(MANY)])


def many_operands():
    return model([helper.make_node("Concat", ["x"] * MANY, ["y"], axis=0)],
                 [info("x", [4])], [info("y", [4 * MANY])])


def many_open_operands():
    return model([helper.make_node("Concat", ["x"] * MANY, ["y"], axis=0)],
                 [info("x", ["n"])], [info("y", ["m"])])


def many_results():
    return model([helper.make_node("Split", ["x"], [f"y{i}" for i in range(MANY)], axis=0)],
                 [info("x", [MANY])], [info("y0", [1])])


def many_nodes(op="Relu"):
    return model([helper.make_node(op, [f"v{i}"], [f"v{i + 1}"]) for i in range(10 * MANY)],
                 [info("v0", [4])], [info(f"v{10 * MANY}", [4])])


def many_nodes_inside():
    branch = helper.make_graph(
        [helper.make_node("Relu", ["x"], [f"b{i}"]) for i in range(MANY)], "branch", [],
        [info("b0", [4])])
    return model([helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)],
                 [info("x", [4]), info("c", [], TensorProto.BOOL)], [info("y", [4])])


def many_symbols():
    inputs = [info(f"x{i}", [f"s{i}_{k}" for k in range(4)]) for i in range(2500)]
    return model([helper.make_node("Relu", ["x0"], ["y"])], inputs, [info("y", list("abcd"))])


def huge_output():
    return model([filled(), helper.make_node("Relu", ["x"], ["y"])], [info("x", [4])],
                 [info("y", [4]), info("c", [HUGE])], [number("shape", HUGE)])


def huge_weight():
    return model([filled(), helper.make_node("MatMul", ["x", "c"], ["y"])], [info("x", [4, 2**15])],
                 [info("y", [4, 2**15])], [number("shape", 2**15, 2**15)])


def huge_product():
    return model([filled(), helper.make_node("MatMul", ["c", "c"], ["d"]),
                  helper.make_node("MatMul", ["x", "d"], ["y"])], [info("x", [4, 2**15])],
                 [info("y", [4, 2**15])], [number("shape", 2**15, 2**15)])


def huge_sorted():
    return model([filled(), helper.make_node("TopK", ["c", "k"], ["v", "i"]),
                  helper.make_node("Add", ["x", "v"], ["y"])],
                 [info("x", [1])], [info("y", [1])], [number("shape", HUGE), number("k", 1)])


def huge_sum():
    return model([filled(), helper.make_node("ReduceSum", ["c"], ["r"], keepdims=0),
                  helper.make_node("Add", ["x", "r"], ["y"])],
                 [info("x", [1])], [info("y", [1])], [number("shape", HUGE)])


def huge_range():
    return model([helper.make_node("Range", ["a", "b", "d"], ["r"]),
                  helper.make_node("Cast", ["r"], ["f"], to=TensorProto.FLOAT),
                  helper.make_node("ReduceMax", ["f"], ["m"], keepdims=0),
                  helper.make_node("Add", ["x", "m"], ["y"])],
                 [info("x", [1])], [info("y", [1])],
                 [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in zip("abd", (0, HUGE, 1))])


def huge_table():
    return model([filled(value=1, dtype=TensorProto.INT64), helper.make_node("Gather", ["w", "c"], ["e"]),
                  helper.make_node("Add", ["x", "e"], ["y"])], [info("x", [1])], [info("y", [HUGE])],
                 [number("shape", HUGE), numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")])


PEAK = """
import resource, subprocess, sys
limit = int(sys.argv[1])
run = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
print(run.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measure(tools, *arguments):
    """Exit code, errors and peak bytes of one run of mlc."""
    # A child's peak begins at what its parent holds, which these tests fill: a
    # small process between them starts it.
    process = subprocess.run([sys.executable, "-c", PEAK, str(HANG), tools.build / "bin/mlc", *map(str, arguments)],
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    code, peak = map(int, process.stdout.split())
    return code, process.stderr, peak * 1024


BEYOND = [many_inputs, many_outputs, many_operands, many_open_operands, many_results, many_nodes,
          many_nodes_inside, many_symbols]


@pytest.mark.parametrize("make", BEYOND, ids=lambda make: make.__name__)
def test_what_is_beyond_a_bound_is_refused(tools, tmp_path, make):
    path = tmp_path / "model.onnx"
    path.write_bytes(make().SerializeToString())
    code, errors, peak = measure(tools, "compile", path, "-o", tmp_path / "out.mlca")
    assert code == 9, errors
    assert errors.count("\n") == 1 and "at most" in errors and str(path) in errors
    assert peak < MEMORY
    assert not (tmp_path / "out.mlca").exists()


@pytest.mark.parametrize("make", [huge_output, huge_weight, huge_product, huge_sorted, huge_sum, huge_range, huge_table],
                         ids=lambda make: make.__name__)
def test_what_names_much_costs_little(tools, tmp_path, make):
    """Compiled, or refused with a bound: nothing of 2^30 elements is made."""
    path = tmp_path / "model.onnx"
    path.write_bytes(make().SerializeToString())
    code, errors, peak = measure(tools, "compile", path, "-o", tmp_path / "out.mlca")
    assert code == 0 or (code == 9 and "at most" in errors), errors
    assert peak < MEMORY


def test_unsupported_nodes_are_listed_once_and_not_all(tools, tmp_path):
    nodes = [helper.make_node("Foo", [f"v{i}"], [f"v{i + 1}"], name="n" * 500) for i in range(3_000)]
    path = tmp_path / "model.onnx"
    made = model(nodes, [info("v0", [4])], [info("v3000", [4])])
    made.graph.value_info.extend(info(f"v{i + 1}", [4]) for i in range(2_999))
    path.write_bytes(made.SerializeToString())
    done = tools.mlc("compile", path, "-o", tmp_path / "out.mlca")
    assert done.returncode == 4
    assert "2999 more like these; mlc check --json lists all" in done.stderr  # they have one name
    assert done.stderr.count("\n") == 4 and len(done.stderr) < 5_000
    done = tools.mlc("check", path)
    assert done.returncode == 4
    assert done.stdout.count("\n") == 3 and done.stderr.count("\n") == 1
    assert "3000 nodes cannot be compiled: 3000 Foo" in done.stderr


@pytest.mark.parametrize("command", ["compile", "check", "optimize", "bench"])
def test_endless_model(tools, tmp_path, command):
    flags = ["-o", tmp_path / "out"] if command in ("compile", "optimize") else []
    code, errors, peak = measure(tools, command, "/dev/zero", *flags)
    assert code == 3 and "/dev/zero" in errors
    assert peak < MEMORY


def test_endless_files_of_options(tools, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model([helper.make_node("Relu", ["x"], ["y"])], [info("x", [4])], [info("y", [4])])
                     .SerializeToString())
    code, errors, peak = measure(tools, "compile", path, "-o", tmp_path / "out", "--timings=/dev/zero")
    assert code == 9 and "/dev/zero" in errors and peak < MEMORY
    code, errors, _ = measure(tools, "inspect", "/dev/zero")
    assert code == 3 and "regular" in errors


def test_a_model_from_a_pipe(tools, tmp_path):
    made = model([helper.make_node("Relu", ["x"], ["y"])], [info("x", [4])], [info("y", [4])])
    done = subprocess.run([tools.build / "bin/mlc", "check", "/dev/stdin"], capture_output=True,
                          input=made.SerializeToString(), timeout=HANG)
    assert done.returncode == 0, done.stderr


def test_more_dims_than_the_runtime_takes(tools, tmp_path):
    path = tmp_path / "model.onnx"
    for inputs, nodes in [([1] * 17, []), ([1] * 9, [helper.make_node("Unsqueeze", ["x", "axes"], ["u"])])]:
        nodes.append(helper.make_node("Relu", ["u" if nodes else "x"], ["y"]))
        made = model(nodes, [info("x", inputs)], [info("y", None)], [number("axes", *range(8))])
        path.write_bytes(made.SerializeToString())
        done = tools.mlc("compile", path, "-o", tmp_path / "out.mlca")
        assert done.returncode == 4 and "17 dims, and at most 16 are supported" in done.stderr


def test_a_name_longer_than_an_artifact_takes(tools, tmp_path):
    path = tmp_path / "model.onnx"
    made = model([helper.make_node("Relu", ["x"], ["y"])], [info("x", ["n" * 300])], [info("y", ["n" * 300])])
    path.write_bytes(made.SerializeToString())
    done = tools.mlc("compile", path, "-o", tmp_path / "out.mlca")
    assert done.returncode == 4 and str(path) in done.stderr and "name of 300 bytes" in done.stderr
