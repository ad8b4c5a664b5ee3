"""mlc-rules export: the two forms, which are printed from the rule each for
itself, say the same of every shipped rule; and the page shows what comes out."""

import json
import re

import pytest

INPUT = "test/tools/mlc-rules/Inputs/export.mlir"


def parse(text):
    """S-expressions: nested lists of words; text in quotes keeps them."""
    stack = [[]]
    for word in re.findall(r'"[^"]*"|[()]|[^\s()]+', re.sub(r"^;.*$", "", text, flags=re.M)):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    assert len(stack) == 1
    return stack[0]


def integer(value):
    if isinstance(value, list):
        return [value[0], *map(integer, value[1:])]
    return f"?{value}" if isinstance(value, str) else str(value)


def attribute(value):
    (kind, content), = value.items()
    if kind == "integer":
        return integer(content)
    if kind == "integers":
        return ["list", *map(integer, content)]
    if kind == "real":
        return f"?{content}" if isinstance(content, str) else float(content)
    if kind == "text":
        return f'"{content}"'
    return content  # "mlir": a type's name, or text in quotes


def terms(side, counts):
    """The results as the trees that egg sees."""
    def term(value):
        if "argument" in value:
            return f"?%{value['argument']}"
        node = side["nodes"][value["node"]]
        tree = [node["operator"], *([name, attribute(content)] for name, content in sorted(node["attributes"].items())),
                *map(term, node["operands"])]
        return ["result", str(value["result"]), tree] if counts.get(node["operator"]) else tree
    found = [term(value) for value in side["results"]]
    return found[0] if len(found) == 1 else ["tuple", *found]


def condition(value):
    head, *parts = value
    if head in ("and", "or", "not"):
        return [head, *map(condition, parts)]
    return [head, *map(integer, parts)]


def normal(tree):
    """Attributes by name, numbers as numbers, text of MLIR without quotes."""
    if isinstance(tree, str):
        if re.fullmatch(r'".*"', tree):
            return tree[1:-1]
        try:
            return float(tree)
        except ValueError:
            return tree
    if isinstance(tree, float):
        return tree
    if tree and isinstance(tree[0], str) and re.match(r"\w+\.\w", tree[0]):
        pairs = [part for part in tree[1:] if isinstance(part, list) and len(part) == 2
                 and isinstance(part[0], str) and re.fullmatch(r"[a-z_]+", part[0])]
        rest = [part for part in tree[1:] if part not in pairs]
        return [tree[0], sorted(map(normal, pairs)), *map(normal, rest)]
    return [normal(part) for part in tree]


def as_egg(rule, several):
    when = [["=", ["tensor", f"?%{argument['name']}"], ["list", argument["element"], *map(integer, argument["dims"])]]
            for argument in rule["arguments"]]
    when += map(condition, rule["when"]["integers"])
    when += [[tensor["is"], f"?%{tensor['argument']}"] for tensor in rule["when"]["tensors"]]
    when += [[head, f"?{parameter}", float(bound)] for head, parameter, bound in rule["when"]["reals"]]
    return ["rewrite", rule["name"], terms(rule["before"], several), terms(rule["after"], several), ":when", when]


def operators_with_several_results(rules):
    return {side["nodes"][value["node"]]["operator"]: True for rule in rules for side in (rule["before"], rule["after"])
            for values in [side["results"], *(node["operands"] for node in side["nodes"])]
            for value in values if value.get("result")}


@pytest.mark.parametrize("files", [[], [INPUT]])
def test_both_forms_say_the_same(tools, files):
    files = [tools.source / file for file in files]
    eggs = parse(tools.run("mlc-rules", "export", *files).stdout)
    rules = json.loads(tools.run("mlc-rules", "export", "--json", *files).stdout)
    listed = json.loads(tools.run("mlc-rules", "list", "--json", *files).stdout)
    assert len(eggs) == len(rules) == len(listed) and len(rules) >= (1 if files else 200)
    several = operators_with_several_results(rules)
    for egg, rule, entry in zip(eggs, rules, listed):
        assert (rule["name"], rule["hash"], rule["text"]) == (entry["name"], entry["hash"], entry["text"])
        assert rule.get("proved") == entry.get("float_class")
        assert normal(egg) == normal(as_egg(rule, several)), rule["name"]
        # Arguments have the names that the rule's own text gives them.
        assert len({argument["name"] for argument in rule["arguments"]}) == len(rule["arguments"])
        # Each operator of the rule's own text is there, as often.
        for side in ("before", "after"):
            assert sorted(node["operator"] for node in rule[side]["nodes"]) == sorted(
                re.findall(r"= (mlc\.\w+)", entry[side])), rule["name"]


def test_the_page_shows_what_comes_out(tools):
    page = (tools.source / "docs/RuleExport.md").read_text()
    shown = re.search(r"```lisp\n(.*?)```", page, re.S).group(1)
    done = tools.run("mlc-rules", "export", tools.source / INPUT)
    assert done.stdout == shown


def test_bad_input(tools, tmp_path):
    done = tools.run("mlc-rules", "export", tmp_path / "none.mlir")
    assert done.returncode == 3 and "give the path of a rule file" in done.stderr
    (tmp_path / "bad.mlir").write_text("rule.def")
    done = tools.run("mlc-rules", "export", tmp_path / "bad.mlir")
    assert done.returncode == 3 and not done.stdout and "not a file of rules" in done.stderr
