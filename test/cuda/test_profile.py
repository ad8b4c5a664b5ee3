"""`mlc bench --profile`: the time of each step beside what it does at the least."""

import json
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

ROWS, DEPTH, COLUMNS = 48, 64, 96


@pytest.fixture(scope="module")
def artifacts(tools, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"], "product"), helper.make_node("Relu", ["p"], ["r"], "relu"),
         helper.make_node("ReduceMax", ["r"], ["y"], "most", axes=[0], keepdims=0)], "g",
        [helper.make_tensor_value_info("x", T.FLOAT, ["N", DEPTH])], [helper.make_tensor_value_info("y", T.FLOAT, [COLUMNS])],
        [helper.make_tensor("w", T.FLOAT, [DEPTH, COLUMNS], np.ones(DEPTH * COLUMNS))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "m.onnx")
    made = {}
    for name, target in ("cpu", "cpu:x86-64-v3"), ("emulator", "cuda:sm_80"):
        made[name] = folder / f"{name}.mlca"
        done = tools.mlc("compile", folder / "m.onnx", "-o", made[name], f"--target={target}")
        assert done.returncode == 0, done.stderr
    return made


def profile(tools, artifacts, device, *options):
    done = tools.mlc("bench", artifacts[device], f"--device={device}", f"--dim=N={ROWS}", "--runs=3", "--profile", "--json",
                     *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["profile"]


@pytest.mark.parametrize("device", ["cpu", "emulator"])
def test_what_steps_do(tools, artifacts, device):
    found = profile(tools, artifacts, device)
    steps = found["steps"]
    times = [step["ns"] for step in steps]
    assert times == sorted(times, reverse=True) and times[-1] > 0
    assert found["total"]["ns"] == pytest.approx(sum(times))
    (product,) = (step for step in steps if "product" in step["nodes"])
    assert product["contraction_operations"] == 2 * ROWS * DEPTH * COLUMNS
    assert product["operations"] >= product["contraction_operations"]
    # Weights may be padded to whole tiles, or packed.
    assert product["bytes_read"] >= 4 * ROWS * DEPTH + 4 * DEPTH * COLUMNS
    assert sum("most" in step["nodes"] for step in steps) > 0
    if device == "cpu":
        assert found["peak"].startswith("peak: One x86-64 core of level v3, times ")
        assert all(0 < step["share_of_peak"] for step in steps)
    else:
        assert found["peak"] == ("no share of a peak: the emulator's times say nothing of a GPU, but "
                                 "MLC_EMULATOR_COUNTERS=FILE counts what accesses cost")
        assert all("share_of_peak" not in step for step in [*steps, found["total"]])
        assert product["skeleton"] in ("tensor", "tiles")


@pytest.fixture(scope="module")
def products(tools, tmp_path_factory):
    """The same product with a bias in each type, for the emulator and for the CPU."""
    folder = tmp_path_factory.mktemp("types")
    made = {}
    for name, kind in ("f32", T.FLOAT), ("f16", T.FLOAT16), ("bf16", T.BFLOAT16):
        shapes = {"x": [ROWS, DEPTH], "w": [DEPTH, COLUMNS], "b": [COLUMNS], "y": [ROWS, COLUMNS]}
        ports = {port: helper.make_tensor_value_info(port, kind, dims) for port, dims in shapes.items()}
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
                                   helper.make_node("Add", ["p", "b"], ["y"], "bias")], "g",
                                  [ports[port] for port in "xwb"], [ports["y"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "m.onnx")
        for device, *flags in ("emulator", "--target=cuda:sm_80"), ("cpu", "--target=cpu:x86-64-v3"):
            made[name, device] = folder / f"{name}-{device}.mlca"
            done = tools.mlc("compile", folder / "m.onnx", "-o", made[name, device], *flags)
            assert done.returncode == 0, done.stderr
    return made


def steps_of(tools, artifact, device, *options):
    done = tools.mlc("bench", artifact, f"--device={device}", "--runs=1", "--profile", "--json", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["profile"]
    return found, next(step for step in found["steps"] if "product" in step["nodes"])


@pytest.mark.parametrize("device", ["cpu", "emulator"])
def test_operations_count_once_in_each_type(tools, products, device):
    counts = {}
    for name in "f32", "f16", "bf16":
        found, product = steps_of(tools, products[name, device], device)
        assert product["contraction_operations"] == 2 * ROWS * DEPTH * COLUMNS
        counts[name] = found["total"]["operations"] - product["contraction_operations"]
    # What is left is the bias, and the rounding of a sum to 16 bits.
    assert all(ROWS * COLUMNS <= count <= 2 * ROWS * COLUMNS for count in counts.values()), counts


def test_a_gpus_peak_is_that_of_float32(tools, products):
    for name in "f32", "f16", "bf16":
        found, product = steps_of(tools, products[name, "cpu"], "cpu", "--roofline=gpu:h100")
        assert found["peak"].endswith(", contractions of float32 with tf32 allowed; no share for those of other types")
        assert ("share_of_peak" in product) == (name == "f32")
        assert ("share_of_peak" in found["total"]) == (name == "f32")


def test_the_roofline_may_be_another(tools, artifacts):
    shares = [profile(tools, artifacts, "cpu", "--threads=1", f"--roofline={target}")["total"]["share_of_peak"]
              for target in ("gpu:h100", "cpu:x86-64-v3")]
    assert shares[0] < shares[1]
    for options, message in (["--roofline=gpu:h100"], "--roofline needs --profile"), (
            ["--profile", "--roofline=abacus"], "unknown target 'abacus'"):
        done = tools.mlc("bench", artifacts["cpu"], f"--dim=N={ROWS}", *options)
        assert done.returncode == 2 and message in done.stderr


def test_one_table_for_all_tools(tools, artifacts, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((ROWS, DEPTH), np.float32))
    for device, artifact in artifacts.items():
        tables = [tools.mlc("bench", artifact, f"--device={device}", f"--dim=N={ROWS}", "--runs=1", "--profile").stdout]
        for tool, *command in ("mlc", "run"), ("mlc-run",):
            tables.append(tools.run(tool, *command, artifact, "--input", tmp_path / "x.npy", "--device", device,
                                    "--profile").stdout)
        heads = {re.search(r"^ +us +share .*$", table, re.M).group() for table in tables}
        assert len(heads) == 1 and "written" in heads.pop()
        assert all(re.search(r": product, relu$|: product$", table, re.M) for table in tables)
