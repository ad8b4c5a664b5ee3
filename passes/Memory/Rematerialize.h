//===- Rematerialize.h - Recomputation in place of memory -------*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_REMATERIALIZE_H
#define MLC_PASSES_MEMORY_REMATERIALIZE_H

#include "passes/Base/Passes.h"
#include "passes/Memory/ExecProblem.h"
#include "passes/Memory/Fast.h"

namespace mlc {

/// The memory that a program may take.
struct MemoryLimit {
  /// Maximum bytes of the arena, as the runtime plans it; 0: no limit.
  uint64_t arenaBytes = 0;
};

/// The outcome for a program under a limit.
struct MemoryReport {
  /// Bytes of the arena before and after.
  uint64_t arenaBefore = 0, arenaBytes = 0;
  /// A lower bound over all orders of the steps.
  uint64_t boundBytes = 0;
  /// Launches added.
  unsigned repeatedSteps = 0;
  /// Predicted seconds of a run before, and of the added launches.
  double seconds = 0, extraSeconds = 0;
};

/// Makes `program` run launches again instead of keeping their results, until
/// its arena is within the limit, at little cost in time
/// (docs/Rematerialization.md). `inPlace` has the pairs (input, output) of a
/// launch that may share memory. Emits an error that states the memory needed
/// if no such program is found.
mlir::FailureOr<MemoryReport>
rematerialize(exec::ProgramOp program, const Target &target,
              const MemoryLimit &limit,
              llvm::function_ref<
                  llvm::ArrayRef<std::pair<unsigned, unsigned>>(exec::LaunchOp)>
                  inPlace);

namespace remat {

/// The best plan found within `budget`: by solveFast, and for small problems by
/// solveExact. Deterministic.
Plan solve(const Problem &problem, uint64_t budget);

} // namespace remat
} // namespace mlc

#endif // MLC_PASSES_MEMORY_REMATERIALIZE_H
