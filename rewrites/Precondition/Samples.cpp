//===- Samples.cpp - Labelled instantiations of a goal --------------------===//

#include "rewrites/Precondition/Samples.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlc::verifier;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::precondition {

bool ElementFacts::holds(ElementPredicate predicate) const {
  switch (predicate) {
  case ElementPredicate::Positive:
    return positive;
  case ElementPredicate::NonNegative:
    return nonNegative;
  case ElementPredicate::NonZero:
    return nonZero;
  case ElementPredicate::AllEqual:
    return allEqual;
  case ElementPredicate::Finite:
  case ElementPredicate::Constant:
    return true;
  }
  llvm_unreachable("unknown predicate");
}

static ElementFacts factsOf(ArrayRef<double> numbers) {
  using E = ElementPredicate;
  return {verifier::holds(E::Positive, numbers),
          verifier::holds(E::NonNegative, numbers),
          verifier::holds(E::NonZero, numbers),
          verifier::holds(E::AllEqual, numbers)};
}

Sampler::Sampler(const Goal &goal, const Assumptions &base,
                 ArrayRef<unsigned> variedArguments, uint64_t seed)
    : goal(goal), base(base), variedArguments(variedArguments), unknowns(goal),
      isModular(isExactIn(goal, EvalDomain::Modular) &&
                variedArguments.empty()),
      random(seed) {
  for (const TensorShape &shape :
       ArrayRef(goal.before.inputs).take_front(goal.numArguments))
    for (IntExpr dim : shape.dims)
      if (dim.getKind() == IntExpr::Kind::Symbol)
        dims.insert(dim.getSymbol().str());
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Structured values: conditions involve small numbers, zeros, ones and equal
/// symbols, which independent draws rarely combine.
Sampler::Symbols Sampler::drawThemed() {
  static constexpr int64_t small[] = {2, 2, 3, 3, 4, 1, 5, 0, 1, 2};
  static constexpr int64_t large[] = {6, 7, 8, 9, 12};
  Symbols symbols;
  for (const std::string &name : unknowns.symbols)
    symbols[name] = small[pick(std::size(small))];
  unsigned theme = pick(6);
  // How many of four symbols are 0: some conditions need all to be.
  uint64_t zeros = 2 + pick(3);
  int64_t common = pick(4);
  for (auto &[name, value] : symbols) {
    bool isDim = dims.count(name);
    if (isDim && value < 2 && pick(4))
      value += 2;
    if (theme == 1 && !isDim && pick(4) < zeros)
      value = 0;
    if (theme == 2 && !isDim && pick(2))
      value = 1;
    if (theme == 3 && pick(2))
      value = std::max<int64_t>(common, isDim);
    if (theme == 4 && isDim && !pick(4))
      value = large[pick(std::size(large))];
  }
  return symbols;
}

Sampler::Symbols Sampler::mutate(const Symbols &like) {
  Symbols symbols = like;
  if (symbols.empty())
    return symbols;
  for (unsigned changes = 1 + pick(2); changes; --changes) {
    auto it = std::next(symbols.begin(), pick(symbols.size()));
    auto other = std::next(symbols.begin(), pick(symbols.size()));
    switch (pick(6)) {
    case 0:
      ++it->second;
      break;
    case 1:
      it->second = std::max<int64_t>(it->second - 1, 0);
      break;
    case 2:
      it->second = pick(2);
      break;
    case 3:
      it->second = other->second;
      break;
    case 4:
      it->second = 1 + pick(5);
      break;
    case 5:
      std::swap(it->second, other->second);
      break;
    }
  }
  return symbols;
}

bool Sampler::isDegenerate(const SymbolValues &symbols) const {
  return llvm::any_of(dims, [&](const std::string &name) {
    auto it = symbols.find(name);
    return it != symbols.end() && it->second <= 1;
  });
}

/// Excludes empty tensors, on which everything is equal, and large ones.
bool Sampler::isReasonable(const Instance &instance) const {
  constexpr int64_t mostElements = 3000;
  int64_t total = 0;
  auto count = [&](ArrayRef<int64_t> sizes) {
    std::optional<int64_t> own = elementCount(sizes);
    if (!own || *own == 0)
      return false;
    total += *own;
    return total <= mostElements;
  };
  for (ArrayRef<int64_t> sizes : instance.getSizes())
    if (!count(sizes))
      return false;
  for (unsigned result : goal.before.results) {
    llvm::SmallVector<int64_t> sizes;
    for (IntExpr dim : goal.before.shapeOf({true, result}).dims) {
      std::optional<int64_t> size = dim.evaluate([&](StringRef name) {
        auto it = instance.getSymbols().find(name.str());
        return it == instance.getSymbols().end() ? std::nullopt
                                                 : std::optional(it->second);
      });
      if (!size || *size <= 0)
        return false;
      sizes.push_back(*size);
    }
    if (!count(sizes))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reals
//===----------------------------------------------------------------------===//

/// Also draws zeros, ones and the bounds themselves.
void Sampler::drawSpecialParameters(Instance &instance) {
  static constexpr double special[] = {0.0, 0.0, 1.0, -1.0, 0.5, -0.5};
  ParameterValues reals = instance.getParameters();
  for (auto &[name, value] : reals) {
    double other = special[pick(std::size(special))];
    bool isAllowed = llvm::all_of(base.reals, [&](const RealAssumption &r) {
      return r.parameter != name || holds(r, other);
    });
    if (isAllowed && pick(2))
      value = other;
  }
  instance.setParameters(std::move(reals));
}

/// Elements of one sign, with or without zeros, all equal, or anything.
void Sampler::drawElements(Instance &instance) {
  for (unsigned argument : variedArguments) {
    std::vector<double> &numbers = instance.getNumbers()[argument];
    unsigned kind = pick(7);
    double first = numbers.empty() ? 0.0 : numbers.front();
    for (double &number : numbers) {
      if (kind == 1 || kind == 4)
        number = std::abs(number) + 0.0625;
      if (kind == 2)
        number = std::max(number, 0.0);
      if (kind == 3 && number == 0.0)
        number = 0.5;
      if (kind == 4 || kind == 5)
        number = first;
    }
  }
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// Whether both sides agree; nullopt if that is undecided.
std::optional<bool> Sampler::compare(Instance &instance) {
  using Outcome = Comparison::Outcome;
  if (isModular) {
    Outcome outcome = instance.compare(EvalDomain::Modular).outcome;
    if (outcome == Outcome::Equal || outcome == Outcome::Different)
      return outcome == Outcome::Equal;
    return std::nullopt;
  }
  // An order operator may hide a difference from one draw.
  std::optional<bool> result;
  unsigned draws = variedArguments.empty() ? 3 : 1;
  for (unsigned i = 0; i < draws; ++i) {
    if (i && !instance.drawTensors())
      break;
    Outcome outcome = instance.compareReals().outcome;
    if (outcome == Outcome::Different)
      return false;
    if (outcome == Outcome::Equal)
      result = true;
  }
  return result;
}

std::optional<Sample> Sampler::label(const Symbols &symbols) {
  const Case &one = goal.cases[pick(goal.cases.size())];
  Instance instance(goal, one, base, random());
  bool fits = instance.setSymbols(unknowns, [&](StringRef name) {
    auto it = symbols.find(name.str());
    return it == symbols.end() ? int64_t(pick(4)) : it->second;
  });
  if (!fits)
    return std::nullopt;
  if (!instance.drawParameters(unknowns))
    return std::nullopt;
  drawSpecialParameters(instance);
  if (!instance.drawTensors() || !isReasonable(instance))
    return std::nullopt;
  drawElements(instance);
  Sample sample;
  for (const std::vector<double> &numbers : instance.getNumbers())
    sample.arguments.push_back(factsOf(numbers));
  std::optional<bool> isValid = compare(instance);
  if (!isValid)
    return std::nullopt;
  sample.symbols = instance.getSymbols();
  sample.reals = instance.getParameters();
  sample.isValid = *isValid;
  sample.isDegenerate = isDegenerate(sample.symbols);
  return sample;
}

std::optional<Sample> Sampler::draw() {
  for (unsigned attempt = 0; attempt < 200; ++attempt)
    if (std::optional<Sample> sample = label(drawThemed()))
      return sample;
  return std::nullopt;
}

std::optional<Sample> Sampler::drawNear(const Sample &like) {
  for (unsigned attempt = 0; attempt < 20; ++attempt)
    if (std::optional<Sample> sample = label(mutate(like.symbols)))
      return sample;
  return std::nullopt;
}

Sample Sampler::fromCounterexample(const Counterexample &example,
                                   const Assumptions &assumed) const {
  Sample sample;
  sample.symbols = example.integers;
  sample.reals = example.reals;
  sample.isDegenerate = isDegenerate(sample.symbols);
  // Its elements are unknown, so only what was assumed about them counts.
  sample.arguments.assign(goal.numArguments, {false, false, false, false});
  for (const TensorAssumption &t : assumed.tensors) {
    if (t.argument >= sample.arguments.size())
      continue;
    ElementFacts &facts = sample.arguments[t.argument];
    bool isPositive = t.predicate == ElementPredicate::Positive;
    facts.positive |= isPositive;
    facts.nonNegative |=
        isPositive || t.predicate == ElementPredicate::NonNegative;
    facts.nonZero |= isPositive || t.predicate == ElementPredicate::NonZero;
    facts.allEqual |= t.predicate == ElementPredicate::AllEqual;
  }
  return sample;
}

} // namespace mlc::precondition
