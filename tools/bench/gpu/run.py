"""Works through the phases on the machine with the GPU."""

import re
import shutil
import subprocess
import time
import zlib

import places
import report
import sanitize
import workers
from failure import Failure

# In order of worth, with shares of the budget; what a phase leaves is for those behind it.
PHASES = {"right": 0.2, "sanitize": 0.1, "times": 0.35, "networks": 0.1, "compiled": 0.25}
ON_GPUS = ("sanitize", "times", "compiled")
# What torch.compile takes for a network, in limits of a case.
LONG = 3
# Seconds in which a worker must have found its device.
START = 120


def device_of(text):
    if text == "cuda":
        return "cuda:0"
    if not re.fullmatch(r"cuda:\d+|emulator(:\d+)?", text):
        raise Failure(f"unknown device '{text}'; give cuda:N or emulator")
    return text


def phases_of(text):
    named = [name for name in text.split(",") if name] or list(PHASES)
    for name in named:
        if name not in PHASES:
            raise Failure(f"unknown phase '{name}'; there are {', '.join(PHASES)}")
    return [name for name in PHASES if name in named]


def clocks():
    """What the card says of itself, if it says so."""
    if not shutil.which("nvidia-smi"):
        return ""
    query = "--query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"
    done = subprocess.run(["nvidia-smi", query, "--format=csv,noheader"], capture_output=True, text=True)
    return done.stdout.strip()


class Run:
    def __init__(self, options):
        self.options, self.device = options, device_of(options.device)
        self.is_gpu = self.device.startswith("cuda")
        folder = options.folder.resolve()
        packed = places.read_pack(folder)
        self.version = packed["mlc"]
        self.pack = zlib.crc32((folder / "pack.json").read_bytes())
        if packed["small"] and self.is_gpu:
            raise Failure(f"{options.folder} has only small sizes, for the emulator; pack it without --small")
        wanted = options.only
        self.entries = {entry["name"]: entry for entry in packed["entries"] if wanted.search(entry["name"])}
        if not self.entries:
            raise Failure(f"no case of {options.folder} has '{wanted.pattern}' in its name")
        self.folder = folder
        self.phases = phases_of(options.phases)
        self.results = report.Results(options.results or folder / "results.jsonl", options.resume)
        self.worker = workers.Worker(folder, self.device)
        self.begin = time.monotonic()

    def names(self, phase):
        """The cases of a phase, in order."""
        kernels = [name for name, entry in self.entries.items() if entry["phase"] == "right"]
        nets = [name for name, entry in self.entries.items() if entry["phase"] == "networks"]
        joined = [name for name in kernels if self.entries[name].get("is_joined")]
        return {"right": kernels, "sanitize": sanitize.TOOLS, "times": ["copy", *kernels], "networks": nets,
                "compiled": [*nets, *joined]}[phase]

    def add(self, phase, case, row):
        self.results.add({"phase": phase, "case": case, **row})
        end = f"  {row['reason']}" if "reason" in row else f"  {row['ratio']:.2f}" if "ratio" in row else ""
        print(f"{time.monotonic() - self.begin:6.1f} {phase:9} {case:44} {row['status']}{end}", flush=True)

    def describe(self):
        """The device, which is also looked for."""
        machine = self.worker.ask({"do": "describe"}, START)
        if "status" in machine:
            raise Failure(machine["reason"], machine.get("code", 8))
        machine = {"phase": "machine", "case": "", "pack": self.pack, "mlc": self.version, **machine, "clocks": clocks()}
        known = self.results.machine()
        if not known:
            self.results.add(machine)
        elif (known["pack"], known["device"], known.get("gpu")) != (self.pack, self.device, machine.get("gpu")):
            raise Failure(f"{self.results.path} is of another pack or device ({known.get('gpu') or known['device']}); "
                          "remove it, or name another file by --results")

    def request(self, phase, name):
        size = "full" if self.is_gpu else "small"
        if phase == "right" or (phase == "networks" and not self.is_gpu):
            return {"do": "right", "case": name, "size": size}
        do = "copy" if name == "copy" else phase
        return {"do": do, "case": "" if name == "copy" else name, "rounds": self.options.rounds}

    def work_through(self, phase, until):
        if phase in ON_GPUS and not self.is_gpu:
            if not self.results.is_done(phase, ""):
                self.add(phase, "", {"status": "skipped", "reason": "the emulator's times say nothing of a GPU"
                                     if phase != "sanitize" else "compute-sanitizer needs a GPU; the emulator checks by itself"})
            return
        if phase == "sanitize":
            return self.sanitize(until)
        limit = self.options.case_limit * (LONG if phase == "compiled" else 1)
        for name in self.names(phase):
            if self.results.is_done(phase, name):
                continue
            left = until - time.monotonic()
            if left <= 0:
                return self.out_of_time(phase)
            row = self.worker.ask(self.request(phase, name), min(limit, max(left, 1)))
            if row.get("status") == "hung" and left < limit:
                return self.out_of_time(phase)  # not its fault
            row.pop("code", None)
            self.add(phase, name, row)

    def out_of_time(self, phase):
        left = [name for name in self.names(phase) if not self.results.is_done(phase, name)]
        print(f"       {phase}: out of time; {len(left)} left for --resume", flush=True)

    def sanitize(self, until):
        if not sanitize.program_of_sanitizer():
            if not self.results.is_done("sanitize", ""):
                self.add("sanitize", "", {"status": "skipped", "reason": "there is no compute-sanitizer here"})
            return
        names = [name for name, entry in self.entries.items() if entry["phase"] == "right" and "failed" not in entry]
        tools = [tool for tool in sanitize.TOOLS if not self.results.is_done("sanitize", tool)] if names else []
        for index, tool in enumerate(tools):
            limit = (until - time.monotonic()) / (len(tools) - index)
            if limit < 5:
                return self.out_of_time("sanitize")
            for row in sanitize.sanitize(self.folder, self.device, tool, names, limit):
                self.add("sanitize", row.pop("case"), row)

    def all(self):
        self.describe()
        whole = sum(PHASES[name] for name in self.phases)
        until = self.begin
        for phase in self.phases:
            until += self.options.budget * PHASES[phase] / whole
            self.work_through(phase, until)
            path = self.results.write_tables(self.entries)
        return path


def main(options):
    run = Run(options)
    try:
        path = run.all()
    finally:
        run.worker.stop()
    print(path.read_text())
    bad = run.results.bad()
    print(f"{len(bad)} results are not as they should be; {path}")
    return 1 if bad else 0
