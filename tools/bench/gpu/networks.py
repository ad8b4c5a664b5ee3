"""The networks that are measured: those of tools/experiments, with weights that
are patterns, and 2,000 softmaxes in a row. For `pack` alone."""

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
    """Many small operators in a row, each a node of its own: what launches cost."""
    names = ["x", *(f"soft_{i}" for i in range(count - 1)), "y"]
    nodes = [node("Softmax", [before], name, axis=-1) for before, name in zip(names, names[1:])]
    return {"opset": 17, "inputs": {"x": [width]}, "constants": {}, "nodes": nodes, "outputs": ["y"], "dims": {"y": [width]}}


def networks():
    return [Network(*entry) for entry in NETWORKS]
