"""Sizes of buckets beside those of PyTorch's DistributedDataParallel.

    .torch/bin/python tools/bench/ddp_buckets.py [--networks resnet50,gpt2]

runs in a Python that has PyTorch. Each network, made here with random weights,
makes two steps in DistributedDataParallel (Gloo, one rank): after the first,
it fills its buckets anew in the order in which gradients were ready. That order
is what mlc-opt is given: a function that makes the gradients in it and reduces
each by itself. Printed are the bytes of the buckets that `--mlc-bucket` makes
and of those that DistributedDataParallel logs. Exits with 1 where they differ.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Bottleneck(nn.Module):
    def __init__(self, width, inner, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.conv2, self.bn2 = nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner)
        self.conv3, self.bn3 = nn.Conv2d(inner, 4 * inner, 1, bias=False), nn.BatchNorm2d(4 * inner)
        self.shortcut = nn.Identity()
        if width != 4 * inner:
            self.shortcut = nn.Sequential(nn.Conv2d(width, 4 * inner, 1, stride, bias=False), nn.BatchNorm2d(4 * inner))

    def forward(self, x):
        h = torch.relu(self.bn1(self.conv1(x)))
        h = torch.relu(self.bn2(self.conv2(h)))
        return torch.relu(self.bn3(self.conv3(h)) + self.shortcut(x))


def resnet50():
    """As in "Deep Residual Learning for Image Recognition", 25.6 million parameters."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for stage, (blocks, inner) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            layers.append(Bottleneck(width, inner, 2 if stage and not block else 1))
            width = 4 * inner
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000)]
    return nn.Sequential(*layers), torch.randn(2, 3, 64, 64)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ln2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, h):
        n, length, width = h.shape
        q, k, v = (part.view(n, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.ln1(h)).split(width, 2))
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + self.out(a.transpose(1, 2).reshape(n, length, width))
        return h + self.down(nn.functional.gelu(self.up(self.ln2(h)), approximate="tanh"))


class GPT2(nn.Module):
    """The small one, 124 million parameters: the head is the embedding."""

    def __init__(self, words=50257, length=1024, width=768, layers=12, heads=12):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.ln = nn.LayerNorm(width)

    def forward(self, tokens):
        h = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        return self.ln(self.blocks(h)) @ self.wte.weight.T


def gpt2():
    return GPT2(), torch.randint(50257, (1, 16))


NETWORKS = {"resnet50": resnet50, "gpt2": gpt2}


def logged(build):
    """Numbers of elements of the parameters in the order in which gradients are
    ready, and the bytes of DistributedDataParallel's buckets."""
    network, x = build()
    parameters = [p for p in network.parameters() if p.requires_grad]
    ready = []
    # Found as DistributedDataParallel finds it: what was accumulated last.
    for i, p in enumerate(parameters):
        p.register_post_accumulate_grad_hook(lambda _, i=i: ready.append(i))
    peer = DistributedDataParallel(network)
    for _ in range(2):
        ready.clear()
        peer(x).float().sum().backward()
    # The data are of an iteration behind the one that fills the buckets anew.
    peer(x)
    data = peer._get_ddp_logging_data()
    sizes = data.get("rebuilt_bucket_sizes") or data["bucket_sizes"]
    return [parameters[i].numel() for i in ready], [int(size) for size in sizes.split(",")]


def program(counts):
    """A function that makes gradients of so many elements in this order."""
    axis = 'axis = #dist.axis<"data", 2>, reduction = "sum"'
    body, readers, types, arguments = [], [], [], []
    for i, count in enumerate(counts):
        t = f"tensor<{count}xf32>"
        arguments.append(f"%x{i}: {t}")
        types.append(t)
        body.append(f"  %g{i} = mlc.exp %x{i} : ({t}) -> {t}")
        readers.append(f"  %r{i} = dist.all_reduce %g{i} {{{axis}}} : ({t}) -> {t}\n"
                       f"  %u{i} = mlc.neg %r{i} : ({t}) -> {t}")
    # Readers in the order of the weights.
    results = ", ".join(f"%u{i}" for i in range(len(counts)))
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n"
            + "\n".join(body + readers[::-1]) + f"\n  return {results} : {', '.join(types)}\n}}\n")


def ours(counts, options=""):
    """Bytes of the buckets, in the order of the operators."""
    done = subprocess.run([ROOT / "build/bin/mlc-opt", f"--mlc-bucket={options}"], input=program(counts),
                          capture_output=True, text=True, check=True)
    calls = re.findall(r"dist\.all_reduce .*: \((.*)\) ->", done.stdout)
    return [sum(4 * int(n) for n in re.findall(r"tensor<(\d+)xf32>", call)) for call in calls]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="which (all)")
    names = parser.parse_args().networks.split(",")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29581")
    dist.init_process_group("gloo", rank=0, world_size=1)
    differ = False
    for name in names:
        counts, theirs = logged(NETWORKS[name])
        made = ours(counts)
        differ |= made != theirs
        print(f"{name}: {len(counts)} gradients of {4 * sum(counts)} bytes, PyTorch {torch.__version__}")
        print(f"  DistributedDataParallel  {theirs}")
        print(f"  --mlc-bucket             {made}{'' if made == theirs else '  DIFFERENT'}")
        print(f"  fusion=horovod           {ours(counts, 'fusion=horovod')}")
    dist.destroy_process_group()
    sys.exit(differ)


if __name__ == "__main__":
    main()
