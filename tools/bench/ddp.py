"""Steps of training on two ranks beside PyTorch's DistributedDataParallel, one thread each.

    .torch/bin/python tools/bench/ddp.py [--networks mlp,gpt,resnet50] [--rounds 5]
    .torch/bin/python tools/bench/ddp.py --link 1e8 [--networks mlp] [--bucket 2097152]
    .torch/bin/python tools/bench/ddp.py --groups 1,2,3 [--latency 0.005] [--link 1e8] [--ranks 3]

runs in a Python that has PyTorch, onnx and NumPy, and starts build/bin/mlc. Both
train the same ONNX graph (tools/bench/training.py) over Gloo, each rank on half of
the batch, and take turns; times are of the wall, without the first step. Statistics
of a batch are each rank's, as DistributedDataParallel's are. Printed are medians.

With `--link` the link of mlc's ranks takes so many bytes a second, and printed is
how much of the exchange is hidden behind the backward pass:
1 - (a step over this link - a step over a free one) / the exchange alone, which is
the bytes that a rank sends over the link's rate. Two ranks make the same program's
steps in both, so that what they take from each other's cores is in both. Beside it
is the same with all gradients in one bucket, which begins when the last is there:
of that nothing can be hidden.

With `--groups` each number of groups of mlc's ranks takes its turn over such a link,
with a latency of so many seconds, or a free one; printed are a step's medians beside
those of the first number.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

import training
import torch_gradients

STEPS = {"mlp": 100, "gpt": 4, "resnet50": 3}


def work(folder, rank, flags):
    """A rank of PyTorch's: for each number that comes it makes so many steps, and prints the seconds."""
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    model = onnx.load(folder / "m.onnx")

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.values = torch_gradients.weights_of(model, torch, torch.float32)
            for name, value in self.values.items():
                if value.requires_grad:
                    self.values[name] = torch.nn.Parameter(value.detach())
                    self.register_parameter(name.replace(".", "_"), self.values[name])

        def forward(self, given):
            return torch_gradients.forward(model, {**self.values, **given}, torch, torch.float32)

    with np.load(folder / "d.npz") as file:
        given = {name: torch.tensor(np.array_split(file[name], 2)[rank]) for name in file}
    target = given.pop("target")
    peer = torch.nn.parallel.DistributedDataParallel(Network())
    optimizer = torch.optim.SGD(peer.parameters(), lr=1e-4, momentum=0.9)
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            optimizer.zero_grad()
            torch_gradients.loss_of(peer(given), target, flags, torch).backward()
            optimizer.step()
        print(time.perf_counter() - start, flush=True)


class Torch:
    """Two processes that wait for each other."""

    def __init__(self, folder, flags):
        arguments = [sys.executable, __file__, "--worker", folder, *flags]
        self.ranks = [subprocess.Popen([*arguments[:3], str(rank), *arguments[3:]], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True) for rank in range(2)]
        for rank in self.ranks:
            assert rank.stdout.readline() == "ready\n"
        # After the first step buckets are filled anew.
        self.seconds(2)

    def seconds(self, steps):
        for rank in self.ranks:
            print(steps, file=rank.stdin, flush=True)
        return max(float(rank.stdout.readline()) for rank in self.ranks) / steps

    def close(self):
        for rank in self.ranks:
            rank.stdin.close()
            rank.wait()


def run_mlc(folder, flags, steps, ranks, *more, environment=None):
    """Seconds of the steps, and the bytes that a rank has sent for each."""
    mlc = training.ROOT / "build/bin/mlc"
    launch = [mlc, "launch", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(
        [*launch, mlc, "train", folder / "m.onnx", *flags, f"--data={folder / 'd.npz'}", f"--steps={steps}",
         "--optimizer=momentum", "--learning-rate=1e-4", "--threads=1", "--log-every=1000000",
         f"--checkpoint={folder / 'c.npz'}", "--checkpoint-every=1000000", *more],
        capture_output=True, text=True, env={**os.environ, **(environment or {})})
    assert done.returncode == 0, done.stderr
    sent = re.findall(r"(\d+) bytes sent", done.stderr)
    return float(re.search(r"steps in (\S+) s", done.stderr)[1]), max(map(int, sent), default=0)


def mlc_seconds(folder, flags, steps, ranks, *more, environment=None):
    """Of a step behind the first, and the bytes that a rank sends."""
    one, _ = run_mlc(folder, flags, 1, ranks, *more, environment=environment)
    all_steps, sent = run_mlc(folder, flags, 1 + steps, ranks, *more, environment=environment)
    return (all_steps - one) / steps, sent


def write(name, folder, batch_of=1):
    """The network with an open batch, and the first `1 / batch_of` of its samples."""
    model, inputs, flags = training.NETWORKS[name][0]()
    for info in [*model.graph.input, *model.graph.output]:
        info.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(model, folder / "m.onnx")
    count = len(inputs["target"]) // batch_of
    np.savez(folder / "d.npz", **{key: value[:count] for key, value in inputs.items()})
    return [*flags, f"--batch={count}"]


def compare(name, rounds):
    steps = STEPS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        flags = write(name, folder)
        peer = Torch(folder, flags)
        more = ["--batch-statistics=local"] if name == "resnet50" else []
        theirs, ours = [], []
        for _ in range(rounds):
            theirs.append(peer.seconds(steps))
            ours.append(mlc_seconds(folder, flags, steps, 2, *more)[0])
        peer.close()
    a, b = np.median(theirs), np.median(ours)
    print(f"{name:<12} {1e3 * a:13.2f}  {1e3 * b:7.2f}  {b / a:5.2f}", flush=True)


def measure_overlap(name, rounds, rate, bucket):
    steps = STEPS[name]
    throttled = {"MLC_LINK_BANDWIDTH": f"{rate:.0f}"}
    ways = {"buckets": [f"--bucket-bytes={bucket}"], "one": [f"--bucket-bytes={2**40}", f"--first-bucket-bytes={2**40}"]}
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        flags = write(name, folder)
        slow, free, sent = ({way: [] for way in ways} for _ in range(3))
        for _ in range(rounds):
            for way, more in ways.items():
                for times, environment in ((slow, throttled), (free, None)):
                    seconds, count = mlc_seconds(folder, flags, steps, 2, "--algorithm=ring", *more, environment=environment)
                    times[way].append(seconds)
                sent[way].append(count)
    for way in ways:
        a, b, exchange = np.median(slow[way]), np.median(free[way]), sent[way][0] / rate
        print(f"{name:<12} {way:<8} {1e3 * a:10.2f}  {1e3 * b:8.2f}  {1e3 * exchange:12.2f}  {1 - (a - b) / exchange:6.2f}", flush=True)


def measure_groups(name, rounds, groups, ranks, bucket, link):
    steps = STEPS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        flags = write(name, folder)
        times, sent = {count: [] for count in groups}, 0
        for _ in range(rounds):
            for count in groups:
                seconds, sent = mlc_seconds(folder, flags, steps, ranks, "--algorithm=ring", f"--bucket-bytes={bucket}",
                                            f"--groups={count}", environment=link)
                times[count].append(seconds)
    ratios = {count: np.median(np.divide(times[count], times[groups[0]])) for count in groups}
    for count in groups:
        print(f"{name:<12} {count:6}  {1e3 * np.median(times[count]):9.2f}  {ratios[count]:5.2f}  {sent:10}", flush=True)


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(pathlib.Path(sys.argv[3]), int(sys.argv[2]), sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(STEPS), help="which (all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of both (5)")
    parser.add_argument("--link", type=float, help="bytes a second; measures what is hidden")
    parser.add_argument("--bucket", type=int, default=25 << 20, help="with --link and --groups: mlc train's --bucket-bytes (26214400)")
    parser.add_argument("--groups", help="numbers of groups of mlc's ranks; measures these")
    parser.add_argument("--latency", type=float, default=0, help="with --groups: seconds of a message on the link (0)")
    parser.add_argument("--ranks", type=int, default=2, help="with --groups: how many (2)")
    arguments = parser.parse_args()
    if arguments.groups:
        link = {"MLC_LINK_LATENCY": str(arguments.latency), "MLC_LINK_BANDWIDTH": f"{arguments.link or 0:.0f}"}
        print("network      groups   step, ms  ratio  bytes sent")
        for name in arguments.networks.split(","):
            measure_groups(name, arguments.rounds, [int(count) for count in arguments.groups.split(",")], arguments.ranks,
                           arguments.bucket, link)
        return None
    print("network      gradients  slow, ms  free, ms  exchange, ms  hidden" if arguments.link else
          "network      DDP, ms        mlc, ms  ratio")
    for name in arguments.networks.split(","):
        if arguments.link:
            measure_overlap(name, arguments.rounds, arguments.link, arguments.bucket)
        else:
            compare(name, arguments.rounds)


if __name__ == "__main__":
    main()
