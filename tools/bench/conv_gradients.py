"""Gradients of ResNet-50's convolutions beside PyTorch's, on one thread.

    .torch/bin/python tools/bench/conv_gradients.py [--batch 8] [--rounds 3] [--target cpu] [--only 3x3]

runs in a Python that has PyTorch and starts build/bin's programs. Each distinct convolution is differentiated
(mlc-opt --mlc-differentiate) and compiled twice, for the gradient of the input and for that of the weights. Of a run,
the steps that multiply count: what packs tensors and unpacks them is done once for a whole network, or by the
neighbours. PyTorch's is torch.ops.aten.convolution_backward. Rounds take turns with PyTorch and with a loop of
multiply-adds on registers; printed are the best times, of the processor, in which other programs take no part, and
shares of the loop's rate.
"""

import argparse
import json
import math
import pathlib
import re
import resource
import subprocess
import tempfile
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Input channels, output channels, kernel, stride, size of the input, how many of them there are.
CONVOLUTIONS = [
    (3, 64, 7, 2, 224, 1),
    (64, 64, 1, 1, 56, 1), (64, 64, 3, 1, 56, 3), (64, 256, 1, 1, 56, 4), (256, 64, 1, 1, 56, 2),
    (256, 128, 1, 1, 56, 1), (128, 128, 3, 2, 56, 1), (256, 512, 1, 2, 56, 1),
    (128, 512, 1, 1, 28, 4), (512, 128, 1, 1, 28, 3), (128, 128, 3, 1, 28, 3),
    (512, 256, 1, 1, 28, 1), (256, 256, 3, 2, 28, 1), (512, 1024, 1, 2, 28, 1),
    (256, 1024, 1, 1, 14, 6), (1024, 256, 1, 1, 14, 5), (256, 256, 3, 1, 14, 5),
    (1024, 512, 1, 1, 14, 1), (512, 512, 3, 2, 14, 1), (1024, 2048, 1, 2, 14, 1),
    (512, 2048, 1, 1, 7, 3), (2048, 512, 1, 1, 7, 2), (512, 512, 3, 1, 7, 2),
]


def tool(name, *arguments):
    return subprocess.run([ROOT / "build/bin" / name, *map(str, arguments)], capture_output=True, text=True,
                          check=True).stdout


class Convolution:
    def __init__(self, batch, shape):
        self.inputs, self.outputs, self.kernel, self.stride, self.size, self.count = shape
        self.batch = batch
        self.pad = self.kernel // 2
        self.out = (self.size + 2 * self.pad - self.kernel) // self.stride + 1
        self.flops = 2 * batch * self.out**2 * self.inputs * self.outputs * self.kernel**2
        self.name = f"{self.inputs}-{self.outputs} {self.kernel}x{self.kernel} s{self.stride}, {self.out}"

    def text(self):
        x = f"tensor<{self.batch}x{self.inputs}x{self.size}x{self.size}xf32>"
        w = f"tensor<{self.outputs}x{self.inputs}x{self.kernel}x{self.kernel}xf32>"
        y = f"tensor<{self.batch}x{self.outputs}x{self.out}x{self.out}xf32>"
        pads = ", ".join([str(self.pad)] * 4)
        return (f"func.func @conv(%x: {x}, %w: {w}) -> {y} {{\n"
                f"  %0 = mlc.conv %x, %w {{strides = #mlc.dims<[{self.stride}, {self.stride}]>, "
                f"pads = #mlc.dims<[{pads}]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>}} "
                f": ({x}, {w}) -> {y}\n  return %0 : {y}\n}}\n")

    def compile(self, folder, target):
        """Artifacts of the input's gradient and of the weights'."""
        (folder / "conv.mlir").write_text(self.text())
        both = tool("mlc-opt", folder / "conv.mlir", "--mlc-differentiate=function=conv")
        head, body = re.search(r"func.func @conv_gradient\((.*?)\) -> \(.*?\) {\n(.*?\n  })", both, re.S).groups()
        body, results, types = re.fullmatch(r"(.*)    return (.*) : (.*)\n  }", body, re.S).groups()
        for name in ("x", "w", "y"):
            head = re.sub(r"(%arg\d+: tensor<\w+>)(,|$)", rf'\1 {{mlc.name = "{name}"}}\2', head, count=1)
        artifacts = []
        for part, (result, kind) in enumerate(zip(results.split(", "), types.split(", "))):
            text = (f'func.func @main({head}) -> ({kind} {{mlc.name = "gradient"}}) {{\n{body}'
                    f"    return {result} : {kind}\n}}\n")
            (folder / "one.mlir").write_text(text)
            tool("mlc-opt", folder / "one.mlir", f"--mlc-assign-layout=target={target}", "--mlc-lower-to-linalg",
                 f"--mlc-fuse=target={target}", f"--mlc-transform-constants=target={target}", "-o",
                 folder / "fused.mlir")
            artifacts.append(folder / f"{part}.mlca")
            tool("mlc-translate", folder / "fused.mlir", f"--target={target}", "-o", artifacts[-1])
        return artifacts

    def torch_seconds(self, which):
        x = torch.randn(self.batch, self.inputs, self.size, self.size)
        w = torch.randn(self.outputs, self.inputs, self.kernel, self.kernel)
        y = torch.randn(self.batch, self.outputs, self.out, self.out)

        def run():
            torch.ops.aten.convolution_backward(
                y, x, w, None, [self.stride] * 2, [self.pad] * 2, [1, 1], False, [0, 0], 1,
                [which == 0, which == 1, False])

        run()
        best = math.inf
        for _ in range(4):
            start = time.process_time()
            run()
            best = min(best, time.process_time() - start)
        return best


def processor_seconds(artifact, runs):
    """Of a process that runs the artifact so many times."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tool("mlc", "bench", artifact, "--threads=1", f"--runs={runs}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def multiplying_seconds(artifact, flops):
    """Of the steps that multiply, in one run."""
    found = json.loads(tool("mlc", "bench", artifact, "--profile", "--json", "--threads=1", "--runs=3"))
    steps = found["profile"]["steps"]
    share = sum(step["ns"] for step in steps if step["contraction_operations"]) / sum(step["ns"] for step in steps)
    runs = 2 + int(3e10 / flops)
    return share * (processor_seconds(artifact, 1 + runs) - processor_seconds(artifact, 1)) / runs


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=8, help="images (8)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of both (3)")
    parser.add_argument("--target", default="cpu", help="what code is made for (cpu, this machine)")
    parser.add_argument("--only", default="", help="convolutions whose name has this in it")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'convolution':<24} input: ms  of peak  PyTorch   weights: ms  of peak  PyTorch", flush=True)
    shares, ratios = ([], []), ([], [])
    for shape in CONVOLUTIONS:
        conv = Convolution(arguments.batch, shape)
        if arguments.only not in conv.name:
            continue
        with tempfile.TemporaryDirectory() as made:
            artifacts = conv.compile(pathlib.Path(made), arguments.target)
            ours, theirs, peak = [math.inf] * 2, [math.inf] * 2, 0
            for _ in range(arguments.rounds):
                peak = max(peak, float(tool("mlc-bench-loop", "--peak")) * 1e9)
                for which in range(2):
                    ours[which] = min(ours[which], multiplying_seconds(artifacts[which], conv.flops))
                    theirs[which] = min(theirs[which], conv.torch_seconds(which))
        row = f"{conv.name:<24}"
        for which in range(2):
            share = conv.flops / ours[which] / peak
            shares[which].append(share)
            ratios[which].append(ours[which] / theirs[which])
            row += f" {1e3 * ours[which]:11.2f} {100 * share:7.0f}% {1e3 * theirs[which]:8.2f}  "
        print(row, flush=True)
    print("geomeans: of peak " + ", ".join(
        f"{100 * geomean(s):.0f}% ({of})" for s, of in zip(shares, ("input", "weights"))) +
        "; of PyTorch's time " + ", ".join(f"{geomean(r):.2f}" for r in ratios))


if __name__ == "__main__":
    main()
