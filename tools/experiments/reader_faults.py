"""Faults seeded into what reads functions of linalg: none may make a false pair proved or accepted.

usage: reader_faults.py BUILD [--unheld] [--everything] [NAME ...]

Each fault changes one place of the reader's sources (verifier/read/FromLinalg.cpp, Linalg*.cpp, Arith*.cpp). mlc-verify is
built with it, asked about pairs that are false, and the sources are restored. What a fault may do:

    misread   some reading is held against a run of its function, and disagrees
    silent    no answer about the corpus changes
    changed   answers change, and no false pair is proved
    ACCEPTED  a false pair is proved, or accepted by the kernel: a hole

The pairs: those of test/verifier/linalg_pairs.py and test/verifier/soundness that are false, and for each fault, where
one can be written, what the faulty reader believes (BELIEVED). --unheld leaves out the check against runs, to see what
it is worth. Where some reading is misread, the other pairs are asked about only with --everything, which takes
twice the time.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MOVE, TENSOR, SCALAR, LOOPS, READER, ARITH, INTEGER = (
    f"verifier/read/{name}.cpp" for name in ("LinalgMovement", "LinalgTensor", "LinalgScalar", "LinalgLoops", "FromLinalg",
                                             "Arith", "ArithInteger"))

# name: (file, old, new)
FAULTS = {
    "slice: stride": (MOVE, "box.offsets[d] + at[next++] * box.strides[d]", "box.offsets[d] + at[next++]"),
    "slice: offset": (MOVE, "box.offsets[d] + at[next++] * box.strides[d]", "at[next++] * box.strides[d]"),
    "slice: dropped dim": (MOVE, "? box.offsets[d]\n", "? box.offsets[d] - box.offsets[d]\n"),
    "slice: ends behind": (MOVE, "must(offset + (size - 1) * stride,", "must(offset + (size - 2) * stride,"),
    "slice: negative size": (MOVE, "must(size, ComparePredicate::GE, constant(0), \"a slice's",
                             "must(size, ComparePredicate::GE, constant(-9), \"a slice's"),
    "slice: negative start": (MOVE, 'must(offset, ComparePredicate::GE, constant(0)',
                              'must(offset, ComparePredicate::GE, constant(-9)'),
    "insert: one more": (MOVE, "box.offsets[d] + box.sizes[d] - at[d] - 1", "box.offsets[d] + box.sizes[d] - at[d]"),
    "insert: one less": (MOVE, "box.offsets[d] + box.sizes[d] - at[d] - 1",
                         "box.offsets[d] + box.sizes[d] - at[d] - 2"),
    "insert: offset": (MOVE, "inner.push_back(at[d] - box.offsets[d]);", "inner.push_back(at[d]);"),
    "insert: sizes": (MOVE, "must(box->sizes[d], ComparePredicate::EQ,", "must(box->sizes[d], ComparePredicate::GE,"),
    "pad: low": (MOVE, "inner.push_back(at[d] - low[d]);", "inner.push_back(at[d]);"),
    "pad: border": (MOVE, "Expr outside = scalarOf(border);", "Expr outside = scalarOf(border) + scalarOf(border);"),
    "pad: high": (MOVE, "*below + dim + *above", "*below + dim + *below"),
    "pad: negative": (MOVE, "must(*above, ComparePredicate::GE, constant(0)",
                      "must(*above, ComparePredicate::GE, constant(-9)"),
    "collapse: digit": (MOVE, "flat.mod(large[group[k]])", "flat.mod(large[group[0]])"),
    "expand: digit": (MOVE, "indices[g] * large[d] + at[d]", "indices[g] + at[d]"),
    "expand: product": (MOVE, "must(product, ComparePredicate::EQ, dim,", "must(product, ComparePredicate::LE, dim,"),
    "concat: begin": (MOVE, "index[axis] = at[axis] - begin;", "index[axis] = at[axis];"),
    "concat: other dims": (MOVE, "must(parts[i].dims[d], ComparePredicate::EQ, tensor.dims[d],",
                           "must(parts[i].dims[d], ComparePredicate::GE, tensor.dims[d],"),
    "reduction: minimum": (TENSOR, "return Monoid{ReduceKind::Min, isUnsigned}", "return Monoid{ReduceKind::Max, isUnsigned}"),
    "reduction: unsigned": (TENSOR, "bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(op);",
                            "bool isUnsigned = false;"),
    "reduction: start": (TENSOR, "cast(combine(monoid->kind, start, reduction)", "cast(combine(monoid->kind, reduction, reduction)"),
    "reduction: partial tile": (TENSOR, "if (*bound != extents[d])", "if (false)"),
    "reduction: truth": (TENSOR, "return Monoid{ReduceKind::Any};", "return Monoid{ReduceKind::All};"),
    "generic: agreement": (TENSOR, "builder.require({extent, ComparePredicate::EQ, own, agree});",
                           "builder.require({own, ComparePredicate::GE, own - 1, agree});"),
    "generic: window": (TENSOR, "highest.push_back(isRising ? extent - 1", "highest.push_back(isRising ? extent - 2"),
    "generic: index": (TENSOR, "loops[index.getDim()]", "loops[0]"),
    "generic: output map": (TENSOR, "getPosition()] = at[d];", "getPosition()] = at[at.size() - 1 - d];"),
    "empty: zeros": (TENSOR, "ExprNode node(Expr::Kind::Param, type);", "ExprNode node(Expr::Kind::Constant, type);"),
    "cast: sizes": (TENSOR, "mustHaveSizes(o.getResult(), source->dims);", ""),
    "affine: product": (SCALAR, "return *a * *b;", "return *a + *b;"),
    "affine: quotient": (SCALAR, "std::optional(a->floorDiv(*b))", "std::optional(a->ceilDiv(*b))"),
    "affine: minimum": (SCALAR, "choose(min.getAffineMap(), true)", "choose(min.getAffineMap(), false)"),
    "index: difference": (SCALAR, "return a - b;", "return b - a;"),
    "index: divisor": (SCALAR, 'must(divisor, ComparePredicate::GE, constant(1),',
                       'must(divisor, ComparePredicate::GE, constant(-9),'),
    "index: dim": (SCALAR, "set(tensor->dims[*index])", "set(tensor->dims[0])"),
    "extract: range": (SCALAR, "must(index, ComparePredicate::LT, dim,", "must(index, ComparePredicate::LE, dim,"),
    "scalar: division": (SCALAR, "if (where == Where::Region || !mayBeUndefined(op))", "if (true)"),
    "loop: trips": (LOOPS, "(range.upper - range.lower).ceilDiv(range.step)",
                    "(range.upper - range.lower).floorDiv(range.step)"),
    "loop: lower": (LOOPS, "range.lower + range.step * iteration", "range.step * iteration"),
    "loop: first": (LOOPS, "guards{own - range.lower, range.upper - own - 1}", "guards{own, range.upper - own - 1}"),
    "loop: last": (LOOPS, "guards{own - range.lower, range.upper - own - 1}",
                   "guards{own - range.lower, range.upper - own}"),
    "loop: addend": (LOOPS, "marker, at) + node.operands[left];", "marker, at) - node.operands[left];"),
    "loop: read elsewhere": (LOOPS, "if (!sameIndex(operand, toExpr(index)))", "if (false)"),
    "region: unused division": (READER, "isSafe(&op) || dividesByNumber(&op)", "true || dividesByNumber(&op)"),
    "guard: not negative": (READER, "compare(ComparePredicate::GE, toExpr(expr)", "compare(ComparePredicate::GT, toExpr(expr)"),
    "loop: iterations": (READER, "need.given.push_back(Guard::less(value, range.upper));",
                         "need.given.push_back(Guard::less(value + 1, range.upper));"),
    "arith: true of sitofp": (ARITH, "FloatAttr::get(type, -1.0)", "FloatAttr::get(type, 1.0)"),
    "arith: extui": (ARITH, "cast(fromBool ? x : asUnsigned(x), to)", "cast(x, to)"),
    "arith: unordered": (ARITH, "case P::UGT:\n    return negation(with(ComparePredicate::LE));",
                         "case P::UGT:\n    return with(ComparePredicate::LE);"),
    "arith: order of truths": (ARITH, "isSigned ? compare(p, b, a) : compare(p, a, b)", "compare(p, a, b)"),
    "arith: unsigned order": (ARITH, "compare(p, asUnsigned(a), asUnsigned(b))", "compare(p, a, b)"),
    "arith: overflow": (INTEGER, "return select(overflows, number(y, 0), y);", "return y;"),
    "arith: rounding up": (INTEGER, "select(isExact, number(x, 0), number(x, 1))",
                           "select(isExact, number(x, 1), number(x, 0))"),
    "arith: unsigned quotient": (INTEGER, "return onUnsigned(BinaryFn::Div);", "return two(BinaryFn::Div);"),
    "arith: shift": (INTEGER, "return x * power(x);", "return x + power(x);"),
}

HEAD = """func.func @{name}(%x: tensor<?x{e}>, %y: tensor<?x{e}>) -> {type} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant {zero} : {e}
  %one = arith.constant {one} : {e}
  %n = tensor.dim %x, %c0 : tensor<?x{e}>
  %m = tensor.dim %y, %c0 : tensor<?x{e}>
{body}
  return %r : {type}
}}
"""


def pair(before, after, kind="?", e="f32"):
    text = ""
    for name, body in (("b", before), ("a", after)):
        number = "{}.0" if e[0] == "f" else "{}"
        body = body.replace("!t", f"tensor<?x{e}>").replace("!e", e)
        text += HEAD.format(name=name, body=body, type=f"tensor<{kind}x{e}>", e=e, zero=number.format(0),
                            one=number.format(1))
    return text


def slice_of(offset, size, stride=1, source="%x", name="%r"):
    kind = size if isinstance(size, int) else "?"
    return f"  {name} = tensor.extract_slice {source}[{offset}] [{size}] [{stride}] : !t to tensor<{kind}x!e>"


def padded(low, high, value):
    return (f"  %r = tensor.pad %x low[{low}] high[{high}] {{\n  ^bb0(%i: index):\n    tensor.yield {value} : !e\n"
            "  } : !t to !t")


def pointwise(body, result="%v"):
    return ('  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = '
            f'["parallel"]}} ins(%x : !t) outs(%y : !t) {{\n  ^bb0(%a: !e, %b: !e):\n{body}\n'
            f'    linalg.yield {result} : !e\n  }} -> !t')


def folded(op, start="%y"):
    """%r[0] = y[0] op all of x."""
    return (slice_of(0, 1, 1, start, "%s") + "\n"
            '  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], '
            'iterator_types = ["parallel", "reduction"]} ins(%x : !t) outs(%s : tensor<1x!e>) {\n'
            f'  ^bb0(%a: !e, %b: !e):\n    %v = {op} %a, %b : !e\n    linalg.yield %v : !e\n  }} -> tensor<1x!e>')


def loop(low, high, step, body, init="%x"):
    return (f"  %r = scf.for %i = {low} to {high} step {step} iter_args(%t = {init}) -> (!t) {{\n{body}\n"
            "    scf.yield %w : !t\n  }")


COPY = (slice_of("%i", 1, 1, "%y", "%s") +
        "\n    %w = tensor.insert_slice %s into %t[%i] [1] [1] : tensor<1x!e> into !t")
ADD = ("    %w = linalg.add ins(%t, %y : !t, !t) outs(%t : !t) -> !t")
SAME = "  %r = tensor.cast %x : !t to !t"
DIVIDE = pointwise("    %v = arith.OP %a, %b : !e")

# What a faulty reader believes of the first function is the second; all are false.
BELIEVED = {
    "slice: stride": pair(slice_of(0, 2, 2), slice_of(0, 2, 1), "2"),
    "slice: offset": pair(slice_of(1, 2), slice_of(0, 2), "2"),
    "slice: dropped dim": pair(*("  %e = tensor.expand_shape %x [[0, 1]] output_shape [%c2, 2] : !t into tensor<?x2x!e>\n"
                                 f"  %r = tensor.extract_slice %e[{i}, 0] [1, 2] [1, 1] : tensor<?x2x!e> to tensor<2x!e>"
                                 for i in (1, 0)), "2"),
    "slice: ends behind": pair(SAME, "  %k = arith.addi %n, %c1 : index\n" + slice_of(0, "%k", 1, "%x", "%u") + "\n"
                               + slice_of(0, "%n", 1, "%u")),
    "slice: negative size": pair(SAME, "  %k = arith.subi %n, %c1 : index\n" + slice_of(0, "%k", 1, "%x", "%u") + "\n"
                                 + SAME),
    "slice: negative start": pair(SAME, "  %k = arith.subi %n, %c2 : index\n" + slice_of("%k", "%c0", 1, "%x", "%u")
                                  + "\n" + SAME),
    "insert: offset": pair(slice_of(0, 2, 1, "%y", "%s") +
                           "\n  %r = tensor.insert_slice %s into %x[1] [2] [1] : tensor<2x!e> into !t",
                           slice_of(1, 2, 1, "%y", "%s") +
                           "\n  %r = tensor.insert_slice %s into %x[1] [2] [1] : tensor<2x!e> into !t"),
    "pad: low": pair(padded(1, 1, "%z"), padded(0, 2, "%z")),
    "pad: border": pair(padded(1, 1, "%one"), "  %two = arith.addf %one, %one : !e\n" + padded(1, 1, "%two")),
    "pad: high": pair(padded(1, 2, "%z"), padded(1, 1, "%z")),
    "pad: negative": pair(SAME, "  %k = arith.subi %m, %c1 : index\n" + padded(0, "%k", "%z").replace("%r", "%u") + "\n"
                          + slice_of(0, "%n", 1, "%u")),
    "concat: begin": pair("  %r = tensor.concat dim(0) %x, %x : (!t, !t) -> !t",
                          "  %r = tensor.concat dim(0) %x, %y : (!t, !t) -> !t"),
    "reduction: minimum": pair(folded("arith.minimumf"), folded("arith.maximumf"), "1"),
    "reduction: unsigned": pair(folded("arith.maxui"), folded("arith.maxsi"), "1", "i32"),
    "reduction: truth": pair(folded("arith.ori"), folded("arith.andi"), "1", "i1"),
    "generic: agreement": pair(SAME, "  %u = linalg.add ins(%x, %y : !t, !t) outs(%x : !t) -> !t\n"
                               "  %r = linalg.sub ins(%u, %y : !t, !t) outs(%x : !t) -> !t"),
    "empty: zeros": pair("  %e = tensor.empty(%n) : !t\n  %r = linalg.fill ins(%z : !e) outs(%e : !t) -> !t",
                         "  %r = tensor.empty(%n) : !t"),
    "cast: sizes": pair(SAME, "  %u = tensor.cast %x : !t to tensor<3x!e>\n  %r = tensor.cast %u : tensor<3x!e> to !t"),
    "affine: product": pair(slice_of(0, "%n"), "  %k = affine.apply affine_map<()[s] -> (s * 2)>()[%n]\n"
                            "  %l = arith.subi %k, %c2 : index\n" + slice_of(0, "%l")),
    "affine: quotient": pair("  %k = affine.apply affine_map<()[s] -> (s floordiv 2)>()[%n]\n" + slice_of(0, "%k"),
                             "  %k = affine.apply affine_map<()[s] -> (s ceildiv 2)>()[%n]\n" + slice_of(0, "%k")),
    "affine: minimum": pair("  %k = affine.min affine_map<()[s] -> (s, 2)>()[%n]\n  %r = tensor.empty(%k) : !t",
                            "  %k = affine.max affine_map<()[s] -> (s, 2)>()[%n]\n  %r = tensor.empty(%k) : !t"),
    "index: difference": pair("  %k = arith.subi %n, %m : index\n" + padded(0, "%k", "%z"),
                              "  %k = arith.subi %m, %n : index\n" + padded(0, "%k", "%z")),
    "index: divisor": pair(SAME, "  %k = arith.divui %n, %m : index\n" + SAME),
    "extract: range": pair(SAME, "  %v = tensor.extract %x[%n] : !t\n" + SAME),
    "scalar: division": pair("  %v = tensor.extract %y[%c0] : !t\n" + SAME,
                             "  %v = tensor.extract %y[%c0] : !t\n  %q = arith.divui %v, %v : !e\n" + SAME, e="i32"),
    "loop: trips": pair(loop("%c0", "%n", "%c2", ADD), loop("%c2", "%n", "%c2", ADD)),
    "loop: first": pair(loop("%c1", "%n", "%c1", COPY), loop("%c0", "%n", "%c1", COPY)),
    "loop: addend": pair(loop("%c0", "%n", "%c1", ADD),
                         loop("%c0", "%n", "%c1", ADD.replace("linalg.add", "linalg.sub"))),
    "region: unused division": pair(pointwise("", "%a"), pointwise("    %q = arith.divui %a, %b : !e", "%a"), e="i32"),
    "arith: overflow": pair(pointwise("    %v = arith.subi %z, %a : !e"),
                            pointwise("    %k = arith.subi %z, %one : !e\n    %v = arith.divsi %a, %k : !e"), e="i32"),
    "arith: unsigned order": pair(*(pointwise(f"    %t = arith.cmpi {p}, %a, %b : !e\n"
                                              "    %v = arith.select %t, %a, %z : !e") for p in ("ult", "slt")), e="i32"),
    "arith: order of truths": pair(*(pointwise(f"    %v = arith.cmpi {p}, %a, %b : !e") for p in ("slt", "ult")),
                                   e="i1"),
    "arith: unsigned quotient": pair(DIVIDE.replace("OP", "divui"), DIVIDE.replace("OP", "divsi"), e="i32"),
}

UNHELD = ("verifier/read/Misreading.cpp", "return checkReading(reading, goal).misreading;", 'return "";')


def corpus(folder):
    """Pairs: their names and files, and whether they are false."""
    sys.argv[1:] = [str(BUILD / "bin/mlc-verify"), "mlir-opt-22"]
    sys.path[:0] = [str(SOURCE / "test/verifier"), str(SOURCE / "test/verifier/soundness")]
    import linalg_pairs
    import verdicts
    for title, before, after, equal in linalg_pairs.pairs(linalg_pairs.Work(folder)):
        files = [folder / f"{title} {side}.mlir" for side in ("before", "after")]
        for file, text in zip(files, (before, after)):
            file.write_text(text)
        yield title, files, not equal
    for path in sorted((SOURCE / "test/verifier/soundness").glob("*.mlir")):
        for i, (answers, why, text) in enumerate(verdicts.statements(path.read_text())):
            is_false = "not proved" in answers or "refuted" in answers
            if "error" not in answers and re.search(r"linalg|tensor\.|scf\.|arith\.", text):
                file = folder / f"{path.stem}-{i}.mlir"
                file.write_text(text)
                yield f"{path.stem}: {why}", [file], is_false
    for name, text in BELIEVED.items():
        file = folder / f"believed {name.replace(':', '')}.mlir"
        file.write_text(text)
        yield f"believed: {name}", [file], True


def answer(files, *flags):
    done = subprocess.run([BUILD / "bin/mlc-verify", *files, *flags, "--timeout=20"], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if "the reading of '" in said:
        return "misread"
    return {0: "proved", 5: "refuted", 6: "unknown"}.get(done.returncode, f"exit {done.returncode}: {said[:200]}")


def answers(pairs, name=None, everything=False):
    """Whether each pair is misread. If not, the kernel is asked about false ones, and the prover about what the fault
    would have one believe; where something is misread, and not `everything` is asked, about that alone."""
    believed = f"believed: {name}"

    def ask(item):
        title, files, is_false = item
        seen = answer(files, f"--proof={files[0]}.proof") if is_false else "true"
        return title, answer(files) if title == believed and seen == "unknown" else seen
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        read = dict(pool.map(lambda p: (p[0], answer(p[1], "--check-proof=/dev/null")), pairs))
        is_enough = "misread" in read.values() and not everything
        left = [p for p in pairs if read[p[0]] != "misread" and (p[0] == believed or not is_enough)]
        return {**read, **dict(pool.map(ask, left))}


def build():
    done = subprocess.run(["ninja", "-C", BUILD, "mlc-verify"], capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-3000:])
    return done.returncode == 0


def seeded(changes, work):
    """What `work` gives while these changes are made."""
    texts = {}
    try:
        for file, old, new in changes:
            path = SOURCE / file
            text = path.read_text()
            texts.setdefault(path, text)
            if text.count(old) != 1:
                return f"stands {text.count(old)} times in {file}: {old!r}"
            path.write_text(text.replace(old, new))
        return work() if build() else "does not build"
    finally:
        for path, text in texts.items():
            path.write_text(text)


def judge(before, now):
    accepted = [title for title, seen in now.items() if seen == "proved"]
    misread = sum(seen == "misread" for seen in now.values())
    crashed = [title for title, seen in now.items() if seen.startswith("exit")]
    kind = "ACCEPTED" if accepted else "misread" if misread else "changed" if now != before else "silent"
    return kind, f"{misread} misread" + "".join(f"; {title}" for title in accepted + crashed)


def main(names, unheld, everything):
    always = [UNHELD] if unheld else []
    with tempfile.TemporaryDirectory() as temporary:
        pairs = list(corpus(pathlib.Path(temporary)))
        before = seeded(always, lambda: answers(pairs))
        print(f"{len(pairs)} pairs, {sum(p[2] for p in pairs)} false; without a fault:", judge(before, before)[1],
              flush=True)
        kinds = {}
        for name in names or FAULTS:
            now = seeded([*always, FAULTS[name]], lambda own=name: answers(pairs, own, everything))
            kind, detail = ("BROKEN", now) if isinstance(now, str) else judge(before, now)
            kinds[kind] = kinds.get(kind, 0) + 1
            print(f"{kind:8} {name}: {detail}", flush=True)
    build()
    print(kinds)
    return 1 if kinds.get("ACCEPTED") or kinds.get("BROKEN") else 0


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    own = sys.argv[2:]
    sys.exit(main([n for n in own if n in FAULTS], "--unheld" in own, "--everything" in own))
