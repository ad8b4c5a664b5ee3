"""Recognizes a line of text and the types of some files, beside ONNX Runtime.

usage: ./dev demo [--text TEXT] [FILE...]

Two trained models that come in Python packages are compiled with their dims
left open: PP-OCRv6 text recognition (rapidocr) reads a picture of a line of
text, Magika (magika) tells the types of files from their bytes.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "models"), str(ROOT / "runtime" / "python")]
import catalog  # noqa: E402
import inputs  # noqa: E402
import mlc  # noqa: E402

TEXT = "mlc reads this line: 0 rewrites unproved"
RUNS = 20


def compile_model(build, path, artifact):
    """Compiles through the command line and says how long it took."""
    start = time.perf_counter()
    done = subprocess.run([build / "bin" / "mlc", "compile", path, "-o", artifact])
    if done.returncode:
        sys.exit(done.returncode)
    print(f"  compiled in {time.perf_counter() - start:.1f} s to {artifact.relative_to(ROOT)}")


def print_rewrites(artifact):
    steps = [step for trail in artifact.manifest.get("trail", []) for step in trail["steps"]]
    rules = collections.Counter(step["rule"] for step in steps)
    print(f"  rewrites applied: {len(steps)}")
    for rule, count in rules.most_common():
        print(f"    {count:4} × {rule}")


def timed(call):
    """The call's result and its median time in milliseconds."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return result, statistics.median(times[1:]) * 1e3


class Pair:
    """One model by mlc and by ONNX Runtime, both on one thread."""

    def __init__(self, build, path, artifact):
        compile_model(build, path, artifact)
        self.artifact = mlc.load(artifact)
        print_rewrites(self.artifact)
        self.session = mlc.Session(self.artifact, threads=1)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.reference = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"])
        self.input = self.artifact.inputs[0].name

    def __call__(self, array):
        """((output, ms) of mlc, (output, ms) of ONNX Runtime)."""
        arrays = {self.input: array}
        ours, our_ms = timed(lambda: next(iter(self.session.run(arrays).values())))
        theirs, their_ms = timed(lambda: self.reference.run(None, arrays)[0])
        return (ours, our_ms), (theirs, their_ms)


def decode(scores, characters):
    """The text of one row of CTC scores: best class per step, repeats and
    blanks (class 0) dropped."""
    best = scores.argmax(axis=1)
    kept = [b for i, b in enumerate(best) if b and (i == 0 or b != best[i - 1])]
    return "".join(characters[b] for b in kept)


def read_text(build, folder, text):
    path = catalog.package("rapidocr") / "models/PP-OCRv6_rec_small.onnx"
    print("PP-OCRv6 text recognition")
    models = Pair(build, path, folder / "recognition.mlca")
    characters = ["", *models.artifact.metadata["character"].split("\n"), " "]
    image = inputs.draw_line(text)
    image.save(folder / "line.png")
    array = inputs.normalized(image)[None]
    print(f"  picture: {(folder / 'line.png').relative_to(ROOT)}, {image.width}×{image.height}")
    print(f"  drawn          {text}")
    texts = []
    for who, (scores, ms) in zip(("mlc", "ONNX Runtime"), models(array)):
        texts.append(decode(scores[0], characters))
        print(f"  {who:13}  {texts[-1]:44} {ms:8.2f} ms")
    return texts[0] == texts[1]


def some_files(folder):
    """A handful of files of different types, some of the project, some made here."""
    (folder / "table.json").write_text(json.dumps({"rows": [[1, 2], [3, 4]], "name": "table"}, indent=1))
    (folder / "page.html").write_text(
        "<!DOCTYPE html><html><head><title>A page</title></head><body><p>Hello</p></body></html>\n")
    with gzip.GzipFile(folder / "readme.gz", "wb", mtime=0) as packed:
        packed.write((ROOT / "README.md").read_bytes())
    return [ROOT / "README.md", ROOT / "dev", ROOT / "CMakeLists.txt", ROOT / "runtime/example.c",
            ROOT / "tools/demo.py", folder / "table.json", folder / "page.html",
            folder / "line.png", folder / "readme.gz",
            catalog.package("magika") / "models/standard_v3_3/model.onnx"]


def tell_types(build, folder, files):
    home = catalog.package("magika") / "models/standard_v3_3"
    labels = json.loads((home / "config.min.json").read_text())["target_labels_space"]
    print("\nMagika file types")
    models = Pair(build, home / "model.onnx", folder / "magika.mlca")
    array = np.stack([inputs.magika_features(path.read_bytes()) for path in files])
    (ours, our_ms), (theirs, their_ms) = models(array)
    print(f"  {'file':18} {'mlc':22} ONNX Runtime")
    for path, a, b in zip(files, ours, theirs):
        print(f"  {path.name:18} {labels[a.argmax()]:14} {a.max():6.1%}  {labels[b.argmax()]:14} {b.max():6.1%}")
    print(f"  {f'{len(files)} files at once':18} {our_ms:11.2f} ms         {their_ms:11.2f} ms")
    return bool((ours.argmax(1) == theirs.argmax(1)).all())


def main():
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--text", default=TEXT, help="the line of text to draw and read")
    parser.add_argument("files", nargs="*", metavar="FILE", help="files to tell the types of")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    folder = build / "demo"
    folder.mkdir(exist_ok=True)
    os.environ["MLC_BUILD"] = str(build)
    same_text = read_text(build, folder, options.text)
    files = [pathlib.Path(name) for name in options.files] or some_files(folder)
    same_types = tell_types(build, folder, files)
    print("\nmlc and ONNX Runtime agree" if same_text and same_types else "\nthe results differ")
    return 0 if same_text and same_types else 5


if __name__ == "__main__":
    sys.exit(main())
