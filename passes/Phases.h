//===- Phases.h - The phases of a compilation, as data ----------*- C++ -*-===//
//
// One table lists what happens to a module between the graph and code. It
// drives --compile-to, the check at each boundary, timing and the generated
// documentation.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_PHASES_H
#define MLC_PASSES_PHASES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Base/Form.h"
#include "runtime/Exit.h"

namespace mlc {

struct PipelineOptions;

struct Phase {
  /// As in --compile-to=NAME.
  llvm::StringRef name;
  llvm::StringRef summary;
  /// Adds the phase's passes; null if the phase has none of its own.
  void (*addPasses)(mlir::OpPassManager &, const PipelineOptions &);
  /// The form of the module after the phase.
  Form form;
  /// Whether it needs the target's back end.
  bool needsBackend;
  /// The exit code if a pass fails: an unsuitable model, or a bug.
  Exit failure;
};

/// All phases on modules, in order. The phases after them make no IR: codegen
/// turns kernels into code, memory (passes/Memory) fits the program to a budget
/// if there is one, and artifact writes the file.
llvm::ArrayRef<Phase> getPhases();

/// The phase called `name`, or null.
const Phase *findPhase(llvm::StringRef name);

/// Emits an error at an op that should not exist after `phase`.
mlir::LogicalResult checkPhase(mlir::ModuleOp module, const Phase &phase);

} // namespace mlc

#endif // MLC_PASSES_PHASES_H
