"""NCCL in the memory of this machine's GPUs: checked against the CPU, and timed.

    .venv/bin/python tools/bench/nccl_device.py [--build build] [--ranks N] [--steps 50]

Ranks are as many as there are GPUs unless said. First each of the engine's own
collectives, whose result `mlc collective` checks bit by bit on every rank; the rate
is that of the tensor's bytes. Then training: the session's memory is handed to NCCL
(docs/Collectives.md), and losses and weights are compared with those of as many
ranks on the CPU. One rank alone exchanges nothing in training: there mlc collective
is what calls NCCL, and the table says so.

Exit codes: 0 all is right, 1 something is not, 77 nothing was run, as there is no
GPU or no NCCL. `--emulated` runs it over the emulator and the test's NCCL instead,
which says something of this script, and nothing of NVIDIA's.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "broadcast", "all-to-all")
SKIPPED = 77


def find_gpus():
    """How many there are, and the target of the first; or why there are none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return 0, f"no driver of NVIDIA's: {error}"
    if hasattr(driver, "mlcEmulatorReport"):
        return 0, "libcuda.so.1 is the emulator; give --emulated, or take it out of LD_LIBRARY_PATH"
    count, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return 0, "the driver has no GPU"
    driver.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
    driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0)
    try:
        ctypes.CDLL("libnccl.so.2")
    except OSError as error:
        return 0, f"no NCCL: {error}; install libnccl2, or add its folder to LD_LIBRARY_PATH"
    return count.value, f"cuda:sm_{major.value}{minor.value}"


class Bench:
    def __init__(self, options, ranks, target, environment):
        self.mlc, self.ranks, self.target = str(options.build.resolve() / "bin/mlc"), ranks, target
        self.steps, self.environment, self.wrong = options.steps, environment, 0

    def launch(self, *arguments):
        return self.run(self.mlc, "launch", "-n", self.ranks, "--", self.mlc, *arguments, env=self.environment)

    def run(self, *command, **more):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
        if done.returncode:
            self.wrong += 1
            print(f"WRONG: exit code {done.returncode}: {' '.join(map(str, command))}\n{done.stderr}")
            return None
        return done.stdout + (done.stderr if "train" in command else "")

    def collectives(self, sizes):
        print(f"{'collective':16}{'bytes':>12}{'ms':>10}{'GB/s':>10}")
        for name in COLLECTIVES:
            for size in sizes:
                size -= size % (4 * self.ranks)
                told = self.launch("collective", "--engine=nccl", "--device=cuda", "--algorithm=own", f"--collective={name}",
                                   f"--bytes={size}", "--repeat=20", "--json")
                if told is None:
                    continue
                found = json.loads(told)
                self.wrong += not found["right"]
                print(f"{name:16}{size:12}{found['seconds'] * 1e3:10.3f}{size / found['seconds'] / 1e9:10.2f}"
                      + ("" if found["right"] else "  WRONG"))

    def train(self, arguments, folder, prepare):
        """Losses, states and seconds for a step, on the CPU and on GPUs."""
        import numpy as np
        flags = [*arguments, "--optimizer=adamw", "--batch=24", f"--steps={self.steps}", "--checkpoint-every=1000000"]
        if prepare:
            self.run(self.mlc, "train", *flags, f"--target={self.target}", "--device=emulator", f"--ranks={self.ranks}",
                     f"--checkpoint={folder}/prepared.npz", env={**os.environ, "MLC_CACHE": self.environment["MLC_CACHE"]})
        cpu = self.run(self.mlc, "train", *flags, f"--ranks={self.ranks}", f"--checkpoint={folder}/cpu.npz")
        gpu = self.launch("train", *flags, f"--target={self.target}", "--engine=nccl", "--device=cuda", f"--checkpoint={folder}/gpu.npz")
        if cpu is None or gpu is None:
            return
        losses = [np.array([float(x) for x in re.findall(r"^step \d+  loss (\S+)$", text, re.M)]) for text in (cpu, gpu)]
        with np.load(f"{folder}/cpu.npz") as one, np.load(f"{folder}/gpu.npz") as other:
            names = [name for name in one if one[name].dtype == np.float32]
            apart = max(np.max(np.abs(one[n] - other[n])) / max(np.max(np.abs(one[n])), 1e-2) for n in names)
        off = np.max(np.abs(losses[0] - losses[1]) / np.abs(losses[0]))
        # Factors are rounded to 10 bits of mantissa there.
        right = len(losses[0]) == len(losses[1]) == self.steps and off < 1e-2 and apart < 5e-2
        self.wrong += not right
        times = [float(re.search(r"steps in (\S+) s", text)[1]) / self.steps * 1e3 for text in (cpu, gpu)]
        print(f"training, {self.ranks} ranks: {times[0]:.3f} ms a step on the CPU, {times[1]:.3f} ms on GPUs; losses differ by "
              f"{off:.1e}, states by {apart:.1e}{'' if right else '  WRONG'}")
        if self.ranks == 1:
            print("one rank exchanges nothing in training: only mlc collective has called NCCL")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--sizes", default="4096,1048576,67108864", help="bytes of tensors")
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
        if options.emulated:
            gpus, target = options.ranks or 1, "cuda:sm_90"
            libraries = options.build.resolve() / "lib"
            environment.update(LD_LIBRARY_PATH=f"{libraries}/nccl:{libraries}/cuda", MLC_EMULATOR_DEVICES=str(gpus),
                               MLC_CACHE=f"{folder}/cache")
        else:
            gpus, target = find_gpus()
        if not gpus:
            print(f"SKIPPED, nothing was checked: {target}")
            return SKIPPED
        sys.path[:0] = [str(SOURCE / "test" / part) for part in ("distributed", "training")]
        import networks
        print(f"{gpus} {'emulated ' if options.emulated else ''}GPUs, {target}")
        bench = Bench(options, options.ranks or gpus, target, environment)
        bench.collectives([int(size) for size in options.sizes.split(",")])
        bench.train(networks.write(pathlib.Path(folder), "mlp"), folder, options.emulated)
        print("all is right" if not bench.wrong else f"{bench.wrong} things are WRONG")
        return bench.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
