"""No function is longer than 80 lines and no source file longer than 500."""

import re
import subprocess

import pytest

MOST_LINES_OF_FUNCTION = 80
MOST_LINES_OF_FILE = 500
CXX = (".h", ".cpp", ".c", ".h.in", ".cpp.in")
SOURCES = (*CXX, ".td", ".py", ".py.in")

SKIPPED = re.compile(
    r"""//(?:\\\n|[^\n])* | /\*.*?\*/                       # comments
      | \b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"  # raw texts
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'                  # in a number it separates digits
      | ^[ \t]*\#(?:\\\n|[^\n])*                             # directives""",
    re.S | re.M | re.X)
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|alignas\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\)", re.S)
CONTAINER = re.compile(r"(?:^|[\s>])(?:namespace|class|struct|union|enum|extern)\b[^()=]*$")
LAMBDA = re.compile(r"=\s*\[[^\]]*\]")


def bare(text):
    """The code without comments, texts and directives, on the same lines."""
    return SKIPPED.sub(lambda skipped: " " + "\n" * skipped.group().count("\n"), text)


class Reader:
    """Finds the functions that stand in no other: the outermost blocks that are no namespace, type or table."""

    def __init__(self, text):
        self.code, self.at, self.line = bare(text), 0, 1
        self.containers = 0
        self.found = []  # (header, first line, last line)
        self.restart()

    def restart(self):
        self.header, self.start, self.parens, self.has_block = "", None, 0, False

    def take(self):
        c = self.code[self.at]
        self.at += 1
        self.line += c == "\n"
        return c

    def skip_block(self):
        """Past the brace that closes the one just read."""
        depth = 1
        while depth:
            if self.at == len(self.code):
                raise ValueError(f"the block of line {self.start} is not closed")
            c = self.take()
            depth += (c == "{") - (c == "}")

    def end(self, is_function):
        if is_function:
            self.found.append((" ".join(self.header.split()), self.start, self.line))
        self.restart()

    def open(self):
        if not self.parens and CONTAINER.search(ATTRIBUTE.sub("", self.header)):
            self.containers += 1
            return self.restart()
        self.skip_block()
        self.has_block = True
        # A constructor's `: a{b}, c{d} {`, and a value's `{...};`, go on after a block.
        if not self.parens and not re.match(r"\s*[,{;.(]", self.code[self.at:]):
            self.end("(" in self.header)

    def functions(self):
        while self.at < len(self.code):
            c = self.take()
            if c == "{":
                self.open()
            elif c == "}":
                self.containers -= 1
                if self.containers < 0:
                    raise ValueError(f"line {self.line} closes a block that is not open")
                self.restart()
            elif c == ";" and not self.parens:
                self.end(self.has_block and LAMBDA.search(self.header))
            elif c == ":" and self.header.strip() in ("public", "protected", "private"):
                self.restart()
            else:
                self.parens += (c == "(") - (c == ")")
                self.header += c
                if self.start is None and not c.isspace():
                    self.start = self.line
        if self.containers or self.parens:
            raise ValueError("a block or parenthesis is not closed")
        return self.found


def functions(text):
    """Raises ValueError where braces do not match, so that a text that is read wrongly is noticed."""
    return Reader(text).functions()


def too_long(text):
    return [(header, last - first + 1) for header, first, last in functions(text)
            if last - first + 1 > MOST_LINES_OF_FUNCTION]


@pytest.fixture(scope="module")
def sources(tools):
    """The text of each source that people write, by its path."""
    listed = subprocess.run(["git", "ls-files"], cwd=tools.source, capture_output=True, text=True, check=True)
    files = {name: (tools.source / name).read_text() for name in listed.stdout.splitlines() if name.endswith(SOURCES)}
    assert len(files) > 500
    return files


def test_no_file_is_too_long(sources):
    assert {name: text.count("\n") for name, text in sources.items()
            if text.count("\n") > MOST_LINES_OF_FILE} == {}


def test_no_function_is_too_long(sources):
    long = {}
    count = 0
    for name, text in sources.items():
        if name.endswith(CXX):
            count += len(functions(text))
            for header, lines in too_long(text):
                long[f"{name}: {header}"] = lines
    assert count > 5000
    assert long == {}


SAMPLE = '''
namespace a {
#define OPEN {
class Point : public Base<int> {
public:
  // What } is { said does not count.
  Point(int x) : x{x}, text("}") {
    run([&] { return '{'; });
  }
  int count = 1'000;
  enum class Kind { A, B };
  struct { int x; } inner;
};
static const Row rows[] = {{1, 2}, {3, 4}};
static const auto same = [](int x) {
  return x;
};
template <typename T>
[[nodiscard]] static bool
isLong(T t, const char *text = R"(})")
{
  if (t) {
    return true;
  }
  return false;
}
} // namespace a
TEST_CASE("a test") { CHECK(1); }
'''


def test_what_is_found_in_a_source():
    assert [(header.split("(")[0], first, last) for header, first, last in functions(SAMPLE)] == [
        ("Point", 7, 9), ("static const auto same = []", 15, 17),
        ("template <typename T> [[nodiscard]] static bool isLong", 18, 26), ("TEST_CASE", 28, 28)]


def test_these_checks_can_fail():
    body = "  run();\n" * (MOST_LINES_OF_FUNCTION - 2)
    assert too_long(f"void f() {{\n{body}}}\n") == []
    assert too_long(f"void f() {{\n{body}\n}}\n") == [("void f()", MOST_LINES_OF_FUNCTION + 1)]
    for text in ("void f() {", "}", "namespace a {", 'void f() { "}" '):
        with pytest.raises(ValueError):
            functions(text)
