"""docs/Trust.md names every file of the proof checker, with how many lines it has."""

import re

SLACK = 60  # lines that a file may have changed by since it was counted


REPLAY = "what a trail says and what follows from it"  # the row of files of rewrites/


def table(page):
    """Files by name, with their lines: `Check 494` of the row of the kernel is verifier/kernel/Check, of others
    verifier/read/Check; `linalg/Loops 101` is verifier/linalg/Loops."""
    for row in re.findall(r"^\| (.+?) \| (.+?) \| ([\d,]+) \|$", page, re.M):
        folder = "rewrites/" if row[0] == REPLAY else "verifier/"
        home = "" if row[0] == REPLAY else "kernel/" if row[0] == "the kernel" else "read/"
        for cell in row[1].split(", "):
            name, lines = cell.rsplit(" ", 1)
            yield folder + ("" if "/" in name else home) + name, int(lines)


def test_the_table_is_current(tools):
    said = dict(table((tools.source / "docs/Trust.md").read_text()))
    for folder, library in (("verifier", "MLCProofKernel"), ("rewrites/ProofLog", "MLCReplay")):
        text = (tools.source / folder / "CMakeLists.txt").read_text()
        sources = re.search(rf"mlc_compiler_library\({library}\n(.*?)\n  LINK ", text, re.S).group(1).split()
        assert {f"{folder}/{s.removesuffix('.cpp')}" for s in sources} <= set(said)
    for name, lines in said.items():
        files = [tools.source / f"{name}{suffix}" for suffix in (".h", ".cpp")]
        found = sum(len(f.read_text().splitlines()) for f in files if f.exists())
        assert found and abs(found - lines) <= SLACK, f"{name} has {found} lines"


def test_replay_includes_no_engine(tools):
    """What replays a trail believes nothing of what wrote it."""
    for file in (tools.source / "rewrites/ProofLog").glob("*.[hc]*"):
        for name in re.findall(r'#include "(rewrites/[^"]+)"', file.read_text()):
            assert name.startswith(("rewrites/ProofLog/", "rewrites/Rules/Rule.h")), f"{file.name} includes {name}"
