"""usage: execute.py FILE.mlir [NAME=VALUE...] -- PASS...: each function of the file (parts are cut by `// -----`) goes
through mlc-opt with these passes and is run as a program; the results must be those of mlc-eval, which knows only the
operators' definitions. NAME=VALUE is a dim's symbol."""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i64": "i8", "i32": "i4", "i8": "i1", "i1": "?"}
ARGUMENT = re.compile(r'%(\w+): tensor<((?:[\d?]+x)*)(\w+)(?:, #mlc\.dims<\[(.*?)\]>)?>(?: \{mlc\.name = "\w+"\})?')


def functions(text):
    """(name, text) of each function, as @main whose arguments have their own names as the model's."""
    for name, arguments, rest in re.findall(r"^func\.func @(\w+)\((.*)(\)\s*->.*\{\n(?:.*\n)*?^\}$)", text, re.M):
        named = ARGUMENT.sub(lambda m: re.sub(r" \{.*", "", m.group()) + f' {{mlc.name = "{m.group(1)}"}}', arguments)
        yield name, f"func.func @main({named}{rest}\n"


def inputs(text, symbols):
    """Arrays by argument."""
    random = numpy.random.default_rng(1)
    for name, shape, element, dims in ARGUMENT.findall(text.split("->")[0]):
        sizes = re.findall(r"(\d+|\?)x", shape)
        if dims:
            sizes = [str(eval(dim, {}, symbols)) for dim in dims.split(",")]
        # One of rank 1 may be a variance.
        values = random.uniform(0.25 if len(sizes) == 1 else -2, 2, [int(size) for size in sizes])
        yield name, values.astype(TYPES[element])


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


def agree(want, got):
    """Within rounding of the largest element."""
    if want.dtype != got.dtype or want.shape != got.shape or not want.size:
        return False
    return numpy.isfinite(want).all() and abs(want - got).max() <= 1e-5 * abs(want).max()


def check(folder, text, name, symbols, passes):
    plain, lowered, artifact = folder / "plain.mlir", folder / "lowered.mlir", folder / "artifact.mlca"
    plain.write_text(text)
    run("mlc-opt", plain, *passes, "-o", lowered)
    run("mlc-translate", lowered, "-o", artifact)
    by_path, by_name = [], []
    for argument, array in inputs(text, symbols):
        numpy.save(folder / f"{argument}.npy", array)
        by_path.append(f"--input={folder / argument}.npy")
        by_name.append(f"--input={argument}={folder / argument}.npy")
    run("mlc-eval", plain, *by_path, *[f"--symbol={s}={v}" for s, v in symbols.items()],
        f"--output-dir={folder}/expected")
    run("mlc-run", artifact, *by_name, f"--output-dir={folder}/got")
    expected = sorted((folder / "expected").glob("*.npy"))
    for file in expected:
        want, got = numpy.load(file), numpy.load(folder / "got" / file.name)
        if not agree(want, got):
            sys.exit(f"@{name}: result {file.stem} differs: {want.dtype}{want.shape}, {got.dtype}{got.shape}")
    return len(expected)


def main():
    at = sys.argv.index("--")
    symbols = {name: int(value) for name, value in (pair.split("=") for pair in sys.argv[2:at])}
    count = results = 0
    for name, text in functions(pathlib.Path(sys.argv[1]).read_text()):
        with tempfile.TemporaryDirectory() as folder:
            results += check(pathlib.Path(folder), text, name, symbols, sys.argv[at + 1:])
        count += 1
    print(f"{count} functions, {results} equal results")
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
