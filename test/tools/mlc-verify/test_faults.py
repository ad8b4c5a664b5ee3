"""Faults of an exporter: the file that mlc optimize wrote is changed in one
place, as a wrong exporter would write it, and mlc-verify --trail must see it."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import graphs
from trails import check, trail_of


def network():
    """Rewritten in one place (a batch norm goes into its convolution), kept in
    all others; every node has something that can be got wrong."""
    rng = np.random.default_rng(3)

    def normal(*shape):
        return (rng.standard_normal(shape) * 0.5).astype(np.float32)

    weights = {
        "w": normal(8, 2, 3, 3), "scale": normal(8), "bias": normal(8), "mean": normal(8),
        "var": rng.uniform(0.5, 2, 8).astype(np.float32), "m": normal(8, 6), "c": normal(6),
        "g": normal(6), "h": normal(6), "t": normal(8, 8, 2, 2), "d": np.int64([0, 8, -1]),
        "from": np.int64([1]), "to": np.int64([7]), "axis": np.int64([2]), "index": np.int64([3, 1, 5]),
        "pads": np.int64([0, 1, 0, 2]), "low": np.float32(-1.5), "high": np.float32(2.5),
        "one": np.int64([1]), "k": np.int64([3]), "half": np.float32(0.5),
    }
    nodes = [
        ("Conv", ["x", "w"], ["conv"], {"pads": [1, 0, 1, 2], "group": 2, "strides": [1, 1], "dilations": [1, 1]}),
        ("BatchNormalization", ["conv", "scale", "bias", "mean", "var"], ["norm"], {}),
        ("LeakyRelu", ["norm"], ["leaky"], {"alpha": 0.2}),
        ("MaxPool", ["leaky"], ["pool"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("AveragePool", ["pool"], ["average"],
         {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
        ("ConvTranspose", ["average", "t"], ["up"], {"strides": [2, 2]}),
        ("Reshape", ["up", "d"], ["flat"], {}),
        ("Slice", ["flat", "from", "to", "axis"], ["cut"], {}),
        ("Transpose", ["cut"], ["turned"], {"perm": [0, 2, 1]}),
        ("MatMul", ["turned", "m"], ["product"], {}),
        ("Add", ["product", "c"], ["sum"], {}),
        ("LayerNormalization", ["sum", "g", "h"], ["layer"], {"axis": -1, "epsilon": 1e-3}),
        ("Softmax", ["layer"], ["soft"], {"axis": 1}),
        ("Gather", ["soft", "index"], ["some"], {"axis": 2}),
        ("Cast", ["some"], ["narrow"], {"to": TensorProto.FLOAT16}),
        ("Cast", ["narrow"], ["wide"], {"to": TensorProto.FLOAT}),
        ("Sub", ["wide", "half"], ["shifted"], {}),
        ("Squeeze", ["shifted", "first"], ["rows"], {}),
        ("Pad", ["rows", "pads"], ["padded"], {"mode": "reflect"}),
        ("Clip", ["padded", "low", "high"], ["y"], {}),
        ("TopK", ["leaky2", "k"], ["best", "where"], {"axis": 1, "largest": 1}),
        ("ReduceMean", ["layer"], ["z"], {"axes": [1], "keepdims": 1}),
        ("CumSum", ["z", "two"], ["running"], {"reverse": 1}),
        ("Less", ["z", "running"], ["less"], {}),
        ("Concat", ["z", "running"], ["both"], {"axis": 1}),
    ]
    nodes.insert(20, ("Flatten", ["leaky"], ["leaky2"], {"axis": 1}))
    weights |= {"first": np.int64([0]), "two": np.int64(2)}
    outputs = [("y", [6, 6]), ("best", [1, 3]), ("where", [1, 3], TensorProto.INT64), ("running", [1, 1, 6]),
               ("less", [1, 1, 6], TensorProto.BOOL), ("both", [1, 2, 6])]
    return graphs.model(nodes, [("x", [1, 4, 8, 8])], outputs, weights)


@pytest.fixture(scope="module")
def written(tools, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    path, result = graphs.save(folder / "m.onnx", network()), folder / "o.onnx"
    done = tools.mlc("optimize", path, "-o", result)
    assert done.returncode == 0 and not done.stderr, done.stderr
    model = onnx.load(result)
    assert len(trail_of(model)[0]["steps"]) >= 1
    # The name of what the convolution makes is the exporter's; give it ours.
    (conv,) = [n for n in model.graph.node if n.op_type == "Conv"]
    old = conv.output[0]
    for other in model.graph.node:
        for names in (other.input, other.output):
            for i, used in enumerate(names):
                if used == old:
                    names[i] = "pool_in"
    assert check(tools, path, graphs.save(folder / "same.onnx", model)).returncode == 0
    return path, model


def node(model, output):
    (found,) = [n for n in model.graph.node if output in n.output]
    return found


def attribute(output, name, value):
    def change(model):
        made = node(model, output)
        kept = [a for a in made.attribute if a.name != name]
        assert len(kept) + 1 == len(made.attribute)
        del made.attribute[:]
        made.attribute.extend(kept + ([] if value is None else [helper.make_attribute(name, value)]))
    return change


def weight(output, index, change):
    """An input of a node that is a weight."""
    def apply(model):
        name = node(model, output).input[index]
        (tensor,) = [t for t in model.graph.initializer if t.name == name]
        array = numpy_helper.to_array(tensor).copy()
        tensor.CopyFrom(numpy_helper.from_array(change(array).astype(array.dtype), name))
    return apply


def perturb(array):
    flat = array.reshape(-1)
    flat[-1] = np.nextafter(flat[-1], np.float32(9))
    return array


def swap(output):
    def change(model):
        made = node(model, output)
        made.input[0], made.input[1] = made.input[1], made.input[0]
    return change


def operator(output, op):
    return lambda model: setattr(node(model, output), "op_type", op)


def bypass(output):
    """The node is dropped; who read it reads its input."""
    def change(model):
        made = node(model, output)
        for other in model.graph.node:
            for i, name in enumerate(other.input):
                if name == output:
                    other.input[i] = made.input[0]
        model.graph.node.remove(made)
    return change


def rename_output(model):
    node(model, "both").output[0] = "other"
    model.graph.output[-1].name = "other"


def swap_outputs(model):
    best = node(model, "best")
    best.output[0], best.output[1] = "where", "best"
    for output in model.graph.output:
        if output.name in ("best", "where"):
            output.type.tensor_type.elem_type = 8 - output.type.tensor_type.elem_type
            output.name = "where" if output.name == "best" else "best"


def lose_rank(model):
    """An output without its leading 1."""
    node(model, "both").output[0] = "inner"
    model.graph.initializer.append(numpy_helper.from_array(np.int64([0]), "lead"))
    model.graph.node.append(helper.make_node("Squeeze", ["inner", "lead"], ["both"]))
    del model.graph.output[-1].type.tensor_type.shape.dim[0]


def transpose_output(model):
    node(model, "both").output[0] = "inner"
    model.graph.node.append(helper.make_node("Transpose", ["inner"], ["both"], perm=[0, 2, 1]))
    dims = model.graph.output[-1].type.tensor_type.shape.dim
    dims[1].dim_value, dims[2].dim_value = dims[2].dim_value, dims[1].dim_value


def older_opset(model):
    """In opset 12 Softmax flattens what is behind its axis."""
    for name in ("rows",):
        made = node(model, name)
        del made.input[1:]
        made.attribute.append(helper.make_attribute("axes", [0]))
    model.opset_import[0].version = 12


def dead_batch(model):
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2


FAULTS = {
    "pad shifted": attribute("pool_in", "pads", [0, 1, 1, 2]),
    "pads on the other side": attribute("pool_in", "pads", [1, 2, 1, 0]),
    "stride": attribute("pool_in", "strides", [1, 2]),
    "dilation": attribute("pool_in", "dilations", [1, 2]),
    "group": attribute("pool_in", "group", 1),
    "weight perturbed": weight("pool_in", 1, perturb),
    "weights turned": weight("pool_in", 1, lambda a: np.ascontiguousarray(a[:, :, ::-1])),
    "bias perturbed": weight("pool_in", 2, perturb),
    "bias dropped": lambda m: node(m, "pool_in").input.pop(),
    "slope": attribute("leaky", "alpha", 0.25),
    "slope left out": attribute("leaky", "alpha", None),
    "padding counted": attribute("average", "count_include_pad", 0),
    "kernel": attribute("pool", "kernel_shape", [2, 1]),
    "maximum for mean": operator("average", "MaxPool"),
    "transposed stride": attribute("up", "strides", [1, 2]),
    "reshape to another order": weight("flat", 1, lambda a: np.int64([0, -1, 8])),
    "slice one on": weight("cut", 1, lambda a: a + 1),
    "slice of another axis": weight("cut", 3, lambda a: np.int64([1])),
    "permutation": attribute("turned", "perm", [0, 1, 2]),
    "transpose dropped": bypass("turned"),
    "operands swapped": swap("shifted"),
    "sum for difference": operator("shifted", "Add"),
    "epsilon": attribute("layer", "epsilon", 1e-5),
    "scale and bias swapped": lambda m: node(m, "layer").input.__setitem__(slice(1, 3), ["h", "g"]),
    "axis of softmax": attribute("soft", "axis", 2),
    "softmax for its logarithm": operator("soft", "LogSoftmax"),
    "indices": weight("some", 1, lambda a: a[::-1]),
    "axis of gather": attribute("some", "axis", 1),
    "cast to another type": attribute("narrow", "to", TensorProto.BFLOAT16),
    "cast dropped": bypass("narrow"),
    "mode of pad": attribute("padded", "mode", "edge"),
    "pad after for before": weight("padded", 1, lambda a: a[[2, 3, 0, 1]]),
    "bound": weight("y", 2, perturb),
    "bounds swapped": lambda m: node(m, "y").input.__setitem__(slice(1, 3), ["high", "low"]),
    "clip dropped": lambda m: node(m, "y").CopyFrom(helper.make_node("Identity", ["padded"], ["y"])),
    "smallest for largest": attribute("best", "largest", 0),
    "reduced axis": attribute("z", "axes", [2]),
    "reduced dims dropped": attribute("z", "keepdims", 0),
    "another reduction": operator("z", "ReduceMax"),
    "direction of a sum": attribute("running", "reverse", 0),
    "comparison": operator("less", "Greater"),
    "comparison the other way": swap("less"),
    "concatenated the other way": swap("both"),
    "output renamed": rename_output,
    "outputs swapped": swap_outputs,
    "outputs in another order": lambda m: m.graph.output.insert(0, m.graph.output.pop()),
    "rank of an output": lose_rank,
    "output transposed": transpose_output,
    "opset": older_opset,
    "dim of the input": dead_batch,
    "input for a constant": lambda m: node(m, "sum").input.__setitem__(1, "g"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name, written, tools, tmp_path):
    path, model = written
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    FAULTS[name](changed)
    assert changed.SerializeToString(deterministic=True) != model.SerializeToString(deterministic=True)
    done = check(tools, path, graphs.save(tmp_path / "o.onnx", changed))
    assert done.returncode == 5 and done.stderr.startswith("mlc: error: "), done.stdout + done.stderr


def test_there_are_thirty():
    assert len(FAULTS) >= 30
