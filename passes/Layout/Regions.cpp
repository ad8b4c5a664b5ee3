//===- Regions.cpp - Where channels are last ------------------------------===//
//
// A copy of the function is laid out as a trial. There, packs and unpacks show
// where regions end, and what their borders cost. Regions that cost more than
// they gain are given up, which may change their neighbours, so the trial is
// repeated with the others.
//
//===----------------------------------------------------------------------===//

#include "passes/Layout/Regions.h"
#include "dialects/Definition/Analysis.h"
#include "rewrites/Cost/Cost.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

/// What the back end is told of a convolution; nothing if it is not chosen.
static std::optional<ImageConvolution> imagesOf(ConvOp conv,
                                                const SymbolSizes &symbols) {
  Type element = conv.getX().getType().getElementType();
  SmallVector<IntExpr> x = sizesOf(conv.getX()), w = sizesOf(conv.getW()),
                       y = sizesOf(conv.getResult());
  bool isKnown = llvm::all_of(
      w, [](IntExpr dim) { return dim.isConstant() && dim.getConstant() > 0; });
  if (x.size() != 4 || !isKnown || !conv.getGroups().isConstant() ||
      !isCompileTime(conv.getW()) ||
      !(element.isF32() || isSmallFloat(element)))
    return std::nullopt;
  auto number = [&](IntExpr size) { return int64_t(valueOf(size, symbols)); };
  ImageConvolution c;
  c.shape.groups = number(conv.getGroups());
  c.shape.outputChannels = number(w[0]);
  c.shape.inputChannels = number(w[1]) * c.shape.groups;
  c.shape.kernelHeight = number(w[2]);
  c.shape.kernelWidth = number(w[3]);
  c.shape.strideHeight = number(conv.getStrides()[0]);
  c.shape.strideWidth = number(conv.getStrides()[1]);
  c.shape.dilationHeight = number(conv.getDilations()[0]);
  c.shape.dilationWidth = number(conv.getDilations()[1]);
  c.shape.height = number(y[2]);
  c.shape.width = number(y[3]);
  c.shape.float32 = element.isF32();
  c.images = number(x[0]);
  c.inputPixels = number(x[2]) * number(x[3]);
  c.readsAllPixels =
      x[2] == y[2] && x[3] == y[3] && w[2].isConstant(1) && w[3].isConstant(1);
  c.elementBytes = element.getIntOrFloatBitWidth() / 8;
  return c;
}

namespace {

/// A laid-out function as regions.
class Regions {
public:
  Regions(func::FuncOp function, const CodeTarget &target,
          const CostModel &cost)
      : target(target), cost(cost) {
    for (Operation &op : function.getBody().front().without_terminator()) {
      classes.insert(&op);
      for (auto [i, operand] : llvm::enumerate(op.getOperands()))
        if (Operation *producer = operand.getDefiningOp();
            producer && !isCompileTime(operand) && !isBorder(&op, i) &&
            !isa<UnpackOp>(producer))
          classes.unionSets(producer, &op);
    }
    for (Operation &op : function.getBody().front().without_terminator())
      costs[regionOf(&op)] += secondsMore(&op);
  }

  /// Any operator of the region of `op`, the same for all of them.
  Operation *regionOf(Operation *op) const {
    return classes.getLeaderValue(op);
  }
  /// The seconds that a region costs beside what its convolutions gain.
  double costOf(Operation *region) const { return costs.lookup(region); }

private:
  /// Whether the operand comes from outside, where tensors are plain.
  static bool isBorder(Operation *op, unsigned operand) {
    auto laidOut = dyn_cast<LaidOutOp>(op);
    return isa<PackOp>(op) ||
           (laidOut &&
            cast<LayoutAttr>(laidOut.getLayouts()[operand]).isPlain());
  }

  /// The operator that makes `value`, or, behind pointwise ones that nobody
  /// else reads, what these read. Null where it has other readers or is an
  /// argument.
  static Operation *originOf(Value value) {
    while (value.hasOneUse()) {
      auto op = value.getDefiningOp<DefinitionOpInterface>();
      FailureOr<Definition> definition =
          op ? getDefinition(op) : FailureOr<Definition>();
      if (failed(definition))
        return nullptr;
      const auto *read = llvm::find_if(op->getOpOperands(), [](OpOperand &use) {
        return !isCompileTime(use.get());
      });
      if (!getKind(*definition).isElementwise ||
          read == op->getOpOperands().end())
        return op;
      value = read->get();
    }
    return nullptr;
  }

  /// Whether the kernel that makes `value` may write it in another order.
  bool isPermutable(Value value) const {
    auto origin = dyn_cast_or_null<DefinitionOpInterface>(originOf(value));
    FailureOr<Definition> definition =
        origin ? getDefinition(origin) : FailureOr<Definition>();
    return target.backend->canPermuteResult() && succeeded(definition) &&
           getKind(*definition).isContraction;
  }

  /// What `op` takes that plain tensors would not.
  double secondsMore(Operation *op) const {
    if (isCompileTime(op->getResult(0)))
      return 0;
    if (isa<PackOp, UnpackOp>(op))
      return isPermutable(op->getOperand(0)) ? 0 : cost.seconds(op);
    // The channels of one image are parts that lie together.
    auto laidOut = dyn_cast<LaidOutOp>(op);
    bool isJoin =
        laidOut && laidOut.getPlainOp() == ConcatOp::getOperationName();
    if (!isJoin)
      return 0;
    auto axis = laidOut.getPlainAttributes().getAs<IntegerAttr>("axis");
    bool wasInPlace = axis && axis.getInt() == 1 &&
                      sizesOf(op->getResult(0))[0].isConstant(1);
    // What follows from a part of a tensor takes a kernel in any layout; it can
    // be the one that joins.
    bool hasKernel = llvm::any_of(op->getOperands(), [&](Value piece) {
      Operation *origin = originOf(piece);
      return origin && cost.readsPart(origin);
    });
    return wasInPlace && !hasKernel ? cost.seconds(op) : 0;
  }

  const CodeTarget &target;
  const CostModel &cost;
  llvm::EquivalenceClasses<Operation *> classes;
  llvm::DenseMap<Operation *, double> costs;
};

} // namespace

/// Whether the convolution of `result` reads its input in ONNX's layout.
static bool readsPlain(Value result) {
  auto laidOut = result.getDefiningOp<LaidOutOp>();
  return laidOut && cast<LayoutAttr>(laidOut.getLayouts()[0]).isPlain();
}

namespace {

/// Chooses convolutions of one function for several layouts.
class Chooser {
public:
  Chooser(func::FuncOp function, const CodeTarget &target, Precision precision)
      : function(function), target(target), cost(parametersFor(target)),
        sure(1 - target.target.cost.predictionError) {
    for (auto conv : function.getOps<ConvOp>()) {
      std::optional<ImageConvolution> images =
          imagesOf(conv, cost.getSymbolSizes());
      gains.push_back(images ? target.backend->getChannelsLastGain(
                                   target.target, *images, precision)
                             : 0);
      candidates.push_back(images.has_value());
    }
  }

  ChosenConvolutions choose(const ConvolutionLayout &layout) const;

private:
  static CostParameters parametersFor(const CodeTarget &target) {
    // What is open may be small, and a transpose takes a launch for any size.
    constexpr int64_t openSize = 4;
    CostParameters parameters = target.target.cost;
    parameters.symbolValue = std::min(parameters.symbolValue, openSize);
    return parameters;
  }
  double dropLosers(llvm::BitVector &chosen,
                    const ConvolutionLayout &layout) const;

  func::FuncOp function;
  const CodeTarget &target;
  CostModel cost;
  const double sure;
  SmallVector<double> gains;
  llvm::BitVector candidates;
};

} // namespace

/// Gives up regions that cost more than they gain. Returns what the others
/// gain.
double Chooser::dropLosers(llvm::BitVector &chosen,
                           const ConvolutionLayout &layout) const {
  OwningOpRef<func::FuncOp> trial = func::FuncOp(function).clone();
  SmallVector<Value> results = layOutFunction(*trial, layout, chosen);
  Regions regions(*trial, target, cost);
  llvm::MapVector<Operation *, double> gained;
  auto regionOf = [&](unsigned i) {
    return results[i] ? regions.regionOf(results[i].getDefiningOp()) : nullptr;
  };
  for (unsigned i : chosen.set_bits())
    if (results[i] && !readsPlain(results[i]))
      gained[regionOf(i)] += gains[i] * sure;
  const llvm::BitVector before = chosen;
  for (unsigned i : before.set_bits()) {
    Operation *region = regionOf(i);
    if (!region || gained[region] <= regions.costOf(region))
      chosen.reset(i);
  }
  double all = 0;
  for (auto &[region, gain] : gained)
    if (region)
      all += std::max(0.0, gain - regions.costOf(region));
  return all;
}

ChosenConvolutions Chooser::choose(const ConvolutionLayout &layout) const {
  ChosenConvolutions result = {candidates, layout};
  while (result.chosen.any()) {
    llvm::BitVector before = result.chosen;
    result.gain = dropLosers(result.chosen, layout);
    if (result.chosen == before)
      break;
  }
  if (result.chosen.none())
    result.gain = 0;
  return result;
}

ChosenConvolutions mlc::chooseConvolutions(func::FuncOp function,
                                           const CodeTarget &target,
                                           Precision precision) {
  Chooser chooser(function, target, precision);
  ConvolutionLayout layout =
      target.backend->getConvolutionLayout(target.target);
  ChosenConvolutions best = chooser.choose(layout);
  if (!layout.fillsChannels)
    return best;
  layout.fillsChannels = false;
  ChosenConvolutions other = chooser.choose(layout);
  return other.gain > best.gain ? other : best;
}
