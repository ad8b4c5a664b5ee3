//===- DataParallel.cpp - Training with the batch split over ranks --------===//

#include "passes/Distribute/DataParallel.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Module/States.h"
#include "dialects/Module/TrainingFacts.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Base/Remedy.h"
#include "passes/Distribute/Mesh.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

using runtime::ZeroStage;

// The dialect's default for dist.prefetch_limit is the plans' default.
static_assert(dist::kPrefetchLimit == runtime::defaultPrefetchLimit);

std::optional<unsigned> findSplitDim(RankedTensorType type, int64_t ranks) {
  std::optional<unsigned> best;
  // Compares the largest part times the number of ranks over the extent.
  auto isBetter = [&](int64_t extent, int64_t than) {
    return llvm::divideCeil(extent, ranks) * than <
           llvm::divideCeil(than, ranks) * extent;
  };
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(extent) && extent >= ranks &&
        (!best || isBetter(extent, type.getDimSize(*best))))
      best = d;
  return best;
}

namespace {

class Distribution {
public:
  Distribution(ModuleOp module, const DataParallelOptions &options)
      : module(module), options(options), b(module.getContext()) {}

  LogicalResult run();

private:
  dist::ShardingAttr splitAlong(unsigned dim, size_t rank);
  dist::ShardingAttr termOfSum(size_t rank);
  dist::ShardingAttr shardingOf(StringRef state, RankedTensorType type);
  LogicalResult distribute(func::FuncOp entry);
  void findMasters();
  LogicalResult checkServer();
  void reduceHalves(func::FuncOp entry);
  LogicalResult checkSamples(func::FuncOp entry, unsigned first,
                             unsigned argument);

  ModuleOp module;
  const DataParallelOptions &options;
  Builder b;
  /// Some weights have rounded copies: the masters are the optimizer's then.
  bool hasMasters = false;
};

} // namespace

dist::ShardingAttr Distribution::splitAlong(unsigned dim, size_t rank) {
  dist::ShardingAttr::Axes dims(rank);
  dims[dim] = {runtime::kDataAxis};
  return dist::ShardingAttr::get(b.getContext(), dims);
}

/// A sharding for the sum of the ranks' tensors.
dist::ShardingAttr Distribution::termOfSum(size_t rank) {
  auto whole = dist::ShardingAttr::getReplicated(b.getContext(), rank);
  return dist::ShardingAttr::get(
      b.getContext(), whole.getDims(),
      dist::Partial{b.getStringAttr(runtime::kDataAxis), Reduction::Sum});
}

dist::ShardingAttr Distribution::shardingOf(StringRef state,
                                            RankedTensorType type) {
  using Role = runtime::StateRole;
  const StateUse use = getStateUse(module, state);
  const bool isRead = use.role == Role::Rounded ||
                      use.role == Role::Statistic ||
                      (use.role == Role::Weight &&
                       findState(module, Role::Rounded, use.owner).empty());
  const bool isGradient = use.role == Role::GradientSum;
  ZeroStage since = isRead       ? ZeroStage::Weights
                    : isGradient ? ZeroStage::Gradients
                                 : ZeroStage::OptimizerStates;
  // Each rank updates the whole running statistic.
  if (options.zero >= since && use.role != Role::Statistic)
    if (auto dim = findSplitDim(type, options.ranks))
      return splitAlong(*dim, type.getRank());
  return isGradient ? termOfSum(type.getRank())
                    : dist::ShardingAttr::getReplicated(b.getContext(),
                                                        type.getRank());
}

LogicalResult Distribution::checkSamples(func::FuncOp entry, unsigned first,
                                         unsigned argument) {
  auto samplesOf = [&](unsigned i) {
    return (
        *getDims(cast<RankedTensorType>(entry.getArgument(i).getType())))[0];
  };
  auto nameOf = [&](unsigned i) {
    auto name = entry.getArgAttrOfType<StringAttr>(i, "mlc.name");
    return name ? name.getValue() : StringRef();
  };
  IntExpr samples = samplesOf(argument);
  if (samples != samplesOf(first))
    return entry.emitError()
           << "cannot be split over ranks: the input '" << nameOf(argument)
           << "' has " << samples.str() << " in its first dim, which is the "
           << "sample, and '" << nameOf(first) << "' "
           << samplesOf(first).str();
  if (!samples.isConstant() || samples.getConstant() < options.ranks)
    return entry.emitError()
           << "a batch of " << samples.str() << " samples is not one for "
           << options.ranks << " ranks, each of which takes one at least"
           << Remedy{Remedy::Kind::ChangeBatch};
  return success();
}

LogicalResult Distribution::distribute(func::FuncOp entry) {
  if (hasMasters)
    reduceHalves(entry);
  std::optional<unsigned> first;
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (failed(checkTensor(entry, argument.getType(), "argument " + Twine(i))))
      return failure();
    auto type = cast<RankedTensorType>(argument.getType());
    if (auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr)) {
      entry.setArgAttr(i, dist::kShardingAttr, shardingOf(state, type));
      continue;
    }
    if (type.getRank() == 0)
      continue;
    if (!first)
      first = i;
    if (failed(checkSamples(entry, *first, i)))
      return failure();
    entry.setArgAttr(i, dist::kShardingAttr, splitAlong(0, type.getRank()));
  }
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    auto state = entry.getResultAttrOfType<StringAttr>(i, kStateAttr);
    entry.setResultAttr(i, dist::kShardingAttr,
                        state ? shardingOf(state, tensor)
                        : options.returnsTerms
                            ? termOfSum(tensor.getRank())
                            : dist::ShardingAttr::getReplicated(
                                  b.getContext(), tensor.getRank()));
  }
  return success();
}

void Distribution::findMasters() {
  for (auto entry : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr))
        hasMasters |=
            getStateUse(module, state).role == runtime::StateRole::Rounded;
}

/// A server sees no samples, so it cannot update statistics.
LogicalResult Distribution::checkServer() {
  if (!options.returnsTerms)
    return success();
  for (auto entry : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr);
      StateUse use = state ? getStateUse(module, state) : StateUse();
      if (use.role == runtime::StateRole::Statistic)
        return module.emitError()
               << "moves '" << use.owner
               << "' by statistics of batches, of which a server sees "
                  "nothing"
               << Remedy{Remedy::Kind::Freeze, use.owner.str()}
               << Remedy{Remedy::Kind::SumBetweenRanks};
    }
  return success();
}

/// With kept 16-bit weights, their gradients are summed over ranks in 16 bits
/// and widened afterwards. An entry that accumulates gradients rounds them
/// itself.
void Distribution::reduceHalves(func::FuncOp entry) {
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (auto state = entry.getResultAttrOfType<StringAttr>(i, kStateAttr);
        state &&
        getStateUse(module, state).role == runtime::StateRole::GradientSum)
      return;
  auto bitsOf = [](Value value) {
    Type type = getElementTypeOrSelf(value.getType());
    return isa<FloatType>(type) ? type.getIntOrFloatBitWidth() : 0;
  };
  // A gradient's cast may be any operator with a definition.
  entry.walk([&](Operation *op) {
    if (op->getNumOperands() == 1 && op->getNumResults() == 1 &&
        bitsOf(op->getOperand(0)) == 16 && bitsOf(op->getResult(0)) > 16)
      op->setAttr(dist::kReduceFirstAttr, b.getUnitAttr());
  });
}

LogicalResult Distribution::run() {
  findMasters();
  if (failed(checkServer()))
    return failure();
  module->setAttr(dist::kMeshAttr,
                  b.getArrayAttr(dist::AxisAttr::get(
                      b.getContext(), runtime::kDataAxis,
                      IntExpr::constant(b.getContext(), options.ranks))));
  for (auto entry : module.getOps<func::FuncOp>())
    if (entry.isPublic() && failed(distribute(entry)))
      return failure();
  return success();
}

LogicalResult distributeTraining(ModuleOp module,
                                 const DataParallelOptions &options) {
  return Distribution(module, options).run();
}

#define GEN_PASS_DEF_DISTRIBUTETRAININGPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct DistributeTrainingPass
    : impl::DistributeTrainingPassBase<DistributeTrainingPass> {
  using DistributeTrainingPassBase::DistributeTrainingPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireForm(*this, module, Form::Graph)))
      return signalPassFailure();
    if (ranks < 1 || zero > unsigned(ZeroStage::Weights)) {
      module.emitError("needs ranks from 1 on and a stage of ZeRO from 0 to 3");
      return signalPassFailure();
    }
    if (failed(distributeTraining(
            module, {ranks, ZeroStage(unsigned(zero)), hasServer})))
      return signalPassFailure();
    if (prefetchLimit >= 0)
      module->setAttr(dist::kPrefetchLimitAttr,
                      Builder(module).getI64IntegerAttr(prefetchLimit));
  }
};

} // namespace

std::unique_ptr<Pass>
createDistributeTrainingPass(const runtime::TrainingPlan &plan) {
  DistributeTrainingPassOptions options;
  options.ranks = plan.ranks;
  options.zero = unsigned(plan.zero);
  options.hasServer = plan.hasServer;
  if (plan.zero >= ZeroStage::Gradients)
    options.prefetchLimit = plan.prefetchLimit;
  return createDistributeTrainingPass(std::move(options));
}

} // namespace mlc
