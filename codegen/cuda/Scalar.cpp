//===- Scalar.cpp - Scalar operations as CUDA C++ -------------------------===//

#include "codegen/cuda/Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlc::cuda {

static std::string integerType(unsigned bits, bool isSigned) {
  return (isSigned ? "int" : "uint") + std::to_string(bits) + "_t";
}

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

namespace {
struct Helper {
  StringRef name, text;
};
} // namespace

/// In an order in which later ones may call earlier ones.
static const Helper helperTexts[] = {
    {"maximum", R"(
/// NaN where either is.
template <typename T> MLC_DEVICE T maximum(T x, T y) {
  return x != x ? x : y != y ? y : x < y ? y : x;
}
MLC_DEVICE float maximum(float x, float y) { return maxOrNaN(x, y); }
)"},
    {"minimum", R"(
/// NaN where either is.
template <typename T> MLC_DEVICE T minimum(T x, T y) {
  return x != x ? x : y != y ? y : y < x ? y : x;
}
MLC_DEVICE float minimum(float x, float y) { return minOrNaN(x, y); }
)"},
    {"divided", R"(
/// x / y within two units in the last place, by a reciprocal that is computed
/// once for all x. Scaling by powers of two keeps it a normal number.
MLC_DEVICE float divided(float x, float y) {
  const float size = fabsf(y);
  const float scale = size < 0x1p-96f ? 0x1p64f : size > 0x1p96f ? 0x1p-64f : 1;
  return x * scale * (1 / (y * scale));
}
)"},
    {"floorDiv", R"(
/// The quotient rounded down.
template <typename T> MLC_DEVICE T floorDiv(T x, T y) {
  T quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}
)"},
    {"ceilDiv", R"(
/// The quotient rounded up.
template <typename T> MLC_DEVICE T ceilDiv(T x, T y) {
  T quotient = x / y;
  return quotient + (x % y != 0 && (x < 0) == (y < 0));
}
)"},
    {"power", R"(
/// By squaring, modulo 2^bits; for negative exponents what truncation leaves.
template <typename T> MLC_DEVICE T power(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1)
      return 1;
    return base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  }
  unsigned long long result = 1, square = base;
  for (unsigned long long left = exponent; left; left >>= 1) {
    if (left & 1)
      result *= square;
    square *= square;
  }
  return T(result);
}
)"},
    {"threefry", R"(
/// Threefry-2x32 of 20 rounds; words are halves, the first one low.
MLC_DEVICE int64_t threefry(int64_t key, int64_t counter) {
  const uint32_t low = uint32_t(key), high = uint32_t(uint64_t(key) >> 32);
  const uint32_t keys[3] = {low, high, 0x1BD11BDAu ^ low ^ high};
  const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint32_t x = uint32_t(counter) + low;
  uint32_t y = uint32_t(uint64_t(counter) >> 32) + high;
#pragma unroll
  for (int round = 0; round < 20; ++round) {
    const int by = rotations[round % 8], turn = (round + 1) / 4;
    x += y;
    y = ((y << by) | (y >> (32 - by))) ^ x;
    if (round % 4 == 3) {
      x += keys[turn % 3];
      y += keys[(turn + 1) % 3] + uint32_t(turn);
    }
  }
  return int64_t(uint64_t(y) << 32 | x);
}
)"},
    {"erfcToHalf", R"(
/// erfc(x) within 1.1e-5 of its value, for results of 16 bits: t * 2^(P(t) -
/// log2(e) x^2) with t = 1 / (1 + |x| / 2), P of degree 5 by least squares.
MLC_DEVICE float erfcToHalf(float x) {
  const float z = fabsf(x), t = __fdividef(1.0f, fmaf(0.5f, z, 1.0f));
  float p = fmaf(0.3201651f, t, -0.9947971f);
  p = fmaf(p, t, 0.6539953f);
  p = fmaf(p, t, 0.3824113f);
  p = fmaf(p, t, 1.4651537f);
  p = fmaf(p, t, -1.8269396f);
  const float y = t * exp2f(fmaf(z * -1.4426950f, z, p));
  return x < 0 ? 2 - y : y;
}
)"},
    {"roundBF16", R"(
/// Rounded once: to float towards zero, odd where anything is lost, and on.
MLC_DEVICE float roundBF16(double value) {
  float near = float(value);
  int bits = __float_as_int(near);
  if (near - near == 0 && double(near) != value) {
    if (fabs(double(near)) > fabs(value))
      --bits;
    bits |= 1;
  }
  return toFloat(toBF16(__int_as_float(bits)));
}
)"},
};

void Helpers::need(StringRef name) { needed.insert(name.str()); }

std::string Helpers::text() const {
  std::string result;
  for (const Helper &helper : helperTexts)
    if (needed.count(helper.name.str()))
      result += helper.text;
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// `form`: {0}, {1}, {2} are the operands, {T} the result's type, {U} the
/// unsigned type of the operands, {R} that of the result, {f} the suffix of C's
/// functions of float. `helper`: the function that the form calls.
struct Row {
  StringRef operation, form, helper;
};
} // namespace

static const Row rows[] = {
    // Floats.
    {"arith.addf", "{0} + {1}", ""},
    {"arith.subf", "{0} - {1}", ""},
    {"arith.mulf", "{0} * {1}", ""},
    {"arith.divf", "{0} / {1}", ""},
    {"arith.negf", "-{0}", ""},
    {"arith.remf", "fmod{f}({0}, {1})", ""},
    {"arith.maximumf", "maximum({0}, {1})", "maximum"},
    {"arith.minimumf", "minimum({0}, {1})", "minimum"},
    {"arith.maxnumf", "fmax{f}({0}, {1})", ""},
    {"arith.minnumf", "fmin{f}({0}, {1})", ""},
    {"math.absf", "fabs{f}({0})", ""},
    {"math.ceil", "ceil{f}({0})", ""},
    {"math.floor", "floor{f}({0})", ""},
    {"math.roundeven", "rint{f}({0})", ""},
    {"math.round", "round{f}({0})", ""},
    {"math.trunc", "trunc{f}({0})", ""},
    {"math.sqrt", "sqrt{f}({0})", ""},
    {"math.rsqrt", "1 / sqrt{f}({0})", ""},
    {"math.cbrt", "cbrt{f}({0})", ""},
    {"math.exp", "exp{f}({0})", ""},
    {"math.exp2", "exp2{f}({0})", ""},
    {"math.expm1", "expm1{f}({0})", ""},
    {"math.log", "log{f}({0})", ""},
    {"math.log2", "log2{f}({0})", ""},
    {"math.log10", "log10{f}({0})", ""},
    {"math.log1p", "log1p{f}({0})", ""},
    {"math.sin", "sin{f}({0})", ""},
    {"math.cos", "cos{f}({0})", ""},
    {"math.tan", "tan{f}({0})", ""},
    {"math.asin", "asin{f}({0})", ""},
    {"math.acos", "acos{f}({0})", ""},
    {"math.atan", "atan{f}({0})", ""},
    {"math.atan2", "atan2{f}({0}, {1})", ""},
    {"math.sinh", "sinh{f}({0})", ""},
    {"math.cosh", "cosh{f}({0})", ""},
    {"math.tanh", "tanh{f}({0})", ""},
    {"math.asinh", "asinh{f}({0})", ""},
    {"math.acosh", "acosh{f}({0})", ""},
    {"math.atanh", "atanh{f}({0})", ""},
    {"math.erf", "erf{f}({0})", ""},
    {"math.erfc", "erfc{f}({0})", ""},
    {"math.powf", "pow{f}({0}, {1})", ""},
    {"math.fma", "fma{f}({0}, {1}, {2})", ""},
    {"math.copysign", "copysign{f}({0}, {1})", ""},
    {"math.isnan", "{0} != {0}", ""},
    {"math.isinf", "fabs{f}({0}) == INFINITY", ""},
    {"math.isfinite", "{0} - {0} == 0", ""},
    // Integers, which wrap.
    {"arith.addi", "{T}({R}({0}) + {R}({1}))", ""},
    {"arith.subi", "{T}({R}({0}) - {R}({1}))", ""},
    {"arith.muli", "{T}({R}({0}) * {R}({1}))", ""},
    {"arith.divsi", "{T}({0} / {1})", ""},
    {"arith.remsi", "{T}({0} % {1})", ""},
    {"arith.floordivsi", "floorDiv<{T}>({0}, {1})", "floorDiv"},
    {"arith.ceildivsi", "ceilDiv<{T}>({0}, {1})", "ceilDiv"},
    {"arith.divui", "{T}({R}({0}) / {R}({1}))", ""},
    {"arith.remui", "{T}({R}({0}) % {R}({1}))", ""},
    {"arith.ceildivui", "{T}(ceilDiv<{R}>({0}, {1}))", "ceilDiv"},
    {"arith.andi", "{T}({0} & {1})", ""},
    {"arith.ori", "{T}({0} | {1})", ""},
    {"arith.xori", "{T}({0} ^ {1})", ""},
    {"arith.shli", "{T}({R}({0}) << {1})", ""},
    {"arith.shrsi", "{T}({0} >> {1})", ""},
    {"arith.shrui", "{T}({R}({0}) >> {1})", ""},
    {"arith.maxsi", "({0} < {1} ? {1} : {0})", ""},
    {"arith.minsi", "({1} < {0} ? {1} : {0})", ""},
    {"arith.maxui", "({R}({0}) < {R}({1}) ? {1} : {0})", ""},
    {"arith.minui", "({R}({1}) < {R}({0}) ? {1} : {0})", ""},
    {"math.absi", "({0} < 0 ? {T}({R}(0) - {R}({0})) : {0})", ""},
    {"math.ipowi", "power<{T}>({0}, {1})", "power"},
    {"mlc.threefry", "threefry({0}, {1})", "threefry"},
    // Casts. Floats are converted to small integers through 32 bits.
    {"arith.extui", "{T}({U}({0}))", ""},
    {"arith.index_cast", "{T}({0})", ""},
    {"arith.index_castui", "{T}({U}({0}))", ""},
    {"arith.select", "{0} ? {1} : {2}", ""},
};

static std::string unsignedType(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isIndex())
    return "UnsignedIndex";
  return type.isSignlessInteger()
             ? integerType(type.getIntOrFloatBitWidth(), false)
             : computeType(type);
}

static std::string fill(StringRef form, Operation *op,
                        ArrayRef<std::string> operands) {
  Type result = op->getResult(0).getType();
  Type operand = op->getOperand(0).getType();
  std::string text;
  while (!form.empty()) {
    auto [before, rest] = form.split('{');
    text += before;
    if (rest.empty())
      break;
    char what = rest.front();
    form = rest.drop_front(2);
    if (what == 'T')
      text += computeType(result);
    else if (what == 'U')
      text += unsignedType(operand);
    else if (what == 'R')
      text += unsignedType(result);
    else if (what == 'f')
      text += operand.isF64() ? "" : "f";
    else
      text += operands[what - '0'];
  }
  return text;
}

static std::string compareIntegers(arith::CmpIOp op,
                                   ArrayRef<std::string> operands) {
  using P = arith::CmpIPredicate;
  StringRef sign;
  switch (op.getPredicate()) {
  case P::eq:
    sign = " == ";
    break;
  case P::ne:
    sign = " != ";
    break;
  case P::slt:
  case P::ult:
    sign = " < ";
    break;
  case P::sle:
  case P::ule:
    sign = " <= ";
    break;
  case P::sgt:
  case P::ugt:
    sign = " > ";
    break;
  case P::sge:
  case P::uge:
    sign = " >= ";
    break;
  }
  bool isUnsigned = op.getPredicate() >= P::ult;
  std::string type = isUnsigned ? unsignedType(op.getLhs().getType()) : "";
  auto operand = [&](unsigned i) {
    return isUnsigned ? type + "(" + operands[i] + ")" : operands[i];
  };
  return operand(0) + sign.str() + operand(1);
}

static std::string compareFloats(arith::CmpFPredicate predicate,
                                 const std::string &x, const std::string &y) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return "false";
  case P::OEQ:
    return x + " == " + y;
  case P::OGT:
    return x + " > " + y;
  case P::OGE:
    return x + " >= " + y;
  case P::OLT:
    return x + " < " + y;
  case P::OLE:
    return x + " <= " + y;
  case P::ONE:
    return "(" + x + " < " + y + " || " + x + " > " + y + ")";
  case P::ORD:
    return "(" + x + " == " + x + " && " + y + " == " + y + ")";
  case P::UEQ:
    return "!(" + x + " < " + y + " || " + x + " > " + y + ")";
  case P::UGT:
    return "!(" + x + " <= " + y + ")";
  case P::UGE:
    return "!(" + x + " < " + y + ")";
  case P::ULT:
    return "!(" + x + " >= " + y + ")";
  case P::ULE:
    return "!(" + x + " > " + y + ")";
  case P::UNE:
    return x + " != " + y;
  case P::UNO:
    return "(" + x + " != " + x + " || " + y + " != " + y + ")";
  case P::AlwaysTrue:
    return "true";
  }
  llvm_unreachable("all predicates are above");
}

/// Floats to narrower ones: rounded, even if the result is then computed in
/// float.
static std::string narrowed(Type from, Type to, const std::string &x,
                            Helpers &helpers) {
  if (to.isF16())
    return "toFloat(toF16(" + x + "))";
  if (!to.isBF16())
    return computeType(to) + "(" + x + ")";
  if (!from.isF64())
    return "toFloat(toBF16(" + x + "))";
  helpers.need("roundBF16");
  return "roundBF16(" + x + ")";
}

std::optional<std::string>
expression(Operation *op, ArrayRef<std::string> operands, Helpers &helpers) {
  Type result = op->getResult(0).getType();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return literal(constant.getValue());
  if (computeType(result).empty() ||
      llvm::any_of(op->getOperandTypes(),
                   [](Type type) { return computeType(type).empty(); }))
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareIntegers(compare, operands);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(compare.getPredicate(), operands[0], operands[1]);
  Type from = op->getNumOperands() ? op->getOperand(0).getType() : result;
  return llvm::TypeSwitch<Operation *, std::optional<std::string>>(op)
      .Case([&](arith::ExtFOp) {
        return computeType(result) + "(" + operands[0] + ")";
      })
      .Case([&](arith::TruncFOp) {
        return narrowed(from, result, operands[0], helpers);
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](Operation *cast) {
        bool isSigned = isa<arith::FPToSIOp>(cast);
        unsigned bits = std::max(32u, result.getIntOrFloatBitWidth());
        // C++ leaves conversions of values out of range undefined, so a helper
        // function does it.
        return computeType(result) + "(to" + (isSigned ? "Int" : "UInt") +
               std::to_string(bits) + "(" + operands[0] + "))";
      })
      .Case([&](arith::TruncIOp) {
        return result.isInteger(1)
                   ? "(" + operands[0] + " & 1) != 0"
                   : computeType(result) + "(" + operands[0] + ")";
      })
      .Case<arith::ExtSIOp, arith::SIToFPOp>(
          [&](Operation *) -> std::optional<std::string> {
            // As a signed integer of one bit, true is -1.
            if (isHalf(result))
              return narrowed(Float64Type::get(result.getContext()), result,
                              (from.isInteger(1) ? "-double(" : "double(") +
                                  operands[0] + ")",
                              helpers);
            return computeType(result) + (from.isInteger(1) ? "(-int(" : "((") +
                   operands[0] + "))";
          })
      .Case([&](arith::UIToFPOp) -> std::optional<std::string> {
        std::string value = unsignedType(from) + "(" + operands[0] + ")";
        if (isHalf(result))
          return narrowed(Float64Type::get(result.getContext()), result,
                          "double(" + value + ")", helpers);
        return computeType(result) + "(" + value + ")";
      })
      .Default([&](Operation *other) -> std::optional<std::string> {
        StringRef name = other->getName().getStringRef();
        for (const Row &row : rows)
          if (row.operation == name) {
            if (!row.helper.empty())
              helpers.need(row.helper);
            return fill(row.form, other, operands);
          }
        return std::nullopt;
      });
}

std::optional<std::string> neutral(Operation *op) {
  Type type = op->getResult(0).getType();
  auto integer = [&](APInt value) { return literal(type, value); };
  auto real = [&](bool isNaN, bool isZero, bool isNegative) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type).getFloatSemantics();
    if (isNaN)
      return literal(type, APFloat::getNaN(semantics));
    return literal(type, isZero ? APFloat::getZero(semantics, isNegative)
                                : APFloat::getInf(semantics, isNegative));
  };
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  using Text = std::optional<std::string>;
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](arith::AddFOp) { return real(false, true, true); })
      .Case([&](arith::MulFOp) {
        return literal(type,
                       APFloat(cast<FloatType>(type).getFloatSemantics(), 1));
      })
      .Case([&](arith::MaximumFOp) { return real(false, false, true); })
      .Case([&](arith::MinimumFOp) { return real(false, false, false); })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>(
          [&](Operation *) { return real(true, false, false); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return integer(APInt::getZero(bits)); })
      .Case([&](arith::MulIOp) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return integer(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) {
        return integer(APInt::getSignedMinValue(bits));
      })
      .Case([&](arith::MinSIOp) {
        return integer(APInt::getSignedMaxValue(bits));
      })
      .Default([](Operation *) { return Text(); });
}

} // namespace mlc::cuda
