//===- Minimize.cpp - A counterexample that is easy to follow -------------===//

#include "verifier/read/Instance.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

namespace {

/// Tries simplifications one by one and keeps those after which the sides still
/// differ.
class Minimizer {
public:
  Minimizer(Instance &instance, const Unknowns &unknowns, Comparison difference)
      : instance(instance), unknowns(unknowns), last(std::move(difference)) {}

  Comparison run() {
    shrinkSymbols();
    simplifyParameters();
    simplifyElements();
    return last;
  }

private:
  /// Whether the sides still differ; if so, records the difference.
  bool differs(const Instance &candidate) {
    if (fuel == 0 || !candidate.isAdmitted())
      return false;
    size_t cost = 1;
    for (const std::vector<double> &numbers : candidate.getNumbers())
      cost += numbers.size() / 64;
    fuel -= std::min(fuel, cost);
    Comparison comparison = candidate.compareReals();
    if (comparison.outcome != Comparison::Outcome::Different)
      return false;
    // A different value is more informative than an undefined one.
    if (last.reason.empty() && !comparison.reason.empty())
      return false;
    last = std::move(comparison);
    return true;
  }

  bool tryValue(const std::string &symbol, int64_t value) {
    Instance candidate = instance;
    bool fits = candidate.setSymbols(unknowns, [&](StringRef name) {
      return name == symbol ? value : instance.getSymbols().at(name.str());
    });
    // One draw of elements may miss a difference, or it may need plain ones.
    constexpr unsigned draws = 3;
    for (unsigned draw = 0; fits && draw < draws + 2; ++draw) {
      if (!candidate.drawTensors())
        return false;
      if (draw >= draws)
        for (std::vector<double> &numbers : candidate.getNumbers())
          llvm::fill(numbers, plain[draw - draws]);
      if (differs(candidate)) {
        instance.assign(candidate);
        return true;
      }
    }
    return false;
  }

  /// Makes symbols as small as possible; prefers 1 to 0 for dims of arguments.
  void shrinkSymbols() {
    std::set<std::string> dims;
    for (const TensorShape &shape : instance.getGoal().before.inputs)
      for (IntExpr dim : shape.dims)
        if (dim.getKind() == IntExpr::Kind::Symbol)
          dims.insert(dim.getSymbol().str());
    bool isSmaller = true;
    for (unsigned round = 0; isSmaller && round < 8; ++round) {
      isSmaller = false;
      for (const std::string &symbol : unknowns.symbols) {
        int64_t now = instance.getSymbols().at(symbol);
        bool isDim = dims.count(symbol);
        if (isDim && now == 0) {
          isSmaller |= tryValue(symbol, 1);
          continue;
        }
        isSmaller |= shrink(symbol, isDim, now);
      }
    }
  }

  /// Finds the least value at which the sides differ, assuming that they differ
  /// from there on.
  bool shrink(const std::string &symbol, int64_t least, int64_t now) {
    constexpr int64_t few = 8;
    for (int64_t value = least; value < std::min(now, few); ++value)
      if (tryValue(symbol, value))
        return true;
    bool isSmaller = false;
    for (int64_t low = few; low < now;) {
      int64_t middle = low + (now - low) / 2;
      if (tryValue(symbol, middle)) {
        now = middle;
        isSmaller = true;
      } else {
        low = middle + 1;
      }
    }
    return isSmaller;
  }

  void simplifyParameters() {
    for (const std::string &name : unknowns.parameters)
      for (double value : plain) {
        if (instance.getParameters().at(name) == value)
          break;
        Instance candidate = instance;
        ParameterValues reals = instance.getParameters();
        reals[name] = value;
        candidate.setParameters(std::move(reals));
        if (!differs(candidate))
          continue;
        instance.assign(candidate);
        break;
      }
  }

  /// Plain numbers, the plainest first; for integers, which may be bools, only
  /// 0 and 1.
  ArrayRef<double> plainOf(size_t argument) const {
    mlir::Type type = instance.getGoal().before.inputs[argument].elementType;
    return ArrayRef(plain).take_front(mlir::isa<mlir::FloatType>(type) ? 5 : 2);
  }

  /// Simplifies element by element, or all at once if they must be equal.
  void simplifyElements() {
    for (size_t argument = 0; argument < instance.getNumbers().size();
         ++argument) {
      size_t count = instance.getNumbers()[argument].size();
      for (double value : plainOf(argument)) {
        Instance candidate = instance;
        candidate.getNumbers()[argument].assign(count, value);
        if (!differs(candidate))
          continue;
        instance.assign(candidate);
        break;
      }
      for (size_t i = 0; i < count; ++i)
        simplifyElement(argument, i);
    }
  }

  void simplifyElement(size_t argument, size_t i) {
    for (double value : plainOf(argument)) {
      if (instance.getNumbers()[argument][i] == value)
        return;
      Instance candidate = instance;
      candidate.getNumbers()[argument][i] = value;
      if (!differs(candidate))
        continue;
      instance.assign(candidate);
      return;
    }
  }

  static constexpr double plain[] = {0.0, 1.0, -1.0, 2.0, -2.0};

  Instance &instance;
  const Unknowns &unknowns;
  Comparison last;
  size_t fuel = 1500; // evaluations of small instances
};

} // namespace

Comparison minimize(Instance &instance, const Unknowns &unknowns,
                    Comparison difference) {
  return Minimizer(instance, unknowns, std::move(difference)).run();
}

} // namespace mlc::verifier
