"""The pages about rules: what the audit says of the literature's rules, and rules
with a picture of both sides: ours for generate.py, anybody's by `./dev rule-pages`."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

AUDIT_HEAD = """# The literature's rules, audited

`mlc-rules audit FILE` judges anybody's rules: proved for all sizes, refuted by a small example that
the evaluator has run, or unknown with the reason. For a refuted rule it looks for the condition under which the rule
does hold, and proves that. It decides by itself; the table below is its output on {file}, which holds
{count} rewrites from the literature in our words, right and wrong: {proved} proved, {refuted} refuted, {unknown} unknown,
every answer as expected (test/tools/mlc-rules/test_audit.py).

## Writing rules down

A file holds `rule.def`s: two functions over tensors whose dims, integer attributes and real attributes may be
symbols, and the condition. Operators and their attributes are in docs/Operators.md.

```mlir
!x = tensor<?x?xf32, #mlc.dims<[n, k]>>
rule.def @relu_of_scaled "relu(t x) = t relu(x)" {{
  rule.require k ge 1            // a comparison of integer expressions, joined by `or`; also `s divides h`
  rule.assume_real t ge 0.0      // a bound on a real parameter
  // On the elements of an argument: rule.constant, positive, nonnegative, nonzero, finite, allequal.
  func.func @before(%x: !x {{rule.constant}}) -> !x {{ ... }}
  func.func @after(%x: !x) -> !x {{ ... }}
}}
```

or pairs of functions `@NAME_before` and `@NAME_after` with conditions as `mlc-verify` takes them
(verifier/read/AssumeText.h). `--json` gives for each rule: name, text, before, after, condition, verdict, seconds;
for a proved rule its float_class; for a refuted rule counterexample, holds_if and holds_only_if (whether no weaker condition is
known); for an unknown rule the reason. The exit code is 0 when all are proved, 5 when one is refuted, else 6.

## What it says

About a hundred valid examples are drawn for each condition. "Only if" means that none of them lies outside the condition; "if" means
that some do. In examples, the two numbers are an element before and after.
"""

INDEX_HEAD = """# Rules

{count} rules in {families} families, by the operator in which the left side ends. Each page has the condition, the proof and a
picture of both sides. The float class says what a rule may do to rounding: bit-exact (the same operations in the same
order), reassociating (ring axioms), value-changing (a term is added, dropped or cancelled, which only finite inputs
allow). Proofs are for all sizes that the condition admits.
"""

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run_json(build, *arguments):
    done = subprocess.run([build / "bin/mlc-rules", *map(str, arguments), "--json"], capture_output=True,
                          text=True)
    if done.returncode not in (0, 5, 6):
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").strip()


def example(text):
    """A counterexample in one line."""
    lines = [line.strip() for line in text.strip().splitlines()]
    text = "; ".join(lines)
    # Small sizes read like a sentence.
    return re.sub(r"element \[([^\]]*)\] of result (\d+): ", lambda m: f"at [{m[1]}]" +
                  (f" of result {m[2]}" if m[2] != "0" else "") + ": ", text)


def condition_of(rule):
    """Under which a refuted rule does hold."""
    if rule["verdict"] != "refuted":
        return ""
    if rule["holds_if"] is None:
        return "none found"
    return ("only if " if rule["holds_only_if"] else "if ") + rule["holds_if"]


def audit(build, root):
    file = "test/rules/literature.mlir"
    rules = run_json(build, "audit", root / file)
    count = {verdict: sum(r["verdict"] == verdict for r in rules)
             for verdict in ("proved", "refuted", "unknown")}
    text = AUDIT_HEAD.format(file=file, count=len(rules), **count)
    text += "\n| rule | source | condition as given | answer | holds | example against it |\n|---|---|---|---|---|---|\n"
    for rule in rules:
        text += "| " + " | ".join(cell(x) for x in [
            f"{rule['name']}: {rule['text']}", rule["source"], rule["condition"],
            rule["verdict"] + (f", {rule['float_class']}" if rule["verdict"] == "proved" else ""),
            condition_of(rule), example(rule.get("counterexample", "")),
        ]) + " |\n"
    return text


def parse_function(text):
    """The operators of a printed function: name, results, operands, attributes."""
    found = []
    for line in text.splitlines():
        match = re.match(r"\s*(%[\w#:, %]+) = (?:\"?)mlc\.(\w+)(?:\"?)\s*(.*)$", line)
        end = re.match(r"\s*return (.*?)(?: : .*)?$", line)
        if match:
            before_type = match[3].rsplit(" : (", 1)[0]
            attributes = re.search(r"\{(.*)\}", before_type)
            operands = re.findall(r"%[\w#]+", before_type.split("{")[0])
            found.append((match[2], match[1].split(":")[0], operands, attributes[1] if attributes else ""))
        elif end:
            found.append(("return", None, re.findall(r"%[\w#]+", end[1]), ""))
    return found


def short(attributes):
    """Attributes without the dialect's decoration."""
    text = re.sub(r"#mlc\.\w+<((?:[^<>]|<[^<>]*>)*)>", r"\1", attributes)
    text = re.sub(r"array<i64: ([^>]*)>", r"[\1]", text)
    text = re.sub(r" : \w+", "", text)
    text = re.sub(r"value = mlc\.compute.*", "", text)
    return text if len(text) <= 160 else text[:157] + "..."


def label(text):
    for old, new in (("&", "#amp;"), ('"', "'"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(old, new)
    return text


def drawing(side, text):
    """One side as a Mermaid subgraph: arguments round, results double."""
    lines = [f"  subgraph {side}", "    direction TB"]
    names = {}

    def node(value):
        name = value.split("#")[0]
        if name not in names:
            names[name] = f"{side}{len(names)}"
            lines.append(f"    {names[name]}([\"{label(name)}\"])")
        return names[name]

    for op, result, operands, attributes in parse_function(text):
        sources = [node(operand) for operand in operands]
        if op == "return":
            for i, source in enumerate(sources):
                lines.append(f"    {source} --> {side}r{i}(((\"result {i}\")))")
            continue
        own = f"{side}{len(names)}"
        names[result] = own
        what = label(op) + ("<br/>" + label(short(attributes)) if attributes else "")
        lines.append(f"    {own}[\"{what}\"]")
        lines += [f"    {source} --> {own}" for source in sources]
    return "\n".join(lines + ["  end"])


def family_of(rule):
    """The operator that makes the first result of the before side."""
    made = {}
    for op, result, operands, _ in parse_function(rule["before"]):
        if op == "return":
            return made.get(operands[0].split("#")[0], "argument")
        made[result] = op
    return "argument"


def sentence(text):
    return f"{text[:1].upper()}{text[1:]}."


def verdict_of(rule):
    if rule["verdict"] == "proved":
        return f"proved, {rule['float_class']}"
    if rule["verdict"] == "refuted":
        return f"refuted: {example(rule['counterexample'])}"
    return f"not proved, never applied: {rule['reason']}"


def section_of(rule):
    lowering = "- where mlc generates the code; a model for another runtime keeps the left side\n"
    return (f"\n## {rule['name']}\n\n{sentence(rule['text'])}\n\n- condition: {rule['condition'] or 'none'}\n"
            f"- {verdict_of(rule)}\n- {rule['origin']}, {rule['file']}\n{lowering if rule['lowering'] else ''}\n"
            f"```mermaid\nflowchart TB\n{drawing('before', rule['before'])}\n{drawing('after', rule['after'])}\n```\n"
            f"\n<details><summary>text</summary>\n\n```mlir\n{rule['before']}\n{rule['after']}\n```\n</details>\n")


def pages(rules, note):
    """By name: an index, and a page for each family of rules."""
    families = {}
    for rule in rules:
        families.setdefault(family_of(rule), []).append(rule)
    index = note + INDEX_HEAD.format(count=len(rules), families=len(families))
    made = {}
    for family in sorted(families):
        index += (f"\n## {family}\n\n| rule | condition | |\n|---|---|---|\n")
        text = note + f"# Rules whose left side ends in {family}\n"
        for rule in families[family]:
            text += section_of(rule)
            short_verdict = rule["float_class"] if rule["verdict"] == "proved" else rule["verdict"]
            index += (f"| [{rule['name']}]({family}.md#{rule['name']}): {cell(rule['text'])} | {cell(rule['condition'])} "
                      f"| {short_verdict} |\n")
        made[f"{family}.md"] = text
    return {"README.md": index, **made}


def rule_files(root):
    return sorted((root / "rewrites").glob("*.mlir")) + sorted((root / "rewrites/generated").glob("*.mlir"))


def shipped(build, root, note):
    """The pages of docs/rules."""
    rules = []
    for path in rule_files(root):
        found = run_json(build, "list", path)
        rules += [{**rule, "file": path.relative_to(root).as_posix()} for rule in found]
    return pages(rules, note)


def main():
    """Pages for anybody's rules, which are proved for them."""
    parser = argparse.ArgumentParser(prog="./dev rule-pages", description="An index of rules, and a page with a picture "
                                     "of each for every family. Rules that do not ship with mlc are proved first.")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, metavar="FOLDER", help="where pages go")
    parser.add_argument("sources", nargs="+", type=pathlib.Path, metavar="FILE|FOLDER", help="rules (.mlir)")
    options = parser.parse_args()
    files = [file for source in options.sources
             for file in (sorted(source.glob("*.mlir")) if source.is_dir() else [source])]
    if not files:
        print(f"dev: error: no rules (.mlir) in {', '.join(map(str, options.sources))}", file=sys.stderr)
        return 3
    rules = []
    for file in files:
        try:
            rules += [{**rule, "file": file.as_posix()} for rule in run_json(options.build, "verify", file)]
        except RuntimeError as problem:
            print(str(problem).strip(), file=sys.stderr)
            return 3
    options.output.mkdir(parents=True, exist_ok=True)
    for name, text in pages(rules, "").items():
        (options.output / name).write_text(text)
    print(f"{len(rules)} rules, {options.output / 'README.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
