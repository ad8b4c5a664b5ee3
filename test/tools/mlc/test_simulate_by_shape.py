"""mlc simulate of models whose weights are elsewhere: their shapes are enough."""

import json
import re
import resource

import onnx
from onnx import TensorProto, helper


def model(folder, width, location="weights.bin"):
    """Two matrices of float32 with data in a file that is not there."""
    weights = []
    for name in ("first", "second"):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[width, width], data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=location)
        weights.append(tensor)
    nodes = [helper.make_node("MatMul", ["x", "first"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("MatMul", ["r", "second"], ["y"])]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, width]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    (folder / "m.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return folder / "m.onnx"


FLAGS = ["--loss=mse", "--stages=2", "--ranks=2", "--micro-batches=4"]


def test_weights_larger_than_the_machine(tools, tmp_path):
    """16 TB of weights: nothing as large is allocated."""
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    # No device has the memory; one that had it would take so long.
    flags = [*FLAGS, "--json", "--cluster=cluster:a100-800g"]
    done = tools.mlc("simulate", model(tmp_path, 1 << 21), *flags, preexec_fn=limited)
    assert done.returncode == 9 and re.search(r"rank 0, 0F0: \d{13,} bytes too many for the 80000000000 of its device a100", done.stderr), done.stderr
    cluster = json.loads((tools.source / "simulator/cluster/machines/a100-800g.json").read_text())
    cluster["devices"]["a100"]["memory_bytes"]["value"] = 1e15
    (tmp_path / "large.json").write_text(json.dumps(cluster))
    done = tools.mlc("simulate", model(tmp_path, 1 << 21), *flags[:-1], f"--cluster={tmp_path / 'large.json'}", preexec_fn=limited)
    assert done.returncode == 0, done.stderr
    large = json.loads(done.stdout)["seconds"]
    # 2^22 times the work of matrices with 1024 rows.
    done = tools.mlc("simulate", model(tmp_path, 1 << 10), *FLAGS, "--cluster=cluster:a100-800g", "--json")
    assert large > 1000 * json.loads(done.stdout)["seconds"] > 0


def test_only_what_is_missing_is_left_out(tools, tmp_path):
    """A file that is there must be right, one outside the folder is refused, and to train takes the data."""
    path = model(tmp_path, 64)
    assert tools.mlc("simulate", path, *FLAGS).returncode == 0
    (tmp_path / "weights.bin").write_bytes(b"short")
    done = tools.mlc("simulate", path, *FLAGS)
    assert done.returncode != 0 and re.search(r"initializer 'first'.*", done.stderr), done.stderr
    done = tools.mlc("simulate", model(tmp_path, 64, "../weights.bin"), *FLAGS)
    assert done.returncode != 0 and "outside the model's folder" in done.stderr
    done = tools.mlc("train", model(tmp_path, 64, "none.bin"), *FLAGS, f"--data={tmp_path / 'd.npz'}", "--steps=1", "-o", tmp_path / "o.onnx")
    assert done.returncode != 0 and "cannot read its data" in done.stderr
