"""Faults in C++ sources, made mechanically, and which of them a text can have at once.

A fault is an expression or a statement in place of another one. All faults of
a file are in one copy of it, as (mlc::fault(7) ? changed : original), so that
it is built once; an environment variable says which one is on.
"""

import dataclasses
import re

HEADER = """#pragma once
#include <cstdlib>
namespace mlc {
inline bool fault(int number) {
  static const char *const text = std::getenv("MLC_FAULT");
  static const int active = text ? std::atoi(text) : 0;
  return active == number;
}
} // namespace mlc
"""


@dataclasses.dataclass
class Fault:
    number: int
    file: str
    line: int
    what: str
    begin: int
    end: int
    text: str  # in place of the part from begin to end; @ is what was there


def masked(text):
    """The text with comments, strings and characters as blanks: places stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^#[^\n]*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)


def closing(mask, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(mask)):
        depth += (mask[i] in "([{") - (mask[i] in ")]}")
        if depth == 0:
            return i
    return len(mask)


def end_of_statement(mask, at):
    """The place of the semicolon that ends what begins at `at`, or None."""
    while at < len(mask):
        if mask[at] in "([{":
            at = closing(mask, at)
        elif mask[at] in ")]}":
            return None
        elif mask[at] == ";":
            return at
        at += 1
    return None


# What is taken for what, within an expression.
OPERATORS = [
    (r"(?<![<>=!\-])<(?![<=])(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>=(?= )", ">"), (r"(?<= )>(?= )", ">="),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "),
    (r"(?<=[\w)]) - ", " + "), (r"(?<=[(,=] )-(?=\w)|(?<=[(])-(?=\w)|(?<=return )-(?=\w)", ""), (r"!(?=[\w(])", ""),
    (r" \* (?=\w)", " + "), (r"\bany_of\b", "all_of"), (r"\ball_of\b", "any_of"), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r"\.front\(\)", ".back()"), (r"\bnonNegative\(", "zero("), (r"\bzero\(", "nonNegative("),
    (r"\bprovesPositive\b", "provesNonNegative"), (r"\bisPositive\(", "isNonNegative("), (r"\bMin\b", "Max"),
    (r"\bMax\b", "Min"), (r"\bnegated\(", "("), (r"\.left\(\)", ".right()"), (r"\bFraction\(0\)", "Fraction(1)"),
    (r"\[0\]", "[1 - 1 + 0]"), (r"\bisSigned\b", "isSigned == false"), (r"(?<=[\[(, ])i(?=[\]), ])", "(i ? i - 1 : i)"),
]


def expressions(text, mask):
    """Conditions, what is returned and what initializes: (begin, end, kind)."""
    for m in re.finditer(r"\b(?:if|while) \(", mask):
        begin, end = m.end(), closing(mask, m.end() - 1)
        if ";" not in mask[begin:end] and not re.search(r"(?<![=<>!])=(?!=)", mask[begin:end]):
            yield begin, end, "if"
    for m in re.finditer(r"\breturn (?=[^;{])", mask):
        end = end_of_statement(mask, m.end())
        if end and "nullopt" not in mask[m.end():end]:
            yield m.end(), end, "return"
    for m in re.finditer(r"^ +(?:const )?(?:bool|int64_t|IntExpr|Sum|Fraction|Integer|Guard|Formula) \w+ =\s", mask, flags=re.M):
        end = end_of_statement(mask, m.end())
        if end:
            yield m.end(), end, "value"


def statements(text, mask):
    """Statements that may be left out: calls, assignments, continue and break."""
    for m in re.finditer(r"^ +(?=[\w*][\w:*.\->\[\]]*(?:\(| [-+|*]?= )|(?:continue|break);)", mask, flags=re.M):
        word = re.match(r"[\w:]+", mask[m.end():])
        if word and word[0] in ("return", "if", "while", "for", "switch", "case", "else", "using", "auto", "static"):
            continue
        end = end_of_statement(mask, m.end())
        before = mask[:m.start()].rstrip()[-1:]
        if end and before in "{};)" and "\n\n" not in mask[m.end():end]:
            yield m.end(), end + 1


def candidates(text):
    """(begin, end, replacement, what) of everything that could be changed."""
    mask = masked(text)
    for begin, end, kind in expressions(text, mask):
        part = text[begin:end]
        choices = []
        if kind == "if":
            choices += [("true", "condition taken for true"), ("false", "condition taken for false")]
        if kind == "return" and part in ("true", "false"):
            choices.append(("false" if part == "true" else "true", f"returns {part}, negated"))
        for pattern, other in OPERATORS:
            for m in re.finditer(pattern, mask[begin:end]):
                changed = part[:m.start()] + other + part[m.end():]
                choices.append((changed, f"{m[0].strip()} becomes {other.strip() or 'nothing'}"))
        for changed, what in choices:
            yield begin, end, f"(mlc::fault(NUMBER) ? ({changed}) : (@))", what
    for begin, end in statements(text, mask):
        yield begin, end, "if (!mlc::fault(NUMBER)) @", "left out: " + " ".join(text[begin:end].split())[:60]


def choose(file, text, count, first, rng):
    """Up to `count` faults at places that do not overlap."""
    # Reasons in words and limits of work matter to no verdict.
    every = [c for c in candidates(text) if not re.search("failure|[bB]udget|reason", text[c[0]:c[1]])]
    chosen = []
    rng.shuffle(every)
    for begin, end, changed, what in every:
        if len(chosen) == count:
            break
        if all(end <= f.begin or f.end <= begin for f in chosen):
            number = first + len(chosen)
            line = text.count("\n", 0, begin) + 1
            chosen.append(Fault(number, file, line, what, begin, end, changed.replace("NUMBER", str(number))))
    return chosen


def carried_out(text, faults):
    """The text with all faults, and for each the lines that it has there."""
    lines, shift = {}, 0
    for f in sorted(faults, key=lambda f: f.begin):
        old = text[f.begin + shift:f.end + shift]
        new = f.text.replace("@", old)
        first = text.count("\n", 0, f.begin + shift) + 1
        lines[f.number] = (first, first + new.count("\n"))
        text = text[:f.begin + shift] + new + text[f.end + shift:]
        shift += len(new) - len(old)
    return text, lines
