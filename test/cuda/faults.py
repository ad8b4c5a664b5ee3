"""Faults of kernels: what mutants.py replaces in their sources, and by what."""

import re


class Fault:
    """`old`, a text or a pattern, replaced by `new`: where it stands for the `which`th
    time, or everywhere (None)."""

    def __init__(self, kernel, name, old, new, which=None):
        self.kernel, self.name, self.old, self.new, self.which = kernel, f"{kernel}: {name}", old, new, which

    def applied(self, text):
        pattern, new = self.old, self.new
        if isinstance(pattern, str):
            pattern, new = re.compile(re.escape(pattern)), new.replace("\\", "\\\\")
        matches = list(pattern.finditer(text))
        chosen = matches if self.which is None else matches[self.which:self.which + 1]
        assert chosen, f"{self.name}: the kernel has no such text: {pattern.pattern}"
        for match in reversed(chosen):
            text = text[:match.start()] + match.expand(new) + text[match.end():]
        return text


def p(pattern):
    """A pattern in which NAME is any name and a blank any space."""
    return re.compile(pattern.replace("NAME", r"\w+").replace(" ", r"\s+"))


def tensor_faults(kernel):
    """Faults that matter whatever the type is."""
    yield Fault(kernel, "no barrier in steps", p(r"(waitForCopies<STAGES - 3>\(\);) syncBlock\(\);"), r"\1")
    yield Fault(kernel, "no barrier behind the steps", "if (problem.parts() == 1)\n    syncBlock();", "if (problem.parts() == 1)\n    ;")
    yield Fault(kernel, "no barrier between tasks", "if (task != blockIdx.x)\n    syncBlock();", "")
    yield Fault(kernel, "copies to the stage that is read", "*free = tiles + (now == 0 ? (STAGES - 1) * stage : now - stage)",
                "*free = tiles + now")
    yield Fault(kernel, "one stage less", "now == (STAGES - 1) * stage ? 0", "now == (STAGES - 2) * stage ? 0")
    yield Fault(kernel, "next stage multiplied", "load(tiles + now, part + 1)", "load(tiles + next, part + 1)")
    yield Fault(kernel, "the same stage again", "load(tiles + next, 0)", "load(tiles + now, 0)")
    yield Fault(kernel, "stages overlap", "stage = TileA::words + TileB::words", "stage = TileA::words")
    yield Fault(kernel, "B's tile begins in A's", "readB.start(to + TileA::words", "readB.start(to + TileA::words / 2")
    yield Fault(kernel, "chunks 3 words apart", "* 4 + word % 4", "* 3 + word % 4")
    yield Fault(kernel, "B's words swapped", "{pair[j % 2 * 2], pair[j % 2 * 2 + 1]}", "{pair[j % 2 * 2 + 1], pair[j % 2 * 2]}")
    yield Fault(kernel, "both fragments of B the same", "{pair[j % 2 * 2], pair[j % 2 * 2 + 1]}", "{pair[0], pair[1]}")
    yield Fault(kernel, "row + 8 dropped", "lane / 4 + half * 8", "lane / 4")
    yield Fault(kernel, "rows up to M", "m < problem.rows()", "m <= problem.rows()")
    yield Fault(kernel, "columns up to N", "n < problem.columns()", "n <= problem.columns()")
    yield Fault(kernel, "all tiles are whole", "firstM + FM * 16 <= problem.rows()", "true")
    yield Fault(kernel, "rows of results overlap", "+ warp * Results::words", "+ warp * Results::words / 2")
    yield Fault(kernel, "results are read at once", p(r"syncWarp\(\);( finishRows)"), r"\1")


def part_faults(kernel):
    """Faults of blocks that share a tile."""
    yield Fault(kernel, "no barrier behind a part", "Team::word();\n  Team::sync();", "Team::word();")
    yield Fault(kernel, "a warp's barrier behind a part", "Team::word();\n  Team::sync();",
                "Team::word();\n  syncWarp();")
    yield Fault(kernel, "no barrier behind the count", "+ which, parts);\n  Team::sync();", "+ which, parts);")
    yield Fault(kernel, "all threads count", "if (Team::index() == 0)\n    *word =", "*word =")
    yield Fault(kernel, "a counter for all tiles", "(workspace) + which", "(workspace)")
    yield Fault(kernel, "a counter for each part", "workspace, task / parts)", "workspace, task)")
    yield Fault(kernel, "all blocks go on", "isLast = *word + 1 == parts;", "isLast = true;")
    yield Fault(kernel, "the first goes on", "isLast = *word + 1 == parts;", "isLast = *word == 0;")
    yield Fault(kernel, "nobody goes on", "isLast = *word + 1 == parts;", "isLast = *word == parts;")
    yield Fault(kernel, "a part more is awaited", "+ which, parts);", "+ which, parts + 1);")
    yield Fault(kernel, "parts lie on the counters", "(workspace + counterBytes)", "(workspace)")
    yield Fault(kernel, "parts overlap", "+ number * size", "+ number * (size - 32)")
    yield Fault(kernel, "parts of the next tile", "(workspace, task / parts * parts, size)", "(workspace, task, size)")
    yield Fault(kernel, "first part dropped", "int number = 0; number < parts", "int number = 1; number < parts")
    yield Fault(kernel, "last part dropped", "if (number + p < parts)\n          at(e)", "if (number + p < parts - 1)\n          at(e)")
    yield Fault(kernel, "a part too many", p(r"(number(?: \+ p)?) < parts"), r"\1 <= parts")
    yield Fault(kernel, "the own part twice", "    at(e) = T(0);", "    ;")
    yield Fault(kernel, "parts do not add up", "at(e) += found[", "at(e) = found[")
    if kernel != "tileparts":  # a thread has one run there
        yield Fault(kernel, "threads' sums exchanged", p(r"(\(number \+ p\) \* size \+ i \* )THREADS \* "), r"\1")
    yield Fault(kernel, "all parts begin at 0", "begin = Index(task % parts) * each", "begin = 0")
    yield Fault(kernel, "parts end with K", "end = begin + each < steps ? begin + each : steps", "end = steps")
    yield Fault(kernel, "parts are a step short", "each = (steps + parts - 1) / parts", "each = steps / parts - 1")
    yield Fault(kernel, "the last step is dropped", "end = begin + each < steps ? begin + each : steps",
                "end = begin + each < steps ? begin + each : steps - 1")
    yield Fault(kernel, "tiles are parts", "task /= parts;", "")


def sum_faults(kernel):
    """Faults of blocks that share sums."""
    yield Fault(kernel, "no barrier between tasks", "if (task != blockIdx.x)\n      syncBlock();", "")
    yield Fault(kernel, "no barrier behind the warps' sums", p(r"= sums\[e\]; \} syncBlock\(\);"), "= sums[e];\n  }")
    yield Fault(kernel, "no barrier behind a part", "Team::word();\n  Team::sync();", "Team::word();")
    yield Fault(kernel, "no barrier behind the count", "+ which, parts);\n  Team::sync();", "+ which, parts);")
    yield Fault(kernel, "no barrier behind the word", "is free again.\n  Team::sync();", "is free again.")
    yield Fault(kernel, "the first goes on", "isLast = *word + 1 == parts;", "isLast = *word == 0;")
    yield Fault(kernel, "a part more is awaited", "+ which, parts);", "+ which, parts + 1);")
    yield Fault(kernel, "a counter for each part", "workspace, task / parts))", "workspace, task))")
    yield Fault(kernel, "parts of the next sum", "(workspace, task / parts * parts, width)", "(workspace, task, width)")
    yield Fault(kernel, "parts overlap", "+ number * size", "+ number * (size - 1)")
    yield Fault(kernel, "last part dropped", "i < parts; i +=", "i < parts - 1; i +=")
    yield Fault(kernel, "a part too many", "i < parts; i +=", "i <= parts; i +=")
    yield Fault(kernel, "the own part twice", "  total = none;\n", "")
    yield Fault(kernel, "parts are one place short", p(r"(Index end\w+ = minimum<Index>\(first\w+ \+ \d+)"), r"\1 - 1")
    yield Fault(kernel, "parts overlap by a place", p(r"(Index end\w+ = minimum<Index>\(first\w+ \+ \d+)"), r"\1 + 1")
    yield Fault(kernel, "K unbounded", p(r"(Index end\w+ = minimum<Index>\(first\w+ \+ \d+, )\d+"), r"\g<1>99999")
    yield Fault(kernel, "a warp too many", "w < THREADS / 32", "w <= THREADS / 32")
    yield Fault(kernel, "warp 1 skipped", "int w = 1", "int w = 2")
    yield Fault(kernel, "steps overlap", p(r"k = first \+ u \* (\d+)"), r"k = first + u * (\1 / 2)")


def faults():
    yield from tensor_faults("tf32")
    yield Fault("tf32", "waits for a copy less", "waitForCopies<STAGES - 3>", "waitForCopies<STAGES - 2>")
    yield Fault("tf32", "waits for no copies", "waitForCopies<STAGES - 3>();", "")
    yield Fault("tf32", "waits behind the barrier", p(r"(waitForCopies<STAGES - 3>\(\);)( syncBlock\(\);)"), r"\2\1")
    yield Fault("tf32", "a warp's barrier in steps", p(r"(waitForCopies<STAGES - 3>\(\);) syncBlock\(\);"), r"\1 syncWarp();")
    yield Fault("tf32", "no groups of copies", "    commitCopies();\n", "")
    yield Fault("tf32", "groups of those alone that have copies", p(r"commitCopies\(\);( now = next)"),
                r"if (s + STAGES - 1 < tile.end) commitCopies();\1")
    yield Fault("tf32", "a stage less at first", "s < STAGES - 1; ++s) {", "s < STAGES - 2; ++s) {")
    yield Fault("tf32", "a step too far", "start(s + STAGES - 1, free", "start(s + STAGES, free")
    yield Fault("tf32", "last part of a step dropped", "(problem.K() + STEP - 1) / STEP", "problem.K() / STEP")
    yield Fault("tf32", "k up to K", "== 0 || k < side.K())", "== 0 || k <= side.K())")
    yield Fault("tf32", "k unbounded", "== 0 || k < side.K())", "== 0 || true)")
    yield Fault("tf32", "a line in k too much", "isK = side.K() % lines == 0 || k < side.K()", "isK = k <= side.K()")
    yield Fault("tf32", "reads a row too much", "== 0 || r < side.count()", "== 0 || r <= side.count()")
    yield Fault("tf32", "reads all rows of a tile", "== 0 || r < side.count()", "== 0 || true")
    yield Fault("tf32", "copies what is outside", p(r"(isStored|isK && inside\[run\]) && side\.inside\(place\)"), "true")
    yield Fault("tf32", "writes all of a tile", "(m < problem.rows() && n < problem.columns())", "true")
    yield Fault("tf32", "words 8 apart", "(isTall ? third : second) * 4", "(isTall ? third : second) * 8")
    yield Fault("tf32", "words 2 apart", "(isTall ? third : second) * 4", "(isTall ? third : second) * 2")
    yield Fault("tf32", "A's rows 8 of 16", "(isTall ? second : third) * 8", "(isTall ? 0 : third) * 8")
    yield Fault("tf32", "A's fragments like B's", "Fragments<TileA, true", "Fragments<TileA, false")
    yield Fault("tf32", "B's fragments like A's", "Fragments<TileB, false", "Fragments<TileB, true")
    yield Fault("tf32", "lane's row is lane % 4", "lane / 4 + half * 8", "lane % 4 + half * 8")
    yield Fault("tf32", "neighbours swapped", "sums[j + e][i % 4]", "sums[j + e][i % 4 ^ 1]")
    yield Fault("tf32", "neighbours of one fragment", "Fragments<Tile, isTall, F, 1> {\n  static constexpr int together = F % 2 == 0 ? 4 : 2",
                "Fragments<Tile, isTall, F, 1> {\n  static constexpr int together = 2")
    yield Fault("tf32", "lanes read every second row", "row + lane / 4 * together", "row + lane / 4 * 2")
    yield Fault("tf32", "B not rounded", "      Mma::prepare(b[part % 2]);\n", "")
    yield Fault("tf32", "nothing rounded", "(1.0f + 1.0f / (3 * 1024))", "1.0f")
    yield Fault("tf32", "warps' rows and columns alike", "columnOfWarp = warp % WN * warpN",
                "columnOfWarp = warp / WN * warpN")
    yield Fault("tf32", "lanes of the block", "lane = threadIdx.x % 32", "lane = threadIdx.x")
    yield Fault("tf32", "all warps read the first columns", "fragmentsB(columnOfWarp)", "fragmentsB(0)")
    yield Fault("tf32", "every second product", "Mma::run(sums", "if (part % 2)\nMma::run(sums")
    yield Fault("tf32", "fragments are loaded too late", "load(tiles + now, part + 1)", "load(tiles + now, part)")
    yield Fault("tf32", "a lane does not multiply", "Mma::run(sums", "if (threadIdx.x % 32 != 5) Mma::run(sums")
    yield Fault("tf32", "a lane does not load", "loadMatrices(to[", "if (threadIdx.x % 32 != 5) loadMatrices(to[")
    yield Fault("tf32", "loads for one warp of two", "FactorReader<BM, threads,", "FactorReader<BM, 32,")
    yield Fault("tf32", "threads' rows overlap", "i * (THREADS / perRow)", "i")
    yield Fault("tf32", "tiles of N rounded down", "(problem.columns() + BN - 1) / BN", "problem.columns() / BN")
    yield Fault("tf32", "tiles along the diagonal", "task / tilesN % tilesM", "task % tilesM")
    yield Fault("tf32", "every block does each task", "task = blockIdx.x", "task = 0")
    yield Fault("tf32", "last task skipped", "task < tasks;", "task < tasks - 1;")
    yield Fault("tf32", "steps over a task", "task += gridDim.x)", "task += gridDim.x + 1)")
    yield Fault("tf32", "results are doubled", "r0.at[e] = total", "r0.at[e] = total + total")

    yield Fault("f16", "no barrier in steps", p(r"(waitForCopies<STAGES - 3>\(\);) syncBlock\(\);"), r"\1")
    yield Fault("f16", "no barrier between tasks", "if (task != blockIdx.x)\n    syncBlock();", "")
    yield Fault("f16", "tiles of M rounded down", "(problem.rows() + BM - 1) / BM", "problem.rows() / BM")
    yield Fault("f16", "batches of a column of tiles", "task / (tilesM * tilesN)", "task / tilesN")
    yield Fault("f16", "no bound of k in a word", "isRow && k + e < side.K()", "isRow")
    yield Fault("f16", "bound of a word, not its elements", "k + e < side.K()", "k < side.K()")
    yield Fault("f16", "elements 8 bits apart", "e * 32 / Mma::perWord", "e * 16 / Mma::perWord")
    yield Fault("f16", "first element twice", "isStored ? k + e : 0", "isStored ? k : 0")
    yield Fault("f16", "k counts words", "word(i) * Mma::perWord", "word(i)")
    yield Fault("f16", "steps of words", "(to + TileA::words, s * step,", "(to + TileA::words, s * wordsOfTile,")
    yield Fault("f16", "words of a part alike", "held[i - begin(part)];", "held[0];")
    yield Fault("f16", "parts of a step overlap", "loads * (isAsync ? (part + 1) / 2 * 2 : part) / 4",
                "loads * (isAsync ? (part + 1) / 2 * 2 : part - part / 4) / 4")
    yield Fault("f16", "taken for bf16", "multiplyAddF16(d", "multiplyAddBF16(d")
    yield Fault("f16", "a byte of an element", "bitsOf(f16 value) { return value.bits; }", "bitsOf(f16 value) { return uint8_t(value.bits); }")

    yield from part_faults("parts")
    yield Fault("parts", "no barrier behind the word", "is free again.\n  Team::sync();", "is free again.")
    yield from part_faults("tileparts")

    yield from sum_faults("rowsums")
    yield Fault("rowsums", "all threads write", p(r"if \(threadIdx\.x < 1 && (sum\w+)"), r"if (\1")
    yield Fault("rowsums", "steps beyond the part", p(r"if \(k < (end\w+)\)"), r"if (k <= \1)")
    yield Fault("rowsums", "distance 1 dropped", "distance >= LANES", "distance > LANES")
    yield from sum_faults("columnsums")
    yield Fault("columnsums", "a sum too many", p(r"(&& sum\w+) < (\d+)"), r"\1 <= \2")
    yield Fault("columnsums", "lanes' sums exchanged", "part[i * width + threadIdx.x % width]", "part[i * width]")
    yield Fault("columnsums", "vectors overlap", "% 32) * 4", "% 32) * 2")
    yield Fault("columnsums", "no barrier behind the threads' sums", p(r"= sum; syncBlock\(\);"), "= sum;")
    yield Fault("columnsums", "neighbours in one place", "lane * EACH + e] =", "lane * EACH] =")

    # Rows of 17001, which begin at the second and the third of four.
    yield Fault("long", "no wait for copies", "waitForCopies<0>();", "")
    yield Fault("long", "misaligned copies", "(WIDTH - base % WIDTH) % WIDTH", "0")
    yield Fault("long", "an edge too many", "int(threadIdx.x) < LENGTH - whole", "int(threadIdx.x) <= LENGTH - whole")
    yield Fault("long", "no edges", "int(threadIdx.x) < LENGTH - whole * WIDTH", "false")
    yield Fault("long", "edges lie on vectors", "LENGTH / WIDTH * WIDTH + int", "LENGTH / WIDTH + int")
    yield Fault("long", "edges all in front", "int(threadIdx.x) < head ? 0", "true ? 0")
    yield Fault("long", "a vector more is copied", "v < whole; v += THREADS", "v <= whole; v += THREADS")
    yield Fault("long", "a vector too many", "v < row.whole", "v <= row.whole")
    yield Fault("long", "threads' vectors exchanged", "const int slot = v * 4", "const int slot = (v ^ 1) * 4")
    yield Fault("long", "no barrier behind the maxima", "syncBlock();", "", 0)
    yield Fault("long", "exchanges lie on rows", p(r"(kept0 = [^;]*sharedMemory\(\)) \+ \d+"), r"\1 + 64")

    for which, what in ((1, "behind partial maxima"), (2, "behind the maximum"), (3, "behind partial sums"),
                        (4, "behind the sum")):
        yield Fault("again", f"no barrier {what}", "syncBlock();", "", which)

    yield from tensor_faults("vectors")
    yield Fault("vectors", "waits for a copy less", "waitForCopies<STAGES - 3>", "waitForCopies<STAGES - 2>")
    yield Fault("vectors", "no groups of copies", "    commitCopies();\n", "")
    yield Fault("vectors", "8 bytes of 16", "copyAsync<4 * wide", "copyAsync<2 * wide")
    yield Fault("vectors", "vectors begin one too far", "isStored ? k : 0", "isStored ? k + 1 : 0")
    yield Fault("vectors", "vectors overlap", p(r"\* wide;"), "* wide / 2;")

    yield Fault("across", "no barrier in steps", p(r"(waitForCopies<STAGES - 3>\(\);) syncBlock\(\);"), r"\1")
    yield Fault("across", "waits for a copy less", "waitForCopies<STAGES - 3>", "waitForCopies<STAGES - 2>")
    yield Fault("across", "not transposed", "loadMatricesTransposed(", "loadMatrices(")
    yield Fault("across", "k unbounded", "isK = side.K() % lines == 0 || k < side.K()", "isK = true")
    yield Fault("across", "rows unbounded", "== 0 || r < side.count()", "== 0 || true")
    yield Fault("across", "columns up to N", "== 0 || r < side.count()", "== 0 || r <= side.count()")
    yield Fault("across", "tiles of half of K", "lines = wordsOfTile * Mma::perWord", "lines = wordsOfTile")
    yield Fault("across", "places in k overlap", "/ perLine + i * apart", "/ perLine + i")
    yield Fault("across", "threads' rows overlap", "% perLine * wide", "% perLine")
    yield Fault("across", "all read the first row", "row() / Mma::perWord", "0")
    yield Fault("across", "places in k count words", "k * 16 * Tile::line", "k * 8 * Tile::line")
    yield Fault("across", "rows count words", "+ i * 16) / 2)", "+ i * 16))")
    yield Fault("across", "one place in k for all lanes", "(isTall ? third : second) * 8 + lane % 8,",
                "(isTall ? third : second) * 8,")
    yield Fault("across", "tiles end early", "words = ROWS * wordsOfTile", "words = ROWS * wordsOfTile / 2")
    yield Fault("across", "8 bytes of 16", "copyAsync<4 * words", "copyAsync<4")

    yield Fault("int8", "no barrier in steps", p(r"(waitForCopies<STAGES - 3>\(\);) syncBlock\(\);"), r"\1")
    yield Fault("int8", "A without signs", "MmaBytes<true, true>", "MmaBytes<false, true>")
    yield Fault("int8", "B without signs", "MmaBytes<true, true>", "MmaBytes<true, false>")
    yield Fault("int8", "signs spill", "return uint8_t(value);", "return uint32_t(value);")
    yield Fault("int8", "no bound of k in a word", "isRow && k + e < side.K()", "isRow")
    yield Fault("int8", "fragments transposed", p(r"loadMatrices\("), "loadMatricesTransposed(")

    for bound in ("along0 >= 0", "along0 < 9", "along1 >= 0", "along1 < 7"):
        yield Fault("conv", f"pad's bound {bound} dropped", f"place.{bound}", "true")
    yield Fault("conv", "pad's bound one too high", "place.along0 < 9", "place.along0 <= 9")
    yield Fault("conv", "pad's bound one too low", "place.along1 >= 0", "place.along1 >= -1")
    yield Fault("conv", "pad's last row dropped", "place.along0 < 9", "place.along0 < 8")
    yield Fault("conv", "pads are not asked", "inside[run] && side.inside(place)", "inside[run]")
    yield Fault("conv", "places do not add up", "x.along1 + y.along1", "x.along1")
    yield Fault("conv", "no barrier in steps", p(r"(waitForCopies<STAGES - 3>\(\);) syncBlock\(\);"), r"\1")

    for bound in ("along0 >= 0", "along0 < 18", "along0 % 2 == 0", "along1 % 3 == 0"):
        yield Fault("spread", f"condition {bound} dropped", f"place.{bound}", "true")
    yield Fault("spread", "a row too much", "place.along0 < 18", "place.along0 <= 18")
    yield Fault("spread", "quotients not divided", p(r"place\.at / 6"), "place.at")
    yield Fault("spread", "conditions are not asked", "inside[run] && side.inside(place)", "inside[run]")
    yield Fault("ieee", "no barrier behind the tiles", p(r"(readB\.read\(tileB, s \* BK\);) syncBlock\(\);"), r"\1")
    yield Fault("ieee", "no barrier before the next", "if (s > tile.begin || task != blockIdx.x)\n      syncBlock();", "")
    yield Fault("ieee", "no barrier between tasks", "s > tile.begin || task != blockIdx.x", "s > tile.begin")
    yield Fault("ieee", "tiles overlap", "tileB = tileA + BK * strideA", "tileB = tileA + BK * BM")
    yield Fault("ieee", "rows' padding in one place", "strideA = BM + 1", "strideA = BM")
    yield Fault("ieee", "k unbounded", "if (inside[i] && k < side.K())", "if (inside[i])")
    yield Fault("ieee", "reads a row too much", "inside[i] = r < side.count()", "inside[i] = r <= side.count()")
    yield Fault("ieee", "steps of half a tile", "read(tileA, s * BK)", "read(tileA, s * BK / 2)")
    yield Fault("ieee", "a place in k too many", "k < BK; ++k", "k <= BK; ++k")
    yield Fault("ieee", "a place in k too few", "k < BK; ++k", "k < BK - 1; ++k")
    yield Fault("ieee", "sums begin at 1", "sums[i][j] = T(0);", "sums[i][j] = T(1);")
    yield Fault("ieee", "sums do not sum", "sums[i][j] += a[i]", "sums[i][j] = a[i]")
    yield Fault("ieee", "writes neighbours", "threadM + i * threadsM;\n      const", "threadM * TM + i;\n      const")
    yield Fault("ieee", "columns up to N", "n < problem.columns()", "n <= problem.columns()")
    yield Fault("ieee", "rows of K", "alongK ? e / BK : e % ROWS", "alongK ? e % BK : e % ROWS")

    # Three warps for each row, one exchange each for maximum and sum.
    for which, what in ((0, "maxima"), (1, "sums")):
        yield Fault("softmax", f"no barrier behind partial {what}", "syncBlock();", "", which)
    yield Fault("softmax", "exchanges in one place", "turn = otherTurn - turn;", "")
    yield Fault("softmax", "exchanges overlap", "otherTurn = 24", "otherTurn = 8")
    yield Fault("softmax", "warp 1 skipped in sums", "int warp = 1", "int warp = 2", 1)
    yield Fault("softmax", "lanes exchange half of sums", "distance = 16", "distance = 8", 1)
    yield Fault("softmax", "warp 0 twice in sums", "int warp = 1", "int warp = 0", 1)
    yield Fault("softmax", "a warp too many", "warp < 3", "warp <= 3")
    yield Fault("softmax", "all lanes write", "if (threadIdx.x % 32 == 0)", "", 1)
    yield Fault("softmax", "distance 1 dropped", "distance > 0", "distance > 1")
    yield Fault("softmax", "a warp's barrier behind partial maxima", "syncBlock();", "syncWarp();", 0)
    yield Fault("softmax", "a vector too many", "at(v) < LENGTH", "at(v) <= LENGTH")
    yield Fault("softmax", "last vector dropped", "at(v) < LENGTH", "at(v) < LENGTH - WIDTH")
    yield Fault("softmax", "ends are not asked", "(v + 1) * TEAM * WIDTH <= LENGTH || at(v) < LENGTH", "true")
    yield Fault("softmax", "vectors overlap", "int(threadIdx.x) % TEAM) * WIDTH", "int(threadIdx.x) % TEAM) * 1")
    yield Fault("softmax", "misaligned load", "in0 + i1 + Row::at(v)", "in0 + i1 + 1 + Row::at(v)")
    yield Fault("softmax", "three of four", "e < 4", "e < 3", 1)
    yield Fault("softmax", "rows of 304", p(r"\* 300(; storeVector)"), r"* 304\1")

    # Eight lanes for each row, 16 rows in a block, the last one with 5.
    yield Fault("team", "rows unbounded", "isRow ? r0 : 37 - 1", "r0")
    yield Fault("team", "threads without a row write", "if (isRow) storeVector", "storeVector")
    yield Fault("team", "threads without a row leave", "Vector<float, 4> x0", "if (!isRow) break;\n    Vector<float, 4> x0")
    yield Fault("team", "rows exchange with neighbours", "distance = 4", "distance = 8", 1)
    yield Fault("team", "half of a row", "distance = 4", "distance = 2", 1)
    yield Fault("team", "rows overlap", "Index(threadIdx.x) / 8", "Index(threadIdx.x) / 16")
    yield Fault("team", "tasks of 15 rows", "Index(task) * 16", "Index(task) * 15")

    # Behind a warp's partial results; the first and second results.
    yield Fault("again", "a warp's barrier behind partial maxima", "syncBlock();", "syncWarp();", 1)
    yield Fault("again", "a barrier too many in a warp", "syncBlock();",
                "syncBlock();\nif (threadIdx.x < 32) syncBlock();", 4)
    yield Fault("again", "half a warp at a warp's barrier", "syncBlock();",
                "syncBlock();\nif (threadIdx.x % 32 < 16) syncWarp();", 1)
    yield Fault("again", "one warp at a barrier", "syncBlock();", "if (threadIdx.x < 32) syncBlock();", 3)
    yield Fault("again", "thread 0 alone at a barrier", "syncBlock();", "if (threadIdx.x == 0) syncBlock();", 1)
    yield Fault("again", "warp 0 at a barrier of its own", "syncBlock();",
                "if (threadIdx.x < 32)\nsyncBlock();\nelse\nsyncBlock();", 1)
    yield Fault("again", "lanes at two barriers", "syncBlock();",
                "if (threadIdx.x % 2)\nsyncBlock();\nelse\nsyncBlock();", 1)
    yield Fault("again", "half a warp shuffles", "for (int distance",
                "if (threadIdx.x % 32 < 16)\nfor (int distance", 1)
    yield Fault("again", "distances from 8 on", "distance = 16", "distance = 8")
    yield Fault("again", "distances from 32 on", "distance = 16", "distance = 32")
    yield Fault("again", "distance 1 dropped", "distance > 0", "distance > 1")
    yield Fault("again", "distances by 4", "distance /= 2", "distance /= 4")
    yield Fault("again", "a warp too many", "warp < blockDim.x / 32", "warp <= blockDim.x / 32")
    yield Fault("again", "half of the warps", "warp < blockDim.x / 32", "warp < blockDim.x / 64", 1)
    yield Fault("again", "warp 0 twice", "int warp = 1", "int warp = 0", 1)
    yield Fault("again", "warp 1 skipped", "int warp = 1", "int warp = 2", 1)
    yield Fault("again", "all lanes write", "if (threadIdx.x % 32 == 0)", "", 1)
    yield Fault("again", "all threads sum up", "if (threadIdx.x == 0)", "if (true)")
    yield Fault("again", "all threads write the maximum", p(r"if \(threadIdx\.x == 0\)( \{[^}]* stored0)"), r"\1")
    yield Fault("again", "each warp writes the sum", p(r"threadIdx\.x == 0(\) \{[^}]* stored1)"),
                r"threadIdx.x % 32 == 0\1")
    yield Fault("again", "first element skipped", p(r"(for \(Index k\w+ = threadIdx\.x);"), r"\1 + 1;", 1)
    yield Fault("again", "an element too many", p(r"(for \(Index NAME = threadIdx\.x; NAME <) n0"), r"\1= n0")
    yield Fault("again", "an element too many in the result", p(r"(for \(Index p\w+ = threadIdx\.x; NAME <) n0"),
                r"\1= n0", 0)
    yield Fault("again", "last element dropped", p(r"(for \(Index k\w+ = threadIdx\.x; NAME <) n0"), r"\1 n0 - 1", 1)
    yield Fault("again", "threads step by a warp", p(r"(for \(Index k\w+ = [^;]*; [^;]*; NAME \+=) blockDim\.x"),
                r"\1 32")
    yield Fault("again", "maximum and sum overlap", "1024 + 16)", "1024 + 0)")
    yield Fault("again", "sum outside of shared memory", "1024 + 16)", "1024 + 32)")
    yield Fault("again", "maximum lies on the warps", "sharedMemory() + 1024 + 0", "sharedMemory() + 0")
    yield Fault("again", "warps' sums lie a word apart in two", "[threadIdx.x / 32]", "[threadIdx.x / 64]")
    yield Fault("again", "shuffles after leaving", p(r"for \(int distance"),
                "if (threadIdx.x >= 224) break;\n    for (int distance")
    yield Fault("again", "rows of 299", p(r"\* n0(; [^;]*; out0)"), r"* (n0 - 1)\1")
    yield Fault("again", "a task too many", "task < tasks;", "task <= tasks;")
    yield Fault("again", "last task skipped", "task < tasks;", "task < tasks - 1;")
    yield Fault("again", "every block does each task", "task = blockIdx.x", "task = 0")

    yield Fault("scratch", "blocks share scratch memory", "scratch + blockIdx.x * stride", "scratch")
    yield Fault("scratch", "blocks' scratch memory overlaps", "blockIdx.x * stride", "blockIdx.x * (stride - 16)")
    yield Fault("scratch", "scratch memory of the next block", "blockIdx.x * stride", "(blockIdx.x + 1) * stride")
    yield Fault("scratch", "no barrier behind the maximum", "syncBlock();", "", 3)
    yield Fault("scratch", "an element too many", p(r"(Index p\w+ = threadIdx\.x; NAME <) n1"), r"\1= n1")

    for which, what in ((1, "behind partial sums"), (2, "behind the mean"), (3, "behind partial variances"),
                        (4, "behind the deviation")):
        yield Fault("norm", f"no barrier {what}", "syncBlock();", "", which)
    yield Fault("norm", "mean lies on the warps", "sharedMemory() + 1024 + 16", "sharedMemory() + 16")
    yield Fault("norm", "mean and sum exchanged", "stored1[0]", "stored0[0]", 1)
    yield Fault("norm", "first element skipped", p(r"(for \(Index k\w+ = threadIdx\.x);"), r"\1 + 1;", 1)

    for which, what in ((1, "behind the maxima"), (2, "behind the exponentials"), (3, "behind the sums")):
        yield Fault("warps", f"no barrier {what}", "syncBlock();", "", which)
    yield Fault("warps", "rows step by a thread", p(r"NAME \+= blockDim\.x / 32"), "p1 += 1", 0)
    yield Fault("warps", "all lanes write a maximum", p(r"if \(threadIdx\.x % 32 == 0\)( \{[^}]* stored0)"), r"\1")
    yield Fault("warps", "lanes begin at the block's thread", p(r"(Index k\w+ =) threadIdx\.x % 32"), r"\1 threadIdx.x")

    yield Fault("columns", "threads share what is stored", "stored0[Index(threadIdx.x)]", "stored0[0]")
    yield Fault("columns", "neighbours' places overlap", p(r"\* 256(; [^;]* = Index\(threadIdx)"), r"* 255\1")
    yield Fault("columns", "columns unbounded", p(r"if \(flat0 < 300\)"), "")
    yield Fault("columns", "a column too many", "flat0 < 300", "flat0 <= 300")
    yield Fault("columns", "a row too many", p(r"(k\w+) < 6"), r"\1 < 7", 0)

    yield Fault("vector", "tail as a vector", p(r"first0 \+ 4 <= (\d+)"), r"first0 < \1")
    yield Fault("vector", "no tail", p(r"else \{ for \(Index e = first0; e < \d+"), "else {\n for (Index e = 0; e < 0")
    yield Fault("vector", "tail one too long", p(r"e = first0; e < (\d+)"), r"e = first0; e <= \1")
    yield Fault("vector", "tail's first skipped", "e = first0;", "e = first0 + 1;")
    yield Fault("vector", "tasks overlap", "Index(task) * 256", "Index(task) * 255")
    yield Fault("vector", "vectors of 4 at multiples of 3", "Index(threadIdx.x)) * 4", "Index(threadIdx.x)) * 3")
    yield Fault("vector", "misaligned load", "loadVector<4>(in1 + first0)", "loadVector<4>(in1 + first0 + 1)")
    yield Fault("vector", "three of four", "e < 4", "e < 3")

    for kernel in ("transpose", "bytes", "turned"):
        yield Fault(kernel, "no barrier behind the tiles", "syncBlock();", "", 0)
        yield Fault(kernel, "no barrier between tasks", "syncBlock();", "", 1)
        yield Fault(kernel, "a warp's barrier behind the tiles", "syncBlock();", "syncWarp();", 0)
        yield Fault(kernel, "not turned", "return at[n * stride + m]", "return at[m * stride + n]")
        yield Fault(kernel, "tiles' rows overlap", "n * stride + m", "n * (stride / 2) + m")
        yield Fault(kernel, "reads a row too much", "n < countN", "n <= countN")
        yield Fault(kernel, "reads a column too much", "m < countM", "m <= countM")
        yield Fault(kernel, "reads whole tiles", "if (m < countM && n < countN)", "")
        yield Fault(kernel, "writes a row too much", p(r"(if \(m <)( i\w+ && n < i)"), r"\1=\2")
        yield Fault(kernel, "writes a column too much", p(r"(if \(m < i\w+ && n <)( i)"), r"\1=\2")
        yield Fault(kernel, "tiles overlap", p(r"(firstM\w+ = i\w+ \*) \d+"), r"\1 16")
        yield Fault(kernel, "tiles in one place", p(r"(firstN\w+ =) i\w+"), r"\1 0")
        yield Fault(kernel, "a part of a tile read", "i < EDGE * EDGE / THREADS", "i < EDGE * EDGE / THREADS - 1")
    yield Fault("transpose", "strides of a row less", p(r"(bring<256>\([^,]*,) 69"), r"\1 68")
    yield Fault("halves", "no barrier behind the tiles", "syncBlock();", "", 0)
    yield Fault("halves", "no barrier between tasks", "syncBlock();", "", 1)
    yield Fault("halves", "words of a vector in one place", "* stride + w]", "* stride]")
    yield Fault("halves", "tiles' rows overlap", "place[i * rows * stride", "place[i * rows * (stride - 1)")
    yield Fault("halves", "reads a row too much", "n + i * rows < countN", "n + i * rows <= countN")
    yield Fault("halves", "reads whole tiles", "if (m < countM && n + i * rows < countN)", "")
    yield Fault("halves", "writes a vector too much", p(r"(word \* 2 < i\w+ && n <)( i)"), r"\1=\2")
    yield Fault("halves", "misaligned load", "loadVector<WIDTH>(from + m", "loadVector<WIDTH>(from + 1 + m")
    yield Fault("halves", "vectors of one lane", "i % 32 / WIDTH) * WIDTH", "0) * WIDTH")
    yield Fault("halves", "words exchanged", "word * 2 + g", "word * 2 + 1 - g")
    yield Fault("few", "an element too many", p(r"flat0 < (\d+)"), r"flat0 <= \1")
    yield Fault("few", "elements unbounded", p(r"if \(flat0 < \d+\)"), "")
    yield Fault("few", "rows and columns exchanged", p(r"flat0 % (\d+)(;[^;]*)flat0 / "), r"flat0 / \1\2flat0 % ")
    yield Fault("few", "all tasks the same", "Index(task) * 256", "0 * 256")

    yield Fault("topk", "no barrier before a vote is read", "= all;\n    syncBlock();", "= all;")
    yield Fault("topk", "no barrier before the next vote", "the next vote.\n    syncBlock();", "the next vote.")
    yield Fault("topk", "warps' votes in one place", "votes()[threadIdx.x / 32]", "votes()[0]")
    yield Fault("topk", "votes lie on what is sorted", "sharedMemory() + 128", "sharedMemory()")
    yield Fault("topk", "an element too many", "length - first)", "length - first + 1)", 0)
    yield Fault("topk", "room for one more", "Index(CAPACITY - kept)", "Index(CAPACITY - kept + 1)")
    yield Fault("topk", "equal ones from behind", "index < other.index", "index > other.index")
    yield Fault("topk", "the smallest", "isLargest ? Key(~key) : key", "key")
    yield Fault("topk", "signs not turned", "Key(value) ^ half", "Key(value)")
    yield Fault("topk", "k - 1 of them", "i < k; i += THREADS) {", "i < k - 1; i += THREADS) {")
    yield Fault("topk", "a row too far", "outer * length * inner", "outer * (length + 1) * inner")
    yield Fault("scatter", "rows and lanes exchanged", "slot * lanes + lane < left)\n        mine",
                "lane * SLOTS + slot < left)\n        mine")
    yield Fault("scatter", "columns unbounded", "if (column >= inner)\n      return;", "")
    yield Fault("scatter", "rows unbounded", "if (slot * lanes + lane < left)\n        out", "out")
    yield Fault("scatter", "an index too many", "at >= end ||", "at > end ||")
    yield Fault("scatter", "an update too few", "j < count;", "j < count - 1;")
    yield Fault("scatter", "an update too many", "j < count;", "j <= count;")
    yield Fault("scatter", "not counted from the end", "(long long)(whole) : 0ll", "0ll : 0ll")
    yield Fault("scatter", "every lane adds", "|| int(at) % lanes != lane", "")
    yield Fault("scatter", "blocks in one place", "task / pieces % parts * rows", "0")
    yield Fault("scatter", "lanes in one place", "+ threadIdx.x;\n    const Index parts", "+ threadIdx.x % COLUMNS;\n    const Index parts")
    yield Fault("pieces", "no barrier before a round", "syncBlock();\n      for (int pair", "for (int pair")
    yield Fault("pieces", "no barrier before a step", "syncBlock();\n        for (int pair", "for (int pair")
    yield Fault("pieces", "a warp's barrier before a step", "syncBlock();\n        for (int pair",
                "syncWarp();\n        for (int pair")
    yield Fault("pieces", "no barrier behind the last step", "    }\n    syncBlock();\n  }\n\n  /// The k best of a row that",
                "    }\n  }\n\n  /// The k best of a row that")
    yield Fault("pieces", "runs not mirrored", "begin + 2 * run - 1 - at", "begin + run + at")
    yield Fault("pieces", "each warp by its own vote", "all |= votes()[warp];", ";")
    yield Fault("merge", "last element not sorted", "if (high >= count)", "if (high >= count - 1)")
    yield Fault("merge", "what lies behind the end sorted", "if (high >= count)", "if (high > count)")
    yield Fault("pieces", "pairs rounded down", "(count + 2 * run - 1) / (2 * run) * run", "count / (2 * run) * run")
    yield Fault("pieces", "steps to neighbours dropped", "apart > 0; apart /= 2", "apart > 1; apart /= 2")
    yield Fault("pieces", "a round too few", "run < count; run *= 2", "2 * run < count; run *= 2")
    yield Fault("pieces", "nothing is better", "isBetter |= item.before(items[kept - 1]);", ";")
    yield Fault("pieces", "the last piece dropped", "first < length;) {", "first + CAPACITY <= length;) {")
    yield Fault("merge", "no barrier behind a merge", "low] = item;\n    }\n    syncBlock();", "low] = item;\n    }")
    yield Fault("merge", "no barrier behind a piece", "from[first + i] = items[i];\n      syncBlock();",
                "from[first + i] = items[i];")
    yield Fault("merge", "copies overlap", "scratch + length", "scratch + length - 1")
    yield Fault("merge", "blocks share scratch memory", "scratch + blockIdx.x * stride", "scratch")
    yield Fault("merge", "the other run as long as a whole one", "high = keptOf(other, run)", "high = run")
    yield Fault("merge", "its own run searched", "from[other + middle]", "from[begin + middle]")
    yield Fault("merge", "search ends early", "low < high", "low + 1 < high")
    yield Fault("merge", "search from the second", "low = 0, high", "low = 1, high")
    yield Fault("merge", "merged where it was", "to[min(begin, other)", "to[begin")
    yield Fault("merge", "a merge too few", "run < length; run *= 2", "2 * run < length; run *= 2")
    yield Fault("merge", "the older copy", "return from;", "return to;")

    yield Fault("planes", "no barrier behind the tiles", p(r"(waitForCopies<0>\(\);) syncBlock\(\);"), r"\1")
    yield Fault("planes", "copies not awaited", "waitForCopies<0>();", "")
    yield Fault("narrow", "no barrier behind the sums", p(r"syncBlock\(\); (const Index base)"), r"\1")
    yield Fault("narrow", "a warp's barrier behind the sums", p(r"syncBlock\(\); (const Index base)"), r"syncWarp(); \1")
    yield Fault("narrow", "an element too much", "end = int(last - start)", "end = int(last - start) + 1")
    yield Fault("narrow", "the first element missing", "begin = int(first - start)", "begin = int(first - start) + 1")
    yield Fault("narrow", "whole vectors alone", "rest + lane - wide < end", "false")
    yield Fault("planes", "no bound above", p(r"NAME >= 0 && (NAME < 30)"), r"\1")
    yield Fault("planes", "no bound to the right", p(r"&& NAME < 23"), "")
    yield Fault("planes", "a column off", "= column + k1;", "= column + k1 + 1;")
    yield Fault("planes", "the next channel's weights", "group0 * 9", "(group0 + 1) * 9")
    yield Fault("planes", "a row of the kernel too few", "k0 < 3", "k0 < 2")
    yield Fault("bands", "bands overlap", "% 2) * 18", "% 2) * 17")
    yield Fault("bands", "the band's last row not brought", "- 1) * 2 + 2", "- 1) * 2 + 1")
    yield Fault("bands", "all bands as long", "minimum(18, 35 - first)", "18")
    yield Fault("bands", "bands begin with 16 bytes", p(r"% 4\) - begin"), "% 1) - begin")
    yield Fault("pixels", "pixels outside are read", p(r"(pixel0 = loadVectorOr<4>\()[^,]*"), r"\1true")
    yield Fault("pixels", "vectors overlap", "% 6 * 4", "% 6 * 3")
    yield Fault("pixels", "a tile too many", "tile < 108", "tile <= 108")
    yield Fault("pixels", "one column for all", "x[i * 2 + k1", "x[i * 2 + 0")
    yield Fault("pixels", "zero outside", p(r"(NAME = )-INFINITY(; \})"), r"\g<1>0.0f\2")

    yield Fault("pad", "begin of the second part", p(r"(NAME) - 7;"), r"\1 - 6;")
    yield Fault("pad", "no bound at the end", p(r"(NAME >= 0 &&) NAME < 5"), r"\1 true")
