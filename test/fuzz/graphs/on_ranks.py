"""A graph for the ranks of a mesh, with shardings, as its own bytes choose them."""

import random
import zlib

import numpy as np
from onnx import TensorProto

FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
MOST_RANKS = 6


def has_array_files(model):
    """NumPy's files have no bfloat16."""
    return all(port.type.tensor_type.elem_type != TensorProto.BFLOAT16
               for port in [*model.graph.input, *model.graph.output])


def numbers_of(model):
    return random.Random(zlib.crc32(model.SerializeToString(deterministic=True)))


def mesh(numbers):
    axes = {"a": numbers.randint(1, 4)}
    if numbers.random() < 0.5:
        axes["b"] = numbers.randint(1, MOST_RANKS // axes["a"])
    return axes


def sizes(model, feed):
    """What open dims of inputs are: those that are split are fixed, and here all are."""
    found = {}
    for port in model.graph.input:
        for dim, size in zip(port.type.tensor_type.shape.dim, feed[port.name].shape):
            if dim.dim_param:
                found[dim.dim_param] = size
    return found


def flags(model, feed):
    """Of mlc compile: the mesh; of most inputs, outputs and weights which axis splits which dim."""
    numbers = numbers_of(model)
    axes = mesh(numbers)
    ranks = {port.name: feed[port.name].ndim for port in model.graph.input}
    ranks.update((port.name, len(port.type.tensor_type.shape.dim)) for port in model.graph.output)
    ranks.update((tensor.name, len(tensor.dims)) for tensor in model.graph.initializer if tensor.data_type in FLOATS)
    made = ["--mesh=" + ",".join(f"{axis}={size}" for axis, size in axes.items())]
    for name, rank in ranks.items():
        dims = ["-"] * rank
        for axis in axes:
            place = numbers.randrange(rank) if rank else None
            if rank and numbers.random() < 0.6 and dims[place] == "-":
                dims[place] = axis
        if any(axis != "-" for axis in dims):
            made.append(f"--shard={name}={','.join(dims)}")
    return made + [f"--dim={name}={size}" for name, size in sizes(model, feed).items()]


def run(subject, model, feed, options):
    """Whole results of all ranks together, and what stands for them where there are none: an exit code and its text."""
    artifact, inputs, outputs = (subject.folder / f"ranks.{name}" for name in ("mlca", "npz", "out.npz"))
    for file in (artifact, outputs):
        file.unlink(missing_ok=True)
    code, text = subject.tool("mlc", "compile", model, "-o", artifact, *options)
    if code != 0:
        return None, code, text
    np.savez(inputs, **feed)
    code, text = subject.tool("mlc", "run", artifact, "--engine=inproc", "--input", inputs, "--output-npz", outputs)
    if code != 0:
        return None, code, text
    with np.load(outputs) as file:
        return dict(file), 0, ""
