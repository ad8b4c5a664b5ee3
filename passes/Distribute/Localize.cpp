//===- Localize.cpp - A rank's definition of an operator ------------------===//

#include "passes/Distribute/Localize.h"
#include "dialects/Definition/DefinitionText.h"
#include "passes/Distribute/Halo.h"
#include "passes/Distribute/MakeExpr.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

Expr loopOf(MLIRContext *context, unsigned id) {
  ExprNode node(Expr::Kind::Loop, IndexType::get(context));
  node.loop = id;
  return make(std::move(node));
}

Expr zeroOf(Type type) {
  ExprNode node(isa<IndexType>(type) ? Expr::Kind::Int : Expr::Kind::Constant,
                type);
  if (isa<IndexType>(type))
    node.integer = IntExpr::constant(type.getContext(), 0);
  return make(std::move(node));
}

/// index + more, with constants at the end of `index` merged.
Expr plus(const Expr &index, IntExpr more) {
  bool isSum =
      index->kind == Expr::Kind::Binary &&
      (index->binary == BinaryFn::Add || index->binary == BinaryFn::Sub) &&
      index->operands[1]->kind == Expr::Kind::Int;
  if (!isSum)
    return index + more;
  IntExpr own = index->operands[1]->integer;
  return index->operands[0] +
         (index->binary == BinaryFn::Add ? more + own : more - own);
}

/// Keeps selects at the top, where provers expect them.
Expr less(const Expr &index, IntExpr begin) {
  if (index->kind != Expr::Kind::Select)
    return index - begin;
  return select(index->operands[0], less(index->operands[1], begin),
                less(index->operands[2], begin));
}

class Localizer {
public:
  Localizer(const Definition &whole, const Factor &factor, AxisAttr axis)
      : whole(whole), factor(factor), axis(axis), extents(extentsOf(whole)) {}

  Definition run() {
    Definition local = whole;
    local.requirements.clear();
    for (unsigned i = 0; i < local.inputs.size(); ++i)
      local.inputs[i].dims = dimsOf({false, i});
    for (unsigned s = 0; s < local.stages.size(); ++s)
      localize(local.stages[s], s);
    return local;
  }

private:
  SmallVector<IntExpr> dimsOf(TensorId tensor) const {
    return partDims(whole.shapeOf(tensor).dims, factor.placeOf(tensor), axis);
  }

  void localize(Stage &stage, unsigned s) const {
    stage.dims = dimsOf({true, s});
    bool moves = stage.reinterprets.has_value();
    if (moves && factor.of(*stage.reinterprets).has_value() !=
                     factor.stages[s].has_value()) {
      stage.reinterprets.reset();
      moves = false;
    }
    for (Piece &piece : stage.pieces) {
      localize(piece.loops);
      piece.body = moves ? reinterpret(stage, piece) : rewrite(piece.body);
    }
  }

  template <class Loops> void localize(Loops &loops) const {
    for (Loop &loop : loops)
      if (auto it = factor.loops.find(loop.id); it != factor.loops.end())
        loop.extent = axis.getSize(factor.extent) * it->second;
  }

  /// Like DefinitionBuilder::reinterpret, with the parts' dims.
  Expr reinterpret(const Stage &stage, const Piece &piece) const {
    MLIRContext *context = axis.getContext();
    SmallVector<IntExpr> from = dimsOf(*stage.reinterprets);
    ExprNode zero(Expr::Kind::Int, IndexType::get(context));
    zero.integer = IntExpr::constant(context, 0);
    Expr linear = make(std::move(zero));
    for (const Loop &loop : piece.loops)
      linear = linear * loop.extent + loopOf(context, loop.id);
    ExprNode read = *piece.body;
    for (size_t d = from.size(); d-- > 0;) {
      read.operands[d] = d == 0 ? linear : mod(linear, from[d]);
      if (d != 0)
        linear = floorDiv(linear, from[d]);
    }
    return make(std::move(read));
  }

  /// A loop's index in the whole.
  Expr shifted(unsigned loop) const {
    Expr own = loopOf(axis.getContext(), loop);
    auto it = factor.loops.find(loop);
    return it == factor.loops.end()
               ? own
               : own + axis.getBegin(factor.extent) * it->second;
  }

  /// (a * size + b) floordiv size, or mod size, with 0 <= b < size: a or b. Not
  /// evident any more after a begin is added to a loop, and the size may be
  /// that of a part, which may be empty.
  std::optional<Expr> digitOf(const Expr &expr) const {
    if (expr->kind != Expr::Kind::Binary ||
        (expr->binary != BinaryFn::FloorDiv && expr->binary != BinaryFn::Mod))
      return std::nullopt;
    const Expr &sum = expr->operands[0], &size = expr->operands[1];
    auto isOf = [](const Expr &of, BinaryFn function) {
      return of->kind == Expr::Kind::Binary && of->binary == function;
    };
    if (!isOf(sum, BinaryFn::Add) || !isOf(sum->operands[0], BinaryFn::Mul))
      return std::nullopt;
    const Expr &high = sum->operands[0]->operands[0],
               &by = sum->operands[0]->operands[1], &low = sum->operands[1];
    if (by->kind != Expr::Kind::Int || size->kind != Expr::Kind::Int ||
        by->integer != size->integer ||
        !isEvidentlyInRange(low, size->integer, extents))
      return std::nullopt;
    return expr->binary == BinaryFn::FloorDiv ? high : low;
  }

  /// `kept` is a loop that is not shifted.
  Expr rewrite(const Expr &expr, std::optional<unsigned> kept = {}) const {
    if (expr->kind == Expr::Kind::Loop)
      return kept == expr->loop ? expr : shifted(expr->loop);
    if (expr->operands.empty())
      return expr;
    if (std::optional<Expr> digit = digitOf(expr))
      return rewrite(*digit, kept);
    ExprNode node = *expr;
    localize(node.loops);
    for (Expr &operand : node.operands)
      operand = rewrite(operand, kept);
    if (node.kind == Expr::Kind::Read)
      if (std::optional<SplitDim> split = factor.of(node.tensor))
        return readPart(std::move(node), expr->operands[split->dim], *split);
    return make(std::move(node));
  }

  /// `index` is the index along the split dim of the whole.
  Expr readPart(ExprNode read, const Expr &index, const SplitDim &split) const {
    IntExpr size = whole.shapeOf(read.tensor).dims[split.dim];
    if (split.isLookup) {
      // Indices out of the whole's range are out of every part's range.
      read.operands[split.dim] = less(
          read.operands[split.dim], axis.getBegin(factor.extent) * split.unit);
      Expr otherwise = read.operands.back();
      if (!isNaN(otherwise))
        return make(std::move(read));
      // Where the whole has nothing, all ranks have NaN; else all but one 0.
      read.operands.back() = zeroOf(otherwise->type);
      return select(isInside(rewrite(index), size), make(std::move(read)),
                    otherwise);
    }
    if (!split.hasHalo() && leadingOf(index, size, extents)) {
      read.operands[split.dim] = indexInPart(index, size);
      return make(std::move(read));
    }
    auto window = windowOf(index, size, extents, [&](unsigned loop) {
      return factor.loops.contains(loop);
    });
    // One of several windows read may need no halo.
    unsigned kept =
        window ? window->loop : leadingOf(index, size, extents)->loop;
    read.operands[split.dim] = plus(
        rewrite(index, kept), IntExpr::constant(axis.getContext(), split.low));
    if (!read.guarded)
      return make(std::move(read));
    Expr otherwise = read.operands.back();
    if (isInRange(read)) {
      read.guarded = false;
      read.operands.pop_back();
    }
    bool isZero = otherwise->kind == Expr::Kind::Constant &&
                  otherwise->number == 0 && otherwise->integerNumber == 0;
    Expr value = make(std::move(read));
    if (isZero)
      return value; // as past the tensor's ends
    return select(isInside(rewrite(index), size), value, otherwise);
  }

  /// Whether an index is one of a dim of this size.
  static Expr isInside(const Expr &index, IntExpr size) {
    return binary(
        BinaryFn::And,
        compare(ComparePredicate::GE, index, zeroOf(index->type)),
        compare(ComparePredicate::LT, index - size, zeroOf(index->type)));
  }

  bool isInRange(const ExprNode &read) const {
    Extents local = extents;
    for (auto &[loop, extent] : local)
      if (auto it = factor.loops.find(loop); it != factor.loops.end())
        extent = axis.getSize(factor.extent) * it->second;
    SmallVector<IntExpr> dims = dimsOf(read.tensor);
    for (auto [index, dim] : llvm::zip(read.indices(), dims))
      if (!isEvidentlyInRange(index, dim, local))
        return false;
    return true;
  }

  /// The part begins at the leading loop's part.
  Expr indexInPart(const Expr &index, IntExpr size) const {
    unsigned leading = leadingOf(index, size, extents)->loop;
    bool isSum = true;
    walk(index, [&](const ExprNode &node) {
      isSum &= node.kind != Expr::Kind::Binary ||
               node.binary == BinaryFn::Add || node.binary == BinaryFn::Mul;
    });
    if (isSum)
      return rewrite(index, leading);
    Expr sum;
    auto digits = *digitsOf(index, extents);
    for (auto [n, digit] : llvm::enumerate(digits)) {
      Expr term = valueOf(digit, n == 0) * digit.weight;
      sum = sum ? sum + term : term;
    }
    return sum;
  }

  Expr valueOf(const Digit &digit, bool isLeading) const {
    auto it = factor.loops.find(digit.loop);
    // Lower digits are the same in all parts that begin at whole units.
    bool isBelow = it != factor.loops.end() &&
                   it->second.exactDiv(digit.divisor * digit.count);
    Expr value = isLeading || isBelow ? loopOf(axis.getContext(), digit.loop)
                                      : shifted(digit.loop);
    value = floorDiv(value, digit.divisor);
    bool isFirst = digit.divisor * digit.count == extents.lookup(digit.loop);
    return isLeading || isFirst ? value : mod(value, digit.count);
  }

  const Definition &whole;
  const Factor &factor;
  AxisAttr axis;
  Extents extents;
};

} // namespace

Definition localize(const Definition &whole, const Factor &factor,
                    AxisAttr axis) {
  if (!factor.extent)
    return whole;
  return Localizer(whole, factor, axis).run();
}

Definition guardReads(Definition definition) {
  Extents extents = extentsOf(definition);
  auto isSafe = [&](const ExprNode &read) {
    TensorShape shape = definition.shapeOf(read.tensor);
    return llvm::all_of(llvm::zip(read.indices(), shape.dims), [&](auto pair) {
      auto [index, dim] = pair;
      return isEvidentlyInRange(index, dim, extents);
    });
  };
  std::function<Expr(const Expr &)> guard = [&](const Expr &expr) {
    if (expr->operands.empty() && expr->kind != Expr::Kind::Read)
      return expr;
    ExprNode node = *expr;
    for (Expr &operand : node.operands)
      operand = guard(operand);
    if (node.kind == Expr::Kind::Read && !node.guarded && !isSafe(node)) {
      node.guarded = true;
      node.operands.push_back(zeroOf(node.type));
    }
    return make(std::move(node));
  };
  for (Stage &stage : definition.stages)
    for (Piece &piece : stage.pieces)
      piece.body = guard(piece.body);
  return definition;
}

namespace {

/// Compares two definitions; maps the loops of one to the other.
class Comparison {
public:
  bool compare(const Definition &a, const Definition &b) {
    return a.results == b.results &&
           llvm::equal(a.stages, b.stages,
                       [&](const Stage &left, const Stage &right) {
                         return compare(left, right);
                       });
  }

private:
  bool compare(const Stage &a, const Stage &b) {
    return a.elementType == b.elementType && a.dims == b.dims &&
           llvm::equal(a.pieces, b.pieces,
                       [&](const Piece &left, const Piece &right) {
                         return left.offset == right.offset &&
                                pair(left.loops, right.loops) &&
                                compare(left.body, right.body);
                       });
  }

  bool pair(ArrayRef<Loop> a, ArrayRef<Loop> b) {
    return llvm::equal(a, b, [&](const Loop &left, const Loop &right) {
      loops[left.id] = right.id;
      return left.extent == right.extent;
    });
  }

  bool compare(const Expr &a, const Expr &b) {
    if (a->kind != b->kind || a->type != b->type || a->unary != b->unary ||
        a->binary != b->binary || a->predicate != b->predicate ||
        a->reduce != b->reduce || a->guarded != b->guarded ||
        a->integer != b->integer || a->parameter != b->parameter ||
        a->integerNumber != b->integerNumber || !(a->tensor == b->tensor) ||
        !(ExactDouble{a->number} == ExactDouble{b->number}))
      return false;
    if (a->kind == Expr::Kind::Loop)
      return loops.lookup(a->loop) == b->loop;
    return pair(a->loops, b->loops) &&
           llvm::equal(a->operands, b->operands,
                       [&](const Expr &left, const Expr &right) {
                         return compare(left, right);
                       });
  }

  llvm::DenseMap<unsigned, unsigned> loops;
};

} // namespace

bool isEqual(const Definition &a, const Definition &b) {
  return Comparison().compare(a, b);
}

} // namespace mlc::dist
