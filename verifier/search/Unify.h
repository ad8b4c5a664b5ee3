//===- Unify.h - Maps between index spaces ----------------------*- C++ -*-===//
//
// Pairs the reads of two terms and solves the equations between their indices
// for the variables of either side. The result is a guess: Equality proves
// every part that it uses.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_UNIFY_H
#define MLC_VERIFIER_SEARCH_UNIFY_H

#include "verifier/search/Normalize.h"

namespace mlc::verifier {

/// Equations between indices of two sides, and the variables bound inside their
/// atoms, which take part but are not wanted.
struct Equations {
  std::vector<IntExpr> zeros; // left - right
  std::vector<IntExpr> leftInner, rightInner;
  std::vector<Guard> leftGuards, rightGuards;
};

/// Pairs the atoms of both sides; false when their shapes differ.
bool collectEquations(const Atom &left, const Atom &right, Equations &out);
bool collectEquations(const Sum &left, const Sum &right, Equations &out);

/// Ways to pair the factors of two terms of one signature: for each factor of
/// `left` the position of its partner. The most likely comes first.
std::vector<std::vector<unsigned>> factorPairings(const Term &left,
                                                  const Term &right);

struct SolveRequest {
  std::vector<IntExpr> zeros;
  llvm::ArrayRef<IntExpr> wanted;      // variables to find
  llvm::ArrayRef<IntExpr> wantedInner; // of the same side, inside atoms
  llvm::ArrayRef<IntExpr> given;       // variables of the other side
  llvm::ArrayRef<IntExpr> givenInner;  // must not occur in the answer
  llvm::ArrayRef<Guard> wantedGuards, givenGuards;
};
/// Values of the wanted variables in terms of the given ones. Variables that
/// the equations leave open are paired by their ranges, when `pairByRange`, or
/// otherwise omitted from the answer, which may mention them.
std::optional<Substitution> solveEquations(const SolveRequest &request,
                                           const Facts &facts,
                                           bool pairByRange);

/// Guesses for a variable that only its guards restrict.
std::vector<IntExpr> witnessCandidates(IntExpr variable,
                                       llvm::ArrayRef<Guard> guards);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_UNIFY_H
