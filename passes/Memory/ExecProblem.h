//===- ExecProblem.h - An exec program as a problem of memory ---*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_EXECPROBLEM_H
#define MLC_PASSES_MEMORY_EXECPROBLEM_H

#include "dialects/Exec/Exec.h"
#include "passes/Memory/Schedule.h"
#include "runtime/ProgramPlan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlc::remat {

/// What else must be known of a program's steps.
struct StepFacts {
  /// Pairs (input, output) of a launch whose buffers may be the same memory.
  llvm::function_ref<llvm::ArrayRef<std::pair<unsigned, unsigned>>(
      exec::LaunchOp)>
      inPlace;
  /// Seconds that a launch is taken to last.
  llvm::function_ref<double(exec::LaunchOp)> seconds;
};

/// A program of fixed sizes, as the planner sees it and as a problem.
struct ExecProblem {
  /// Buffers and steps alone, in the order in which they are translated, and
  /// where states get their new values, so that its arena is the program's own.
  runtime::Program skeleton;
  /// Of each step of `problem`.
  std::vector<mlir::Operation *> steps;
  Problem problem;
  /// Of each value of `problem`: its exec.alloc.
  std::vector<mlir::Value> allocs;
  llvm::DenseMap<mlir::Value, unsigned> valueOf;

  /// The memory that the runtime plans for one run.
  uint64_t arenaBytes() const;

  /// Arena buffers that the runtime places: not what is computed once for all
  /// runs.
  std::vector<uint8_t> isPlaced;
};

/// Reads `program`. What it does not know is a step that runs once, and what
/// that touches stays as long as it is read. Emits an error where a size is
/// open.
mlir::FailureOr<ExecProblem> readExecProblem(exec::ProgramOp program,
                                             const StepFacts &facts);

/// Makes `program`, from which `read` is, follow `schedule`: steps that run
/// again, and what they write, are there again.
void applySchedule(const ExecProblem &read, const Schedule &schedule);

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_EXECPROBLEM_H
