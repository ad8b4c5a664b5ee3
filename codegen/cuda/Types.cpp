//===- Types.cpp - Types and constants as CUDA C++ ------------------------===//

#include "codegen/cuda/Scalar.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;

namespace mlc::cuda {

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

std::string computeType(Type element) {
  if (element.isF32() || isHalf(element))
    return "float";
  if (element.isF64())
    return "double";
  if (element.isIndex())
    return "Index";
  if (element.isInteger(1))
    return "bool";
  for (unsigned bits : {8, 16, 32, 64})
    if (element.isSignlessInteger(bits))
      return "int" + std::to_string(bits) + "_t";
  return "";
}

std::string storageType(Type element) {
  if (element.isF16())
    return "f16";
  if (element.isBF16())
    return "bf16";
  if (element.isUnsignedInteger())
    return "uint" + std::to_string(element.getIntOrFloatBitWidth()) + "_t";
  return element.isInteger(1) ? "uint8_t" : computeType(element);
}

int64_t storageBytes(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

std::string fromStorage(Type element, const std::string &stored) {
  if (isHalf(element))
    return "toFloat(" + stored + ")";
  return element.isInteger(1) ? stored + " != 0" : stored;
}

std::string toStorage(Type element, const std::string &value) {
  if (element.isF16())
    return "toF16(" + value + ")";
  return element.isBF16() ? "toBF16(" + value + ")" : value;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::string literal(Type type, const APFloat &value) {
  bool isDouble = type.isF64();
  if (value.isNaN())
    return isDouble ? "double(NAN)" : "NAN";
  if (value.isInfinity())
    return std::string(value.isNegative() ? "-" : "") +
           (isDouble ? "double(INFINITY)" : "INFINITY");
  APFloat number = value;
  bool ignored;
  number.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
                 APFloat::rmNearestTiesToEven, &ignored);
  SmallString<32> text;
  number.toString(text, /*FormatPrecision=*/0, /*FormatMaxPadding=*/0);
  if (text.str().find_first_of("eE.") == StringRef::npos)
    text += ".0";
  if (!isDouble)
    text += "f";
  return value.isNegative() ? "(" + text.str().str() + ")" : text.str().str();
}

std::string literal(Type type, const APInt &value) {
  if (type.isInteger(1))
    return value.isZero() ? "false" : "true";
  SmallString<32> digits;
  value.toStringSigned(digits);
  if (value.isMinSignedValue() && value.getBitWidth() >= 32) {
    // Negative literals do not exist, and the positive one would overflow.
    digits.clear();
    (value + 1).toStringSigned(digits);
    return "(" + digits.str().str() + (value.getBitWidth() > 32 ? "ll" : "") +
           " - 1)";
  }
  std::string text = digits.str().str();
  if (type.isInteger(64))
    text += "ll";
  return value.isNegative() ? "(" + text + ")" : text;
}

std::string literal(TypedAttr constant) {
  if (auto real = dyn_cast<FloatAttr>(constant))
    return literal(real.getType(), real.getValue());
  return literal(constant.getType(), cast<IntegerAttr>(constant).getValue());
}

} // namespace mlc::cuda
