"""Every registered pass takes one form of module and refuses the others, naming
an op and what to run first: what it does not know it would drop."""

import re

import pytest

GRAPH = """
func.func @main(%x: tensor<2x3xf32> {mlc.name = "x"}) -> (tensor<2x3xf32> {mlc.name = "y"}) {
  %y = mlc.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
# What each form begins with, and what its passes say when given another one.
FORMS = {
    "graph": "a graph of mlc operators; run it before mlc-lower-to-linalg",
    "lowered": "linalg on tensors; run mlc-lower-to-linalg first",
    "kernels": "kernels and their program; run mlc-fuse first",
}


@pytest.fixture(scope="module")
def opt(tools):
    def run(text, *flags):
        return tools.run("mlc-opt", *flags, "-", input=text, timeout=60)
    return run


@pytest.fixture(scope="module")
def modules(opt):
    made = {"graph": GRAPH}
    made["lowered"] = opt(GRAPH, "--mlc-lower-to-linalg").stdout
    made["kernels"] = opt(made["lowered"], "--mlc-fuse").stdout
    assert "linalg." in made["lowered"] and "exec.program" in made["kernels"]
    return made


# What passes say that take the graph's form, and want more of a graph.
WANTING = {"mlc-add-gradients": "is no loss", "mlc-add-training-step": "is no loss", "mlc-partition": "has no dist.mesh",
           "mlc-assign-stages": "too few for 2 stages", "mlc-cut-stages": "has no entries @accumulate and @apply",
           "mlc-split-tied-sums": "has no entries @accumulate and @apply", "mlc-join-stages": "has no entries of a step",
           "mlc-slice-sequence": "slices do not divide sequences"}


def passes(opt):
    return sorted(set(re.findall(r"^ +--(mlc-[a-z0-9-]+)", opt("", "--help").stdout, re.M)))


def test_every_pass_takes_one_form(opt, modules):
    names = passes(opt)
    assert {"mlc-fold-constants", "mlc-fuse", "mlc-lower-to-linalg", "mlc-transform-constants"} <= set(names)
    for name in names:
        nested = "func.func(mlc-fold-constants)" if name == "mlc-fold-constants" else name
        results = {form: opt(text, f"--pass-pipeline=builtin.module({nested})") for form, text in modules.items()}
        taken = [form for form, done in results.items()
                 if done.returncode == 0 or name in WANTING and WANTING[name] in done.stderr]
        assert len(taken) == 1, (name, {form: done.stderr for form, done in results.items()})
        for form, done in results.items():
            if form == taken[0]:
                continue
            assert done.stdout == "" and re.search(
                rf"error: '[a-z]+\.[a-z_]+' op is not what --{name} takes, which is {re.escape(FORMS[taken[0]])}",
                done.stderr), (name, form, done.stderr)


def test_opaque_operators_are_fused(opt):
    """They are the only operators of the graph that are left when it is lowered."""
    text = """
func.func @main(%x: tensor<2x3xf32> {mlc.name = "x"}) -> (tensor<2x1xf32> {mlc.name = "v"}, tensor<2x1xi64> {mlc.name = "i"}) {
  %v, %i = mlc.top_k %x {k = #mlc.int<1>, axis = 1 : i64, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return %v, %i : tensor<2x1xf32>, tensor<2x1xi64>
}
"""
    done = opt(text, "--mlc-lower-to-linalg", "--mlc-fuse")
    assert done.returncode == 0 and "exec." in done.stdout, done.stderr
