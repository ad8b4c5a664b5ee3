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
#include "passes/Distribute/Pin.h"
#include "passes/Distribute/Shard.h"
#include "runtime/plan/Nearest.h"
#include <map>
#include <set>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

using runtime::ZeroStage;

// The dialect's default for dist.prefetch_limit is the plans' default.
static_assert(dist::kPrefetchLimit == runtime::defaultPrefetchLimit);

std::optional<unsigned> findSplitDim(RankedTensorType type, int64_t ranks,
                                     const dist::ShardingAttr::Axes &taken) {
  std::optional<unsigned> best;
  // Compares the largest part times the number of ranks over the extent.
  auto isBetter = [&](int64_t extent, int64_t than) {
    return llvm::divideCeil(extent, ranks) * than <
           llvm::divideCeil(than, ranks) * extent;
  };
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(extent) && extent >= ranks &&
        (taken.empty() || taken[d].empty()) &&
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
  dist::ShardingAttr make(const dist::ShardingAttr::Axes &dims,
                          bool isTerm = false);
  FailureOr<dist::ShardingAttr::Axes>
  findAxes(func::FuncOp entry, StringRef name, RankedTensorType type);
  FailureOr<dist::ShardingAttr> shardingOf(func::FuncOp entry, StringRef state,
                                           RankedTensorType type);
  FailureOr<dist::ShardingAttr> shardingOfInput(func::FuncOp entry, unsigned i);
  LogicalResult checkShardings();
  LogicalResult distribute(func::FuncOp entry);
  void findMasters();
  LogicalResult checkServer();
  void reduceHalves(func::FuncOp entry);
  int64_t countSampleRanks() const;
  LogicalResult checkSamples(func::FuncOp entry, unsigned first,
                             unsigned argument);

  ModuleOp module;
  const DataParallelOptions &options;
  Builder b;
  /// Some weights have rounded copies: the masters are the optimizer's then.
  bool hasMasters = false;
};

} // namespace

/// Of these dims; a term is each rank's part of a sum over samples.
dist::ShardingAttr Distribution::make(const dist::ShardingAttr::Axes &dims,
                                      bool isTerm) {
  auto split = dist::ShardingAttr::get(b.getContext(), dims);
  return isTerm ? dist::ShardingAttr::get(
                      b.getContext(), split.getDims(),
                      dist::Partial{b.getStringAttr(runtime::kDataAxis),
                                    Reduction::Sum})
                : split;
}

/// The axes that split the dims of a weight or an input.
FailureOr<dist::ShardingAttr::Axes>
Distribution::findAxes(func::FuncOp entry, StringRef name,
                       RankedTensorType type) {
  dist::ShardingAttr::Axes dims(type.getRank());
  const runtime::TensorSharding *sharding =
      runtime::findSharding(options.shardings, name.str());
  if (!sharding)
    return dims;
  if (sharding->axes.size() > dims.size())
    return entry.emitError()
           << "'" << name << "' has " << dims.size()
           << " dims, and the sharding of '" << sharding->pattern
           << "' says how " << sharding->axes.size() << " are split";
  for (auto [dim, axes] : llvm::zip(dims, sharding->axes))
    dim.assign(axes.begin(), axes.end());
  return dims;
}

FailureOr<dist::ShardingAttr> Distribution::shardingOf(func::FuncOp entry,
                                                       StringRef state,
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
  auto axes = findAxes(entry, use.owner, type);
  if (failed(axes))
    return failure();
  for (const auto &dim : *axes)
    if (llvm::is_contained(dim, StringRef(runtime::kDataAxis)))
      return entry.emitError()
             << "the weight '" << use.owner
             << "' is split over the axis data, which splits samples; ZeRO "
                "splits weights over it";
  // Each rank updates the whole running statistic.
  if (options.zero >= since && use.role != Role::Statistic)
    if (auto dim = findSplitDim(type, options.ranks, *axes)) {
      (*axes)[*dim].push_back(runtime::kDataAxis);
      return make(*axes);
    }
  return make(*axes, isGradient);
}

FailureOr<dist::ShardingAttr> Distribution::shardingOfInput(func::FuncOp entry,
                                                            unsigned i) {
  auto type = cast<RankedTensorType>(entry.getArgument(i).getType());
  auto name = entry.getArgAttrOfType<StringAttr>(i, "mlc.name");
  auto axes = findAxes(entry, name ? name.getValue() : StringRef(), type);
  if (failed(axes))
    return failure();
  auto &first = axes->front();
  if (!first.empty() && first.front() != StringRef(runtime::kDataAxis))
    return entry.emitError()
           << "the input " << name
           << " is split into samples over the axis data, not over '"
           << first.front() << "'; give data, or -, for its first dim";
  first = {runtime::kDataAxis};
  return make(*axes);
}

/// A name that fits nothing is a mistake.
LogicalResult Distribution::checkShardings() {
  std::set<std::string> names;
  for (auto entry : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr))
        names.insert(getStateUse(module, state).owner.str());
      else if (auto name = entry.getArgAttrOfType<StringAttr>(i, "mlc.name"))
        names.insert(name.str());
  module.walk([&](Operation *op) {
    if (op->hasAttr(dist::kPinAttr))
      names.insert(dist::nodeOf(op).str());
  });
  for (const runtime::TensorSharding &sharding : options.shardings) {
    if (llvm::any_of(names, [&](const std::string &name) {
          return runtime::matchesName(sharding.pattern, name);
        }))
      continue;
    std::vector<std::string_view> known(names.begin(), names.end());
    std::string_view nearest = runtime::nearestName(sharding.pattern, known);
    return module.emitError()
           << "no trained weight, input or node is called '" << sharding.pattern
           << "'"
           << (nearest.empty()
                   ? ""
                   : "; did you mean '" + std::string(nearest) + "'?");
  }
  return success();
}

/// The most ranks that take samples in any stage.
int64_t Distribution::countSampleRanks() const {
  std::map<int64_t, int64_t> factors;
  int64_t most = 1;
  for (const auto &[name, stages] : options.batchStages)
    for (const runtime::MeshAxis &axis : options.axes)
      for (int64_t stage : stages)
        if (axis.name == name) {
          int64_t &factor = factors.try_emplace(stage, 1).first->second;
          most = std::max(most, factor *= axis.size);
        }
  return options.ranks * most;
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
  const int64_t ranks = countSampleRanks();
  if (!samples.isConstant() || samples.getConstant() < ranks)
    return entry.emitError()
           << "a batch of " << samples.str() << " samples is not one for "
           << ranks << " ranks, each of which takes one at least"
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
      auto sharding = shardingOf(entry, state, type);
      if (failed(sharding))
        return failure();
      entry.setArgAttr(i, dist::kShardingAttr, *sharding);
      continue;
    }
    if (type.getRank() == 0)
      continue;
    if (!first)
      first = i;
    if (failed(checkSamples(entry, *first, i)))
      return failure();
    auto sharding = shardingOfInput(entry, i);
    if (failed(sharding))
      return failure();
    entry.setArgAttr(i, dist::kShardingAttr, *sharding);
  }
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    auto state = entry.getResultAttrOfType<StringAttr>(i, kStateAttr);
    if (!state) {
      entry.setResultAttr(i, dist::kShardingAttr,
                          make(dist::ShardingAttr::Axes(tensor.getRank()),
                               options.returnsTerms));
      continue;
    }
    auto sharding = shardingOf(entry, state, tensor);
    if (failed(sharding))
      return failure();
    entry.setResultAttr(i, dist::kShardingAttr, *sharding);
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
  SmallVector<Attribute> mesh;
  auto addAxis = [&](StringRef name, int64_t ranks) {
    mesh.push_back(dist::AxisAttr::get(
        b.getContext(), name, IntExpr::constant(b.getContext(), ranks)));
  };
  for (const runtime::MeshAxis &axis : options.axes) {
    if (mesh.size() == options.outerAxes)
      addAxis(runtime::kDataAxis, options.ranks);
    addAxis(axis.name, axis.size);
  }
  if (mesh.size() == options.axes.size())
    addAxis(runtime::kDataAxis, options.ranks);
  module->setAttr(dist::kMeshAttr, b.getArrayAttr(mesh));
  SmallVector<NamedAttribute> batch;
  for (const auto &[name, stages] : options.batchStages)
    batch.push_back(b.getNamedAttr(name, b.getDenseI64ArrayAttr(stages)));
  if (!batch.empty())
    module->setAttr(dist::kBatchStagesAttr, b.getDictionaryAttr(batch));
  for (auto entry : module.getOps<func::FuncOp>())
    if (entry.isPublic() && failed(distribute(entry)))
      return failure();
  return checkShardings();
}

LogicalResult distributeTraining(ModuleOp module,
                                 const DataParallelOptions &options) {
  return Distribution(module, options).run();
}

#define GEN_PASS_DEF_DISTRIBUTETRAININGPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Reads "AXIS=STAGE:...", each axis once.
LogicalResult readBatchStages(ModuleOp module, ArrayRef<std::string> texts,
                              const runtime::Plan &plan,
                              DataParallelOptions::BatchStages &batch) {
  for (StringRef text : texts) {
    auto [name, list] = text.split('=');
    auto isAxis = [name = name](const auto &axis) { return axis.name == name; };
    auto isKnown = [name = name](const auto &one) { return one.first == name; };
    std::vector<int64_t> stages;
    SmallVector<StringRef> parts;
    list.split(parts, ':');
    bool isRead = name != runtime::kDataAxis &&
                  llvm::any_of(plan.mesh, isAxis) &&
                  llvm::none_of(batch, isKnown);
    for (StringRef part : parts)
      isRead &=
          !part.getAsInteger(10, stages.emplace_back()) && stages.back() >= 0;
    if (!isRead)
      return module.emitError()
             << "expected axes after data with stages, as AXIS=0:2, not '"
             << text << "'";
    batch.emplace_back(name.str(), std::move(stages));
  }
  return success();
}

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
    runtime::Plan plan;
    if (auto status = plan.addAxis(runtime::kDataAxis, ranks); !status.ok()) {
      module.emitError() << "the mesh " << status.message;
      return signalPassFailure();
    }
    if (failed(readAxes(module, mesh, plan)) ||
        failed(readShardings(module, shardings, plan)))
      return signalPassFailure();
    DataParallelOptions::BatchStages batch;
    if (failed(readBatchStages(module, batchStages, plan, batch)))
      return signalPassFailure();
    plan.mesh.erase(plan.mesh.begin());
    if (outerAxes > plan.mesh.size()) {
      module.emitError() << outerAxes << " axes come before data, and there "
                         << (plan.mesh.size() == 1 ? "is " : "are ")
                         << plan.mesh.size();
      return signalPassFailure();
    }
    if (failed(distributeTraining(
            module, {ranks, std::move(plan.mesh), size_t(outerAxes),
                     std::move(plan.shardings), std::move(batch),
                     ZeroStage(unsigned(zero)), hasServer})))
      return signalPassFailure();
    if (prefetchLimit >= 0)
      module->setAttr(dist::kPrefetchLimitAttr,
                      Builder(module).getI64IntegerAttr(prefetchLimit));
  }
};

} // namespace

std::unique_ptr<Pass> createDistributeTrainingPass(const runtime::Plan &plan) {
  const runtime::TrainingPlan &training = *plan.training;
  DistributeTrainingPassOptions options;
  options.ranks = training.ranks;
  options.zero = unsigned(training.zero);
  options.hasServer = training.hasServer;
  options.outerAxes = training.stages.isOutermost;
  if (training.zero >= ZeroStage::Gradients)
    options.prefetchLimit = training.prefetchLimit;
  for (const runtime::MeshAxis &axis : training.mesh())
    if (axis.name != runtime::kDataAxis)
      options.mesh.push_back(textOf(axis));
  for (const runtime::TensorSharding &sharding : plan.shardings)
    options.shardings.push_back(textOf(sharding));
  for (const runtime::MeshAxis &axis : training.axes) {
    std::string stages;
    for (auto [stage, axes] : llvm::enumerate(training.stages.batchAxes))
      if (llvm::is_contained(axes, axis.name))
        stages += (stages.empty() ? "=" : ":") + std::to_string(stage);
    if (!stages.empty())
      options.batchStages.push_back(axis.name + stages);
  }
  return createDistributeTrainingPass(std::move(options));
}

} // namespace mlc
