//===- NumberTypes.h - Which numbers a type has -----------------*- C++ -*-===//
//
// Tells whether every number of one type is a number of another, and converts
// numbers between types. Widths do not tell that: f8E8M0FNU has 2^127, which
// f16 lacks, but neither 0 nor negative numbers.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_NUMBERTYPES_H
#define MLC_DIALECTS_DEFINITION_NUMBERTYPES_H

#include "mlir/Analysis/Presburger/Fraction.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
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
  /// The least and the largest number of an integer type.
  llvm::DynamicAPInt least() const;
  llvm::DynamicAPInt largest() const;
  /// The number of an integer type that equals `value` modulo 2^width.
  llvm::DynamicAPInt wrapped(const llvm::DynamicAPInt &value) const;
};

/// Nothing for types without numbers.
std::optional<NumberType> numberTypeOf(mlir::Type type);
/// From the text of the type, "ui8", "bf16".
std::optional<NumberType> numberTypeNamed(llvm::StringRef text);

llvm::DynamicAPInt powerOfTwo(unsigned exponent);

/// Whether a float type that lacks 0, a sign or infinity has no number that
/// `value` rounds to: 0, a negative number, or one beyond the largest.
bool hasNoNumberNear(const llvm::fltSemantics &type, double value);

/// Whether every number of `inner` is a number of `outer`.
bool holdsNumbersOf(const NumberType &outer, const NumberType &inner);
bool holdsNumbersOf(mlir::Type outer, mlir::Type inner);
/// For floats, including -0, infinity and NaN.
bool holdsValuesOf(mlir::FloatType outer, mlir::FloatType inner);

/// Converts `number` from type `from`, modulo 2^width for integers, to type
/// `to`. Floats round to nearest, ties to even; a float that becomes an integer
/// is truncated. Nothing if `to` has no such number, or if it has too many
/// digits to track.
std::optional<mlir::presburger::Fraction>
convertedNumber(const mlir::presburger::Fraction &number,
                const NumberType &from, const NumberType &to);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_NUMBERTYPES_H
