"""Makes faults in what says where functions are defined, and asks which test finds each.

usage: definedness_faults.py [--build FOLDER] [--work FOLDER] [--jobs N] [--page FILE] [--only NUMBER...] [--all]

The kernel's part (verifier/kernel/Defined and what asks it) is trusted, so that nothing stands behind it but tests; nor
behind the evaluator's, by which statements are refuted. So each fault must be found (DETECTORS, the cheap ones first): by
a unit test, by random partial functions whose truth is known by construction or by an evaluation of their own, or by a
false statement (of such functions, of test/verifier/soundness, of the literature) that is accepted or a true one that is
no longer.

The faults are in definedness_fault_list.py. The sources are copied to the work folder and built there once, with all of
them in. `ninja -C build verifier-tests evaluator-tests random-pairs judge-pairs mlc-rules` makes what is needed.
--page: write the table there. --all: ask all detectors, not only until one finds the fault. Exit code 5 where none does
and the list does not say why.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import pathlib
import re
import sys
import tempfile
import time

import prover_faults
from definedness_fault_list import EVALUATOR, KERNEL, NONE
from faulted_build import ROOT, FaultedBuild, cell, ended, failed_unit, run

LIBRARIES = {"verifier": "MLCProofKernel", "dialects": "MLCGraph"}
PROGRAMS = ["verifier-tests", "random-pairs", "judge-pairs"]
PAIRS, SEED = 600, 1


class Build(FaultedBuild):
    """Tests and tools with all faults, none of which is on."""

    def __init__(self, build, work, pool):
        super().__init__(build, work)
        self.kernel = self.compile_all(KERNEL, 1, pool, self.target)
        self.evaluator = self.compile_all(EVALUATOR, 1001, pool, self.target)
        for program in PROGRAMS:
            self.link(program, self.objects(self.kernel + self.evaluator), self.program(program))
        in_graph = [f for f in self.evaluator if f.file.startswith("dialects/")]
        self.link("evaluator-tests", self.objects(in_graph), self.program("evaluator-tests"))

    @staticmethod
    def target(file):
        folder, within = file.split("/", 1)
        return ROOT / file, f"{folder}/CMakeFiles/{LIBRARIES[folder]}.dir/{within}.o"

    def program(self, name):
        return self.work / "bin" / name


class Corpus(prover_faults.Corpus):
    mutants = 0
    false = ["refuted", "not proved"]
    kinds = [("partial", PAIRS)]


class Detectors:
    """What finds a fault: each says in a few words how, or nothing."""

    def __init__(self, build, folder):
        self.build, self.corpus = build, Corpus(build.build, folder, SEED)
        self.truths = self.corpus.truths()
        self.every = {"unit tests of definedness": self.definedness, "of the evaluator": self.evaluator, "of the verifier": self.verifier,
                      "random pairs": self.random, "statements": self.statements}

    def definedness(self, number):
        return failed_unit([self.build.program("verifier-tests"), "[definedness]", "--abort"], number, 300)

    def evaluator(self, number):
        return failed_unit([self.build.program("evaluator-tests"), "--abort"], number, 60)

    def verifier(self, number):
        return failed_unit([self.build.program("verifier-tests"), "~[definedness]", "--abort"], number, 600)

    def random(self, number):
        done = run([self.build.program("random-pairs"), PAIRS, "--kind=partial", f"--seed={SEED}"], number, 300)
        said = re.search(r"(\d+) disagree$", done.stdout, flags=re.M)
        return "" if done.returncode == 0 else f"{said[1]} disagree" if said else ended(done)

    def statements(self, number):
        answers, ended_early = prover_faults.run(self.build.program("judge-pairs"), self.corpus.files, number)
        accepted = collections.Counter(self.truths[i] for i, (_, kernel, *_) in answers.items() if kernel == "accepted")
        counts = {"false accepted": accepted["false"], "true lost": self.truths.count("true") - accepted["true"],
                  "ended early": len(ended_early)}
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count)

    def row(self, fault, asks_all):
        row = {"number": fault.number, "file": fault.file, "line": fault.line, "what": fault.what, "by": {}}
        for name, detector in self.every.items():
            if said := detector(fault.number):
                row["by"][name] = said
                if not asks_all:
                    break
        print(json.dumps(row), flush=True)
        return row


def write_page(path, kernel, evaluator, corpus, seconds):
    """docs/Measurements/definedness-faults.md."""
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    first = collections.Counter(next(iter(r["by"]), "nothing") for r in kernel + evaluator)
    found = ", ".join(f"{by} {count}" for by, count in first.items() if by != "nothing")
    truths = corpus.truths()
    lines = ["# Faults in what says where functions are defined", "",
             f"    tools/experiments/definedness_faults.py --page={name}", "",
             f"On {datetime.date.today()}, {seconds / 60:.0f} minutes. {len(kernel)} faults of the kernel (verifier/kernel/Defined and what asks it), which is trusted, and",
             f"{len(evaluator)} of the evaluator, by which statements are refuted. Each is asked about until something finds it, what is cheap",
             "first: unit tests (the first that fails); random partial functions, whose truth is known by construction or by an evaluation of",
             f"their own ({PAIRS} pairs); statements ({truths.count('false')} false ones that must not be accepted, {truths.count('true')} true ones that must be).",
             f"Found by: {found}; not found: {first['nothing']}, each of which the table explains.", "",
             "| file:line | fault | found by | which |", "|---|---|---|---|"]
    for r in kernel + evaluator:
        by, which = next(iter(r["by"].items()), ("—", NONE.get(r["what"], "not explained")))
        file = r["file"].removeprefix("verifier/").removeprefix("dialects/")
        lines.append(f"| {file}:{r['line']} | {cell(r['what'])} | {by} | {cell(which)} |")
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="ask all detectors")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of faults; the evaluator's begin at 1001")
    options = parser.parse_args()
    start = time.time()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        build = Build(options.build.resolve(), (options.work or pathlib.Path(name) / "work").resolve(), pool)
        detectors = Detectors(build, pathlib.Path(name))
        print(f"{len(build.kernel)} and {len(build.evaluator)} faults, {time.time() - start:.0f} s", flush=True)
        for name_of, detector in detectors.every.items():
            if said := detector(0):
                raise SystemExit(f"WITHOUT A FAULT: {name_of}: {said}")
        ask = lambda faults: list(pool.map(lambda fault: detectors.row(fault, options.all),
                                           [f for f in faults if not options.only or f.number in options.only]))
        kernel, evaluator = ask(build.kernel), ask(build.evaluator)
        if options.page:
            write_page(options.page, kernel, evaluator, detectors.corpus, time.time() - start)
    unseen = [r for r in kernel + evaluator if not r["by"]]
    for r in unseen:
        print(f"FOUND BY NOTHING: {r['file']}:{r['line']}: {r['what']}: {NONE.get(r['what'], 'not explained')}")
    print(f"{len(kernel)} faults of the kernel and {len(evaluator)} of the evaluator: {len(unseen)} found by nothing")
    return 5 if any(r["what"] not in NONE for r in unseen) else 0


if __name__ == "__main__":
    sys.exit(main())
