"""Proofs are checked by a program that holds nothing which looks for them."""

import json
import subprocess

import pytest


def strong_symbols(file):
    """What a program or an archive defines itself, inline functions left out."""
    done = subprocess.run(["nm", "--defined-only", file], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines() if line.split()[1:2] in (["T"], ["D"], ["B"], ["R"])}


def test_the_checker_holds_nothing_of_the_prover(tools):
    prover, kernel = (strong_symbols(tools.build / f"lib/libMLC{name}.a") for name in ("Verifier", "ProofKernel"))
    assert len(prover) > 200 and len(kernel) > 200 and not prover & kernel
    assert any("elaborate" in name for name in prover)
    held = strong_symbols(tools.build / "bin/mlc-check")
    assert len(held & kernel) > 200 and held & prover == set()
    assert strong_symbols(tools.build / "bin/mlc-verify") & prover  # this check can fail


def test_the_checker_is_linked_without_the_prover(tools):
    def link(program):
        done = subprocess.run(["ninja", "-C", tools.build, "-t", "commands", "-s", program], capture_output=True, text=True, check=True)
        return done.stdout
    ours = link("bin/mlc-check")
    assert "lib/libMLCProofKernel.a" in ours and "lib/libMLCShippedStatements.a" in ours
    for other in ("libMLCVerifier.a", "libMLCRewrites.a", "libMLCProvedRules.a", "rewrites/", "passes/", "codegen/"):
        assert other not in ours, other
    assert "libMLCVerifier.a" in link("bin/mlc-verify")
    # What the rules say is a table, and nothing that was proved with.
    table = strong_symbols(tools.build / "lib/libMLCShippedStatements.a")
    assert len(table) == 1 and "shippedStatements" in table.pop()


@pytest.fixture(scope="module")
def movement(tools, tmp_path_factory):
    """Proofs of a file of shipped rules, with what they prove."""
    folder = tmp_path_factory.mktemp("movement")
    done = tools.run("mlc-rules", "proofs", tools.source / "rewrites/movement.mlir", "--out", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def answers(tools, *arguments):
    done = tools.run("mlc-check", *arguments, "--json")
    assert done.returncode in (0, 6) and done.stderr == "", done.stderr
    found = {a["name"]: a for a in json.loads(done.stdout)}
    assert done.returncode == (0 if all(a["verdict"] == "accepted" for a in found.values()) else 6)
    return found


def refused(found):
    return {name for name, answer in found.items() if answer["verdict"] == "refused"}


def test_each_form(tools, movement, tmp_path):
    found = answers(tools, movement)
    assert len(found) >= 10 and refused(found) == set() and all(a["float_class"] for a in found.values())
    name = sorted(found)[0]
    text, proof = (movement / f"{name}.mlir").read_text(), movement / f"{name}.proof"
    done = tools.run("mlc-check", movement / f"{name}.mlir", proof)
    assert done.returncode == 0 and done.stdout.split()[:2] == [name, "accepted"]
    before, after = text.split("\nfunc.func", 1)
    for file, body in [("before", before), ("after", "func.func" + after)]:
        (tmp_path / f"{file}.mlir").write_text(body)
    assert refused(answers(tools, tmp_path / "before.mlir", tmp_path / "after.mlir", proof)) == set()
    assert refused(answers(tools, tmp_path / "before.mlir", tmp_path / "before.mlir", movement / "none")) == {"none"}
    (tmp_path / "all.mlir").write_text("".join((movement / f"{n}.mlir").read_text() for n in found))
    done = tools.run("mlc-check", tmp_path / "all.mlir", movement)
    assert done.returncode == 0 and f"{len(found)} of {len(found)} proofs are accepted; {len(found)} of " in done.stdout


def test_whose_statement_it_is(tools, movement, tmp_path):
    """A statement is told from that of the rule that it has the name of; what no rule says is called that."""
    listed = {r["name"]: r["hash"] for r in json.loads(tools.run("mlc-rules", "list", "--json").stdout)}
    found = answers(tools, movement)
    assert all(a["rule"] == {"name": n, "hash": listed[n]} for n, a in found.items())
    name = sorted(found)[0]
    text, proof = (movement / f"{name}.mlir").read_text(), (movement / f"{name}.proof").read_text()
    before = text.split("\nfunc.func", 1)[0]
    trivial = before + "\n" + before.replace("_before", "_after")
    for file, statement in [(name, trivial), ("renamed", text), ("mine", trivial)]:
        (tmp_path / f"{file}.mlir").write_text(statement)
        (tmp_path / f"{file}.proof").write_text(proof)
    done = tools.run("mlc-verify", tmp_path / "mine.mlir", "--proof", tmp_path / "mine.proof")
    assert done.returncode == 0
    (tmp_path / f"{name}.proof").write_text((tmp_path / "mine.proof").read_text())
    found = answers(tools, tmp_path)
    assert found["mine"]["verdict"] == "accepted" and found["mine"]["rule"] is None
    assert found["renamed"]["rule"]["name"] == name
    assert found[name]["verdict"] == "refused" and "not what the rule of mlc says" in found[name]["reason"]
    assert "what no rule of mlc says" in tools.run("mlc-check", tmp_path / "mine.mlir", tmp_path / "mine.proof").stdout
    found = answers(tools, tmp_path, "--shipped")
    assert found["renamed"]["verdict"] == "accepted" and found["mine"]["reason"] == "no rule of mlc says this"
    missing = {n for n, a in found.items() if a.get("reason") == "there is no proof of this rule of mlc"}
    assert len(missing) > 200 and name not in missing


def test_proofs_of_others_are_refused(tools, movement, tmp_path):
    """Each statement with the proof of the next: none may pass but by saying the same."""
    names = sorted(p.stem for p in movement.glob("*.proof"))
    for name, other in zip(names, names[1:] + names[:1]):
        (tmp_path / f"{name}.mlir").write_text((movement / f"{name}.mlir").read_text())
        (tmp_path / f"{name}.proof").write_text((movement / f"{other}.proof").read_text())
    found = answers(tools, tmp_path)
    assert set(found) == set(names) and len(refused(found)) >= 4
    assert all(found[name]["reason"] for name in refused(found))


TWICE = """
func.func @twice(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> {{
  %0 = mlc.relu %x : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  %1 = mlc.{second} %0 : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %1 : tensor<?xf32, #mlc.dims<[n]>>
}}
func.func @once(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> {{
  %0 = mlc.relu %x : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}}
"""


def test_what_mlc_verify_writes(tools, tmp_path):
    """The proof of a pair is one of this pair, and of no false one."""
    for second in ("relu", "exp"):
        (tmp_path / f"{second}.mlir").write_text(TWICE.format(second=second))
    proof = tmp_path / "found.proof"
    assert tools.run("mlc-verify", tmp_path / "relu.mlir", "--proof", proof).returncode == 0
    assert refused(answers(tools, tmp_path / "relu.mlir", proof)) == set()
    assert refused(answers(tools, tmp_path / "exp.mlir", proof)) == {"found"}
    proof.write_text(proof.read_text().replace("(case", "(cas"))
    assert refused(answers(tools, tmp_path / "relu.mlir", proof)) == {"found"}


def test_what_has_no_partner_is_refused(tools, movement, tmp_path):
    names = sorted(p.stem for p in movement.glob("*.proof"))[:3]
    for name in names:
        (tmp_path / f"{name}.mlir").write_text((movement / f"{name}.mlir").read_text())
        (tmp_path / f"{name}.proof").write_text((movement / f"{name}.proof").read_text())
    (tmp_path / f"{names[0]}.mlir").unlink()
    (tmp_path / f"{names[1]}.proof").unlink()
    found = answers(tools, tmp_path)
    assert refused(found) == set(names[:2])
    assert found[names[0]]["reason"] == f"there is no {names[0]}.mlir that it proves"
    assert found[names[1]]["reason"].startswith("there is no proof: ")


def test_what_z3_confirmed_is_written(tools, movement, tmp_path):
    found = answers(tools, movement, "--smtlib", tmp_path / "lemmas")
    written = {p.stem: p.read_text() for p in (tmp_path / "lemmas").glob("*.smt2")}
    assert set(written) == set(found)
    assert sum(text.count("(check-sat)\n(pop 1)") for text in written.values()) >= 5


ONE = "func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  return %x : tensor<4xf32>\n}}\n"


@pytest.mark.parametrize("functions, arguments, code, message", [
    ("", ["{f}"], 2, "give file.mlir [after.mlir] proof, file.mlir folder, or folder; see --help"),
    ("", ["{f}", "{f}", "{f}", "{f}"], 2, "give file.mlir"),
    ("", ["{d}/empty"], 3, "holds no NAME.mlir with its NAME.proof"),
    ("a", ["{f}", "{p}"], 3, "holds 1 functions; give a file with two"),
    ("abc", ["{f}", "{p}"], 3, "holds 3 functions"),
    ("ab", ["{f}", "{d}"], 3, "holds no functions @NAME_before and @NAME_after"),
    (["a_before"], ["{f}", "{d}"], 3, "@a_before has no @..._after to go with"),
    (['"../a_before"', '"../a_after"'], ["{f}", "{d}"], 3, "is no name for a file"),
    ("", ["{p}", "{p}"], 3, "p.proof: cannot be read"),
    ("", ["{f}", "{f}", "{p}"], 3, "f.mlir: holds no function"),
    ("ab", ["{f}", "{p}", "--smtlib", "{p}/x"], 9, "p.proof/x: "),
    ("ab", ["{f}", "{p}"], 6, "")])
def test_what_is_no_goal(tools, tmp_path, functions, arguments, code, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "f.mlir").write_text("".join(ONE.format(name=name) for name in functions))
    (tmp_path / "p.proof").write_text("(proof")
    places = {"f": tmp_path / "f.mlir", "p": tmp_path / "p.proof", "d": tmp_path}
    done = tools.run("mlc-check", *[a.format(**places) for a in arguments])
    assert done.returncode == code and message in done.stderr, done.stderr
    assert bool(done.stderr) == (code != 6)
