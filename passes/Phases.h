//===- Phases.h - The phases of a compilation, as data ----------*- C++ -*-===//
//
// One table says what happens to a module between the graph and code. It
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
  /// Adds the phase's passes; null where the phase has none of its own.
  void (*addPasses)(mlir::OpPassManager &, const PipelineOptions &);
  /// What the module is when the phase is over.
  Form form;
  /// Whether it asks the back end of the target.
  bool needsBackend;
  /// What it is where a pass fails: a model that cannot be had so, or a bug.
  Exit failure;
};

/// All phases on modules, in order. What follows them makes no IR: codegen
/// turns kernels into code, memory (passes/Memory) fits the program to a budget
/// where there is one, and artifact writes the file.
llvm::ArrayRef<Phase> getPhases();

/// The phase called `name`, or null.
const Phase *findPhase(llvm::StringRef name);

/// Emits an error at an op that `phase` must have left behind.
mlir::LogicalResult checkPhase(mlir::ModuleOp module, const Phase &phase);

} // namespace mlc

#endif // MLC_PASSES_PHASES_H
