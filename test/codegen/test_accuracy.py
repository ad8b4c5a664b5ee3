"""Every function within its limits: a part of what ./dev functions measures."""

import sys

import pytest


@pytest.fixture(scope="module")
def results(tools):
    sys.path.insert(0, str(tools.source / "tools/bench"))
    import functions
    names = [*functions.FUNCTIONS, *functions.BINARY]
    targets = functions.native_targets()
    return functions, functions.measure(tools.build, names, targets[-1:], 60_000)


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_functions_are_within_their_limits(kind, results):
    functions, measured = results
    bad = {name: (worst.units, worst.where, worst.zeros) for (name, of, _), worst in measured.items()
           if of == kind and not worst.fits(name, kind)}
    assert len([of for _, of, _ in measured if of == kind]) >= len(functions.FUNCTIONS)
    assert bad == {}
