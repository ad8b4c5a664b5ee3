//===- RunCollective.cpp - A collective on given tensors ------------------===//

#include "passes/Distribute/RunCollective.h"
#include "passes/Distribute/Mesh.h"

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

  /// Carries out any collective that the runtime has a row for.
  Expected<EvalTensor> run(Operation *op, const runtime::rows::Row &row) {
    if (auto blocks = dyn_cast<dist::AllToAllOp>(op)) {
      Expected<EvalTensor> all =
          joinParts(context, group.tensors, blocks.getJoin(), options);
      return all ? takeOwn(*all, blocks.getSplit()) : std::move(all);
    }
    auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dims");
    Expected<EvalTensor> all =
        row.input == runtime::rows::Part
            ? joinParts(context, group.tensors, dims[operand], options)
            : fromRanks(op, row);
    return all && row.output == runtime::rows::Part
               ? takeOwn(*all, dims[operand])
               : std::move(all);
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
  /// What whole tensors of all ranks give.
  Expected<EvalTensor> fromRanks(Operation *op, const runtime::rows::Row &row) {
    if (row.reduces()) {
      auto word = op->getAttrOfType<StringAttr>("reduction");
      return reduceRanks(context, group.tensors,
                         reduceKindOf(*symbolizeReduction(word.getValue())),
                         options);
    }
    if (!row.hasNumber())
      return group.tensors[rank];
    const int64_t number = op->getAttrOfType<IntegerAttr>(row.number).getInt();
    const auto ranks = int64_t(group.tensors.size());
    const int64_t from = row.hasRoot() ? number : int64_t(rank) - number;
    if (from >= 0 && from < ranks)
      return group.tensors[from];
    if (row.hasRoot())
      return evalError(EvalFailure::Input, "there is no rank " +
                                               llvm::Twine(number) + " among " +
                                               llvm::Twine(ranks));
    return zeros(context, group.tensors[rank].getDims(), group.tensors[rank],
                 options);
  }

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
  auto run = [&]() -> Expected<EvalTensor> {
    if (const runtime::rows::Row *row = dist::findRow(op))
      return runner.run(op, *row);
    if (auto halo = dyn_cast<dist::HaloOp>(op))
      return runner.run(halo);
    return evalError(EvalFailure::Unsupported,
                     "nothing carries out " + op->getName().getStringRef());
  };
  Expected<EvalTensor> result = run();
  if (result && result->getDims() != ArrayRef(group.resultDims[rank]))
    return evalError(EvalFailure::Input,
                     "rank " + llvm::Twine(rank) +
                         " gets other dims than the operator's type says");
  return result;
}

} // namespace mlc
