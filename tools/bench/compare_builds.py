"""What two builds of mlc make of the same models, section by section.

usage: compare_builds.py BUILD BUILD MODEL.onnx... [--targets T,...] [--optimize]

For each model and target: whether program, code and weights of the artifact are
the same bytes. A change of structure must leave them so. The manifest differs in
the version that made it, and is compared without that. --optimize also compares what
`mlc optimize` writes. Exits with 1 where anything differs.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

SECTIONS = ("manifest", "program", "code", "weights")


def sections(path):
    """By name (runtime/ArtifactFormat.h)."""
    data = path.read_bytes()
    at = 8 + 4 + 4 + 32 + 8 + 48 + 512
    found = {}
    for i, name in enumerate(SECTIONS):
        offset, size = struct.unpack_from("<QQ", data, at + 16 * i)
        found[name] = data[offset:offset + size]
    found["code"] = images(found["code"])
    manifest = json.loads(found["manifest"])
    manifest.pop("git", None)
    found["manifest"] = json.dumps(manifest).encode()
    return found


def images(table):
    """Kinds, targets, sizes and digests of a table of images (runtime/Serialize.cpp): where they lie depends on the
    sections before them."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = table[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text():
        nonlocal at
        length = number()
        at += length
        return table[at - length:at]

    found = []
    for _ in range(number()):
        kind, target, features = number(), text(), [text() for _ in range(number())]
        number()  # the offset
        size = number()
        found.append((kind, target, features, size, table[at:at + 32]))
        at += 32
    assert at == len(table), "not a table of images"
    return found


def run(build, folder, *arguments):
    done = subprocess.run([build / "bin/mlc", *arguments], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stderr


def compare(builds, model, target, optimize, folder):
    """The names of what differs."""
    command, name = ("optimize", "out.onnx") if optimize else ("compile", "out.mlca")
    made = []
    for build in builds:
        out = folder / name
        out.unlink(missing_ok=True)
        code, said = run(build, folder, command, model, f"--target={target}", "-o", out)
        if code:
            made.append({"error": said.encode()})
        else:
            made.append({"file": out.read_bytes()} if optimize else sections(out))
    if made[0].keys() != made[1].keys():
        return ["outcome"]
    return [key for key in made[0] if made[0][key] != made[1][key]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, metavar="BUILD", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--targets", default="cpu:x86-64-v3,cpu:x86-64-v4")
    parser.add_argument("--optimize", action="store_true")
    options = parser.parse_args()
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            for target in options.targets.split(","):
                for optimize in (False, True)[:1 + options.optimize]:
                    found = compare(options.builds, model, target, optimize, pathlib.Path(folder))
                    different += bool(found)
                    print(f"{model.name:40} {target:16} {'optimize' if optimize else 'compile':9}"
                          f"{'differs: ' + ', '.join(found) if found else 'same'}", flush=True)
    print(f"{different} differ")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
