//===- Prove.cpp - Families become rules ----------------------------------===//

#include "rewrites/Generate/Prove.h"
#include "rewrites/Generate/Emit.h"
#include "rewrites/Rule.h"

using namespace mlir;

namespace mlc::generate {

/// One attempt; nothing where the rule cannot be stated so.
static std::optional<Outcome> attempt(const Pattern &pattern, Typing typing,
                                      llvm::StringRef name, unsigned minimum,
                                      const ProveOptions &options,
                                      MLIRContext &context) {
  Emitter emitter(&context);
  FailureOr<OwningOpRef<ModuleOp>> module =
      emitter.emit(pattern, typing, name, minimum);
  if (failed(module))
    return std::nullopt;
  FailureOr<Rule> rule =
      Rule::read(cast<rule::DefOp>((*module)->getBody()->front()));
  if (failed(rule))
    return std::nullopt;
  VerifierOptions settings;
  settings.lemmaTimeoutMs = options.lemmaTimeoutMs;
  settings.timeoutMs = options.timeoutMs;
  Verdict verdict =
      verify(rule->getBefore(), rule->getAfter(), rule->assumptions, settings);
  Outcome outcome;
  outcome.kind = verdict.kind;
  outcome.floatClass = verdict.floatClass;
  outcome.rule = ruleText(**module);
  outcome.reason =
      verdict.isRefuted() ? verdict.counterexample.text : verdict.reason;
  outcome.seconds = verdict.totalMs / 1000;
  return outcome;
}

Outcome proveFamily(const Family &family, llvm::StringRef name,
                    const ProveOptions &options) {
  Outcome best;
  best.reason = "the rule cannot be stated";
  double seconds = 0;
  bool isFirst = true;
  size_t count = std::min<size_t>(family.variants.size(), options.maxVariants);
  for (size_t v = 0; v < count; ++v) {
    // Attributes are uniqued for good: a context of its own for each.
    MLIRContext context(MLIRContext::Threading::DISABLED);
    for (auto [typing, minimum] :
         {std::pair(Typing::General, 0u), std::pair(Typing::General, 1u),
          std::pair(Typing::World, 0u), std::pair(Typing::World, 1u)}) {
      std::optional<Outcome> outcome =
          attempt(family.variants[v], typing, name, minimum, options, context);
      if (!outcome)
        continue;
      seconds += outcome->seconds;
      bool isProved = outcome->kind == Verdict::Kind::Proved;
      // A refutation of the strongest statement says more than an Unknown.
      bool isBetter = isFirst || isProved ||
                      (best.kind == Verdict::Kind::Unknown &&
                       outcome->kind == Verdict::Kind::Refuted);
      if (isBetter)
        best = std::move(*outcome);
      isFirst = false;
      best.seconds = seconds;
      if (isProved)
        return best;
    }
  }
  return best;
}

} // namespace mlc::generate
