//===- ConstantBytes.h - Properties of constants' bytes ---------*- C++ -*-===//

#ifndef MLC_PASSES_CONSTANTBYTES_H
#define MLC_PASSES_CONSTANTBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>
#include <vector>

namespace mlc {

/// Whether all bytes of a value, one element repeated, are zero.
bool isZeroSplat(mlir::ElementsAttr value);

/// The float32 weights with zeros in place of denormal numbers; nothing if
/// there are no denormals. Dead channels of trained models are full of them,
/// and each costs some hundred cycles in a multiplication. A product with one
/// is far below the rounding of the sum that it is added to.
std::optional<std::vector<char>> flushDenormals(llvm::ArrayRef<char> bytes);

} // namespace mlc

#endif // MLC_PASSES_CONSTANTBYTES_H
