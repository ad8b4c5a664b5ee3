//===- Products.h - Gradients that are matrix products ----------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_PRODUCTS_H
#define MLC_PASSES_DIFFERENTIATE_PRODUCTS_H

#include "dialects/Graph/MovementOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// The gradient of what `op` repeats along batch dims of a product, whose
/// `cotangent` is a product too: the sum over these dims becomes part of the
/// sum within the product, one product in place of one for each repetition.
/// Null where it is not so.
mlir::FailureOr<mlir::Value> repeatedFactorGradient(mlir::OpBuilder &builder,
                                                    BroadcastOp op,
                                                    mlir::Value cotangent);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_PRODUCTS_H
