//===- SymbolicNumber.h - Arithmetic on symbolic numbers --------*- C++ -*-===//
//
// One step each of the evaluator on symbolic numbers (EvaluatorSymbolic.h), in
// the type that a machine computes in: known integers wrap at its width, and
// floats are numbers only where float32 holds them exactly. Symbols are sizes,
// which fit into 32 bits. Nothing: the number is left open.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_SYMBOLICNUMBER_H
#define MLC_DIALECTS_INTERFACES_SYMBOLICNUMBER_H

#include "dialects/Interfaces/Definition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlc {

/// An exactly known number: expression / denominator, denominator > 0. Bools
/// are 0 and 1; there is no -0.
struct Number {
  IntExpr numerator;
  int64_t denominator = 1;

  bool isInteger() const { return denominator == 1; }
  std::optional<int64_t> asConstant() const {
    return isInteger() ? numerator.asConstant() : std::nullopt;
  }
};

using MaybeNumber = std::optional<Number>;
/// Whether `a` is not negative for sizes above 0.
bool isUsuallyNonNegative(IntExpr a);

/// numerator / denominator in lowest terms; nothing when that is 0.
MaybeNumber fraction(IntExpr numerator, int64_t denominator);
/// A float that is exactly known, also in float32.
MaybeNumber numberOf(double value, mlir::MLIRContext *context);

MaybeNumber applyUnary(UnaryFn fn, mlir::Type type, const Number &a);
/// `assume` is SymbolicOptions::assumeNonNegative.
MaybeNumber applyBinary(BinaryFn fn, mlir::Type type, const Number &a,
                        const Number &b,
                        llvm::function_ref<void(IntExpr)> assume);
/// 0 or 1, symbolic where the symbols decide.
MaybeNumber applyCompare(ComparePredicate predicate, Number a, Number b);
MaybeNumber applySelect(const Number &condition, const MaybeNumber &then,
                        const MaybeNumber &otherwise);
MaybeNumber applyCast(const Number &a, mlir::Type from, mlir::Type to);
/// `number` as an element of `type`: nothing where that does not hold it.
MaybeNumber asElement(const Number &number, mlir::Type type);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_SYMBOLICNUMBER_H
