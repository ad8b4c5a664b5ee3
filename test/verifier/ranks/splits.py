"""Every operator with every size that its definition has a loop for: functions of test/verifier/gradients and of
operators.mlir, whose dims are symbols, one of which is split over N ranks at a time."""

import itertools
import pathlib
import re

HERE = pathlib.Path(__file__).parent
FILES = [HERE.parent / "gradients" / "functions.mlir", HERE / "operators.mlir"]
BRACKETS = re.compile(r"(?<=#mlc\.dims<\[)[^\]]*(?=\])|(?<=#mlc\.int<)[^>]*(?=>)")


def split_list(text):
    """At commas outside of parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


class Type:
    """A tensor type that a file declares."""

    def __init__(self, text):
        shape, encoding = re.fullmatch(r"tensor<(\S*?)(?:, #mlc\.dims<\[(.*)\]>)?>", text).groups()
        *sizes, self.element = shape.split("x")
        self.dims = split_list(encoding) if encoding else sizes

    def text(self, change=lambda dim: dim):
        dims = [str(change(dim)) for dim in self.dims]
        shape = "".join((dim if dim.isdigit() else "?") + "x" for dim in dims)
        encoding = "" if all(dim.isdigit() for dim in dims) else f", #mlc.dims<[{', '.join(dims)}]>"
        return f"tensor<{shape}{self.element}{encoding}>"


def symbols_of(dim):
    return [name for name in re.findall(r"[A-Za-z_]\w*", dim) if name not in ("floordiv", "mod", "min", "max")]


def is_multiple(dim, symbol):
    """Whether a dim is a product with the symbol."""
    return re.fullmatch(r"[\w* ]+", dim) is not None and symbol in symbols_of(dim)


class Function:
    def __init__(self, types, text):
        self.types = types
        header, self.body = text.split("{\n", 1)
        self.name, arguments, results, attributes = re.fullmatch(
            r"func\.func @(\w+)\((.*?)\) -> (.*?)(?: attributes \{(.*)\})? ", header).groups()
        self.body = self.body.rsplit("}", 1)[0]
        self.arguments = re.findall(r"(%\w+): !(\w+)(?: \{([^}]*)\})?", arguments)
        self.results = re.findall(r"!(\w+)", results)
        self.assume = re.findall(r'"([^"]*)"', attributes or "")
        self.symbols = sorted({symbol for name in [*[a[1] for a in self.arguments], *self.results, *self.used()]
                               for dim in types[name].dims for symbol in symbols_of(dim)}
                              | {symbol for text in BRACKETS.findall(self.body) for symbol in symbols_of(text)})

    def used(self):
        return re.findall(r"!(\w+)", self.body)

    def factors(self):
        """The symbols that some argument's or result's dim is a multiple of."""
        return [symbol for symbol in self.symbols if any(self.split_dim(name, symbol) is not None
                for name in [*[a[1] for a in self.arguments], *self.results])]

    def split_dim(self, name, symbol):
        return next((d for d, dim in enumerate(self.types[name].dims) if is_multiple(dim, symbol)), None)

    def sharding(self, name, symbol):
        d = self.split_dim(name, symbol)
        axes = ", ".join('"a"' if i == d else '""' for i in range(len(self.types[name].dims)))
        return None if d is None else f"dist.sharding = #dist.sharding<[{axes}]>"

    def text(self, change, symbol=None, ranks=None, assume=()):
        """A module with every integer changed; with `ranks`, the dims that are multiples of `symbol` split over them."""
        names = sorted({*[a[1] for a in self.arguments], *self.results, *self.used()})
        lines = [f"!{name} = {self.types[name].text(change)}" for name in names]
        arguments = []
        is_split = False
        for value, name, attributes in self.arguments:
            sharding = ranks and self.sharding(name, symbol)
            is_split = is_split or bool(sharding)
            attributes = ", ".join(filter(None, [attributes, sharding]))
            arguments.append(f"{value}: !{name}" + (f" {{{attributes}}}" if attributes else ""))
        results = []
        for name in self.results:
            sharding = None if is_split or not ranks else self.sharding(name, symbol)
            results.append(f"!{name}" + (f" {{{sharding}}}" if sharding else ""))
        body = BRACKETS.sub(lambda found: ", ".join(str(change(part)) for part in split_list(found.group())), self.body)
        attributes = f" attributes {{mlc.assume = [{', '.join(f'{chr(34)}{text}{chr(34)}' for text in assume)}]}}" if assume else ""
        mesh = f' attributes {{dist.mesh = [#dist.axis<"a", {ranks}>]}}' if ranks else ""
        return ("\n".join(lines) + f"\nmodule{mesh} {{\nfunc.func @main({', '.join(arguments)}) -> ({', '.join(results)})"
                f"{attributes} {{\n{body}}}\n}}\n")

    #===--- For all sizes -----------------------------------------------------===

    def question(self, symbol, ranks=None, least=0):
        """For N * (s + least) of the symbol s: the function, or what is partitioned."""
        whole = f"(N * ({symbol} + {least}))" if least else f"(N * {symbol})"

        def change(text):
            return re.sub(rf"\b{symbol}\b", whole, text) if symbol in symbols_of(text) else text
        dims = {own for types in self.types.values() for dim in types.dims for own in symbols_of(dim)}
        # Parts that are not empty: what is cut is divided by their sizes.
        assume = ["N >= 1", *[f"{own} >= 1" for own in self.symbols if own in dims], *map(change, self.assume)]
        return self.text(change, symbol, ranks, assume)

    #===--- For numbers -------------------------------------------------------===

    def sizes(self, symbol, size):
        """Values of all symbols under which the function is defined."""
        others = [name for name in self.symbols if name != symbol]
        for values in itertools.product(*[(3, 2, 1, 4, 6, 0)] * len(others)):
            sizes = {symbol: size, **dict(zip(others, values))}
            if all(holds(text, sizes) for text in self.assume):
                return sizes
        return None

    def instance(self, sizes, symbol=None, ranks=None):
        text = self.text(lambda dim: value(dim, sizes), symbol, ranks)
        return re.sub(r'#mlc\.real<"\w+">', "#mlc.real<0.25>", text)


def value(text, sizes):
    return eval(text, {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "min": min, "max": max}, sizes)


def holds(text, sizes):
    if " divides " in text:
        divisor, whole = text.split(" divides ")
        return value(whole, sizes) % value(divisor, sizes) == 0
    if text.startswith("real "):
        return True
    return any(value(part, sizes) for part in text.split(" or "))


def functions(files=FILES):
    found = {}
    for file in files:
        if not file.exists():
            continue
        text = re.sub(r"^//.*\n", "", file.read_text(), flags=re.M)
        types = {name: Type(own) for name, own in re.findall(r"^!(\w+) = (tensor<.*>)$", text, re.M)}
        for one in re.findall(r"^func\.func .*?^}", text, re.M | re.S):
            function = Function(types, one)
            found[function.name] = function
    return found
