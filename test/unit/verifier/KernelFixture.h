//===- KernelFixture.h - Proofs by hand, for tests --------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_VERIFIER_KERNELFIXTURE_H
#define MLC_TEST_UNIT_VERIFIER_KERNELFIXTURE_H

#include "verifier/kernel/Text.h"
#include <catch2/catch.hpp>

using namespace mlc::kernel;

/// One input `a`, a size n, and what is asked of sums over them.
struct Fixture {
  Decider decider{3000000};
  Names names;
  Assumptions assumptions;
  std::vector<Need> given;
  Context context;
  Integer n = Integer::size("n");

  bool accepts(const Sum &sum, const Zero &proof, unsigned width = 0) {
    return Checker(decider, names, assumptions, given)
        .isZero(context, sum, width, proof);
  }
  bool accepts(const Sum &sum, const char *proof, unsigned width = 0) {
    std::string error,
        text = std::string("(proof (case (needs) (results ") + proof + ")))";
    auto cases = parseProof(text, error);
    INFO(error);
    REQUIRE(cases);
    return accepts(sum, cases->cases.front().results.front(), width);
  }

  /// sum over low <= v < n of coefficient * a[index(v)]
  template <class Index>
  Term sumOfReads(int coefficient, Integer low, Index index) {
    Variable v = names.fresh();
    Integer x = Integer::variable(v);
    return {Rational(coefficient),
            {v},
            {Formula::notNegative(x - low), Formula::less(x, n)},
            {makeRead(0, {index(x)}, false)}};
  }
  FactorRef read(Integer index) { return makeRead(0, {index}, false); }
};

inline FactorRef call(const char *name, Sum argument) {
  return makeCall(name, {std::move(argument)});
}

#endif // MLC_TEST_UNIT_VERIFIER_KERNELFIXTURE_H
