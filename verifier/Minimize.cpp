//===- Minimize.cpp - A counterexample that is easy to follow -------------===//

#include "verifier/Instance.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

namespace {

/// Tries one simplification after another and keeps those under which the sides
/// still differ.
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
  /// Whether the sides still differ; the difference is remembered then.
  bool differs(const Instance &candidate) {
    if (fuel == 0 || !candidate.isAdmitted())
      return false;
    --fuel;
    Comparison comparison = candidate.compareReals();
    if (comparison.outcome != Comparison::Outcome::Different)
      return false;
    // Another value says more than no value.
    if (last.reason.empty() && !comparison.reason.empty())
      return false;
    last = std::move(comparison);
    return true;
  }

  bool tryValue(const std::string &symbol, int64_t value) {
    // A difference may hide from one draw of elements.
    for (unsigned draw = 0; draw < 3; ++draw) {
      Instance candidate = instance;
      bool fits = candidate.setSymbols(unknowns, [&](StringRef name) {
        return name == symbol ? value : instance.getSymbols().at(name.str());
      });
      if (!fits)
        return false;
      for (unsigned i = 0; i <= draw; ++i)
        if (!candidate.drawTensors())
          return false;
      if (differs(candidate)) {
        instance.assign(candidate);
        return true;
      }
    }
    return false;
  }

  void shrinkSymbols() {
    bool isSmaller = true;
    while (isSmaller) {
      isSmaller = false;
      for (const std::string &symbol : unknowns.symbols) {
        int64_t now = instance.getSymbols().at(symbol);
        for (int64_t value = 0; value < now; ++value)
          if (tryValue(symbol, value)) {
            isSmaller = true;
            break;
          }
      }
    }
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

  /// The plainest first; only 0 and 1 of integers, which may be bools.
  ArrayRef<double> plainOf(size_t argument) const {
    mlir::Type type =
        instance.getQuestion().before.inputs[argument].elementType;
    return ArrayRef(plain).take_front(mlir::isa<mlir::FloatType>(type) ? 5 : 2);
  }

  /// Element by element; where all must be equal, all at once.
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
  unsigned fuel = 1500; // evaluations
};

} // namespace

Comparison minimize(Instance &instance, const Unknowns &unknowns,
                    Comparison difference) {
  return Minimizer(instance, unknowns, std::move(difference)).run();
}

} // namespace mlc::verifier
