//===- LayoutSubstitution.cpp - Definitions on stored tensors -------------===//

#include "dialects/Definition/ExprMap.h"
#include "dialects/Definition/Layout.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

namespace {

using Part = StoredDim::Part;

/// Rewrites one definition, its stages in order.
class Substitution {
public:
  Substitution(const Definition &plain, ArrayRef<LayoutAttr> operands,
               LayoutAttr result, DefinitionBuilder &b)
      : plain(plain), operands(operands), result(result), b(b) {}

  llvm::Expected<bool> run() {
    for (unsigned s = 0; s < plain.stages.size() && why.empty(); ++s)
      stage(plain.stages[s], layoutOfStage(s));
    if (!why.empty())
      return llvm::createStringError(why);
    for (unsigned stage : plain.results)
      b.result(stage);
    for (const Requirement &r : plain.requirements)
      b.require(r.lhs, r.predicate, r.rhs, r.message);
    return sumsFills;
  }

private:
  /// A loop over a split dim: the numbers of its blocks and lanes.
  struct Digits {
    DimSplit split;
    Expr block, lane;
  };

  void fail(const Twine &reason) {
    if (why.empty())
      why = reason.str();
  }

  IntExpr integer(int64_t value) const {
    return IntExpr::constant(b.getContext(), value);
  }

  /// Results have the requested layout, and so do intermediate stages with the
  /// same dims.
  LayoutAttr layoutOfStage(unsigned s) const {
    ArrayRef<IntExpr> dims = plain.stages[s].dims;
    if (llvm::is_contained(plain.results, s) || result.getStoredDims(dims))
      return result;
    return LayoutAttr::getPlain(b.getContext(), dims.size());
  }

  void stage(const Stage &from, LayoutAttr layout) {
    std::optional<SmallVector<IntExpr>> dims = layout.getStoredDims(from.dims);
    if (!dims)
      return fail("the result has other dims than its layout");
    SmallVector<DefinitionBuilder::PieceSpec> pieces;
    for (const Piece &piece : from.pieces)
      pieces.push_back(this->piece(piece, layout));
    if (!why.empty())
      return;
    b.piecewiseStage(from.name, *dims, from.elementType, pieces);
    stageLayouts.push_back(layout);
  }

  DefinitionBuilder::PieceSpec piece(const Piece &from, LayoutAttr layout) {
    DefinitionBuilder::PieceSpec to;
    SmallVector<DimSplit> parts(layout.getRank());
    for (const DimSplit &split : layout.getSplits())
      parts[split.dim] =
          partOf(split, from.offset[split.dim], from.loops[split.dim].extent);
    for (const StoredDim &stored : layout.getOrder()) {
      unsigned d = stored.dim;
      const DimSplit &part = parts[d];
      switch (stored.part) {
      case Part::Whole:
        to.offset.push_back(from.offset[d]);
        to.extents.push_back(from.loops[d].extent);
        break;
      case Part::Block: // only whole blocks begin elsewhere than at 0
        to.offset.push_back(from.offset[d].floorDiv(part.block));
        to.extents.push_back(integer(part.blocks()));
        break;
      case Part::Lane:
        to.offset.push_back(integer(0));
        to.extents.push_back(integer(part.block));
        break;
      }
    }
    to.body = [this, &from, layout, parts](ArrayRef<Expr> stored) {
      SmallVector<Digits> digits(parts.size());
      for (auto [dim, index] : llvm::zip_equal(layout.getOrder(), stored))
        if (dim.part == Part::Whole)
          wholeLoops[from.loops[dim.dim].id] = index;
        else
          (dim.part == Part::Block ? digits[dim.dim].block
                                   : digits[dim.dim].lane) = index;
      for (const DimSplit &split : layout.getSplits())
        cut(from.loops[split.dim], parts[split.dim], digits[split.dim].block,
            digits[split.dim].lane);
      return substitute(from.body);
    };
    return to;
  }

  /// The part of a split dim that begins at `offset`; it must consist of whole
  /// blocks.
  DimSplit partOf(const DimSplit &split, IntExpr offset, IntExpr extent) {
    DimSplit part = split;
    if (!extent.isConstant() || !offset.isConstant()) {
      fail("a part of open size of a cut dim");
      return part;
    }
    part.size = extent.getConstant();
    bool isAll = part.size == split.size,
         toTheEnd = offset.getConstant() + part.size == split.size;
    if (!isAll && (split.isLeftOut() || split.groups != 1 ||
                   offset.getConstant() % split.block ||
                   (part.size % split.block && !toTheEnd))) {
      fail("a part of a cut dim that is not of whole blocks");
      part = split;
    }
    return part;
  }

  /// Replaces a loop over a split dim; by 0 for one that is left out.
  void cut(const Loop &loop, const DimSplit &split, Expr block, Expr lane) {
    if (split.isLeftOut())
      block = lane = b.index(0);
    cutLoops[loop.id] = {split, block, lane};
    wholeLoops[loop.id] =
        split.isLeftOut() ? block : elementIndex(split, block, lane);
  }

  Expr substitute(const Expr &from) {
    auto it = done.find(from);
    if (it != done.end())
      return it->second;
    Expr to = rebuild(from);
    done.try_emplace(from, to);
    return to;
  }

  Expr rebuild(const Expr &from) {
    switch (from->kind) {
    case Expr::Kind::Loop:
      return wholeLoops.lookup(from->loop);
    case Expr::Kind::Int:
    case Expr::Kind::Constant:
    case Expr::Kind::Param:
      return from;
    case Expr::Kind::Read:
      return read(*from);
    case Expr::Kind::Reduce:
      return reduction(*from);
    default:
      break;
    }
    ExprNode node = *from;
    for (Expr &operand : node.operands)
      operand = substitute(operand);
    // Folds sums with new zeros.
    if (node.kind == Expr::Kind::Binary)
      return binary(node.binary, node.operands[0], node.operands[1]);
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  }

  LayoutAttr layoutOf(TensorId tensor) const {
    return tensor.isStage ? stageLayouts[tensor.index] : operands[tensor.index];
  }

  Expr read(const ExprNode &from) {
    LayoutAttr layout = layoutOf(from.tensor);
    SmallVector<Expr> indices;
    for (const StoredDim &stored : layout.getOrder()) {
      const Expr &index = from.operands[stored.dim];
      if (stored.part == Part::Whole) {
        indices.push_back(wholeIndex(index));
        continue;
      }
      Digits digits = digitsOf(index, *layout.getSplit(stored.dim));
      indices.push_back(stored.part == Part::Block ? digits.block
                                                   : digits.lane);
    }
    for (const DimSplit &split : layout.getSplits())
      if (split.isLeftOut()) {
        Expr at = substitute(from.operands[split.dim]);
        if (at->kind != Expr::Kind::Int || !at->integer.isConstant(0))
          fail("a dim that is left out is read elsewhere than at 0");
      }
    TensorId tensor = from.tensor;
    if (from.guarded) {
      Expr otherwise = substitute(from.operands.back());
      return tensor.isStage ? b.readStageOr(tensor.index, indices, otherwise)
                            : b.readOr(tensor.index, indices, otherwise);
    }
    return tensor.isStage ? b.readStage(tensor.index, indices)
                          : b.read(tensor.index, indices);
  }

  /// An index of a dim that is not split; it must not reach fills.
  Expr wholeIndex(const Expr &index) {
    walk(index, [&](const ExprNode &node) {
      if (node.kind != Expr::Kind::Loop)
        return;
      auto it = cutLoops.find(node.loop);
      if (it != cutLoops.end() && !it->second.split.isLeftOut())
        fail("a loop over a cut dim is the index of one that is not cut");
    });
    return substitute(index);
  }

  /// Block and lane of an index of a split dim.
  Digits digitsOf(const Expr &index, const DimSplit &split) {
    Digits nothing{split, b.index(0), b.index(0)};
    std::optional<std::pair<unsigned, int64_t>> place = loopAndOffset(index);
    auto it = place ? cutLoops.find(place->first) : cutLoops.end();
    if (it == cutLoops.end()) {
      fail("an index of a cut dim is no loop over one");
      return nothing;
    }
    int64_t offset = place->second;
    const Digits &digits = it->second;
    bool isAlike = digits.split.block == split.block &&
                   digits.split.groups == split.groups &&
                   (split.groups == 1 || digits.split.size == split.size);
    if (!isAlike || offset % split.block != 0 ||
        (offset != 0 && split.groups != 1)) {
      fail("dims that are cut in different ways meet");
      return nothing;
    }
    // Out of range, a guarded read gives its own value, not that of fills.
    if (offset < 0 || offset + digits.split.size > split.size)
      fail("a cut dim is read past its end");
    // Fills may be anything finite, but an element may be infinite.
    if (digits.split.isFilled() && offset + digits.split.size != split.size)
      fail("elements would be fills");
    return {split, digits.block + integer(offset / split.block), digits.lane};
  }

  /// `index` as a loop plus a constant; nothing if it has another form.
  std::optional<std::pair<unsigned, int64_t>> loopAndOffset(const Expr &index) {
    if (index->kind == Expr::Kind::Loop)
      return std::pair(index->loop, int64_t(0));
    if (index->kind != Expr::Kind::Binary || index->binary != BinaryFn::Add)
      return std::nullopt;
    for (unsigned i : {0, 1}) {
      Expr other = substitute(index->operands[1 - i]);
      if (index->operands[i]->kind == Expr::Kind::Loop &&
          other->kind == Expr::Kind::Int && other->integer.isConstant())
        return std::pair(index->operands[i]->loop,
                         other->integer.getConstant());
    }
    return std::nullopt;
  }

  /// Lanes become the innermost loops.
  Expr reduction(const ExprNode &from) {
    SmallVector<IntExpr> extents, lanes;
    SmallVector<std::optional<DimSplit>> splits;
    for (const Loop &loop : from.loops) {
      std::optional<DimSplit> split = splitOfReduced(loop, from.operands[0]);
      splits.push_back(split);
      if (split && split->isLeftOut())
        continue;
      extents.push_back(split ? integer(split->blocks()) : loop.extent);
      if (!split)
        continue;
      lanes.push_back(integer(split->block));
      if (split->isFilled() && from.reduce != ReduceKind::Sum)
        fail("fills are no part of a " + name(from.reduce));
      sumsFills |= split->isFilled();
    }
    size_t numOuter = extents.size();
    llvm::append_range(extents, lanes);
    return b.reduce(from.reduce, extents, [&](ArrayRef<Expr> loops) {
      const Expr *outer = loops.begin(), *lane = loops.begin() + numOuter;
      for (auto [loop, split] : llvm::zip_equal(from.loops, splits))
        if (!split)
          wholeLoops[loop.id] = *outer++;
        else if (split->isLeftOut())
          cut(loop, *split, Expr(), Expr());
        else
          cut(loop, *split, *outer++, *lane++);
      return substitute(from.operands[0]);
    });
  }

  /// The split of a dim that the reduced `loop` runs along completely.
  std::optional<DimSplit> splitOfReduced(const Loop &loop,
                                         const Expr &body) const {
    std::optional<DimSplit> found;
    walk(body, [&](const ExprNode &node) {
      if (node.kind != Expr::Kind::Read || found)
        return;
      LayoutAttr layout = layoutOf(node.tensor);
      for (auto [d, index] : llvm::enumerate(node.indices())) {
        const DimSplit *split = layout.getSplit(d);
        if (split && split->groups == 1 && index->kind == Expr::Kind::Loop &&
            index->loop == loop.id && loop.extent.isConstant(split->size))
          found = *split;
      }
    });
    return found;
  }

  const Definition &plain;
  ArrayRef<LayoutAttr> operands;
  LayoutAttr result;
  DefinitionBuilder &b;
  bool sumsFills = false;
  SmallVector<LayoutAttr> stageLayouts;
  llvm::DenseMap<unsigned, Digits> cutLoops;
  /// The replacements of the plain definition's loops.
  llvm::DenseMap<unsigned, Expr> wholeLoops;
  ExprMap<Expr> done;
  std::string why;
};

} // namespace

llvm::Expected<bool> layOut(const Definition &plain,
                            ArrayRef<LayoutAttr> operands, LayoutAttr result,
                            DefinitionBuilder &builder) {
  return Substitution(plain, operands, result, builder).run();
}

} // namespace mlc
