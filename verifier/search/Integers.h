//===- Integers.h - Numbers modulo 2^w --------------------------*- C++ -*-===//
//
// An element of an integer type of w bits is a residue modulo 2^w. Sums of
// residues have the form of sums of reals, and the identities of commutative
// rings hold of both. Nothing else does: not order, nor division, nor that a
// product of what is not 0 is not 0. So a function that looks at the number for
// which a residue stands carries the type (`Head`, `named`), and what the
// normal form knows of one without a type holds of the reals alone.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_INTEGERS_H
#define MLC_VERIFIER_SEARCH_INTEGERS_H

#include "dialects/Definition/NumberTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "verifier/search/Scalar.h"

namespace mlc::verifier {

/// An integer type of more than one bit; truth values are the reals 0 and 1.
struct IntegerKind {
  unsigned width;
  bool isUnsigned;

  llvm::DynamicAPInt least() const;
  llvm::DynamicAPInt largest() const;
  /// The number between -2^(w-1) and 2^(w-1) that is `value` modulo 2^w.
  llvm::DynamicAPInt wrapped(const llvm::DynamicAPInt &value) const;
  /// The number that a residue stands for.
  llvm::DynamicAPInt numberOf(const llvm::DynamicAPInt &residue) const;
};
/// Nothing for floats, index and truth values.
std::optional<IntegerKind> integerKindOf(mlir::Type type);

/// The sum with wrapped coefficients.
Sum wrapped(Sum sum, const IntegerKind &kind);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_INTEGERS_H
