"""Programs with faults in them: sources are copied with all their faults, compiled as the build compiles them, and linked
into programs of their own. The build's own objects and programs stay as they are.

A fault that is written by hand is (file, what is there once, what is there instead, what it means): in place of it, @ is
what was there, @@ what was in its parentheses, and NUMBER the fault's number.
"""

import os
import pathlib
import re
import shlex
import subprocess

import source_faults

ROOT = pathlib.Path(__file__).resolve().parents[2]


def written(faults, file, text, first):
    """Those of `faults` that are in a file, numbered; what is not there once is left out, and said."""
    found = []
    for name, old, new, what in faults:
        if name != file:
            continue
        if text.count(old) != 1:
            print(f"{file} does not have once: {old.splitlines()[0]}", flush=True)
            continue
        begin = text.index(old)
        if "@@" in new:  # a condition: what is in its parentheses
            inner = old[old.index("(") + 1:-1]
            new = new.replace("@@", inner)
        number = first + len(found)
        line = text.count("\n", 0, begin) + 1
        found.append(source_faults.Fault(number, file, line, what, begin, begin + len(old), new.replace("NUMBER", str(number))))
    return found


def run(command, number=0, seconds=120, **environment):
    """A finished process in which a fault is on; its code is -1 where it takes too long."""
    environment = {**os.environ, "MLC_FAULT": str(number), **environment}
    try:
        return subprocess.run([*map(str, command)], capture_output=True, text=True, errors="replace", timeout=seconds,
                              env=environment, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "takes too long")


def ended(done):
    return "takes too long" if done.returncode == -1 else f"ends with {done.returncode}"


def failed_unit(command, number, seconds):
    """The first of Catch's tests that fails, or nothing."""
    done = run(command, number, seconds)
    if done.returncode == 0:
        return ""
    # Catch writes the name between two lines, or nothing where the program hangs or ends.
    said = re.search(r"^-{70,}\n(.+)\n-{70,}\n", done.stdout, flags=re.M)
    return said[1] if said else ended(done)


def cell(text):
    """Of a table of a page."""
    return str(text).replace("|", "\\|")


class FaultedBuild:
    """Objects with faults in them, and what is linked of them."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        work.mkdir(parents=True, exist_ok=True)
        (work / "fault.h").write_text(source_faults.HEADER)

    def command(self, target):
        done = subprocess.run(["ninja", "-C", self.build, "-t", "commands", target], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1].removeprefix(": && ").removesuffix(" && :")

    def compile(self, target, name, text, kept):
        """Compiles a file, as the build compiles `target`, and leaves faults out until it does; those that are left."""
        command = shlex.split(self.command(target))
        copy = self.work / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        command[command.index("-c") + 1] = str(copy)
        command[command.index("-o") + 1] = str(self.object(name))
        command[command.index("-MF") + 1] = str(self.work / f"{name}.d")
        command += ["-include", str(self.work / "fault.h"), "-Wno-everything", "-ferror-limit=0"]
        while True:
            changed, lines = source_faults.carried_out(text, kept)
            copy.write_text(changed)
            done = subprocess.run(command, cwd=self.build, capture_output=True, text=True)
            if done.returncode == 0:
                return kept
            at = {int(n) for n in re.findall(rf"{re.escape(str(copy))}:(\d+):\d+: ", done.stderr)}
            bad = {f.number for f in kept if any(lines[f.number][0] <= n <= lines[f.number][1] for n in at)}
            if not at or not kept:
                raise SystemExit(f"{name} does not compile:\n{done.stderr[:3000]}")
            if not bad:  # the one before
                bad = {max(kept, key=lambda f: (lines[f.number][0] <= min(at), f.begin)).number}
            kept = [f for f in kept if f.number not in bad]

    def compile_all(self, faults, first, pool, target):
        """Files with those of `faults` that compile, numbered from `first` on: where target(name) says that a file lies and
        what is built of it."""
        def compile_one(name, built, text, wanted):
            made = self.compile(built, name.replace("/", "-"), text, wanted)
            for fault in wanted:
                if fault not in made:
                    print(f"{name} does not compile with: {fault.what}", flush=True)
            print(f"{name}: {len(made)} faults", flush=True)
            return made

        wanted = []
        for name in dict.fromkeys(name for name, *_ in faults):
            path, built = target(name)
            text = path.read_text()
            wanted.append((name, built, text, written(faults, name, text, first)))
            first += len(wanted[-1][-1])
        return [fault for made in pool.map(lambda one: compile_one(*one), wanted) for fault in made]

    def objects(self, faults):
        """Of what compile_all made."""
        return [self.object(name.replace("/", "-")) for name in dict.fromkeys(f.file for f in faults)]

    def object(self, name):
        return self.work / f"{name}.o"

    def link(self, program, objects, path, without=()):
        """The build's `program` at `path`: in place of what libraries have, `objects` are taken; `without` are its own
        objects that are left out."""
        path.parent.mkdir(parents=True, exist_ok=True)
        command = re.sub(rf"-o bin/{re.escape(program)}(?= )", lambda _: " ".join([*map(str, objects), "-o", str(path)]),
                         self.command(program))
        for own in without:
            command = command.replace(f" {own} ", " ")
        subprocess.run(command, shell=True, cwd=self.build, check=True)
