//===- Quantization.cpp - ONNX's quantized numbers ------------------------===//
//
// Computed in floats, as ONNX defines them: there are no kernels for 8-bit
// integer products.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"
#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace mlc {

static bool isQuantized(Type type) {
  return type.isInteger(8) || type.isInteger(16);
}

/// Shapes `value`, a scale or zero point for input `i`: per tensor, or per
/// position along the axis.
static Value placed(Node &n, unsigned i, Value value) {
  if (n.hasAttr("block_size") && n.intAttr("block_size", 0) != 0) {
    (void)n.unsupported("blocks of a scale each are not supported");
    return {};
  }
  if (n.rank(i) == 0 || (n.rank(i) == 1 && n.dims(i)[0].isConstant(1)))
    return n.reshape(value, {});
  int64_t axis = n.axis(n.intAttr("axis", 1), n.rank(0));
  if (n.failed())
    return {};
  if (n.rank(i) != 1) {
    (void)n.invalid("requires scales and zero points of rank 0 or 1");
    return {};
  }
  n.requireEqual(n.dims(i)[0], n.dims(0)[axis],
                 "there must be a scale and a zero point for each place along "
                 "the axis");
  Dims dims(n.rank(0), n.integer(1));
  dims[axis] = n.dims(0)[axis];
  return n.reshape(value, dims);
}

/// round(x / scale) + zero, clamped to the range of `type`; halves to even.
static Value quantized(Node &n, Value x, Value scale, Value zero,
                       IntegerType type) {
  Value steps = n.op<RoundEvenOp>(n.pointwise<DivOp>({x, scale}));
  if (zero)
    steps = n.pointwise<AddOp>({steps, zero});
  unsigned bits = type.getWidth();
  double low = type.isUnsigned() ? 0 : -std::ldexp(1.0, bits - 1);
  double high = std::ldexp(1.0, bits - !type.isUnsigned()) - 1;
  return n.cast(n.op<ClipOp>(steps, n.real(low), n.real(high)), type);
}

static LogicalResult importQuantizeLinear(Node &n) {
  Type single = n.builder().getF32Type();
  Type type = n.has(2) ? n.type(2) : n.builder().getIntegerType(8, false);
  if (n.intAttr("output_dtype", 0) != 0 && !n.has(2))
    return n.unsupported("output_dtype without a zero point is not supported");
  if (!isQuantized(type))
    return n.unsupported("it gives numbers of a type that is not supported");
  Value scale = placed(n, 1, n.cast(n.value(1), single));
  Value zero = n.has(2) ? placed(n, 2, n.cast(n.value(2), single)) : Value();
  if (n.failed())
    return failure();
  return n.result(quantized(n, n.cast(n.value(0), single), scale, zero,
                            cast<IntegerType>(type)));
}

/// (x - zero) scale
static LogicalResult importDequantizeLinear(Node &n) {
  Type single = n.builder().getF32Type(), wide = n.builder().getI32Type();
  if (!isQuantized(n.type(0)) && n.type(0) != wide)
    return n.unsupported("it takes numbers of a type that is not supported");
  if (n.intAttr("output_dtype", 0) != 0)
    return n.unsupported("output_dtype is not supported");
  if (n.has(2) && n.type(2) != n.type(0))
    return n.invalid("requires a zero point of the input's type");
  Value x = n.cast(n.value(0), wide);
  Value scale = placed(n, 1, n.cast(n.value(1), single));
  if (n.has(2))
    x = n.pointwise<SubOp>({x, placed(n, 2, n.cast(n.value(2), wide))});
  return n.result(
      n.cast(n.pointwise<MulOp>({n.cast(x, single), scale}), n.type(1)));
}

/// Divides the range from min(least, 0) to max(largest, 0) into 255 steps. If
/// all elements are 0 the scale is 1, as in ONNX Runtime.
static LogicalResult importDynamicQuantizeLinear(Node &n) {
  Value x = n.value(0);
  llvm::SmallVector<int64_t> axes;
  for (int64_t d = 0; d < n.rank(0); ++d)
    axes.push_back(d);
  auto extreme = [&](Reduction kind) {
    return n.reshape(n.reduce(kind, x, axes), {});
  };
  Value low = n.withScalar<MinOp>(extreme(Reduction::Min), 0.0);
  Value high = n.withScalar<MaxOp>(extreme(Reduction::Max), 0.0);
  Value range = n.pointwise<SubOp>({high, low});
  Value isEmpty =
      n.compare(ComparePredicate::EQ, range, n.scalarConstant(n.type(0), 0.0));
  Value scale =
      n.pointwise<SelectOp>({isEmpty, n.scalarConstant(n.type(0), 1.0),
                             n.withScalar<DivOp>(range, 255.0)});
  auto byte = n.builder().getIntegerType(8, false);
  Value zero = quantized(n, n.op<NegOp>(low), scale, {}, byte);
  Value y = quantized(n, x, scale, n.cast(zero, n.type(0)), byte);
  if (failed(n.result(0, y)) || failed(n.result(1, scale)))
    return failure();
  return n.result(2, zero);
}

llvm::ArrayRef<OperatorEntry> quantizationOperators() {
  static const OperatorEntry entries[] = {
      {"", "DequantizeLinear", 2, 3, importDequantizeLinear},
      {"", "DynamicQuantizeLinear", 1, 1, importDynamicQuantizeLinear},
      {"", "QuantizeLinear", 2, 3, importQuantizeLinear},
  };
  return entries;
}

} // namespace mlc
