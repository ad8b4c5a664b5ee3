//===- Attributes.h - The mlc dialect and its attributes --------*- C++ -*-===//

#ifndef MLC_DIALECTS_SYMBOLIC_ATTRIBUTES_H
#define MLC_DIALECTS_SYMBOLIC_ATTRIBUTES_H

#include "dialects/Symbolic/IntExpr.h"
#include "dialects/Symbolic/StoredDim.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/bit.h"

namespace mlc {

/// A double compared and hashed by its bits, so that NaN and -0.0 are values
/// like any other.
struct ExactDouble {
  double value;
  bool operator==(const ExactDouble &other) const {
    return llvm::bit_cast<uint64_t>(value) ==
           llvm::bit_cast<uint64_t>(other.value);
  }
  friend llvm::hash_code hash_value(const ExactDouble &x) {
    return llvm::hash_value(llvm::bit_cast<uint64_t>(x.value));
  }
};

} // namespace mlc

#include "dialects/Symbolic/MlcDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Symbolic/Attributes.h.inc"

namespace mlc {

/// The dims of a ranked tensor: its encoding if it has one, its static shape
/// otherwise. Returns nothing for a `?` without encoding, which has no name.
std::optional<llvm::SmallVector<IntExpr>> getDims(mlir::RankedTensorType type);

/// The tensor type with these dims: `?` and an encoding if one of them is not
/// constant.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<IntExpr> dims,
                                     mlir::Type elementType);

/// Product of dims.
IntExpr getNumElements(mlir::MLIRContext *context,
                       llvm::ArrayRef<IntExpr> dims);

} // namespace mlc

#endif // MLC_DIALECTS_SYMBOLIC_ATTRIBUTES_H
