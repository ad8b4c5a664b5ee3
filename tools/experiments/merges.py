"""Five substitutions that pay on GPUs, timed on this CPU, beside the cost model.

usage: merges.py [--mlc build/bin/mlc] [--target FILE.json|NAME] [--runs N]

Each pair is a piece of a network as it is and as the substitution would make
it; `mlc calibrate` runs both without rewrites, on one thread, in turns. Only
times are compared, so the weights are random on both sides.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network import Network  # noqa: E402


def qkv(g, merged):
    """BERT-base's three projections of one input."""
    x = g.input("x", [128, 768])
    x = g.matmul(x, g.normal("before", [768, 768], 0.03))
    if merged:
        y = g.matmul(x, g.normal("qkv", [768, 3 * 768], 0.03))
        q, k, v = (g.slice(y, 1, 768 * i, 768 * (i + 1)) for i in range(3))
    else:
        q, k, v = (g.matmul(x, g.normal(n, [768, 768], 0.03)) for n in "qkv")
    return g.mul(g.add(q, k), v)


def inception(g, merged):
    """The 1x1 convolutions of one input in Inception-v3's first module."""
    x = g.relu(g.conv(g.input("x", [1, 64, 35, 35]), "before", 192, 1))
    sizes = (64, 48, 64)
    if merged:
        y = g.relu(g.conv(x, "all", sum(sizes), 1))
        a, b, c = (g.slice(y, 1, sum(sizes[:i]), sum(sizes[:i + 1])) for i in range(3))
    else:
        a, b, c = (g.relu(g.conv(x, f"part{i}", n, 1)) for i, n in enumerate(sizes))
    return g.concat([a, g.conv(b, "five", 64, 5), g.conv(c, "three", 96, 3)], 1)


def groups(g, merged):
    """ResNeXt's 32 groups of 4 channels as 8 groups of 16."""
    x = g.relu(g.conv(g.input("x", [1, 64, 56, 56]), "before", 128, 1))
    x = g.relu(g.conv(x, "grouped", 128, 3, groups=8 if merged else 32))
    return g.conv(x, "after", 256, 1)


def fire(g, merged):
    """SqueezeNet's expansion: the 1x1 enlarged and merged with the 3x3."""
    x = g.relu(g.conv(g.input("x", [1, 64, 55, 55]), "squeeze", 16, 1))
    if merged:
        return g.relu(g.conv(x, "expand", 128, 3))
    return g.concat([g.relu(g.conv(x, f"expand{k}", 64, k)) for k in (1, 3)], 1)


def recurrent(g, merged):
    """Eight gates of a recurrent cell on five inputs, with shared weights."""
    steps, gates, width = 5, 8, 512
    x = g.relu(g.input("x", [steps, width]))
    if merged:
        y = g.matmul(x, g.normal("gates", [width, gates * width], 0.04))
        parts = [g.slice(g.slice(y, 0, t, t + 1), 1, width * i, width * (i + 1))
                 for t in range(steps) for i in range(gates)]
    else:
        rows = [g.slice(x, 0, t, t + 1) for t in range(steps)]
        parts = [g.matmul(row, g.normal(f"gate{i}", [width, width], 0.04))
                 for row in rows for i in range(gates)]
    h = parts[0]
    for i, part in enumerate(parts[1:]):
        h = g.mul(g.unary("Tanh", h), part) if i % 2 else g.add(h, part)
    return h


PAIRS = [("BERT: three projections as one", qkv), ("Inception: 1x1 convolutions as one", inception),
         ("ResNeXt: 32 groups of 4 as 8 of 16", groups), ("Fire: 1x1 enlarged and merged with 3x3", fire),
         ("NasRNN: products of all steps and gates as one", recurrent)]


def times(options, folder, build):
    """(predicted, best measured) seconds as it is and merged."""
    results = {}
    paths = []
    for merged in (False, True):
        graph = Network("pair", 1)
        path = folder / f"{build.__name__}-{merged}.onnx"
        path.write_bytes(graph.model(build(graph, merged)).SerializeToString())
        paths.append((merged, path))
    for _ in range(3):
        for merged, path in paths:
            done = subprocess.run(
                [options.mlc, "calibrate", path, f"--timings={folder}/{path.stem}.json", "--json",
                 "--no-rewrites", f"--target={options.target}", f"--runs={options.runs}"],
                check=True, capture_output=True, text=True)
            report = json.loads(done.stdout)
            before = results.get(merged, (0, float("inf")))
            results[merged] = (report["predicted_seconds"], min(before[1], report["measured_seconds"]))
    return results[False], results[True]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mlc", default="build/bin/mlc")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    print("| substitution | measured µs, as it is | merged | faster by | predicted |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for title, build in PAIRS:
            (before, measured), (after, merged) = times(options, pathlib.Path(name), build)
            print(f"| {title} | {measured * 1e6:.0f} | {merged * 1e6:.0f} | "
                  f"{measured / merged - 1:+.0%} | {before / after - 1:+.0%} |")


if __name__ == "__main__":
    main()
