//===- Head.h - What a call applies, or a reduction joins by ----*- C++ -*-===//
//
// What the normal form knows something about is an enumerator, as the proof
// kernel has them (verifier/kernel/Head.h): functions of the reals by the
// table, comparisons with 0, monoids. Everything else is uninterpreted and
// known by its text alone.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_HEAD_H
#define MLC_VERIFIER_SEARCH_HEAD_H

#include "verifier/kernel/Head.h"
#include <string>

namespace mlc::verifier {

class Head {
public:
  /// None: uninterpreted. Unary: a function of the reals. Monoids are of the
  /// reals and truth values unless there is a type.
  using Kind = kernel::Head::Kind;

  Head() = default;
  /// A function of the reals.
  Head(UnaryFn function);
  /// A comparison or a monoid of elements of a type. Of integers, it is of
  /// residues (Integers.h), and what holds of the reals need not hold of it.
  Head(Kind kind, mlir::Type elementType = {});
  static Head uninterpreted(const llvm::Twine &text);

  /// A function of the reals, or a comparison or monoid of theirs.
  bool is(UnaryFn function) const {
    return kind == Kind::Unary && unary == function;
  }
  bool is(Kind wanted) const { return kind == wanted && !type; }

  Kind getKind() const { return kind; }
  /// Of residues; null for the reals and what is uninterpreted.
  mlir::Type getType() const { return type; }
  /// The function of the reals; nothing for all else.
  std::optional<UnaryFn> getFunction() const {
    return kind == Kind::Unary ? std::optional(unary) : std::nullopt;
  }
  /// What the table says of it; null where it is no function of the reals.
  const ScalarFunction *getFacts() const {
    return kind == Kind::Unary ? &factsOf(unary) : nullptr;
  }
  /// Whether x joined with x is x.
  bool isIdempotent() const {
    return kind == Kind::Max || kind == Kind::Min || kind == Kind::Any ||
           kind == Kind::All;
  }

  /// Different for all that are not equal.
  llvm::StringRef getText() const { return text; }
  bool operator==(const Head &other) const { return text == other.text; }

private:
  Kind kind = Kind::None;
  UnaryFn unary = UnaryFn::Neg;
  mlir::Type type;
  std::string text;
};

/// The text of a function or monoid on elements of a type: with the type behind
/// it for index and integers.
std::string named(llvm::StringRef function, mlir::Type type);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_HEAD_H
