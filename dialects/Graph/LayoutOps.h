//===- LayoutOps.h - The operators of Layout.td ------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_LAYOUTOPS_H
#define MLC_DIALECTS_GRAPH_LAYOUTOPS_H

#include "dialects/Graph/OpBase.h"
#include "dialects/Interfaces/Layout.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Layout.h.inc"

namespace mlc {

/// The plain operator that `op` stands for, on operands without values, in a
/// block of its own.
class PlainOperator {
public:
  /// Fails, with an error at `op`, where there is no such operator, or the
  /// layouts do not fit its operands.
  static mlir::FailureOr<PlainOperator> of(LaidOutOp op);

  mlir::Operation *getOperation() const { return operation; }

private:
  explicit PlainOperator(std::unique_ptr<mlir::Block> block)
      : block(std::move(block)) {}

  std::unique_ptr<mlir::Block> block;
  mlir::Operation *operation = nullptr;
};

} // namespace mlc

#endif // MLC_DIALECTS_GRAPH_LAYOUTOPS_H
