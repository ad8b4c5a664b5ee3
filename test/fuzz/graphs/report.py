"""What a campaign says: progress, a page for each kept failure, the table at the end."""

import collections
import dataclasses
import sys

import onnx


@dataclasses.dataclass
class Record:
    seed: int
    failures: list
    known: list  # failures of causes that are open
    outcome: object = None
    nodes: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    broken: str = ""
    kept: bool = False


def say(text):
    print(text, file=sys.stderr, flush=True)


def progress(records, number):
    say(f"{len(records)} of {number}: {sum(bool(r.failures) for r in records)} fail, "
        f"{sum(r.seconds for r in records) / len(records):.2f} s of CPU each")


def explain(folder, seed, failure, small, options):
    again = f"./dev fuzz-graphs 1 --seed {seed} --modes {options.modes}"
    if options.only:
        again += f" --only {','.join(options.only)}"
    lines = [f"# {failure.kind}: {failure.stage}", "", f"Again: `{again}`, or for the reduced graph"
             " `./dev fuzz-graphs --replay " + f"build/fuzz-graphs/{seed}/small.onnx`", "", "```",
             failure.text, "```"]
    if small:
        lines += ["", f"Reduced ({small[2].stage}):", "```", onnx.printer.to_text(small[0])[:4000],
                  "```", "```", small[2].text, "```"]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def table(records):
    """Counts by operator and element type, by judge, by failure."""
    nodes = collections.defaultdict(collections.Counter)
    failing = collections.Counter()
    for record in records:
        for op, type in record.nodes:
            nodes[op][type] += 1
        if record.failures:
            failing.update({op for op, _ in record.nodes})
    types = sorted({t for counts in nodes.values() for t in counts})
    width = max([len(op) for op in nodes] or [1])
    lines = ["nodes by operator and element type; the last column: graphs with it that failed",
             f"{'':{width}} " + " ".join(f"{t:>8}" for t in types) + "     fail"]
    for op in sorted(nodes):
        lines.append(f"{op:{width}} " + " ".join(f"{nodes[op][t] or '':>8}" for t in types)
                     + f" {failing[op] or '':>8}")
    judged = collections.Counter()
    for record in records:
        if record.outcome:
            judged.update(record.outcome.judged)
            judged["undecided"] += record.outcome.undecided
    lines += ["", "elements compared: " + ", ".join(f"{k} {n}" for k, n in sorted(judged.items()))]
    entries = collections.Counter(e for r in records if r.outcome for e in set(r.outcome.explained))
    if entries:
        lines += ["", "graphs with differences of the judges that docs/Judges.md explains: "
                  + ", ".join(f"{name} {n}" for name, n in sorted(entries.items()))]
    refused = collections.Counter(
        line for r in records if r.outcome and r.outcome.unsupported
        for line in [reason(r.outcome.unsupported)])
    if refused:
        lines += ["", f"not supported ({sum(refused.values())} graphs):"]
        lines += [f"{n:6} {text}" for text, n in refused.most_common(20)]
    return "\n".join(lines)


def reason(text):
    """The last part of the first line that names a node."""
    for line in text.splitlines():
        if "(opset" in line:
            op = line.split("(opset")[0].rsplit(": ", 1)[-1].strip()
            return f"{op}: {line.rsplit(': ', 1)[-1][:110]}"
    return text.splitlines()[0][:140] if text else ""


def failures(records, cause):
    counts, example = collections.Counter(), {}
    for record in records:
        for key in {cause(f) for f in record.failures}:
            counts[key] += 1
            example.setdefault(key, record.seed)
    return "\n".join(f"{n:6} {kind} in {stage}, first with seed {example[kind, stage, text]}: {text}"
                     for (kind, stage, text), n in counts.most_common())
