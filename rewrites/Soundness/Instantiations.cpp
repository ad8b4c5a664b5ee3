//===- Instantiations.cpp - Proved rules on random numbers ----------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include "rewrites/Soundness/Soundness.h"
#include "verifier/read/Instance.h"
#include "verifier/read/Parameters.h"
#include <cmath>
#include <limits>

using namespace mlc::verifier;

namespace mlc {

namespace {

/// The most exact domain that knows every function of both sides.
EvalDomain domainFor(const Goal &goal) {
  for (EvalDomain domain : {EvalDomain::Modular, EvalDomain::Rational})
    if (isExactIn(goal, domain))
      return domain;
  return EvalDomain::Interval;
}

std::string describe(const Instance &instance, const Comparison &difference) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &[name, value] : instance.getSymbols())
    os << name << " = " << value << ", ";
  for (const auto &[name, value] : instance.getParameters())
    os << name << " = " << value << ", ";
  if (!difference.reason.empty()) {
    os << "defined before, not after: " << difference.reason;
    return text;
  }
  os << "element [";
  llvm::interleaveComma(difference.element, os);
  os << "] of result " << difference.result << ": " << difference.before
     << " before, " << difference.after << " after";
  return text;
}

/// Numbers that expose differences in rounding order, zeros and special values.
class BitDraws {
public:
  explicit BitDraws(uint64_t seed) : random(seed), kind(random() % 5) {}

  /// Replaces the float elements and parameters of an instance as far as the
  /// assumptions allow.
  void run(Instance &instance, const Rule &rule) {
    for (auto [argument, numbers] : llvm::enumerate(instance.getNumbers()))
      if (isFloat(instance, argument))
        replace(numbers, argument, rule.assumptions);
    ParameterValues reals = instance.getParameters();
    for (auto &[parameter, value] : reals)
      value =
          redraw(parameter, value, instance.getGoal(), rule.assumptions.reals);
    instance.setParameters(std::move(reals));
  }

private:
  static bool isFloat(const Instance &instance, unsigned argument) {
    return mlir::isa<mlir::FloatType>(
        instance.getGoal().before.inputs[argument].elementType);
  }

  /// Another number for a float parameter if the assumptions admit it.
  double redraw(llvm::StringRef parameter, double value, const Goal &goal,
                llvm::ArrayRef<RealAssumption> assumptions) {
    auto it = goal.parameters.find(parameter.str());
    if (it == goal.parameters.end() || !mlir::isa<mlir::FloatType>(it->second))
      return value;
    double drawn = roundToType(it->second, draw());
    bool isFree = llvm::none_of(assumptions, [&](const RealAssumption &r) {
      return r.parameter == parameter;
    });
    ParameterRange range(parameter, it->second, assumptions);
    return isFree || range.contains(drawn) ? drawn : value;
  }

  void replace(std::vector<double> &numbers, unsigned argument,
               const Assumptions &assumptions) {
    // Zeros of both signs count as equal.
    bool allEqual = false;
    for (const TensorAssumption &t : assumptions.tensors)
      allEqual |=
          t.argument == argument && t.predicate == ElementPredicate::AllEqual;
    std::vector<double> drawn = numbers;
    double first = draw();
    for (double &number : drawn)
      number = !allEqual      ? draw()
               : first == 0.0 ? std::copysign(0.0, random() % 2 ? 1.0 : -1.0)
                              : first;
    bool isAdmitted =
        llvm::all_of(assumptions.tensors, [&](const TensorAssumption &t) {
          return t.argument != argument || holds(t.predicate, drawn);
        });
    for (size_t i = 0; i < numbers.size(); ++i) {
      bool isPositive = numbers[i] > 0.0;
      numbers[i] = isAdmitted ? drawn[i]
                   : allEqual ? numbers[i]
                              : std::abs(finite()) * (isPositive ? 1.0 : -1.0);
    }
  }

  /// Any number with all its digits, of ordinary size.
  double finite() {
    double magnitude = double(random() % (1 << 24) + 1) / (1 << 22);
    return static_cast<float>(random() % 2 ? magnitude : -magnitude);
  }

  double draw() {
    static const double small[] = {0.0,      -0.0,        0x1p-149, -0x1p-149,
                                   0x1p-127, -0x1.8p-130, 0x1p-126};
    static const double large[] = {0x1.fffffep127, -0x1.fffffep127, 0x1p64};
    double infinity = std::numeric_limits<double>::infinity();
    if (kind == 0 || random() % 3 == 0)
      return finite();
    if (kind == 1 || random() % 2 == 0)
      return small[random() % std::size(small)];
    if (kind == 2)
      return large[random() % std::size(large)];
    if (kind == 3 || random() % 2 == 0)
      return random() % 2 ? infinity : -infinity;
    return std::numeric_limits<double>::quiet_NaN();
  }

  std::mt19937_64 random;
  uint64_t kind; // ordinary, small, large, infinite, all
};

using Judge = llvm::function_ref<Comparison(Instance &, const Unknowns &,
                                            const Goal &, uint64_t)>;

/// Judges instances, each with its own seed, until `count` are equal or one
/// differs.
void judgeInstances(Rule &rule, unsigned count, uint64_t seed,
                    InstantiationResult &result, Judge judge) {
  Goal goal = makeGoal(rule.getBefore(), rule.getAfter(), rule.assumptions);
  if (!goal.failure.empty() || goal.cases.empty()) {
    result.failure = goal.failure.empty() ? "the assumptions exclude each other"
                                          : goal.failure;
    return;
  }
  Unknowns unknowns(goal);
  for (uint64_t t = 0; t < 16 * uint64_t(count) && result.equal < count; ++t) {
    const Case &one = goal.cases[t % goal.cases.size()];
    Instance instance(goal, one, rule.assumptions, seed * 1000003 + t);
    Comparison comparison = judge(instance, unknowns, goal, t);
    if (comparison.outcome == Comparison::Outcome::Different) {
      result.failure = describe(instance, comparison);
      return;
    }
    bool isEqual = comparison.outcome == Comparison::Outcome::Equal;
    result.equal += isEqual;
    result.undecided += !isEqual;
  }
}

} // namespace

/// Sets some elements of float arguments without assumptions to NaN. A rule
/// with assumptions does not match a literal with NaN.
static void spoil(Instance &instance, const Rule &rule, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (auto [i, numbers] : llvm::enumerate(instance.getNumbers())) {
    bool isFree = llvm::none_of(
        rule.assumptions.tensors,
        [&, i = i](const TensorAssumption &t) { return t.argument == i; });
    if (!isFree || !mlir::isa<mlir::FloatType>(
                       instance.getGoal().before.inputs[i].elementType))
      continue;
    for (double &number : numbers)
      if (random() % 8 == 0)
        number = std::numeric_limits<double>::quiet_NaN();
  }
}

/// Whether both sides have NaN at the same elements of their results.
static Comparison compareSpoiled(Instance &instance) {
  Comparison result;
  auto inputs = instance.makeInputs(EvalDomain::Float64);
  if (!inputs) {
    llvm::consumeError(inputs.takeError());
    return result;
  }
  const Goal &goal = instance.getGoal();
  auto before = instance.run(goal.before, *inputs, EvalDomain::Float64),
       after = instance.run(goal.after, *inputs, EvalDomain::Float64);
  if (!before || !after) {
    llvm::consumeError(before.takeError());
    llvm::consumeError(after.takeError());
    return result;
  }
  result.outcome = Comparison::Outcome::Equal;
  for (auto [r, pair] : llvm::enumerate(llvm::zip(*before, *after))) {
    const auto &[x, y] = pair;
    if (!mlir::isa<mlir::FloatType>(x.getElementType()))
      continue;
    for (int64_t i = 0; i < x.getNumElements(); ++i) {
      if (std::isnan(x.getDouble(i)) == std::isnan(y.getDouble(i)))
        continue;
      result.outcome = Comparison::Outcome::Different;
      result.result = r;
      result.element = {i};
      result.before = x.getDouble(i);
      result.after = y.getDouble(i);
      return result;
    }
  }
  return result;
}

InstantiationResult checkSpoiled(Rule &rule, unsigned count, uint64_t seed) {
  InstantiationResult result;
  auto judge = [&](Instance &instance, const Unknowns &unknowns, const Goal &,
                   uint64_t t) {
    if (!instance.drawSymbols(unknowns) || !instance.drawParameters(unknowns) ||
        !instance.drawTensors(Spread::Positive))
      return Comparison();
    // An empty sum is 0, whatever its factors would be.
    for (const llvm::SmallVector<int64_t> &dims : instance.getSizes())
      if (llvm::is_contained(dims, 0))
        return Comparison();
    spoil(instance, rule, seed * 7919 + t);
    return compareSpoiled(instance);
  };
  judgeInstances(rule, count, seed, result, judge);
  return result;
}

InstantiationResult checkBits(Rule &rule, unsigned count, uint64_t seed) {
  InstantiationResult result;
  auto judge = [&](Instance &instance, const Unknowns &unknowns, const Goal &,
                   uint64_t t) {
    SizeKind sizes = t % 8 == 7 ? SizeKind::Corner : SizeKind::Ordinary;
    if (!instance.drawSymbols(unknowns, sizes) ||
        !instance.drawParameters(unknowns) || !instance.drawTensors())
      return Comparison();
    BitDraws(seed * 7919 + t).run(instance, rule);
    return instance.compare(t % 4 == 3 ? EvalDomain::Float64
                                       : EvalDomain::Native);
  };
  judgeInstances(rule, count, seed, result, judge);
  return result;
}

InstantiationResult checkInstantiations(Rule &rule, unsigned count,
                                        uint64_t seed) {
  InstantiationResult result;
  auto judge = [&](Instance &instance, const Unknowns &unknowns,
                   const Goal &goal, uint64_t) {
    if (!instance.drawSymbols(unknowns) || !instance.drawParameters(unknowns) ||
        !instance.drawTensors())
      return Comparison();
    EvalDomain domain = domainFor(goal);
    if (domain == EvalDomain::Interval)
      return instance.compareReals();
    Comparison comparison = instance.compare(domain);
    result.exact += comparison.outcome == Comparison::Outcome::Equal;
    return comparison;
  };
  judgeInstances(rule, count, seed, result, judge);
  return result;
}

} // namespace mlc
