"""The generator of random graphs: it covers what mlc supports, and can tell right from wrong."""

import json
import pathlib
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, helper

sys.path.insert(0, str(pathlib.Path(__file__).parent / "graphs"))

import exact  # noqa: E402
import making  # noqa: E402
import judges  # noqa: E402
import operators  # noqa: E402
import reduce  # noqa: E402
import subject  # noqa: E402


def serialized(seed):
    model, feeds = making.generate(seed)
    return model.SerializeToString(deterministic=True), feeds


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_same_seed_same_bytes(seed):
    model, feeds = serialized(seed)
    again, more = serialized(seed)
    assert model == again
    for feed, other in zip(feeds, more, strict=True):
        assert judges.same(feed, other)


def test_every_supported_operator_has_a_generator(tools, tmp_path):
    """mlc check tells which of ONNX's operators it knows."""
    newest = {s.name for s in defs.get_all_schemas_with_history()
              if s.domain == "" and s.since_version <= 24}
    # Control flow is not an operator on elements; it has tests of its own.
    newest -= {"If"}
    # The former name of ScatterElements is in no reference (test/end-to-end/test_picking.py).
    newest -= {"Scatter"}
    # What is drawn at random is nobody's to judge (test/end-to-end/test_random.py).
    newest -= {"Random" + kind + like for kind in ("Normal", "Uniform") for like in ("", "Like")}
    nodes = [helper.make_node(op, [], ["out_" + op], name=op) for op in sorted(newest)]
    output = helper.make_tensor_value_info("out_Add", TensorProto.FLOAT, [1])
    model = helper.make_model(helper.make_graph(nodes, "all", [], [output]),
                              opset_imports=[helper.make_opsetid("", 24)])
    onnx.save(model, tmp_path / "all.onnx")
    done = tools.mlc("check", tmp_path / "all.onnx", "--json")
    said = {n["name"]: n["reason"] for n in json.loads(done.stdout)["unsupported"]}
    known = {op for op in newest if "operator is not supported" not in said.get(op, "")
             and "depends on data" not in said.get(op, "")}
    assert len(known) > 100
    assert known == set(operators.ENTRIES)


def test_every_generator_makes_graphs():
    for op, entry in operators.ENTRIES.items():
        model, _ = making.generate(5, only=[op])
        assert op in {n.op_type for n in model.graph.node}
        assert entry.first <= model.opset_import[0].version <= entry.last


def small_model(op, type=TensorProto.FLOAT, out=None, **attributes):
    x = helper.make_tensor_value_info("x", type, ["N"])
    y = helper.make_tensor_value_info("y", out or type, None)
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_judge_bounds_errors_of_functions():
    x = np.array([0.5, 2.0, -3.0], np.float32)
    (verdict,) = exact.judge(small_model("Exp"), [{"x": x}])
    right = np.exp(x.astype(np.float64)).astype(np.float32)
    assert verdict["y"].accepts(right).all()
    assert not verdict["y"].accepts(right * np.float32(1 + 1e-4)).any()


def test_judge_wants_moves_exact_and_leaves_casts_out_of_range_open():
    x = np.array([0.0, np.nan, 1.5], np.float32)
    (verdict,) = exact.judge(small_model("Identity"), [{"x": x}])
    assert list(verdict["y"].accepts(x)) == [True] * 3
    assert list(verdict["y"].accepts(np.array([-0.0, 0, np.nextafter(x[2], 2)], np.float32))) == \
        [False] * 3
    cast = small_model("Cast", out=TensorProto.INT8, to=TensorProto.INT8)
    (verdict,) = exact.judge(cast, [{"x": np.array([3.7, 1e9, np.nan], np.float32)}])
    assert list(verdict["y"].accepts(np.array([3, 7, 7], np.int8))) == [True] * 3
    assert not verdict["y"].accepts(np.array([4, 7, 7], np.int8))[0]


def test_judge_leaves_products_open_that_vanish_in_one_order():
    x = np.array([1e-30, -1e-30, 1e20, 1e20], np.float32)
    (verdict,) = exact.judge(small_model("ReduceProd"), [{"x": x}])
    assert verdict["y"].accepts(np.array([-0.0], np.float32)).all()
    for factors, wrong in [([1e-3, 2, 5, 1], 0), ([1e-30, 1e-30, 0, 1], 1)]:
        (verdict,) = exact.judge(small_model("ReduceProd"), [{"x": np.array(factors, np.float32)}])
        assert not verdict["y"].accepts(np.array([wrong], np.float32)).any()


def test_wrong_results_are_called_wrong():
    model, feed = small_model("Exp"), {"x": np.array([1.0, 2.0], np.float32)}
    court, outcome = judges.Court(model, [feed]), subject.Outcome()
    court.compare(outcome, {"y": np.exp(feed["x"])}, 0, "run", "run")
    assert not outcome.failures
    court.compare(outcome, {"y": np.exp(feed["x"]) + np.float32(0.01)}, 0, "run", "run")
    assert [f.kind for f in outcome.failures] == ["wrong"]


def test_reduction_finds_the_node():
    """Graphs "fail" while they have a Tanh."""
    class Pretender:
        def ask(self, kind, model, feeds, modes):
            self.model = onnx.ModelProto.FromString(model)

        def wait(self):
            outcome = subject.Outcome()
            if any(n.op_type == "Tanh" for n in self.model.graph.node):
                outcome.failures.append(subject.Failure("wrong", "run"))
            return "done", outcome, [], 0.0

    for seed in range(3):
        model, feeds = making.generate(seed, only=["Tanh"])
        small, _, failure = reduce.Reducer(
            Pretender(), subject.Failure("wrong", "run"), set()).reduce(model, feeds)
        assert [n.op_type for n in small.graph.node] == ["Tanh"]
        assert failure.kind == "wrong"
