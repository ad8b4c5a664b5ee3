"""Gradients under memory budgets: what was planned and allocated, what it costs.

    .venv/bin/python tools/bench/rematerialization.py [--networks resnet18,unet,gpt] [--rounds 3]

For each network, ten budgets between what the program takes without one and the
least that is found. Each line is a compilation and runs of its own, on one
thread; gradients must have the bits that they have without a budget, and the
session's arena must have the bytes that were planned. Times are the sum of all
steps of `mlc gradients --profile`, each round with and without the budget, turn
by turn; printed is the ratio of the shortest.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / folder) for folder in ("training", "models")]
import trained  # noqa: E402


def basic_block(net, h, name, width, channels, stride):
    """Two 3x3 convolutions with statistics of the batch."""
    x = net.conv(h, f"{name}.conv1", channels, width, 3, pads=[1, 1, 1, 1], strides=[stride, stride])
    x = net.op("Relu", trained.batch_norm(net, x, f"{name}.norm1", channels))
    x = net.conv(x, f"{name}.conv2", channels, channels, 3, pads=[1, 1, 1, 1])
    x = trained.batch_norm(net, x, f"{name}.norm2", channels)
    if width != channels or stride != 1:
        h = net.conv(h, f"{name}.shortcut", channels, width, 1, strides=[stride, stride])
        h = trained.batch_norm(net, h, f"{name}.norm3", channels)
    return net.op("Relu", net.op("Add", h, x))


def resnet18(batch=4, size=64):
    net = trained.Network(1)
    x = {"x": net.rng.standard_normal((batch, 3, size, size)).astype(np.float32)}
    h = net.conv("x", "stem", 64, 3, 7, pads=[3, 3, 3, 3], strides=[2, 2])
    h = net.op("Relu", trained.batch_norm(net, h, "norm", 64))
    h = net.op("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    width = 64
    for stage, channels in enumerate([64, 128, 256, 512]):
        for block in range(2):
            h = basic_block(net, h, f"stage{stage}.{block}", width, channels, 2 if stage and not block else 1)
            width = channels
    y = net.linear(net.op("Flatten", net.op("GlobalAveragePool", h)), "head", width, 1000)
    return (net.model(x, y, (batch, 1000)), {**x, "target": net.rng.integers(0, 1000, batch)},
            ["--loss=cross-entropy"])


def unet(batch=2, size=32, width=8, levels=2):
    net = trained.Network(2)

    def pair(h, name, inputs, channels):
        for i, wide in enumerate((inputs, channels)):
            h = net.op("Relu", net.conv(h, f"{name}.conv{i}", channels, wide, 3, pads=[1, 1, 1, 1]))
        return h

    x = {"x": net.rng.standard_normal((batch, 3, size, size)).astype(np.float32)}
    h, inputs, kept = "x", 3, []
    for level in range(levels):
        h = pair(h, f"down{level}", inputs, width << level)
        kept.append(h)
        h = net.op("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2])
        inputs = width << level
    h = pair(h, "bottom", inputs, width << levels)
    for level in reversed(range(levels)):
        channels = width << level
        h = net.op("ConvTranspose", h, net.weight(f"up{level}.weight", 2 * channels, channels, 2, 2),
                   net.weight(f"up{level}.bias", channels, scale=0.1), strides=[2, 2])
        h = pair(net.op("Concat", kept[level], h, axis=1), f"join{level}", 2 * channels, channels)
    y = net.conv(h, "head", 4, width, 1)
    return (net.model(x, y, (batch, 4, size, size)), {**x, "target": net.rng.integers(0, 4, (batch, size, size))},
            ["--loss=cross-entropy"])


def gpt(layers=4, width=128, length=128, batch=4, words=512):
    net = trained.Network(3)
    tokens = {"tokens": net.rng.integers(0, words, (batch, length))}
    net.weight("embedding", words, width, scale=0.02)
    h = net.op("Add", net.op("Gather", "embedding", "tokens"), net.weight("positions", length, width, scale=0.02))
    mask = trained.causal(net, length)
    for i in range(layers):
        n = net.layer_norm(h, f"layer{i}.norm1", width)
        h = net.op("Add", h, trained.attention(net, n, n, f"layer{i}.attention", width, 4, mask))
        h = net.op("Add", h, trained.feed_forward(net, net.layer_norm(h, f"layer{i}.norm2", width), f"layer{i}", width))
    y = net.op("MatMul", net.layer_norm(h, "norm", width), net.op("Transpose", "embedding", perm=[1, 0]))
    return (net.model(tokens, y, (batch, length, words)),
            {**tokens, "target": net.rng.integers(0, words, (batch, length))},
            ["--loss=cross-entropy", "--class-axis=-1"])


NETWORKS = {"resnet18": resnet18, "unet": unet, "gpt": gpt}


class Gradients:
    """`mlc gradients` of one model and its inputs."""

    def __init__(self, folder, build):
        model, inputs, flags = build()
        self.folder = folder
        onnx.save(model, folder / "model.onnx")
        for name, value in inputs.items():
            np.save(folder / f"{name}.npy", value)
        self.command = [ROOT / "build/bin/mlc", "gradients", folder / "model.onnx", *flags, "--json", "--threads=1",
                        *(f"--input={name}={folder / name}.npy" for name in inputs)]

    def run(self, budget=None, profile=False):
        """The report, the gradients and the milliseconds of all steps, or the error."""
        outputs = self.folder / "gradients.npz"
        flags = [f"--memory-budget={budget}"] * (budget is not None) + ["--profile"] * profile
        done = subprocess.run([*self.command, *flags, f"--output-npz={outputs}"], capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr, None
        with np.load(outputs) as arrays:
            values = {name: arrays[name].tobytes() for name in arrays.files}
        total = re.search(r"^ *(\S+) .* total$", done.stderr, re.M)
        return json.loads(done.stdout), values, float(total[1]) / 1e3 if total else None

    def floor(self, low, high):
        """The least budget, within a fiftieth of what none takes, that a program is found for."""
        while high - low > max(64, high // 50):
            middle = (low + high) // 2
            report, _, _ = self.run(middle)
            if report:
                high = report["memory"]["planned_bytes"]
            else:
                low = middle
        return high


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="which (all)")
    parser.add_argument("--rounds", type=int, default=3, help="runs with each budget, and as many without (3)")
    arguments = parser.parse_args()
    for name in arguments.networks.split(","):
        with tempfile.TemporaryDirectory() as made:
            gradients = Gradients(pathlib.Path(made), NETWORKS[name])
            plain, want, _ = gradients.run()
            full = plain["arena_bytes"]
            _, error, _ = gradients.run(1)
            bound = int(re.search(r"needs, (\d+) bytes", error)[1])
            least = gradients.floor(bound, full)
            print(f"\n{name}: {full} bytes without a budget, {least} the least found, bound {bound}\n")
            print("| budget | planned | allocated | launches again | time predicted | time measured |\n"
                  "|---|---|---|---|---|---|", flush=True)
            for i in range(1, 11):
                budget = full - (full - least) * i // 10
                mine, others = [], []
                for _ in range(arguments.rounds):
                    report, got, milliseconds = gradients.run(budget, profile=True)
                    assert got == want, "gradients differ"
                    mine.append(milliseconds)
                    others.append(gradients.run(profile=True)[2])
                memory = report["memory"]
                assert memory["planned_bytes"] == report["arena_bytes"] <= budget, report
                predicted = 1 + memory["predicted_extra_seconds"] / memory["predicted_seconds"]
                print(f"| {budget} | {memory['planned_bytes']} | {report['arena_bytes']} | {memory['repeated_steps']} "
                      f"| {predicted:.3f} | {min(mine) / min(others):.3f} |", flush=True)


if __name__ == "__main__":
    main()
