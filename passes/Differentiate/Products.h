//===- Products.h - Gradients that are matrix products ----------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_PRODUCTS_H
#define MLC_PASSES_DIFFERENTIATE_PRODUCTS_H

#include "dialects/Graph/MovementOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// The gradient of `op`, which repeats a factor along batch dims of a product,
/// if `cotangent` is a product too. The sum over these dims joins the sum
/// within the product: one product instead of one per repetition. Null if this
/// does not apply.
mlir::FailureOr<mlir::Value> repeatedFactorGradient(mlir::OpBuilder &builder,
                                                    BroadcastOp op,
                                                    mlir::Value cotangent);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_PRODUCTS_H
