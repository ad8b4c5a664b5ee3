"""Proofs that the kernel accepts: of the literature's rules all that are true and none that is false, whatever the text."""

import json
import pathlib
import random
import re
import resource

import pytest
import suite

from mutated_proofs import mutated

PAIR = """
func.func @b(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> {{
  %0 = mlc.relu %x : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  %1 = mlc.{second} %0 : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %1 : tensor<?xf32, #mlc.dims<[n]>>
}}
func.func @a(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> {{
  %0 = mlc.relu %x : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}}
"""


@pytest.fixture(scope="module")
def literature(tools, tmp_path_factory):
    """The folder of the proofs, and whether each rule is one that the audit proves."""
    folder = tmp_path_factory.mktemp("proofs")
    rules = tools.source / "test/rules/literature.mlir"
    done = tools.run("mlc-rules", "proofs", rules, "--out", folder, "--json")
    assert done.returncode == 6 and done.stderr == ""
    answers = {a["name"]: a for a in json.loads(done.stdout)}
    expected = json.loads(tools.run("mlc-rules", "audit", rules, "--json").stdout)
    return folder, rules, answers, {a["name"]: a["verdict"] == "proved" for a in expected}


def test_what_is_proved_is_accepted(literature):
    folder, _, answers, is_proved = literature
    assert sum(is_proved.values()) >= 60
    assert {n for n, a in answers.items() if a["verdict"] == "accepted"} == {n for n, p in is_proved.items() if p}
    assert {p.stem for p in folder.iterdir()} == {n for n, p in is_proved.items() if p}
    assert all(a.get("reason") for a in answers.values() if a["verdict"] == "refused")


def test_proofs_are_checked_alone(tools, literature):
    """Another process reads them, and looks for none."""
    folder, rules, answers, _ = literature
    done = tools.run("mlc-rules", "proofs", rules, "--check", folder, "--json")
    checked = {a["name"]: a for a in json.loads(done.stdout)}
    assert {n: a["verdict"] for n, a in checked.items()} == {n: a["verdict"] for n, a in answers.items()}
    refused = [a["reason"] for a in checked.values() if a["verdict"] == "refused"]
    assert refused and all(r.startswith("there is no proof") for r in refused)


def test_no_text_proves_what_is_false(tools, literature, tmp_path):
    """Proofs of true rules, as they are and changed, given for false ones; for the true ones they do no harm."""
    folder, rules, _, is_proved = literature
    rng = random.Random(11)
    texts = [p.read_text() for p in sorted(folder.glob("*.proof"))]
    judged = 0
    for round_ in range(4):
        for name in is_proved:
            text = rng.choice(texts)
            (tmp_path / f"{name}.proof").write_text(text if round_ == 0 else mutated(text, rng, rng.choice(texts)))
        done = tools.run("mlc-rules", "proofs", rules, "--check", tmp_path, "--json")
        assert done.returncode in (0, 6) and done.stderr == ""
        for answer in json.loads(done.stdout):
            judged += 1
            assert answer["verdict"] == "refused" or is_proved[answer["name"]], answer["name"]
    assert judged == 4 * len(is_proved)


def test_shipped_rules(tools, tmp_path):
    """No rule is shipped whose proof the kernel does not accept, in another process too."""
    # The build has proved all of them; these are of every kind.
    files = [] if suite.FULL else [tools.source / "rewrites" / name for name in ("convolution.mlir", "identities.mlir", "matmul.mlir", "movement.mlir", "scale-bias.mlir", "generated/holes.mlir")]
    done = tools.run("mlc-rules", "proofs", *files, "--out", tmp_path, "--json")
    answers = json.loads(done.stdout)
    assert len(answers) > (280 if suite.FULL else 80)
    assert [a["name"] for a in answers if a["verdict"] == "refused"] == []
    again = json.loads(tools.run("mlc-rules", "proofs", *files, "--check", tmp_path, "--json").stdout)
    assert [a["name"] for a in again if a["verdict"] == "refused"] == []
    # What is written beside each proof is what it proves.
    alone = json.loads(tools.run("mlc-check", tmp_path, "--json").stdout)
    assert {a["name"] for a in alone if a["verdict"] == "accepted"} == {a["name"] for a in answers}


def test_one_pair(tools, tmp_path):
    for second, code in [("relu", 0), ("exp", 6)]:
        (tmp_path / f"{second}.mlir").write_text(PAIR.format(second=second))
        done = tools.run("mlc-verify", tmp_path / f"{second}.mlir", "--proof", tmp_path / f"{second}.proof")
        assert (done.returncode, done.stderr) == (code, "")
        assert (tmp_path / f"{second}.proof").exists() == (code == 0)
    assert done.stdout.startswith("refused by the kernel: ")
    check = ("--check-proof", tmp_path / "relu.proof")
    done = tools.run("mlc-verify", tmp_path / "relu.mlir", *check)
    assert done.returncode == 0 and done.stdout.startswith("accepted by the kernel (")
    done = tools.run("mlc-verify", tmp_path / "exp.mlir", *check, "--json")
    assert done.returncode == 6 and json.loads(done.stdout)["verdict"] == "refused"


@pytest.mark.parametrize("text, reason", [
    ("", "the proof ends early"), ("(proof", "a list has no end"), ("(" * 9999, "nested too deep"),
    ("(proof) (proof)", "something follows"), ("(proof)", "of another statement"),
    ("(proof (case (needs) (results)))", "of another statement"),
    ("(proof (case (needs) (results (zero (group 7)))))", "in no group|a term that is none"),
    ('(proof (case (needs) (results (zero (split 0 0 0 0 (where (=0 #99)))))))', "not well formed"),
    ("(proof (case (needs) (results (zero (fly 0 0 0 0)))))", "expected a step")])
def test_texts_that_are_none(tools, tmp_path, text, reason):
    (tmp_path / "relu.mlir").write_text(PAIR.format(second="relu"))
    (tmp_path / "bad.proof").write_text(text)
    done = tools.run("mlc-verify", tmp_path / "relu.mlir", "--check-proof", tmp_path / "bad.proof")
    assert done.returncode == 6 and re.search(reason, done.stdout), done.stdout


def test_obligations(tools, tmp_path):
    """What a proof needs of Z3, and not of the kernel's own polynomials, can be asked of others."""
    rules, counts = tools.source / "rewrites/movement.mlir", []
    for how in ("--out", "--check"):
        done = tools.run("mlc-rules", "proofs", rules, how, tmp_path / "proofs", "--smtlib", tmp_path / how, "--json")
        assert done.returncode == 0, done.stderr
        texts = {a["name"]: (tmp_path / how / f"{a['name']}.smt2").read_text() for a in json.loads(done.stdout)}
        first = next(t for t in texts.values() if t)
        assert first.startswith("; obligation\n(push 1)\n(declare-const ")
        assert all(t.count("(push 1)") == t.count("(check-sat)\n(pop 1)") for t in texts.values())
        counts.append(sum(t.count("(check-sat)") for t in texts.values()))
    assert counts[0] >= counts[1] >= 5
    (tmp_path / "relu.mlir").write_text(PAIR.format(second="relu"))
    pair, file = (tmp_path / name for name in ("relu.mlir", "relu.smt2"))
    done = tools.run("mlc-verify", pair, "--proof", tmp_path / "relu.proof", "--obligations", file, "--json")
    assert done.returncode == 0 and file.read_text().count("(check-sat)") <= json.loads(done.stdout)["obligations"]
    done = tools.run("mlc-verify", pair, "--obligations", file)
    assert done.returncode == 2 and "--obligations goes with --proof or --check-proof" in done.stderr


def test_errors(tools, tmp_path):
    (tmp_path / "relu.mlir").write_text(PAIR.format(second="relu"))
    done = tools.run("mlc-verify", tmp_path / "relu.mlir", "--check-proof", tmp_path / "none")
    assert done.returncode == 3 and "none: cannot be read" in done.stderr
    done = tools.run("mlc-rules", "proofs", "--check", tmp_path, "--out", tmp_path)
    assert done.returncode == 2 and "--out or --check" in done.stderr


FALSE = sorted((pathlib.Path(__file__).parent / "Inputs").glob("*.mlir"))


@pytest.mark.parametrize("path", FALSE, ids=lambda p: p.stem)
def test_what_an_attack_had_accepted(tools, tmp_path, path):
    """All are false: neither the search nor the proof that was written for one is believed."""
    proof = path.with_suffix(".proof")
    how = ("--check-proof", proof) if proof.exists() else ("--proof", tmp_path / "out")
    done = tools.run("mlc-verify", path, *how)
    assert done.returncode == 6 and done.stdout.startswith("refused by the kernel: ")
    done = tools.run("mlc-verify", path)
    assert done.returncode in (5, 6), done.stdout


def test_large_integers_are_refused(tools, tmp_path):
    """Proofs whose integers double with each step, and integers that name others twice."""
    (tmp_path / "relu.mlir").write_text(PAIR.format(second="relu"))
    nested = "#0"
    for _ in range(40):
        nested = f'(min {nested} (min "n" {nested}))' if len(nested) < 2000 else f'(min {nested} "n")'
    for steps in [f"(rewrite 0 0 0 0 (integers #0 {nested}))", "(rewrite 0 0 0 0 (integers #0 (+ #0 (* 0 #0))))" * 30]:
        (tmp_path / "large.proof").write_text(f"(proof (case (needs) (results (zero {steps} (group 0)))))")
        done = tools.run("mlc-verify", tmp_path / "relu.mlir", "--check-proof", tmp_path / "large.proof")
        assert done.returncode == 6, done.stderr


def test_large_elements_end(tools, tmp_path):
    """A product of truth values whose element, unfolded, has millions of parts: the search ends."""
    x, y = "tensor<3x?xf32, #mlc.dims<[3, n]>>", "tensor<6x?xi1, #mlc.dims<[6, n]>>"
    z = "tensor<6x?xf32, #mlc.dims<[6, n]>>"
    lines = [f"func.func @NAME(%x: {x}) -> {y} {{", f"%0 = mlc.concat %x, %x {{axis = 0 : i64}} : ({x}, {x}) -> {z}",
             f'%1 = mlc.compare %0, %0 {{predicate = "ge"}} : ({z}, {z}) -> {y}']
    more = [f"%2 = mlc.not %1 : ({y}) -> {y}", f"%3 = mlc.not %2 : ({y}) -> {y}"]
    w = "tensor<12x?xi1, #mlc.dims<[12, n]>>"
    last = [f"%4 = mlc.xor %1, %SECOND : ({y}, {y}) -> {y}", f"%5 = mlc.concat %4, %4 {{axis = 0 : i64}} : ({y}, {y}) -> {w}",
            f"%6 = mlc.slice %5 {{sizes = #mlc.dims<[6, n]>, starts = #mlc.dims<[6, 0]>, steps = #mlc.dims<[1, 1]>}} : ({w}) -> {y}",
            f"%7 = mlc.matmul %4, %6 : ({y}, {y}) -> {y}", f"return %7 : {y}", "}"]
    before = "\n".join(lines + last).replace("NAME", "b").replace("SECOND", "1")
    after = "\n".join(lines + more + last).replace("NAME", "a").replace("SECOND", "3")
    (tmp_path / "pair.mlir").write_text(before.replace("{", "attributes {mlc.assume = [\"n == 6\"]} {", 1) + "\n" + after)
    done = tools.run("mlc-verify", tmp_path / "pair.mlir", "--proof", tmp_path / "out", timeout=60)
    assert done.returncode in (0, 6) and done.stderr == "", done.stdout


LARGE = sorted((pathlib.Path(__file__).parent / "Large").glob("*.mlir"))


@pytest.mark.parametrize("path", LARGE, ids=lambda p: p.stem)
def test_large_products_end(tools, tmp_path, path):
    """Remainders of what has cases are products of truth values, which would take 15 GB: the element is refused."""
    limit = 4 << 30
    done = tools.run("mlc-verify", path, "--proof", tmp_path / "out", timeout=60,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 6 and done.stderr == "", done.stderr
    assert done.stdout == "refused by the kernel: an element takes too many operations\n"


def test_deep_integers_are_refused(tools, tmp_path):
    """Remainders of remainders and quotients of products, whose texts and monomials double with each step."""
    (tmp_path / "relu.mlir").write_text(PAIR.format(second="relu"))
    remainder, product = "#0", "(+ #0 1)"
    for _ in range(40):
        remainder, product = f"(mod {remainder} 5)", f"(* {product} (+ #0 1))"
    high = "(* " * 150 + "#0" + " #0)" * 150
    for integer in (remainder, f"(floordiv {product} 5)", f"(floordiv {high} 5)"):
        (tmp_path / "deep.proof").write_text(
            f"(proof (case (needs) (results (zero (rewrite 0 0 0 0 (integers #0 {integer})) (group 0)))))")
        done = tools.run("mlc-verify", tmp_path / "relu.mlir", "--check-proof", tmp_path / "deep.proof", timeout=60)
        assert done.returncode == 6, done.stderr
