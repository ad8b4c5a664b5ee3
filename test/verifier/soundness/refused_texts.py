"""usage: refused_texts.py MLC_VERIFY: hostile texts get an answer, an exit code and little time.

Each text is made here, because it is long. What stands beside it must be in
the answer.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

LIMIT = 8  # seconds of the processor; none takes two
PATIENCE = 500  # by the clock, on a busy machine
MEMORY = 1 << 30


def dims(expression: str) -> str:
    """Both functions return an argument whose dim is the expression."""
    function = "func.func @{}(%x: !x) -> !x {{\n  return %x : !x\n}}\n"
    return f"!x = tensor<?xf32, #mlc.dims<[{expression}]>>\n" + function.format("b") + function.format("a")


def chain(line: str, length: int) -> str:
    """A chain of operators, on one side with another last one."""
    lines = ["!t = tensor<?xf32>"]
    tensor = "!t"
    for name in "ba":
        lines.append(f"func.func @{name}(%v0: {tensor}) -> {tensor} {{")
        lines += [line.format(i + 1, i) for i in range(length)]
        result = f"%v{length}" if name == "b" else f"%v{length - 1}"
        lines.append(f"  return {result} : {tensor}\n}}")
    return "\n".join(lines)


def region(body: str, element: str = "f32", yielded: str = "%r") -> str:
    """One linalg.generic whose region is the body on %a, beside the identity."""
    tensor, identity = f"tensor<?x{element}>", "affine_map<(i) -> (i)>"
    text = ""
    for name, lines, value in (("b", body, yielded), ("a", "", "%a")):
        text += f"""func.func @{name}(%x: {tensor}, %o: {tensor}) -> {tensor} {{
  %0 = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = ["parallel"]}}
      ins(%x : {tensor}) outs(%o : {tensor}) {{
  ^bb0(%a: {element}, %z: {element}):
{lines}
    linalg.yield {value} : {element}
  }} -> {tensor}
  return %0 : {tensor}
}}
"""
    return text


def doubling(times: int) -> str:
    lines, last = [], "%a"
    for i in range(times):
        lines.append(f"    %d{i} = arith.addf {last}, {last} : f32")
        last = f"%d{i}"
    return region("\n".join(lines), yielded=last)


def concats(times: int) -> str:
    """Slices and concatenations that share their operands."""
    lines = []
    for name in "ba":
        lines.append(f"func.func @{name}(%v0: tensor<4xf32>) -> tensor<4xf32> {{")
        for i in range(times):
            lines.append(f"  %c{i} = tensor.concat dim(0) %v{i}, %v{i} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>")
            start = 2 if name == "b" else 3
            lines.append(
                f"  %v{i + 1} = tensor.extract_slice %c{i}[{start}] [4] [1] : tensor<8xf32> to tensor<4xf32>")
        lines.append(f"  return %v{times} : tensor<4xf32>\n}}")
    return "\n".join(lines)


TEXTS = {
    "nested parentheses": (dims("(" * 100000 + "n" + ")" * 100000), 3, "nested more than"),
    "nested quotients": (dims("floordiv(" * 50000 + "n" + ", 2)" * 50000), 3, "nested more than"),
    "a product of 22 sums": (dims(" * ".join(f"(a{i} + b{i})" for i in range(22))), 3, "terms"),
    "a long sum": (dims(" + ".join(f"a{i}" for i in range(60000))), 3, "more than"),
    "a long product": (dims(" * ".join(["n"] * 60000)), 3, "more than"),
    "a minimum of many": (dims("min(" + ", ".join(f"a{i}" for i in range(3000)) + ")"), 3, "more than"),
    "the least integer by -1": (dims("floordiv(-9223372036854775808 * n, -1)"), 3, "must be positive"),
    "the least integer modulo -1": (dims("mod(-9223372036854775808, -1)"), 3, "must be positive"),
    "the least integer, negated": (dims("n - -9223372036854775808 * m + mod(-9223372036854775808, 3)"), 0, "proved"),
    "an integer of 128 bits": (
        region("    %r = arith.constant 170141183460469231731687303715884105727 : i128", "i128"), 6, "64 bits"),
    "a chain of 1,000 linalg operators": (
        chain("%v{0} = linalg.tanh ins(%v{1} : !t) outs(%v{1} : !t) -> !t", 1000), 5, "refuted"),
    "a region that doubles 60 times": (doubling(60), 6, "too many"),
    "60 concatenations of a tensor with itself": (concats(60), 6, "too many"),
    "many conditions": (
        dims("n").replace(") -> !x {", ") -> !x attributes {mlc.assume = ["
                          + ", ".join(f'"n >= {i}"' for i in range(5000)) + "]} {", 1), 3, "conditions"),
}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))


def main() -> int:
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "text.mlir"
        for title, (text, code, words) in TEXTS.items():
            file.write_text(text)
            try:
                run = subprocess.run([sys.argv[1], file], capture_output=True, text=True, timeout=PATIENCE,
                                     preexec_fn=limit)
            except subprocess.TimeoutExpired:
                print(f"{title}: nothing within {PATIENCE} s")
                failures += 1
                continue
            said = run.stdout + run.stderr
            if run.returncode != code or words not in said:
                print(f"{title}: exit code {run.returncode} rather than {code}, or no '{words}':\n{said[-600:]}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
