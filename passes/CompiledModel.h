//===- CompiledModel.h - A model as an artifact in memory -------*- C++ -*-===//

#ifndef MLC_PASSES_COMPILEDMODEL_H
#define MLC_PASSES_COMPILEDMODEL_H

#include "codegen/Artifact.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Memory/Rematerialize.h"

namespace mlc {

/// A compiled model, ready to be written. Holds the module, whose constants
/// are written from where they are.
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
  /// Where memory was limited: what came of it for each program.
  std::vector<MemoryReport> memory;
  /// Seconds that each phase took.
  std::vector<std::pair<std::string, double>> seconds;
  /// Constants that had to be unpacked.
  std::vector<std::vector<char>> storage;
};

} // namespace mlc

#endif // MLC_PASSES_COMPILEDMODEL_H
