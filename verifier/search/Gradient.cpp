//===- Gradient.cpp - Is a function another's gradient? -------------------===//

#include "verifier/search/Gradient.h"
#include "verifier/search/ByKernel.h"
#include "verifier/search/Counterexample.h"

using mlir::func::FuncOp;

namespace mlc::verifier {

std::vector<Goal> makeGradientGoals(FuncOp function, FuncOp gradient,
                                    const Assumptions &assumptions) {
  auto mayBeTrue = [&](const Goal &goal) {
    bool sawInstance = false;
    return !findCounterexample(goal, assumptions, 1, 12, /*isSmall=*/false,
                               sawInstance) &&
           sawInstance;
  };
  return makeGradientGoals(function, gradient, assumptions, mayBeTrue);
}

} // namespace mlc::verifier

namespace mlc {

using namespace verifier;

Verdict verifyGradient(FuncOp function, FuncOp gradient,
                       const Assumptions &assumptions,
                       const VerifierOptions &options) {
  auto start = std::chrono::steady_clock::now();
  std::string title =
      (gradient.getName() + " is the gradient of " + function.getName()).str();
  Verdict verdict;
  for (const Goal &goal : makeGradientGoals(function, gradient, assumptions)) {
    verdict = answer(goal, assumptions, function->getContext(), title, options,
                     start);
    if (verdict.isProved())
      break;
  }
  return verdict;
}

std::string describeDerivative() {
  return "derivative: mlc's forward derivative of definitions, with its "
         "conventions at ties (docs/Differentiation.md)";
}

} // namespace mlc
