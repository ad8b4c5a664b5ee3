"""Builds the networks of the experiments as ONNX, with seeded weights.

usage: models.py NAME -o FILE.onnx [--small] [--seed N]
       models.py --list

The same name, size and seed give the same bytes. --small has narrower layers,
smaller pictures and shorter sequences with the same structure (fewer layers in
the BERTs), for tests.
"""

import argparse
import dataclasses
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import language  # noqa: E402
import vision  # noqa: E402
from network import Network  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Experiment:
    """build(network, divisor, extent); extent is the picture's side or the
    sequence's length. full and small are (divisor, extent)."""

    title: str
    build: object
    full: tuple
    small: tuple


EXPERIMENTS = {
    "resnet50": Experiment("ResNet-50", vision.resnet50, (1, 224), (8, 64)),
    "resnext50": Experiment("ResNeXt-50 32x4d", vision.resnext50, (1, 224), (8, 64)),
    "resnet18-parallel": Experiment(
        "ResNet-18, 1x1 beside 3x3", vision.resnet18_parallel, (1, 224), (8, 64)),
    "inception-v3": Experiment("Inception-v3", vision.inception_v3, (1, 299), (8, 107)),
    "squeezenet": Experiment("SqueezeNet 1.1", vision.squeezenet, (1, 224), (8, 64)),
    "vgg19": Experiment("VGG-19", vision.vgg19, (1, 224), (8, 64)),
    "mobilenet-v2": Experiment("MobileNetV2", vision.mobilenet_v2, (1, 224), (8, 64)),
    "nasnet-a": Experiment("NasNet-A", vision.nasnet_a, (1, 224), (16, 64)),
    "nasrnn": Experiment("NasRNN", language.nasrnn, (1, 5), (8, 3)),
    "bert-base": Experiment("BERT-base", language.bert_base, (1, 128), (4, 16)),
    "bert-large": Experiment("BERT-large", language.bert_large, (1, 128), (8, 16)),
    "llama": Experiment("Llama-style blocks", language.llama, (1, 128), (8, 16)),
}


def build(name, small=False, seed=1):
    """The model called `name`, as an onnx.ModelProto."""
    experiment = EXPERIMENTS[name]
    network = Network(name, seed)
    return network.model(experiment.build(network, *(experiment.small if small else experiment.full)))


def write(name, path, small=False, seed=1):
    """Writes the model into `path`, whole or not at all."""
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    part.write_bytes(build(name, small, seed).SerializeToString(deterministic=True))
    os.replace(part, path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name", nargs="?", choices=EXPERIMENTS, metavar="NAME")
    parser.add_argument("-o", dest="output", metavar="FILE.onnx")
    parser.add_argument("--small", action="store_true", help="the size for tests")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the names")
    options = parser.parse_args()
    if options.list:
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:20} {experiment.title}")
        return
    if not options.name or not options.output:
        parser.error("give NAME and -o FILE.onnx, or --list")
    write(options.name, options.output, options.small, options.seed)


if __name__ == "__main__":
    main()
