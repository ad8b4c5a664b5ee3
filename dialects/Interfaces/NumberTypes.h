//===- NumberTypes.h - Which numbers a type has -----------------*- C++ -*-===//
//
// One place that says whether every number of one type is one of another, and
// what a number becomes as one of a type. Widths do not say so: f8E8M0FNU has
// 2^127, which f16 has not, and neither 0 nor what is negative.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_NUMBERTYPES_H
#define MLC_DIALECTS_INTERFACES_NUMBERTYPES_H

#include "mlir/Analysis/Presburger/Fraction.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include <optional>

namespace mlc {

struct NumberType {
  enum class Kind {
    Truth,   // 0 and 1
    Integer, // of `width` bits, more than one
    Index,   // all integers
    Float,   // the finite numbers of `semantics`
  };

  Kind kind;
  unsigned width = 0;
  bool isUnsigned = false;
  const llvm::fltSemantics *semantics = nullptr;

  bool isInteger() const { return kind == Kind::Integer; }
  bool isFloat() const { return kind == Kind::Float; }
  /// The ends of an integer type.
  llvm::DynamicAPInt least() const;
  llvm::DynamicAPInt largest() const;
  /// The number of an integer type that is `value` modulo 2^width.
  llvm::DynamicAPInt wrapped(const llvm::DynamicAPInt &value) const;
};

/// Nothing for what has no numbers.
std::optional<NumberType> numberTypeOf(mlir::Type type);
/// By the text of the type, "ui8", "bf16".
std::optional<NumberType> numberTypeNamed(llvm::StringRef text);

llvm::DynamicAPInt powerOfTwo(unsigned exponent);

/// Whether a float type without 0, a sign or infinity has no number that
/// `value` is rounded to: 0, one below 0, one that is beyond the largest.
bool hasNoNumberNear(const llvm::fltSemantics &type, double value);

/// Whether every number of `inner` is one of `outer`.
bool holdsNumbersOf(const NumberType &outer, const NumberType &inner);
bool holdsNumbersOf(mlir::Type outer, mlir::Type inner);
/// Of floats: and -0, infinity and NaN as well.
bool holdsValuesOf(mlir::FloatType outer, mlir::FloatType inner);

/// What a number of `from`, given modulo 2^width if that is a type of integers,
/// becomes as one of `to`: a float the nearest, ties to even; a float made an
/// integer is cut off. Nothing where `to` has no such number, or one of more
/// digits than are kept track of.
std::optional<mlir::presburger::Fraction>
convertedNumber(const mlir::presburger::Fraction &number,
                const NumberType &from, const NumberType &to);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_NUMBERTYPES_H
