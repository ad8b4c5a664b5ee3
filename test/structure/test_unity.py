"""No two sources of a library that is compiled in batches (MLC_UNITY, cmake/MLC.cmake) have a local name in common."""

import collections
import re

from test_sizes import ATTRIBUTE, bare

LIBRARY = re.compile(r"\b(?:mlc_compiler_library|mlc_tool)\(([\w-]+)\s([^)]*)\)")
LISTED = re.compile(r"\bset\((\w+)\s([^)]*\.cpp[^)]*)\)")
GLOB = re.compile(r"file\(GLOB sources\b[^)]*\*\.cpp\)")
TYPE = re.compile(r"\b(?:class|struct|union|enum)\s+(?:class\s+|struct\s+)?(\w+)\s*(?:final\b\s*)?(?::(?!:).*)?$", re.S)
NAMESPACE = re.compile(r"(?:^|\s)namespace\b\s*([\w:]*)\s*$")
FUNCTION = re.compile(r"(?<![:~\w])(\w+|operator\s*\S+?)\s*\(")
VARIABLE = re.compile(r"(?<![:\w])(\w+)\s*(?:\[[^\]]*\]\s*)*$")
NO_NAME = re.compile(r"(using|typedef|friend|static_assert|extern|namespace|return)\b")
TEMPLATE = re.compile(r"^\s*template\s*<")
# What an initializer starts with, and a parameter does not.
VALUE = re.compile(r"\s*([\d({.-]|$)")


def libraries(folder):
    """The libraries of a CMakeLists.txt with their sources, those of TableGen and the like left out."""
    text = re.sub(r"#.*", "", (folder / "CMakeLists.txt").read_text())
    variables = {name: words.split() for name, words in LISTED.findall(text)}
    if GLOB.search(text):
        apart = {word for words in re.findall(r"REMOVE_ITEM sources ([^)]*)\)", text)
                 for name in re.findall(r"\w+", words) for word in variables.get(name, [])}
        variables["sources"] = sorted(file.name for file in folder.glob("*.cpp") if file.name not in apart)
    for name, words in LIBRARY.findall(text):
        words = re.split(r"\b(?:LINK|DEPENDS)\b", words)[0]
        words = re.sub(r"\$\{(\w+)\}", lambda used: " ".join(variables.get(used[1], [])), words)
        yield name, [folder / word for word in words.split() if word.endswith(".cpp")]


def in_batches(text):
    """The libraries that cmake/MLC.cmake lists."""
    return re.search(r"set\(MLC_UNITY_LIBRARIES\s([^)]*)\)", text)[1].split()


def without_template(header):
    """A declaration after its template's parameters, and what those are."""
    header = ATTRIBUTE.sub("", header)
    while TEMPLATE.match(header):
        at, depth = header.index("<") + 1, 1
        while depth and at < len(header):
            depth += (header[at] == "<") - (header[at] == ">")
            at += 1
        header = header[at:]
    return header.strip()


def types(parameters):
    """Parameters without their names and defaults, as far as a text tells them."""
    depth, parts = 0, [""]
    for c in parameters:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    parts = [re.sub(r"=.*", "", part, flags=re.S).strip() for part in parts]
    parts = [re.sub(r"(?<=[\w>&*\s])\b\w+$", "", part) if re.search(r"[\s&*>]\w+$", part) else part for part in parts]
    return ",".join(re.sub(r"\s+|\bconst\b", "", part) for part in parts)


def name_of(header, has_block):
    """What a declaration declares: a function with its parameters' types, a variable or a type; None for others."""
    header = without_template(header)
    if "(" not in header and (found := TYPE.search(header.split("{")[0])):
        return found[1]
    if found := re.match(r"using\s+(\w+)\s*=", header):
        return found[1]
    before = re.split(r"=|\{", header)[0]
    found = FUNCTION.search(before) or VARIABLE.search(before)
    # A name alone is a macro; A::f defines what a class declares.
    if NO_NAME.match(header) or not found or not before[:found.start()].strip():
        return None
    if not found[0].endswith("("):
        return found[1]
    depth, at = 1, found.end()
    while depth and at < len(header):
        depth += (header[at] == "(") - (header[at] == ")")
        at += 1
    parameters = header[found.end():at - 1]
    return found[1] if not has_block and VALUE.match(parameters) else f"{found[1]}({types(parameters)})"


def local_names(text):
    """What a source declares for itself, each name after its namespace; aliases with what they stand for."""
    code = bare(text)
    stack, found = [], {}
    header, at, parens, has_block = "", 0, 0, False

    def declare():
        nonlocal header, has_block
        alias = re.match(r"\s*using\s+\w+\s*=", header)
        if alias or "" in stack or re.search(r"(?:^|\s)static\s", without_template(header) + " "):
            name = name_of(re.sub(r"\b(static|inline|constexpr)\b", "", header), has_block)
            if name:
                found["::".join([*filter(None, stack), name])] = " ".join(header.split()) if alias else None
        header, has_block = "", False

    while at < len(code):
        c = code[at]
        at += 1
        if c == "{" and not parens and (space := NAMESPACE.search(header)):
            stack.append(space[1])
            header = ""
        elif c == "{":
            depth = 1
            while depth:
                depth += (code[at] == "{") - (code[at] == "}")
                at += 1
            header += "{}"
            # A constructor's initializers and a value go on after a block.
            has_block = not parens and not re.match(r"\s*[,{;.(]", code[at:])
            if has_block:
                declare()
        elif c == "}":
            stack.pop()
            header = ""
        elif c == ";" and not parens:
            declare()
        else:
            parens += (c == "(") - (c == ")")
            header += c
    return found


def shared_names(texts):
    """Names that several of the texts declare for themselves, with the files; aliases of one thing may meet."""
    places = collections.defaultdict(dict)
    for file, text in texts.items():
        for name, alias in local_names(text).items():
            places[name][file] = alias
    return {name: sorted(files) for name, files in sorted(places.items())
            if len(files) > 1 and (None in files.values() or len(set(files.values())) > 1)}


def test_sources_of_a_library_share_no_local_name(tools):
    listed = in_batches((tools.source / "cmake/MLC.cmake").read_text())
    found = {name: sources for top in ("dialects", "verifier", "rewrites", "codegen", "passes", "simulator", "planner", "tools")
             for file in (tools.source / top).rglob("CMakeLists.txt") for name, sources in libraries(file.parent)}
    assert listed and set(listed) <= set(found)
    names = 0
    for library in listed:
        texts = {str(file.relative_to(tools.source)): file.read_text() for file in found[library]}
        assert len(texts) > 5
        names += sum(len(local_names(text)) for text in texts.values())
        assert shared_names(texts) == {}, f"in {library}: one name, one meaning, one header; or a name that says more"
    assert names > 100


SAMPLE = """
namespace a {
static int count(const Value &value, int to = f(1)) { return {}; }
int shared(int x) { return x; }
using Row = std::vector<int>;
namespace {
const char *const text = "static int no() {}";
template <class T, class U = X<T>> struct Pair : Base<T> { int member; };
enum class Kind { A, B };
constexpr Kind kinds[] = {Kind::A, Kind::B};
Number half(0.5);
Pair<int, int> made() { return {}; }
[[maybe_unused]] void Pair::method() {}
} // namespace
} // namespace a
static bool isLast(int x);
"""


def test_local_names_of_a_source():
    assert set(local_names(SAMPLE)) == {
        "a::count(Value&,int)", "a::Row", "a::text", "a::Pair", "a::Kind", "a::kinds", "a::half", "a::made()", "isLast(int)"}


def test_names_that_meet_are_found():
    other = "namespace a { static int count(Value const &v, int n) { return n; } namespace { class Kind {}; } }"
    assert shared_names({"A.cpp": SAMPLE, "B.cpp": other}) == {
        "a::Kind": ["A.cpp", "B.cpp"], "a::count(Value&,int)": ["A.cpp", "B.cpp"]}
    # Overloads, other namespaces and aliases of one thing do not meet.
    for text in ("namespace a { static int count(Value *v) { return 1; } }", "namespace b { class Kind {}; }",
                 "namespace a { using Row = std::vector<int>; }", "namespace a { int made(int x) { return x; } }"):
        assert shared_names({"A.cpp": SAMPLE, "B.cpp": text}) == {}
    assert shared_names({"A.cpp": SAMPLE, "B.cpp": "namespace a { using Row = std::deque<int>; }"})


def test_libraries_are_read(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("""set(apart B.cpp)
mlc_compiler_library(One ${apart} LINK Other)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
list(REMOVE_ITEM sources ${apart})
mlc_compiler_library(Two
  ${sources}
  LINK One)
mlc_tool(three A.cpp  # not Z.cpp
  sub/C.cpp)
""")
    for name in ("A.cpp", "B.cpp", "C.cpp"):
        (tmp_path / name).touch()
    found = {name: [str(file.relative_to(tmp_path)) for file in files] for name, files in libraries(tmp_path)}
    assert found == {"One": ["B.cpp"], "Two": ["A.cpp", "C.cpp"], "three": ["A.cpp", "sub/C.cpp"]}
    assert in_batches("set(MLC_UNITY_LIBRARIES\n  One\n  three)") == ["One", "three"]
