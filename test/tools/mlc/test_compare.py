"""mlc compare, what it draws for inputs, and runs that check indices (--checked)."""

import os
import re
import sys

import graphs
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto

STATE = onnxruntime.capi.onnxruntime_pybind11_state
INT64, BOOL = TensorProto.INT64, TensorProto.BOOL
TABLE = np.arange(28, dtype=np.float32).reshape(7, 4)


def test_scalar_outputs(tools, tmp_path):
    made = graphs.model([("ReduceSum", ["x"], ["y"], {"keepdims": 0}), ("Shape", ["x"], ["s"], {}),
                         ("Size", ["x"], ["n"], {})],
                        [("x", ["n", 3])], [("y", []), ("s", [2], INT64), ("n", [], INT64)])
    path = graphs.save(tmp_path / "m.onnx", made)
    done = tools.mlc("compare", path, "--dim=n=5")
    assert done.returncode == 0 and "they agree" in done.stdout, done.stderr


@pytest.mark.parametrize("failure", ["raise RuntimeError('its optimizer fails')", "import os; os.abort()"])
def test_again_without_optimizations(failure, tools, tmp_path):
    """Where ONNX Runtime fails with its optimizer, or ends there, the model runs as it is."""
    (tmp_path / "sitecustomize.py").write_text(
        "import onnxruntime\nreal = onnxruntime.InferenceSession\n"
        "def session(model, options, **rest):\n"
        "    if options.graph_optimization_level != onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL:\n"
        f"        {failure}\n"
        "    return real(model, options, **rest)\n"
        "onnxruntime.InferenceSession = session\n")
    path = graphs.save(tmp_path / "m.onnx", graphs.scaled_relu(2))
    environment = {**os.environ, "MLC_PYTHON": sys.executable, "PYTHONPATH": str(tmp_path)}
    done = tools.mlc("compare", path, "--dim=N=3", env=environment)
    assert done.returncode == 0, done.stderr
    assert re.match(r"against ONNX Runtime \S+ without its optimizations, errors", done.stdout)
    assert re.match(rf"mlc: warning: {path}: ONNX Runtime fails on what its optimizer makes of it: .*(fails|crashed); "
                    "compared without its optimizations\n", done.stderr)


def lookups():
    """Rows by two kinds of ids, by ids in an open dim, and where a mask says so."""
    nodes = [("Cast", ["ids"], ["i"], {"to": INT64}), ("Gather", ["table", "i"], ["a"], {}),
             ("Gather", ["pair", "kinds"], ["b"], {}), ("Gather", ["x", "rows"], ["c"], {}),
             ("Where", ["mask", "a", "b"], ["d"], {}), ("Add", ["c", "d"], ["y"], {})]
    return graphs.model(nodes, [("ids", [64], TensorProto.INT32), ("kinds", [64], INT64), ("x", ["n", 4]), ("rows", [64], INT64),
                                ("mask", [64, 1], BOOL)],
                        [("y", [64, 4]), ("a", [64, 4])], {"table": TABLE, "pair": TABLE[:2]})


def test_ids_are_drawn_inside_of_the_dim(tools, tmp_path):
    """ONNX Runtime refuses others; a mask of ones takes `a` everywhere."""
    path = graphs.save(tmp_path / "m.onnx", lookups())
    for seed in range(3):
        done = tools.mlc("compare", path, "--dim=n=5", f"--seed={seed}", "--checked")
        assert done.returncode == 0 and "they agree" in done.stdout, done.stderr
    # mlc's own evaluator gives what --checked asks of indices beside the outputs.
    done = tools.mlc("compare", path, "--dim=n=5", "--checked", env={**os.environ, "MLC_PYTHON": "/usr/bin/python3"})
    assert done.returncode == 0 and done.stdout.startswith("against the reference evaluator"), done.stderr
    np.save(tmp_path / "x.npy", np.zeros((2, 4), np.float32))
    done = tools.mlc("compare", path, f"--input=x={tmp_path / 'x.npy'}")
    assert done.returncode == 0 and "they agree" in done.stdout, done.stderr


def outcome(tools, folder, made, feeds, target="cpu:x86-64-v3", device="cpu"):
    """What `mlc run` says of each feed, compiled with --checked."""
    model, artifact = graphs.save(folder / "m.onnx", made), folder / "m.mlca"
    done = tools.mlc("compile", model, "-o", artifact, "--checked", f"--target={target}")
    assert done.returncode == 0, done.stderr
    said = []
    for feed in feeds:
        flags = []
        for name, value in feed.items():
            np.save(folder / f"{name}.npy", value)
            flags.append(f"--input={name}={folder / name}.npy")
        done = tools.mlc("run", artifact, f"--device={device}", "--output-dir", folder / "out", *flags)
        try:
            onnxruntime.InferenceSession(model).run(None, feed)
            assert done.returncode == 0, done.stderr
            said.append("")
        except (STATE.InvalidArgument, STATE.Fail):
            assert done.returncode == 2, "ONNX Runtime refuses it"
            said.append(done.stderr.split(": ", 3)[-1].strip())
    return said


def ids(*values):
    return {"i": np.array(values, np.int64)}


CHECKED = {
    "Gather": (graphs.model([("Gather", ["t", "i"], ["y"], {})], [("i", ["n"], INT64)], [("y", ["n", 4])], {"t": TABLE}),
               [ids(0, 6, -7), ids(), ids(3, 7), ids(-8, 2)],
               ["", "", "Gather_0: index 7 of 'i' is not in [-7, 6]", "Gather_0: index -8 of 'i' is not in [-7, 6]"]),
    "GatherElements": (graphs.model([("GatherElements", ["t", "i"], ["y"], {"axis": 1})], [("i", [1, "n"], INT64)],
                                    [("y", [1, "n"])], {"t": TABLE}),
                       [{"i": np.array([[3, -4]])}, {"i": np.array([[4, 0]])}],
                       ["", "GatherElements_0: index 4 of 'i' is not in [-4, 3]"]),
    "GatherND": (graphs.model([("GatherND", ["t", "i"], ["y"], {})], [("i", ["n", 2], INT64)], [("y", ["n"])], {"t": TABLE}),
                 [{"i": np.array([[6, 3]])}, {"i": np.array([[6, 3], [3, 6]])}],
                 ["", "GatherND_0: index 6 of 'i' is not in [-4, 3]"]),
}


@pytest.mark.parametrize("name", CHECKED)
def test_indices_are_checked(name, tools, tmp_path):
    made, feeds, said = CHECKED[name]
    assert outcome(tools, tmp_path, made, feeds) == said


@pytest.mark.parametrize("rows", [7, "n"])
def test_constant_indices_are_checked(rows, tools, tmp_path):
    made = graphs.model([("Gather", ["x", "i"], ["y"], {})], [("x", [rows, 4])], [("y", [2, 4])], ids(7, 0))
    said = "Gather_0: index 7 of 'i' is not in " + ("[-7, 6]" if rows == 7 else "[-n, n - 1]; the largest is 6")
    assert outcome(tools, tmp_path, made, [{"x": TABLE}]) == [said]


@pytest.mark.parametrize("tolerance", ["-1", "-0.5", "nan"])
def test_a_tolerance_is_a_number_from_0_on(tolerance, tools, tmp_path):
    done = tools.mlc("compare", tmp_path / "m.onnx", f"--tolerance={tolerance}")
    assert done.returncode == 2 and done.stderr == "mlc: error: --tolerance: expected a number from 0 on\n"


def test_indices_in_an_open_dim_are_checked(tools, tmp_path):
    made = graphs.model([("Gather", ["x", "i"], ["y"], {})], [("x", ["n", 4]), ("i", ["m"], INT64)], [("y", ["m", 4])])
    feeds = [{"x": TABLE[:rows], **ids(0, 2)} for rows in (3, 2)]
    assert outcome(tools, tmp_path, made, feeds) == \
        ["", "Gather_0: index 2 of 'i' is not in [-n, n - 1]; the largest is 1"]


def test_scatter_and_labels_are_checked(tools, tmp_path):
    made = graphs.model([("ScatterND", ["t", "i", "u"], ["y"], {"reduction": "add"})],
                        [("i", ["n", 1], INT64), ("u", ["n", 4])], [("y", [7, 4])], {"t": TABLE}, opset=18)
    feeds = [{"i": np.array([[row]]), "u": TABLE[:1]} for row in (6, 7)]
    assert outcome(tools, tmp_path, made, feeds) == ["", "ScatterND_0: index 7 of 'i' is not in [-7, 6]"]
    made = graphs.model([("SoftmaxCrossEntropyLoss", ["x", "t"], ["y"], {"ignore_index": -1})],
                        [("x", ["n", 3]), ("t", ["n"], INT64)], [("y", [])])
    path, artifact = graphs.save(tmp_path / "l.onnx", made), tmp_path / "l.mlca"
    assert tools.mlc("compile", path, "-o", artifact, "--checked").returncode == 0
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    for labels, said in (([2, -1], ""), ([0, 3], "index 3 of 't' is not in [0, 2]"), ([-2, 1], "index -2 of 't'")):
        np.save(tmp_path / "t.npy", np.array(labels))
        done = tools.mlc("run", artifact, f"--input=x={tmp_path / 'x.npy'}", f"--input=t={tmp_path / 't.npy'}")
        assert done.returncode == (2 if said else 0) and said in done.stderr, done.stderr


def test_checks_are_only_made_when_asked_for(tools, tmp_path):
    made, _, _ = CHECKED["Gather"]
    path = graphs.save(tmp_path / "m.onnx", made)
    for flags, count in (([], 0), (["--checked"], 2)):
        done = tools.mlc("compile", path, "--compile-to=fuse", *flags)
        assert done.returncode == 0 and len(re.findall(r"exec\.bind", done.stdout)) == count
    onnx.checker.check_model(made)
