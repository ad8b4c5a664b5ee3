//===- Random.cpp - ONNX's random numbers ---------------------------------===//
//
// All are functions of a seed, a step and the element's position. The step is
// the constant 0 here; training gives `mlc.random_uniform` a different one in
// each run.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Random.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/RandomOps.h"
#include "passes/Import/Handlers.h"
#include "llvm/Support/xxhash.h"
#include <numbers>

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

/// A node without a seed uses the unique name of its first output.
static uint64_t seedOf(Node &n) {
  // Dropout's seed is an integer, the others' a float.
  if (n.hasAttr("seed"))
    return n.opType() == "Dropout"
               ? uint64_t(n.intAttr("seed", 0))
               : llvm::bit_cast<uint32_t>(float(n.floatAttr("seed", 0.0)));
  const std::string &name = n.getProto().output(0);
  return llvm::xxh3_64bits(StringRef(name));
}

/// Numbers from [0, 1).
static Value uniform(Node &n, ArrayRef<IntExpr> dims, Type type,
                     uint64_t seed) {
  if (n.failed())
    return {};
  OpBuilder &b = n.builder();
  Type word = b.getIntegerType(64, /*isSigned=*/false);
  return n.op<RandomUniformOp>(n.scalarConstant(word, 0.0), n.dimsAttr(dims),
                               int64_t(seed), type);
}

LogicalResult importDropoutInTraining(Node &n) {
  Type single = n.builder().getF32Type(), type = n.type(0);
  if (!n.isFloat(0) || (n.has(1) && (n.rank(1) != 0 || !n.isFloat(1))))
    return n.invalid("requires floats and a scalar ratio");
  Value ratio = n.has(1) ? n.cast(n.value(1), single)
                         : n.scalarConstant(single, n.floatAttr("ratio", 0.5));
  Value keep = n.compare(ComparePredicate::GE,
                         uniform(n, n.dims(0), single, seedOf(n)), ratio);
  Type mask = n.opset() >= 10 ? Type(n.builder().getI1Type()) : type;
  if (n.wants(1) && failed(n.result(1, n.cast(keep, mask))))
    return failure();
  // 1 / (1 - ratio) in float32, or wider if the input is.
  Type computed = type.isF64() ? type : single;
  Value rest = n.pointwise<SubOp>(
      {n.scalarConstant(computed, 1.0), n.cast(ratio, computed)});
  Value factor = n.op<ReciprocalOp>(rest);
  if (!factor)
    return failure();
  Value scaled = n.pointwise<MulOp>({n.cast(n.value(0), computed), factor});
  Value result =
      n.pointwise<SelectOp>({keep, scaled, n.scalarConstant(computed, 0.0)});
  return n.result(n.cast(result, type));
}

/// The dims and the type of a generator's output, from attributes or from the
/// input that it resembles.
static LogicalResult shapeOf(Node &n, Dims &dims, Type &type) {
  if (n.numInputs() != 0) {
    dims.assign(n.dims(0).begin(), n.dims(0).end());
    type = n.type(0);
  } else {
    if (!n.hasAttr("shape"))
      return n.invalid("requires a shape");
    for (int64_t dim : n.intsAttr("shape")) {
      if (dim < 0)
        return n.invalid("a dim must not be negative");
      dims.push_back(n.integer(dim));
    }
    type = n.builder().getF32Type();
  }
  if (n.hasAttr("dtype"))
    type = getElementType(n.context(), int32_t(n.intAttr("dtype", 0)));
  if (!isa_and_nonnull<FloatType>(type))
    return n.invalid("requires a type of floats");
  return failure(n.failed());
}

static LogicalResult importRandomUniform(Node &n) {
  Dims dims;
  Type type, single = n.builder().getF32Type();
  if (failed(shapeOf(n, dims, type)))
    return failure();
  double low = n.floatAttr("low", 0.0), high = n.floatAttr("high", 1.0);
  // Small floats of a wide range would round up to its end.
  Type computed = type.isF64() || (low == 0.0 && high == 1.0) ? type : single;
  Value value = uniform(n, dims, computed, seedOf(n));
  if (high - low != 1.0)
    value = n.withScalar<MulOp>(value, high - low);
  if (low != 0.0)
    value = n.withScalar<AddOp>(value, low);
  return n.result(n.cast(value, type));
}

/// Two uniform numbers make a normal one (Box and Muller).
static LogicalResult importRandomNormal(Node &n) {
  Dims dims;
  Type type;
  if (failed(shapeOf(n, dims, type)))
    return failure();
  Type computed = type.isF64() ? type : Type(n.builder().getF32Type());
  uint64_t seed = seedOf(n);
  // 1 - u is never 0. The angles use a different seed.
  Value u = uniform(n, dims, computed, seed);
  Value angle = uniform(n, dims, computed, ~seed);
  if (!u || !angle)
    return failure();
  Value inside = n.withScalar<AddOp>(n.op<NegOp>(u), 1.0);
  Value radius = n.op<SqrtOp>(n.withScalar<MulOp>(n.op<LogOp>(inside), -2.0));
  Value cosine = n.op<CosOp>(n.withScalar<MulOp>(angle, 2 * std::numbers::pi));
  Value value = n.pointwise<MulOp>({radius, cosine});
  value = n.withScalar<MulOp>(value, n.floatAttr("scale", 1.0));
  value = n.withScalar<AddOp>(value, n.floatAttr("mean", 0.0));
  return n.result(n.cast(value, type));
}

ArrayRef<OperatorEntry> randomOperators() {
  static const OperatorEntry entries[] = {
      {"", "RandomNormal", 0, 0, importRandomNormal},
      {"", "RandomNormalLike", 1, 1, importRandomNormal},
      {"", "RandomUniform", 0, 0, importRandomUniform},
      {"", "RandomUniformLike", 1, 1, importRandomUniform},
  };
  return entries;
}

} // namespace mlc
