//===- AnswerAssumptions.cpp - What a verdict relies on -------------------===//

#include "verifier/search/AnswerAssumptions.h"
#include "verifier/search/Solver.h"

using namespace mlc;

std::string mlc::describeProver() {
  return "proof: accepted by mlc's kernel, which believes no search "
         "(docs/Trust.md); its obligations on integers decided by Z3 " +
         verifier::solverVersion();
}

std::vector<std::string> mlc::restsOn(const Verdict &verdict,
                                      const Assumptions &assumptions) {
  std::string assumed = str(assumptions);
  std::string sizes = assumed.empty() ? "assumed: nothing; all sizes for which "
                                        "the before side is defined"
                                      : "assumed by the file: " + assumed;
  if (verdict.isRefuted())
    return {"evaluator: both functions were run on these numbers, by mlc's "
            "reading of their operators",
            sizes};
  if (!verdict.isProved())
    return {};
  return {describeProver(), describeFloats(verdict.floatClass),
          "integers: modulo 2^width; dims and indices: integers of any size",
          sizes};
}
