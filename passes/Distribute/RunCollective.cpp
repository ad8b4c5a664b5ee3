//===- RunCollective.cpp - A collective on given tensors ------------------===//

#include "passes/Distribute/RunCollective.h"
#include "passes/Distribute/Mesh.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc {

namespace {

/// A definition over existing tensors, with their dims as numbers.
class OnTensors {
public:
  OnTensors(MLIRContext *context, ArrayRef<EvalTensor> tensors,
            const EvalOptions &options)
      : tensors(tensors), options(options), b(context, shapes(context)) {}

  Expected<EvalTensor> run(unsigned stage) {
    b.result(stage);
    auto results = evaluate(b.take(), tensors, options);
    if (!results)
      return results.takeError();
    return std::move(results->front());
  }

  Expected<EvalTensor> run(ArrayRef<int64_t> dims,
                           const DefinitionBuilder::Body &body) {
    return run(b.stage("y", numbers(dims), type(), body));
  }

  SmallVector<IntExpr> numbers(ArrayRef<int64_t> dims) const {
    SmallVector<IntExpr> out;
    for (int64_t dim : dims)
      out.push_back(IntExpr::constant(b.getContext(), dim));
    return out;
  }

  Type type() const { return tensors.front().getElementType(); }
  DefinitionBuilder &builder() { return b; }

private:
  SmallVector<TensorShape> shapes(MLIRContext *context) const {
    SmallVector<TensorShape> all;
    for (const EvalTensor &tensor : tensors) {
      TensorShape shape{{}, tensor.getElementType()};
      for (int64_t dim : tensor.getDims())
        shape.dims.push_back(IntExpr::constant(context, dim));
      all.push_back(std::move(shape));
    }
    return all;
  }

  ArrayRef<EvalTensor> tensors;
  const EvalOptions &options;
  DefinitionBuilder b;
};

BinaryFn functionOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Prod:
    return BinaryFn::Mul;
  case ReduceKind::Max:
    return BinaryFn::Max;
  case ReduceKind::Min:
    return BinaryFn::Min;
  default:
    return BinaryFn::Add;
  }
}

/// Zeros, for elements that no rank has.
Expected<EvalTensor> zeros(MLIRContext *context, ArrayRef<int64_t> dims,
                           const EvalTensor &like, const EvalOptions &options) {
  OnTensors on(context, like, options);
  return on.run(dims, [&](ArrayRef<Expr>) {
    return on.builder().constant(on.type(), 0);
  });
}

class GroupRunner {
public:
  GroupRunner(Operation *op, unsigned operand, const RankGroup &group,
              unsigned rank, const EvalOptions &options)
      : context(op->getContext()), operand(operand), group(group), rank(rank),
        options(options) {}

  Expected<EvalTensor> run(dist::AllReduceOp op) {
    return reduceRanks(context, group.tensors, reduceKindOf(op.getReduction()),
                       options);
  }

  Expected<EvalTensor> run(dist::ReduceScatterOp op) {
    Expected<EvalTensor> all = reduceRanks(
        context, group.tensors, reduceKindOf(op.getReduction()), options);
    if (!all)
      return all;
    return takeOwn(*all, op.getDims()[operand]);
  }

  Expected<EvalTensor> run(dist::AllGatherOp op) {
    return joinParts(context, group.tensors, op.getDims()[operand], options);
  }

  Expected<EvalTensor> run(dist::AllToAllOp op) {
    Expected<EvalTensor> all =
        joinParts(context, group.tensors, op.getJoin(), options);
    if (!all)
      return all;
    return takeOwn(*all, op.getSplit());
  }

  Expected<EvalTensor> run(dist::BroadcastOp op) {
    if (op.getRoot() >= group.tensors.size())
      return evalError(EvalFailure::Input,
                       "there is no rank " + llvm::Twine(op.getRoot()) +
                           " among " + llvm::Twine(group.tensors.size()));
    return group.tensors[op.getRoot()];
  }

  Expected<EvalTensor> run(dist::ShiftOp op) {
    int64_t from = int64_t(rank) - int64_t(op.getBy());
    if (from >= 0 && from < int64_t(group.tensors.size()))
      return group.tensors[from];
    return zeros(context, group.tensors[rank].getDims(), group.tensors[rank],
                 options);
  }

  Expected<EvalTensor> run(dist::HaloOp op) {
    unsigned dim = op.getDim();
    Expected<EvalTensor> low = beside(-1, dim, op.getLow());
    if (!low)
      return low;
    Expected<EvalTensor> high = beside(1, dim, op.getHigh());
    if (!high)
      return high;
    return joinParts(context, {*low, group.tensors[rank], *high}, dim, options);
  }

private:
  /// This rank's part of the values received for all.
  Expected<EvalTensor> takeOwn(const EvalTensor &all, unsigned dim) {
    SmallVector<int64_t> begin(all.getDims().size(), 0);
    for (const auto &dims : group.resultDims.take_front(rank))
      begin[dim] += dims[dim];
    return takePart(context, all, begin, group.resultDims[rank], options);
  }

  /// The nearest `count` elements of the previous or next rank.
  Expected<EvalTensor> beside(int64_t by, unsigned dim, int64_t count) {
    SmallVector<int64_t> dims(group.tensors[rank].getDims());
    dims[dim] = count;
    int64_t from = int64_t(rank) + by;
    if (from < 0 || from >= int64_t(group.tensors.size()))
      return zeros(context, dims, group.tensors[rank], options);
    const EvalTensor &other = group.tensors[from];
    int64_t has = other.getDims()[dim];
    if (has < count)
      return evalError(EvalFailure::Requirement,
                       "a halo of " + llvm::Twine(count) +
                           " elements is more than the " + llvm::Twine(has) +
                           " that rank " + llvm::Twine(from) +
                           " has; use fewer ranks");
    SmallVector<int64_t> begin(dims.size(), 0);
    if (by < 0)
      begin[dim] = has - count;
    return takePart(context, other, begin, dims, options);
  }

  MLIRContext *context;
  unsigned operand;
  const RankGroup &group;
  unsigned rank;
  const EvalOptions &options;
};

} // namespace

Expected<EvalTensor> joinParts(MLIRContext *context, ArrayRef<EvalTensor> parts,
                               unsigned dim, const EvalOptions &options) {
  OnTensors on(context, parts, options);
  DefinitionBuilder &b = on.builder();
  SmallVector<DefinitionBuilder::PieceSpec> pieces;
  SmallVector<int64_t> dims(parts.front().getDims());
  dims[dim] = 0;
  for (unsigned k = 0; k < parts.size(); ++k) {
    SmallVector<int64_t> offset(dims.size(), 0);
    offset[dim] = dims[dim];
    dims[dim] += parts[k].getDims()[dim];
    pieces.push_back({on.numbers(offset), on.numbers(parts[k].getDims()),
                      [&b, k](ArrayRef<Expr> i) { return b.read(k, i); }});
  }
  return on.run(b.piecewiseStage("y", on.numbers(dims), on.type(), pieces));
}

Expected<EvalTensor> reduceRanks(MLIRContext *context,
                                 ArrayRef<EvalTensor> tensors, ReduceKind kind,
                                 const EvalOptions &options) {
  OnTensors on(context, tensors, options);
  return on.run(tensors.front().getDims(), [&](ArrayRef<Expr> i) {
    Expr all = on.builder().read(0, i);
    for (unsigned k = 1; k < tensors.size(); ++k)
      all = binary(functionOf(kind), all, on.builder().read(k, i));
    return all;
  });
}

Expected<EvalTensor> takePart(MLIRContext *context, const EvalTensor &whole,
                              ArrayRef<int64_t> begin, ArrayRef<int64_t> dims,
                              const EvalOptions &options) {
  OnTensors on(context, whole, options);
  SmallVector<IntExpr> from = on.numbers(begin);
  return on.run(dims, [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at;
    for (auto [index, first] : llvm::zip_equal(i, from))
      at.push_back(index + first);
    return on.builder().read(0, at);
  });
}

Expected<EvalTensor> runCollective(Operation *op, unsigned operand,
                                   const RankGroup &group, unsigned rank,
                                   const EvalOptions &options) {
  GroupRunner runner(op, operand, group, rank, options);
  Expected<EvalTensor> result =
      llvm::TypeSwitch<Operation *, Expected<EvalTensor>>(op)
          .Case<dist::AllReduceOp, dist::ReduceScatterOp, dist::AllGatherOp,
                dist::AllToAllOp, dist::BroadcastOp, dist::ShiftOp,
                dist::HaloOp>([&](auto one) { return runner.run(one); })
          .Default([](Operation *other) -> Expected<EvalTensor> {
            return evalError(EvalFailure::Unsupported,
                             "nothing carries out " +
                                 other->getName().getStringRef());
          });
  if (result && result->getDims() != ArrayRef(group.resultDims[rank]))
    return evalError(EvalFailure::Input,
                     "rank " + llvm::Twine(rank) +
                         " gets other dims than the operator's type says");
  return result;
}

} // namespace mlc
