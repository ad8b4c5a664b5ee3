//===- VerifyRules.h - Many rules, proved at once ---------------*- C++ -*-===//

#ifndef MLC_REWRITES_RULES_VERIFYRULES_H
#define MLC_REWRITES_RULES_VERIFYRULES_H

#include "rewrites/Rules/Rule.h"

namespace mlc {

struct VerifyRulesOptions {
  VerifierOptions verifier;
  unsigned jobs = 0; ///< threads; 0: all cores
};

/// Proves all rules. An MLIR context serves one thread: `load` is called on
/// each thread and reads the same `count` rules into its own context. `take` is
/// called with each verdict in the order of the rules, on one thread at a time,
/// once all earlier verdicts are known. False if `load` failed on a thread.
bool verifyRules(
    size_t count, const VerifyRulesOptions &options,
    llvm::function_ref<bool(RuleSet &rules, mlir::MLIRContext &context)> load,
    llvm::function_ref<void(size_t rule, const Verdict &verdict)> take);

} // namespace mlc

#endif // MLC_REWRITES_RULES_VERIFYRULES_H
