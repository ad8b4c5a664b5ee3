//===- SolverTest.cpp - Formulas and Z3 -----------------------------------===//

#include "verifier/search/Solver.h"
#include "dialects/Symbolic/Attributes.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::verifier;

TEST_CASE("the solver is the wheel's Z3, not LLVM's") {
  CHECK(solverVersion().substr(0, 2) == "5.");
}

TEST_CASE("lemmas are decided and written down") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  Solver solver{VerifierOptions()};
  IntExpr n = IntExpr::symbol(&context, "n"),
          d = IntExpr::symbol(&context, "d");
  auto holds = [&](const Guard &guard) {
    return solver.check(Formula::guard(guard), "test");
  };
  CHECK(holds(Guard::nonNegative(n)) == Solver::Answer::Valid);
  CHECK(holds(Guard::nonNegative(n - 1)) == Solver::Answer::Invalid);
  CHECK(solver.getNumLemmas() == 1);

  // n - d (n div d) < d where d > 0, and not otherwise.
  Guard quotient = Guard::less(n - d * n.floorDiv(d), d);
  CHECK(holds(quotient) == Solver::Answer::Invalid);
  Formula positive = Formula::guard(Guard::nonNegative(d - 1));
  CHECK(solver.check(Formula::implies(positive, Formula::guard(quotient)),
                     "test") == Solver::Answer::Valid);
  CHECK(solver.getScript().find("(check-sat)") != std::string::npos);

  CHECK(solver.isSatisfiable(
      Formula::allOf({Formula::guard(Guard::zero(n - 7)),
                      Formula::guard(Guard::zero(d - n))})));
  CHECK_FALSE(solver.isSatisfiable(Formula::truth(false)));
}

TEST_CASE("weighted truth values add up") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  Solver solver{VerifierOptions()};
  IntExpr n = IntExpr::symbol(&context, "n");
  Formula small = Formula::guard(Guard::nonNegative(-n + 3));
  Formula sum = Formula::weightedZero(
      {{1, small}, {1, Formula::negation(small)}, {-1, Formula()}});
  CHECK(solver.check(sum, nullptr) == Solver::Answer::Valid);
  CHECK(solver.getNumLemmas() == 0);
}
