"""Mistakes in what ranks carry out: sums that are left out or are something else, parts of another rank, operands in
another order."""

import re

COLLECTIVE = re.compile(r"^ *(%\w+) = dist\.(\w+) (%\w+) \{.*\} : \((.*)\) -> (.*)\n", re.M)
OPERANDS = re.compile(r"(= mlc\.(?:sub|div) )(%\w+), (%\w+)")
DEFINITION = re.compile(r'definition = "[^"]*"')


def at(text, found, new):
    return text[:found.start()] + new + text[found.end():]


def mistakes(program):
    """Pairs of what was done and the program with it."""
    for found in COLLECTIVE.finditer(program):
        result, name, operand, before, after = found.groups()
        line = found.group()
        if before == after:
            yield f"without {line.strip()}", re.sub(rf"{result}\b(?! =)", operand, at(program, found, ""))
        if name == "all_reduce":
            for kind in ("sum", "max", "min"):
                if f'"{kind}"' not in line:
                    yield f"{kind} in {line.strip()}", at(program, found, re.sub(r'reduction = "\w+"', f'reduction = "{kind}"', line))
            axis = re.search(r"axis = #dist\.axis<[^>]*>", line).group()
            yield (f"the first rank's of {line.strip()}",
                   at(program, found, f"    {result} = dist.broadcast {operand} {{{axis}, root = 0 : i64}} : ({before}) -> {after}\n"))
        axis = re.search(r"axis = #dist\.axis<[^>]*>", line).group()
        yield (f"of the rank before {line.strip()}", at(program, found,
               f"    %moved = dist.shift {operand} {{{axis}, by = 1 : i64}} : ({before}) -> {before}\n"
               + line.replace(f"dist.{name} {operand} ", f"dist.{name} %moved ")))
    for found in re.finditer(r"\brank\.a\b", program):
        for new in ("0", "(rank.a + 1)", "(N + (-1 * rank.a) + -1)"):
            yield f"{new} in place of rank.a at {found.start()}", at(program, found, new)
    for found in OPERANDS.finditer(program):
        yield f"operands of {found.group()}", at(program, found, f"{found.group(1)}{found.group(3)}, {found.group(2)}")
    for found in DEFINITION.finditer(program):
        for old, new in (("<=", "<"), ("==", "<="), ("sum{", "max{"), ("max{", "sum{"), ("exp(", "tanh("), ("neg(", "abs(")):
            if old in found.group():
                yield f"{new} for {old} in {found.group()}", at(program, found, found.group().replace(old, new, 1))

