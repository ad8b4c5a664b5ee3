//===- ElementTypes.h - Element types below the graph -----------*- C++ -*-===//

#ifndef MLC_PASSES_LOWER_ELEMENTTYPES_H
#define MLC_PASSES_LOWER_ELEMENTTYPES_H

#include "dialects/Symbolic/IntExpr.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlc {

/// arith knows signless integers only; operations carry the sign.
mlir::Type lowerElementType(mlir::Type type);

/// The tensor type with these dims, without encoding.
mlir::RankedTensorType getLoweredType(llvm::ArrayRef<IntExpr> dims,
                                      mlir::Type elementType);

/// `attr` with its type made signless; the contents are unchanged, and not
/// copied if they are a resource.
mlir::ElementsAttr lowerElements(mlir::ElementsAttr attr);

} // namespace mlc

#endif // MLC_PASSES_LOWER_ELEMENTTYPES_H
