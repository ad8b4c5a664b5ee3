//===- Numbers.cpp - Exact numbers of shape arithmetic --------------------===//

#include "passes/Import/Numbers.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

/// Fractions that float32 holds exactly; beyond, rounding would differ.
constexpr int64_t maxExact = 1 << 24;
constexpr int64_t maxDenominator = 1 << 16;

MaybeNumber fraction(IntExpr numerator, int64_t denominator) {
  if (denominator == 0)
    return std::nullopt;
  if (denominator < 0) {
    if (denominator == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    numerator = -numerator;
    denominator = -denominator;
  }
  if (auto exact = numerator.exactDiv(
          IntExpr::constant(numerator.getContext(), denominator)))
    return Number{*exact, 1};
  if (std::optional<int64_t> value = numerator.asConstant()) {
    int64_t common = std::gcd(*value, denominator);
    return Number{IntExpr::constant(numerator.getContext(), *value / common),
                  denominator / common};
  }
  return Number{numerator, denominator};
}

bool isExact(const Number &number) {
  if (number.denominator > maxDenominator)
    return false;
  std::optional<int64_t> value = number.numerator.asConstant();
  return !value || (std::abs(*value) <= maxExact &&
                    (number.denominator & (number.denominator - 1)) == 0);
}

static MaybeNumber numberOf(double value, MLIRContext *context) {
  double scaled = value * maxDenominator;
  if (!std::isfinite(value) || std::signbit(value) != (value < 0) ||
      scaled != std::floor(scaled) ||
      std::abs(scaled) > double(maxExact) * maxDenominator)
    return std::nullopt;
  MaybeNumber number =
      fraction(IntExpr::constant(context, int64_t(scaled)), maxDenominator);
  return number && isExact(*number) ? number : std::nullopt;
}

/// The elements of a constant of integers, bools or few exact floats.
void trackNumbers(Tensor &tensor) {
  ElementsAttr value = tensor.constant;
  if (!value || value.getNumElements() > maxNumbers)
    return;
  Type type = tensor.elementType;
  MLIRContext *context = type.getContext();
  bool isFloat = isa<FloatType>(type);
  if (isFloat &&
      (value.getNumElements() > maxFloats || !(type.isF32() || type.isF64())))
    return;
  std::optional<std::vector<char>> bytes = getRawBytes(value);
  if (!bytes)
    return;
  unsigned size = getRawElementSize(type);
  Numbers numbers;
  for (size_t at = 0; at + size <= bytes->size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes->data() + at, size);
    if (isFloat) {
      double real = type.isF32() ? llvm::bit_cast<float>(uint32_t(bits))
                                 : llvm::bit_cast<double>(bits);
      MaybeNumber number = numberOf(real, context);
      if (!number)
        return;
      numbers.push_back(*number);
      continue;
    }
    APInt integer(size * 8, bits);
    bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
    if (isUnsigned && integer.getActiveBits() > 63)
      return;
    numbers.push_back(
        {IntExpr::constant(context, isUnsigned ? int64_t(integer.getZExtValue())
                                               : integer.getSExtValue())});
  }
  tensor.numbers = std::move(numbers);
}

void deriveConstant(Tensor &tensor) {
  if (tensor.constant || !tensor.numbers)
    return;
  Type type = tensor.elementType;
  SmallVector<int64_t> shape;
  for (IntExpr dim : tensor.dims)
    shape.push_back(dim.getConstant());
  SmallVector<Attribute> elements;
  for (const Number &number : *tensor.numbers) {
    std::optional<int64_t> value = number.numerator.asConstant();
    if (!value)
      return;
    if (isa<FloatType>(type)) {
      elements.push_back(
          FloatAttr::get(type, double(*value) / double(number.denominator)));
      continue;
    }
    APInt bits(64, *value, /*isSigned=*/true);
    elements.push_back(
        IntegerAttr::get(type, bits.trunc(type.getIntOrFloatBitWidth())));
  }
  tensor.constant =
      DenseElementsAttr::get(RankedTensorType::get(shape, type), elements);
}

} // namespace mlc
