//===- Products.cpp - Gradients that are matrix products ------------------===//

#include "passes/Differentiate/Products.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ContractionOps.h"
#include "passes/Differentiate/Dims.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// Dims of a tensor that are merged, the slowest first.
using Group = SmallVector<int64_t>;

template <class Op> static FailureOr<Value> result(FailureOr<Op> op) {
  return failed(op) ? FailureOr<Value>(failure())
                    : FailureOr<Value>(op->getResult());
}

static FailureOr<Value> reshape(OpBuilder &builder, Value value,
                                ArrayRef<IntExpr> dims) {
  if (ArrayRef<IntExpr>(dimsOf(value)) == dims)
    return value;
  return result(createOp<ReshapeOp>(builder, value.getLoc(), value,
                                    DimsAttr::get(builder.getContext(), dims)));
}

static FailureOr<Value> transpose(OpBuilder &builder, Value value,
                                  ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  return result(createOp<TransposeOp>(builder, value.getLoc(), value,
                                      builder.getDenseI64ArrayAttr(order)));
}

static SmallVector<IntExpr>
merged(ArrayRef<IntExpr> dims, ArrayRef<Group> groups, MLIRContext *context) {
  SmallVector<IntExpr> sizes;
  for (const Group &group : groups) {
    IntExpr size = IntExpr::constant(context, 1);
    for (int64_t dim : group)
      size = size * dims[dim];
    sizes.push_back(size);
  }
  return sizes;
}

/// `value` with one dim per group of its dims, in order. Adjacent dims are
/// merged before they are permuted, so that the transpose is one of matrices.
static FailureOr<Value> asGroups(OpBuilder &builder, Value value,
                                 SmallVector<Group> groups) {
  if (auto turned = value.getDefiningOp<TransposeOp>()) {
    value = turned.getX();
    for (Group &group : groups)
      for (int64_t &dim : group)
        dim = turned.getPermutation()[dim];
  }
  MLIRContext *context = builder.getContext();
  SmallVector<IntExpr> dims = dimsOf(value);
  bool areTogether = llvm::all_of(groups, [](const Group &group) {
    for (size_t i = 1; i < group.size(); ++i)
      if (group[i] != group[i - 1] + 1)
        return false;
    return true;
  });
  if (!areTogether) {
    SmallVector<int64_t> order;
    for (const Group &group : groups)
      llvm::append_range(order, group);
    FailureOr<Value> moved = transpose(builder, value, order);
    return failed(moved)
               ? moved
               : reshape(builder, *moved, merged(dims, groups, context));
  }
  SmallVector<Group> inPlace = groups;
  llvm::sort(inPlace);
  FailureOr<Value> matrix =
      reshape(builder, value, merged(dims, inPlace, context));
  SmallVector<int64_t> order;
  for (const Group &group : groups)
    order.push_back(llvm::find(inPlace, group) - inPlace.begin());
  return failed(matrix) ? matrix : transpose(builder, *matrix, order);
}

FailureOr<Value> repeatedFactorGradient(OpBuilder &builder, BroadcastOp op,
                                        Value cotangent) {
  auto product = cotangent.getDefiningOp<MatMulOp>();
  SmallVector<IntExpr> from = dimsOf(op.getX()), to = dimsOf(cotangent);
  if (!product || from.size() < 3)
    return Value();
  int64_t batch = int64_t(from.size()) - 2;
  Group summed, kept;
  for (int64_t d = 0; d < batch + 2; ++d)
    if (from[d] == to[d])
      kept.push_back(d);
    else if (from[d].isConstant(1) && d < batch)
      summed.push_back(d);
    else
      return Value();
  if (summed.empty())
    return Value();
  kept.pop_back_n(2);
  SmallVector<Group> left, right;
  for (int64_t d : kept) {
    left.push_back({d});
    right.push_back({d});
  }
  auto alongSum = [&](int64_t dim) {
    Group group = summed;
    group.push_back(dim);
    return group;
  };
  left.push_back({batch});
  left.push_back(alongSum(batch + 1));
  right.push_back(alongSum(batch));
  right.push_back({batch + 1});
  FailureOr<Value> a = asGroups(builder, product.getLhs(), std::move(left));
  FailureOr<Value> b = asGroups(builder, product.getRhs(), std::move(right));
  if (failed(a) || failed(b))
    return failure();
  FailureOr<Value> sum =
      result(createOp<MatMulOp>(builder, op.getLoc(), *a, *b));
  return failed(sum) ? sum : reshape(builder, *sum, from);
}

} // namespace mlc
