"""Every operator by every size (splits.py), split over N ranks: proved for every N, and run on parts that are not alike.

usage: sweep.py [--write] [--build DIR] [NAME...]

Prints what is not as docs/Sharding.md says, after all proofs and all runs (sizes 4, 5 and 7 over 2, 3 and 4 ranks);
--write writes the page, or renews the rows of the functions that are named. Five minutes on two cores.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import splits  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "Sharding.md"
SIZES, RANKS, LARGE = (4, 5, 7), (2, 3, 4), 4

# Why some are not proved. All of them run.
UNKNOWN = {
    "reduce_prod": "a product of products", "arg_max": "a position among maxima of maxima",
    "arg_min": "a position among minima of minima", "top_k": "an operator without definition",
    "resize": "a position that is a rounded float", "resize_linear": "a position that is a rounded float",
    "convnet": "several layers with a reshape by two sizes among them",
}


def pairs():
    return [(name, symbol) for name, function in splits.functions().items() for symbol in function.factors()]


class Tools:
    def __init__(self, build):
        self.build = pathlib.Path(build)

    def run(self, tool, *arguments):
        return subprocess.run([self.build / "bin" / tool, *map(str, arguments)], capture_output=True, text=True, timeout=600)


class Failure(Exception):
    pass


def partitioned(tools, folder, text):
    """The file of what each rank carries out."""
    whole, rank = folder / "sharded.mlir", folder / "rank.mlir"
    whole.write_text(text)
    done = tools.run("mlc-opt", whole, "--mlc-partition", "-o", rank)
    if done.returncode != 0:
        raise Failure(done.stderr)
    return rank


def judge(tools, folder, function, symbol, least, program):
    """mlc-verify's answer about what ranks do that carry out a program."""
    before, rank, after = folder / "before.mlir", folder / "rank.mlir", folder / "after.mlir"
    before.write_text(function.question(symbol, least=least))
    rank.write_text(program)
    done = tools.run("mlc-opt", rank, "--mlc-stack-ranks", "-o", after)
    if done.returncode != 0:
        raise Failure(done.stderr)
    done = tools.run("mlc-verify", before, after, "--json")
    if done.returncode not in (0, 5, 6):
        raise Failure(done.stderr)
    return json.loads(done.stdout)


def exchanges_of(program):
    """What is gathered of what ranks made says so: else the operator is carried out whole behind it."""
    found = re.findall(r"= dist\.(\w+) %(\w+)", program)
    return ", ".join(name + " of results" * (name == "all_gather" and not operand.startswith("arg"))
                     for name, operand in found) or "nothing"


def made(tools, folder, function, symbol):
    """What a rank carries out, what is exchanged in it, and how many elements a part has more than its symbol says: where
    parts may be so small that neighbours do not have what windows read, the operator is carried out whole."""
    programs = [partitioned(tools, folder, function.question(symbol, "N", least)).read_text() for least in (0, LARGE)]
    exchanges = [exchanges_of(program) for program in programs]
    if "halo" not in exchanges[1]:
        return programs[0], exchanges[0], 0
    return programs[1], f"{exchanges[1]} (parts of more than {LARGE})", LARGE


def prove(tools, folder, function, symbol):
    """What ranks exchange, and mlc-verify's answer."""
    program, exchanges, least = made(tools, folder, function, symbol)
    return exchanges, judge(tools, folder, function, symbol, least, program)


def is_by_parts(exchanges):
    """Whether the operator was split: what is gathered first is carried out whole."""
    return not re.search("all_gather(?! of results)", exchanges)


#===--- Runs -----------------------------------------------------------------===


def write_inputs(folder, function, sizes):
    """Numbers of few digits, in files; as the arguments' assumptions are."""
    numbers, files = np.random.default_rng(7), []
    dtypes = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": bool, "i32": np.int32, "i64": np.int64,
              "ui64": np.uint64}
    for i, (_, name, attributes) in enumerate(function.arguments):
        type_ = function.types[name]
        shape = [splits.value(dim, sizes) for dim in type_.dims]
        values = numbers.integers(-2, 3, shape)
        if type_.element.startswith("f"):
            values = values + numbers.integers(-3, 4, shape) / 8
        if re.search("positive|non-negative|non-zero", attributes) or type_.element.startswith("ui"):
            values = abs(values) + 1
        files.append(folder / f"in{i}.npy")
        np.save(files[-1], np.asarray(values).astype(dtypes[type_.element]))
    return [f"--input={file}" for file in files]


def evaluate(tools, folder, file, inputs, *flags):
    out = folder / ("ranks" if flags else "whole")
    done = tools.run("mlc-eval", file, "--domain=float64", f"--output-dir={out}", *inputs, *flags)
    if done.returncode != 0:
        raise Failure(done.stderr)
    return [np.load(out / f"{i}.npy") for i in range(len(list(out.iterdir())))]


def run(tools, folder, function, symbol, size, all_ranks):
    """Whether ranks together give what the function gives, for each number of ranks; nothing where it has no value."""
    sizes = function.sizes(symbol, size)
    if sizes is None:
        return None
    whole = folder / "whole.mlir"
    whole.write_text(function.instance(sizes))
    inputs = write_inputs(folder, function, sizes)
    expected = evaluate(tools, folder, whole, inputs)
    for ranks in all_ranks:
        rank = partitioned(tools, folder, function.instance(sizes, symbol, ranks))
        for one, other in zip(expected, evaluate(tools, folder, rank, inputs, "--ranks"), strict=True):
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True):
                raise Failure(f"{function.name} by {symbol} = {size} over {ranks} ranks: {other} instead of {one}")
    return True


#===--- The page -------------------------------------------------------------===


def rows(page):
    """What docs/Sharding.md says: of a function and a size, what is exchanged and the verdict."""
    return {(name, symbol): (exchanges, verdict) for name, symbol, exchanges, verdict in
            re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*?) \| (.*?) \|$", page, re.M)}


def line(name, symbol, exchanges, verdict):
    return f"| `{name}` | `{symbol}` | {exchanges} | {verdict} |"


def in_words(reason):
    """What of the prover's reason is words: no sums, which are of its own making."""
    words = itertools.takewhile(lambda part: not re.search(r"[%{}();\[\]|]|\d:", part), reason.split(": "))
    return ": ".join(words) or "no proof was found"


def told(name, answer):
    """The verdict, with why it is not known."""
    verdict = answer["verdict"]
    return f"unknown: {UNKNOWN.get(name) or in_words(answer['reason'])}" if verdict == "unknown" else verdict


HEAD = """<!-- Made by test/verifier/ranks/sweep.py --write. -->
# What is proved of partitioning each operator

Each row is an operator (a function of test/verifier/gradients/functions.mlir or test/verifier/ranks/operators.mlir) with one of its sizes
split over the N ranks of an axis. `--mlc-partition` makes the ranks' program, `--mlc-stack-ranks` stacks it, and the verifier compares the result with the
operator.

- *Proved* holds for every N and all sizes from 1 on, where all ranks' parts have the same size.
- *Unknown* means that there is neither a proof nor a counterexample; the row says why.
- all_gather of an operand means that the size is not a factor, so every rank runs the whole operator. all_gather *of results* gathers what ranks have
  computed from their parts.

Each row is also run, on sizes 4, 5 and 7 over 2, 3 and 4 ranks, and compared with the operator that is not split.
`.venv/bin/python test/verifier/ranks/sweep.py` proves and runs all rows; the full tests do all proofs and some of the runs.

{summary}

| function | size | ranks exchange | verdict |
|---|---|---|---|
"""


def write_page(found):
    """With what was found in place of what the page has."""
    said = {**(rows(PAGE.read_text()) if PAGE.exists() else {}), **found}
    said = {pair: said[pair] for pair in pairs() if pair in said}
    proved = sum(verdict == "proved" for _, verdict in said.values())
    parts = sum(is_by_parts(exchanges) for exchanges, _ in said.values())
    summary = (f"{len(said)} pairs of a function and a size: {proved} proved, {len(said) - proved} unknown; in {parts} "
               "ranks work on parts.")
    PAGE.write_text(HEAD.format(summary=summary) + "".join(line(*pair, *value) + "\n" for pair, value in said.items()))


def main():
    parser = argparse.ArgumentParser(usage="sweep.py [--write] [--build DIR] [NAME...]", description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write docs/Sharding.md")
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions (all)")
    options = parser.parse_args()
    tools, functions = Tools(options.build), splits.functions()
    chosen = [pair for pair in pairs() if not options.names or pair[0] in options.names]

    def answer(pair):
        name, symbol = pair
        with tempfile.TemporaryDirectory() as folder:
            try:
                exchanges, verdict = prove(tools, pathlib.Path(folder), functions[name], symbol)
                for size in SIZES:
                    run(tools, pathlib.Path(folder), functions[name], symbol, size, RANKS)
                return (exchanges, told(name, verdict)), None
            except Failure as failure:
                return None, f"{name} by {symbol}: {failure}"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = dict(zip(chosen, pool.map(answer, chosen)))
    wrong = [failure for _, failure in answers.values() if failure]
    found = {pair: one for pair, (one, _) in answers.items() if one and one[1] != "refuted"}
    wrong += [f"{name} by {symbol}: refuted" for (name, symbol), (one, _) in answers.items() if one and one[1] == "refuted"]
    if options.write:
        write_page(found)
    said = rows(PAGE.read_text()) if PAGE.exists() else {}
    wrong += [f"docs/Sharding.md does not say: {line(*pair, *one)}" for pair, one in found.items() if said.get(pair) != one]
    print("\n".join(wrong) or f"{len(found)} pairs as docs/Sharding.md says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
