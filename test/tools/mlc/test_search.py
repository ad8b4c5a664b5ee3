"""mlc optimize --search=…: what comes out computes what went in, is predicted
no slower than what the other engines find, and can be checked step by step."""

import json
import re
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest

import graphs
from reference import run_on_noise

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "experiments"))
import models  # noqa: E402

NETWORKS = ["squeezenet", "resnet18-parallel", "nasrnn", "inception-v3"]
ENGINES = ["egraph", "greedy", "backtracking"]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Path of a small network, built once."""
    folder = tmp_path_factory.mktemp("networks")

    def path(name):
        file = folder / f"{name}.onnx"
        return file if file.exists() else models.write(name, file, small=True)

    return path


def search(tools, path, output, *flags):
    done = tools.mlc("optimize", path, "-o", output, "--target=cpu:x86-64-v3", "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NETWORKS)
def test_result_computes_the_same(tools, network, tmp_path, name):
    path, output = network(name), tmp_path / "out.onnx"
    report = search(tools, path, output, "--search=egraph")
    assert report["steps"]
    for expected, actual in zip(run_on_noise(path), run_on_noise(output)):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    replayed = tools.run("mlc-verify", "--trail", path, output)
    assert replayed.returncode == 0, replayed.stderr


@pytest.mark.parametrize("name", NETWORKS)
def test_no_engine_predicts_better(tools, network, tmp_path, name):
    after = {}
    for engine in ENGINES:
        # Backtracking would go on for long.
        limit = ["--search-steps=0.02"] if engine == "backtracking" else []
        report = search(tools, network(name), tmp_path / "out.onnx", f"--search={engine}", *limit)
        assert report["search"] == engine
        assert report["predicted_seconds_after"] <= report["predicted_seconds_before"]
        after[engine] = report["predicted_seconds_after"]
    assert after["egraph"] <= min(after.values()) * (1 + 1e-9)


def test_report(tools, network, tmp_path):
    report = search(tools, network("squeezenet"), tmp_path / "out.onnx", "--search=egraph")
    assert report["stop_reason"] in ("saturated", "node-limit", "iteration-limit", "step-limit")
    assert report["search_steps"] > 0
    assert report["lower_bound_seconds"] <= report["predicted_seconds_after"] * (1 + 1e-9)
    assert report["gap"] == pytest.approx(
        1 - report["lower_bound_seconds"] / report["predicted_seconds_after"], abs=1e-9)
    assert not report["optimal"] or report["gap"] < 1e-6
    assert report["seconds"] >= report["saturation_seconds"] + report["extraction_seconds"] > 0
    assert {"rule", "places", "bindings", "predicted_gain_seconds"} <= set(report["steps"][0])
    greedy = search(tools, network("squeezenet"), tmp_path / "out.onnx", "--search=greedy")
    assert greedy["gap"] is None and greedy["lower_bound_seconds"] is None


@pytest.mark.parametrize("name", ["mobilenet-v2", "nasnet-a"])
def test_whole_networks_saturate(tools, network, tmp_path, name):
    """Depthwise convolutions, whose groups split in many ways, and cells whose
    convolutions read one input in pairs, threes and fours."""
    report = search(tools, network(name), tmp_path / "out.onnx")
    assert report["stop_reason"] == "saturated"
    # Optimal but for what tells equal selections apart (Selection::isOptimal).
    assert report["optimal"] and report["gap"] <= 1e-5


def test_same_bytes_twice(tools, network, tmp_path):
    outputs = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for output in outputs:
        search(tools, network("resnet18-parallel"), output)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_compile_takes_the_flags(tools, tmp_path):
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    done = tools.mlc("compile", path, "-o", tmp_path / "m.mlca", "--search=greedy", "--search-steps=0.5", "--time-limit=60",
                     "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["search"] == "greedy"
    shown = tools.mlc("inspect", tmp_path / "m.mlca", "--json")
    flags = json.loads(shown.stdout)["manifest"]["flags"]
    assert "--search=greedy" in flags and "--search-steps=0.5" in flags
    assert not any("time-limit" in flag for flag in flags)


@pytest.mark.parametrize("engine, steps", [("egraph", 0.001), ("backtracking", 0.005)])
def test_no_clock_decides(tools, network, tmp_path, engine, steps):
    """What is found in few steps is the same beside others that make each of them slower."""
    outputs = [tmp_path / f"{i}.onnx" for i in range(3)]
    searches = [(tools, network("resnet18-parallel"), output, f"--search={engine}", f"--search-steps={steps}")
                for output in outputs]
    reports = [search(*searches[0])]
    with ThreadPoolExecutor(len(searches)) as pool:
        reports += pool.map(lambda arguments: search(*arguments), searches[1:])
    assert {report["stop_reason"] for report in reports} == {"step-limit"}
    for report in reports:
        for name in ("seconds", "saturation_seconds", "extraction_seconds"):
            del report[name]
    assert all(report == reports[0] for report in reports)
    assert len({output.read_bytes() for output in outputs}) == 1


def test_more_steps_find_more(tools, network, tmp_path):
    after = [search(tools, network("squeezenet"), tmp_path / "o.onnx", "--target=gpu:v100", "--search=backtracking",
                    f"--search-steps={steps}")["predicted_seconds_after"] for steps in ("1e-9", "0.02")]
    assert after[0] > after[1]


@pytest.mark.parametrize("command", ["compile", "optimize"])
def test_time_limit_ends_the_command(tools, network, tmp_path, command):
    """It writes nothing: what it has found till then depends on the machine."""
    done = tools.mlc(command, network("inception-v3"), "-o", tmp_path / "o", "--search=backtracking", "--time-limit=0.05")
    assert done.returncode == 9 and done.stdout == ""
    assert done.stderr == ("mlc: error: not done after the 0.05 s of --time-limit; nothing was written; give the search "
                           "more time, fewer --search-steps, or --search=greedy\n")
    assert not list(tmp_path.iterdir())


def test_time_limit_that_is_not_met_changes_nothing(tools, tmp_path):
    """Nor does it count what is not the search."""
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    outputs = [tmp_path / name for name in ("a.mlca", "b.mlca")]
    for output, flags in zip(outputs, ([], ["--time-limit=1e9"])):
        done = tools.mlc("compile", path, "-o", output, *flags)
        assert done.returncode == 0, done.stderr
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan"])
@pytest.mark.parametrize("flag", ["--time-limit", "--search-steps"])
def test_limits_are_positive(tools, tmp_path, flag, value):
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", f"{flag}={value}")
    assert done.returncode == 2
    assert done.stderr.startswith(f"mlc: error: {flag}: expected a number")


def test_json_and_model_do_not_share_the_output(tools, tmp_path):
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    done = tools.mlc("optimize", path, "-o", "-", "--json")
    assert done.returncode == 2 and done.stdout == ""


def test_what_suits_only_mlc_is_not_exported(tools, tmp_path):
    """mlc has good code for a 1x1 convolution and a shuffle, other runtimes for
    transposed convolutions."""
    weights = np.random.default_rng(0).standard_normal((8, 4, 2, 2)).astype(np.float32)
    path = graphs.save(tmp_path / "m.onnx", graphs.model(
        [("ConvTranspose", ["x", "w"], ["y"], {"strides": [2, 2]})], [("x", [1, 8, 24, 40])],
        [("y", [1, 4, 48, 80])], weights=[("w", weights)]))
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx")
    assert done.returncode == 0, done.stderr
    assert [n.op_type for n in onnx.load(tmp_path / "o.onnx").graph.node] == ["ConvTranspose"]
    done = tools.mlc("compile", path, "-o", tmp_path / "m.mlca")
    assert done.returncode == 0, done.stderr
    shown = tools.mlc("inspect", tmp_path / "m.mlca", "--json")
    assert "conv_transpose_is_conv_and_shuffle" in shown.stdout
    compared = tools.mlc("compare", path)
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_other_runtimes_get_no_price_of_winograd(tools, tmp_path):
    """A 3x3 convolution in groups of 4 channels pays as one in larger groups only
    where Winograd's algorithm takes most of the products away."""
    weights = np.random.default_rng(0).standard_normal((128, 4, 3, 3)).astype(np.float32)
    path = graphs.save(tmp_path / "m.onnx", graphs.model(
        [("Conv", ["x", "w"], ["y"], {"pads": [1, 1, 1, 1], "group": 32})], [("x", [1, 128, 56, 56])],
        [("y", [1, 128, 56, 56])], weights=[("w", weights)]))
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--target=cpu:x86-64-v4", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == []
    # What is explained has the same prices: dense, it has 8 times the products of groups that are padded to 16.
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--target=cpu:x86-64-v4", "--explain")
    slower = float(re.search(r"conv_as_conv at \S+ \(([0-9.]+) us slower\)", done.stdout).group(1))
    assert slower > 6e3 * float(re.search(r"predicted: ([0-9.]+) ms", done.stdout).group(1))
    done = tools.mlc("compile", path, "-o", tmp_path / "m.mlca", "--target=cpu:x86-64-v4", "--json")
    assert done.returncode == 0, done.stderr
    assert [step["rule"] for step in json.loads(done.stdout)["steps"]] == [
        "finely_grouped_conv_as_fewer_groups"]
    compared = tools.mlc("compare", path)
    assert compared.returncode == 0, compared.stdout + compared.stderr


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NETWORKS)
def test_gains_add_up(tools, network, tmp_path, name, engine):
    limit = ["--search-steps=0.02"] if engine == "backtracking" else []
    report = search(tools, network(name), tmp_path / "out.onnx", f"--search={engine}", *limit)
    gained = report["predicted_seconds_before"] - report["predicted_seconds_after"]
    assert sum(step["predicted_gain_seconds"] for step in report["steps"]) == pytest.approx(gained, rel=1e-9)


def unread_channels(model):
    """Of convolutions whose results are only sliced: channels that no slice reads."""
    outputs = {o.name for o in model.graph.output}
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    unread = 0
    for conv in (n for n in model.graph.node if n.op_type == "Conv"):
        readers = [n for n in model.graph.node if conv.output[0] in n.input]
        if conv.output[0] in outputs or any(r.op_type != "Slice" for r in readers):
            continue
        read = np.zeros(constants[conv.input[1]].shape[0], bool)
        for reader in readers:
            start, end, axes = (constants[name] for name in reader.input[1:4])
            at = list(axes).index(1)
            read[start[at]:end[at]] = True
        unread += int((~read).sum())
    return unread


@pytest.mark.parametrize("side", [14, 28])
def test_nothing_is_computed_for_nobody(tools, tmp_path, side):
    """Two convolutions side by side: as fast as with channels that nobody reads on a machine that
    they do not fill, and never to be made so."""
    rng = np.random.default_rng(1)
    weights = {name: (rng.standard_normal((120, 384, 1, 1)) * 0.05).astype(np.float32) for name in "vw"}
    made = graphs.model(
        [("Conv", ["x", "v"], ["a"], {}), ("Conv", ["x", "w"], ["b"], {}), ("Relu", ["a"], ["y"], {}),
         ("Sigmoid", ["b"], ["z"], {})],
        [("x", [1, 384, side, side])], [("y", [1, 120, side, side]), ("z", [1, 120, side, side])], weights)
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    done = tools.mlc("optimize", path, "-o", result, "--target=gpu:v100", "--json")
    assert done.returncode == 0, done.stderr
    assert unread_channels(onnx.load(result)) == 0
    assert tools.run("mlc-verify", "--trail", path, result).returncode == 0
