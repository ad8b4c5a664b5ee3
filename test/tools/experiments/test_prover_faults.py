"""Faults made mechanically: where they are, that the text with all of them is one program, and which one is on."""

import os
import random
import shutil
import subprocess

import pytest

import source_faults
import mutated_proofs
import prover_faults

TOY = """#include <cstdio>
// if (a < b) in a comment
static bool isLess(int a, int b) {
  if (a < b)
    return true;
  return false;
}
static int count(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) {
    total += 1;
  }
  return total + 1;
}
int main() {
  std::printf("%d %d %d\\n", isLess(1, 2), isLess(2, 2), count(4));
}
"""


def test_faults_do_not_overlap_and_come_again():
    for file in prover_faults.sources():
        text = (prover_faults.ROOT / "verifier" / file).read_text()
        made = source_faults.choose(file, text, 12, 1, random.Random(3))
        assert made == source_faults.choose(file, text, 12, 1, random.Random(3)) and len(made) >= 4, file
        places = sorted((f.begin, f.end) for f in made)
        assert all(a[1] <= b[0] for a, b in zip(places, places[1:]))


def test_sharp_faults_fit_the_sources():
    for file, old, new, _ in prover_faults.SHARP:
        assert (prover_faults.ROOT / "verifier" / file).read_text().count(old) == 1, old
        assert "mlc::fault(NUMBER)" in new


def test_one_fault_is_on(tmp_path):
    compiler = shutil.which("clang++-22") or shutil.which("c++")
    if not compiler:
        pytest.skip("no compiler")
    made = source_faults.choose("toy.cpp", TOY, 20, 1, random.Random(1))
    assert len(made) >= 4 and not any("comment" in TOY[f.begin:f.end] for f in made)
    text, lines = source_faults.carried_out(TOY, made)
    (tmp_path / "fault.h").write_text(source_faults.HEADER)
    (tmp_path / "toy.cpp").write_text(text)
    subprocess.run([compiler, "-std=c++20", "-include", tmp_path / "fault.h", tmp_path / "toy.cpp", "-o", tmp_path / "toy"],
                   check=True)
    outputs = [subprocess.run([tmp_path / "toy"], capture_output=True, text=True,
                              env={**os.environ, "MLC_FAULT": str(n)}).stdout for n in [0, *lines]]
    assert outputs[0] == "1 0 5\n" and sum(o != outputs[0] for o in outputs[1:]) >= 3, outputs


def test_proofs_are_changed_and_come_again():
    text = '(proof (case (needs) (results (zero (group 0 (member 1 (#0 "n") (#0)))))))'
    rng = random.Random(5)
    changed = [mutated_proofs.mutated(text, rng, text) for _ in range(50)]
    assert len(set(changed)) > 25
    rng = random.Random(5)
    assert changed == [mutated_proofs.mutated(text, rng, text) for _ in range(50)]


def test_a_few_changed_proofs(tools, tmp_path):
    """The whole driver, on a few proofs of the literature: none of a false statement is accepted."""
    script = tools.source / "tools/experiments/mutated_proofs.py"
    done = subprocess.run(["python3", script, "--build", tools.build, "--count", "60", "--mutants", "0"],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 proofs, " in done.stdout and done.stdout.rstrip().endswith(" 0 bad")
