//===- Bindings.cpp - What a rule's symbols stand for ---------------------===//

#include "rewrites/Rules/Bindings.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

IntExpr Bindings::substitute(IntExpr expr) const {
  return expr.substitute([&](StringRef symbol) {
    auto it = integers.find(symbol);
    return it == integers.end() ? IntExpr() : it->second;
  });
}

Attribute Bindings::substitute(Attribute attribute) const {
  if (auto expr = dyn_cast<IntExpr>(attribute))
    return substitute(expr);
  if (auto real = dyn_cast<RealAttr>(attribute)) {
    auto it = real.isSymbol() ? reals.find(real.getSymbol()) : reals.end();
    return it == reals.end() ? real : it->second;
  }
  if (auto dims = dyn_cast<DimsAttr>(attribute)) {
    SmallVector<IntExpr> values;
    for (IntExpr dim : dims)
      values.push_back(substitute(dim));
    return DimsAttr::get(attribute.getContext(), ArrayRef<IntExpr>(values));
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    SmallVector<Attribute> values;
    for (Attribute value : array)
      values.push_back(substitute(value));
    return ArrayAttr::get(attribute.getContext(), values);
  }
  return attribute;
}
