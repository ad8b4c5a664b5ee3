"""Follows a page of docs/ literally, in a copy of the tree.

A block of such a page is for the file that the line above it names:

    In `FILE`, after the line that begins `TEXT`:     (or: before)
    In `FILE`, at the end:
    `FILE`:                                           (a new file)

What the blocks change is built with the commands of an existing build, which
stays as it is, and only that: what TableGen makes of changed files, the changed
sources and those that include what TableGen made, libraries and programs of
these. A source behind a header that only gained a declaration is left out; it
is most of a full build.
"""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^(?:In )?`(?P<file>[\w./-]+)`"
                   r"(?:, (?:(?P<side>after|before) the line that begins `(?P<line>[^\n]*)`|(?P<end>at the end)))?:\n\n"
                   r"```\w+\n(?P<text>.*?)^```$", re.M | re.S)


def blocks(page):
    """The blocks of a page's text that say where they go, as dicts."""
    return [match.groupdict() for match in BLOCK.finditer(page)]


def put(tree, block):
    """Puts a block where it says. Raises LookupError where no line, or more than
    one, is that place."""
    path = tree / block["file"]
    if not block["side"] and not block["end"]:
        if path.exists():
            raise LookupError(f"{block['file']} is there already; say where in it")
        path.write_text(block["text"])
        return
    lines = path.read_text().splitlines(keepends=True)
    if block["end"]:
        at = len(lines)
    else:
        found = [i for i, line in enumerate(lines) if line.strip().startswith(block["line"])]
        if len(found) != 1:
            raise LookupError(f"{block['file']}: {len(found)} lines begin with '{block['line']}'")
        at = found[0] + (block["side"] == "after")
    lines.insert(at, block["text"])
    path.write_text("".join(lines))


def copy(folder):
    """The files that git has or would take, in `folder`."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())


class Followed:
    """A copy of the tree with a page's blocks in it, `tree`, and a build of it that
    is the original one but for what was made anew, `build`."""

    def __init__(self, page, build, folder):
        self.original, self.tree, self.build = pathlib.Path(build).resolve(), folder / "tree", folder / "build"
        copy(self.tree)
        if (ROOT / ".venv").exists():  # commands name files in it
            (self.tree / ".venv").symlink_to(ROOT / ".venv")
        subprocess.run(["cp", "-rs", self.original, self.build], check=True)
        self.changed = set()  # paths in `tree`, and in `build` without its path
        for block in blocks((ROOT / page).read_text()):
            put(self.tree, block)
            self.changed.add(str(self.tree / block["file"]))

    def make(self, *programs):
        """Builds programs, by their paths in the build."""
        listed = subprocess.run(["ninja", "-C", self.original, "-t", "commands", *programs], capture_output=True,
                                text=True, check=True).stdout
        listed = listed.replace(str(self.original), str(self.build)).replace(str(ROOT), str(self.tree))
        for line in listed.splitlines():
            words = line.split()
            folder = pathlib.Path(words[1]) if words[0] == "cd" else self.build
            outputs = [folder / word for last, word in zip(words, words[1:]) if last in ("-o", "qc")]
            is_other = any(path.parent == self.build / "bin" and f"bin/{path.name}" not in programs for path in outputs)
            if not is_other and self._is_old(line, words):
                self._run(line, outputs, [folder / word for word in words if word.endswith(".d")])

    def _is_old(self, line, words):
        """Whether a command makes something else than it made of the original tree."""
        if any(word.endswith("mlir-tblgen") for word in words):
            folders = {str(pathlib.Path(word).parent) for word in words if word.endswith(".td")}
            return any(path.endswith(".td") and str(pathlib.Path(path).parent) in folders for path in self.changed)
        if "-c" in words:
            # Its file, a file that the program is told of, or what TableGen made for it.
            included = self._included(pathlib.Path(words[words.index("-c") + 1]))
            return any(name in line for name in self.changed) or any(name in self.changed for name in included)
        return any(word in self.changed for word in words)

    def _included(self, source):
        """What a source includes by name. A batch of sources (MLC_UNITY), which names
        those of the original tree by their paths, is one of the copy's afterwards."""
        if not source.exists():
            return []
        text = source.read_text()
        names = re.findall(r'^#include "([^"]+)"', text, re.M)
        if any(name.startswith(f"{ROOT}/") for name in names):
            text = text.replace(f'"{ROOT}/', f'"{self.tree}/')
            source.unlink()  # a link to the original
            source.write_text(text)
            return self._included(source)
        batch = [pathlib.Path(name) for name in names if name.startswith(f"{self.tree}/")]
        return names + [name for file in batch for name in self._included(file)]

    def _run(self, line, outputs, others):
        """A command, whose `outputs` and `others` do not go where links lead."""
        for path in [*outputs, *others]:
            if path.is_symlink():
                path.unlink()
        # The compiler cache finds what another copy has compiled.
        done = subprocess.run(line, shell=True, cwd=self.build, capture_output=True, text=True,
                              env={**os.environ, "CCACHE_BASEDIR": str(self.build.parent), "CCACHE_NOHASHDIR": "true"})
        if done.returncode:
            raise RuntimeError(f"{line}\n{done.stdout}{done.stderr}")
        for path in outputs:
            name = str(path.relative_to(self.build))
            if path.read_bytes() != (self.original / name).read_bytes():
                self.changed.add(name)
