//===- ExecProblem.h - An exec program as a problem of memory ---*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_EXECPROBLEM_H
#define MLC_PASSES_MEMORY_EXECPROBLEM_H

#include "dialects/Exec/Exec.h"
#include "passes/Memory/Schedule.h"
#include "runtime/ProgramPlan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlc::remat {

/// Facts about a program's steps that the IR does not have.
struct StepFacts {
  /// Pairs (input, output) of a launch whose buffers may share memory.
  llvm::function_ref<llvm::ArrayRef<std::pair<unsigned, unsigned>>(
      exec::LaunchOp)>
      inPlace;
  /// Estimated seconds of a launch.
  llvm::function_ref<double(exec::LaunchOp)> seconds;
};

/// A program of fixed sizes, for the runtime's memory planner and as a problem.
struct ExecProblem {
  /// Buffers and steps alone, in the order of translation, and the updates of
  /// states, so that its arena is the program's own.
  runtime::Program skeleton;
  /// For each step of `problem`, its op.
  std::vector<mlir::Operation *> steps;
  Problem problem;
  /// For each value of `problem`, its exec.alloc.
  std::vector<mlir::Value> allocs;
  llvm::DenseMap<mlir::Value, unsigned> valueOf;

  /// The memory that the runtime plans for one run.
  uint64_t arenaBytes() const;

  /// Arena buffers that the runtime places: all but those computed once for all
  /// runs.
  std::vector<uint8_t> isPlaced;
};

/// Reads `program`. Ops that it does not know become steps that run once, and
/// values that they touch stay as long as they are read. Emits an error if a
/// size is open.
mlir::FailureOr<ExecProblem> readExecProblem(exec::ProgramOp program,
                                             const StepFacts &facts);

/// Makes `program`, from which `read` was read, follow `schedule`: clones the
/// steps that run again and the buffers that they write.
void applySchedule(const ExecProblem &read, const Schedule &schedule);

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_EXECPROBLEM_H
