"""Makes faults in the prover and in the search for proofs, and asks whether the kernel then accepts anything false.

usage: prover_faults.py [--build FOLDER] [--work FOLDER] [--per-file N] [--seed S] [--false FILE...] [--page FILE]
                        [--only NUMBER...] [--sources FILE...]

Neither prover nor search is trusted (docs/Trust.md): whatever is wrong with
them, the kernel must accept no proof of a false statement. For each of some
hundred faults (source_faults.py makes them by rules, SHARP has some written by hand)
false and true statements are judged by `judge-pairs`, in which one fault is on:
by the kernel, and by the prover alone, which shows whether the fault matters.
The sources are copied to the work folder and built there once, with all faults
in them. --false: files of further pairs that are false. --page: write the
counts there. Exit code 5 where the kernel accepts something false.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import source_faults
from faulted_build import FaultedBuild, written
from mutated_proofs import ROOT, Statements

SOURCES = ["read/Cases", *("search/" + name for name in (
    "Bounds", "Elaborate*", "Equality", "Expand*", "Head", "Index", "Integers", "Normalize", "Reduce", "Scalar", "Simplify",
    "Solver", "Unify"))]
# Linked into what checks proofs, but checked there itself.
CHECKED = {"read/Cases.cpp"}
LIMIT = 60  # seconds for one statement, which unchanged takes less than 1
BUDGET = {"false": 5.0, "true": 1.0}  # seconds that all statements of the corpus take where there is no fault
MOST = 240  # seconds for one fault, after which the other statements count as lost

# As faulted_build has them.
SHARP = [
    ("search/Equality.cpp", 'if (!holds(Guard::nonNegative(substitute(r, *tau)), inTerm,\n               "tau leads to a point"))',
     "if (!mlc::fault(NUMBER) && @@)", "a map may lead below 0"),
    ("search/Equality.cpp", 'if (!holds(Guard::zero(back - v), inTerm, "sigma inverts tau"))',
     "if (!mlc::fault(NUMBER) && @@)", "a map need not be inverted"),
    ("search/Equality.cpp", "guards.push_back(Guard::zero(there - r));", "if (!mlc::fault(NUMBER)) @",
     "an image need not be one of the map"),
    ("search/Equality.cpp", 'if (!holds(Guard::zero(x - y), facts, "indices agree"))', "if (!mlc::fault(NUMBER) && @@)",
     "indices need not agree"),
    ("search/Equality.cpp", "if (!equal(x, y, facts))", "if (!mlc::fault(NUMBER) && @@)", "arguments need not be equal"),
    ("search/Equality.cpp", "(implied(terms[0], terms[1]) && implied(terms[1], terms[0]))",
     "(mlc::fault(NUMBER) ? implied(terms[0], terms[1]) : @)", "one domain within the other is enough"),
    ("search/Equality.cpp", "terms[0].coefficient + terms[1].coefficient == Fraction(0)", "(mlc::fault(NUMBER) || (@))",
     "coefficients need not cancel"),
    ("search/Equality.cpp", "covers(b.branches, a.branches, facts)", "(mlc::fault(NUMBER) || @)",
     "a maximum of fewer is the same"),
    ("search/Equality.cpp", "guards.push_back({guard.kind, substitute(guard.expr, map)});\n  return guards;",
     "if (!mlc::fault(NUMBER)) @", "an image need not lie in the domain"),
    ("search/Simplify.cpp", "term.domain.guards.push_back(Guard::nonNegative(value));\n}", "if (!mlc::fault(NUMBER)) @",
     "a variable's value may be below 0"),
    ("search/Simplify.cpp", "term.domain.guards.push_back(Guard::nonNegative(least));", "if (!mlc::fault(NUMBER)) @",
     "a count may be below 0"),
    ("search/Simplify.cpp", "inner.provesNonNegative(-v)", "(mlc::fault(NUMBER) || @)", "every variable is 0"),
    ("search/Reduce.cpp", "isNeverEmpty(part.domain, outside)", "(mlc::fault(NUMBER) || @)",
     "a maximum of perhaps nothing is a value"),
    ("search/Reduce.cpp", "f.growth != Growth::Increasing", "(!mlc::fault(NUMBER) && @)", "every function is monotone"),
    ("search/Reduce.cpp", "!bounds.low || *bounds.low < Fraction(0)", "(!mlc::fault(NUMBER) && (@))",
     "any branch goes from a maximum"),
    ("search/Reduce.cpp", "isPositive(atomSum(factor.atom), facts)", "(mlc::fault(NUMBER) || @)",
     "any factor leaves a maximum"),
    ("read/Cases.cpp", "llvm::append_range(result, own);", "if (!mlc::fault(NUMBER) || result.empty()) @",
     "alternatives behind the first are left out"),
    ("read/Cases.cpp", "isPositive ? minusRest + number : minusRest - number", "mlc::fault(NUMBER) ? number : (@)",
     "what divides has no rest"),
    ("read/Cases.cpp", "return {{negate ? guard.negated() : guard}};", "if (mlc::fault(NUMBER)) return {{guard}}; else @",
     "a negation is left out"),
    ("search/ElaborateSteps.cpp", "!factsOf(*function).isMonotone()", "(!mlc::fault(NUMBER) && @)",
     "every function leaves a maximum"),
    ("search/ElaborateEnds.cpp", "need.isOptional ||", "(!mlc::fault(NUMBER) && need.isOptional) ||",
     "what need not hold makes a case absurd"),
    ("search/ElaborateEnds.cpp", "same(value, there)", "(!mlc::fault(NUMBER) && @)", "any case is absurd"),
    ("search/ElaborateFacts.cpp", "Rational inverse = Rational(1) / by;", "Rational inverse = Rational(mlc::fault(NUMBER) ? -1 : 1) / by;",
     "the sign of a value's multiple does not count"),
    ("search/ElaborateProof.cpp", "there.push_back(isOne ? single(truth)", "there.push_back(isOne != mlc::fault(NUMBER) ? single(truth)",
     "the cases of a truth value are exchanged"),
    ("search/ElaborateSplits.cpp", "border->integer() + 1", "border->integer() + (mlc::fault(NUMBER) ? 2 : 1)",
     "the border of a sum lies elsewhere"),
]


def sources():
    found = sorted((p for pattern in SOURCES for p in (ROOT / "verifier").glob(f"{pattern}.cpp")), key=lambda p: p.name)
    return [str(p.relative_to(ROOT / "verifier")) for p in found]


class Build(FaultedBuild):
    """The sources with all faults that compile, linked to a judge of their own."""

    def __init__(self, build, work, per_file, seed, files):
        super().__init__(build, work)
        self.judge, self.faults, self.left_out = work / "judge-pairs", [], 0
        rng, objects, number = random.Random(seed), [], 1
        for file in files or sources():
            text = (ROOT / "verifier" / file).read_text()
            sharp = written(SHARP, file, text, number)
            made = [f for f in source_faults.choose(file, text, per_file + len(sharp), number + len(sharp), rng)
                    if all(f.end <= w.begin or w.end <= f.begin for w in sharp)]
            number = max([f.number for f in sharp + made], default=number) + 1
            library = "MLCProofKernel" if file in CHECKED else "MLCVerifier"
            kept = self.compile(f"verifier/CMakeFiles/{library}.dir/{file}.o", file, text, sharp + made)
            self.left_out += len(sharp) + len(made) - len(kept)
            self.faults += kept
            objects.append(self.object(file))
            print(f"{file}: {len(kept)} faults", flush=True)
        self.link("judge-pairs", objects, self.judge)


class Corpus:
    """Files of pairs, and of each pair, by its place, its name and whether it is true."""

    mutants = 200
    false = ["refuted"]  # answers in test/verifier/soundness
    kinds = [("graph", 600), ("scalar", 300), ("linalg", 300)]  # of random pairs

    def __init__(self, build, folder, seed, further=()):
        self.files, self.judge = [], build / "bin/judge-pairs"
        statements = Statements(build, folder, self.mutants, seed)  # facts and their near misses among them
        for truth, names in [("true", statements.proofs), ("false", statements.origins)]:
            self.add(folder, truth, "".join(statements.texts[n] for n in names))
        self.add_soundness(folder)
        self.add_random(build, folder, seed)
        for path in [*sorted((ROOT / "test/tools/mlc-verify/Inputs").glob("*.mlir")), *further]:
            self.add(folder, "false", path.read_text())
        self.pairs = []
        self.measure(folder)

    def add(self, folder, truth, text):
        path = folder / f"{truth}-{len(self.files)}.mlir"
        path.write_text(text)
        self.files.append(path)

    def add_soundness(self, folder):
        """Statements that were once answered wrongly; what is only not proved may be true."""
        for path in sorted((ROOT / "test/verifier/soundness").glob("*.mlir")):
            shared, *parts = re.split(r"^//--- ", path.read_text(), flags=re.M)
            for part in parts:
                answers, body = part.split(": ", 1)[0].split(", "), part.split("\n", 1)[1]
                if answers[0] == "proved" or answers[0] in self.false:
                    self.add(folder, "true" if answers[0] == "proved" else "false", shared + body)

    def add_random(self, build, folder, seed):
        for kind, count in self.kinds:
            done = subprocess.run([build / "bin/random-pairs", str(count), "--show", f"--seed={seed}", f"--kind={kind}"],
                                  capture_output=True, text=True, timeout=1200)
            for part in re.split(r"^// (?=\d+: )", done.stdout, flags=re.M)[1:]:
                said, text = part.split("\n", 1)
                if ", false " in said and "func.func @before" in text:
                    self.add(folder, "false", text[:text.rindex("}") + 1] + "\n")

    def measure(self, folder):
        """Keeps what is quick and judged as it should be without a fault."""
        kept = []
        for file in self.files:
            answers, _ = run(self.judge, [file], 0)
            texts = dict(enumerate(Statements.pairs(file))) if len(answers) > 1 else {}
            truth = file.name.split("-")[0]
            for i, (_, kernel, prover, seconds) in sorted(answers.items()):
                is_right = (kernel, prover) == ("accepted", "proved") if truth == "true" else \
                    kernel == "refused" and prover != "proved"
                if not is_right and truth == "false":
                    print(f"WITHOUT A FAULT: {file.name}: {kernel}, {prover}", flush=True)
                if is_right and len(answers) == 1:
                    kept.append((seconds, truth, file))
                elif is_right:
                    path = folder / f"{truth}-{file.stem}-{i}.mlir"
                    path.write_text(texts[i][1])
                    kept.append((seconds, truth, path))
        # The quick ones, as many as the time for one fault allows.
        for truth, most in BUDGET.items():
            total = 0.0
            for seconds, file in sorted((s, f) for s, t, f in kept if t == truth):
                total += seconds
                if total < most:
                    self.pairs.append((truth, file))
        self.files = [file for _, file in self.pairs]

    def truths(self):
        return [truth for truth, _ in self.pairs]


def run(judge, files, number):
    """What a judge in which one fault is on says of each: name, kernel, prover, seconds; and what ended early."""
    answers, ended, first, start = {}, [], 0, time.time()
    environment = {**os.environ, "MLC_FAULT": str(number)}
    while time.time() - start < MOST and len(ended) < 20:
        process = subprocess.Popen([judge, *files, "--skip", str(first)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, env=environment)
        try:
            out, how = process.communicate(timeout=LIMIT)[0], "crash"
        except subprocess.TimeoutExpired:
            process.kill()
            out, how = process.communicate()[0], "hang"
        begun = first
        for words in map(str.split, out.splitlines()):
            if words[0] == "begin":
                begun, name = int(words[1]), words[2]
            elif len(words) == 5:
                answers[int(words[1])] = (name, words[2], words[3], float(words[4]))
        if process.returncode == 0:
            break
        # Many that are slow are no hang: it is one that takes all the time.
        if how == "crash" or begun == first:
            ended.append((begun, how))
            begun += 1
        first = begun
    return answers, ended


def row(fault, truths, answers, ended):
    """Counts of one fault."""
    by = lambda truth, place, word: sum(truths[i] == truth and a[place] == word for i, a in answers.items())
    return {"file": fault.file, "number": fault.number, "line": fault.line, "what": fault.what,
            "accepted": by("false", 1, "accepted"), "believed": by("false", 2, "proved"),
            "which": sorted(i for i, a in answers.items() if truths[i] == "false" and a[1] == "accepted"),
            "lost_kernel": truths.count("true") - by("true", 1, "accepted"),
            "lost_prover": truths.count("true") - by("true", 2, "proved"),
            "crashes": sum(how == "crash" for _, how in ended), "hangs": sum(how == "hang" for _, how in ended)}


def write_page(path, rows, truths, build, seed, seconds):
    """docs/Measurements/prover-faults.md."""
    lines = ["# Faults in the prover and in the search for proofs", "",
             f"    tools/experiments/prover_faults.py --seed={seed} --page={path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}", "",
             f"On {datetime.date.today()}: {len(rows)} faults, made by rules and, the sharp ones, by hand ({build.left_out} more did not",
             f"compile), each judging {truths.count('false')} false statements (rules of the literature, mutants of shipped and of repaired rules,",
             "random pairs, what attacks had found) and "
             f"{truths.count('true')} true ones: those that take least. {seconds / 60:.0f} minutes in all. A fault bites where the prover",
             "alone (`verify`, without numbers, which would refute most) believes something false, or where something true is",
             "lost. After 20 crashes a fault's other statements are not judged.", "",
             "| file | faults | false accepted by the kernel | faults by which the prover believes something false | such statements | "
             "faults that lose true ones (kernel) | (prover) | crashes | hangs |", "|---|---|---|---|---|---|---|---|---|"]
    total = collections.Counter()
    for file in [*sorted({r["file"] for r in rows}), None]:
        mine = [r for r in rows if file in (None, r["file"])]
        cells = [len(mine), sum(r["accepted"] for r in mine), sum(r["believed"] > 0 for r in mine),
                 sum(r["believed"] for r in mine), sum(r["lost_kernel"] > 0 for r in mine),
                 sum(r["lost_prover"] > 0 for r in mine), sum(r["crashes"] for r in mine), sum(r["hangs"] for r in mine)]
        lines.append(f"| {file or 'all'} | " + " | ".join(map(str, cells)) + " |")
    lines += ["", "Faults by which the prover believes most:", "", "| file:line | fault | false statements it believes | accepted |", "|---|---|---|---|"]
    for r in sorted(rows, key=lambda r: (-r["accepted"], -r["believed"]))[:25]:
        if r["believed"] or r["accepted"]:
            what = r["what"].replace("|", "\\|")
            lines.append(f"| {r['file']}:{r['line']} | {what} | {r['believed']} | {r['accepted']} |")
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--per-file", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--false", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--sources", nargs="*", default=[], help="of verifier/; all that are not trusted")
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    start, rows = time.time(), []
    with tempfile.TemporaryDirectory() as name:
        work = options.work or pathlib.Path(name) / "work"
        build = Build(options.build, work, options.per_file, options.seed, options.sources)
        folder = pathlib.Path(name) if not options.work else work / "corpus"
        folder.mkdir(exist_ok=True)
        corpus = Corpus(options.build, folder, options.seed, options.false)
        truths = corpus.truths()
        print(f"{len(build.faults)} faults, {truths.count('false')} false and {truths.count('true')} true statements, "
              f"{time.time() - start:.0f} s", flush=True)
        for fault in build.faults:
            if options.only and fault.number not in options.only:
                continue
            begin = time.time()
            answers, ended = run(build.judge, corpus.files, fault.number)
            rows.append(row(fault, truths, answers, ended))
            print(json.dumps({**rows[-1], "seconds": round(time.time() - begin, 1)}), flush=True)
            for i in rows[-1]["which"]:
                print(f"ACCEPTED: {corpus.files[i].name}\n{corpus.files[i].read_text()}", flush=True)
    accepted = sum(r["accepted"] for r in rows)
    if options.page:
        write_page(options.page, rows, truths, build, options.seed, time.time() - start)
    print(f"{len(rows)} faults: {accepted} false statements accepted by the kernel; by "
          f"{sum(r['believed'] > 0 for r in rows)} faults the prover believes something false")
    return 5 if accepted else 0


if __name__ == "__main__":
    sys.exit(main())
