//===- OpInterfaces.h - What every operator answers -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_OPINTERFACES_H
#define MLC_DIALECTS_INTERFACES_OPINTERFACES_H

#include "dialects/Interfaces/Definition.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlc {
/// Verifier of every operator: the result types are those that follow from its
/// operands.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op);
} // namespace mlc

#include "dialects/Interfaces/OpInterfaces.h.inc"

namespace mlc {

/// The definition of `op` over its operands' dims; fails, with an error, when
/// ranks, types or attributes do not fit. A requirement on constants that does
/// not hold is an error too; symbolic ones stay in the definition.
mlir::FailureOr<Definition> getDefinition(DefinitionOpInterface op);

/// The result types that follow from the operands (definition or opaque).
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferResultTypes(mlir::Operation *op);

/// Creates an operator of the mlc dialect and gives it the result types that
/// follow from its operands. Fails, with an error at `loc`, and leaves nothing
/// behind when it is not well formed.
mlir::FailureOr<mlir::Operation *>
createOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
         mlir::ValueRange operands,
         llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
         unsigned numResults = 1);

template <typename Op>
mlir::FailureOr<Op>
createOp(mlir::OpBuilder &builder, mlir::Location loc,
         mlir::ValueRange operands,
         llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
         unsigned numResults = 1) {
  mlir::FailureOr<mlir::Operation *> op = createOp(
      builder, loc, Op::getOperationName(), operands, attributes, numResults);
  if (mlir::failed(op))
    return mlir::failure();
  return mlir::cast<Op>(*op);
}

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_OPINTERFACES_H
