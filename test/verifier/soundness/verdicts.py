"""usage: verdicts.py MLC_VERIFY FILE: mlc-verify must answer each statement of FILE as it says.

A statement begins with a line

    //--- ANSWER: why

and goes on to the next one. What stands before the first joins all of them
(types). Answers, of which several may be joined by ", ":

    proved, refuted, unknown, not proved, not refuted
    error                     exit code 3: the text is refused
    bit-exact, reassociating, value-changing
                              proved, with this float class
    not bit-exact             whatever else is said
    only where CONDITION      proved for fewer sizes than the types say, and
                              the answer names CONDITION
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 60  # seconds for a statement; none comes near it
KINDS = {0: "proved", 5: "refuted", 6: "unknown", 3: "error"}


def statements(text: str):
    shared, *rest = re.split(r"^//--- ", text, flags=re.M)
    for part in rest:
        title, body = part.split("\n", 1)
        answers, why = title.split(": ", 1)
        yield answers.split(", "), why, shared + body


def verdict(tool: str, text: str):
    """The kind of answer, its float class, and all that was printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "statement.mlir"
        file.write_text(text)
        try:
            run = subprocess.run([tool, "--json", file], capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return f"nothing within {LIMIT} s", "", ""
    kind = KINDS.get(run.returncode, f"exit code {run.returncode}")
    said = run.stdout + run.stderr
    label = json.loads(run.stdout).get("float_class", "") if kind == "proved" else ""
    return kind, label, said


def agrees(answer: str, kind: str, label: str, said: str) -> bool:
    if kind not in KINDS.values():
        return False
    if answer in KINDS.values():
        return answer == kind
    if answer in ("bit-exact", "reassociating", "value-changing"):
        return answer == label
    if answer.startswith("only where "):
        return answer.removeprefix("only where ") in said
    if answer.startswith("not "):
        return answer.removeprefix("not ") not in (kind, label) and kind != "error"
    raise SystemExit(f"no such answer: {answer!r}")


def main() -> int:
    tool, path = sys.argv[1], pathlib.Path(sys.argv[2])
    count = wrong = 0
    for answers, why, text in statements(path.read_text()):
        kind, label, said = verdict(tool, text)
        count += 1
        for answer in answers:
            if not agrees(answer, kind, label, said):
                wrong += 1
                print(f"{path.name}: must be {answer}: {why}\n{said.strip() or kind}\n")
    print(f"{count} statements, {wrong} wrong")
    return 0 if count and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
