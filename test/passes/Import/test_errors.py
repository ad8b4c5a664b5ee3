"""Files that are damaged, hostile or ask for what mlc cannot do."""

import os
import pathlib
import random
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

BUILD = pathlib.Path(os.environ.get("MLC_BUILD", "build"))
BAD, UNSUPPORTED, USAGE = 3, 4, 2


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, initializers=(), opset=17):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(path, *arguments):
    return subprocess.run(
        [BUILD / "bin/mlc-translate", path, *arguments], capture_output=True, text=True, errors="replace", timeout=60
    )


def refused(tmp_path, proto, code, *texts):
    path = tmp_path / "m.onnx"
    path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
    done = run(path)
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stderr.startswith(f"mlc-translate: error: {path}: "), done.stderr
    for text in texts:
        assert text in done.stderr
    return done.stderr


def small():
    w = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    b = numpy_helper.from_array(np.arange(4, dtype=np.float32), "b")
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Shape", ["r"], ["s"], "shape"),
        helper.make_node("Slice", ["s", "zero", "one"], ["n"], "slice"),
        helper.make_node("Concat", ["n", "minus"], ["t"], "concat", axis=0),
        helper.make_node("Reshape", ["r", "t"], ["y"], "reshape"),
    ]
    ints = [numpy_helper.from_array(np.array([v], np.int64), n) for n, v in (("zero", 0), ("one", 1), ("minus", -1))]
    return model(nodes, [value("x", ["N", 3, "H", "W"])], [value("y", ["N", "M"])], [w, b, *ints])


def test_small_imports(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(small(), path)
    done = run(path)
    assert done.returncode == 0 and "mlc.reshape" in done.stdout
    done = run(path, "--dim", "N=2", "--dim", "H=8", "--dim", "W=any")
    assert done.returncode == 0 and "tensor<2x3x8x?xf32" in done.stdout
    done = run(path, "--dim", "Q=2")
    assert done.returncode == USAGE and "it has N, H, W" in done.stderr


def test_every_truncation(tmp_path):
    data = small().SerializeToString()
    path = tmp_path / "m.onnx"
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        done = run(path)
        assert done.returncode in (BAD, UNSUPPORTED), (length, done.returncode, done.stderr)
        assert done.stderr.startswith("mlc-translate: error:"), (length, done.stderr)


def test_flipped_bytes(tmp_path):
    data = small().SerializeToString()
    rng = random.Random(1)
    path = tmp_path / "m.onnx"
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 2, 8])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(bytes(damaged))
        done = run(path)
        assert done.returncode in (0, BAD, UNSUPPORTED), (done.returncode, done.stderr)


def test_missing_file(tmp_path):
    done = run(tmp_path / "none.onnx")
    assert done.returncode == BAD and "cannot read the file" in done.stderr


def relu(a, b, name):
    return helper.make_node("Relu", [a], [b], name)


def test_structure(tmp_path):
    x, y = [value("x", [2])], [value("y", [2])]
    refused(tmp_path, model([relu("a", "b", "n1"), relu("b", "a", "n2"), relu("b", "y", "n3")], x, y), BAD, "n1: is part of a cycle")
    refused(tmp_path, model([relu("q", "y", "n1")], x, y), BAD, "n1: reads 'q', which nothing makes")
    refused(tmp_path, model([relu("x", "y", "n1"), relu("x", "y", "n2")], x, y), BAD, "n2: makes 'y', which already exists")
    refused(tmp_path, model([], x, y), BAD, "the output 'y' is made by no node")
    refused(tmp_path, model([relu("x", "y", "n")], x + x, y), BAD, "two inputs have the name 'x'")
    refused(tmp_path, model([helper.make_node("Add", ["x"], ["y"], "n")], x, y), BAD, "n: Add: input 1 is missing")
    refused(tmp_path, model([relu("x", "y", "n")], x, [value("y", [2], TensorProto.INT64)]), BAD, "declared with elements of INT64")


def test_nodes(tmp_path):
    x, y = [value("x", [2, 3])], [value("y", [2, 3])]
    i = numpy_helper.from_array(np.ones((2, 3), np.int64), "i")
    w = numpy_helper.from_array(np.ones((2, 3), np.float32), "w")
    refused(tmp_path, model([helper.make_node("Add", ["x", "i"], ["y"], "n")], x, y, [i]), BAD, "n: Add: inputs have different element types")
    refused(tmp_path, model([helper.make_node("MatMul", ["x", "w"], ["y"], "n")], x, y, [w]), BAD, "n: MatMul", "3 is not 2")
    refused(tmp_path, model([helper.make_node("Softmax", ["x"], ["y"], "n", axis=5)], x, y), BAD, "axis 5 is out of range")
    refused(tmp_path, model([helper.make_node("Softmax", ["x"], ["y"], "n", axis="a")], x, y), BAD, "attribute 'axis' has type STRING, not INT")


def test_all_unsupported_nodes_are_listed(tmp_path):
    nodes = [
        helper.make_node("Det", ["x"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "second"),
        helper.make_node("NonZero", ["b"], ["c"], "third"),
        helper.make_node("Foo", ["c"], ["y"], "fourth", domain="my"),
    ]
    proto = model(nodes, [value("x", [2, 2])], [value("y", [1])])
    proto.opset_import.append(helper.make_opsetid("my", 3))
    refused(tmp_path, proto, UNSUPPORTED, "3 nodes cannot be compiled: 1 Det, 1 NonZero, 1 my.Foo",
            "first: Det of opset 17", "NonZero: the shape of its output depends on data", "third: NonZero", "fourth: my.Foo of opset 3")


def test_tensors(tmp_path):
    y = [value("y", [4])]
    bad = numpy_helper.from_array(np.ones(4, np.float32), "w")
    bad.raw_data = bad.raw_data[:9]
    refused(tmp_path, model([relu("w", "y", "n")], [], y, [bad]), BAD, "needs 16 bytes by its type, but has 9")
    for dims in ([1 << 40, 1 << 40], [-4], [1 << 62, 4, 4]):
        huge = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"0" * 16)
        refused(tmp_path, model([relu("w", "y", "n")], [], y, [huge]), BAD, "dims that are negative or too large")
    fill = model(
        [helper.make_node("ConstantOfShape", ["s"], ["y"], "n")], [], y,
        [numpy_helper.from_array(np.array([1 << 40, 1 << 40], np.int64), "s")],
    )
    refused(tmp_path, fill, UNSUPPORTED, "n: ConstantOfShape", "needs more than 1024 GB", "lower its sizes, pads or repeats")
    # Sizes that wrap around are too large as well.
    x, most = [value("x", ["n"])], np.array([0, 2**63 - 1])
    for node, count in (("Pad", most), ("Tile", np.array([2**40]))):
        proto = model([helper.make_node(node, ["x", "c"], ["y"], "n")], x, y, [numpy_helper.from_array(count, "c")])
        refused(tmp_path, proto, UNSUPPORTED, f"n: {node}", "needs more than 1024 GB", "lower its sizes, pads or repeats")


def external(location, **entries):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4])
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=text)
    return model([relu("w", "y", "n")], [], [value("y", [4])], [tensor])


def test_external_data(tmp_path):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"0" * 64)
    (folder / "data").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    (folder / "link").symlink_to(tmp_path / "secret")
    path = folder / "m.onnx"
    path.write_bytes(external("data", offset="16", length="16").SerializeToString())
    done = run(path)
    assert done.returncode == 0 and "4.000000e+00, 5.000000e+00" in done.stdout
    refused(folder, external("../secret"), BAD, "outside the model's folder")
    refused(folder, external(str(tmp_path / "secret")), BAD, "outside the model's folder")
    refused(folder, external("link"), BAD, "a link that leaves the model's folder")
    refused(folder, external("."), BAD, "w")
    refused(folder, external("none"), BAD, "cannot read its data")
    refused(folder, external("data", offset="20"), BAD, "which has 32")
    refused(folder, external("data", offset="-1"), BAD, "not a number")
    refused(folder, external("data", length="99"), BAD, "external data has 99")


def test_nested_too_deep(tmp_path):
    graph = helper.make_graph([relu("x", "y", "n")], "g", [], [value("y", [2])])
    for _ in range(60):
        node = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([node], "g", [], [value("y", [2])])
        if graph.ByteSize() > 1 << 20:
            break
    proto = model(list(graph.node), [value("x", [2]), value("c", [], TensorProto.BOOL)], [value("y", [2])])
    refused(tmp_path, proto, UNSUPPORTED, "its condition depends on data")


def test_growing_dims_end(tmp_path):
    """Squaring a dim again and again must not blow up."""
    nodes = [helper.make_node("Shape", ["x"], ["s0"], "shape")]
    for i in range(40):
        nodes.append(helper.make_node("Mul", [f"s{i}", f"s{i}"], [f"m{i}"], f"mul{i}"))
        nodes.append(helper.make_node("Add", [f"m{i}", f"s{i}"], [f"s{i + 1}"], f"add{i}"))
    nodes.append(helper.make_node("Expand", ["one", "s40"], ["y"], "expand"))
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    proto = model(nodes, [value("x", ["N", "M"])], [value("y", ["A", "B"])], [one])
    refused(tmp_path, proto, UNSUPPORTED, "expand")


@pytest.mark.parametrize("group", [0, -1, 2**62])
def test_groups(tmp_path, group):
    conv = helper.make_node("Conv", ["x", "w"], ["y"], group=group)
    weights = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "w")
    refused(tmp_path, model([conv], [value("x", [1, 2, 4, 4])], [value("y", [1, 2, 4, 4])], [weights]), BAD,
            f"group must be 1 to 16777216, got {group}")
