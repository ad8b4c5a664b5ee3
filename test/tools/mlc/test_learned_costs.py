"""mlc calibrate --learn: what operators take that were not measured."""

import json
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

FILES = sorted((pathlib.Path(__file__).parent / "timings").glob("*.json"))
TARGET = "--target=cpu:x86-64-v4"


def learn(tools, *flags):
    return tools.mlc("calibrate", "--learn=" + ",".join(map(str, FILES)), TARGET, *flags)


@pytest.fixture(scope="module")
def learned(tools, tmp_path_factory):
    path = tmp_path_factory.mktemp("learned") / "costs.json"
    done = learn(tools, "-o", path, "--json")
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def test_networks_that_were_not_seen_are_ranked(learned):
    """Each network's operators by what was learned from the nine others."""
    found = learned[1]
    assert len(found["held_out"]) == len(FILES) == 10
    together = found["together"]
    assert together["operators"] > 250
    assert together["learned"]["spearman"] >= 0.95 and together["learned"]["kendall_tau"] >= 0.83
    for which in ("spearman", "kendall_tau"):
        assert together["learned"][which] > together["analytic"][which]
    assert together["learned"]["mean_log_error"] < together["analytic"]["mean_log_error"]

    def mean(which):
        return sum(one[which]["spearman"] * one["operators"] for one in found["held_out"]) / together["operators"]
    assert mean("learned") >= 0.93 and mean("learned") > mean("analytic")


def test_the_same_files_give_the_same_bytes(tools, learned, tmp_path):
    assert learn(tools, "-o", tmp_path / "again.json").returncode == 0
    assert (tmp_path / "again.json").read_bytes() == learned[0].read_bytes()
    read = json.loads(learned[0].read_text())
    every = {one["operator"] for path in FILES for one in json.loads(path.read_text())["timings"]}
    assert {one["operator"] for one in read["timings"]} == every


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Products alone, which no file has measured."""
    rng = np.random.default_rng(1)
    weights = [numpy_helper.from_array(rng.standard_normal((77, 77)).astype(np.float32), f"w{i}") for i in range(3)]
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(3)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [64, 77])],
                              [helper.make_tensor_value_info("x3", TensorProto.FLOAT, [64, 77])], weights)
    path = tmp_path_factory.mktemp("model") / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def simulate(tools, model, *flags):
    done = tools.mlc("simulate", model, "--loss=mse", TARGET, "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["seconds"]


def test_what_was_learned_prices_operators(tools, learned, model, tmp_path):
    plain = simulate(tools, model)
    assert simulate(tools, model, f"--timings={learned[0]}") != plain
    read = json.loads(learned[0].read_text())
    factor = tmp_path / "factor.json"

    def priced(base, trees):
        factor.write_text(json.dumps({"target": read["target"], "timings": [], "learned": {**read["learned"], "base": base, "trees": trees}}))
        return simulate(tools, model, f"--timings={factor}")
    alone = priced(0, [])
    assert alone == pytest.approx(plain, rel=0.2)
    # All but what is fused to another operator takes twice as long, from the base, a leaf, or either side of a split.
    twice = float(np.log(2))
    assert 1.7 * alone < priced(twice, []) < 2.01 * alone
    assert priced(twice, []) == pytest.approx(priced(0, [[[twice]]]), rel=1e-6)
    assert priced(twice, []) == pytest.approx(priced(0, [[[0, 1e9, 1, 2], [twice], [0]]]), rel=1e-6)
    assert alone == pytest.approx(priced(0, [[[0, -1e9, 1, 2], [twice], [0]]]), rel=1e-6)


@pytest.mark.parametrize("change, message", [
    ({"features": ["bytes"]}, '"learned": has other features than this version of mlc; learn again'),
    ({"base": "x"}, '"learned": expected "features", "operators", "base" and "trees"'),
    ({"operators": [1]}, '"learned": "operators" are names'),
    ({"trees": [[]]}, '"learned": a tree is an array of nodes'),
    ({"trees": [[[0, 1, 0, 0]]]}, '"learned": a node of a tree is [value]'),
    ({"trees": [[[0, 1, 1, 9], [1]]]}, '"learned": a node of a tree is [value]'),
    ({"trees": [[[99999, 1, 1, 2], [1], [1]]]}, '"learned": a node of a tree is [value]'),
    ({"trees": [[[1e300]]]}, '"learned": a node of a tree is [value]'),
])
def test_wrong_files_are_refused(tools, learned, model, tmp_path, change, message):
    read = json.loads(learned[0].read_text())
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**read, "learned": {**read["learned"], **change}}))
    done = tools.mlc("simulate", model, "--loss=mse", TARGET, f"--timings={path}")
    assert done.returncode == 3 and f"{path}: {message}" in done.stderr, done.stderr


@pytest.mark.parametrize("operator", ["", "mlc.nothing {} : (tensor<2xf32>) -> tensor<2xf32>", "mlc.relu {} : (tensor<2xf32>) -> tensor<3xf32>",
                                      "mlc.relu {} : () -> tensor<2xf32>", "mlc.relu {axis} (", "func.func {} : () -> ()", "mlc.softmax {} : (tensor<2xf32>) -> tensor<2xf32>"])
def test_operators_that_are_none_are_refused(tools, tmp_path, operator):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"target": "cpu:x86-64-v4", "timings": [{"operator": operator, "seconds": 1e-3}]}))
    done = tools.mlc("calibrate", f"--learn={path}", TARGET)
    assert done.returncode == 3 and f"{path}: mlc has no operator '{operator}'" in done.stderr and "measure again" in done.stderr, done.stderr


def test_flags_that_contradict_are_refused(tools, model, tmp_path):
    one = f"--learn={FILES[0]}"
    for flags, message in [([model, one], "--learn takes files of times"), ([one, "--target=gpu:v100"], "was measured on cpu:x86-64-v4, not on"),
                           ([one, TARGET, "-o", FILES[0]], "is the file that is read as"), (["--learn=", TARGET], "")]:
        done = tools.mlc("calibrate", *flags)
        assert done.returncode in (2, 3) and message in done.stderr, done.stderr
