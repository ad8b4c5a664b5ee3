"""What is known of functions, types and digits proves what follows from it, and nothing that nearly does."""

import json

from statements import FALSEHOODS, TRUTHS, near_misses, pair


def write(path, statements):
    path.write_text("".join(pair(name, line) for name, line in statements))
    return path


def answers(tools, *arguments):
    done = tools.run(*arguments, "--json")
    assert done.stderr == "", done.stderr
    return {a["name"]: a for a in json.loads(done.stdout)}


def accepts_none_of(tools, folder, misses):
    """mlc-check, with the proof of the truth that each misses."""
    for origin, name, _ in misses:
        (folder / f"{name}.proof").write_text((folder / f"{origin}.proof").read_text())
    checked = answers(tools, "mlc-check", write(folder / "false.mlir", [(n, line) for _, n, line in misses]), folder)
    assert len(checked) == len(misses) and [n for n, a in checked.items() if a["verdict"] != "refused"] == []


def test_truths_and_their_near_misses(tools, tmp_path):
    """Each truth is proved, and mlc-check accepts that proof of it; no near miss is proved."""
    assert set(FALSEHOODS) <= set(TRUTHS)
    held = {name: line for name, line in TRUTHS.items() if not line.startswith("arith ")}
    misses = [miss for miss in near_misses() if miss[0] in held]
    truths, false = write(tmp_path / "true.mlir", held.items()), write(tmp_path / "misses.mlir", [m[1:] for m in misses])
    found = answers(tools, "mlc-rules", "proofs", truths, "--out", tmp_path / "proofs")
    assert {name: a.get("reason") for name, a in found.items() if a["verdict"] != "accepted"} == {}
    checked = answers(tools, "mlc-check", truths, tmp_path / "proofs")
    assert {a["verdict"] for a in checked.values()} == {"accepted"} and len(checked) == len(held)
    judged = answers(tools, "mlc-rules", "verify", truths)
    assert {name: a for name, a in judged.items() if a["verdict"] != "proved"} == {}
    judged = answers(tools, "mlc-rules", "verify", false)
    assert len(judged) == len(misses) and [n for n, a in judged.items() if a["verdict"] == "proved"] == []
    accepts_none_of(tools, tmp_path / "proofs", misses)


def test_digits_in_linalg(tools, tmp_path):
    """The same of operations of arith, one file for each."""
    held = {name: line for name, line in TRUTHS.items() if line.startswith("arith ")}
    assert len(held) >= 10
    for name, line in held.items():
        file = write(tmp_path / "pair.mlir", [(name, line)])
        assert tools.run("mlc-verify", file, "--proof", tmp_path / f"{name}.proof").returncode == 0, name
        assert tools.run("mlc-verify", file).returncode == 0, name
        assert tools.run("mlc-check", file, tmp_path / f"{name}.proof").returncode == 0, name
    misses = [miss for miss in near_misses() if miss[0] in held]
    for _, name, line in misses:
        assert tools.run("mlc-verify", write(tmp_path / "pair.mlir", [(name, line)])).returncode in (5, 6), name
    accepts_none_of(tools, tmp_path, misses)
