//===- Rematerialize.h - Recomputation in place of memory -------*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_REMATERIALIZE_H
#define MLC_PASSES_MEMORY_REMATERIALIZE_H

#include "passes/Base/Passes.h"
#include "passes/Memory/ExecProblem.h"
#include "passes/Memory/Fast.h"

namespace mlc {

/// What a program may take.
struct MemoryLimit {
  /// Most bytes of the arena, as the runtime plans it; 0: no limit.
  uint64_t arenaBytes = 0;
};

/// What became of a program under a limit.
struct MemoryReport {
  /// Of the arena as it was, and as it is.
  uint64_t arenaBefore = 0, arenaBytes = 0;
  /// No order of the steps takes less.
  uint64_t boundBytes = 0;
  /// Launches that were added.
  unsigned repeatedSteps = 0;
  /// Predicted seconds of a run as it was, and of what was added.
  double seconds = 0, extraSeconds = 0;
};

/// Makes `program` run launches again instead of keeping what they made, until
/// its arena is within the limit, at little cost in time (docs/
/// Rematerialization.md). `inPlace` has the pairs (input, output) that a
/// kernel's launches may have in one place. Emits an error where no such
/// program is found, which says what it takes.
mlir::FailureOr<MemoryReport>
rematerialize(exec::ProgramOp program, const Target &target,
              const MemoryLimit &limit,
              llvm::function_ref<
                  llvm::ArrayRef<std::pair<unsigned, unsigned>>(exec::LaunchOp)>
                  inPlace);

namespace remat {

/// The best plan within `budget` that is looked for: by solveFast, and for
/// small problems by solveExact. The same for the same problem.
Plan solve(const Problem &problem, uint64_t budget);

} // namespace remat
} // namespace mlc

#endif // MLC_PASSES_MEMORY_REMATERIALIZE_H
