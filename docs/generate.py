"""Writes the pages of docs/ that are made from the code.

usage: ./dev docs [--check]

Operators.md from the operators' TableGen, Passes.md from mlc-opt,
CommandLine.md from each tool's --help, OnnxOperators.md from the importer and
the onnx package, Audit.md from mlc-rules audit, ClusterFiles.md from the cluster
files, rules/*.md from the rule files.
--check writes nothing and names the
pages that are not current.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import onnx_page
import rule_pages

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLVM = pathlib.Path("/usr/lib/llvm-22")
NOTE = "<!-- Made by `./dev docs`; edit {source} instead. -->\n"

OTHER_TOOLS = ["mlc-run", "mlc-verify", "mlc-check", "mlc-eval", "mlc-translate"]


def output(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return done.stdout


def without_generic(text):
    """Help without the program's path and the options that every tool has."""
    text = re.sub(r"\nGeneric Options:\n(?:\n|  .*\n)*", "\n", text)
    text = re.sub(r"^OVERVIEW: .*\n", "", text)
    lines = [re.sub(r"(USAGE|usage): \S*/", r"\1: ", line).rstrip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def commands_of(tool):
    """The subcommands that a tool's help lists."""
    listed = re.search(r"SUBCOMMANDS:\n\n(.*?)\n\n", output(tool, "--help"), re.S).group(1)
    return re.findall(r"^  ([\w-]+) +- ", listed, re.M)


def operators(build):
    """One section per operator, families in alphabetical order of their names."""
    text = output(LLVM / "bin/mlir-tblgen", "-gen-op-doc", "-dialect=mlc", f"-I{ROOT}",
                  f"-I{LLVM}/include", ROOT / "dialects/Graph/Ops.td")
    text = re.sub(r"<!--.*?-->\n", "", text)
    text = re.sub(r"\n(Traits|Interfaces|Effects): .*\n", "\n", text)
    text = re.sub(r"\nSyntax:\n\n```\n.*?```\n", "\n", text, flags=re.S)
    text = re.sub(r"### `(mlc\.\w+)` \(.*\)", r"## `\1`", text)
    text = re.sub(r"#### ", "### ", text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return (NOTE.format(source="dialects/Graph/*.td") + "# Operators of the `mlc` dialect\n\n"
            "Each is defined once, in index notation, beside its declaration in `dialects/Graph`; "
            "shapes, code,\nvalues, proofs and costs are derived from that definition "
            "(docs/AddAnOp.md).\n\n" + text.strip() + "\n")


def passes(build):
    """Our passes with their options, from the driver that runs them."""
    found = []
    for line in output(build / "bin/mlc-opt", "--help").splitlines():
        start = re.match(r"^      --(mlc-[\w-]+)\s+- (.*)$", line)
        option = re.match(r"^        --([\w-]+)(=\S+)?\s+- (.*)$", line)
        if start:
            found.append([start.group(1), start.group(2).strip(), []])
        elif option and found and found[-1] is not None:
            found[-1][2].append((option.group(1) + (option.group(2) or ""), option.group(3).strip()))
        elif found and line.startswith("      --"):
            found.append(None)
    text = NOTE.format(source="the pass") + "# Passes\n\nRun one with `mlc-opt --<pass> FILE.mlir`.\n"
    for entry in filter(None, found):
        name, summary, options = entry
        text += f"\n## `--{name}`\n\n{summary}\n"
        if options:
            text += "\n" + "".join(f"- `{option}`: {what}\n" for option, what in options)
    return text


def command_line(build):
    text = NOTE.format(source="tools/, runtime/ExitCodes.def and runtime/RunCommand.cpp") + "# The command line\n"
    text += ("\nErrors go to stderr as `mlc: error: FILE: NODE: what; remedy`; output files appear "
             "whole or not\nat all. Where a flag of one value is given several times, the last one counts. Exit codes are alike in all tools:\n\n| code | meaning |\n|---|---|\n")
    codes = re.findall(r'^MLC_EXIT\(\w+, (\d+),\s*"(.*?)"\)', (ROOT / "runtime/ExitCodes.def").read_text(), re.M)
    text += "".join(f"| {code} | {meaning} |\n" for code, meaning in codes)
    for tool in ("mlc", "mlc-rules"):
        for command in commands_of(build / "bin" / tool):
            shown = without_generic(output(build / "bin" / tool, command, "--help"))
            text += f"\n## `{tool} {command}`\n\n```\n{shown}```\n"
    for tool in OTHER_TOOLS:
        shown = without_generic(output(build / "bin" / tool, "--help"))
        text += f"\n## `{tool}`\n\n```\n{shown}```\n"
    text += ("\n`mlc-opt` runs passes on MLIR files (Passes.md; `mlc-opt --help` has upstream's as well), "
             "`mlc-lsp-server` serves\neditors (Embed.md).\n")
    return text


def audit(build):
    return NOTE.format(source="test/rules/literature.mlir or docs/rule_pages.py") + rule_pages.audit(build, ROOT)


def onnx_operators(build):
    return NOTE.format(source="passes/Import or docs/onnx_page.py") + onnx_page.page(build)


def amount(value):
    if isinstance(value, list):
        return ", ".join(f"{ranks}: {rate:.4g}" for ranks, rate in value)
    return f"{value:.4g}"


def sourced(value, path=""):
    """Path, value and source of each number of a cluster file."""
    if isinstance(value, dict) and set(value) == {"value", "source"}:
        yield path, amount(value["value"]), value["source"]
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(value, list) and isinstance(inner, dict):
            key = inner.get("name", key)
        yield from sourced(inner, f"{path} {key}".strip())


def cluster_files(build):
    folder = ROOT / "simulator/cluster"
    text = NOTE.format(source="simulator/cluster/machines/*.json and simulator/cluster/Constants.def")
    text += ("# The clusters that ship with mlc\n\nEach is `cluster:NAME` for `mlc inspect` and `mlc calibrate` ([Clusters.md](Clusters.md)). "
             "Seconds, bytes and flops a second.\n")
    for path in sorted((folder / "machines").glob("*.json")):
        cluster = json.loads(path.read_text())
        nodes = ", ".join(f"{row['count']} of {row['ranks']} {row['device']}" for row in cluster["nodes"])
        text += f"\n## `cluster:{cluster['name']}`\n\n{cluster['description']}. Nodes: {nodes}.\n\n| number | value | source |\n|---|---|---|\n"
        text += "".join(f"| {name} | {value} | {source} |\n" for name, value, source in sourced(cluster))
    text += ("\n## Constants of training\n\nThe keys of `training`, with the value of a file that does not have one. A fit holds to "
             "`held` constants ten times as strongly.\n\n| key | value | held | meaning |\n|---|---|---|---|\n")
    rows = re.findall(r'^MLC_CONSTANT\(\w+, "(\w+)", ([\d.e-]+), (\d+), "(.*)"\)$', (folder / "Constants.def").read_text(), re.M)
    text += "".join(f"| `{key}` | {start} | {'yes' if held == '10' else ''} | {meaning} |\n" for key, start, held, meaning in rows)
    return text


PAGES = {"Operators.md": operators, "OnnxOperators.md": onnx_operators, "Passes.md": passes, "CommandLine.md": command_line, "Audit.md": audit,
         "ClusterFiles.md": cluster_files}


def rules(build):
    note = NOTE.format(source="rewrites/*.mlir, or docs/rule_pages.py")
    return {f"rules/{name}": text for name, text in rule_pages.shipped(build, ROOT, note).items()}


def main():
    parser = argparse.ArgumentParser(prog="./dev docs", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help="write nothing; name pages that are old")
    options = parser.parse_args()
    build, old = pathlib.Path(options.build), []
    made = {**{name: make(build) for name, make in PAGES.items()}, **rules(build)}
    for path in (ROOT / "docs/rules").glob("*.md"):
        if f"rules/{path.name}" not in made:
            old.append(f"rules/{path.name}")
            if not options.check:
                path.unlink()
    for name, text in made.items():
        path = ROOT / "docs" / name
        if path.exists() and path.read_text() == text:
            continue
        old.append(name)
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if options.check and old:
        print(f"not current: {', '.join(old)}; run ./dev docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
