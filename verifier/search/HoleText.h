//===- HoleText.h - A normal form as a definition ---------------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_HOLETEXT_H
#define MLC_VERIFIER_SEARCH_HOLETEXT_H

#include "dialects/Definition/Definition.h"
#include "verifier/search/Scalar.h"

namespace mlc::verifier {

/// A tensor given by the normal form of its element.
struct SolvedTensor {
  llvm::SmallVector<IntExpr> indices; // variables, one for each dim
  llvm::SmallVector<IntExpr> dims;
  mlir::Type elementType;
  Sum value;
};

/// The definition of `solved` over the inputs that it reads. `shapes` are the
/// shapes of all inputs that it may read, by number; `used` receives the
/// numbers of those that the definition takes, in order. Returns why the normal
/// form cannot be expressed, or an empty text.
std::string toDefinition(const SolvedTensor &solved,
                         llvm::ArrayRef<TensorShape> shapes,
                         Definition &definition,
                         llvm::SmallVectorImpl<unsigned> &used);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_HOLETEXT_H
