//===- ExecBuilder.h - Groups as a program ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_EXECBUILDER_H
#define MLC_PASSES_FUSE_EXECBUILDER_H

#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "passes/Fuse/Grouping.h"
#include "passes/Fuse/Outline.h"

namespace mlc {

/// Writes the `exec.program` that runs the groups of a function, and the
/// kernels, at the end of the module. Emits an error if no input tells a
/// symbol's value.
class ExecBuilder {
public:
  ExecBuilder(mlir::ModuleOp module, mlir::func::FuncOp function,
              const Grouping &grouping, Outliner::Known &kernels);

  mlir::LogicalResult build(llvm::ArrayRef<unsigned> order);

private:
  mlir::LogicalResult addSymbols();
  mlir::LogicalResult addInputs();
  mlir::LogicalResult addParameter(mlir::BlockArgument argument);
  mlir::FailureOr<mlir::Value> stateCalled(mlir::StringAttr name,
                                           mlir::Value value,
                                           mlir::ElementsAttr initial,
                                           mlir::Attribute sharding);
  mlir::LogicalResult addChecks();
  void addLaunch(const Group &group);
  void addLibrary(const Group &group);
  mlir::LogicalResult addOutputs();
  mlir::LogicalResult addResult(unsigned index, mlir::Value value);
  void addNumberCheck(unsigned index, mlir::Value buffer);

  /// The buffer that holds `value`, created on first use.
  mlir::Value bufferOf(mlir::Value value);
  mlir::Value makeBuffer(mlir::Value value);
  mlir::Value makeAlias(mlir::Value value, mlir::Value source,
                        IntExpr elements);
  IntExpr countWork(const Group &group) const;

  // Collectives: ExecCollectives.cpp.
  struct Exchange {
    llvm::SmallVector<mlir::Value> inputs, outputs;
    llvm::SmallVector<IntExpr> args;
  };
  void placeOperands(mlir::Operation *op);
  mlir::Value jointBuffer(mlir::Operation *op);
  mlir::LogicalResult addStart(const Group &group, mlir::ArrayAttr nodes);
  mlir::LogicalResult addMessages(mlir::Operation *op, Exchange &exchange);
  void addInPlace(mlir::Operation *op, Exchange &exchange);
  mlir::LogicalResult addParts(mlir::Operation *op, Exchange &exchange);
  mlir::LogicalResult addAllToAll(dist::AllToAllOp op, Exchange &exchange);
  void waitFor(llvm::ArrayRef<mlir::Value> buffers);
  void addWait(unsigned ticket);
  void limitScatters(mlir::Operation *op);
  void addLastWaits();
  mlir::ArrayAttr splitOf(mlir::Attribute sharding);

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  const Grouping &grouping;
  const ShapeTable &shapes;
  mlir::OpBuilder b;
  Outliner outliner;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> states;
  llvm::DenseSet<mlir::StringAttr> assigned;
  struct Place {
    mlir::Value whole;
    IntExpr offset;
    /// If `whole` is null: in the joint buffer of this op's operands.
    mlir::Operation *collective = nullptr;
  };
  /// The places of values that are pieces of a concatenation or operands of one
  /// collective.
  llvm::DenseMap<mlir::Value, Place> places;
  /// Sizes of the joint buffers in elements, and the buffers made so far.
  llvm::DenseMap<mlir::Operation *, IntExpr> jointSizes;
  llvm::DenseMap<mlir::Operation *, mlir::Value> joints;
  /// By ticket; null after the wait.
  llvm::SmallVector<exec::StartOp> started;
  /// Reduce-scatters in flight, by ticket, with the bytes that they read.
  llvm::SmallVector<std::pair<unsigned, int64_t>> scatters;
  /// The tickets of the memory that collectives in flight write.
  llvm::DenseMap<mlir::Value, unsigned> pending;
};

} // namespace mlc

#endif // MLC_PASSES_FUSE_EXECBUILDER_H
