"""Faults of contractions by warpgroups (kernels/wgmma.cuh)."""

from faults import Fault, p, part_faults


def pipeline_faults(kernel):
    """Barriers, phases, stages and products, however factors come."""
    yield Fault(kernel, "a stage is full an arrival too late", "initBarrier(full + i, ", "initBarrier(full + i, 1 + ")
    yield Fault(kernel, "a stage is empty when half of the warps have read it", "threads / 32);", "threads / 64);")
    yield Fault(kernel, "a stage is empty a warp too late", "threads / 32);", "threads / 32 + 1);")
    yield Fault(kernel, "a stage's barrier is not made", "for (int i = 0; i < STAGES; ++i) {", "for (int i = 1; i < STAGES; ++i) {")
    yield Fault(kernel, "no barrier behind those that are made", p(r"(fenceBarrierInit\(\); \}) syncBlock\(\);"), r"\1")
    yield Fault(kernel, "tiles at no multiple of 1024", "tiles += -sharedAddress(tiles) & 1023;", "")
    yield Fault(kernel, "a stage too many", "++stage == STAGES", "++stage == STAGES + 1")
    yield Fault(kernel, "uses are not counted", "++use;", ";")
    yield Fault(kernel, "copies over what is read", "waitForPhase(empty + turn.stage, turn.use - 1);", "")
    yield Fault(kernel, "waits for the use before", "turn.use - 1", "turn.use - 2")
    yield Fault(kernel, "waits for the next use", "turn.use - 1", "turn.use")
    yield Fault(kernel, "B's tile over A's", "b.start(to + bytesA,", "b.start(to,")
    yield Fault(kernel, "stages overlap", "stageBytes = bytesA + BN * 128", "stageBytes = bytesA")
    yield Fault(kernel, "A is a step ahead", "a.start(to, barrier, s * step)", "a.start(to, barrier, (s + 1) * step)")
    yield Fault(kernel, "B stays at the first step", "b.start(to + bytesA, barrier, s * step)", "b.start(to + bytesA, barrier, task.begin * step)")
    yield Fault(kernel, "multiplies before copies have come", "waitForPhase(full + turn.stage, turn.use);", "")
    yield Fault(kernel, "multiplies a use too late", "waitForPhase(full + turn.stage, turn.use);", "waitForPhase(full + turn.stage, turn.use + 1);")
    yield Fault(kernel, "multiplies a use too early", "waitForPhase(full + turn.stage, turn.use);", "waitForPhase(full + turn.stage, turn.use - 1);")
    yield Fault(kernel, "products without a fence", "fenceProducts();", "")
    yield Fault(kernel, "products that are not committed", "commitProducts();", "")
    yield Fault(kernel, "a release before products are complete", "waitForProducts<1>();", "")
    yield Fault(kernel, "a release one product early", "waitForProducts<1>();", "waitForProducts<2>();")
    yield Fault(kernel, "the release of the stage that is read", p(r"(if \(before && arrives\)) arrive\(before\);( before = )"),
                r"\1 arrive(empty + turn.stage);\2")
    yield Fault(kernel, "sums that are not complete", "waitForProducts<0>();", "")
    yield Fault(kernel, "the last stage is not released", p(r"(waitForProducts<0>\(\);) if \(before && arrives\) arrive\(before\);"), r"\1")
    yield Fault(kernel, "every lane releases", "arrives = threadIdx.x % 32 == 0", "arrives = true")
    yield Fault(kernel, "8 rows are 512 bytes", ", 1024);", ", 512);")
    yield Fault(kernel, "another swizzle", "describeTile<128>", "describeTile<64>")
    yield Fault(kernel, "A's part of k stays", "a + k * nextA", "a")
    yield Fault(kernel, "B's part of k is the next", "b + k * nextB", "b + (k + 1) % 4 * nextB")
    yield Fault(kernel, "a step has a part less", "for (int k = 0; k < 4; ++k)\n        Product", "for (int k = 0; k < 3; ++k)\n        Product")
    yield Fault(kernel, "sums begin with what was there", "sums[e] = 0;", "asm volatile(\"\" : \"+x\"(sums[e]));")
    yield Fault(kernel, "a piece's columns exchanged", "sums[piece * (PIECE / 2) + e]", "sums[piece * (PIECE / 2) + (e ^ 4)]")
    yield Fault(kernel, "rows of a warp dropped", "threadIdx.x / 32 % 4 * 16", "threadIdx.x / 32 % 2 * 16")
    yield Fault(kernel, "rows of results overlap", "(threadIdx.x / 32 - 4) * Results::words", "(threadIdx.x / 32 - 4) * Results::words / 2")
    yield Fault(kernel, "rows of results over tiles", "tiles + STAGES * stageBytes", "tiles + (STAGES - 1) * stageBytes")
    yield Fault(kernel, "results are read at once", p(r"syncWarp\(\);( piece\.template finishRead)"), r"\1")
    yield Fault(kernel, "the next rows are written at once", p(r"(have been read\.) syncWarp\(\);( #pragma unroll for \(int i = 0; i < BN / PIECE)"), r"\1\2")
    yield Fault(kernel, "all tiles are whole", p(r"firstM \+ 16 <= problem\.rows\(\) && task\.firstN \+ BN <= problem\.columns\(\)"), "true")
    yield Fault(kernel, "pieces behind the last column", "piece.firstN >= problem.columns()", "piece.firstN + PIECE >= problem.columns()")
    yield Fault(kernel, "rows up to M", "m < problem.rows()", "m <= problem.rows()")
    yield Fault(kernel, "columns up to N", "n < problem.columns()", "n <= problem.columns()")
    yield Fault(kernel, "copies for other tasks", "number < tasks; number += blocks) {\n      const Task task(problem, number);\n      TileA",
                "number < tasks; number += blocks) {\n      const Task task(problem, number / 2);\n      TileA")
    yield Fault(kernel, "a task is left out", "number < tasks", "number < tasks - 1")
    yield Fault(kernel, "more registers than there are", "raiseRegisters<MULTIPLYING>", "raiseRegisters<MULTIPLYING + 8>")
    yield Fault(kernel, "a warp keeps its registers", "raiseRegisters<MULTIPLYING>();", "if (threadIdx.x < 224) raiseRegisters<MULTIPLYING>();")
    yield Fault(kernel, "a warp does not multiply", "fenceProducts();", "if (threadIdx.x / 32 == 5) continue;\n      fenceProducts();")
    yield Fault(kernel, "a warp has other factors", "b + k * nextB", "b + (threadIdx.x / 32 == 6 ? 0 : k) * nextB")


def map_faults(kernel):
    """Copies by tensor maps; A lies along K, B across."""
    yield Fault(kernel, "expects too few bytes", "arriveAndExpect(barrier, mappedBytes)", "arriveAndExpect(barrier, mappedBytes - 128)")
    yield Fault(kernel, "expects too many bytes", "arriveAndExpect(barrier, mappedBytes)", "arriveAndExpect(barrier, mappedBytes + 128)")
    yield Fault(kernel, "expects nothing", "arriveAndExpect(barrier, mappedBytes)", "arrive(barrier)")
    yield Fault(kernel, "does not tell what it expects", "arriveAndExpect(barrier, mappedBytes);", ";")
    yield Fault(kernel, "barriers that copies do not see", "fenceBarrierInit();", "")
    yield Fault(kernel, "maps exchanged", "&map0, &map1", "&map1, &map0")
    yield Fault(kernel, "A's corner in k off by one", "barrier, int(k), int(m)", "barrier, int(k) + 1, int(m)")
    yield Fault(kernel, "A's corner in rows off by one", "barrier, int(k), int(m)", "barrier, int(k), int(m) + 1")
    yield Fault(kernel, "B's corner in k off by one", "barrier, int(n), int(k)", "barrier, int(n), int(k) + 1")
    yield Fault(kernel, "B's corner in columns off by one", "barrier, int(n), int(k)", "barrier, int(n) + 1, int(k)")
    yield Fault(kernel, "the batch before", p(r"int\((\(?batch[^;]*)\)\);"), r"int(\1) - 1);", 0)
    yield Fault(kernel, "a box is left out", "for (int row = 0; row < ROWS; row += inBox)", "for (int row = inBox; row < ROWS; row += inBox)")
    yield Fault(kernel, "boxes over one another", "to + row * 128", "to")
    yield Fault(kernel, "rows of a box twice", "first + row, k)", "first, k)")
    yield Fault(kernel, "leading and stride exchanged", "TileB::across ? run : 16, 1024", "1024, TileB::across ? run : 16")
    yield Fault(kernel, "the second run of columns too near", "TileB::across ? run : 16", "TileB::across ? run / 2 : 16")
    yield Fault(kernel, "8 places of k instead of 16", "TileB::across ? 128 : 2", "TileB::across ? 64 : 2")
    yield Fault(kernel, "B as if along K", "across = isAcross", "across = false")
    yield Fault(kernel, "rows of the second warpgroup dropped", "at + group * 64 * 128", "at")
    yield Fault(kernel, "results of the second warpgroup in the first's", "task.firstM + group * 64", "task.firstM")


def gather_faults(kernel):
    """Copies by threads; B has a map."""
    yield Fault(kernel, "every thread asks for boxes", "if (threadIdx.x != 0)\n      return;", "")
    yield Fault(kernel, "every thread tells what it expects", "mappedBytes > 0 && threadIdx.x == 0", "mappedBytes > 0")
    yield Fault(kernel, "copies that products do not see", "fenceAsyncProxy();", "")
    yield Fault(kernel, "a fence before copies have come", p(r"waitForCopies<lag>\(\);( handOver\(behind, 1\);)"), r"\1")
    yield Fault(kernel, "waits for a copy less", "waitForCopies<lag>();", "waitForCopies<lag + 1>();")
    yield Fault(kernel, "copies that are not committed", "commitCopies();", "")
    yield Fault(kernel, "hands over what other lanes copy", p(r"fenceAsyncProxy\(\); syncWarp\(\);"), "fenceAsyncProxy();")
    yield Fault(kernel, "every lane hands over", "if (threadIdx.x % 32 == 0)\n        arrive(full", "arrive(full")
    yield Fault(kernel, "too many steps in flight", "lag = STAGES - 2", "lag = STAGES")
    yield Fault(kernel, "the last copies are not waited for", "waitForCopies<0>();\n      handOver", "handOver")
    yield Fault(kernel, "the last stage is not handed over", "handOver(behind, inFlight)", "handOver(behind, inFlight - 1)")
    yield Fault(kernel, "chunks are not exchanged", "((word / 4) ^ twist(number)) * 4", "(word / 4) * 4")
    yield Fault(kernel, "a place in k twice", "places[which] + side.step(isStored ? k : 0)", "places[which] + side.step(isStored ? k / 16 * 16 : 0)")
    yield Fault(kernel, "rows one too far", "places[i] = side.place(batch, inside[i] ? r : 0)", "places[i] = side.place(batch, inside[i] ? r + 1 : 0)")


def shared_faults(kernel):
    """Blocks share tiles."""
    yield from part_faults(kernel)
    yield Fault(kernel, "only half of the threads wait", "syncNamed(1, THREADS)", "syncNamed(1, THREADS / 2)")
    yield Fault(kernel, "the word is a barrier's", "sharedMemory() + STAGES * 16", "sharedMemory() + STAGES * 8")
    yield Fault(kernel, "counts before others have written", p(r"Team::sync\(\); (if \(Team::index\(\) == 0\))"), r"\1")


def operand_faults(kernel):
    """What epilogues read."""
    yield Fault(kernel, "operands of the first piece", "now = next;", "")
    yield Fault(kernel, "operands of the same piece", "piece.firstN + PIECE}", "piece.firstN}")
    yield Fault(kernel, "operands of later rows", "firstM + rowOfFragment", "firstM + 1 + rowOfFragment")


def warpgroup_faults():
    yield from operand_faults("operands")
    yield from pipeline_faults("mapped")
    yield from map_faults("mapped")
    for fault in pipeline_faults("gathered"):
        if fault.name.removeprefix("gathered: ") in AGAIN:
            yield fault
    yield from gather_faults("gathered")
    yield from shared_faults("shared")


# Those that producers of several threads may hide or show otherwise.
AGAIN = {"a stage is full an arrival too late", "copies over what is read", "waits for the use before", "uses are not counted",
         "B's tile over A's", "A is a step ahead", "multiplies before copies have come", "a release before products are complete"}
