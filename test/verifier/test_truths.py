"""Truths and falsehoods of textbooks: which of the one the kernel accepts, and that it accepts none of the other."""

import json
import pathlib
import random
import re

import pytest

HERE = pathlib.Path(__file__).parent
GROUPS = sorted(p.stem for p in (HERE / "truths").glob("*.mlir"))
# Not accepted: floats that were rounded become integers or indices there, which the reals do not know; and that
# rounding to even goes with even numbers alone.
BEYOND = {
    "nearest_twice_then_every_second", "nearest_twice_then_means", "nearest_of_shifted_by_two"}


def statements(kind, group, folder):
    """A file for each, in order; what stands before the first joins all."""
    shared, *rest = re.split(r"^//--- ", (HERE / kind / f"{group}.mlir").read_text(), flags=re.M)
    for part in rest:
        title, body = part.split("\n", 1)
        path = folder / f"{title.split(':')[0]}.mlir"
        path.write_text(shared + body)
        yield path


def accepted(tools, path, *arguments):
    done = tools.run("mlc-verify", path, *arguments, "--json")
    assert done.returncode in (0, 6) and done.stderr == "", done.stderr
    return json.loads(done.stdout)["verdict"] == "accepted"


def test_there_are_as_many_as_were_written(tmp_path):
    assert len(GROUPS) == 10
    for kind, count in [("truths", 12), ("falsehoods", 6)]:
        for group in GROUPS:
            names = [p.name for p in statements(kind, group, tmp_path)]
            assert len(set(names)) == count, (kind, group)


@pytest.mark.parametrize("group", GROUPS)
def test_group(tools, tmp_path, group):
    """Of the truths all but those that are listed are accepted, and none is refuted; of the falsehoods none is accepted
    or proved, with the proof of a truth of its kind neither."""
    (tmp_path / "false").mkdir()
    proofs, names = [], set()
    for path in statements("truths", group, tmp_path):
        names.add(path.stem)
        proof = path.with_suffix(".proof")
        if accepted(tools, path, "--proof", proof):
            assert accepted(tools, path, "--check-proof", proof), path.stem
            proofs.append(proof)
        assert tools.run("mlc-verify", path).returncode in (0, 6), path.stem
    assert names - {p.stem for p in proofs} == BEYOND & names
    rng = random.Random(5)
    for path in statements("falsehoods", group, tmp_path / "false"):
        assert not accepted(tools, path, "--proof", tmp_path / "none.proof"), path.stem
        assert tools.run("mlc-verify", path).returncode in (5, 6), path.stem
        for proof in rng.sample(proofs, 3):
            assert not accepted(tools, path, "--check-proof", proof), (path.stem, proof.stem)
