"""Every sample of an operator, with one dim of an operand or of the result split over ranks, gives what it gives whole;
parts are uneven, and some are empty."""

import re
import sys

import numpy as np
import pytest

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from partitioned import exchanges  # noqa: E402
from suite import sample  # noqa: E402

NUMBERS = {
    "f32": lambda rng, dims: rng.uniform(0.1, 2, dims).astype(np.float32),
    "i32": lambda rng, dims: rng.integers(1, 4, dims).astype(np.int32),
    "i64": lambda rng, dims: rng.integers(-2, 3, dims),
    "i1": lambda rng, dims: rng.integers(0, 2, dims).astype(bool),
    "ui64": lambda rng, dims: rng.integers(0, 5, dims).astype(np.uint64),
}


def samples(tools):
    """Operators on tensors of constant dims: name, arguments, types of arguments and results, body."""
    text = (tools.source / "test/coverage/samples.mlir").read_text()
    found = re.findall(r"^func\.func @(\w+)\((.*?)\) -> \((.*?)\) \{\n(.*?)^\}", text, re.M | re.S)
    kept = [sample for sample in found if "#mlc." not in sample[1] + sample[2] and not sample[0].endswith("_symbolic")]
    assert len(kept) > 100
    return kept


def dims_of(kind):
    return [int(size) for size in re.match(r"tensor<((?:\d+x)*)", kind).group(1).split("x")[:-1]]


def variants(tools, part, parts):
    """Every `parts`th way to split one dim of one tensor, from `part` on: name, function, types of arguments."""
    made = []
    for name, arguments, results, body in samples(tools):
        names = re.findall(r"%\w+", arguments)
        kinds = [re.findall(r"tensor<[^<>]*>", types) for types in (arguments, results)]
        for side, types in enumerate(kinds):
            for i, kind in enumerate(types):
                for d, size in enumerate(dims_of(kind)):
                    if size < 2:
                        continue
                    axes = ", ".join('"data"' if d == own else '""' for own in range(len(dims_of(kind))))
                    sharding = f" {{dist.sharding = #dist.sharding<[{axes}]>}}"
                    given = [[own + (sharding if (side, i) == (s, j) else "") for j, own in enumerate(kinds[s])] for s in (0, 1)]
                    signature = ", ".join(f"{n}: {k}" for n, k in zip(names, given[0]))
                    called = f"{name}_{'ar'[side]}{i}_{d}"
                    made.append((called, f"func.func @{called}({signature}) -> ({', '.join(given[1])}) {{\n{body}}}\n", kinds[0]))
    assert len(made) > 500
    return made[part::parts]


def values(tools, file, function, inputs, *flags):
    folder = file.with_suffix("")
    done = tools.run("mlc-eval", file, f"--function={function}", f"--output-dir={folder}", *flags,
                     *(f"--input={path}" for path in inputs))
    assert done.returncode == 0, (function, done.stderr)
    found = [np.load(path).astype(float) for path in sorted(folder.glob("*.npy"))]
    for path in folder.glob("*.npy"):
        path.unlink()
    assert found
    return found


@pytest.mark.parametrize("part", sample(range(4), 2))
def test_split_operators_give_what_whole_ones_give(tools, tmp_path, part):
    rng = np.random.default_rng(part)
    kinds = set()
    for ranks in (2, 3):
        chosen = variants(tools, 2 * part + ranks - 2, 8)
        functions = "".join(function for _, function, _ in chosen)
        whole, rank = tmp_path / "whole.mlir", tmp_path / "rank.mlir"
        whole.write_text(f'module attributes {{dist.mesh = [#dist.axis<"data", {ranks}>]}} {{\n{functions}}}\n')
        done = tools.run("mlc-opt", whole, "--mlc-partition", "-o", rank)
        assert done.returncode == 0, done.stderr
        kinds |= {kind for kind, _ in exchanges(rank.read_text())}
        for name, _, types in chosen:
            inputs = []
            for i, kind in enumerate(types):
                inputs.append(tmp_path / f"{i}.npy")
                np.save(inputs[-1], NUMBERS[re.search(r"(\w+?)>", kind.split("x")[-1]).group(1)](rng, dims_of(kind)))
            one, other = values(tools, whole, name, inputs), values(tools, rank, name, inputs, "--ranks")
            for a, b in zip(one, other, strict=True):
                assert np.allclose(a, b, 1e-5, 1e-6, equal_nan=True), (ranks, name)
    assert {"all_gather", "all_reduce"} <= kinds
