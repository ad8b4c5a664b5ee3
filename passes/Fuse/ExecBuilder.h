//===- ExecBuilder.h - Groups as a program ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_EXECBUILDER_H
#define MLC_PASSES_FUSE_EXECBUILDER_H

#include "dialects/Exec/Exec.h"
#include "passes/Fuse/Grouping.h"
#include "passes/Fuse/Outline.h"

namespace mlc {

/// Writes the `exec.program` that runs the groups of a function, and the
/// kernels, at the end of the module. Emits an error where a symbol has no
/// input to take its value from.
class ExecBuilder {
public:
  ExecBuilder(mlir::ModuleOp module, mlir::func::FuncOp function,
              const Grouping &grouping);

  mlir::LogicalResult build(llvm::ArrayRef<unsigned> order);

private:
  mlir::LogicalResult addSymbols();
  mlir::LogicalResult addInputs();
  mlir::LogicalResult addChecks();
  void addLaunch(const Group &group);
  void addLibrary(const Group &group);
  void addOutputs();

  /// The buffer that holds `value`, made where there is none yet.
  mlir::Value bufferOf(mlir::Value value);
  mlir::Value makeBuffer(mlir::Value value);
  mlir::Value makeAlias(mlir::Value value, mlir::Value source,
                        IntExpr elements);
  IntExpr countWork(const Group &group) const;

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  const Grouping &grouping;
  const ShapeTable &shapes;
  mlir::OpBuilder b;
  Outliner outliner;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  struct Place {
    mlir::Value whole;
    IntExpr offset;
  };
  /// Where values that are pieces of a concatenation are written.
  llvm::DenseMap<mlir::Value, Place> places;
};

} // namespace mlc

#endif // MLC_PASSES_FUSE_EXECBUILDER_H
