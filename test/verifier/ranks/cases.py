"""Functions of all tensors, programs of one rank of N, and what is to be found of them.

Each case has named tensor types, the function, the rank's program (a body in which mistakes can be made by replacing a
text), shardings of arguments and results, and what is assumed.
"""

AXIS = 'axis = #dist.axis<"a", N>'


def types(**dims):
    """`x="B, 4"` declares !x, of f32, `x="i64: B"` of integers."""
    lines = []
    for name, text in dims.items():
        *element, text = text.split(": ")
        sizes = [size.strip() for size in text.split(",")] if text else []
        shape = "".join((size if size.isdigit() else "?") + "x" for size in sizes)
        encoding = "" if all(size.isdigit() for size in sizes) else f", #mlc.dims<[{text}]>"
        lines.append(f"!{name} = tensor<{shape}{element[0] if element else 'f32'}{encoding}>")
    return "\n".join(lines) + "\n"


CONV = 'strides = #mlc.dims<[{s}, 1]>, pads = #mlc.dims<[{p}]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>'


class Case:
    def __init__(self, dims, arguments, results, whole, rank, assume=("N >= 1", "L >= 1"), sizes=None, wrong=(), more=""):
        """`arguments` and `results` are lists of (whole type, rank's type, sharding or nothing); `wrong` lists pairs of
        a text of the rank's program or of its signature, and what stands there instead; `more` are further axes."""
        self.types, self.arguments, self.results = types(**dims), arguments, results
        self.whole, self.rank, self.assume, self.wrong = whole, rank, assume, wrong
        self.sizes, self.mesh = sizes or {}, more + '#dist.axis<"a", N>'

    def before(self):
        arguments = ", ".join(f"%{chr(97 + i)}: !{whole}" for i, (whole, _, _) in enumerate(self.arguments))
        results = ", ".join(f"!{whole}" for whole, _, _ in self.results)
        assume = ", ".join(f'"{text}"' for text in self.assume)
        return (f"{self.types}func.func @main({arguments}) -> ({results}) attributes {{mlc.assume = [{assume}]}} {{\n"
                f"{self.whole}\n}}\n")

    def after(self):
        def with_sharding(kind, sharding):
            return f"!{kind} {{dist.sharding = #dist.sharding<{sharding}>}}" if sharding else f"!{kind}"
        arguments = ", ".join(f"%{chr(97 + i)}: {with_sharding(own, sharding)}"
                              for i, (_, own, sharding) in enumerate(self.arguments))
        results = ", ".join(with_sharding(own, sharding) for _, own, sharding in self.results)
        return (f'{self.types}module attributes {{dist.mesh = [{self.mesh}]}} {{\n'
                f"func.func @main({arguments}) -> ({results}) {{\n{self.rank}\n}}\n}}\n")


MLP = "%h = mlc.matmul %a, %b : ({x}, {v}) -> {h}\n%r = mlc.relu %h : ({h}) -> {h}\n%p = mlc.matmul %r, %c : ({h}, {w}) -> {y}\n"
mlp_whole = MLP.format(x="!x", v="!V", w="!W", h="!H", y="!y") + "return %p : !y"
mlp_rank = MLP.format(x="!x", v="!v", w="!w", h="!h", y="!y") + (
    f'%s = dist.all_reduce %p {{{AXIS}, reduction = "sum"}} : (!y) -> !y\nreturn %s : !y')

CASES = {
    # Columns of the first weight, rows of the second.
    "mlp": Case(
        dict(x="B, D", V="D, N * L", W="N * L, K", v="D, L", w="L, K", H="B, N * L", h="B, L", y="B, K"),
        [("x", "x", None), ("V", "v", '["", "a"]'), ("W", "w", '["a", ""]')], [("y", "y", None)],
        mlp_whole, mlp_rank, sizes=dict(B=2, D=3, L=2, K=3),
        wrong=[("return %s", "return %p"), ('"sum"', '"max"'), ('"sum"', '"prod"')]),
    # The result is left as what adds up to it.
    "mlp_partial": Case(
        dict(x="B, D", V="D, N * L", W="N * L, K", v="D, L", w="L, K", H="B, N * L", h="B, L", y="B, K"),
        [("x", "x", None), ("V", "v", '["", "a"]'), ("W", "w", '["a", ""]')], [("y", "y", '["", ""], partial = ["a"]')],
        mlp_whole, mlp_rank.replace("return %s", "return %p"), sizes=dict(B=2, D=3, L=2, K=3),
        wrong=[('partial = ["a"]', 'partial = ["a" max]'), ("return %p", "return %s")]),
    # Rows of an image, with what neighbours have of it.
    "conv": Case(
        dict(X="B, C, N * L, W", w="O, C, 3, 3", Y="B, O, N * L, W", x="B, C, L, W", h="B, C, L + 2, W", y="B, O, L, W"),
        [("X", "x", '["", "", "a", ""]'), ("w", "w", None)], [("Y", "y", '["", "", "a", ""]')],
        f"%y = mlc.conv %a, %b {{{CONV.format(s=1, p='1, 1, 1, 1')}}} : (!X, !w) -> !Y\nreturn %y : !Y",
        f"%h = dist.halo %a {{{AXIS}, dim = 2, low = 1, high = 1}} : (!x) -> !h\n"
        f"%y = mlc.conv %h, %b {{{CONV.format(s=1, p='0, 1, 0, 1')}}} : (!h, !w) -> !y\nreturn %y : !y",
        assume=("N >= 1", "L >= 1", "W >= 1"), sizes=dict(B=1, C=2, O=2, L=2, W=3),
        wrong=[("low = 1, high = 1", "low = 2, high = 0"), ("low = 1, high = 1", "low = 0, high = 2"),
               ("low = 1, high = 1}} : (!x) -> !h".replace("}}", "}"), "low = 1, high = 0} : (!x) -> !q")]),
    "conv_strided": Case(
        dict(X="B, C, 2 * N * L, W", w="O, C, 3, 3", Y="B, O, N * L, W", x="B, C, 2 * L, W", h="B, C, 2 * L + 1, W",
             y="B, O, L, W"),
        [("X", "x", '["", "", "a", ""]'), ("w", "w", None)], [("Y", "y", '["", "", "a", ""]')],
        f"%y = mlc.conv %a, %b {{{CONV.format(s=2, p='1, 1, 0, 1')}}} : (!X, !w) -> !Y\nreturn %y : !Y",
        f"%h = dist.halo %a {{{AXIS}, dim = 2, low = 1, high = 0}} : (!x) -> !h\n"
        f"%y = mlc.conv %h, %b {{{CONV.format(s=2, p='0, 1, 0, 1')}}} : (!h, !w) -> !y\nreturn %y : !y",
        assume=("N >= 1", "L >= 1", "W >= 1"), sizes=dict(B=1, C=2, O=2, L=2, W=3),
        wrong=[("low = 1, high = 0", "low = 0, high = 1")]),
    # The gradient of a layer's weight, of a batch that is split.
    "data_parallel": Case(
        dict(X="N * L, D", G="N * L, K", x="L, D", g="L, K", T="D, N * L", t="D, L", W="D, K"),
        [("X", "x", '["a", ""]'), ("G", "g", '["a", ""]')], [("W", "W", None)],
        "%t = mlc.transpose %a {permutation = array<i64: 1, 0>} : (!X) -> !T\n"
        "%w = mlc.matmul %t, %b : (!T, !G) -> !W\nreturn %w : !W",
        "%t = mlc.transpose %a {permutation = array<i64: 1, 0>} : (!x) -> !t\n"
        "%w = mlc.matmul %t, %b : (!t, !g) -> !W\n"
        f'%s = dist.all_reduce %w {{{AXIS}, reduction = "sum"}} : (!W) -> !W\nreturn %s : !W',
        sizes=dict(L=2, D=3, K=2),
        wrong=[("return %s", "return %w"), ('dist.all_reduce %w {axis = #dist.axis<"a", N>, reduction = "sum"}',
                                            'dist.broadcast %w {axis = #dist.axis<"a", N>, root = 0}')]),
    # Heads to sequence: what attention by sequence parts exchanges.
    "all_to_all": Case(
        dict(X="N * L, N * M", x="N * L, M", y="L, N * M"),
        [("X", "x", '["", "a"]')], [("X", "y", '["a", ""]')],
        "%y = mlc.neg %a : (!X) -> !X\nreturn %y : !X",
        "%n = mlc.neg %a : (!x) -> !x\n"
        f"%y = dist.all_to_all %n {{{AXIS}, split = 0, splitExtent = #mlc.int<N * L>, join = 1, joinExtent = "
        "#mlc.int<N * M>} : (!x) -> !y\nreturn %y : !y",
        assume=("N >= 1", "L >= 1", "M >= 1"), sizes=dict(L=2, M=3)),
    # An all_reduce in two halves.
    "scatter_gather": Case(
        dict(X="N, N * L", x="1, N * L", S="1, N * L", s="1, L"),
        [("X", "x", '["a", ""]')], [("S", "S", None)],
        '%y = mlc.reduce %a {kind = "sum", axes = array<i64: 0>} : (!X) -> !S\nreturn %y : !S',
        f'%s = dist.reduce_scatter %a {{{AXIS}, dims = array<i64: 1>, extents = #mlc.dims<[N * L]>, units = '
        '#mlc.dims<[1]>, reduction = "sum"} : (!x) -> !s\n'
        f'%y = dist.all_gather %s {{{AXIS}, dims = array<i64: 1>, extents = #mlc.dims<[N * L]>, units = '
        "#mlc.dims<[1]>} : (!s) -> !S\nreturn %y : !S",
        sizes=dict(L=2), wrong=[('"sum"', '"min"')]),
    # Rows of softmax cut: the maximum and the sum are of all ranks.
    "softmax": Case(
        dict(X="B, N * L", x="B, L", m="B, 1"),
        [("X", "x", '["", "a"]')], [("X", "x", '["", "a"]')],
        "%y = mlc.softmax %a {axis = 1} : (!X) -> !X\nreturn %y : !X",
        '%m = mlc.reduce %a {kind = "max", axes = array<i64: 1>} : (!x) -> !m\n'
        f'%n = dist.all_reduce %m {{{AXIS}, reduction = "max"}} : (!m) -> !m\n'
        "%w = mlc.broadcast %n {dims = #mlc.dims<[B, L]>} : (!m) -> !x\n"
        "%d = mlc.sub %a, %w : (!x, !x) -> !x\n%e = mlc.exp %d : (!x) -> !x\n"
        '%s = mlc.reduce %e {kind = "sum", axes = array<i64: 1>} : (!x) -> !m\n'
        f'%t = dist.all_reduce %s {{{AXIS}, reduction = "sum"}} : (!m) -> !m\n'
        "%v = mlc.broadcast %t {dims = #mlc.dims<[B, L]>} : (!m) -> !x\n"
        "%y = mlc.div %e, %v : (!x, !x) -> !x\nreturn %y : !x",
        sizes=dict(B=2, L=2),
        wrong=[("broadcast %t", "broadcast %s"), ("broadcast %n", "broadcast %m"), ('N>, reduction = "sum"', 'N>, reduction = "max"')]),
    # What the first rank has, for all.
    "broadcast": Case(
        dict(X="N, D", x="1, D"),
        [("X", "x", '["a", ""]')], [("x", "x", None)],
        "%y = mlc.slice %a {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[1, D]>, steps = #mlc.dims<[1, 1]>} : (!X) "
        "-> !x\nreturn %y : !x",
        f"%y = dist.broadcast %a {{{AXIS}, root = 0}} : (!x) -> !x\nreturn %y : !x",
        assume=("N >= 2",), sizes=dict(D=3), wrong=[("root = 0", "root = 1"), ("return %y", "return %a")]),
    # A delay by a rank: rows move down by one part.
    "shift": Case(
        dict(X="N * L, D", x="L, D"),
        [("X", "x", '["a", ""]')], [("X", "x", '["a", ""]')],
        '%y = mlc.compute %a {definition = "(x; L) Y[i, j] = x<0>[i - L, j]", dims = #mlc.dims<[N * L, D]>, integers = '
        "#mlc.dims<[L]>, reals = [], type = f32} : (!X) -> !X\nreturn %y : !X",
        f"%y = dist.shift %a {{{AXIS}, by = 1}} : (!x) -> !x\nreturn %y : !x",
        sizes=dict(L=2, D=2), wrong=[("by = 1", "by = 2"), ("by = 1", "by = 0"), ("by = 1", "by = -1")]),
    # Each takes its part of what all have, free of charge.
    "slice": Case(
        dict(X="N * L, D", x="L, D"),
        [("X", "X", None)], [("X", "x", '["a", ""]')],
        "%y = mlc.relu %a : (!X) -> !X\nreturn %y : !X",
        "%s = mlc.slice %a {starts = #mlc.dims<[L * rank.a, 0]>, sizes = #mlc.dims<[L, D]>, steps = #mlc.dims<[1, 1]>} "
        ": (!X) -> !x\n%y = mlc.relu %s : (!x) -> !x\nreturn %y : !x",
        sizes=dict(L=2, D=2), wrong=[("L * rank.a", "rank.a"), ("L * rank.a", "0")]),
    # Counting goes on where the rank before has ended.
    "iota": Case(
        dict(X="N * L", x="L"),
        [("X", "x", '["a"]')], [("X", "x", '["a"]')],
        '%y = mlc.compute %a {definition = "(x) Y[i] = x[i] * f32(i)", dims = #mlc.dims<[N * L]>, integers = '
        "#mlc.dims<[]>, reals = [], type = f32} : (!X) -> !X\nreturn %y : !X",
        '%y = mlc.compute %a {definition = "(x; b) Y[i] = x[i] * f32(i + b)", dims = #mlc.dims<[L]>, integers = '
        "#mlc.dims<[L * rank.a]>, reals = [], type = f32} : (!x) -> !x\nreturn %y : !x",
        sizes=dict(L=3), wrong=[("L * rank.a", "rank.a"), ("L * rank.a", "L * rank.a + 1")]),
    # Rows of a table that is whole, by numbers of which each rank has some.
    "lookup": Case(
        dict(T="V, D", I="i64: N * L", i="i64: L", Y="N * L, D", y="L, D"),
        [("T", "T", None), ("I", "i", '["a"]')], [("Y", "y", '["a", ""]')],
        "%y = mlc.gather %a, %b {axis = 0} : (!T, !I) -> !Y\nreturn %y : !Y",
        f"%y = mlc.gather %a, %b {{axis = 0}} : (!T, !i) -> !y\nreturn %y : !y",
        sizes=dict(V=3, D=2, L=2),
        wrong=[("%y = mlc.gather %a, %b", f"%s = dist.shift %b {{{AXIS}, by = 1}} : (!i) -> !i\n%y = mlc.gather %a, %s"),
               ("%y = mlc.gather %a, %b", "%s = mlc.reverse %b {axes = array<i64: 0>} : (!i) -> !i\n%y = mlc.gather %a, %s")]),
    # Rows on one axis of the mesh, what is summed over on the other.
    "two_axes": Case(
        dict(X="M * B, N * L", W="N * L, K", Y="M * B, K", x="B, L", w="L, K", y="B, K"),
        [("X", "x", '["b", "a"]'), ("W", "w", '["a", ""]')], [("Y", "y", '["b", ""]')],
        "%y = mlc.matmul %a, %b : (!X, !W) -> !Y\nreturn %y : !Y",
        "%p = mlc.matmul %a, %b : (!x, !w) -> !y\n"
        f'%y = dist.all_reduce %p {{{AXIS}, reduction = "sum"}} : (!y) -> !y\nreturn %y : !y',
        assume=("N >= 1", "M >= 1", "L >= 1", "B >= 1"), sizes=dict(B=2, L=2, K=2, M=2), more='#dist.axis<"b", M>, ',
        wrong=[("return %y", "return %p"), ('all_reduce %p {axis = #dist.axis<"a", N>', 'all_reduce %p {axis = #dist.axis<"b", M>'),
               ('!y {dist.sharding = #dist.sharding<["b", ""]>', '!y {dist.sharding = #dist.sharding<["b", ""], partial = ["a"]>')]),
    # Two tensors one behind the other, in parts of both.
    "concat": Case(
        dict(X="N * L, D", Y="N * L, E", Z="N * L, D + E", x="L, D", y="L, E", z="L, D + E"),
        [("X", "x", '["a", ""]'), ("Y", "y", '["a", ""]')], [("Z", "z", '["a", ""]')],
        "%y = mlc.concat %a, %b {axis = 1} : (!X, !Y) -> !Z\nreturn %y : !Z",
        "%y = mlc.concat %a, %b {axis = 1} : (!x, !y) -> !z\nreturn %y : !z", sizes=dict(L=2, D=2, E=1)),
}
CASES["conv"].types += types(q="B, C, L + 1, W")
# A mistake in what is exchanged changes what the operator behind it is given.
CASES["conv"].wrong = [*CASES["conv"].wrong[:2], [
    ("low = 1, high = 1} : (!x) -> !h", "low = 1, high = 0} : (!x) -> !q"), ("(!h, !w)", "(!q, !w)"),
    ("[0, 1, 0, 1]", "[0, 1, 1, 1]")]]
