//===- Equality.h - Are two normal forms equal? -----------------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_EQUALITY_H
#define MLC_VERIFIER_SEARCH_EQUALITY_H

#include "verifier/search/Expand.h"
#include "verifier/search/Solver.h"
#include "verifier/search/Unify.h"

namespace mlc::verifier {

/// Splits one of the `free` indices into digits if a quotient of it occurs in
/// one of the sums; false if there is none.
bool splitFreeIndex(llvm::ArrayRef<Sum *> sums, Facts &facts,
                    llvm::SmallVectorImpl<IntExpr> &free, Normalizer &n);

class Prover {
public:
  Prover(Normalizer &normalizer, Solver &solver)
      : n(normalizer), solver(solver) {}

  /// Whether a = b wherever `facts` hold. False means: no proof found.
  bool equal(const Sum &a, const Sum &b, const Facts &facts);
  /// Whether `guard` follows from `facts`; a proof joins the certificate.
  bool holds(const Guard &guard, const Facts &facts, const char *title);
  /// The first thing that could not be shown.
  const std::string &getFailure() const { return failure; }

private:
  struct Aligned {
    Fraction coefficient;
    std::vector<Guard> guards; // in the variables of the reference
  };

  bool cancels(std::vector<Term> terms, const Facts &facts);
  bool sumsToZero(llvm::ArrayRef<Aligned> terms, const Facts &facts);
  std::optional<Aligned> align(const Term &term, const Term &reference,
                               const Facts &facts);
  std::optional<Aligned> alignBy(const Term &term, const Term &reference,
                                 llvm::ArrayRef<unsigned> partner,
                                 const Facts &facts);
  bool equalAtoms(const Atom &a, const Atom &b, const Facts &facts);
  bool equalReductions(const Atom &a, const Atom &b, const Facts &facts);
  bool covers(llvm::ArrayRef<Branch> branches, llvm::ArrayRef<Branch> by,
              const Facts &facts);
  bool coversBranch(const Branch &branch, llvm::ArrayRef<Branch> by,
                    const Facts &facts);
  std::vector<Guard> pruned(llvm::ArrayRef<Guard> guards, Facts &known);
  bool fail(const std::string &reason);

  Normalizer &n;
  Solver &solver;
  std::string failure;
  unsigned depth = 0;
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_EQUALITY_H
