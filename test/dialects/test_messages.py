"""Each message of the dialects' verifiers and parsers stands in a test: an `expected-error` or a CHECK line here, or a
comparison in test/unit where only C++ can come to it. A message written at several places needs as many tests."""

import collections
import re

import pytest

SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\])*")""", re.S)
LITERALS = re.compile(r'"(?:\\.|[^"\\])*"(?:\s*"(?:\\.|[^"\\])*")*')
# What a message is handed to: a diagnostic, a parser's own `fail`, a definition's `require`.
EMITTERS = re.compile(r"\b(emitOpError|emitError|error|fail|require|requireGroups)\(")

# What an operator's check refuses before; of symbols they stay conditions, which other messages quote.
CONDITIONS = {r"strides\ must\ be\ positive", r"dilations\ must\ be\ positive",
              r"the\ root\ must\ be\ one\ of\ the\ ranks", r"a\ rank\ must\ have\ what\ its\ neighbours\ ask\ for"}


def outer(code, separator):
    """`code` cut at what is `separator` outside of its brackets and texts."""
    parts, depth, begin = [], 0, 0
    for piece in re.finditer(r'"(?:\\.|[^"\\])*"|\?|::|:|[()\[\]{},;]', code):
        token = piece.group()
        depth += (token in "([{") - (token in ")]}")
        if depth < 0:
            break
        if depth == 0 and token == separator:
            parts.append(code[begin:piece.start()])
            begin = piece.end()
    else:
        return parts + [code[begin:]]
    return parts + [code[begin:piece.start()]]


def patterns(code):
    """Regular expressions of the texts that an expression of literals and values is: several of a choice."""
    choice = outer(code, "?")
    if len(choice) > 1:
        return [pattern for side in outer("?".join(choice[1:]), ":") for pattern in patterns(side)]
    pattern, depth, end = "", 0, 0
    for piece in re.finditer(LITERALS.pattern + r"|[()]", code):
        if piece.group() in "()":
            depth += 1 if piece.group() == "(" else -1
        elif depth == 0:
            text = "".join(part[1:-1] for part in re.findall(r'"(?:\\.|[^"\\])*"', piece.group()))
            pattern += (".*" if code[end:piece.start()].strip(" \n<+") else "") + re.escape(text)
        if depth == 0:
            end = piece.end() if piece.group() not in "()" else end
    return [pattern] if re.search(r"[a-z]{3}", pattern) else []


def messages(source):
    """The pattern of each message that a C++ source gives."""
    code = SKIPPED.sub(lambda match: match.group(1) or " ", source)
    for call in EMITTERS.finditer(code):
        arguments = outer(code[call.end():], ",")
        if call.group(1) in ("emitOpError", "emitError", "error"):
            inside = outer(code[call.end():], ";")[0]
            rest = outer(code[call.end() + len(inside) + 1:], ";")[0]
            if rest.lstrip().startswith("<<") or '"' in inside:
                yield from patterns(inside + rest)
        else:
            yield from patterns(arguments[-1])


def said(text):
    """What the tests of a file say is printed."""
    yield from re.findall(r"expected-error ?(?:@\S+)? ?\{\{(.*)\}\}", text)
    yield from re.findall(r"CHECK(?:-[A-Z]+)?: (.*)", text)


def literals(text):
    for literal in LITERALS.findall(text):
        yield "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literal))


@pytest.fixture(scope="module")
def sites(tools):
    found = collections.defaultdict(list)
    for file in sorted((tools.source / "dialects").rglob("*.[ch]*")):
        for pattern in messages(file.read_text()):
            found[pattern].append(file.name)
    return found


@pytest.fixture(scope="module")
def tests(tools):
    here = tools.source / "test/dialects"
    found = {text for file in here.iterdir() if file.suffix in (".mlir", ".test") for text in said(file.read_text())}
    for file in (tools.source / "test/unit").rglob("*.cpp"):
        found.update(literals(file.read_text()))
    return found


def test_every_message_is_tested(sites, tests):
    assert sum(map(len, sites.values())) > 150
    missing = {pattern: files for pattern, files in sites.items()
               if sum(bool(re.search(pattern, text)) for text in tests) < len(files)}
    assert missing.keys() == CONDITIONS


SAMPLE = '''
// emitOpError() << "a comment";
if (x) return emitOpError() << "requires " << n << " dims, "
                               "got " << (n ? "some" : "none");
return op.emitOpError("joins along dim ") << int64_t(d);
fail(isTruth ? "any and all take truth values" : "truth values are not " + name(f, "a") + " reduced");
b.require(x, ComparePredicate::EQ, f("no text"), what + " must be a multiple");
'''


def test_what_is_found_in_a_source():
    assert list(messages(SAMPLE)) == [
        r"requires\ .*\ dims,\ got\ ", r"joins\ along\ dim\ ",
        r"any\ and\ all\ take\ truth\ values", r"truth\ values\ are\ not\ .*\ reduced",
        r".*\ must\ be\ a\ multiple"]
    assert list(said("// expected-error @+1 {{'a.b' op is wrong {here}}}")) == ["'a.b' op is wrong {here}"]
