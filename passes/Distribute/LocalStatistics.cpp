//===- LocalStatistics.cpp - Batch statistics of groups of samples --------===//

#include "passes/Distribute/LocalStatistics.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Base/Remedy.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

class LocalStatistics {
public:
  LocalStatistics(func::FuncOp main, IntExpr batch, int64_t groups)
      : main(main), context(main.getContext()), builder(context), batch(batch),
        groups(IntExpr::constant(context, groups)),
        size(IntExpr::constant(context, batch.getConstant() / groups)),
        one(IntExpr::constant(context, 1)) {}

  void run();

private:
  using Dims = SmallVector<IntExpr>;
  static Dims dimsOf(Value value) {
    return *getDims(cast<RankedTensorType>(value.getType()));
  }
  RankedTensorType typeOf(ArrayRef<IntExpr> dims, Value like) {
    return getTensorType(dims, getElementTypeOrSelf(like.getType()));
  }
  Value reshape(Value value, const Dims &dims);
  Value broadcast(Value value, const Dims &dims);
  bool isStatistic(ReduceOp op) const;
  bool isDependent(Value value);
  void group(ReduceOp op);
  Value inGroups(Value value);
  void spread(BroadcastOp op);

  func::FuncOp main;
  MLIRContext *context;
  OpBuilder builder;
  IntExpr batch, groups, size, one;
  /// Values with a first dim of 1, the first group's, mapped to those of all
  /// groups.
  llvm::DenseMap<Value, Value> grouped;
  llvm::DenseMap<Value, bool> dependent;
};

} // namespace

Value LocalStatistics::reshape(Value value, const Dims &dims) {
  return ReshapeOp::create(builder, value.getLoc(), typeOf(dims, value), value,
                           DimsAttr::get(context, dims));
}

Value LocalStatistics::broadcast(Value value, const Dims &dims) {
  return BroadcastOp::create(builder, value.getLoc(), typeOf(dims, value),
                             value, DimsAttr::get(context, dims));
}

bool LocalStatistics::isStatistic(ReduceOp op) const {
  Dims dims = dimsOf(op.getX());
  if (op.getKind() != Reduction::Mean || dims.size() < 2 || dims[0] != batch ||
      op.getAxes().size() + 1 != dims.size())
    return false;
  return llvm::is_contained(op.getAxes(), 0) &&
         !llvm::is_contained(op.getAxes(), 1);
}

/// Reduces [B, C, ...] as [N, B / N, C, ...].
void LocalStatistics::group(ReduceOp op) {
  builder.setInsertionPoint(op);
  Dims dims = dimsOf(op.getX()), result = dimsOf(op.getResult());
  dims[0] = size;
  dims.insert(dims.begin(), groups);
  SmallVector<int64_t> axes;
  for (int64_t axis : op.getAxes())
    axes.push_back(axis + 1);
  Dims reduced = result;
  reduced.insert(reduced.begin(), groups);
  Value mean =
      ReduceOp::create(builder, op.getLoc(), typeOf(reduced, op.getX()),
                       reshape(op.getX(), dims), Reduction::Mean, axes);
  Dims all = result;
  all[0] = groups;
  Value of = reshape(mean, all);
  Dims starts(result.size(), IntExpr::constant(context, 0)),
      steps(result.size(), one);
  Value first = SliceOp::create(
      builder, op.getLoc(), op.getType(), of, DimsAttr::get(context, starts),
      DimsAttr::get(context, result), DimsAttr::get(context, steps));
  op.getResult().replaceAllUsesWith(first);
  op.erase();
  grouped[first] = of;
  dependent[first] = true;
}

/// Whether a value with a first dim of 1 is computed from statistics, element
/// by element.
bool LocalStatistics::isDependent(Value value) {
  auto [it, isNew] = dependent.insert({value, false});
  if (!isNew)
    return it->second;
  auto op = value.getDefiningOp<DefinitionOpInterface>();
  if (!op || op->getNumResults() != 1)
    return false;
  FailureOr<Definition> definition = getDefinition(op);
  if (failed(definition) || !getKind(*definition).isElementwise)
    return false;
  bool depends = llvm::any_of(
      op->getOperands(), [&](Value operand) { return isDependent(operand); });
  return dependent[value] = depends;
}

/// `value`, with a first dim of 1, for every group.
Value LocalStatistics::inGroups(Value value) {
  if (Value known = grouped.lookup(value))
    return known;
  Dims dims = dimsOf(value);
  dims[0] = groups;
  if (!isDependent(value))
    return grouped[value] = broadcast(value, dims);
  Operation *op = value.getDefiningOp();
  IRMapping map;
  for (Value operand : op->getOperands())
    map.map(operand, inGroups(operand));
  Operation *copy = builder.clone(*op, map);
  copy->getResult(0).setType(typeOf(dims, value));
  return grouped[value] = copy->getResult(0);
}

/// A broadcast to every sample becomes one to the samples of each group.
void LocalStatistics::spread(BroadcastOp op) {
  Dims from = dimsOf(op.getX()), to = dimsOf(op.getResult());
  if (from.empty() || from[0] != one || to[0] != batch ||
      !isDependent(op.getX()))
    return;
  builder.setInsertionPoint(op);
  Value of = inGroups(op.getX());
  from = dimsOf(of);
  from.insert(from.begin() + 1, one);
  Dims samples = to;
  samples[0] = size;
  samples.insert(samples.begin(), groups);
  Value repeated = broadcast(reshape(of, from), samples);
  op.getResult().replaceAllUsesWith(reshape(repeated, to));
  op.erase();
}

void LocalStatistics::run() {
  for (Operation &op : llvm::make_early_inc_range(main.getBody().front())) {
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && isStatistic(reduce))
      group(reduce);
    else if (auto repeat = dyn_cast<BroadcastOp>(op))
      spread(repeat);
  }
}

LogicalResult localizeStatistics(func::FuncOp main, int64_t groups) {
  for (BlockArgument argument : main.getArguments()) {
    auto dims = getDims(cast<RankedTensorType>(argument.getType()));
    if (main.getArgAttr(argument.getArgNumber(), kParameterAttr) ||
        dims->empty())
      continue;
    IntExpr batch = dims->front();
    if (!batch.isConstant() || batch.getConstant() % groups != 0)
      return main.emitError()
             << "a batch of " << batch.str() << " samples is not one of "
             << groups << " groups of as many"
             << Remedy{Remedy::Kind::ChangeBatch}
             << Remedy{Remedy::Kind::GlobalStatistics};
    LocalStatistics(main, batch, groups).run();
    return success();
  }
  return success();
}

#define GEN_PASS_DEF_LOCALSTATISTICSPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct LocalStatisticsPass
    : impl::LocalStatisticsPassBase<LocalStatisticsPass> {
  using LocalStatisticsPassBase::LocalStatisticsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireForm(*this, module, Form::Graph)))
      return signalPassFailure();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock() || groups < 1) {
      module.emitError("needs a function @main of one block, and groups from "
                       "1 on");
      return signalPassFailure();
    }
    if (failed(localizeStatistics(main, groups)))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlc
