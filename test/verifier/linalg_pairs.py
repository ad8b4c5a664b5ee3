"""Twenty pairs of linalg functions made by upstream passes, and wrong variants.

usage: linalg_pairs.py MLC_VERIFY MLIR_OPT

Every pair has a right answer; the verdict must be that or unknown, and at
least 16 must be decided. The kernel must accept all that are equal, but for
those that are named, and no other.
"""

import pathlib
import subprocess
import sys
import tempfile

VERIFY, OPT = sys.argv[1], sys.argv[2]

MATMUL = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""
STATIC = MATMUL.replace("?x?", "24x24")
CONV = """
func.func @f(%x: tensor<1x10x10x4xf32>, %w: tensor<3x3x4x8xf32>, %y: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x8xf32>) outs(%y : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}
"""
POINTWISE = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.add ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.exp ins(%0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.mul ins(%1, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
"""
PRODUCER = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.exp ins(%a : tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
"""
TRANSPOSED = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %b, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %t = linalg.transpose ins(%b : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %t : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %z, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""


def transform(body: str) -> str:
    return (
        "module attributes {transform.with_named_sequence} {\n"
        "transform.named_sequence @__transform_main(%r: !transform.any_op {transform.readonly}) {\n"
        + body
        + "transform.yield\n}\n}\n"
    )


def tile(op: str, sizes: str, loops: int, how: str = "for") -> str:
    kinds = ", ".join(["!transform.any_op"] * (loops + 1))
    results = f"%t, %l:{loops}" if how == "for" else "%t, %l"
    kinds = kinds if how == "for" else "!transform.any_op, !transform.any_op"
    return transform(
        f'%0 = transform.structured.match ops{{["{op}"]}} in %r : (!transform.any_op) -> !transform.any_op\n'
        f"{results} = transform.structured.tile_using_{how} %0 tile_sizes [{sizes}] : (!transform.any_op) -> ({kinds})\n"
    )


def interchange(order: str) -> str:
    return transform(
        '%0 = transform.structured.match ops{["linalg.generic"]} in %r : (!transform.any_op) -> !transform.any_op\n'
        f"%1 = transform.structured.interchange %0 iterator_interchange = [{order}] : (!transform.any_op) -> !transform.any_op\n"
    )


IM2COL = transform(
    '%0 = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %r : (!transform.any_op) -> !transform.any_op\n'
    "%1, %2 = transform.structured.convert_conv2d_to_img2col %0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)\n"
)
PAD_TILE = tile("linalg.matmul", "5, 7, 0", 2)
FUSE = transform(
    '%0 = transform.structured.match ops{["linalg.matmul"]} in %r : (!transform.any_op) -> !transform.any_op\n'
    "%1, %l:2 = transform.structured.fuse %0 tile_sizes [8, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)\n"
)


# An index that is a quotient and a remainder of one loop rises and falls, and is not read.
BEYOND = {"im2col"}


class Work:
    def __init__(self, folder: pathlib.Path):
        self.folder, self.count = folder, 0

    def file(self, text: str) -> pathlib.Path:
        self.count += 1
        path = self.folder / f"{self.count}.mlir"
        path.write_text(text)
        return path

    def opt(self, text: str, *flags: str, script: str = "") -> str:
        command = [OPT, str(self.file(text))]
        if script:
            command += [
                f"--transform-preload-library=transform-library-paths={self.file(script)}",
                "--transform-interpreter",
            ]
        command += [*flags, "--canonicalize", "--cse"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def verdict(self, before: str, after: str) -> str:
        run = subprocess.run(
            [VERIFY, str(self.file(before)), str(self.file(after)), "--timeout=60"],
            capture_output=True,
            text=True,
        )
        words = {0: "proved", 5: "refuted", 6: "unknown"}
        detail = (run.stdout + run.stderr).splitlines()
        return words.get(run.returncode, f"exit {run.returncode}"), detail[0] if detail else ""

    def is_accepted(self, before: str, after: str) -> bool:
        command = [VERIFY, str(self.file(before)), str(self.file(after)), f"--proof={self.folder / 'out.proof'}"]
        return subprocess.run(command, capture_output=True).returncode == 0


def swapped(text: str, old: str, new: str) -> str:
    if old not in text:
        raise SystemExit(f"nothing to break: {old!r} not in\n{text}")
    return text.replace(old, new, 1)


def pairs(work: Work):
    generic = work.opt(MATMUL, "--linalg-generalize-named-ops")
    tiled = work.opt(MATMUL, script=tile("linalg.matmul", "16, 16, 8", 3))
    static = work.opt(STATIC, script=tile("linalg.matmul", "8, 8, 8", 3))
    forall = work.opt(MATMUL, script=tile("linalg.matmul", "8, 16", 2, "forall"))
    ordered = work.opt(generic, script=interchange("2, 0, 1"))
    columns = work.opt(CONV, script=IM2COL)
    conv = work.opt(CONV, "--linalg-generalize-named-ops")
    fused = work.opt(POINTWISE, "--linalg-generalize-named-ops", "--linalg-fuse-elementwise-ops")
    both = work.opt(PRODUCER, script=FUSE)
    ragged = work.opt(STATIC, script=PAD_TILE)

    yield "generalized matmul", MATMUL, generic, True
    yield "tiled matmul, sizes unknown", MATMUL, tiled, True
    yield "tiled matmul", STATIC, static, True
    yield "tiled matmul, forall", MATMUL, forall, True
    yield "interchanged loops", MATMUL, ordered, True
    yield "im2col", CONV, columns, True
    yield "generalized convolution", CONV, conv, True
    yield "fused element-wise", POINTWISE, fused, True
    yield "tiled and fused producer", PRODUCER, both, True
    yield "ragged tiles", STATIC, ragged, True
    yield "transposed operand", MATMUL, TRANSPOSED, True

    yield "generalized, operands exchanged", STATIC, swapped(
        work.opt(STATIC, "--linalg-generalize-named-ops"), "ins(%arg0, %arg1", "ins(%arg1, %arg0"), False
    yield "a tile is not written back", STATIC, swapped(
        swapped(static, "to %c24 step", "to %short step"),
        "%c24 = arith",
        "%short = arith.constant 16 : index\n    %c24 = arith",
    ), False
    yield "tiles step too far", MATMUL, swapped(tiled, "%c8 = arith.constant 8", "%c8 = arith.constant 9"), False
    yield "products become sums", MATMUL, swapped(generic, "arith.mulf", "arith.addf"), False
    yield "im2col with a wrong offset", CONV, swapped(columns, "d2 floordiv 12", "d2 floordiv 18"), False
    yield "fusion drops a factor", POINTWISE, swapped(fused, "math.exp", "math.absf"), False
    yield "fused producer of the other operand", PRODUCER, swapped(both, "linalg.exp", "linalg.abs"), False
    yield "transposed twice", MATMUL, swapped(TRANSPOSED, "(j, k)>", "(k, j)>"), False
    yield "convolution mirrored", CONV, swapped(
        conv, "d1 + d4", "d1 - d4 + 2"), False


def main() -> int:
    decided = wrong = total = 0
    with tempfile.TemporaryDirectory() as folder:
        work = Work(pathlib.Path(folder))
        for title, before, after, equal in pairs(work):
            verdict, detail = work.verdict(before, after)
            expected = "proved" if equal else "refuted"
            total += 1
            decided += verdict == expected
            bad = verdict not in (expected, "unknown")
            bad |= work.is_accepted(before, after) != (equal and title not in BEYOND)
            wrong += bad
            print(f"{'WRONG' if bad else '     '} {verdict:8} {title}: {detail}")
    print(f"{total} pairs, {decided} decided, {wrong} wrong")
    return 0 if wrong == 0 and total >= 20 and decided >= 16 else 1


if __name__ == "__main__":
    sys.exit(main())
