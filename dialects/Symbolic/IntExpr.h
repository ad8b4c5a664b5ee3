//===- IntExpr.h - Symbolic integers for dims and attributes ----*- C++ -*-===//
//
// One type for every dim-like quantity of models, rules and kernels: a
// constant, a symbol, or an expression over them. Uniqued in the MLIR context
// and canonical on construction: sums of products over opaque atoms (symbols,
// floordiv, mod, min, max), so that two equal polynomials are one pointer.
//
// Symbols stand for non-negative integers (sizes, strides, padding). Division
// is floor division. Divisors are assumed positive; the user of an expression
// must have established that (a Definition states it as a condition).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_SYMBOLIC_INTEXPR_H
#define MLC_DIALECTS_SYMBOLIC_INTEXPR_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir {
class AsmParser;
class AsmPrinter;
} // namespace mlir

namespace mlc {

namespace detail {
struct IntExprStorage;
} // namespace detail

/// A symbolic integer. Value type (an MLIR attribute, `#mlc.int<N * 2 + 1>`);
/// compare with ==.
class IntExpr : public mlir::Attribute::AttrBase<IntExpr, mlir::Attribute,
                                                 detail::IntExprStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "mlc.int";
  static constexpr llvm::StringLiteral dialectName = "mlc";

  enum class Kind { Constant, Symbol, Add, Mul, FloorDiv, Mod, Min, Max };

  static IntExpr constant(mlir::MLIRContext *context, int64_t value);
  static IntExpr symbol(mlir::MLIRContext *context, llvm::StringRef name);

  Kind getKind() const;
  /// The value of a Constant.
  int64_t getConstant() const;
  /// The name of a Symbol.
  llvm::StringRef getSymbol() const;
  /// Operands in canonical order. A Mul has its constant coefficient first, if
  /// it is not 1; an Add has its constant term last, if it is not 0.
  llvm::ArrayRef<IntExpr> getOperands() const;

  bool isConstant() const { return getKind() == Kind::Constant; }
  bool isConstant(int64_t value) const {
    return isConstant() && getConstant() == value;
  }
  std::optional<int64_t> asConstant() const {
    return isConstant() ? std::optional(getConstant()) : std::nullopt;
  }

  IntExpr operator+(IntExpr other) const;
  IntExpr operator-(IntExpr other) const;
  IntExpr operator*(IntExpr other) const;
  IntExpr operator-() const;
  IntExpr operator+(int64_t other) const;
  IntExpr operator-(int64_t other) const;
  IntExpr operator*(int64_t other) const;
  IntExpr floorDiv(IntExpr divisor) const;
  IntExpr floorDiv(int64_t divisor) const;
  IntExpr ceilDiv(IntExpr divisor) const;
  IntExpr ceilDiv(int64_t divisor) const;
  IntExpr mod(IntExpr divisor) const;
  IntExpr mod(int64_t divisor) const;
  static IntExpr min(IntExpr a, IntExpr b);
  static IntExpr max(IntExpr a, IntExpr b);

  /// This polynomial divided by `divisor` if that leaves no remainder.
  std::optional<IntExpr> exactDiv(IntExpr divisor) const;

  /// The value for the symbol values that `valueOf` gives; nothing if a symbol
  /// has no value, on division by zero and on overflow.
  std::optional<int64_t>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf)
      const;

  /// Replaces every symbol by its `replacement` (null: kept).
  IntExpr
  substitute(llvm::function_ref<IntExpr(llvm::StringRef)> replacement) const;

  /// Calls `callback` for each symbol occurrence, in canonical order.
  void walkSymbols(llvm::function_ref<void(llvm::StringRef)> callback) const;

  /// Bounds that follow from symbols being non-negative.
  std::optional<int64_t> lowerBound() const;
  std::optional<int64_t> upperBound() const;
  bool isKnownNonNegative() const {
    std::optional<int64_t> bound = lowerBound();
    return bound && *bound >= 0;
  }
  bool isKnownPositive() const {
    std::optional<int64_t> bound = lowerBound();
    return bound && *bound > 0;
  }

  /// A total order by structure, the same in every run.
  static int compare(IntExpr a, IntExpr b);

  /// `N * 2 + floordiv(M - 1, 2)`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

/// Parses what IntExpr::print writes.
mlir::FailureOr<IntExpr> parseIntExpr(mlir::AsmParser &parser);

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, IntExpr expr) {
  expr.print(os);
  return os;
}

} // namespace mlc

MLIR_DECLARE_EXPLICIT_TYPE_ID(mlc::IntExpr)

#endif // MLC_DIALECTS_SYMBOLIC_INTEXPR_H
