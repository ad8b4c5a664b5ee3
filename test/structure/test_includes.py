"""Includes point one way: the layers stand in docs/Architecture.md, and every
include of the product's sources is held against them. Neither folders nor the
units in them, a header with its source, include each other around a circle."""

import os
import re
import subprocess

import pytest

ROOTS = ("dialects", "verifier", "rewrites", "codegen", "passes", "runtime", "simulator", "planner", "tools")
BACKENDS = ("codegen/cpu", "codegen/cuda")
REGISTRY = "codegen/Backends.cpp"
SOURCES = (".h", ".cpp", ".c", ".cuh", ".def", ".inc", ".td", ".h.in", ".cpp.in")



def layers(page):
    """Folders from the top down; those of one line are of one layer."""
    block = re.search(r"## Layers\n.*?```\n(.*?)```", page, re.S).group(1)
    return [line.split() for line in block.strip().splitlines()]


def layer_of(path, stack):
    """The layer of the longest folder that `path` is in."""
    found = [(len(folder), i) for i, line in enumerate(stack) for folder in line
             if path == folder or path.startswith(folder + "/")]
    return max(found)[1] if found else None


def includes(root):
    files = subprocess.run(["git", "ls-files", *ROOTS], cwd=root, capture_output=True, text=True, check=True)
    for name in files.stdout.splitlines():
        if name.endswith((".h", ".cpp", ".td", ".h.in", ".c")):
            for target in re.findall(r'^#?include\s+["<]([^">]+)[">]', (root / name).read_text(), re.M):
                yield name, target


def upward(edges, stack):
    return [(name, target) for name, target in edges if target.split("/")[0] in ROOTS
            and layer_of(os.path.dirname(target), stack) < layer_of(os.path.dirname(name), stack)]


def resolved(root):
    """Includes of one source by another, with the tests' and with headers that are generated, as paths."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    files = {name for name in listed.stdout.splitlines() if name.endswith(SOURCES)}
    for name in sorted(files):
        for target in re.findall(r'^\s*#?\s*include\s+["<]([^">]+)[">]', (root / name).read_text(), re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(name), target))
            if target in files or target.split("/")[0] in ROOTS:
                yield name, target
            elif beside in files:
                yield name, beside


def unit(path):
    """X.h, X.cpp and the tables X.def and X.inc are one."""
    return re.sub(r"\.(h|cpp|cuh|def|inc)$", "", path)


def graph_of(includes, part):
    """What each part includes of others; a file's part is its unit or its folder."""
    graph = {}
    for name, target in includes:
        if part(name) != part(target):
            graph.setdefault(part(name), set()).add(part(target))
    return graph


def circles(graph):
    """The sets of parts of which each leads to all others of its set, as sorted names."""
    def reach(start):
        found, left = set(), [start]
        while left:
            others = graph.get(left.pop(), set()) - found
            found |= others
            left += others
        return found

    reached = {part: reach(part) for part in graph}
    return {tuple(sorted(other for other in reached[part] if part in reached.get(other, ())))
            for part in graph if part in reached[part]}


def told(circle, includes, part):
    """A circle for people: the includes that it is made of."""
    lines = sorted({f"  {name} includes {target}" for name, target in includes
                    if part(name) != part(target) and {part(name), part(target)} <= set(circle)})
    return "\n".join([f"{', '.join(circle)} include each other around a circle:", *lines])


def backend_includes(edges):
    return [(name, target) for name, target in edges for backend in BACKENDS
            if target.startswith(backend + "/") and not name.startswith(backend + "/") and name != REGISTRY]


def of_llvm(edges):
    return [(name, target) for name, target in edges
            if name.startswith("runtime/") and re.match(r"(mlir|llvm|llvm-c)/", target)]


@pytest.fixture(scope="module")
def stack(tools):
    return layers((tools.source / "docs/Architecture.md").read_text())


@pytest.fixture(scope="module")
def edges(tools):
    found = list(includes(tools.source))
    assert len(found) > 1000
    return found


@pytest.fixture(scope="module")
def sources(tools):
    found = list(resolved(tools.source))
    assert len({name for name, _ in found}) > 1000
    return found


def test_every_folder_has_a_layer(edges, stack):
    assert {name for name, _ in edges if layer_of(os.path.dirname(name), stack) is None} == set()


def test_no_folder_includes_a_higher_one(edges, stack):
    assert upward(edges, stack) == []


def test_no_folders_include_each_other(sources):
    found = circles(graph_of(sources, os.path.dirname))
    assert not found, "\n".join(told(circle, sources, os.path.dirname) for circle in sorted(found))


def test_no_units_include_each_other(sources):
    found = circles(graph_of(sources, unit))
    assert not found, "\n".join(told(circle, sources, unit) for circle in sorted(found))


def test_back_ends_are_known_to_the_registry_alone(edges):
    assert backend_includes(edges) == []
    assert any(name == REGISTRY and target.startswith(BACKENDS) for name, target in edges)


def passes_that_know_opaque_operators(edges):
    """What imports and exports a model names its operators; other passes ask OpaqueOpInterface."""
    return [name for name, target in edges if target == "dialects/Graph/OpaqueOps.h" and name.startswith("passes/")
            and not name.startswith(("passes/Import/", "passes/Export/"))]


def test_passes_know_no_opaque_operator(edges):
    assert passes_that_know_opaque_operators(edges) == []
    assert passes_that_know_opaque_operators([("passes/Distribute/Rank.cpp", "dialects/Graph/OpaqueOps.h")])


def test_the_runtime_is_free_of_mlir(edges):
    assert of_llvm(edges) == []


# What a trusted folder may include of mlc's: itself, and this (docs/Trust.md).
TRUSTED = {
    "verifier/kernel/": ("dialects/Definition/Definition.h", "dialects/Definition/ExprMap.h",
                         "dialects/Definition/GuardedProduct.h", "dialects/Definition/NumberTypes.h"),
    "verifier/linalg/": ("dialects/Symbolic/", "dialects/Definition/", "dialects/Evaluator/"),
    "verifier/read/": ("verifier/kernel/", "verifier/linalg/", "dialects/"),
}


def trusted_includes(edges):
    """What trusted folders include of mlc's, beside what they may."""
    return [(name, target) for name, target in edges for folder, others in TRUSTED.items()
            if name.startswith(folder) and target.split("/")[0] in ROOTS and not target.startswith((folder, *others))]


def test_trusted_folders_include_nothing_else(edges):
    for folder in TRUSTED:
        assert any(name.startswith(folder) for name, _ in edges)
    assert trusted_includes(edges) == []


def sources_of(text, library):
    """The sources that a CMakeLists.txt gives to a library."""
    return re.search(rf"mlc_compiler_library\({library}\n(.*?)\n  LINK ", text, re.S).group(1).split()


def test_a_library_is_what_its_folders_hold(tools):
    """Whatever is linked into the checker lies in a trusted folder, and what looks for proofs in none."""
    folder = tools.source / "verifier"
    text = (folder / "CMakeLists.txt").read_text()
    for library, folders in (("MLCProofKernel", ("kernel", "linalg", "read")), ("MLCVerifier", ("search",))):
        held = [str(p.relative_to(folder)) for name in folders for p in (folder / name).glob("*.cpp")]
        assert len(held) > 20 and sorted(sources_of(text, library)) == sorted(held)
    assert list(folder.glob("*.cpp")) == []


def prover_includes(edges, text):
    """Headers of the prover that the checker's sources reach, through whatever they include."""
    checker = ["verifier/" + s for s in sources_of(text, "MLCProofKernel")]
    reached, left = set(checker), list(checker)
    while left:
        name = left.pop()
        for target in {t for n, t in edges if n == name} - reached:
            reached.add(target)
            left.append(target)
    return sorted(t for t in reached if t == "verifier/Verifier.h" or t.startswith("verifier/search/"))


def test_the_checker_includes_nothing_of_the_prover(tools, edges):
    text = (tools.source / "verifier/CMakeLists.txt").read_text()
    assert prover_includes(edges, text) == []
    assert prover_includes([*edges, ("dialects/Definition/Definition.h", "verifier/search/Unify.h")], text)


def test_these_checks_can_fail(stack):
    for name, target in (("kernel/Check.cpp", "verifier/search/Unify.h"), ("kernel/Check.cpp", "verifier/read/Guard.h"),
                         ("kernel/Check.cpp", "dialects/Graph/Graph.h"), ("linalg/Scalars.cpp", "verifier/read/Arith.h"),
                         ("read/Guard.h", "verifier/search/Unify.h"), ("read/Guard.h", "verifier/Verifier.h")):
        assert trusted_includes([("verifier/" + name, target)])
    assert not trusted_includes([("verifier/read/Goal.cpp", "verifier/kernel/Cases.h")])
    assert upward([("verifier/Verifier.h", "verifier/search/Unify.h")], stack)
    assert upward([("verifier/Facts.cpp", "rewrites/Rules/Rule.h")], stack)
    assert upward([("codegen/target/Target.h", "codegen/kernel/Kernel.h")], stack)
    assert not upward([("rewrites/Cost/Cost.h", "codegen/target/Target.h")], stack)
    assert backend_includes([("passes/Fuse/A.cpp", "codegen/cpu/Emit.h")])
    assert of_llvm([("runtime/A.cpp", "llvm/ADT/StringRef.h")])


def test_circles_are_found():
    around = [("passes/Fuse/A.h", "passes/B.h"), ("passes/B.h", "passes/Fuse/C.h")]
    assert circles(graph_of(around, os.path.dirname)) == {("passes", "passes/Fuse")}
    assert circles(graph_of(around, unit)) == set()
    onward = [("passes/Fuse/A.h", "passes/Base/B.h"), ("passes/C.h", "passes/Fuse/A.h")]
    assert circles(graph_of(onward, os.path.dirname)) == set()
    # The source of one needs the header of the other, and the other way round.
    both = [("a/Plan.cpp", "a/Part.h"), ("a/Part.h", "a/Plan.h"), ("a/Part.cpp", "a/Part.h"), ("a/Top.h", "a/Part.h")]
    assert circles(graph_of(both, unit)) == {("a/Part", "a/Plan")}
    assert told(("a/Part", "a/Plan"), both, unit) == (
        "a/Part, a/Plan include each other around a circle:\n"
        "  a/Part.h includes a/Plan.h\n  a/Plan.cpp includes a/Part.h")
    two = [("A.h", "B.h"), ("B.h", "A.h"), ("B.h", "C.h"), ("C.h", "D.def"), ("D.cpp", "C.h")]
    assert circles(graph_of(two, unit)) == {("A", "B"), ("C", "D")}
