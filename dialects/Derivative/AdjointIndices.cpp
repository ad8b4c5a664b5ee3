//===- AdjointIndices.cpp - Which loops read an element -------------------===//

#include "dialects/Derivative/AdjointIndices.h"
#include "dialects/Definition/DefinitionText.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::DenseMap;
using llvm::SmallVector;

namespace mlc::adjoint {

Expr loopExpr(const Expr &like, unsigned id) {
  ExprNode node(Expr::Kind::Loop, like->type);
  node.loop = id;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr withLoops(DefinitionBuilder &builder, const Expr &expr,
               const DenseMap<unsigned, Expr> &values) {
  return rewrite(expr, [&](const ExprNode &node) -> Expr {
    if (node.kind == Expr::Kind::Loop)
      return values.lookup(node.loop);
    if (node.kind != Expr::Kind::Reduce)
      return Expr();
    SmallVector<IntExpr> extents;
    for (const Loop &loop : node.loops)
      extents.push_back(loop.extent);
    return builder.reduce(node.reduce, extents, [&](ArrayRef<Expr> fresh) {
      DenseMap<unsigned, Expr> inside = values;
      for (auto [loop, variable] : llvm::zip(node.loops, fresh))
        inside[loop.id] = variable;
      return withLoops(builder, node.operands[0], inside);
    });
  });
}

Expr guardReads(DefinitionBuilder &builder, const Expr &expr,
                DenseMap<unsigned, IntExpr> extents,
                llvm::function_ref<TensorShape(TensorId)> shapeOf) {
  walk(expr, [&](const ExprNode &node) {
    for (const Loop &loop : node.loops)
      extents[loop.id] = loop.extent;
  });
  std::function<Expr(const ExprNode &)> guard =
      [&](const ExprNode &node) -> Expr {
    if (node.kind != Expr::Kind::Read || node.guarded)
      return Expr();
    ExprNode read = node;
    for (Expr &operand : read.operands)
      operand = rewrite(operand, guard);
    TensorShape shape = shapeOf(node.tensor);
    for (auto [index, dim] : llvm::zip(read.operands, shape.dims))
      read.guarded |= !isEvidentlyInRange(index, dim, extents);
    if (read.guarded)
      read.operands.push_back(builder.constantInt(node.type, 0));
    return Expr(std::make_shared<const ExprNode>(std::move(read)));
  };
  return rewrite(expr, guard);
}

namespace {

/// sum of coefficient * loop, plus a rest without open loops.
struct Affine {
  SmallVector<std::pair<unsigned, IntExpr>> terms;
  Expr rest;
};

/// The equations indices = target, solved for one loop after another.
class Equations {
public:
  Equations(DefinitionBuilder &builder, const Contribution &contribution,
            ArrayRef<Expr> target, const DenseMap<unsigned, IntExpr> &extents)
      : builder(builder), contribution(contribution), extents(extents),
        target(target) {
    for (auto [i, loop] : llvm::enumerate(contribution.loops))
      open.push_back({loop, i < contribution.numOuter});
    for (const Loop &loop : contribution.loops)
      this->extents[loop.id] = loop.extent;
    unsolved.assign(contribution.indices.begin(), contribution.indices.end());
    // Loops of one point have a known value.
    for (const Loop &loop : contribution.loops)
      if (loop.extent.isConstant(1))
        close(loop.id, builder.index(0), /*isInRange=*/true);
    for (auto [index, at] : llvm::zip(unsolved, target))
      if (isAlwaysSame(index, at))
        index = Expr();
  }

  void solve() {
    splitDigits();
    while (solveOne(Effort::Alone) || solveOne(Effort::Digit) ||
           solveOne(Effort::Outer) || solveOne(Effort::Any))
      ;
    // Equations without a loop to solve for become conditions on all points.
    for (auto [index, at] : llvm::zip(unsolved, target))
      if (index)
        conditions.push_back(isEqual(index, at));
  }

  /// The remaining loops, which are summed over.
  SmallVector<Loop> getOpen() const {
    SmallVector<Loop> loops;
    for (const OpenLoop &one : open)
      loops.push_back(one.loop);
    return loops;
  }

  DenseMap<unsigned, Expr> values;
  SmallVector<Expr> conditions;

private:
  /// Whether `index`, in its loops, equals `at`. Compares the branches of a
  /// select, because indices cannot be selected.
  Expr isEqual(const Expr &index, const Expr &at) {
    if (index->kind != Expr::Kind::Select)
      return compare(ComparePredicate::EQ, withLoops(builder, index, values),
                     at);
    return select(withLoops(builder, index->operands[0], values),
                  isEqual(index->operands[1], at),
                  isEqual(index->operands[2], at));
  }

  struct OpenLoop {
    Loop loop;
    bool isOuter;
  };
  /// Which loops to solve for, from certain to most expensive.
  enum class Effort {
    Alone, // the only one in its equation, with coefficient 1 or -1
    Digit, // l of l + e * rest with 0 <= l < e
    Outer, // an outer loop, so that the reduction's loops remain
    Any,
  };

  const OpenLoop *findOpen(unsigned id) const {
    const auto *it = llvm::find_if(
        open, [&](const OpenLoop &one) { return one.loop.id == id; });
    return it == open.end() ? nullptr : it;
  }

  /// Splits loops that occur as quotient and remainder by one divisor into two.
  void splitDigits() {
    for (unsigned i = 0; i < unsolved.size(); ++i) {
      if (!unsolved[i])
        continue;
      std::optional<std::pair<unsigned, IntExpr>> split;
      walk(unsolved[i], [&](const ExprNode &node) {
        bool divides =
            node.kind == Expr::Kind::Binary &&
            (node.binary == BinaryFn::FloorDiv || node.binary == BinaryFn::Mod);
        if (divides && node.operands[0]->kind == Expr::Kind::Loop &&
            node.operands[1]->kind == Expr::Kind::Int &&
            findOpen(node.operands[0]->loop))
          split = {node.operands[0]->loop, node.operands[1]->integer};
      });
      if (!split)
        continue;
      splitLoop(split->first, split->second);
      i = -1; // start again
    }
  }

  void splitLoop(unsigned id, IntExpr divisor) {
    auto *it = llvm::find_if(
        open, [&](const OpenLoop &one) { return one.loop.id == id; });
    OpenLoop whole = *it;
    std::optional<IntExpr> exact = whole.loop.extent.exactDiv(divisor);
    Loop quotient{nextLoop++,
                  exact ? *exact : whole.loop.extent.ceilDiv(divisor)};
    Loop rest{nextLoop++, divisor};
    *it = {quotient, whole.isOuter};
    open.insert(it + 1, {rest, whole.isOuter});
    for (const Loop &loop : {quotient, rest})
      extents[loop.id] = loop.extent;
    Expr like = builder.index(0);
    Expr q = loopExpr(like, quotient.id), r = loopExpr(like, rest.id);
    Expr value = q * divisor + r;
    auto isSplit = [&](const ExprNode &node, BinaryFn fn) {
      return node.kind == Expr::Kind::Binary && node.binary == fn &&
             node.operands[0]->kind == Expr::Kind::Loop &&
             node.operands[0]->loop == id &&
             node.operands[1]->kind == Expr::Kind::Int &&
             node.operands[1]->integer == divisor;
    };
    for (Expr &index : unsolved)
      index =
          !index ? index : rewrite(index, [&](const ExprNode &node) -> Expr {
            if (isSplit(node, BinaryFn::FloorDiv))
              return q;
            if (isSplit(node, BinaryFn::Mod))
              return r;
            return node.kind == Expr::Kind::Loop && node.loop == id ? value
                                                                    : Expr();
          });
    values[id] = value;
    if (!exact)
      conditions.push_back(compare(ComparePredicate::LT, value,
                                   builder.integer(whole.loop.extent)));
  }

  /// Both are 0, the only value that the target can have.
  bool isAlwaysSame(const Expr &index, const Expr &at) const {
    return index->kind == Expr::Kind::Int && index->integer.isConstant(0) &&
           at->kind == Expr::Kind::Loop &&
           extents.lookup(at->loop).isConstant(1);
  }

  bool mentionsOpen(const Expr &expr) const {
    bool found = false;
    walk(expr, [&](const ExprNode &node) {
      found |= node.kind == Expr::Kind::Loop && findOpen(node.loop);
    });
    return found;
  }

  /// Adds `factor` * expr; false if it is not affine in the open loops.
  bool decompose(const Expr &expr, IntExpr factor, Affine &out) const {
    if (expr->kind == Expr::Kind::Loop && findOpen(expr->loop)) {
      for (auto &[id, coefficient] : out.terms)
        if (id == expr->loop) {
          coefficient = coefficient + factor;
          return true;
        }
      out.terms.push_back({expr->loop, factor});
      return true;
    }
    if (expr->kind == Expr::Kind::Binary && mentionsOpen(expr)) {
      const Expr &a = expr->operands[0], &b = expr->operands[1];
      switch (expr->binary) {
      case BinaryFn::Add:
        return decompose(a, factor, out) && decompose(b, factor, out);
      case BinaryFn::Sub:
        return decompose(a, factor, out) && decompose(b, -factor, out);
      case BinaryFn::Mul:
        if (b->kind == Expr::Kind::Int)
          return decompose(a, factor * b->integer, out);
        if (a->kind == Expr::Kind::Int)
          return decompose(b, factor * a->integer, out);
        return false;
      default:
        return false;
      }
    }
    if (mentionsOpen(expr))
      return false;
    out.rest = out.rest + expr * factor;
    return true;
  }

  std::optional<Affine> affineOf(const Expr &index) const {
    Affine affine{{}, builder.index(0)};
    if (!decompose(index, IntExpr::constant(builder.getContext(), 1), affine))
      return std::nullopt;
    llvm::erase_if(affine.terms,
                   [](const auto &term) { return term.second.isConstant(0); });
    return affine;
  }

  bool solveOne(Effort effort) {
    for (unsigned i = 0; i < unsolved.size(); ++i) {
      if (!unsolved[i])
        continue;
      std::optional<Affine> affine = affineOf(unsolved[i]);
      if (!affine || affine->terms.empty())
        continue;
      if (effort == Effort::Digit ? solveDigit(i, *affine)
                                  : solveFor(i, *affine, effort))
        return true;
    }
    return false;
  }

  /// target = rest + l + e * (...), 0 <= l < e.
  bool solveDigit(unsigned i, const Affine &affine) {
    if (affine.terms.size() < 2)
      return false;
    for (auto [id, coefficient] : affine.terms) {
      IntExpr extent = findOpen(id)->loop.extent;
      if (!coefficient.isConstant(1))
        continue;
      Expr more = builder.index(0);
      bool isDigit = llvm::all_of(affine.terms, [&, id = id](const auto &term) {
        if (term.first == id)
          return true;
        std::optional<IntExpr> multiple = term.second.exactDiv(extent);
        if (multiple)
          more = more + loopExpr(more, term.first) * *multiple;
        return multiple.has_value();
      });
      if (!isDigit)
        continue;
      Expr number = target[i] - affine.rest;
      close(id, mod(number, extent), /*isInRange=*/true);
      unsolved[i] = more;
      target[i] = floorDiv(number, extent);
      return true;
    }
    return false;
  }

  bool solveFor(unsigned i, const Affine &affine, Effort effort) {
    const std::pair<unsigned, IntExpr> *best = nullptr;
    auto isUnit = [](IntExpr c) { return c.isConstant(1) || c.isConstant(-1); };
    for (const auto &term : affine.terms) {
      bool isPossible = effort == Effort::Any ||
                        (effort == Effort::Alone
                             ? affine.terms.size() == 1 && isUnit(term.second)
                             : findOpen(term.first)->isOuter);
      if (isPossible &&
          (!best || (isUnit(term.second) && !isUnit(best->second))))
        best = &term;
    }
    if (!best)
      return false;
    auto [id, coefficient] = *best;
    Expr number = target[i] - affine.rest;
    for (const auto &[other, weight] : affine.terms)
      if (other != id)
        number = number - loopExpr(number, other) * weight;
    std::optional<int64_t> constant = coefficient.asConstant();
    if (constant && *constant < 0) {
      number = builder.index(0) - number;
      coefficient = -coefficient;
    }
    if (!coefficient.isConstant(1))
      conditions.push_back(compare(ComparePredicate::EQ,
                                   mod(number, coefficient), builder.index(0)));
    unsolved[i] = Expr();
    close(id, floorDiv(number, coefficient), /*isInRange=*/false);
    return true;
  }

  void close(unsigned id, const Expr &value, bool isInRange) {
    OpenLoop one = *findOpen(id);
    llvm::erase_if(open, [&](const OpenLoop &o) { return o.loop.id == id; });
    auto here = [&](const Expr &expr) {
      return rewrite(expr, [&](const ExprNode &node) -> Expr {
        return node.kind == Expr::Kind::Loop && node.loop == id ? value
                                                                : Expr();
      });
    };
    for (Expr &index : unsolved)
      if (index)
        index = here(index);
    for (auto &[loop, other] : values)
      other = here(other);
    for (Expr &condition : conditions)
      condition = here(condition);
    values[id] = value;
    bool isWhole =
        one.isOuter && id < nextLoopOfSplits && contribution.vanishesOutside;
    if (isInRange || isWhole ||
        isEvidentlyInRange(value, one.loop.extent, extents))
      return;
    conditions.push_back(
        compare(ComparePredicate::GE, value, builder.index(0)));
    conditions.push_back(
        compare(ComparePredicate::LT, value, builder.integer(one.loop.extent)));
  }

  DefinitionBuilder &builder;
  const Contribution &contribution;
  DenseMap<unsigned, IntExpr> extents;
  SmallVector<Expr> target;
  SmallVector<Expr> unsolved;
  SmallVector<OpenLoop> open;
  static constexpr unsigned nextLoopOfSplits = 2 * firstForeignLoop;
  unsigned nextLoop = nextLoopOfSplits;
};

} // namespace

Expr gather(DefinitionBuilder &builder, const Contribution &contribution,
            ArrayRef<Expr> target, const DenseMap<unsigned, IntExpr> &extents) {
  Equations equations(builder, contribution, target, extents);
  equations.solve();
  auto summand = [&](const DenseMap<unsigned, Expr> &open) {
    DenseMap<unsigned, Expr> values = open;
    for (const auto &[id, value] : equations.values)
      values[id] = withLoops(builder, value, open);
    Expr element = withLoops(builder, contribution.value, values);
    Expr holds;
    for (const Expr &condition : equations.conditions) {
      Expr one = withLoops(builder, condition, open);
      holds = holds ? binary(BinaryFn::And, holds, one) : one;
    }
    return holds ? select(holds, element, builder.constant(element->type, 0))
                 : element;
  };
  SmallVector<Loop> loops = equations.getOpen();
  if (loops.empty())
    return summand(DenseMap<unsigned, Expr>());
  SmallVector<IntExpr> bounds;
  for (const Loop &loop : loops)
    bounds.push_back(loop.extent);
  return builder.reduce(ReduceKind::Sum, bounds, [&](ArrayRef<Expr> fresh) {
    DenseMap<unsigned, Expr> open;
    for (auto [loop, variable] : llvm::zip(loops, fresh))
      open[loop.id] = variable;
    return summand(open);
  });
}

} // namespace mlc::adjoint
