//===- SymbolicNumber.h - Arithmetic on symbolic numbers --------*- C++ -*-===//
//
// Single steps of the evaluator on symbolic numbers (EvaluatorSymbolic.h), with
// machine types: known integers wrap at their width, and floats are numbers
// only if float32 holds them exactly. Symbols are sizes, which fit into 32
// bits. Nothing means that the number is unknown.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_SYMBOLICNUMBER_H
#define MLC_DIALECTS_EVALUATOR_SYMBOLICNUMBER_H

#include "dialects/Definition/Definition.h"
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
/// Whether `a` is not negative for all sizes above 0.
bool isUsuallyNonNegative(IntExpr a);

/// numerator / denominator in lowest terms; nothing if the denominator is 0.
MaybeNumber fraction(IntExpr numerator, int64_t denominator);
/// A float that is known exactly, also in float32.
MaybeNumber numberOf(double value, mlir::MLIRContext *context);

MaybeNumber applyUnary(UnaryFn fn, mlir::Type type, const Number &a);
/// `assume` is SymbolicOptions::assumeNonNegative.
MaybeNumber applyBinary(BinaryFn fn, mlir::Type type, const Number &a,
                        const Number &b,
                        llvm::function_ref<void(IntExpr)> assume);
/// 0 or 1, or symbolic if that can express it.
MaybeNumber applyCompare(ComparePredicate predicate, Number a, Number b);
MaybeNumber applySelect(const Number &condition, const MaybeNumber &then,
                        const MaybeNumber &otherwise);
MaybeNumber applyCast(const Number &a, mlir::Type from, mlir::Type to);
/// `number` as an element of `type`; nothing if the type does not hold it.
MaybeNumber asElement(const Number &number, mlir::Type type);

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_SYMBOLICNUMBER_H
