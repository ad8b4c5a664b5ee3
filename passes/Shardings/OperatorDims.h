//===- OperatorDims.h - How groups of operations can be divided -*- C++ -*-===//

#ifndef MLC_PASSES_SHARDINGS_OPERATORDIMS_H
#define MLC_PASSES_SHARDINGS_OPERATORDIMS_H

#include "mlir/IR/Operation.h"
#include "passes/Distribute/Plan.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlc::dist {

/// The dim of a tensor that a division of a group of operations divides.
struct DividedDim {
  unsigned dim = 0;
  IntExpr unit;
};

/// A way to divide all that a group does into equal parts.
struct Division {
  IntExpr extent; ///< the most parts, which divide it
  /// Of values that the group makes: all of them.
  llvm::DenseMap<mlir::Value, DividedDim> values;
  /// Of other operands of its operations.
  llvm::DenseMap<mlir::OpOperand *, DividedDim> reads;
};

/// Finds divisions. What it found of an operation counts for all alike.
class DivisionFinder {
public:
  explicit DivisionFinder(mlir::MLIRContext *context);

  using Group = llvm::SetVector<mlir::Operation *>;
  /// The division of a group that divides a dim of a value that it makes;
  /// nothing if some operation would need an exchange, or a halo.
  std::optional<Division> find(const Group &group, mlir::Value value,
                               unsigned dim);
  /// The one that divides a dim of an operand, which another group makes.
  std::optional<Division> find(const Group &group, mlir::OpOperand &operand,
                               unsigned dim);

  /// What of an operation is divided together.
  struct Step {
    DividedDim result;
    llvm::SmallVector<std::optional<DividedDim>> operands;
  };
  /// The step that divides an operand so, or the result (-1); nothing if there
  /// is none that divides the result.
  const std::optional<Step> &step(mlir::Operation *op, int operand,
                                  DividedDim divided, IntExpr extent);

  /// Of the time that the operation takes by itself, what one of `parts` parts
  /// takes, of those that divide its result so; 1 / parts if a part has no
  /// price.
  double shareOf(mlir::Operation *op, DividedDim result, IntExpr extent,
                 int32_t parts,
                 llvm::function_ref<double(mlir::Operation *)> seconds);

private:
  /// What of an operation is asked for; operations that are alike are one.
  struct Query {
    Query(mlir::Operation *op, int operand, DividedDim divided, IntExpr extent,
          int32_t parts = 0);
    bool operator<(const Query &other) const;

    mlir::OperationName name;
    mlir::DictionaryAttr attributes;
    llvm::SmallVector<mlir::Type, 3> operands;
    int operand; ///< that is divided; -1: the result
    unsigned dim;
    const void *extent, *unit;
    int32_t parts;
  };
  bool follow(const Group &group, Division &division,
              llvm::SetVector<mlir::Operation *> &open);
  bool visit(mlir::Operation *op, const Group &group, Division &division,
             llvm::SetVector<mlir::Operation *> &open);
  std::optional<Step> findStep(mlir::Operation *op, int operand,
                               DividedDim divided, IntExpr extent);

  AxisAttr axis;
  std::map<Query, std::optional<Step>> known;
  std::map<Query, double> shares;
};

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_OPERATORDIMS_H
