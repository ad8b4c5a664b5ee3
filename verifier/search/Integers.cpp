//===- Integers.cpp - Numbers modulo 2^w ----------------------------------===//

#include "verifier/search/Integers.h"
#include "llvm/ADT/STLExtras.h"

using llvm::DynamicAPInt;

namespace mlc::verifier {

DynamicAPInt IntegerKind::least() const {
  return isUnsigned ? DynamicAPInt(0) : -powerOfTwo(width - 1);
}

DynamicAPInt IntegerKind::largest() const {
  return powerOfTwo(isUnsigned ? width : width - 1) - DynamicAPInt(1);
}

DynamicAPInt IntegerKind::wrapped(const DynamicAPInt &value) const {
  DynamicAPInt modulus = powerOfTwo(width), rest = mod(value, modulus);
  return rest >= powerOfTwo(width - 1) ? rest - modulus : rest;
}

DynamicAPInt IntegerKind::numberOf(const DynamicAPInt &residue) const {
  DynamicAPInt number = wrapped(residue);
  return isUnsigned && number < DynamicAPInt(0) ? number + powerOfTwo(width)
                                                : number;
}

std::optional<IntegerKind> integerKindOf(mlir::Type type) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.getWidth() == 1)
    return std::nullopt;
  return IntegerKind{integer.getWidth(), integer.isUnsigned()};
}

Sum wrapped(Sum sum, const IntegerKind &kind) {
  llvm::erase_if(sum.terms, [&](Term &term) {
    assert(term.coefficient.den == 1 && "a fraction among residues");
    term.coefficient = Fraction(kind.wrapped(term.coefficient.num));
    return term.coefficient == Fraction(0);
  });
  return sum;
}

} // namespace mlc::verifier
