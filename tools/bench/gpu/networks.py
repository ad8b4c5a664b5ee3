"""The networks that are measured: those of tools/experiments, with weights that
are patterns, and 2,000 softmaxes. For `pack` alone."""

import dataclasses
import pathlib
import sys

import onnx_files
from graph import node

# Name, pictures at a time, type.
NETWORKS = [
    ("resnet50", 1, "tf32"), ("resnet50", 32, "f16"), ("mobilenet-v2", 1, "tf32"), ("mobilenet-v2", 32, "f16"),
    ("bert-base", 1, "f16"), ("bert-base", 1, "tf32"), ("softmaxes", 1, "f32"), ("squeezenet", 1, "tf32"),
    ("inception-v3", 1, "tf32"), ("nasrnn", 1, "tf32"), ("resnet18-parallel", 1, "tf32"), ("resnext50", 1, "tf32"),
    ("nasnet-a", 1, "tf32"), ("llama", 1, "f16"),
]

# Largest error by the largest magnitude of the output.
TOLERANCES = {"f16": 4e-2, "tf32": 5e-3, "f32": 2e-5}


@dataclasses.dataclass
class Network:
    base: str
    batch: int
    type: str

    @property
    def name(self):
        return f"{self.base} {self.batch} {self.type}"

    def graph(self, is_small):
        dtype = "f32" if self.type == "tf32" else self.type
        if self.base == "softmaxes":
            return {**softmaxes(20 if is_small else 2000, 1000), "dtype": dtype}
        sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "experiments")]
        import models
        import network
        experiment = models.EXPERIMENTS[self.base]
        net = onnx_files.patterned_network(network.Network)(self.base, 1, min(self.batch, 2) if is_small else self.batch)
        built = experiment.build(net, *(experiment.small if is_small else experiment.full))
        return onnx_files.graph_of(net.model(built), dtype, net.weights)


def softmaxes(count, width):
    """Many small operators of one kind, each a node of its own."""
    parts = [f"part_{i}" for i in range(count)]
    split = {"op": "Split", "inputs": ["x", "sizes"], "outputs": parts, "attributes": {"axis": 0}}
    nodes = [split, *(node("Softmax", [part], f"soft_{i}", axis=-1) for i, part in enumerate(parts)),
             node("Concat", [f"soft_{i}" for i in range(count)], "y", axis=0)]
    return {"opset": 17, "inputs": {"x": [count, width]},
            "constants": {"sizes": {"dims": [count], "type": "i64", "values": [1] * count}}, "nodes": nodes, "outputs": ["y"],
            "dims": {"y": [count, width]}}


def networks():
    return [Network(*entry) for entry in NETWORKS]
