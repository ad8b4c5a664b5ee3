//===- Partition.cpp - One program for the ranks of a mesh ----------------===//

#include "passes/Distribute/Partition.h"
#include "dialects/Module/States.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Base/Remedy.h"
#include "passes/Distribute/Mesh.h"
#include "passes/Distribute/Pin.h"
#include "passes/Distribute/Rank.h"
#include "passes/Distribute/StagePins.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

/// A function with its shardings, to be turned into a rank's program.
class Partitioner {
public:
  Partitioner(func::FuncOp function, ArrayRef<AxisAttr> mesh,
              const PartitionOptions &options)
      : function(function), mesh(mesh), options(options) {}

  LogicalResult run() {
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "must have one block to be partitioned";
    if (failed(readAll()))
      return failure();
    SmallVector<SmallVector<IntExpr>> wholeArguments, wholeResults;
    Block &body = function.getBody().front();
    for (Value argument : body.getArguments())
      wholeArguments.push_back(dimsOf(argument));
    for (Value result : body.getTerminator()->getOperands())
      wholeResults.push_back(dimsOf(result));
    for (AxisAttr axis : mesh)
      if (failed(runAlong(axis)))
        return failure();
    writeAll(wholeArguments, wholeResults);
    return checkInputs();
  }

private:
  std::string argumentName(unsigned i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, "mlc.name");
    return name ? "input '" + name.str() + "'"
                : "argument " + std::to_string(i);
  }

  /// Reads the shardings of all arguments or results; null if unspecified.
  LogicalResult read(Attribute attribute, Type type, const Twine &what,
                     SmallVectorImpl<ShardingAttr> &shardings) {
    if (failed(checkTensor(function, type, what)))
      return failure();
    std::string problem;
    unsigned rank = cast<RankedTensorType>(type).getRank();
    if (failed(readSharding(attribute, rank, mesh, problem)))
      return function.emitError() << what << " " << problem;
    shardings.push_back(llvm::cast_or_null<ShardingAttr>(attribute));
    return success();
  }

  LogicalResult readAll() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, kWholeAttr))
        return function.emitError()
               << "argument " << i << " is a part already (" << kWholeAttr
               << "); partition a function once";
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      if (failed(read(function.getArgAttr(i, kShardingAttr), type,
                      "argument " + Twine(i), arguments)))
        return failure();
      if (!arguments.back())
        arguments.back() = ShardingAttr::getReplicated(
            function.getContext(), cast<RankedTensorType>(type).getRank());
    }
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (failed(read(function.getResultAttr(i, kShardingAttr), type,
                      "result " + Twine(i), results)))
        return failure();
    // These states have no sharding in any function (shareStates): replicate.
    for (auto [i, sharding] : llvm::enumerate(results))
      if (!sharding && function.getResultAttr(i, kStateAttr))
        sharding = ShardingAttr::getReplicated(
            function.getContext(),
            cast<RankedTensorType>(function.getResultTypes()[i]).getRank());
    found.resize(results.size());
    return success();
  }

  LogicalResult runAlong(AxisAttr axis) {
    Block &body = function.getBody().front();
    SmallVector<Place> from;
    for (auto [argument, sharding] : llvm::zip(body.getArguments(), arguments))
      from.push_back(placeOf(sharding, dimsOf(argument), axis));
    SmallVector<std::optional<Place>> to;
    for (auto [value, sharding] :
         llvm::zip(body.getTerminator()->getOperands(), results))
      to.push_back(sharding
                       ? std::optional(placeOf(sharding, dimsOf(value), axis))
                       : std::nullopt);
    // A single rank has all parts, and all terms; of an axis that splits
    // nothing, each rank has.
    const bool isUsed =
        llvm::any_of(from,
                     [](const Place &place) { return !place.isWhole(); }) ||
        llvm::any_of(to,
                     [](const std::optional<Place> &place) {
                       return place && !place->isWhole();
                     }) ||
        llvm::any_of(body,
                     [&](Operation &op) {
                       if (op.getNumResults() != 1)
                         return false;
                       std::optional<Place> pin = pinnedPlace(&op, axis);
                       return pin && pin->isSplit();
                     }) ||
        !batchStagesOf(function->getParentOfType<ModuleOp>(), axis).empty();
    if (axis.getSize().isConstant(1) || !isUsed)
      to.assign(to.size(), Place::whole());
    else if (failed(makeRank(function, from, to, axis, options)))
      return failure();
    for (auto [places, place] : llvm::zip(found, to))
      places.emplace_back(*place);
    return success();
  }

  /// The sharding of a result that had none specified.
  ShardingAttr foundSharding(unsigned result, size_t rank) {
    MLIRContext *context = function.getContext();
    ShardingAttr::Axes dims(rank);
    for (auto [axis, place] : llvm::zip(mesh, found[result]))
      if (place.isSplit())
        dims[place.dim].push_back(axis.getName());
    return ShardingAttr::get(context, dims);
  }

  void writeAll(ArrayRef<SmallVector<IntExpr>> wholeArguments,
                ArrayRef<SmallVector<IntExpr>> wholeResults) {
    MLIRContext *context = function.getContext();
    for (auto [i, dims] : llvm::enumerate(wholeArguments)) {
      function.setArgAttr(i, kShardingAttr, arguments[i]);
      if (arguments[i].isSplit())
        function.setArgAttr(i, kWholeAttr,
                            DimsAttr::get(context, ArrayRef(dims)));
    }
    for (auto [i, dims] : llvm::enumerate(wholeResults)) {
      if (!results[i])
        results[i] = foundSharding(i, dims.size());
      function.setResultAttr(i, kShardingAttr, results[i]);
      if (results[i].isSplit())
        function.setResultAttr(i, kWholeAttr,
                               DimsAttr::get(context, ArrayRef(dims)));
    }
  }

  /// A session derives symbols from the dims of its inputs.
  LogicalResult checkInputs() {
    for (auto [i, argument] :
         llvm::enumerate(function.getBody().front().getArguments()))
      for (IntExpr dim : dimsOf(argument)) {
        llvm::SetVector<StringRef> open;
        bool hasRank = false;
        dim.walkSymbols([&](StringRef symbol) {
          if (symbol.starts_with("rank."))
            hasRank = true;
          else
            open.insert(symbol);
        });
        if (open.empty() || !hasRank)
          continue;
        InFlightDiagnostic error = function.emitError()
                                   << argumentName(i)
                                   << " is split along the open dim "
                                   << llvm::join(open, ", ");
        for (StringRef symbol : open)
          error << Remedy{Remedy::Kind::FixDim, symbol.str()};
        return error;
      }
    return success();
  }

  func::FuncOp function;
  ArrayRef<AxisAttr> mesh;
  const PartitionOptions &options;
  SmallVector<ShardingAttr> arguments, results;
  /// For each result, its place along each axis.
  SmallVector<SmallVector<Place>> found;
};

} // namespace

/// All functions that name a state share one memory, so a sharding given in one
/// function holds in all.
static LogicalResult shareStates(ModuleOp module) {
  llvm::DenseMap<Attribute, Attribute> shardings;
  auto forAll = [&](auto visit) -> LogicalResult {
    for (auto function : module.getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (failed(visit(function, function.getArgAttrDict(i), i, true)))
          return failure();
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (failed(visit(function, function.getResultAttrDict(i), i, false)))
          return failure();
    }
    return success();
  };
  auto collect = [&](func::FuncOp function, DictionaryAttr attributes, unsigned,
                     bool) -> LogicalResult {
    Attribute state = attributes ? attributes.get(kStateAttr) : Attribute(),
              own = attributes ? attributes.get(kShardingAttr) : Attribute();
    if (!state || !own)
      return success();
    auto [it, isNew] = shardings.try_emplace(state, own);
    if (isNew || it->second == own)
      return success();
    return function.emitError() << "has the state " << state << " with " << own
                                << ", and elsewhere it has " << it->second
                                << "; a state has one sharding";
  };
  auto share = [&](func::FuncOp function, DictionaryAttr attributes, unsigned i,
                   bool isArgument) -> LogicalResult {
    Attribute state = attributes ? attributes.get(kStateAttr) : Attribute();
    Attribute sharding = state ? shardings.lookup(state) : Attribute();
    if (sharding && isArgument)
      function.setArgAttr(i, kShardingAttr, sharding);
    else if (sharding)
      function.setResultAttr(i, kShardingAttr, sharding);
    return success();
  };
  return success(succeeded(forAll(collect)) && succeeded(forAll(share)));
}

} // namespace mlc::dist

namespace mlc {

LogicalResult partition(ModuleOp module, const PartitionOptions &options) {
  FailureOr<SmallVector<dist::AxisAttr>> mesh = readMesh(module);
  if (failed(mesh))
    return failure();
  if (mesh->empty())
    return module.emitError()
           << "has no dist.mesh to be partitioned over; give it one, a list of "
              "#dist.axis";
  if (failed(dist::shareStates(module)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(dist::Partitioner(function, *mesh, options).run()))
      return failure();
  // Not needed any more.
  module->removeAttr(dist::kBatchStagesAttr);
  module.walk([&](Operation *op) {
    op->removeAttr(dist::kReduceFirstAttr);
    for (StringRef name : options.keepsPins
                              ? llvm::ArrayRef<llvm::StringLiteral>()
                              : dist::kPinAttrs)
      op->removeAttr(name);
  });
  return success();
}

#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct PartitionPass : impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(
            partition(getOperation(), {algorithm, reshardAfterForward, false})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlc
