"""Trains the GPT of trained.py on eight ranks under every schedule, stage of ZeRO and split of weights, beside one rank.

Not a test of CI: .venv/bin/python test/training/mesh_matrix.py [STEPS] takes some minutes and prints a table."""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SCHEDULES = {"1f1b": 1, "interleaved-1f1b": 2, "zero-bubble": 1, "chimera": 1, "gpipe": 1}  # stages of a rank
# Columns of the first, rows of the second product of attention and of feed-forward layers, as in Megatron-LM.
SHARDS = [f"--shard=*.{name}={axes}" for names, axes in (
    (("q.weight", "k.weight", "v.weight", "up.weight"), "-,tensor"), (("q.bias", "k.bias", "v.bias", "up.bias", "out.weight", "down.weight"), "tensor"),
) for name in names]


def flags_of(schedule, zero, tensor, ranks=8):
    """Flags of eight ranks: two for weights if these are split, two that split the batch, the rest for stages."""
    stages = ranks // 2 // tensor
    mesh = f"data=2,stage={stages}" + (f",tensor={tensor}" if tensor > 1 else "")
    return ["--micro-batches=4", f"--stages={stages * SCHEDULES[schedule]}", f"--pipeline={schedule}", f"--mesh={mesh}", f"--ranks={ranks}",
            f"--zero={zero}", *(SHARDS if tensor > 1 else [])]


def run(mlc, flags):
    done = subprocess.run([mlc, "train", *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [float(line.split()[-1]) for line in re.findall(r"^step .*$", done.stdout, re.M)]


def main(steps):
    import numpy as np

    sys.path.append(str(pathlib.Path(__file__).parents[1] / "models"))
    from test_stages import arguments, farthest

    mlc = pathlib.Path(__file__).parents[2] / "build/bin/mlc"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def train(name, *flags):
            checkpoint = folder / f"{name}.npz"
            found = run(mlc, [*arguments(folder, "gpt"), f"--steps={steps}", f"--checkpoint={checkpoint}", "--log-every=1", *flags])
            with np.load(checkpoint) as file:
                return np.array(found), {key: file[key] for key in file}

        one = train("one", "--micro-batches=4")
        print("| schedule | ZeRO | tensor | losses | states | seconds |\n|---|---|---|---|---|---|")
        worst = 0
        for schedule, zero, tensor in itertools.product(SCHEDULES, range(4), (1, 2)):
            begin = time.monotonic()
            many = train("many", *flags_of(schedule, zero, tensor))
            loss, states = np.max(np.abs(many[0] / one[0] - 1)), farthest(one[1], many[1])
            worst = max(worst, loss)
            print(f"| {schedule} | {zero} | {tensor} | {loss:.1e} | {states:.1e} | {time.monotonic() - begin:.1f} |", flush=True)
        if worst > 1e-5:
            sys.exit(f"a loss is {worst:.1e} from that of one rank")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
