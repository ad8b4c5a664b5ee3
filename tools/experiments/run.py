"""Searches the networks of the experiments for every target and measures the
result on this processor; writes one page of tables.

usage: ./dev experiments [--runs N] [--clock wall|cpu] [--json FILE] [--page FILE] [NAME...]

For each network, target and engine: `mlc optimize`, with what it reports. For
the CPU target also: the trail's replay in mlc-verify; ONNX Runtime on the
original and on the result, and mlc's own code with and without rewrites, one
thread, runs that take turns, with the original a second time (A/A) to tell
what the machine's noise is worth. --from FILE writes the page from an earlier
--json without running anything.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in
                ("tools/experiments", "tools/bench", "runtime/python", "test/models")]
import compare_optimize  # noqa: E402
import models  # noqa: E402
from turns import CLOCKS  # noqa: E402

TARGETS = ["cpu", "gpu:v100", "gpu:k80", "gpu:a100", "gpu:h100"]
ENGINES = ["egraph", "greedy", "backtracking"]
# Seconds and gain over the original graph that TENSAT published, on its machine.
TENSAT = {"bert-large": (1.4, 9.2), "resnext50": (0.7, 8.8), "nasnet-a": (10.6, 7.3),
          "nasrnn": (0.5, 68.9), "inception-v3": (5.1, 10.0), "squeezenet": (0.3, 24.5),
          "vgg19": (0.4, 8.9), "resnet50": (None, 0.0)}


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


class Experiments:
    def __init__(self, options, folder):
        self.build = pathlib.Path(options.build)
        self.folder = pathlib.Path(folder)
        self.options = options
        self.cache = self.build / "experiments"
        self.cache.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        """The network's file, built once."""
        path = self.cache / f"{name}{'-small' if self.options.small else ''}.onnx"
        if not path.exists():
            models.write(name, path, self.options.small)
        return path

    def run(self, tool, *arguments):
        """The tool's JSON and the seconds of processor time that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([self.build / "bin" / tool, *map(str, arguments), "--json"],
                              capture_output=True, text=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if done.returncode:
            first = (done.stderr.strip() or f"exit {done.returncode}").splitlines()[0]
            return {"failure": first}
        return {**json.loads(done.stdout), "cpu_seconds": seconds}

    def search(self, name, target, engine):
        out = self.folder / "out.onnx" if (target, engine) == ("cpu", "egraph") else os.devnull
        report = self.run("mlc", "optimize", self.path(name), "-o", out, f"--target={target}",
                          f"--search={engine}", f"--search-steps={self.options.search_steps:g}")
        if "failure" not in report:
            report["steps"] = len(report["steps"])
        return report

    def replay(self, name):
        """How the trail of what search() wrote last for the CPU replays."""
        return self.run("mlc-verify", "--trail", self.path(name), self.folder / "out.onnx")

    def measure(self, name):
        path = self.path(name)
        graph = onnx.load(path, load_external_data=False).graph
        rng = np.random.default_rng(0)
        arrays = {i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim],
                                              dtype=np.float32) for i in graph.input}
        bench = compare_optimize.Bench(self.build, self.folder, self.options.runs,
                                       CLOCKS[self.options.clock], [f"--search-steps={self.options.search_steps:g}"])
        return {"onnxruntime": bench.onnxruntime(path, arrays), "mlc": bench.native(path, arrays)}

    def row(self, name):
        """Everything about one network."""
        row = {"model": name, "searches": {}}
        for target in self.options.targets:
            for engine in self.options.engines:
                report = self.search(name, target, engine)
                row["searches"].setdefault(target, {})[engine] = report
                print(f"{name} {target} {engine}: {summary(report)}", file=sys.stderr, flush=True)
                if (target, engine) == ("cpu", "egraph") and "failure" not in report:
                    row["replay"] = self.replay(name)
        if self.options.measure:
            row["measured"] = self.measure(name)
            theirs, ours = row["measured"]["onnxruntime"], row["measured"]["mlc"]
            print(f"{name}: ONNX Runtime {speedup(theirs)} (A/A {noise(theirs)}), "
                  f"mlc {speedup(ours)} (A/A {noise(ours)})", file=sys.stderr, flush=True)
        return row


# Words and tables


def gain(report):
    """Predicted: how much faster the result is than the original."""
    return report["predicted_seconds_before"] / report["predicted_seconds_after"] - 1


def percent(value):
    return f"{100 * value:+.1f} %"


def summary(report):
    if "failure" in report:
        return report["failure"]
    return (f"{percent(gain(report))}, {report['seconds']:.2f} s, {report['stop_reason']}, "
            f"{report['steps']} steps")


def speedup(measured):
    return percent(1 / measured["ratio"] - 1)


def noise(measured):
    return percent(1 / measured["a_a"] - 1)


def table(header, rows):
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def title(name):
    return models.EXPERIMENTS[name].title


def predicted(row, target, engine="egraph"):
    report = row["searches"].get(target, {}).get(engine, {"failure": ""})
    return "–" if "failure" in report else percent(gain(report))


def gains_table(result):
    header = ["network", "ONNX Runtime", "A/A", "mlc", "A/A", "largest error",
              *(f"predicted {t}" for t in result["targets"])]
    lines = []
    for row in result["rows"]:
        cells = [title(row["model"])]
        if "measured" in row:
            theirs, ours = row["measured"]["onnxruntime"], row["measured"]["mlc"]
            error = max(theirs["largest_error"], ours["largest_error"])
            cells += [speedup(theirs), noise(theirs), speedup(ours), noise(ours), f"{error:.0e}"]
        else:
            cells += ["–"] * 5
        lines.append(cells + [predicted(row, target) for target in result["targets"]])
    return table(header, lines)


def engine_cells(report):
    if "failure" in report:
        return ["–", "–"]
    return [percent(gain(report)), f"{report['seconds']:.2f}"]


def search_table(result, target):
    others = [e for e in result["engines"] if e != "egraph"]
    header = ["network", "gain", "seconds", "CPU s", "gap", "stopped by", "search steps", "nodes", "steps",
              *(f"{e}: {what}" for e in others for what in ("gain", "seconds"))]
    lines = []
    for row in result["rows"]:
        reports = row["searches"].get(target, {})
        report = reports.get("egraph", {"failure": "not run"})
        cells = [title(row["model"]), *engine_cells(report)]
        if "failure" in report:
            cells += ["–"] * 6
        else:
            gap = "–" if report["gap"] is None else f"{100 * report['gap']:.2f} %"
            cells += [f"{report['cpu_seconds']:.1f}", gap + (" (optimal)" if report["optimal"] else ""),
                      report["stop_reason"], report["search_steps"], report["nodes"], report["steps"]]
        for engine in others:
            cells += engine_cells(reports.get(engine, {"failure": ""}))
        lines.append(cells)
    return table(header, lines)


def tensat_table(result):
    header = ["network", "mlc: seconds", "TENSAT: seconds", "mlc: predicted V100", "TENSAT: measured T4"]
    lines = []
    for row in result["rows"]:
        if row["model"] not in TENSAT:
            continue
        seconds, published = TENSAT[row["model"]]
        report = row["searches"].get("cpu", {}).get("egraph", {"failure": ""})
        lines.append([title(row["model"]), "–" if "failure" in report else f"{report['seconds']:.2f}",
                      "–" if seconds is None else f"{seconds:.1f}",
                      predicted(row, "gpu:v100"), f"{published:+.1f} %"])
    return table(header, lines)


def replay_table(result):
    lines = [[title(row["model"]), row["replay"].get("steps", "–"), row["replay"].get("operators", "–"),
              row["replay"].get("failure") or f"replayed in {row['replay']['seconds']:.2f} s"]
             for row in result["rows"] if "replay" in row]
    return table(["network", "steps", "operators", "mlc-verify --trail"], lines)


PAGE = """# What substitutions gain

Written by `./dev experiments` on {date}: {processor}, {cores} cores, {version}.
Networks are built from their papers with seeded weights (`tools/experiments`),
batch 1{small}.
{notes}
## Measured on this processor, and predicted

Faster than the original by so much. Measured: medians of at least {runs} interleaved
runs on one thread{clock}; A/A is the original against itself. Predicted: by the
cost model, for the e-graph's result. ONNX Runtime runs with all optimizations of
its own.

{gains}

## Beside TENSAT

Its seconds and gains are the published ones, from another machine and another
device; they say what is usual, not what is faster.

{tensat}

## Trails

{replays}

{searches}"""


def page(result):
    searches = "\n".join(f"## Searches for {target}\n\n{search_table(result, target)}\n"
                         for target in result["targets"])
    clock = ", in processor time, for others used the machine" if result["clock"] == "cpu" else ""
    notes = f"\n{result['notes']}\n" if "notes" in result else ""
    return PAGE.format(
        notes=notes,
        date=result["date"], processor=result["processor"], cores=result["cores"],
        version=result["version"], small=", in the small size" if result["small"] else "",
        runs=result["runs"], clock=clock, gains=gains_table(result), tensat=tensat_table(result),
        replays=replay_table(result), searches=searches)


def save(path, text):
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    os.replace(part, path)


def parse():
    parser = argparse.ArgumentParser(prog="./dev experiments", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=21, help="timed runs of each (21)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall",
                        help="what is timed: cpu on a machine that others use (wall)")
    parser.add_argument("--targets", nargs="+", default=TARGETS, metavar="TARGET")
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--search-steps", type=float, default=1, metavar="TIMES",
                        help="how many times the usual steps a search may take (1)")
    parser.add_argument("--small", action="store_true", help="the networks' sizes for tests")
    parser.add_argument("--no-measure", dest="measure", action="store_false", help="search only")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE",
                        default=ROOT / "docs/Measurements/substitutions.md")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE",
                        help="write the page from these figures")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these networks")
    options = parser.parse_args()
    for name in options.names:
        if name not in models.EXPERIMENTS:
            parser.error(f"no network '{name}'; there are {', '.join(models.EXPERIMENTS)}")
    return options


def main():
    options = parse()
    if options.source:
        save(options.page, page(json.loads(options.source.read_text())))
        return 0
    version = subprocess.run([options.build / "bin/mlc", "--version"], capture_output=True, text=True)
    result = {
        "date": datetime.date.today().isoformat(), "processor": processor(), "cores": os.cpu_count(),
        "version": version.stdout.strip().splitlines()[0], "runs": options.runs, "clock": options.clock,
        "small": options.small, "targets": options.targets, "engines": options.engines, "rows": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        experiments = Experiments(options, folder)
        for name in options.names or models.EXPERIMENTS:
            result["rows"].append(experiments.row(name))
            # What is there so far, should the rest be interrupted.
            if options.json:
                save(options.json, json.dumps(result, indent=1) + "\n")
    options.page.parent.mkdir(parents=True, exist_ok=True)
    save(options.page, page(result))
    print(gains_table(result))
    errors = [measured["largest_error"] for row in result["rows"]
              for measured in row.get("measured", {}).values()]
    return 5 if any(error > 1e-4 for error in errors) else 0


if __name__ == "__main__":
    sys.exit(main())
