//===- Named.cpp - Stages as named operators ------------------------------===//

#include "passes/Differentiate/Named.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/MovementOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

using Ids = SmallVector<unsigned>;

/// The loops at which a tensor is read, if each index is a distinct loop over
/// the whole dim.
std::optional<Ids> loopsOf(const Expr &expr, const Definition &definition,
                           const llvm::DenseMap<unsigned, IntExpr> &extents) {
  if (expr->kind != Expr::Kind::Read || expr->guarded)
    return std::nullopt;
  Ids ids;
  TensorShape shape = definition.shapeOf(expr->tensor);
  for (auto [index, dim] : llvm::zip(expr->indices(), shape.dims)) {
    bool isWhole = index->kind == Expr::Kind::Loop &&
                   !llvm::is_contained(ids, index->loop) &&
                   extents.lookup(index->loop) == dim;
    if (!isWhole)
      return std::nullopt;
    ids.push_back(index->loop);
  }
  return ids;
}

class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, const Definition &definition,
          const Stage &stage)
      : builder(builder), loc(loc), definition(definition) {
    for (const Loop &loop : stage.pieces[0].loops) {
      extents[loop.id] = loop.extent;
      outer.push_back(loop.id);
    }
    body = stage.pieces[0].body;
    if (body->kind == Expr::Kind::Reduce && body->reduce == ReduceKind::Sum) {
      for (const Loop &loop : body->loops) {
        extents[loop.id] = loop.extent;
        summed.push_back(loop.id);
      }
      body = body->operands[0];
    }
  }

  FailureOr<Value> run(llvm::function_ref<Value(TensorId)> valueOf) {
    if (summed.empty()) {
      std::optional<Ids> ids = loopsOf(body, definition, extents);
      if (!ids || ids->size() != outer.size())
        return Value();
      return inOrder(valueOf(body->tensor), *ids, outer);
    }
    if (body->kind != Expr::Kind::Binary || body->binary != BinaryFn::Mul)
      return Value();
    const Expr &a = body->operands[0], &b = body->operands[1];
    std::optional<Ids> left = loopsOf(a, definition, extents),
                       right = loopsOf(b, definition, extents);
    if (!left || !right)
      return Value();
    return product(valueOf(a->tensor), *left, valueOf(b->tensor), *right);
  }

private:
  /// `value`, with loops `from` as dims, rearranged to the dims `to`.
  FailureOr<Value> inOrder(Value value, ArrayRef<unsigned> from,
                           ArrayRef<unsigned> to) {
    if (from == to)
      return value;
    SmallVector<int64_t> permutation;
    for (unsigned id : to)
      permutation.push_back(llvm::find(from, id) - from.begin());
    return result(createOp<TransposeOp>(
        builder, loc, value, builder.getDenseI64ArrayAttr(permutation)));
  }

  template <class Op> static FailureOr<Value> result(FailureOr<Op> op) {
    return failed(op) ? FailureOr<Value>(failure())
                      : FailureOr<Value>(op->getResult());
  }

  IntExpr sizeOf(ArrayRef<unsigned> ids) const {
    IntExpr size = IntExpr::constant(builder.getContext(), 1);
    for (unsigned id : ids)
      size = size * extents.lookup(id);
    return size;
  }

  FailureOr<Value> reshape(Value value, ArrayRef<IntExpr> dims) {
    auto type = cast<RankedTensorType>(value.getType());
    if (ArrayRef<IntExpr>(*mlc::getDims(type)) == dims)
      return value;
    return result(createOp<ReshapeOp>(
        builder, loc, value, DimsAttr::get(builder.getContext(), dims)));
  }

  /// `value` as matrices: batch dims, then all of `rows` and all of `columns`.
  FailureOr<Value> asMatrices(Value value, ArrayRef<unsigned> ids,
                              ArrayRef<unsigned> batch, ArrayRef<unsigned> rows,
                              ArrayRef<unsigned> columns) {
    Ids order(batch);
    llvm::append_range(order, rows);
    llvm::append_range(order, columns);
    FailureOr<Value> turned = inOrder(value, ids, order);
    if (failed(turned))
      return failure();
    return reshape(*turned, dimsOf(batch, {sizeOf(rows), sizeOf(columns)}));
  }

  SmallVector<IntExpr> dimsOf(ArrayRef<unsigned> ids,
                              ArrayRef<IntExpr> more = {}) const {
    SmallVector<IntExpr> dims;
    for (unsigned id : ids)
      dims.push_back(extents.lookup(id));
    llvm::append_range(dims, more);
    return dims;
  }

  FailureOr<Value> product(Value a, ArrayRef<unsigned> left, Value b,
                           ArrayRef<unsigned> right) {
    Ids batch, rows, columns;
    for (unsigned id : outer) {
      bool inLeft = llvm::is_contained(left, id),
           inRight = llvm::is_contained(right, id);
      if (!inLeft && !inRight)
        return Value();
      (inLeft && inRight ? batch : inLeft ? rows : columns).push_back(id);
    }
    for (unsigned id : summed)
      if (!llvm::is_contained(left, id) || !llvm::is_contained(right, id))
        return Value();
    // So that the product needs no transpose.
    if (!rows.empty() && !columns.empty() &&
        llvm::find(outer, columns[0]) < llvm::find(outer, rows[0])) {
      std::swap(a, b);
      std::swap(left, right);
      std::swap(rows, columns);
    }
    FailureOr<Value> x = asMatrices(a, left, batch, rows, summed);
    FailureOr<Value> y = asMatrices(b, right, batch, summed, columns);
    if (failed(x) || failed(y))
      return failure();
    FailureOr<Value> z = result(createOp<MatMulOp>(builder, loc, *x, *y));
    if (failed(z))
      return failure();
    Ids order(batch);
    llvm::append_range(order, rows);
    llvm::append_range(order, columns);
    z = reshape(*z, dimsOf(order));
    return failed(z) ? z : inOrder(*z, order, outer);
  }

  OpBuilder &builder;
  Location loc;
  const Definition &definition;
  llvm::DenseMap<unsigned, IntExpr> extents;
  Ids outer, summed;
  Expr body;
};

} // namespace

FailureOr<Value> emitNamed(OpBuilder &builder, Location loc,
                           const Definition &definition, const Stage &stage,
                           llvm::function_ref<Value(TensorId)> valueOf) {
  return Emitter(builder, loc, definition, stage).run(valueOf);
}

} // namespace mlc
