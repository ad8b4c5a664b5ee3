"""What kernels ask of a GPU, counted on the emulator: the reports, and that no kernel of small models gets worse."""

import copy
import json
import re

import kernel_counters
import numpy as np
import pytest

from emulated import Graph

REGENERATE = "if that is meant: python tools/bench/kernel_counters.py --write"


@pytest.fixture(scope="module")
def committed():
    return json.loads(kernel_counters.DATA.read_text())


def test_no_kernel_got_worse(tools, committed, tmp_path):
    if kernel_counters.compiler_version() != committed["compiler"]:
        pytest.skip(f"figures are those of clang {committed['compiler']}")
    worse, other = kernel_counters.differences(committed, kernel_counters.measure_all(tools, tmp_path))
    assert not worse, "\n".join(["kernels got worse:", *worse, *(["and otherwise:", *other] if other else []), REGENERATE])
    assert not other, "\n".join(["kernels changed, and none got worse:", *other, REGENERATE])


def test_the_page_has_the_figures(committed):
    assert kernel_counters.PAGE.read_text() == kernel_counters.page_of(committed), REGENERATE
    assert kernel_counters.DATA.read_text() == kernel_counters.text_of(committed)
    assert list(committed["targets"]) == list(kernel_counters.ARCHITECTURES)


def test_what_counts_as_worse(committed):
    def changed(**figures):
        other = copy.deepcopy(committed)
        models = other["targets"]["sm_80"]
        name = next(n for n in models if n.startswith("transpose"))
        models[name]["kernels"][0].update(figures)
        return kernel_counters.differences(committed, other)
    assert changed() == ([], [])
    worse, other = changed(**{"global_loads.sectors": 10**9})
    assert len(worse) == 1 and other == []
    assert re.fullmatch(r"sm_80: transpose [^:]+: global_loads.sectors: 1000000000, not \d+", worse[0])
    worse, other = changed(**{"global_loads.sectors": 1, "barriers": 10**9})
    assert len(worse) == len(other) == 1
    assert changed(blocks=1) == ([], [f"{worse[0].split(': barriers')[0]}: blocks, widths or skeletons differ"])
    less = copy.deepcopy(committed)
    gone, _ = less["targets"]["sm_90a"].popitem()
    assert kernel_counters.differences(committed, less) == ([], [f"sm_90a: {gone}: only committed"])


@pytest.fixture(scope="module")
def graph(tools, tmp_path_factory):
    """A softmax, and a transpose whose tiles need shared memory."""
    graph = Graph(tools, tmp_path_factory.mktemp("counters"))
    case = graph.case("softmax", "rows")
    case.output(case.node("Softmax", case.input(np.ones((3, 100), np.float32))))
    case = graph.case("turned", "transpose")
    case.output(case.node("Transpose", case.input(np.ones((64, 96), np.float32)), perm=[1, 0]))
    return graph.compile()


def report(graph, name, **options):
    graph.run({n: a for c in graph.cases for n, a in c.values().items()}, MLC_EMULATOR_COUNTERS=str(graph.folder / name),
              **options)
    return (graph.folder / name).read_text()


def test_a_report_by_line(graph):
    kernels = {k["name"]: k for k in json.loads(report(graph, "c.json"))["kernels"]}
    assert set(kernels) == set(graph.sources)
    for kernel in kernels.values():
        source = graph.sources[kernel["name"]].splitlines()
        sums = {}
        for line in kernel["lines"]:
            assert source[line["line"] - 1].strip() == line["text"]
            assert 0 < line["from"] <= len(source)
            for figure, value in line["figures"].items():
                sums[figure] = sums.get(figure, 0) + value
        assert sums == kernel["figures"]
    softmax, turned = (kernels[graph.kernels[name][0]] for name in ("softmax", "turned"))
    assert (softmax["launches"], softmax["blocks"]) == (1, 1)
    # Each element is read once and written once, by neighbours: 64 rows of 96.
    for way in "loads", "stores":
        assert turned["figures"][f"global_{way}.bytes"] == 4 * 64 * 96
        assert turned["figures"][f"global_{way}.sectors"] == turned["figures"][f"global_{way}.ideal_sectors"] == 64 * 96 // 8
        assert turned["figures"][f"shared_{way}.wavefronts"] == turned["figures"][f"shared_{way}.ideal_wavefronts"] == 2 * 96
        assert turned["figures"][f"global_{way}.of_16_bytes"] == turned["figures"][f"global_{way}.requests"] == 2 * 96 // 4


def test_the_order_of_threads_does_not_count(graph):
    plain = report(graph, "plain.json")
    assert plain == report(graph, "plain.json") and '"barriers"' in plain
    for seed in range(1, 4):
        assert report(graph, "other.json", seed=seed) == plain


def test_a_report_as_a_table(graph):
    text = report(graph, "c.txt")
    for symbol, source in graph.sources.items():
        assert re.search(rf"^kernel {symbol}: launches 1, blocks \d+, threads \d+$", text, re.M)
    rows = [line for line in text.splitlines() if re.search(r"\d+( \(from \d+\))?: .*;$", line)]
    assert len(rows) > 5 and all(len(re.match(r"( +(\d+|-)){9}  ", row)[0]) > 50 for row in rows)


def test_a_report_that_cannot_be_written(graph, tools, tmp_path):
    np.savez(tmp_path / "in.npz", **{n: a for c in graph.cases for n, a in c.values().items()})
    done = tools.mlc("run", graph.artifact, "--device=emulator", "--input", tmp_path / "in.npz", env={
        **kernel_counters.os.environ, "MLC_EMULATOR_COUNTERS": str(tmp_path / "none/c.json")})
    assert done.returncode == 8
    assert f"MLC_EMULATOR_COUNTERS is '{tmp_path}/none/c.json'; expected a file that can be written" in done.stderr
