//===- Parameters.h - Ranges of real parameters -----------------*- C++ -*-===//
//
// A parameter and its assumed bounds are numbers of the type that it has in the
// definition: t < 0.1 for an f32 uses the float nearest to 0.1; t > 0 and t < 1
// leave no i32.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_PARAMETERS_H
#define MLC_VERIFIER_READ_PARAMETERS_H

#include "verifier/read/Condition.h"
#include <random>
#include <set>

namespace mlc::verifier {

/// The numbers of a type that satisfy all assumptions on one parameter.
class ParameterRange {
public:
  /// Null type: the parameter is unused, and is a double.
  ParameterRange(llvm::StringRef parameter, mlir::Type type,
                 llvm::ArrayRef<RealAssumption> assumptions);

  bool contains(double value) const;
  bool isEmpty() const;
  /// The number in the range if there is exactly one.
  std::optional<double> asNumber() const;
  /// A number between -2 and 2, in sixteenths, if there is one; else one near a
  /// bound. nullopt if the range is empty.
  std::optional<double> draw(std::mt19937_64 &random) const;

private:
  void add(ComparePredicate predicate, double bound);
  bool isInteger() const;
  /// The next number of the type: upwards or downwards.
  double next(double value, bool up) const;
  /// The number of the type nearest to `value` within the bounds.
  double clamped(double value) const;

  mlir::Type type;
  double low, high;
  std::set<double> excluded;
};

/// The types of the parameters in a definition, by name.
using ParameterTypes = std::map<std::string, mlir::Type>;
/// Adds those of `definition`; returns a parameter that is used with two types.
std::optional<std::string> collectParameters(const Definition &definition,
                                             ParameterTypes &types);

/// Whether some values satisfy all assumptions on reals.
bool isSatisfiable(llvm::ArrayRef<RealAssumption> assumptions,
                   const ParameterTypes &types);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_PARAMETERS_H
