//===- Compile.h - From a model's module to an artifact ---------*- C++ -*-===//
//
//   Expected<std::unique_ptr<CompiledModel>> model = compileModel(...);
//   Error error = (*model)->write(stream);
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_COMPILE_H
#define MLC_PASSES_COMPILE_H

#include "passes/Base/Remedy.h"
#include "passes/CompiledModel.h"
#include "passes/Pipeline.h"
#include "runtime/Exit.h"

namespace mlc {

struct CompileOptions : PipelineOptions {
  /// Threads that compile; the artifact's bytes do not depend on it.
  unsigned threads = 2;
  /// Where not empty: the IR and assembly of kernels, for people.
  std::string dumpDirectory;
  /// What the program may take; launches run again where it would take more.
  MemoryLimit memory;
  /// For the manifest: the options that shaped the artifact, as given.
  std::vector<std::string> flags;
  /// For the manifest: the options that shaped the artifact, as given.
  std::string modelHash;
  /// For the artifact: how it is trained, if its entries are those of training.
  std::optional<runtime::Training> trained;
  /// For the artifact: the model whose stages its entries are, if they are.
  std::optional<runtime::Pipeline> pipeline;
  /// For an artifact that a runtime refuses: how to make it again.
  std::string rebuild;
  /// How remedies of errors are followed; messages have none without it.
  std::function<std::string(const Remedy &)> describeRemedy;
  /// The entries to make code for, by their names; empty: all. The others are
  /// described, and a session of one cannot run.
  std::function<bool(llvm::StringRef)> isEntryHere;
  /// Told the name of each phase as it begins.
  std::function<void(llvm::StringRef)> onPhase;
};

/// Why a compilation failed: an exit code of the tools (Unsupported: beyond the
/// limits of an artifact, Codegen, Resources: beyond a bound, Internal:
/// anything that is a bug) and `NODE: what`.
class CompileError : public llvm::ErrorInfo<CompileError> {
public:
  static char ID;
  CompileError(Exit exitCode, std::string message)
      : exitCode(exitCode), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  Exit exitCode;
  std::string message;
};

/// Runs the phases on `module` up to and with `last`, checking each: all, or
/// those behind `done`, which are over.
llvm::Error runPhases(mlir::ModuleOp module, llvm::StringRef last,
                      const CompileOptions &options, llvm::StringRef done = "");

/// Compiles a module as passes/Import, or the phase `done`, makes it.
llvm::Expected<std::unique_ptr<CompiledModel>>
compileModel(mlir::OwningOpRef<mlir::ModuleOp> module,
             const CompileOptions &options, llvm::StringRef done = "");

/// Compiles a module as the last phase makes it, kernels and the program that
/// runs them, for the target that they were made for.
llvm::Expected<std::unique_ptr<CompiledModel>>
compileKernels(mlir::OwningOpRef<mlir::ModuleOp> module,
               const CompileOptions &options);

} // namespace mlc

#endif // MLC_PASSES_COMPILE_H
