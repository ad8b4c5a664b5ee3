//===- VerifyRules.cpp - Many rules, proved at once -----------------------===//

#include "rewrites/Rules/VerifyRules.h"
#include "rewrites/Support/Parallel.h"
#include <mutex>

using namespace mlc;

bool mlc::verifyRules(
    size_t count, const VerifyRulesOptions &options,
    llvm::function_ref<bool(RuleSet &, mlir::MLIRContext &)> load,
    llvm::function_ref<void(size_t, const Verdict &)> take) {
  unsigned jobs = options.jobs
                      ? options.jobs
                      : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::optional<Verdict>> verdicts(count);
  std::mutex mutex;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  size_t taken = 0;
  forEach(jobs, jobs, [&](size_t, unsigned) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    RuleSet rules;
    if (!load(rules, context) || rules.rules.size() != count) {
      failed = true;
      return;
    }
    for (size_t i; !failed && (i = next++) < count;) {
      Rule &rule = rules.rules[i];
      Verdict verdict = verify(rule.getBefore(), rule.getAfter(),
                               rule.assumptions, options.verifier);
      std::lock_guard<std::mutex> lock(mutex);
      verdicts[i] = std::move(verdict);
      for (; taken < count && verdicts[taken]; ++taken)
        take(taken, *verdicts[taken]);
    }
  });
  return !failed;
}
