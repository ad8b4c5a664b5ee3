"""Asks cvc5 the lemmas of certificates, and the kernel's obligations, that Z3 has proved.

usage: certificates.py FOLDER_OR_FILE... [--timeout MS] [--least PERCENT]

cvc5 must disagree with none and confirm at least PERCENT of them; what it does
not decide is listed.
"""

import argparse
import pathlib
import sys

import cvc5


def lemmas(text: str):
    """Title and script of each (push) .. (pop) of a certificate."""
    title, lines = "", None
    for line in text.splitlines():
        if line.startswith("; "):
            title = line[2:]
        elif line.startswith("(push"):
            lines = []
        elif line.startswith("(pop"):
            yield title, "\n".join(lines)
            lines = None
        elif lines is not None:
            lines.append(line)


def ask(script: str, timeout: int) -> str:
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(timeout))
    solver.setLogic("ALL")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "lemma")
    symbols = parser.getSymbolManager()
    answer = "unknown"
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return answer
        reply = str(command.invoke(solver, symbols)).strip()
        if reply.startswith("(error"):
            raise SystemExit(f"cvc5 does not accept the lemma: {reply}\n{script}")
        if reply:
            answer = reply


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("paths", nargs="+", type=pathlib.Path)
    options.add_argument("--timeout", type=int, default=3000)
    options.add_argument("--least", type=float, default=90.0)
    arguments = options.parse_args()
    files = []
    for path in arguments.paths:
        files += sorted(path.glob("**/*.smt2")) if path.is_dir() else [path]
    total = confirmed = disagreed = 0
    for file in files:
        for title, script in lemmas(file.read_text()):
            answer = ask(script, arguments.timeout)
            total += 1
            confirmed += answer == "unsat"
            disagreed += answer == "sat"
            if answer != "unsat":
                print(f"{file.name}: {title}: {answer}")
    share = 100.0 * confirmed / total if total else 100.0
    print(f"{len(files)} certificates, {total} lemmas: {confirmed} confirmed ({share:.1f} %), {disagreed} disagreed")
    return 0 if disagreed == 0 and share >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
