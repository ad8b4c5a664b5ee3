"""What is remembered of something is remembered of that alone: not of what lies at its address later, nor of a mark of the table."""

import re

# A table by the address of an expression's node outlives the expression.
BY_ADDRESS = re.compile(r"\b(?:Map|Set|map|set|DenseMap|DenseSet|SetVector|SmallPtrSet(?:Impl)?|unordered_map|unordered_set)"
                        r"<(?:std::pair<)?const ExprNode \*")
# llvm::DenseMap marks what is free with the two largest unsigned numbers, and answers for them out of memory that nobody wrote.
MARK = re.compile(r"constexpr \w+ \w+ = (?:~0u|~uint32_t\(0\)|-1u|UINT_MAX|std::numeric_limits<unsigned>::max\(\));")
# Never keys.
KNOWN = {"rewrites/Generate/Graphs.h", "passes/Import/Handlers.h"}


def found(text):
    return BY_ADDRESS.findall(text) + MARK.findall(text)


def test_tables_keep_what_they_are_about(tools):
    places = {}
    for folder in ("dialects", "verifier", "rewrites", "codegen", "passes", "simulator", "planner", "tools"):
        for file in sorted((tools.source / folder).rglob("*")):
            if file.suffix in (".h", ".cpp") and (lines := found(file.read_text())):
                places[str(file.relative_to(tools.source))] = lines
    assert set(places) <= KNOWN, places


def test_this_check_can_fail():
    assert found("llvm::DenseMap<const ExprNode *, Expr> done;")
    assert found("std::map<std::pair<const ExprNode *, int>, Needs> known;")
    assert found("static constexpr unsigned noLoop = ~0u;")
    assert not found("ExprMap<Expr> done; std::vector<unsigned> order(count, ~0u);")
