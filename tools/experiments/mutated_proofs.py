"""Gives changed proofs to the kernel: of false statements it may accept none.

usage: mutated_proofs.py [--build FOLDER] [--checker FOLDER] [--count N] [--seed S] [--keep FOLDER]

Proofs of the literature's and the shipped rules, and of facts of functions,
types and digits (test/verifier/facts), are changed in one to three places, and
given for false statements (rules of the literature, mutants of shipped and of
repaired rules, near misses of facts) and for the true one that they are of. The
kernel (mlc-check) must accept none for a false one, end by itself, and not
crash. --checker: another build whose kernel is asked, as one with sanitizers
(build-asan). What fails is written to FOLDER. Exit code 5 where something does.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/verifier/facts"))
import statements as facts  # noqa: E402

LIMIT = 900  # seconds for one run of several hundred checks
SLOW = 60  # seconds for one check; the slowest unchanged one takes less than 1


def tokens_of(text):
    return re.findall(r'"[^"]*"|[()]|[^()\s"]+', text)


def end_of_list(tokens, i):
    """Behind the list that begins at i; changed, lists may have no end."""
    depth = 0
    while i < len(tokens):
        depth += (tokens[i] == "(") - (tokens[i] == ")")
        i += 1
        if depth == 0:
            break
    return i


def lists(tokens, word=None):
    return [i for i in range(1, len(tokens) - 1) if tokens[i] == "(" and word in (None, tokens[i + 1])]


def other_list(tokens, i, others, rng):
    """What comes in place of the list that begins at i: nothing, itself twice or later, another one of this proof, or one
    that begins with the same word, of this proof or of another."""
    end = end_of_list(tokens, i)
    part = tokens[i:end]
    found = [(tokens, lists(tokens)), (tokens, lists(tokens, tokens[i + 1])), (others, lists(others, tokens[i + 1]))]
    ways = [[], part + part, tokens[end:end + 1] + part]
    for source, starts in found:
        if starts:
            start = rng.choice(starts)
            ways.append(source[start:end_of_list(source, start)])
    return end, rng.choice(ways)


def mutated(text, rng, other=""):
    """A proof with one to three changes: numbers, words, lists (other_list), seldom anything for anything."""
    tokens, others = tokens_of(text), tokens_of(other)
    for _ in range(rng.randint(1, 3)):
        starts = lists(tokens)
        words = [i for i, token in enumerate(tokens) if token not in "()"]
        numbers = [i for i in words if re.fullmatch(r"#?-?\d+", tokens[i])]
        kind = rng.random()
        if kind < 0.35 and numbers:
            i = rng.choice(numbers)
            mark = "#" if tokens[i][0] == "#" else ""
            tokens[i] = mark + str(max(0, int(tokens[i].lstrip("#")) + rng.choice([-1, 1, 2])))
        elif kind < 0.5 and words:
            i = rng.choice(words)
            alike = [j for j in words if (tokens[j] in "+-*" or tokens[j][0].isalpha()) == tokens[i][0].isalpha()]
            tokens[i] = tokens[rng.choice(alike or words)]
        elif kind < 0.95 and starts:
            i = rng.choice(starts)
            end, part = other_list(tokens, i, others, rng)
            tokens[i:end] = part
        elif tokens:
            tokens[rng.randrange(len(tokens))] = rng.choice(tokens)
    return " ".join(tokens)


class Statements:
    """Rules as pairs of functions: those that are true, and false ones with the true one that each was made of."""

    def __init__(self, build, folder, mutants, seed):
        self.rules, self.texts = build / "bin/mlc-rules", {}
        self.proofs, self.origins = {}, {}
        literature, repaired = (ROOT / "test/rules" / name for name in ("literature.mlir", "repaired.mlir"))
        for number, files in enumerate([[literature], []] if mutants else [[literature]]):
            expected = {r["name"]: r.get("expect") for r in self.json("list", *files)}
            self.run("proofs", *files, "--out", folder / str(number))
            self.run("list", *files, "--pairs", folder / "pairs.mlir")
            for name, text in self.pairs(folder / "pairs.mlir"):
                proof = folder / str(number) / f"{name}.proof"
                if proof.exists() and expected[name] != "refuted":
                    self.texts[name], self.proofs[name] = text, proof.read_text()
                elif expected[name] == "refuted":
                    self.texts[name], self.origins[name] = text, ""
        for files, count in [([], mutants), ([repaired], mutants // 4)] if mutants else []:
            self.run("check", *files, "--mutants", count, "--seed", seed, "--write-mutants", folder / "pairs.mlir")
            for name, text in self.pairs(folder / "pairs.mlir"):
                self.texts[name], self.origins[name] = text, name.split("_of_", 1)[1]
        self.add_facts(folder)

    def add_facts(self, folder):
        truths = {name: line for name, line in facts.TRUTHS.items() if not line.startswith("arith ")}
        (folder / "facts.mlir").write_text("".join(facts.pair(name, line) for name, line in truths.items()))
        self.run("proofs", folder / "facts.mlir", "--out", folder / "facts")
        for name, line in truths.items():
            self.texts[name] = facts.pair(name, line)
            self.proofs[name] = (folder / f"facts/{name}.proof").read_text()
        for origin, name, line in facts.near_misses():
            if origin in truths:
                self.texts[name], self.origins[name] = facts.pair(name, line), origin

    def run(self, *arguments):
        done = subprocess.run([self.rules, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode not in (0, 6):
            raise SystemExit(f"mlc-rules {arguments[0]}: exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    @staticmethod
    def pairs(file):
        """Name and text of each pair; functions end with a brace at the start of a line."""
        functions = re.findall(r"^func\.func @.*?^}\n", file.read_text(), flags=re.M | re.S)
        for before, after in zip(functions[::2], functions[1::2]):
            yield re.match(r"func\.func @(\w+)_before\(", before)[1], before + after


class Checks:
    """Has proofs checked, many in one process, and says what each became."""

    def __init__(self, checker, folder):
        self.checker, self.folder = checker, folder

    def run(self, batch):
        """Of (name, statement, proof): for each its verdict, reason and seconds."""
        statements = self.folder / "batch.mlir"
        statements.write_text("".join(text for _, text, _ in batch))
        for name, _, proof in batch:
            (self.folder / f"{name}.proof").write_text(proof)
        try:
            done = subprocess.run([self.checker, statements, self.folder, "--json"],
                                  capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return self.halves(batch, "hang", f"nothing within {LIMIT} s")
        if done.returncode not in (0, 6) or done.stderr:
            return self.halves(batch, "crash", f"exit code {done.returncode}: {done.stderr[-2000:]}")
        answers = {a["name"]: a for a in json.loads(done.stdout)}
        return [(answers[n]["verdict"], answers[n].get("reason", ""), answers[n]["seconds"]) for n, _, _ in batch]

    def halves(self, batch, verdict, reason):
        if len(batch) == 1:
            return [(verdict, reason, 0.0)]
        middle = len(batch) // 2
        return self.run(batch[:middle]) + self.run(batch[middle:])


def rounds(statements, rng, count):
    """Batches of (name, statement, proof) that have `count` proofs together."""
    true, names = sorted(statements.proofs), sorted(statements.texts)
    while count > 0:
        batch = []
        for name in rng.sample(names, min(count, len(names))):
            own = name if name in statements.proofs else statements.origins[name]
            if own not in statements.proofs or (name not in statements.proofs and rng.random() < 0.3):
                own = rng.choice(true)
            text = mutated(statements.proofs[own], rng, statements.proofs[rng.choice(true)])
            batch.append((name, statements.texts[name], text))
        count -= len(batch)
        yield batch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--checker", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--mutants", type=int, default=300, help="of shipped rules; 0: the literature's rules alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    table, reasons, slowest, bad = collections.Counter(), collections.Counter(), 0.0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        statements = Statements(options.build, folder, options.mutants, options.seed)
        checks = Checks((options.checker or options.build) / "bin/mlc-check", folder)
        print(f"{len(statements.proofs)} true statements with proofs, {len(statements.origins)} false ones", flush=True)
        for batch in rounds(statements, rng, options.count):
            for (name, text, proof), (verdict, reason, seconds) in zip(batch, checks.run(batch)):
                truth = "true" if name in statements.proofs else "false"
                table[truth, verdict] += 1
                reasons[re.sub(r"\d+", "N", reason)[:60]] += 1
                slowest = max(slowest, seconds)
                if (truth, verdict) == ("false", "accepted") or verdict in ("crash", "hang") or seconds > SLOW:
                    bad += 1
                    print(f"{name}: {truth}, {verdict}, {seconds:.1f} s: {reason}", flush=True)
                    if options.keep:
                        options.keep.mkdir(parents=True, exist_ok=True)
                        (options.keep / f"{bad}-{name}.mlir").write_text(text)
                        (options.keep / f"{bad}-{name}.proof").write_text(proof)
    for (truth, verdict), number in sorted(table.items()):
        print(f"{truth:6} {verdict:9} {number}")
    for reason, number in reasons.most_common(12):
        print(f"  {number:6} {reason or '(accepted)'}")
    print(f"{sum(table.values())} proofs, slowest {slowest:.2f} s, {bad} bad")
    return 5 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
