//===- Opaque.cpp - Opaque operators on split tensors ---------------------===//

#include "passes/Distribute/Opaque.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Distribute/Operators.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

class OpaqueEmitter {
public:
  OpaqueEmitter(OpBuilder &builder, OpaqueOpInterface op, Parts &parts,
                AxisAttr axis, Bring bring)
      : builder(builder), op(op), parts(parts), axis(axis), bring(bring),
        dims(op.getSharedDims()), best(costOfWhole()) {}

  /// Chooses slices, if they cost no more than the whole operands do.
  void chooseSlices(const Hints &hints) {
    auto considerWanted = [&](ValueRange values, bool areResults) {
      for (auto [i, value] : llvm::enumerate(values))
        if (auto it = hints.wanted.find(value); it != hints.wanted.end())
          consider(it->second, i, areResults);
    };
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      consider(parts.placeOf(operand), i, /*isResult=*/false);
    considerWanted(op->getResults(), /*areResults=*/true);
    considerWanted(op->getOperands(), /*areResults=*/false);
  }

  bool hasSlices() const { return slices.has_value(); }

  /// False if the operator on parts is not valid.
  FailureOr<bool> emitSlices() {
    SmallVector<Value> operands;
    for (auto [operand, dim] : llvm::zip(op->getOperands(), slices->operands)) {
      FailureOr<Value> part = bring(operand, placeAt(dim));
      if (failed(part))
        return failure();
      operands.push_back(*part);
    }
    Operation *made = rebuild(
        builder, op, operands,
        partDims(dimsOf(op->getResult(0)), placeAt(slices->results[0]), axis));
    if (!made)
      return false;
    for (auto [i, whole] : llvm::enumerate(op->getResults()))
      parts.set(whole, placeAt(slices->results[i]), made->getResult(i));
    return true;
  }

  /// An operand whose candidates cost less than the whole operands do.
  std::optional<OpaqueSplit> findSplit() {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Place place = parts.placeOf(operand);
      if (!place.isSplit())
        continue;
      OpaqueSplit split{unsigned(i),
                        place.dim,
                        axis.getSize(),
                        axis.getBegin(place.extent) * place.unit,
                        place.extent.floorDiv(axis.getSize()) * place.unit,
                        bool(place.extent.exactDiv(axis.getSize()))};
      // Nothing is gathered by gathering nothing.
      double bytes = bytesOfCandidates(split);
      if (bytes > 0 && bytes * movedShare(place, Place::whole(), axis) +
                               costOfWhole(operand) <
                           best)
        return split;
    }
    return std::nullopt;
  }

  LogicalResult emitCandidates(const OpaqueSplit &split) {
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      FailureOr<Value> part =
          bring(operand,
                i == split.operand ? parts.placeOf(operand) : Place::whole());
      if (failed(part))
        return failure();
      operands.push_back(*part);
    }
    auto emit = [&](Definition definition, ValueRange inputs) {
      return emitCompute(builder, op.getLoc(), std::move(definition), inputs);
    };
    auto found = op.createCandidates(builder, operands, split, emit);
    if (failed(found))
      return failure();
    for (Value &candidates : *found) {
      IntExpr count = dimsOf(candidates)[split.dim];
      FailureOr<Value> all =
          parts.gather(candidates,
                       Place::split(split.dim, split.numParts * count,
                                    IntExpr::constant(builder.getContext(), 1)),
                       op.getLoc());
      if (failed(all))
        return failure();
      candidates = *all;
    }
    auto results = op.chooseCandidates(builder, *found, split, emit);
    if (failed(results))
      return failure();
    for (auto [whole, result] : llvm::zip_equal(op->getResults(), *results))
      parts.set(whole, Place::whole(), result);
    return success();
  }

private:
  /// The cost of having all operands whole, but one.
  double costOfWhole(Value beside = nullptr) const {
    double cost = 0;
    for (Value operand : op->getOperands())
      if (operand != beside)
        cost += parts.costOf(operand, Place::whole());
    return cost;
  }

  /// The chosen place at another tensor's dim.
  Place placeAt(std::optional<unsigned> dim) const {
    return dim ? moved(chosen, *dim) : Place::whole();
  }
  static Place moved(Place place, unsigned dim) {
    place.dim = dim;
    return place;
  }

  void consider(const Place &place, unsigned tensor, bool isResult) {
    if (!place.isSplit())
      return;
    for (const SharedDim &shared : dims) {
      if (isResult ? shared.results[tensor] != place.dim
                   : shared.operands[tensor] != place.dim)
        continue;
      double cost = 0;
      for (auto [operand, dim] : llvm::zip(op->getOperands(), shared.operands))
        cost +=
            parts.costOf(operand, dim ? moved(place, *dim) : Place::whole());
      if (cost > best || (slices && cost == best))
        continue;
      slices = shared;
      chosen = place;
      best = cost;
    }
  }

  double bytesOfCandidates(const OpaqueSplit &split) {
    double bytes = 0;
    for (Type type : op.getCandidateTypes(split))
      bytes += bytesOf(type) * countRanks(axis);
    return bytes;
  }

  OpBuilder &builder;
  OpaqueOpInterface op;
  Parts &parts;
  AxisAttr axis;
  Bring bring;
  SmallVector<SharedDim> dims;
  /// What the best choice so far costs: slices, or the whole operands.
  double best;
  std::optional<SharedDim> slices;
  Place chosen;
};

} // namespace

FailureOr<bool> emitOpaque(OpBuilder &builder, OpaqueOpInterface op,
                           Parts &parts, const Hints &hints, AxisAttr axis,
                           Bring bring) {
  OpaqueEmitter emitter(builder, op, parts, axis, bring);
  emitter.chooseSlices(hints);
  if (emitter.hasSlices())
    return emitter.emitSlices();
  std::optional<OpaqueSplit> split = emitter.findSplit();
  if (!split)
    return false;
  if (failed(emitter.emitCandidates(*split)))
    return failure();
  return true;
}

} // namespace mlc::dist
