"""Rewrites for GPUs: what was measured to be slower is not taken, what paid is
(docs/Measurements/cost-model.md)."""

import collections
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "experiments"))
import models  # noqa: E402

FOLD = re.compile(r"batch_norm")


@pytest.fixture(scope="module")
def rewrites(tools, tmp_path_factory):
    """The rules that are applied to a network of full size, and how often."""
    folder = tmp_path_factory.mktemp("gpu-costs")

    def of(name, target="cuda:sm_90a"):
        path = models.write(name, folder / f"{name}.onnx")
        done = tools.mlc("compile", path, f"--target={target}", "--compile-to=optimize",
                         "--explain", "-o", folder / "out.mlir")
        assert done.returncode == 0, done.stderr
        taken = done.stderr.split("possible, but slower")[0]
        steps = re.findall(r"(?:^ +[\d, ]+\. |, then )(\w+) at ", taken, re.M)
        assert len(steps) == int(re.search(r"^rewrites \((\d+)\)", taken, re.M)[1]), taken
        return collections.Counter(steps)

    return of


def test_merges_that_were_slower_are_not_taken(rewrites):
    assert not rewrites("squeezenet")
    assert all(FOLD.search(rule) for rule in rewrites("resnet18-parallel"))


def test_batch_norms_are_folded(rewrites):
    # A batch norm that stays takes a launch of its own: 16 % of ResNet-50.
    assert sum(n for rule, n in rewrites("resnet18-parallel").items() if FOLD.search(rule)) == 25


def test_merges_that_paid_are_taken(rewrites):
    # 80 products, 0.29 of the time once they are merged.
    merges = {rule: n for rule, n in rewrites("nasrnn").items() if "matmul_and_matmul" in rule
              or rule.startswith("split_matmul")}
    assert sum(merges.values()) >= 44
