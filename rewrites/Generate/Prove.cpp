//===- Prove.cpp - Proofs of families -------------------------------------===//

#include "rewrites/Generate/Prove.h"
#include "rewrites/Precondition/Precondition.h"
#include "rewrites/Rules/Rule.h"

using namespace mlir;

namespace mlc::generate {

namespace {

VerifierOptions verifierOptions(const ProveOptions &options) {
  VerifierOptions settings;
  settings.scaleWork(options.effort);
  return settings;
}

void setVerdict(Outcome &outcome, const Verdict &verdict) {
  outcome.kind = verdict.kind;
  outcome.floatClass = verdict.floatClass;
  outcome.reason =
      verdict.isRefuted() ? verdict.counterexample.text : verdict.reason;
}

/// Whether a condition restricts a dim of an argument to at most 1, where many
/// equalities are trivial.
bool fixesSize(Rule rule, const Assumptions &condition) {
  std::set<std::string> dims;
  for (Type type : rule.getBefore().getArgumentTypes()) {
    SmallVector<IntExpr> own = *getDims(cast<RankedTensorType>(type));
    for (IntExpr dim : own)
      if (dim.getKind() == IntExpr::Kind::Symbol)
        dims.insert(dim.str());
  }
  auto isFixed = [&](const Condition &literal) {
    if (literal.getKind() != Condition::Kind::Compare)
      return false;
    ComparePredicate predicate = literal.getPredicate();
    bool isAbove = predicate == ComparePredicate::EQ ||
                   predicate == ComparePredicate::LE ||
                   predicate == ComparePredicate::LT;
    IntExpr bound = literal.getRhs();
    return isAbove && dims.count(literal.getLhs().str()) &&
           bound.isConstant() && bound.getConstant() <= 1;
  };
  return llvm::any_of(condition.integers, [&](const Condition &one) {
    return one.getKind() == Condition::Kind::AnyOf
               ? llvm::all_of(one.getParts(), isFixed)
               : isFixed(one);
  });
}

/// Attempts at one variant, in its own context, because uniqued attributes are
/// never freed.
class Attempts {
public:
  Attempts(const Pattern &pattern, llvm::StringRef name, Shape shape,
           const ProveOptions &options)
      : pattern(pattern), name(name), shape(shape),
        settings(verifierOptions(options)),
        context(MLIRContext::Threading::DISABLED), emitter(&context) {
    needsCondition = options.needsCondition;
  }

  /// Returns the best outcome.
  Outcome run() {
    Outcome best;
    best.reason = "the rule cannot be stated";
    bool isFirst = true;
    for (Typing typing : {Typing::General, Typing::LeafSet})
      for (unsigned minimum : {0u, 1u}) {
        std::optional<Outcome> one = state(typing, minimum);
        if (!one)
          continue;
        if (one->kind == Verdict::Kind::Refuted ||
            (needsCondition && one->kind == Verdict::Kind::Unknown))
          learnCondition(*one);
        seconds += one->seconds;
        one->seconds = seconds;
        bool isProved = one->kind == Verdict::Kind::Proved;
        if (isFirst || isProved)
          best = std::move(*one);
        best.seconds = seconds;
        isFirst = false;
        // The refutation could not be repaired; requiring larger dims does not
        // help.
        if (isProved || best.kind == Verdict::Kind::Refuted)
          return best;
      }
    return best;
  }

private:
  std::optional<Outcome> state(Typing typing, unsigned minimum) {
    FailureOr<OwningOpRef<ModuleOp>> made =
        emitter.emit(pattern, typing, name, minimum, shape);
    if (failed(made))
      return std::nullopt;
    module = std::move(*made);
    FailureOr<Rule> rule = Rule::read(getDef());
    if (failed(rule))
      return std::nullopt;
    Verdict verdict = verify(rule->getBefore(), rule->getAfter(),
                             rule->assumptions, settings);
    Outcome outcome;
    setVerdict(outcome, verdict);
    outcome.rule = ruleText(*module);
    outcome.seconds = verdict.totalMs / 1000;
    return outcome;
  }

  /// Replaces a refutation by the rule under its weakest condition.
  void learnCondition(Outcome &outcome) {
    FailureOr<Rule> rule = Rule::read(getDef());
    SynthesisOptions synthesis;
    synthesis.verifier = settings;
    SynthesizedCondition found = synthesizeCondition(
        rule->getBefore(), rule->getAfter(), rule->assumptions, synthesis);
    outcome.seconds += found.seconds;
    std::optional<Assumptions> condition =
        found.isProved() && found.isWeakest ? found.asOneRule() : std::nullopt;
    if (!condition || (needsCondition && fixesSize(*rule, *condition)) ||
        !addCondition(getDef(), *condition))
      return;
    setVerdict(outcome, found.verdict);
    outcome.isConditional = true;
    outcome.rule = ruleText(*module);
  }

  rule::DefOp getDef() { return cast<rule::DefOp>(module->getBody()->front()); }

  const Pattern &pattern;
  llvm::StringRef name;
  Shape shape;
  bool needsCondition;
  VerifierOptions settings;
  MLIRContext context;
  Emitter emitter;
  OwningOpRef<ModuleOp> module;
  double seconds = 0;
};

} // namespace

Outcome provePattern(const Pattern &pattern, llvm::StringRef name, Shape shape,
                     const ProveOptions &options) {
  return Attempts(pattern, name, shape, options).run();
}

Outcome proveRule(llvm::StringRef text, const ProveOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseRule(text, context);
  FailureOr<Rule> rule =
      Rule::read(cast<rule::DefOp>(module->getBody()->front()));
  Verdict verdict = verify(rule->getBefore(), rule->getAfter(),
                           rule->assumptions, verifierOptions(options));
  Outcome outcome;
  setVerdict(outcome, verdict);
  outcome.rule = text.str();
  outcome.seconds = verdict.totalMs / 1000;
  return outcome;
}

Outcome proveFamily(const Family &family, llvm::StringRef name,
                    const ProveOptions &options) {
  Outcome best;
  double seconds = 0;
  size_t count = std::min<size_t>(family.variants.size(), options.maxVariants);
  for (size_t v = 0; v < count; ++v) {
    Outcome one = provePattern(family.variants[v], name, {}, options);
    one.variant = v;
    seconds += one.seconds;
    bool isProved = one.kind == Verdict::Kind::Proved;
    if (v == 0 || isProved)
      best = std::move(one);
    best.seconds = seconds;
    if (isProved)
      break;
  }
  return best;
}

} // namespace mlc::generate
