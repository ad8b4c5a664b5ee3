"""Makes faults in the engine that rewrites models and in the replay of its trails, and asks what stops them.

usage: rewriting_faults.py [--build FOLDER] [--work FOLDER] [--graphs N] [--jobs N] [--page FILE] [--both]
                           [--only NUMBER...]

The engine (rewrites/EGraph, Search, Rules/Match) is not trusted. With one of its faults on, `mlc optimize` rewrites
graphs (rewriting_corpus.py); what it writes is replayed by a `mlc-verify --trail` without faults, and original and
result are evaluated by onnx's reference. No wrong model may be accepted.

Nothing stands behind the replay (rewrites/ProofLog) but tests, so each of its faults must be found by a test: the tests of
trails are run with a `mlc-verify` and with unit tests that have the fault.

The faults are in rewriting_fault_list.py. The sources are copied to the work folder and built there once, with all of
them in. `ninja -C build mlc mlc-verify mlc-translate mlc-rules replay-tests` makes what is needed. --page: write the
tables there. Exit code 5 where a wrong model is accepted, or a fault of the replay not found.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

import onnx

import rewriting_corpus
from faulted_build import ROOT, FaultedBuild, cell, ended, failed_unit, run
from rewriting_fault_list import ENGINE, TRUSTED

LIBRARIES = {"ProofLog/Trail.cpp": "rewrites/CMakeFiles/MLCRewrites.dir", "ProofLog": "rewrites/ProofLog/CMakeFiles/MLCReplay.dir",
             "tools/mlc-verify": "tools/mlc-verify/CMakeFiles/mlc-verify.dir"}
TESTS = ["test_trail_by_hand.py", "test_directions.py", "test_trail.py"]  # of test/tools/mlc-verify
# What engines do to a graph.
OUTCOMES = {"same": "as without the fault", "ended": "`mlc optimize` ends with an error", "equal": "other result, accepted and equal",
            "refused": "equal result, refused", "stopped": "wrong model, refused", "ACCEPTED": "wrong model, accepted"}


class Build(FaultedBuild):
    """`mlc` with the engine's faults; `mlc-verify` and `replay-tests` with those of the replay, beside the other tools."""

    def __init__(self, build, work, pool):
        super().__init__(build, work)
        self.engine = self.compile_all(ENGINE, 1, pool, self.target)
        self.trusted = self.compile_all(TRUSTED, 1001, pool, self.target)
        self.mlc, self.faulted = work / "engine/bin/mlc", work / "replay"
        self.link("mlc", self.objects(self.engine), self.mlc)
        self.checker = shutil.copy2(build / "bin/mlc-verify", work / "engine/bin")  # whatever is built meanwhile
        (self.faulted / "bin").mkdir(parents=True, exist_ok=True)
        for tool in (build / "bin").iterdir():
            link = self.faulted / "bin" / tool.name
            if not link.exists() and tool.name not in ("mlc-verify", "replay-tests"):
                link.symlink_to(tool.resolve())
        in_tests = [f for f in self.trusted if not f.file.startswith("tools/")]
        self.link("mlc-verify", self.objects(self.trusted), self.faulted / "bin/mlc-verify",
                  ["tools/mlc-verify/CMakeFiles/mlc-verify.dir/TrailCommand.cpp.o"])
        self.link("replay-tests", self.objects(in_tests), self.faulted / "bin/replay-tests")

    @staticmethod
    def target(file):
        path = ROOT / (file if file.startswith("tools/") else f"rewrites/{file}")
        folder = next((f for part, f in LIBRARIES.items() if file.startswith(part)), "rewrites/CMakeFiles/MLCRewrites.dir")
        return path, f"{folder}/{path.relative_to(ROOT / folder.split('/CMakeFiles')[0])}.o"


# The engine


class Engine:
    """Graphs, and what the engine makes of them with a fault on."""

    def __init__(self, build, folder, count):
        self.build, self.folder, self.graphs = build, folder, []
        for i, (name, model, rules) in enumerate(rewriting_corpus.graphs(count)):
            path = folder / f"{i}.onnx"
            onnx.save(model, path)
            flags = []
            if rules:
                flags = ["--rules", folder / f"{i}.mlir"]
                flags[1].write_text(rules)
            plain = self.optimize(path, flags, 0)
            if plain is None:
                print(f"{name}: `mlc optimize` refuses it without a fault", flush=True)
                continue
            if said := self.judge(path, flags, folder / f"{i}-0.onnx"):
                assert said == "equal", f"WITHOUT A FAULT: {name}: {said}"
            self.graphs.append((name, path, flags, plain))

    def optimize(self, path, flags, number):
        """The bytes that are written, or nothing."""
        result = path.with_name(f"{path.stem}-{number}.onnx")
        result.unlink(missing_ok=True)
        done = run([self.build.mlc, "optimize", path, "-o", result, *flags], number)
        if done.returncode:
            assert not result.exists(), f"{result} is written in spite of {done.returncode}"
            return None
        return result.read_bytes()

    def judge(self, path, flags, result):
        """What a checker without faults, and what evaluation says of what was written."""
        checked = run([self.build.checker, "--trail", path, result, *flags])
        try:
            wrong = rewriting_corpus.difference(onnx.load(path), onnx.load(result))
        except Exception as problem:  # onnx cannot even run it
            wrong = str(problem)
        if checked.returncode == 0:
            return "ACCEPTED" if wrong else "equal"
        assert checked.returncode in (3, 5), checked.stderr
        return "stopped" if wrong else "refused"

    def outcome(self, graph, number):
        name, path, flags, plain = graph
        found = self.optimize(path, flags, number)
        result = path.with_name(f"{path.stem}-{number}.onnx")
        said = "ended" if found is None else "same" if found == plain else self.judge(path, flags, result)
        if said == "ACCEPTED":
            print(f"ACCEPTED by fault {number}: {name}: {result}", flush=True)
        else:
            result.unlink(missing_ok=True)
        return said

    def row(self, fault, pool):
        counts = collections.Counter(pool.map(lambda graph: self.outcome(graph, fault.number), self.graphs))
        row = {"number": fault.number, "file": fault.file, "line": fault.line, "what": fault.what, **counts}
        print(json.dumps(row), flush=True)
        return row


# The replay


def found_by_tools(build, number):
    """The first test of the tools that fails."""
    tests = [ROOT / "test/tools/mlc-verify" / name for name in TESTS]
    done = run([sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", *tests], number, 900, MLC_BUILD=str(build.faulted))
    if done.returncode == 0:
        return ""
    said = re.search(r"^(?:FAILED|ERROR) (?:\S*/)?(\S+::.+?)(?: - .*)?$", done.stdout, flags=re.M)
    return said[1] if said else ended(done)


def trusted_row(build, fault, asks_both):
    row = {"number": fault.number, "file": fault.file, "line": fault.line, "what": fault.what,
           "units": failed_unit([build.faulted / "bin/replay-tests"], fault.number, 30), "tools": None}
    if asks_both or not row["units"]:
        row["tools"] = found_by_tools(build, fault.number)
    print(json.dumps(row), flush=True)
    return row


# The page


def write_page(path, engine, trusted, graphs, seconds):
    """docs/Measurements/rewriting-faults.md."""
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    bites = [r for r in engine if r.get("same", 0) < graphs]
    lines = ["# Faults in the engine that rewrites, and in the replay", "",
             f"    tools/experiments/rewriting_faults.py --page={name}", "",
             f"On {datetime.date.today()}, {seconds / 60:.0f} minutes. {len(engine)} faults of the engine, which is not trusted, each with {graphs} graphs: random ones",
             "(of directions.py; convolutions and products, on which shipped rules apply) and lures, in which a rule seems to apply",
             f"and does not. {len(bites)} faults change what is made of some graph. `mlc-verify --trail`, without faults, judges what was written, and",
             "onnx's reference runs both models.", "",
             "| file:line | fault | " + " | ".join(OUTCOMES.values()) + " |", "|---|---|" + "---|" * len(OUTCOMES)]
    for r in engine:
        lines.append(f"| {r['file']}:{r['line']} | {cell(r['what'])} | " + " | ".join(str(r.get(o, 0)) for o in OUTCOMES) + " |")
    total = [sum(r.get(o, 0) for r in engine) for o in OUTCOMES]
    lines.append("| all | | " + " | ".join(map(str, total)) + " |")
    lines += ["", f"{len(trusted)} faults of the replay, which is trusted: each takes a check away or weakens it. The first test of `replay-tests`",
              "(test/unit/replay) and of `mlc-verify --trail` (test/tools/mlc-verify) that fails.", "",
              "| file:line | fault | found by replay-tests | by tests of mlc-verify |", "|---|---|---|---|"]
    tools = {None: "not asked", "": "—"}
    for r in trusted:
        lines.append(f"| {r['file'].removeprefix('ProofLog/')}:{r['line']} | {cell(r['what'])} | {cell(r['units'] or '—')} | {cell(tools[r['tools']] if r['tools'] in tools else r['tools'])} |")
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--graphs", type=int, default=3, help="random ones of each kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--both", action="store_true", help="ask tests of mlc-verify also where unit tests find a fault")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of faults; the replay's begin at 1001")
    options = parser.parse_args()
    start = time.time()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        build = Build(options.build.resolve(), (options.work or pathlib.Path(name) / "work").resolve(), pool)
        chosen = lambda faults: [f for f in faults if not options.only or f.number in options.only]
        print(f"{len(build.engine)} and {len(build.trusted)} faults, {time.time() - start:.0f} s", flush=True)
        trusted = list(pool.map(lambda fault: trusted_row(build, fault, options.both), chosen(build.trusted)))
        (folder := build.work / "graphs").mkdir(exist_ok=True)
        engine = Engine(build, folder, options.graphs)
        print(f"{len(engine.graphs)} graphs, {time.time() - start:.0f} s", flush=True)
        rows = [engine.row(fault, pool) for fault in chosen(build.engine)]
        if options.page:
            write_page(options.page, rows, trusted, len(engine.graphs), time.time() - start)
    accepted = sum(r.get("ACCEPTED", 0) for r in rows)
    unseen = [r for r in trusted if not r["units"] and not r["tools"]]
    for r in unseen:
        print(f"FOUND BY NO TEST: {r['file']}:{r['line']}: {r['what']}")
    print(f"{len(rows)} faults of the engine: {accepted} wrong models accepted; {len(trusted)} of the replay: {len(unseen)} found by no test")
    return 5 if accepted or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
