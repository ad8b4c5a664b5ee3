"""Steps of training beside PyTorch's, on one thread.

    .torch/bin/python tools/bench/training.py [--networks mlp,gpt,resnet50] [--rounds 5]

runs in a Python that has PyTorch, onnx and NumPy (test/training/torch_gradients.py
says how one is made) and starts build/bin/mlc. Both train the same ONNX graph,
PyTorch by its own operators and torch.optim.SGD with momentum. Each round times
one after the other, mlc also without rewrites, in time of the processor, in
which other programs take no part, and without the first step, in which memory
is mapped. Printed are medians and ratios, to PyTorch and of mlc with rewrites to
mlc without, and what a run of mlc takes beside its steps: reading, compiling,
writing a checkpoint.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / folder) for folder in ("training", "models")]
import torch_gradients  # noqa: E402
import trained  # noqa: E402


def mlp():
    net = trained.Network(1)
    x = {"x": net.rng.standard_normal((128, 784)).astype(np.float32)}
    h = net.op("Relu", net.linear("x", "first", 784, 512))
    h = net.op("Relu", net.linear(h, "second", 512, 512))
    y = net.linear(h, "third", 512, 10)
    return net.model(x, y, (128, 10)), {**x, "target": net.rng.integers(0, 10, 128)}, ["--loss=cross-entropy"]


def gpt(layers=6, width=384, length=256, batch=8, words=1000):
    net = trained.Network(2)
    tokens = {"tokens": net.rng.integers(0, words, (batch, length))}
    net.weight("embedding", words, width, scale=0.02)
    h = net.op("Add", net.op("Gather", "embedding", "tokens"), net.weight("positions", length, width, scale=0.02))
    mask = trained.causal(net, length)
    for i in range(layers):
        n = net.layer_norm(h, f"layer{i}.norm1", width)
        h = net.op("Add", h, trained.attention(net, n, n, f"layer{i}.attention", width, 6, mask))
        n = net.layer_norm(h, f"layer{i}.norm2", width)
        up = trained.gelu(net, net.linear(n, f"layer{i}.up", width, 4 * width))
        h = net.op("Add", h, net.linear(up, f"layer{i}.down", 4 * width, width))
    y = net.op("MatMul", net.layer_norm(h, "norm", width), net.op("Transpose", "embedding", perm=[1, 0]))
    model = net.model(tokens, y, (batch, length, words))
    return (model, {**tokens, "target": net.rng.integers(0, words, (batch, length))},
            ["--loss=cross-entropy", "--class-axis=-1"])


def residual(net, h, name, width, inner, stride):
    """A bottleneck with statistics of the batch."""
    def norm(x, part, channels):
        return trained.batch_norm(net, x, f"{name}.{part}", channels)

    x = net.op("Relu", norm(net.conv(h, f"{name}.conv1", inner, width, 1), "norm1", inner))
    x = net.conv(x, f"{name}.conv2", inner, inner, 3, pads=[1, 1, 1, 1], strides=[stride, stride])
    x = norm(net.conv(net.op("Relu", norm(x, "norm2", inner)), f"{name}.conv3", 4 * inner, inner, 1), "norm3", 4 * inner)
    if width != 4 * inner or stride != 1:
        h = norm(net.conv(h, f"{name}.shortcut", 4 * inner, width, 1, strides=[stride, stride]), "norm4", 4 * inner)
    return net.op("Relu", net.op("Add", h, x))


def resnet50(batch=8):
    net = trained.Network(3)
    x = {"x": net.rng.standard_normal((batch, 3, 224, 224)).astype(np.float32)}
    h = net.conv("x", "stem", 64, 3, 7, pads=[3, 3, 3, 3], strides=[2, 2])
    h = net.op("Relu", trained.batch_norm(net, h, "norm", 64))
    h = net.op("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    width = 64
    for stage, (blocks, inner) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            h = residual(net, h, f"stage{stage}.{block}", width, inner, 2 if stage and not block else 1)
            width = 4 * inner
    y = net.linear(net.op("Flatten", net.op("GlobalAveragePool", h)), "head", width, 1000)
    return (net.model(x, y, (batch, 1000)), {**x, "target": net.rng.integers(0, 1000, batch)},
            ["--loss=cross-entropy"])


NETWORKS = {"mlp": (mlp, 500), "gpt": (gpt, 4), "resnet50": (resnet50, 4)}


class Torch:
    def __init__(self, model, inputs, flags):
        import torch
        torch.set_num_threads(1)
        self.torch, self.model, self.flags = torch, model, flags
        self.weights = torch_gradients.weights_of(model, torch, torch.float32)
        trainable = [w for w in self.weights.values() if w.requires_grad]
        self.optimizer = torch.optim.SGD(trainable, lr=1e-4, momentum=0.9)
        self.given = {k: torch.tensor(v) for k, v in inputs.items()}

    def step(self):
        self.optimizer.zero_grad()
        output = torch_gradients.forward(self.model, {**self.weights, **self.given}, self.torch, self.torch.float32)
        loss = torch_gradients.loss_of(output, self.given["target"], self.flags, self.torch)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())

    def seconds(self, steps):
        start = time.process_time()
        for _ in range(steps):
            self.step()
        return (time.process_time() - start) / steps


def train(folder, flags, steps, *more):
    """Seconds of the processor, and the first loss."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [ROOT / "build/bin/mlc", "train", folder / "m.onnx", *flags, f"--data={folder / 'd.npz'}", f"--steps={steps}",
         "--optimizer=momentum", "--learning-rate=1e-4", "--threads=1", "--log-every=1",
         f"--checkpoint={folder / 'c.npz'}", "--checkpoint-every=1000000", *more],
        capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, float(re.search(r"step 1  loss (\S+)", done.stdout)[1])


def mlc_seconds(folder, flags, steps, *more):
    """Of a step behind the first; of all beside steps; and the first loss."""
    one, loss = train(folder, flags, 1, *more)
    seconds = (train(folder, flags, 1 + steps, *more)[0] - one) / steps
    return seconds, one - seconds, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="which (all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of both (5)")
    arguments = parser.parse_args()
    print("network      PyTorch, ms  mlc, ms  ratio  to no rewrites  beside steps, s")
    for name in arguments.networks.split(","):
        build, steps = NETWORKS[name]
        model, inputs, flags = build()
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            onnx.save(model, folder / "m.onnx")
            np.savez(folder / "d.npz", **inputs)
            peer = Torch(model, inputs, flags)
            peer_loss = peer.step()
            theirs, ours, plain, beside = [], [], [], []
            for _ in range(arguments.rounds):
                theirs.append(peer.seconds(steps))
                seconds, rest, loss = mlc_seconds(folder, flags, steps)
                ours.append(seconds)
                beside.append(rest)
                plain.append(mlc_seconds(folder, flags, steps, "--no-rewrites")[0])
            assert abs(loss - peer_loss) <= 1e-3 * abs(peer_loss), (loss, peer_loss)
        a, b, c, d = map(np.median, (theirs, ours, plain, beside))
        print(f"{name:<12} {1e3 * a:11.2f}  {1e3 * b:7.2f}  {b / a:5.2f}  {b / c:14.2f}  {d:15.1f}", flush=True)


if __name__ == "__main__":
    main()
