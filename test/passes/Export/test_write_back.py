"""mlc optimize edits a model: what no rewrite touched stays as it was, and what
other runtimes took before, they take afterwards."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import graphs
from trails import check, trail_of


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def optimize(tools, folder, made, *flags):
    path, result = graphs.save(folder / "m.onnx", made), folder / "o.onnx"
    done = tools.mlc("optimize", path, "-o", result, *flags)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(onnx.load(result), full_check=True)
    done = check(tools, path, result, *flags)
    assert done.returncode == 0, done.stderr
    return path, result


def same_results(path, result, *feeds):
    before, after = session(path), session(result)
    for feed in feeds:
        for want, got in zip(before.run(None, feed), after.run(None, feed)):
            assert want.shape == got.shape and want.dtype == got.dtype
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-5)


def normal(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def node_texts(model):
    return [n.SerializeToString(deterministic=True) for n in model.graph.node]


# What the file says beside its nodes


def test_what_is_kept(tools, tmp_path):
    made = graphs.small_network()
    made.doc_string, made.domain, made.model_version = "what it is for", "org.example", 7
    made.producer_name, made.producer_version = "an exporter", "1.2"
    made.graph.doc_string = "the graph"
    made.metadata_props.add(key="author", value="somebody")
    made.graph.node[2].doc_string = "a comment"
    made.graph.value_info.append(graphs.tensor("r", ["N", 8, "H", "W"]))
    made.graph.input[0].doc_string = "pictures"
    path, result = optimize(tools, tmp_path, made)
    written = onnx.load(result)
    assert len(trail_of(written)[0]["steps"]) >= 1
    for field in ("doc_string", "domain", "model_version", "producer_name", "producer_version", "ir_version"):
        assert getattr(written, field) == getattr(made, field), field
    assert written.opset_import == made.opset_import
    assert written.graph.name == made.graph.name and written.graph.doc_string == "the graph"
    assert written.graph.input == made.graph.input and written.graph.output == made.graph.output
    assert {p.key: p.value for p in written.metadata_props if p.key != "mlc.trail"} == {"author": "somebody"}
    assert "r" in {info.name for info in written.graph.value_info}
    # One convolution for convolution and batch norm; the others as they were.
    kept = node_texts(made)[3:]
    assert len(written.graph.node) == len(made.graph.node) - 1
    assert [t for t in node_texts(written) if t in kept] == kept
    relu = next(n for n in written.graph.node if n.op_type == "Relu")
    assert (relu.name, relu.doc_string, list(relu.output)) == ("Relu_2", "a comment", ["r"])
    x = normal(2, 3, 9, 7)
    same_results(path, result, {"x": x}, {"x": x[:1, :, :5]})


COMPOSED = {  # operators that mlc has no single one for
    "Gelu": (20, [("Gelu", ["x"], ["y"], {"approximate": "tanh"})]),
    "HardSwish": (14, [("HardSwish", ["x"], ["y"], {})]),
    "Softplus": (13, [("Softplus", ["x"], ["y"], {})]),
    "InstanceNormalization": (17, [("InstanceNormalization", ["x", "s", "b"], ["y"], {})]),
    "GroupNormalization": (21, [("GroupNormalization", ["x", "s", "b"], ["y"], {"num_groups": 2})]),
    "ReduceL2": (13, [("ReduceL2", ["x"], ["y"], {"axes": [1], "keepdims": 0})]),
    "ReduceMean of opset 18": (18, [("ReduceMean", ["x", "axes"], ["y"], {"keepdims": 0})]),
    "Softmax of opset 11": (11, [("Softmax", ["x"], ["y"], {"axis": 2})]),
    "Clip of opset 9": (9, [("Clip", ["x"], ["y"], {"min": -0.5, "max": 0.5})]),
    "Split": (13, [("Split", ["x"], ["a", "y"], {"axis": 1})]),
    "Pow": (13, [("Pow", ["x", "three"], ["y"], {})]),
    "Shape": (13, [("Shape", ["x"], ["s0"], {}), ("Reshape", ["r0", "s0"], ["y"], {}),
                   ("Flatten", ["x"], ["r0"], {})]),
    "Dropout": (13, [("Relu", ["x"], ["r"], {}), ("Dropout", ["r"], ["y"], {})]),
}


# What a rewrite changes: both transpositions become one.
REWRITTEN = [("Transpose", ["p"], ["pt"], {"perm": [1, 0]}), ("Transpose", ["q"], ["qt"], {"perm": [1, 0]}),
             ("MatMul", ["pt", "qt"], ["product"], {})]


@pytest.mark.parametrize("beside", [[], REWRITTEN])
@pytest.mark.parametrize("name", COMPOSED)
def test_nodes_stay(name, beside, tools, tmp_path):
    """Nodes that read inputs of the model, alone and beside something that is rewritten."""
    opset, nodes = COMPOSED[name]
    nodes = sorted(nodes, key=lambda n: n[1][0] != "x")
    used = {i for n in nodes for i in n[1]}
    weights = {"s": normal(4), "b": normal(4), "axes": np.int64([1]), "three": np.float32(3)}
    inputs = {"x": [2, 4, 3], **({"p": [12, 16], "q": [9, 12]} if beside else {})}
    made = graphs.model(nodes + beside, list(inputs.items()), [],
                        {k: v for k, v in weights.items() if k in used}, opset)
    made.graph.output.append(helper.make_empty_tensor_value_info("y"))
    inferred = onnx.shape_inference.infer_shapes(made)
    made.graph.output[0].CopyFrom(inferred.graph.output[0])
    if not made.graph.output[0].type.tensor_type.HasField("shape"):
        made.graph.output[0].CopyFrom(graphs.tensor("y", [2, 4, 3]))
    if beside:
        made.graph.output.append(graphs.tensor("product", [16, 9]))
    path, result = optimize(tools, tmp_path, made)
    written = onnx.load(result)
    assert written.opset_import == made.opset_import
    # Where nodes are written at all, one that does nothing becomes Identity.
    kept = [text for node, text in zip(made.graph.node, node_texts(made)[:len(nodes)])
            if not beside or node.op_type != "Dropout"]
    assert set(kept) <= set(node_texts(written))
    assert len(written.graph.node) == len(nodes) + (2 if beside else 0)
    same_results(path, result, {name: normal(*dims) for name, dims in inputs.items()})


@pytest.mark.parametrize("opset", [8, 9, 11, 12, 13, 15, 18, 21, 23])
def test_opset_stays_beside_rewrites(opset, tools, tmp_path):
    """A convolution that is emitted, in the opset of the model."""
    made = graphs.small_network()
    del made.graph.node[6]
    made.graph.output[0].name = "l"
    made.opset_import[0].version = opset
    made.ir_version = 3 if opset < 9 else 8
    if made.ir_version < 4:
        for tensor in made.graph.initializer:
            made.graph.input.append(graphs.tensor(tensor.name, tensor.dims))
    path, result = optimize(tools, tmp_path, made)
    written = onnx.load(result)
    assert len(trail_of(written)[0]["steps"]) >= 1
    assert "BatchNormalization" not in {n.op_type for n in written.graph.node}
    assert written.opset_import == made.opset_import and written.ir_version == made.ir_version
    same_results(path, result, {"x": normal(2, 3, 9, 7)})


# Meanings that open dims decide


def test_rank(tools, tmp_path):
    made = graphs.model([("Add", ["a", "b"], ["y"], {})], [("a", [4]), ("b", [1, 4])], [("y", [1, 4])])
    path, result = optimize(tools, tmp_path, made)
    same_results(path, result, {"a": normal(4), "b": normal(1, 4)})


OPEN = {
    "Expand": [("Expand", ["x", "shape"], ["e"], {}), ("Relu", ["e"], ["r"], {}), ("Relu", ["r"], ["y"], {})],
    "Add": [("Add", ["x", "w"], ["e"], {}), ("Relu", ["e"], ["r"], {}), ("Relu", ["r"], ["y"], {})],
    "Where": [("Greater", ["x", "w"], ["g"], {}), ("Where", ["g", "x", "w"], ["r"], {}), ("Relu", ["r"], ["r2"], {}),
              ("Relu", ["r2"], ["y"], {})],
}


@pytest.mark.parametrize("name", OPEN)
def test_open_dim_that_may_be_1(name, tools, tmp_path):
    """D is 4 or 1: neither meaning may be lost, although one relu may go."""
    weights = {"shape": np.int64([4, 3]), "w": normal(4, 3)}
    made = graphs.model(OPEN[name], [("x", ["D", 3])], [("y", [4, 3])],
                        {k: v for k, v in weights.items() if any(k in n[1] for n in OPEN[name])})
    path, result = optimize(tools, tmp_path, made)
    same_results(path, result, {"x": normal(4, 3)}, {"x": normal(1, 3)})
    # With the dim fixed there is one meaning, and the file is of that one.
    (tmp_path / "fixed").mkdir()
    _, fixed = optimize(tools, tmp_path / "fixed", made, "--dim=D=1")
    assert onnx.load(fixed).graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    assert len(trail_of(onnx.load(fixed))[0]["steps"]) >= 1
    same_results(path, fixed, {"x": normal(1, 3)})


def test_lost_meaning_is_refused(tools, tmp_path):
    """What an exporter wrote that took D for 4."""
    made = graphs.model(OPEN["Expand"], [("x", ["D", 3])], [("y", [4, 3])], {"shape": np.int64([4, 3])})
    path, result = optimize(tools, tmp_path, made)
    wrong = onnx.load(result)
    wrong.graph.node[0].CopyFrom(helper.make_node("Identity", ["x"], ["e"]))
    del wrong.graph.initializer[:]
    done = check(tools, path, graphs.save(tmp_path / "w.onnx", wrong))
    assert done.returncode == 5 and "differs" in done.stderr, done.stderr
    # Other nodes are not even compared.
    other = onnx.load(result)
    other.graph.node[1].name = "another"
    done = check(tools, path, graphs.save(tmp_path / "o.onnx", other))
    assert done.returncode == 5 and "open dims decide" in done.stderr, done.stderr


# What ONNX Runtime takes


def test_types_that_runtimes_lack(tools, tmp_path):
    """Nodes that were in a form that ONNX Runtime has are not given another."""
    nodes = [
        ("ReduceMean", ["d"], ["mean"], {"axes": [2, 3], "keepdims": 1}),
        ("Not", ["p"], ["n"], {}), ("And", ["p", "q"], ["pq"], {}), ("And", ["n", "r"], ["nr"], {}),
        ("Or", ["pq", "nr"], ["chosen"], {}),
        ("ReduceMax", ["i"], ["most"], {"axes": [2, 3], "keepdims": 1}),
    ]
    made = graphs.model(
        nodes, [("d", [1, 2, 3, 3], TensorProto.DOUBLE), ("i", [1, 2, 3, 3], TensorProto.INT32)]
        + [(name, [4], TensorProto.BOOL) for name in "pqr"],
        [("mean", [1, 2, 1, 1], TensorProto.DOUBLE), ("chosen", [4], TensorProto.BOOL),
         ("most", [1, 2, 1, 1], TensorProto.INT32)])
    path, result = optimize(tools, tmp_path, made)
    rng = np.random.default_rng(0)
    feed = {"d": rng.standard_normal((1, 2, 3, 3)), "i": rng.integers(-9, 9, (1, 2, 3, 3)).astype(np.int32)}
    same_results(path, result, feed | {name: rng.random(4) < 0.5 for name in "pqr"})


def test_external_data(tools, tmp_path):
    """Weights in another file are found wherever the result lies."""
    (tmp_path / "in").mkdir()
    onnx.save(graphs.small_network(), tmp_path / "in" / "m.onnx", save_as_external_data=True, location="w.bin",
              size_threshold=0)
    result = tmp_path / "o.onnx"
    assert tools.mlc("optimize", tmp_path / "in" / "m.onnx", "-o", result).returncode == 0
    assert check(tools, tmp_path / "in" / "m.onnx", result).returncode == 0
    same_results(tmp_path / "in" / "m.onnx", result, {"x": normal(1, 3, 6, 6)})


def test_large_mask(tools, tmp_path):
    """A mask of more than a thousand bools, folded, is the same in the checker."""
    made = graphs.model([("Trilu", ["x"], ["y"], {"upper": 0})], [("x", [7, 1, 33, 36])], [("y", [7, 1, 33, 36])])
    path, result = optimize(tools, tmp_path, made)
    same_results(path, result, {"x": normal(7, 1, 33, 36)})
