"""Losses, gradients and training of trained.py's networks by PyTorch, in float64.

    python3 -m venv .torch && .torch/bin/pip install --no-deps -r requirements-torch.txt
    .torch/bin/python test/training/torch_gradients.py --write

runs each model's ONNX graph with PyTorch's operators, node by node, and has
autograd take the gradients. What it writes, reference.json, holds for every
weight the gradient's norm and its products with eight vectors of signs, drawn
from a seed: a gradient that differs by e has products that differ by about e; and
the losses of 50 steps with two optimizers.
"""

import argparse
import json
import pathlib
import zlib

import numpy as np
from onnx import helper, numpy_helper

import trained

HERE = pathlib.Path(__file__).parent
PRODUCTS = 8


def signs(name, size):
    """Eight vectors of -1 and 1."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.integers(0, 2, (PRODUCTS, size)) * 2.0 - 1.0


def summary(name, gradient):
    flat = np.asarray(gradient, np.float64).ravel()
    return {"norm": float(np.linalg.norm(flat)), "products": [float(p) for p in signs(name, flat.size) @ flat]}


def float32(number):
    """As the default of an attribute, which is a float32, has it."""
    return float(np.float32(number))


def run(node, x, torch):
    """One node on tensors; F is PyTorch's own operator wherever there is one."""
    F = torch.nn.functional
    a = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    kind = node.op_type

    def pads():
        given = a.get("pads", [0, 0, 0, 0])
        assert given[:2] == given[2:], "symmetric pads only"
        return tuple(given[:2])

    simple = {
        "Relu": torch.relu, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Erf": torch.erf, "Sqrt": torch.sqrt,
        "Neg": torch.neg, "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "MatMul": torch.matmul,
    }
    if kind in simple:
        return simple[kind](*x)
    if kind == "Conv":
        return F.conv2d(*x, stride=tuple(a.get("strides", [1, 1])), padding=pads(),
                        dilation=tuple(a.get("dilations", [1, 1])), groups=a.get("group", 1))
    if kind == "ConvTranspose":
        return F.conv_transpose2d(*x, stride=tuple(a["strides"]), padding=pads(),
                                  output_padding=tuple(a.get("output_padding", [0, 0])))
    if kind == "MaxPool":
        return F.max_pool2d(x[0], a["kernel_shape"], a["strides"], pads())
    if kind == "AveragePool":
        return F.avg_pool2d(x[0], a["kernel_shape"], a["strides"], pads(), count_include_pad=False)
    if kind == "GlobalAveragePool":
        return x[0].mean((2, 3), keepdim=True)
    if kind == "BatchNormalization":
        return F.batch_norm(x[0], x[3], x[4], x[1], x[2], eps=float32(a["epsilon"]))
    if kind == "LRN":
        return F.local_response_norm(x[0], a["size"], a["alpha"], a["beta"], a["bias"])
    if kind == "Flatten":
        return x[0].flatten(1)
    if kind == "ReduceMean":
        return x[0].mean(tuple(a["axes"]), keepdim=bool(a["keepdims"]))
    if kind == "Clip":
        return x[0].clamp(x[1].item(), x[2].item())
    if kind == "LeakyRelu":
        return F.leaky_relu(x[0], a["alpha"])
    if kind == "Elu":
        return F.elu(x[0])
    if kind == "HardSigmoid":
        return (float32(0.2) * x[0] + 0.5).clamp(0, 1)
    if kind == "HardSwish":
        return x[0] * (float32(1 / 6) * x[0] + 0.5).clamp(0, 1)
    if kind == "Concat":
        return torch.cat(x, a["axis"])
    if kind == "Split":
        return torch.split(x[0], x[1].tolist(), a["axis"])
    if kind == "Squeeze":
        return x[0].squeeze(tuple(x[1].tolist()))
    if kind == "Transpose":
        return x[0].permute(a["perm"])
    if kind == "Reshape":
        return x[0].reshape([x[0].shape[i] if d == 0 else d for i, d in enumerate(x[1].tolist())])
    if kind == "Expand":
        return x[0].expand(x[1].tolist())
    if kind == "Slice":
        begin, end, axis = (int(i[0]) for i in x[1:])
        return x[0].narrow(axis, begin, end - begin)
    if kind == "Softmax":
        return x[0].softmax(a["axis"])
    if kind == "LayerNormalization":
        return F.layer_norm(x[0], x[0].shape[-1:], x[1], x[2], float32(a.get("epsilon", 1e-5)))
    if kind == "Gather":
        return F.embedding(x[1], x[0])
    if kind == "Constant":
        return torch.tensor(numpy_helper.to_array(a["value"]))
    raise NotImplementedError(kind)


def forward(model, values, torch, dtype=None):
    for node in model.graph.node:
        results = run(node, [values[name] for name in node.input], torch)
        if len(node.output) == 1:
            results = [results]
        for name, result in zip(node.output, results):
            values[name] = result.to(dtype or torch.float64) if result.is_floating_point() else result
    return values[model.graph.output[0].name]


def loss_of(output, target, flags, torch):
    if "--loss=mse" in flags:
        return torch.nn.functional.mse_loss(output, target.to(output.dtype))
    axis = [int(flag.split("=")[1]) for flag in flags if flag.startswith("--class-axis")] or [1]
    return torch.nn.functional.cross_entropy(output.movedim(axis[0], 1), target, ignore_index=-1)


def weights_of(model, torch, dtype=None):
    """Those of floats that have a dim, as trained; all others as they are."""
    values = {}
    for tensor in model.graph.initializer:
        value = torch.tensor(numpy_helper.to_array(tensor))
        if value.is_floating_point():
            value = value.to(dtype or torch.float64).requires_grad_(value.dim() > 0)
        values[tensor.name] = value
    return values


def gradients(name, torch):
    model, inputs, flags = trained.build(name)
    weights = weights_of(model, torch)
    given = {k: torch.tensor(v) for k, v in inputs.items()}
    given = {k: v.double() if v.is_floating_point() else v for k, v in given.items()}
    loss = loss_of(forward(model, {**weights, **given}, torch), given["target"], flags, torch)
    loss.backward()
    found = {k: v.grad.numpy() for k, v in weights.items() if v.requires_grad and v.grad is not None}
    return float(loss.detach()), found


def losses(name, optimizer, torch):
    """Those of 50 steps."""
    model, inputs, flags = trained.build(name)
    weights = weights_of(model, torch)
    options = trained.OPTIMIZERS[optimizer][0]
    kind = torch.optim.AdamW if optimizer == "adamw" else torch.optim.SGD
    stepper = kind([w for w in weights.values() if w.requires_grad], **options)
    data = {k: torch.tensor(v.copy()) for k, v in trained.samples(inputs).items()}
    count, size = len(data["target"]), len(inputs["target"])
    found = []
    for step in range(trained.STEPS):
        places = trained.batch_of(trained.SEED, step, count, size)
        given = {k: v[places].double() if v.is_floating_point() else v[places] for k, v in data.items()}
        stepper.zero_grad()
        loss = loss_of(forward(model, {**weights, **given}, torch), given["target"], flags, torch)
        loss.backward()
        stepper.step()
        found.append(float(loss.detach()))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write reference.json")
    arguments = parser.parse_args()
    import torch
    made = {}
    for name in trained.NETWORKS:
        loss, found = gradients(name, torch)
        made[name] = {"loss": loss, "gradients": {k: summary(k, v) for k, v in found.items()}}
        made[name]["losses"] = {optimizer: losses(name, optimizer, torch) for optimizer in trained.OPTIMIZERS}
        print(f"{name}: loss {loss:.9g}, {len(found)} weights")
    if arguments.write:
        (HERE / "reference.json").write_text(json.dumps(made, indent=0) + "\n")


if __name__ == "__main__":
    main()
