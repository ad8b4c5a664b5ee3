"""docs/Trust.md names every file of the proof checker, with how many lines it has."""

import re

SLACK = 60  # lines that a file may have changed by since it was counted


def table(page):
    """Files by name, with their lines: `Check 494` of the row of the kernel is kernel/Check."""
    for row in re.findall(r"^\| (.+?) \| (.+?) \| ([\d,]+) \|$", page, re.M):
        for cell in row[1].split(", "):
            name, lines = cell.rsplit(" ", 1)
            yield ("kernel/" if row[0] == "the kernel" else "") + name, int(lines)


def test_the_table_is_current(tools):
    folder = tools.source / "verifier"
    text = (folder / "CMakeLists.txt").read_text()
    sources = re.search(r"mlc_compiler_library\(MLCProofKernel\n(.*?)\n  LINK ", text, re.S).group(1).split()
    said = dict(table((tools.source / "docs/Trust.md").read_text()))
    assert {s.removesuffix(".cpp") for s in sources} <= set(said)
    for name, lines in said.items():
        files = [folder / f"{name}{suffix}" for suffix in (".h", ".cpp")]
        found = sum(len(f.read_text().splitlines()) for f in files if f.exists())
        assert found and abs(found - lines) <= SLACK, f"{name} has {found} lines"
