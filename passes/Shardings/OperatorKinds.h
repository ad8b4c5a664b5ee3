//===- OperatorKinds.h - What begins an operator of a graph -----*- C++ -*-===//

#ifndef MLC_PASSES_SHARDINGS_OPERATORKINDS_H
#define MLC_PASSES_SHARDINGS_OPERATORKINDS_H

#include "mlir/IR/Operation.h"

namespace mlc::dist {

/// Whether an operation begins an operator of the graph: it sums or compares
/// elements, looks some up, joins several tensors, or has no definition.
bool isHeavy(mlir::Operation *op);

/// Whether it sums products of two tensors, in one stage.
bool isProduct(mlir::Operation *op);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_OPERATORKINDS_H
