//===- Contraction.cpp - ONNX's matrix products ---------------------------===//

#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Einsum.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;

namespace mlc {

/// numpy's matmul: a vector on the left is a row, one on the right a column,
/// and batch dims are broadcast.
static Value matmul(Node &n, Value a, Value b) {
  if (!a || !b)
    return {};
  Dims aDims = dimsOf(a), bDims = dimsOf(b);
  if (aDims.empty() || bDims.empty()) {
    (void)n.invalid("requires inputs of rank 1 or more");
    return {};
  }
  bool aVector = aDims.size() == 1, bVector = bDims.size() == 1;
  if (aVector)
    aDims.insert(aDims.begin(), n.integer(1));
  if (bVector)
    bDims.push_back(n.integer(1));
  n.requireEqual(aDims.back(), bDims[bDims.size() - 2],
                 "columns of the left input must equal rows of the right one");
  if (n.failed())
    return {};
  Dims batch = n.broadcastDims({ArrayRef<IntExpr>(aDims).drop_back(2),
                                ArrayRef<IntExpr>(bDims).drop_back(2)});
  auto expanded = [&](ArrayRef<IntExpr> matrix) {
    Dims dims = batch;
    llvm::append_range(dims, matrix.take_back(2));
    return dims;
  };
  // If inner dims are equal only by a run-time check, use the left one.
  Dims left = expanded(aDims), right = expanded(bDims);
  right[right.size() - 2] = left.back();
  a = n.broadcast(n.reshape(a, aDims), left);
  bDims[bDims.size() - 2] = left.back();
  b = n.broadcast(n.reshape(b, bDims), right);
  Value product = n.op<MatMulOp>({a, b});
  if (!product || !(aVector || bVector))
    return product;
  Dims result = dimsOf(product);
  if (bVector)
    result.pop_back();
  if (aVector)
    result.erase(result.end() - (bVector ? 1 : 2));
  return n.reshape(product, result);
}

Value importedMatmul(Node &n, Value a, Value b) { return matmul(n, a, b); }

static LogicalResult importMatMul(Node &n) {
  if (n.type(0) != n.type(1))
    return n.invalid("inputs have different element types");
  return n.result(matmul(n, n.value(0), n.value(1)));
}

/// alpha A' B' + beta C
static LogicalResult importGemm(Node &n) {
  Value a = n.value(0), b = n.value(1);
  if (n.opset() >= 7 && (n.rank(0) != 2 || n.rank(1) != 2))
    return n.invalid("requires two matrices");
  if (n.rank(0) < 1 || n.rank(1) != 2 || n.type(0) != n.type(1))
    return n.invalid("requires two matrices of one type");
  // Before opset 7 trailing dims of A were flattened.
  if (n.rank(0) != 2) {
    IntExpr columns = getNumElements(n.context(), n.dims(0).drop_front());
    a = n.reshape(a, {n.dims(0)[0], columns});
  }
  if (n.intAttr("transA", 0))
    a = n.transpose(a, {1, 0});
  if (n.intAttr("transB", 0))
    b = n.transpose(b, {1, 0});
  double alpha = n.floatAttr("alpha", 1.0), beta = n.floatAttr("beta", 1.0);
  Value product = matmul(n, a, b);
  if (alpha != 1.0)
    product = n.withScalar<MulOp>(product, alpha);
  if (!n.has(2) || beta == 0.0 || !product)
    return n.result(product);
  Value c = n.value(2);
  if (beta != 1.0)
    c = n.withScalar<MulOp>(c, beta);
  return n.result(n.op<AddOp>({product, n.broadcast(c, dimsOf(product))}));
}

/// input - zero point as 32-bit integers. A zero point may be a scalar or one
/// per row (or per column, on the right).
static Value centered(Node &n, unsigned input, unsigned zeroPoint,
                      bool isRight) {
  Type i32 = n.builder().getI32Type();
  Value value = n.cast(n.value(input), i32);
  if (!n.has(zeroPoint))
    return value;
  Value zero = n.cast(n.value(zeroPoint), i32);
  if (n.rank(zeroPoint) == 1 && !n.dims(zeroPoint)[0].isConstant(1) && !isRight)
    zero = n.reshape(zero, {n.dims(zeroPoint)[0], n.integer(1)});
  return n.pointwise<SubOp>({value, zero});
}

static LogicalResult importMatMulInteger(Node &n) {
  return n.result(matmul(n, centered(n, 0, 2, false), centered(n, 1, 3, true)));
}

ArrayRef<OperatorEntry> contractionOperators() {
  static const OperatorEntry entries[] = {
      {"", "Einsum", 1, anyNumber, importEinsum},
      {"", "Gemm", 2, 3, importGemm},
      {"", "MatMul", 2, 2, importMatMul},
      {"", "MatMulInteger", 2, 4, importMatMulInteger},
  };
  return entries;
}

} // namespace mlc
