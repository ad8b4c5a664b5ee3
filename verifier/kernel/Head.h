//===- Head.h - What a call applies, or a reduction joins by ----*- C++ -*-===//
//
// Functions and monoids by enumerators: those of the table of scalar functions
// (dialects/Definition/ScalarFunctions.h) and those here. A head with a type is
// of that type's elements, and what is known of one without holds of the reals
// and of truth values alone. Texts are for people and for an order.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_HEAD_H
#define MLC_VERIFIER_KERNEL_HEAD_H

#include "dialects/Definition/Definition.h"
#include <string>

namespace mlc::kernel {

class Head {
public:
  enum class Kind : uint8_t {
    None, // of what neither calls nor joins

    // What calls apply.
    Unary,     // a function of one argument
    Binary,    // a function of two
    Positive,  // [x > 0], of the reals
    Zero,      // [x = 0], of the reals or of residues
    Less,      // [x < y], of residues
    Compare,   // of floats that are taken for their bits
    Cast,      // from one type to another
    Element,   // of an input, at a place that depends on values
    InRange,   // whether such a place is one of the input
    Unwritten, // an element that nobody has written
    Placed,    // a value and where it stands among those joined in order
    Joined,    // a value of a reduction whose values count

    // What reductions join by.
    Max,
    Min,
    Prod,
    Any,
    All,
    Parity,  // of truth values: whether an odd number hold
    InOrder, // a function of which value stands where
    Either,  // a function of two values, whichever is first
  };

  Head() = default;
  Head(UnaryFn function, mlir::Type type = {})
      : kind(Kind::Unary), unary(function), type(type) {}
  Head(BinaryFn function, mlir::Type type = {})
      : kind(Kind::Binary), binary(function), type(type) {}
  /// What has no more to it than a type.
  Head(Kind kind, mlir::Type type = {}) : kind(kind), type(type) {}
  static Head compare(ComparePredicate predicate, mlir::Type type);
  static Head cast(mlir::Type from, mlir::Type to);
  static Head element(unsigned input);
  static Head unwritten(llvm::StringRef name);
  /// Of places that have `numNumbers` numbers.
  static Head inOrder(ReduceKind monoid, mlir::Type type, unsigned numNumbers);
  static Head either(BinaryFn function, mlir::Type type);

  Kind getKind() const { return kind; }
  /// The type of what it is of; of a cast, from which. Null for the reals.
  mlir::Type getType() const { return type; }
  /// The type that a cast is to.
  mlir::Type getTarget() const { return target; }
  /// The function of the reals of one argument; nothing for all else.
  std::optional<UnaryFn> getFunction() const;
  /// The head with no type.
  Head ofReals() const;
  /// Whether repeating a value does not change a reduction.
  bool isIdempotent() const;
  /// Whether a reduction of one value is that value.
  bool keepsOneValue() const;

  bool operator==(const Head &other) const = default;
  /// Different for all that are not equal.
  std::string str() const;

private:
  Kind kind = Kind::None;
  UnaryFn unary = {};
  BinaryFn binary = {};            // Binary, Either
  ComparePredicate predicate = {}; // Compare
  ReduceKind monoid = {};          // InOrder
  unsigned number = 0; // Element: the input; InOrder: of how many a place is
  mlir::Type type, target;
  std::string name; // Unwritten
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_HEAD_H
