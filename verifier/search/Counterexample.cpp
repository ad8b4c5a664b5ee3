//===- Counterexample.cpp - Sizes and values where functions differ -------===//
//
// Draws random sizes that satisfy the assumptions, both small and larger than
// every constant in the functions, then tensors, and evaluates both functions
// over intervals around the real values. Reported differences exceed the
// intervals' width, so they are no rounding errors.
//
//===----------------------------------------------------------------------===//

#include "verifier/search/Counterexample.h"
#include "verifier/read/Instance.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::ArrayRef;

namespace mlc::verifier {

namespace {

/// Prints all digits of drawn numbers (Instance::drawNumbers): integers of any
/// size and multiples of 1/16.
void printNumber(llvm::raw_ostream &os, double number) {
  constexpr double limit = 9223372036854775808.0; // 2^63
  if (std::trunc(number) == number && number >= -limit && number < limit)
    os << static_cast<int64_t>(number);
  else
    os << llvm::format("%.9g", number);
}

/// Sizes, and the first elements.
void printTensor(llvm::raw_ostream &os, ArrayRef<int64_t> dims,
                 ArrayRef<double> numbers) {
  constexpr size_t most = 24;
  os << '[';
  llvm::interleave(dims, os, "x");
  os << (numbers.empty() ? "]" : "] = ");
  llvm::interleaveComma(numbers.take_front(most), os,
                        [&](double number) { printNumber(os, number); });
  if (numbers.size() > most)
    os << ", ... (" << numbers.size() - most << " more elements)";
}

void printInstance(Instance &instance, llvm::raw_ostream &os) {
  for (const auto &[name, value] : instance.getSymbols())
    if (!isOwnName(name))
      os << "  " << name << " = " << value << '\n';
  for (const auto &[name, value] : instance.getParameters())
    os << "  " << name << " = " << llvm::format("%g", value) << '\n';
  for (auto [i, numbers] : llvm::enumerate(instance.getNumbers())) {
    os << "  " << instance.getGoal().argumentNames[i] << ' ';
    printTensor(os, instance.getSizes()[i], numbers);
    os << '\n';
  }
}

Counterexample describe(Instance &instance, const Comparison &difference) {
  Counterexample example;
  for (const auto &[name, value] : instance.getSymbols())
    if (!isOwnName(name))
      example.integers[name] = value;
  example.reals = instance.getParameters();
  for (auto [dims, elements] :
       llvm::zip_equal(instance.getSizes(), instance.getNumbers()))
    example.arguments.push_back({dims, elements});
  example.result = difference.result;
  example.element = difference.element;
  example.before = difference.before;
  example.after = difference.after;
  llvm::raw_string_ostream os(example.text);
  printInstance(instance, os);
  if (!difference.reason.empty()) {
    example.after = std::nan("");
    os << "  defined before, not after: " << difference.reason << '\n';
    return example;
  }
  const std::vector<std::string> &names = instance.getGoal().resultNames;
  if (names.empty()) {
    os << "  element [";
    llvm::interleaveComma(example.element, os);
    os << "] of ";
  } else {
    os << "  ";
  }
  os << describeResult(instance.getGoal(), example.result) << ": "
     << llvm::format("%.9g", example.before) << " before, "
     << llvm::format("%.9g", example.after) << " after\n";
  return example;
}

/// Ordinary numbers show most differences; the rest need roots, large numbers,
/// the limits of integers, sizes of 0 or 1, or sizes beyond some constant. The
/// first trials are mostly ordinary.
constexpr unsigned numOrdinary = 8;

Spread spreadOf(unsigned trial, bool hasIntegers) {
  if (trial % 4 == 2 || (hasIntegers && trial % 2 == 1))
    return Spread::Mixed;
  if (trial < numOrdinary)
    return Spread::Ordinary;
  return trial % 3 == 1 ? Spread::Positive : Spread::Ordinary;
}

SizeKind sizeKindOf(unsigned trial) {
  static constexpr SizeKind kinds[] = {SizeKind::Ordinary, SizeKind::Numbers,
                                       SizeKind::Ordinary, SizeKind::Beyond,
                                       SizeKind::Numbers,  SizeKind::Corner,
                                       SizeKind::Beyond};
  SizeKind kind = kinds[trial % std::size(kinds)];
  return trial < numOrdinary && kind == SizeKind::Corner ? SizeKind::Ordinary
                                                         : kind;
}

} // namespace

std::optional<Counterexample> findCounterexample(const Goal &goal,
                                                 const Assumptions &assumptions,
                                                 uint64_t seed, unsigned trials,
                                                 bool isSmall,
                                                 bool &sawInstance) {
  if (!canEvaluate(goal))
    return std::nullopt;
  Unknowns unknowns(goal);
  bool hasIntegers =
      llvm::any_of(goal.before.inputs, [](const TensorShape &shape) {
        return mlir::isa<mlir::IntegerType>(shape.elementType) &&
               !shape.elementType.isInteger(1);
      });
  for (unsigned t = 0; t < trials && !goal.cases.empty(); ++t) {
    const Case &one = goal.cases[t % goal.cases.size()];
    Instance instance(goal, one, assumptions, seed * 1000003 + t);
    // Every case gets every kind of sizes.
    unsigned round = t / goal.cases.size();
    if (!instance.drawSymbols(unknowns, sizeKindOf(round)) ||
        !instance.drawParameters(unknowns) ||
        !instance.drawTensors(spreadOf(round, hasIntegers)))
      continue;
    Comparison comparison = instance.compareReals();
    sawInstance |= comparison.outcome != Comparison::Outcome::Undefined;
    if (comparison.outcome != Comparison::Outcome::Different)
      continue;
    if (isSmall)
      comparison = minimize(instance, unknowns, std::move(comparison));
    return describe(instance, comparison);
  }
  return std::nullopt;
}

} // namespace mlc::verifier
