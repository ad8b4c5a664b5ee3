"""Functions partitioned over ranks: shardings put into a module, what its ranks exchange, and what they compute."""

import re

import numpy as np
import onnx
import trained

SETTINGS = {"epsilon", "root", "half", "one", "root2", "low", "high"}


def training_step(tools, folder, name, batch, options):
    """The network's step of training on `batch` samples as text, and its inputs with that many."""
    model, inputs, flags = trained.build(name)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(model, folder / f"{name}.onnx")
    weights = [t.name for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT and t.name not in SETTINGS]
    done = tools.mlc("compile", folder / f"{name}.onnx", f"--dim=N={batch}", "--compile-to=import", "-o", folder / "model.mlir",
                     *(f"--parameter={weight}" for weight in weights))
    assert done.returncode == 0, done.stderr
    loss = " ".join(flag.removeprefix("--") for flag in flags)
    done = tools.run("mlc-opt", folder / "model.mlir", f"--mlc-add-training-step={loss} {options}")
    assert done.returncode == 0, done.stderr
    rng = np.random.default_rng(5)
    return done.stdout, {key: rng.permutation(np.resize(value, (batch, *value.shape[1:]))) for key, value in inputs.items()}


def sharded(text, mesh, axes_of):
    """`axes_of(name, rank)` gives the axes of the dims of what is called so, a state by its name, or nothing."""
    def put(match):
        kind, attributes = match.groups()
        name = re.search(r'mlc\.state = "([^"]*)"', attributes) or re.search(r'mlc\.name = "([^"]*)"', attributes)
        axes = axes_of(name.group(1), kind.count("x"))
        if not axes:
            return match.group(0)
        listed = ", ".join(f'"{axis}"' for axis in axes)
        return f"tensor<{kind}> {{dist.sharding = #dist.sharding<[{listed}]>, {attributes}"

    head, rest = text.split("func.func @", 1)
    signature, body = rest.split(" {\n", 1)
    signature = re.sub(r'tensor<([^>]*)> \{([^{}]*?mlc\.name = "[^"]*"(?:, mlc\.state = "[^"]*")?)', put, signature)
    head = head.replace("module attributes {", f"module attributes {{dist.mesh = [{mesh}], ", 1)
    assert "dist.mesh" in head
    return f"{head}func.func @{signature} {{\n{body}"


def partition(tools, folder, text, options=""):
    (folder / "whole.mlir").write_text(text)
    done = tools.run("mlc-opt", folder / "whole.mlir", f"--mlc-partition={options}", "-o", folder / "rank.mlir")
    assert done.returncode == 0, done.stderr
    return (folder / "rank.mlir").read_text()


def exchanges(text):
    """Each collective and the elements of its result, with parts of unknown size as one."""
    found = re.findall(r"= dist\.(\w+) .*-> tensor<((?:[\d?]+x)*)\w+[,>]", text)
    return [(kind, int(np.prod([int(size) for size in dims.split("x") if size.isdigit()]))) for kind, dims in found]


def run(tools, folder, name, inputs, *flags):
    """The results of whole.mlir or rank.mlir, in double precision."""
    for file in (folder / name).glob("*.npy"):
        file.unlink()
    for i, value in enumerate(inputs):
        np.save(folder / f"input{i}.npy", value)
    done = tools.run("mlc-eval", folder / f"{name}.mlir", "--domain=float64", f"--output-dir={folder / name}", *flags,
                     *(f"--input={folder / f'input{i}.npy'}" for i in range(len(inputs))))
    assert done.returncode == 0, done.stderr
    files = sorted((folder / name).glob("*.npy"), key=lambda file: int(file.stem))
    return [np.load(file) for file in files]


def differ(tools, folder, inputs, *flags):
    """The largest difference of any result, relative to the largest element."""
    one, other = run(tools, folder, "whole", inputs, *flags), run(tools, folder, "rank", inputs, "--ranks", *flags)
    assert len(one) == len(other) > 0
    return max(np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30) for a, b in zip(one, other))
