//===- Factors.cpp - Dims split together ----------------------------------===//

#include "passes/Distribute/Factors.h"
#include "dialects/Definition/DefinitionText.h"
#include "passes/Distribute/Halo.h"
#include "passes/Distribute/MakeExpr.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

Extents extentsOf(const Definition &definition) {
  Extents extents;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces) {
      for (const Loop &loop : piece.loops)
        extents[loop.id] = loop.extent;
      walk(piece.body, [&](const ExprNode &node) {
        for (const Loop &loop : node.loops)
          extents[loop.id] = loop.extent;
      });
    }
  return extents;
}

namespace {

/// Follows a split from tensors to loops and back to a fixed point.
class Spread {
public:
  Spread(const Definition &definition, AxisAttr axis)
      : definition(definition), axis(axis), extents(extentsOf(definition)),
        factor(definition) {
    for (auto [s, stage] : llvm::enumerate(definition.stages))
      for (const Piece &piece : stage.pieces) {
        for (auto [d, loop] : llvm::enumerate(piece.loops))
          outer[loop.id] = {unsigned(s), unsigned(d)};
        walk(piece.body, [&](const ExprNode &node) {
          if (node.kind == Expr::Kind::Read)
            reads.push_back(node);
        });
      }
  }

  std::optional<Factor> run(TensorId seed, unsigned dim, IntExpr extent,
                            IntExpr unit) {
    factor.extent = extent;
    isPossible = true;
    if (seed.isStage)
      addStage(seed.index, {dim, unit});
    else
      followReads(seed, {dim, unit});
    while (isPossible && !found.empty())
      followLoop(found.pop_back_val());
    if (!isPossible)
      return std::nullopt;
    for (unsigned i = 0; i < factor.inputs.size(); ++i)
      factor.inputs[i] = splitOf(i);
    if (seed.isStage)
      return std::move(factor);
    if (isLookup) {
      factor.inputs[seed.index] =
          SplitDim{.dim = dim, .unit = unit, .isLookup = true};
      return factor.loops.empty() ? std::optional(std::move(factor))
                                  : std::nullopt;
    }
    const std::optional<SplitDim> &own = factor.inputs[seed.index];
    if (!own || !own->isAlong({dim, unit}))
      return std::nullopt;
    return std::move(factor);
  }

private:
  /// Follows reads of the seed or of a split stage: their loops run over the
  /// part.
  void followReads(TensorId tensor, SplitDim split) {
    IntExpr size = definition.shapeOf(tensor).dims[split.dim];
    for (const ExprNode &read : reads) {
      if (!(read.tensor == tensor))
        continue;
      const Expr &index = read.indices()[split.dim];
      std::optional<Leading> leading = leadingOf(index, size, extents);
      std::optional<IntExpr> units;
      if (leading)
        units = split.unit.exactDiv(leading->weight);
      if (units && leading->count == factor.extent * *units)
        addLoop(leading->loop, *units * leading->divisor);
      else if (!tensor.isStage && isLookupAt(read, split.dim))
        isLookup = true;
      else if (tensor.isStage || !followWindow(index, size, split.unit))
        isPossible = false;
    }
  }

  /// Whether data choose the element along `dim`, with 0 out of range, so that
  /// all ranks but one read 0, or with NaN, which all ranks then have. Booleans
  /// have no sums.
  bool isLookupAt(const ExprNode &read, unsigned dim) const {
    if (!read.guarded || !isa<FloatType, IntegerType>(read.type) ||
        read.type.isInteger(1))
      return false;
    const Expr &otherwise = read.operands.back();
    bool isZero = otherwise->kind == Expr::Kind::Constant &&
                  otherwise->number == 0 && otherwise->integerNumber == 0;
    if (!isZero && !(isNaN(otherwise) && isInRangeBeside(read, dim)))
      return false;
    bool isOfData = false;
    walk(read.indices()[dim], [&](const ExprNode &node) {
      isOfData |= node.kind == Expr::Kind::Read;
    });
    return isOfData;
  }

  bool isInRangeBeside(const ExprNode &read, unsigned dim) const {
    SmallVector<IntExpr> dims = definition.shapeOf(read.tensor).dims;
    for (unsigned d = 0; d < dims.size(); ++d)
      if (d != dim && !isEvidentlyInRange(read.indices()[d], dims[d], extents))
        return false;
    return true;
  }

  /// An operand's dim is read in a window along a dim of the result, or along a
  /// reduction.
  bool followWindow(const Expr &index, IntExpr size, IntExpr unit) {
    auto window = windowOf(index, size, extents,
                           [&](unsigned loop) { return outer.contains(loop); });
    if (!window)
      window = windowOf(index, size, extents, [](unsigned) { return true; });
    std::optional<IntExpr> own;
    if (window)
      own = unit.exactDiv(unit * 0 + window->stride);
    if (own)
      addLoop(window->loop, *own);
    return own.has_value();
  }

  void addStage(unsigned stage, SplitDim split) {
    std::optional<SplitDim> &own = factor.stages[stage];
    if (own) {
      isPossible &= own->isAlong(split);
      return;
    }
    own = split;
    // Boxes that divide the dim are not parts of it.
    for (const Piece &piece : definition.stages[stage].pieces) {
      const Loop &loop = piece.loops[split.dim];
      if (!piece.offset[split.dim].isConstant(0) ||
          loop.extent != definition.stages[stage].dims[split.dim]) {
        isPossible = false;
        return;
      }
      addLoop(loop.id, split.unit);
    }
    followReads({true, stage}, split);
  }

  void addLoop(unsigned loop, IntExpr unit) {
    auto [it, isNew] = factor.loops.try_emplace(loop, unit);
    if (isNew)
      found.push_back(loop);
    else
      isPossible &= it->second == unit;
  }

  /// Splits the stage that has the loop as a dim, and stages that it indexes.
  void followLoop(unsigned loop) {
    if (auto it = outer.find(loop); it != outer.end())
      addStage(it->second.first,
               {it->second.second, factor.loops.lookup(loop)});
    for (const ExprNode &read : reads) {
      if (!read.tensor.isStage)
        continue;
      for (unsigned d = 0; d < read.indices().size(); ++d)
        if (auto unit = unitAt(read, d, loop); unit && isPossible)
          addStage(read.tensor.index, {d, *unit});
    }
  }

  /// The unit of a dim whose leading loop is `loop`, or is any split loop.
  std::optional<IntExpr> unitAt(const ExprNode &read, unsigned dim,
                                std::optional<unsigned> loop = {}) const {
    IntExpr size = definition.shapeOf(read.tensor).dims[dim];
    std::optional<Leading> leading =
        leadingOf(read.indices()[dim], size, extents);
    if (!leading || (loop && leading->loop != *loop))
      return std::nullopt;
    auto it = factor.loops.find(leading->loop);
    if (it == factor.loops.end())
      return std::nullopt;
    std::optional<IntExpr> units = it->second.exactDiv(leading->divisor);
    if (!units)
      return std::nullopt;
    return *units * leading->weight;
  }

  /// The part of an operand that a read needs.
  std::optional<SplitDim> splitOf(const ExprNode &read) const {
    for (unsigned d = 0; d < read.indices().size(); ++d)
      if (std::optional<IntExpr> unit = unitAt(read, d))
        return SplitDim{d, *unit};
    SmallVector<IntExpr> dims = definition.shapeOf(read.tensor).dims;
    for (unsigned d = 0; d < read.indices().size(); ++d) {
      auto window =
          windowOf(read.indices()[d], dims[d], extents,
                   [&](unsigned loop) { return factor.loops.contains(loop); });
      if (!window)
        continue;
      SplitDim split{d, factor.loops.lookup(window->loop) * window->stride,
                     window->low, window->high};
      // One neighbour must have the whole halo.
      IntExpr least = factor.extent.floorDiv(axis.getSize()) * split.unit;
      if ((least - std::max(split.low, split.high)).isKnownNonNegative())
        return split;
    }
    return std::nullopt;
  }

  /// The dim along which a part of an operand is enough for all reads.
  std::optional<SplitDim> splitOf(unsigned input) const {
    std::optional<SplitDim> split;
    bool isFirst = true;
    for (const ExprNode &read : reads) {
      if (!(read.tensor == TensorId{false, input}))
        continue;
      std::optional<SplitDim> here = splitOf(read);
      if (!here || (!isFirst && !here->isAlong(*split)))
        return std::nullopt;
      if (!isFirst) {
        here->low = std::max(here->low, split->low);
        here->high = std::max(here->high, split->high);
      }
      split = here;
      isFirst = false;
    }
    return split;
  }

  const Definition &definition;
  AxisAttr axis;
  Extents extents;
  Factor factor;
  /// The stage and dim of each loop that is a dim of a stage.
  llvm::DenseMap<unsigned, std::pair<unsigned, unsigned>> outer;
  SmallVector<ExprNode> reads;
  SmallVector<unsigned> found;
  bool isPossible = true, isLookup = false;
};

} // namespace

std::optional<Factor> findFactor(const Definition &definition, TensorId tensor,
                                 const Place &place, AxisAttr axis) {
  auto factor =
      Spread(definition, axis).run(tensor, place.dim, place.extent, place.unit);
  // Even parts are also parts of any extent that the axis divides.
  std::optional<IntExpr> even = place.extent.exactDiv(axis.getSize());
  if (!factor && even && place.extent != axis.getSize())
    factor = Spread(definition, axis)
                 .run(tensor, place.dim, axis.getSize(), *even * place.unit);
  return factor;
}

} // namespace mlc::dist
