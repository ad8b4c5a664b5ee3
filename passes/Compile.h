//===- Compile.h - From a model's module to an artifact ---------*- C++ -*-===//
//
//   Expected<std::unique_ptr<CompiledModel>> model = compileModel(...);
//   Error error = (*model)->write(stream);
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_COMPILE_H
#define MLC_PASSES_COMPILE_H

#include "codegen/Artifact.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Base/Remedy.h"
#include "passes/Memory/Rematerialize.h"
#include "passes/Pipeline.h"
#include "runtime/Exit.h"

namespace mlc {

struct CompileOptions : PipelineOptions {
  /// Threads that compile; the artifact's bytes do not depend on it.
  unsigned threads = 2;
  Precision precision = Precision::TF32;
  /// If not empty, the directory for the IR and assembly of kernels.
  std::string dumpDirectory;
  /// The program's memory limit; launches are repeated to stay within it.
  MemoryLimit memory;
  /// For the manifest: the options that shaped the artifact, as given.
  std::vector<std::string> flags;
  /// For the manifest: BLAKE3 of the model file, in hexadecimal.
  std::string modelHash;
  /// For the artifact: how it is trained, if it has training entries.
  std::optional<runtime::Training> trained;
  /// For the artifact: how to rebuild it if a runtime refuses it.
  std::string rebuild;
  /// How a user follows remedies of errors; without it messages have none.
  std::function<std::string(const Remedy &)> describeRemedy;
  /// Called with the name of each phase as it begins.
  std::function<void(llvm::StringRef)> onPhase;
};

/// Why a compilation failed: an exit code of the tools and `NODE: what`. The
/// codes are Unsupported (beyond the limits of an artifact), Codegen, Resources
/// (beyond a bound) and Internal (a bug).
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

/// A compiled model, ready to be written. Holds the module, because constants
/// are written from its memory.
class CompiledModel {
public:
  /// Writes the artifact.
  llvm::Error write(llvm::raw_ostream &os) const;
  llvm::Error writeToMemory(llvm::SmallVectorImpl<char> &out) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Programs programs;
  ArtifactWriter weights;
  std::vector<KernelImage> images;
  std::string manifest, rebuild;
  /// The outcome for each program if memory was limited.
  std::vector<MemoryReport> memory;
  /// Seconds per phase.
  std::vector<std::pair<std::string, double>> seconds;
  /// Constants that had to be unpacked.
  std::vector<std::vector<char>> storage;
};

/// Runs the phases on `module` up to and including `last`, and checks each.
/// Starts after the phase `done`, or with the first.
llvm::Error runPhases(mlir::ModuleOp module, llvm::StringRef last,
                      const CompileOptions &options, llvm::StringRef done = "");

/// Compiles a module as passes/Import or the phase `done` makes it.
llvm::Expected<std::unique_ptr<CompiledModel>>
compileModel(mlir::OwningOpRef<mlir::ModuleOp> module,
             const CompileOptions &options, llvm::StringRef done = "");

/// Compiles a module as the last phase makes it: kernels and the program that
/// runs them, for the target that they were made for.
llvm::Expected<std::unique_ptr<CompiledModel>>
compileKernels(mlir::OwningOpRef<mlir::ModuleOp> module,
               const CompileOptions &options);

} // namespace mlc

#endif // MLC_PASSES_COMPILE_H
