//===- Parameters.cpp - Ranges of real parameters -------------------------===//

#include "verifier/read/Parameters.h"
#include "dialects/Definition/ScalarArithmetic.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

namespace mlc::verifier {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool ParameterRange::isInteger() const {
  return type && !mlir::isa<mlir::FloatType>(type);
}

ParameterRange::ParameterRange(llvm::StringRef parameter, mlir::Type type,
                               llvm::ArrayRef<RealAssumption> assumptions)
    : type(type) {
  low = std::numeric_limits<double>::lowest();
  high = std::numeric_limits<double>::max();
  if (auto floatType = mlir::dyn_cast_or_null<mlir::FloatType>(type)) {
    llvm::APFloat largest =
        llvm::APFloat::getLargest(floatType.getFloatSemantics());
    bool isInexact = false;
    largest.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &isInexact);
    high = largest.convertToDouble();
    low = -high;
  } else if (isInteger()) {
    // The range that a double holds exactly.
    unsigned width = mlir::isa<mlir::IndexType>(type)
                         ? 54
                         : std::min(type.getIntOrFloatBitWidth(), 54u);
    bool isUnsigned = type.isUnsignedInteger() || width == 1;
    high = std::ldexp(1.0, isUnsigned ? width : width - 1) - 1.0;
    low = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1);
  }
  for (const RealAssumption &r : assumptions)
    if (r.parameter == parameter)
      add(r.predicate, r.bound);
}

double ParameterRange::next(double value, bool up) const {
  if (isInteger())
    return up ? std::floor(value) + 1.0 : std::ceil(value) - 1.0;
  auto floatType = mlir::dyn_cast_or_null<mlir::FloatType>(type);
  if (!floatType)
    return std::nextafter(value, up ? infinity : -infinity);
  llvm::APFloat number(value);
  bool isInexact = false;
  number.convert(floatType.getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  number.next(/*nextDown=*/!up);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToDouble();
}

void ParameterRange::add(ComparePredicate predicate, double bound) {
  // For an integer, 0.5 is a valid bound but no value.
  if (type && !isInteger())
    bound = roundToType(type, bound);
  bool isWhole = !isInteger() || std::floor(bound) == bound;
  switch (predicate) {
  case ComparePredicate::EQ:
    low = isWhole ? std::max(low, bound) : infinity;
    high = std::min(high, bound);
    return;
  case ComparePredicate::NE:
    excluded.insert(bound);
    return;
  case ComparePredicate::GT:
    low = std::max(low, next(bound, true));
    return;
  case ComparePredicate::GE:
    low = std::max(low, isWhole ? bound : std::ceil(bound));
    return;
  case ComparePredicate::LT:
    high = std::min(high, next(bound, false));
    return;
  case ComparePredicate::LE:
    high = std::min(high, isWhole ? bound : std::floor(bound));
    return;
  }
}

bool ParameterRange::contains(double value) const {
  bool isOfType = !isInteger() ? !type || roundToType(type, value) == value
                               : std::floor(value) == value;
  return isOfType && low <= value && value <= high && !excluded.count(value);
}

double ParameterRange::clamped(double value) const {
  value = isInteger() ? std::round(value)
          : type      ? roundToType(type, value)
                      : value;
  return std::min(std::max(value, low), high);
}

bool ParameterRange::isEmpty() const {
  // Only finitely many numbers are excluded, so trying one more than that
  // suffices.
  double value = low;
  for (size_t k = 0; k <= excluded.size() && value <= high; ++k) {
    if (!excluded.count(value))
      return false;
    value = next(value, true);
  }
  return true;
}

std::optional<double> ParameterRange::asNumber() const {
  return low == high && !excluded.count(low) ? std::optional(low)
                                             : std::nullopt;
}

std::optional<double> ParameterRange::draw(std::mt19937_64 &random) const {
  if (isEmpty())
    return std::nullopt;
  double first = std::max(low, -2.0), last = std::min(high, 2.0);
  if (first > last) { // all of it is above 2 or below -2
    first = low > 2.0 ? low : std::max(low, high - 4.0);
    last = low > 2.0 ? std::min(high, low + 4.0) : high;
  }
  constexpr unsigned tries = 64;
  for (unsigned t = 0; t < tries; ++t) {
    double value =
        first + (last - first) * static_cast<double>(random() % 65) / 64.0;
    double plain = std::round(value * 16.0) / 16.0;
    value = clamped(plain >= first && plain <= last ? plain : value);
    if (contains(value))
      return value;
  }
  for (double value = low; value <= high; value = next(value, true))
    if (contains(value))
      return value;
  return std::nullopt;
}

std::optional<std::string> collectParameters(const Definition &definition,
                                             ParameterTypes &types) {
  std::optional<std::string> conflict;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind != Expr::Kind::Param)
          return;
        auto [it, isNew] = types.try_emplace(node.parameter, node.type);
        if (!isNew && it->second != node.type)
          conflict = node.parameter;
      });
  return conflict;
}

bool isSatisfiable(llvm::ArrayRef<RealAssumption> assumptions,
                   const ParameterTypes &types) {
  return llvm::all_of(assumptions, [&](const RealAssumption &r) {
    auto it = types.find(r.parameter);
    mlir::Type type = it == types.end() ? mlir::Type() : it->second;
    return !ParameterRange(r.parameter, type, assumptions).isEmpty();
  });
}

} // namespace mlc::verifier
