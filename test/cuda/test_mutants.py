"""A few of mutants.py's faults, of every kind of kernel and of fault: the emulator
finds each; the right kernels pass under two orders."""

import os

import pytest

# Found by a report whose begin this is, or by the result.
FEW = {
    "tf32: no barrier in steps": "report: race",
    "tf32: waits for a copy less": "report: use of bytes that an asynchronous copy",
    "tf32: row + 8 dropped": "result",
    "tf32: a lane does not multiply": "report: divergent barrier",
    "vectors: chunks 3 words apart": "report: misaligned access",
    "parts: no barrier behind a part": "report: race",
    "parts: no barrier behind the count": "report: race",
    "parts: last part dropped": "result",
    "tileparts: a part more is awaited": "report: counters are not zero",
    "conv: pads are not asked": "report: access out of bounds",
    "ieee: no barrier before the next": "report: race",
    "softmax: no barrier behind partial maxima": "report: read of bytes that nobody wrote",
    "softmax: distance 1 dropped": "result",
    "rowsums: no barrier behind the word": "report: race",
    "columnsums: last part dropped": "result",
    "scratch: blocks share scratch memory": "report: race",
    "again: shuffles after leaving": "report: divergent barrier",
    "team: threads without a row write": "report: race",
    "vector: tail one too long": "report: access out of bounds",
    "topk: no barrier before the next vote": "report: race",
    "pieces: runs not mirrored": "result",
    "merge: no barrier behind a merge": "report: read of bytes that nobody wrote",
    "scatter: columns unbounded": "report: access out of bounds",
    "scatter: every lane adds": "result",
    "scatter: lanes in one place": "report: race",
    "across: not transposed": "result",
    "transpose: no barrier behind the tiles": "report: read of bytes that nobody wrote",
    "bytes: no barrier between tasks": "report: race",
    "turned: reads a row too much": "report: access out of bounds",
    "planes: no bound above": "report: access out of bounds",
    "narrow: no barrier behind the sums": "report: race",
    "bands: the band's last row not brought": "report: read of bytes that nobody wrote",
    "pixels: pixels outside are read": "report: access out of bounds",
    "pad: no bound at the end": "report: access out of bounds",
    "mapped: waits for the use before": "report: misuse of an instruction",
    "mapped: a release one product early": "report: race",
    "mapped: expects too many bytes": "report: deadlock",
    "mapped: leading and stride exchanged": "result",
    "mapped: B's corner in k off by one": "result",
    "gathered: copies that products do not see": "report: no fenceAsyncProxy()",
    "gathered: waits for a copy less": "report: race",
    "shared: counts before others have written": "report: race",
}


@pytest.fixture(scope="module")
def mutants(tools):
    os.environ["MLC_BUILD"] = str(tools.build)
    import mutants
    return mutants


def test_faults_are_found(mutants, tmp_path):
    chosen = [fault for fault in mutants.faults() if fault.name in FEW]
    assert len(chosen) == len(FEW)
    found = {fault.name: how for fault, how in mutants.outcomes(chosen, tmp_path)}
    wrong = {name: found[name] for name, how in FEW.items() if not (found[name] or "").startswith(how)}
    assert not wrong


def test_every_fault_has_a_name_and_its_text(mutants, tmp_path):
    chosen = list(mutants.faults())
    assert len({fault.name for fault in chosen}) == len(chosen)
    kernels = mutants.kernels(tmp_path)
    for fault in chosen:
        assert fault.applied(kernels[fault.kernel].text) != kernels[fault.kernel].text, fault.name


@pytest.mark.parametrize("seed", [1, 2])
def test_right_kernels_in_any_order(mutants, tmp_path, seed):
    kernels = mutants.kernels(tmp_path, ["tf32", "softmax", "scratch", "warps", "team", "topk", "merge", "bytes", "turned",
                                         "mapped", "gathered", "shared"])
    found = {name: kernel.outcome(kernel.text, "right", seed) for name, kernel in kernels.items()}
    assert not any(found.values()), found
