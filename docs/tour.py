"""Runs the commands of README.md's tour and compares what they print with what
stands there; --write puts there what they print now.

usage: ./dev tour [--write] [--files FOLDER]

A block that begins with `$ ` is a session: lines behind `$ ` are commands, the
others what they print. A line `...` stands for any number of lines, and `...` at
the end of a line for its rest; --write keeps these cuts, and where nothing fits
the cuts any more it writes all, to be cut anew.

What differs between machines, runs and versions is not compared: numbers before
a unit of time or size (ns, us, ms, s, kB, MB), figures like 1.23e-06, versions
after a program's name, the level of x86-64 that `cpu` is, and how many spaces
separate columns.

The commands run in a folder with what FILES and LINKS name; --files fills one for
you to try them in.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "models")]
import catalog  # noqa: E402
import graphs  # noqa: E402
import inputs  # noqa: E402

README = ROOT / "README.md"
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.M | re.S)
CUT = "..."
MASKS = [
    (re.compile(r"\b\d+(\.\d+)?(?= (ns|us|ms|s|kB|MB|samples/s)\b)"), "#"),
    (re.compile(r"\b\d+(\.\d+)?e[-+]\d\d\b"), "#"),
    (re.compile(r"(?<=ONNX Runtime )\d[\d.]*"), "#"),
    (re.compile(r"x86-64-v\d"), "x86-64"),
    (re.compile(r"(?<=\S) +"), " "),
]

RELU = """!t = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !t) -> !t {
  %0 = mlc.neg %x : (!t) -> !t
  %1 = mlc.relu %0 : (!t) -> !t
  return %1 : !t
}
func.func @after(%x: !t) -> !t {
  %0 = mlc.relu %x : (!t) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  return %1 : !t
}
"""


def unsupported():
    """A model with two nodes that mlc cannot compile."""
    return graphs.model(
        [("Relu", ["x"], ["r"], {}), ("NonZero", ["r"], ["i"], {}), ("Unique", ["r"], ["u"], {})],
        [("x", [8])], [("i", [1, "k"], 7), ("u", ["m"])])


def spirals():
    """Two classes of points, one spiral each, and a network that is not trained yet."""
    rng = np.random.default_rng(1)
    turn = rng.uniform(0.2, 2.5, 512) * np.pi
    label = rng.integers(0, 2, 512)
    angle = turn + np.pi * label
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], 1) / 4
    data = {"x": points.astype(np.float32), "target": label}
    sizes = {"hidden": (2, 16), "second": (16, 16), "head": (16, 2)}
    weights, nodes, h = {}, [], "x"
    for name, (rows, columns) in sizes.items():
        weights[f"{name}.weight"] = (rng.standard_normal((rows, columns)) * np.sqrt(2 / rows)).astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(columns, np.float32)
        nodes.append(("Gemm", [h, f"{name}.weight", f"{name}.bias"], [name], {}))
        h = name
        if name != "head":
            nodes.append(("Relu", [name], [f"{name}.relu"], {}))
            h = f"{name}.relu"
    return graphs.model(nodes, [("x", ["N", 2])], [("head", ["N", 2])], weights), data


# What a tour's folder holds, by name: each writes its file.
FILES = {
    "recognition.onnx": lambda path: shutil.copyfile(
        catalog.package("rapidocr") / "models/PP-OCRv6_rec_small.onnx", path),
    "line.npy": lambda path: np.save(path, inputs.text_line((1, 3, 48, 320))),
    "letters.npy": lambda path: np.save(path, inputs.text_line((1, 3, 48, 320))[..., :40]),
    "unsupported.onnx": lambda path: graphs.save(path, unsupported()),
    "spirals.onnx": lambda path: graphs.save(path, spirals()[0]),
    "spirals.npz": lambda path: np.savez(path, **spirals()[1]),
    "relu.mlir": lambda path: path.write_text(RELU),
}
LINKS = ["rewrites", "test", "tools"]


def fill(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in FILES.items():
        write(folder / name)
    for name in LINKS:
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)


def masked(line):
    for pattern, text in MASKS:
        line = pattern.sub(text, line)
    return line.rstrip()


def is_line(shown, line):
    if shown.endswith(CUT):
        return masked(line).startswith(masked(shown[:-len(CUT)]))
    return masked(shown) == masked(line)


def with_numbers_of(shown, line):
    """`line`, cut where `shown` is."""
    if not shown.endswith(CUT):
        return line
    words = len(shown[:-len(CUT)].split())
    kept = re.match(r"\s*(?:\S+\s+){%d}" % words, line + " ")
    return f"{kept[0].rstrip()} {CUT}"


def fit(shown, lines):
    """For each line of `shown` the index in `lines`, None for a cut; nothing where
    they do not fit."""
    if not shown:
        return [] if not lines else None
    if shown[0].strip() == CUT:
        for start in range(len(lines) + 1):
            rest = fit(shown[1:], lines[start:])
            if rest is not None:
                return [None, *(i if i is None else i + start for i in rest)]
        return None
    if not lines or not is_line(shown[0], lines[0]):
        return None
    rest = fit(shown[1:], lines[1:])
    return None if rest is None else [0, *(i if i is None else i + 1 for i in rest)]


def sessions(text):
    """Of each block, [(command, lines shown)]."""
    found = []
    for block in BLOCK.findall(text):
        steps = []
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
        found.append(steps)
    return found


class Tour:
    """A folder and an environment in which commands run one after the other."""

    def __init__(self, build, folder):
        fill(folder)
        self.folder, self.code = folder, 0
        path = [str(build / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]]
        self.environment = {**os.environ, "PATH": os.pathsep.join(path), "MLC_BUILD": str(build),
                            "PYTHONPATH": str(ROOT / "runtime/python")}

    def run(self, command):
        """What a command prints, as lines; `$?` is the code of the one before."""
        done = subprocess.run(["bash", "-c", f"(exit {self.code})\n{command}"], cwd=self.folder, timeout=300,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.code = done.returncode
        return [line.rstrip() for line in done.stdout.splitlines()]


def follow(text, build, folder):
    """Runs all sessions of `text`. Returns it with what was printed, and a message
    for each command that printed something else than is shown."""
    tour, wrong = Tour(build, folder), []

    def renew(match):
        made = []
        (steps,) = sessions(match[0])
        for command, shown in steps:
            printed = tour.run(command)
            places = fit(shown, printed)
            made.append(f"$ {command}")
            if places is None:
                wrong.append("\n".join([f"$ {command}", *printed, "README.md shows:", *shown]))
                made += printed
            else:
                made += [line if at is None else with_numbers_of(line, printed[at]) for line, at in zip(shown, places)]
        return "```\n" + "".join(f"{line}\n" for line in made) + "```"
    return BLOCK.sub(renew, text), wrong


def main():
    parser = argparse.ArgumentParser(prog="./dev tour", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="write what is printed into README.md")
    parser.add_argument("--files", type=pathlib.Path, metavar="FOLDER", help="only make the files that the tour names")
    options = parser.parse_args()
    if options.files:
        fill(options.files)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        text, wrong = follow(README.read_text(), options.build.resolve(), pathlib.Path(folder))
    if options.write:
        README.write_text(text)
    for message in wrong:
        print(message, end="\n\n", file=sys.stderr)
    print(f"{len(wrong)} commands print something else" + (", which is written now" if options.write else ""))
    return 5 if wrong and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
