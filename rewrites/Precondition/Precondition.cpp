//===- Precondition.cpp - When does a rewrite hold? -----------------------===//

#include "rewrites/Precondition/Precondition.h"
#include "rewrites/Precondition/Learner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>

using namespace mlc::precondition;
using namespace mlc::verifier;
using llvm::ArrayRef;

namespace mlc {

namespace {

using Clock = std::chrono::steady_clock;

Assumptions conjoin(const Assumptions &a, const Assumptions &b) {
  Assumptions result = a;
  llvm::append_range(result.integers, b.integers);
  llvm::append_range(result.tensors, b.tensors);
  llvm::append_range(result.reals, b.reals);
  return result;
}

/// One run with one vocabulary.
class Synthesis {
public:
  Synthesis(mlir::func::FuncOp before, mlir::func::FuncOp after,
            const Assumptions &base, const SynthesisOptions &options,
            const Goal &goal, ArrayRef<unsigned> variedArguments,
            SynthesizedCondition &result)
      : before(before), after(after), base(base), options(options),
        sampler(goal, base, variedArguments, options.seed),
        vocabulary(goal, sampler.getUnknowns(), variedArguments),
        result(result) {}

  void run() {
    drawFirst();
    for (result.rounds = 1; result.rounds <= options.maxRounds;
         ++result.rounds) {
      if (!learnFormula())
        return;
      if (addErrors())
        continue;
      if (prove() != Progress::Again)
        return;
    }
    result.alternatives.clear();
    result.verdict.reason = "the condition did not settle";
  }

private:
  enum class Progress { Done, Again };

  /// Draws the first samples, and more while none is valid, because valid ones
  /// may be rare.
  void drawFirst() {
    bool sawValid = false;
    for (unsigned i = 0; i < (sawValid ? 1 : 4) * options.firstSamples; ++i) {
      std::optional<Sample> sample = drawOne(i);
      if (!sample)
        break;
      sawValid |= sample->isValid;
      samples.push_back(std::move(*sample));
    }
  }

  /// Draws every other sample near one of the rarer label: conditions are
  /// boundaries between labels.
  std::optional<Sample> drawOne(unsigned i) {
    if (i % 2 && !samples.empty()) {
      size_t valid =
          llvm::count_if(samples, [](const Sample &s) { return s.isValid; });
      bool wantValid = 2 * valid < samples.size();
      size_t start = (i * 7919) % samples.size();
      for (size_t k = 0; k < samples.size(); ++k) {
        const Sample &like = samples[(start + k) % samples.size()];
        if (like.isValid != wantValid && i % 4 == 1)
          continue;
        if (std::optional<Sample> near = sampler.drawNear(like))
          return near;
        break;
      }
    }
    return sampler.draw();
  }

  bool learnFormula() {
    size_t valid =
        llvm::count_if(samples, [](const Sample &s) { return s.isValid; });
    result.samples = samples.size();
    result.validSamples = valid;
    formula = Formula{{{}}, true};
    literals.clear();
    if (valid == samples.size())
      return !samples.empty();
    if (valid == 0) {
      result.verdict.reason = "no valid instantiation was found";
      return false;
    }
    literals = vocabulary.classify(samples);
    std::optional<Formula> learned = learn(samples, literals);
    if (!learned) {
      result.verdict.reason =
          "nothing in the vocabulary tells valid instantiations from others";
      return false;
    }
    formula = std::move(*learned);
    return true;
  }

  bool isPredictedValid(const Sample &sample) const {
    return llvm::any_of(formula.alternatives, [&](const auto &alternative) {
      return llvm::all_of(alternative, [&](unsigned i) {
        return literals[i].literals.front().holds(sample);
      });
    });
  }

  /// Tests the formula on fresh samples; the errors become samples.
  bool addErrors() {
    constexpr unsigned mostErrors = 40;
    unsigned errors = 0;
    for (unsigned i = 0; i < options.freshSamples && errors < mostErrors; ++i) {
      std::optional<Sample> sample = drawOne(i);
      if (!sample)
        break;
      ++numFresh;
      bool predicted = isPredictedValid(*sample);
      bool isError = predicted ? !sample->isValid
                               : sample->isValid && !sample->isDegenerate &&
                                     formula.isWeakest;
      if (!isError)
        continue;
      ++errors;
      samples.push_back(std::move(*sample));
    }
    return errors != 0;
  }

  /// The alternative with literal number `variant` of each class, in natural
  /// reading order.
  Assumptions assumptionsOf(const Formula::Conjunction &alternative,
                            unsigned variant) const {
    std::vector<std::tuple<unsigned, std::string, const Literal *>> chosen;
    for (unsigned i : alternative) {
      const auto &alike = literals[i].literals;
      const Literal &literal = alike[variant % alike.size()];
      variant /= alike.size();
      Assumptions alone;
      literal.addTo(alone);
      chosen.push_back({literal.cost, str(alone), &literal});
    }
    llvm::sort(chosen);
    Assumptions assumptions;
    for (const auto &entry : chosen)
      std::get<const Literal *>(entry)->addTo(assumptions);
    return assumptions;
  }

  /// Short ones first, then by their text.
  void sortAlternatives() {
    std::vector<std::tuple<size_t, std::string, Formula::Conjunction>> keyed;
    keyed.reserve(formula.alternatives.size());
    for (const Formula::Conjunction &alternative : formula.alternatives)
      keyed.push_back({alternative.size(), str(assumptionsOf(alternative, 0)),
                       alternative});
    llvm::sort(keyed, [](const auto &a, const auto &b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) <
             std::tie(std::get<0>(b), std::get<1>(b));
    });
    formula.alternatives.clear();
    for (auto &entry : keyed)
      formula.alternatives.push_back(std::move(std::get<2>(entry)));
  }

  unsigned numVariants(const Formula::Conjunction &alternative) const {
    unsigned count = 1;
    for (unsigned i : alternative)
      count *= literals[i].literals.size();
    return std::min(count, options.maxProofs);
  }

  /// The first proved variant of the alternative; otherwise the first variant
  /// with its verdict.
  std::pair<Assumptions, Verdict>
  proveOne(const Formula::Conjunction &alternative) {
    std::optional<std::pair<Assumptions, Verdict>> first;
    for (unsigned v = 0; v < numVariants(alternative); ++v) {
      Assumptions assumed = assumptionsOf(alternative, v);
      Verdict verdict =
          verify(before, after, conjoin(base, assumed), options.verifier);
      bool isDecided = !verdict.isUnknown();
      std::pair<Assumptions, Verdict> one{std::move(assumed),
                                          std::move(verdict)};
      if (isDecided)
        return one;
      if (!first)
        first = std::move(one);
    }
    return *first;
  }

  /// Proves the alternatives one by one. Unproved ones are dropped if others
  /// are proved: the condition is then stronger, but certain.
  Progress prove() {
    std::vector<std::pair<Assumptions, Verdict>> proved, unknown;
    sortAlternatives();
    for (const Formula::Conjunction &alternative : formula.alternatives) {
      auto one = proveOne(alternative);
      if (one.second.isRefuted()) {
        samples.push_back(
            sampler.fromCounterexample(one.second.counterexample, one.first));
        result.verdict = std::move(one.second);
        return Progress::Again;
      }
      (one.second.isProved() ? proved : unknown).push_back(std::move(one));
    }
    result.isWeakest = formula.isWeakest && unknown.empty();
    result.alternatives.clear();
    result.verdict = Verdict();
    auto &kept = proved.empty() ? unknown : proved;
    for (auto &[assumptions, verdict] : kept) {
      bool isFirst = result.alternatives.empty();
      result.alternatives.push_back(std::move(assumptions));
      merge(result.verdict, std::move(verdict), isFirst);
    }
    return Progress::Done;
  }

  static void merge(Verdict &all, Verdict one, bool isFirst) {
    double totalMs = all.totalMs + one.totalMs;
    double solverMs = all.solverMs + one.solverMs;
    if (isFirst || one.floatClass > all.floatClass)
      all = std::move(one);
    all.totalMs = totalMs;
    all.solverMs = solverMs;
  }

  mlir::func::FuncOp before, after;
  const Assumptions &base;
  const SynthesisOptions &options;
  Sampler sampler;
  Vocabulary vocabulary;
  SynthesizedCondition &result;
  std::vector<Sample> samples;
  std::vector<LiteralClass> literals;
  Formula formula;
  unsigned numFresh = 0;
};

/// Float arguments whose elements a condition may restrict.
std::vector<unsigned> argumentsToVary(mlir::func::FuncOp before,
                                      const Assumptions &base,
                                      bool anyArgument) {
  std::vector<unsigned> result;
  for (auto [i, type] : llvm::enumerate(before.getArgumentTypes())) {
    bool isKnown = llvm::any_of(base.tensors, [&](const TensorAssumption &t) {
      return t.argument == i && t.predicate == ElementPredicate::Constant;
    });
    if ((isKnown || anyArgument) &&
        mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type)))
      result.push_back(i);
  }
  return result;
}

} // namespace

SynthesizedCondition synthesizeCondition(mlir::func::FuncOp before,
                                         mlir::func::FuncOp after,
                                         const Assumptions &base,
                                         const SynthesisOptions &options) {
  Clock::time_point start = Clock::now();
  SynthesizedCondition result;
  before.getContext()->loadDialect<MlcDialect>();
  Goal goal = makeGoal(before, after, base);
  if (!goal.failure.empty() || goal.cases.empty()) {
    result.verdict.reason = goal.failure.empty()
                                ? "the assumptions exclude each other"
                                : goal.failure;
    return result;
  }
  if (!canEvaluate(goal)) {
    result.verdict.reason = "an opaque operator has no values to learn from";
    return result;
  }
  // Try symbols and real parameters first; use elements only if these do not
  // suffice.
  Synthesis(before, after, base, options, goal, {}, result).run();
  std::vector<unsigned> arguments =
      argumentsToVary(before, base, options.anyArgument);
  if (!result.isProved() && !arguments.empty()) {
    SynthesizedCondition second;
    Synthesis(before, after, base, options, goal, arguments, second).run();
    if (second.wasFound())
      result = std::move(second);
  }
  for (Assumptions &alternative : result.alternatives)
    for (TensorAssumption &tensor : alternative.tensors)
      tensor.name = describeArgument(before, tensor.argument);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string SynthesizedCondition::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator(" or ");
  for (const Assumptions &alternative : alternatives) {
    std::string own = str(alternative);
    bool parens = alternatives.size() > 1 && own.find(" and ") != own.npos;
    os << separator << (parens ? "(" : "") << (own.empty() ? "always" : own)
       << (parens ? ")" : "");
  }
  return text;
}

/// A disjunction of conjunctions as a conjunction of disjunctions.
static std::vector<Condition> distribute(ArrayRef<Assumptions> alternatives) {
  std::vector<std::vector<Condition>> clauses{{}};
  for (const Assumptions &alternative : alternatives) {
    std::vector<std::vector<Condition>> next;
    for (const std::vector<Condition> &clause : clauses)
      for (const Condition &literal : alternative.integers) {
        next.push_back(clause);
        next.back().push_back(literal);
      }
    clauses = std::move(next);
  }
  std::vector<Condition> result;
  result.reserve(clauses.size());
  for (std::vector<Condition> &clause : clauses)
    result.push_back(clause.size() == 1 ? clause.front()
                                        : Condition::anyOf(std::move(clause)));
  return result;
}

std::optional<Assumptions> SynthesizedCondition::asOneRule() const {
  if (alternatives.empty())
    return std::nullopt;
  if (alternatives.size() == 1)
    return alternatives.front();
  for (const Assumptions &alternative : alternatives)
    if (!alternative.reals.empty() || !alternative.tensors.empty())
      return std::nullopt;
  Assumptions result;
  result.integers = distribute(alternatives);
  return result;
}

} // namespace mlc
