//===- LinalgLoops.cpp - Loops that write slices or accumulate ------------===//
//
// The body is read once, with the loop's variable as a symbol and the carried
// tensor as an unknown m. If the slice that iteration t writes moves with t,
// the iteration that writes element j is t = (j - first) div step, which is
// unique because a slice is not longer than a step. If it does not move, the
// body must be m(j) + g(j, t), and the loop adds the sum of g.
//
//===----------------------------------------------------------------------===//

#include "verifier/read/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Markers
//===----------------------------------------------------------------------===//

static bool isMarker(const ExprNode &node, const std::string &marker) {
  return node.kind == Expr::Kind::Param && node.parameter == marker;
}

static bool hasMarker(const Expr &expr, const std::string &marker) {
  bool found = false;
  walk(expr, [&](const ExprNode &node) { found |= isMarker(node, marker); });
  return found;
}

static bool sameIndex(const Expr &a, const Expr &b) {
  if (a->kind != b->kind || a->loop != b->loop || a->integer != b->integer ||
      a->binary != b->binary || a->operands.size() != b->operands.size())
    return false;
  return llvm::all_of(llvm::zip(a->operands, b->operands), [](auto pair) {
    return sameIndex(std::get<0>(pair), std::get<1>(pair));
  });
}

LinalgReader::Tensor LinalgReader::markerTensor(const Tensor &like,
                                                const std::string &marker) {
  Tensor tensor{like.dims, like.elementType, {}, {}};
  tensor.at = [this, marker, type = like.elementType](Indices at) {
    ExprNode node(Expr::Kind::Param, type);
    node.parameter = marker;
    for (IntExpr index : at)
      node.operands.push_back(toExpr(index));
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  };
  return tensor;
}

/// The marker at element `at`, and nowhere else, becomes `value`.
Expr LinalgReader::replaceMarker(const Expr &expr, const std::string &marker,
                                 Indices at, const Expr &value) {
  if (!hasMarker(expr, marker))
    return expr;
  return rewrite(expr, [&](const ExprNode &node) {
    if (!isMarker(node, marker))
      return Expr();
    for (auto [operand, index] : llvm::zip(node.operands, at))
      if (!sameIndex(operand, toExpr(index)))
        return failExpr("a loop reads elements that it writes elsewhere",
                        value->type);
    return value;
  });
}

static Expr zeroOf(Type type) {
  ExprNode node(Expr::Kind::Constant, type);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

/// g where `expr` is m(at) + g.
Expr LinalgReader::addend(const Expr &expr, const std::string &marker,
                          Indices at) {
  const ExprNode &node = *expr;
  if (isMarker(node, marker)) {
    replaceMarker(expr, marker, at, expr);
    return zeroOf(node.type);
  }
  if (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::Add) {
    bool left = hasMarker(node.operands[0], marker),
         right = hasMarker(node.operands[1], marker);
    if (left != right)
      return addend(node.operands[right], marker, at) + node.operands[left];
  }
  if (node.kind == Expr::Kind::Select && !hasMarker(node.operands[0], marker))
    return mlc::select(node.operands[0], addend(node.operands[1], marker, at),
                       addend(node.operands[2], marker, at));
  return failExpr("a loop neither writes disjoint slices nor adds to a tensor",
                  node.type);
}

Expr LinalgReader::substituteSymbol(const Expr &expr, IntExpr symbol,
                                    IntExpr value) {
  Substitution map{{symbol.getSymbol().str(), value}};
  return rewrite(expr, [&](const ExprNode &node) {
    if (node.kind != Expr::Kind::Int || !mentions(node.integer, symbol))
      return Expr();
    return toExpr(substitute(node.integer, map));
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

IntExpr LinalgReader::bindVariable(Value variable) {
  return IntExpr::symbol(context, "%I" + std::to_string(numVariables++));
}

static IntExpr replaceSymbol(IntExpr expr, IntExpr symbol, IntExpr value) {
  return substitute(expr, Substitution{{symbol.getSymbol().str(), value}});
}

/// The coefficient of `symbol` and the remaining terms; nullopt if it occurs
/// nonlinearly.
static std::optional<std::pair<IntExpr, IntExpr>> linearIn(IntExpr expr,
                                                           IntExpr symbol) {
  IntExpr zero = IntExpr::constant(expr.getContext(), 0);
  IntExpr rest = replaceSymbol(expr, symbol, zero);
  std::optional<IntExpr> coefficient = (expr - rest).exactDiv(symbol);
  if (expr == rest)
    return std::pair(zero, rest);
  if (!coefficient || mentions(*coefficient, symbol))
    return std::nullopt;
  return std::pair(*coefficient, rest);
}

/// Iterations write slices that move with the loop's variable.
std::optional<LinalgReader::Tensor>
LinalgReader::afterWrites(const LoopRange &range, const Tensor &init,
                          const Tensor &next, const std::string &marker) {
  IntExpr t = integers[range.variable]; // lower + step * iteration
  auto iterationOf = [t, range, next](Indices at) -> std::optional<IntExpr> {
    SmallVector<IntExpr> guards = next.update->nonNegatives(at);
    for (IntExpr low : guards) {
      auto below = linearIn(low, t);
      if (!below || !(-below->first).isKnownPositive())
        continue;
      // move * (lower + step * n) <= below->second.
      IntExpr move = -below->first, stride = move * range.step;
      for (IntExpr high : guards) {
        // 0 <= low, 0 <= high, low + high < stride: one iteration only.
        if (high != low && isPlainlyNonNegative(stride - 1 - low - high, {}))
          return range.lower +
                 (below->second - move * range.lower).floorDiv(stride) *
                     range.step;
      }
    }
    return std::nullopt;
  };
  SmallVector<IntExpr> probe;
  for (size_t d = 0; d < init.dims.size(); ++d)
    probe.push_back(IntExpr::symbol(context, "%P" + std::to_string(d)));
  if (!iterationOf(probe)) {
    fail("a loop's slices are not proved disjoint");
    return std::nullopt;
  }
  Update update;
  update.base = init.at;
  update.nonNegatives = [iterationOf, next, range, t](Indices at) {
    IntExpr own = *iterationOf(at);
    SmallVector<IntExpr> guards{own - range.lower, range.upper - own - 1};
    for (IntExpr guard : next.update->nonNegatives(at))
      guards.push_back(replaceSymbol(guard, t, own));
    return guards;
  };
  update.value = [this, iterationOf, next, init, marker, t](Indices at) {
    Expr value = next.update->value(at);
    value = substituteSymbol(value, t, *iterationOf(at));
    // No other iteration has written here before.
    return replaceMarker(value, marker, at, init.at(at));
  };
  return updated(init.dims, init.elementType, update);
}

std::optional<LinalgReader::Tensor>
LinalgReader::afterLoop(const LoopRange &range, const Tensor &init,
                        const Tensor &next, const std::string &marker) {
  IntExpr t = integers[range.variable];
  if (next.dims != init.dims) {
    fail("a loop hands on a tensor of another size");
    return std::nullopt;
  }
  SmallVector<IntExpr> probe;
  for (size_t d = 0; d < init.dims.size(); ++d)
    probe.push_back(IntExpr::symbol(context, "%P" + std::to_string(d)));
  SmallVector<IntExpr> guards;
  if (next.update) {
    guards = next.update->nonNegatives(probe);
    const Expr base = next.update->base(probe);
    if (!isMarker(*base, marker)) {
      fail("a loop writes into another tensor than the one it hands on");
      return std::nullopt;
    }
    replaceMarker(base, marker, probe, zeroOf(init.elementType));
  }
  if (llvm::any_of(guards, [&](IntExpr g) { return mentions(g, t); }))
    return afterWrites(range, init, next, marker);

  IntExpr trips = (range.upper - range.lower).ceilDiv(range.step);
  trips = IntExpr::max(trips, constant(0));
  if (hasVariables(trips)) {
    fail("a loop that adds has a size that depends on another loop");
    return std::nullopt;
  }
  Element whole = next.update ? next.update->value : next.at;
  Element value = [this, whole, init, marker, t, trips, range](Indices at) {
    Expr added = addend(whole(at), marker, at);
    unsigned id = 0;
    IntExpr iteration = freshLoop(id);
    ExprNode node(Expr::Kind::Reduce, added->type);
    node.loops.push_back({id, trips});
    node.operands.push_back(
        substituteSymbol(added, t, range.lower + range.step * iteration));
    return init.at(at) +
           Expr(std::make_shared<const ExprNode>(std::move(node)));
  };
  if (!next.update)
    return Tensor{init.dims, init.elementType, value, {}};
  Update update{next.update->nonNegatives, value, init.at};
  return updated(init.dims, init.elementType, update);
}

bool LinalgReader::readFor(scf::ForOp op) {
  std::optional<IntExpr> lower = integerOf(op.getLowerBound()),
                         upper = integerOf(op.getUpperBound()),
                         step = integerOf(op.getStep());
  // The variable becomes a symbol, and symbols are never negative.
  if (!lower || !upper || !step || !step->isKnownPositive() ||
      !lower->isKnownNonNegative())
    return fail("a loop with unknown bounds");
  LoopRange range{*lower, *upper, *step, op.getInductionVar()};
  integers[range.variable] = bindVariable(range.variable);
  std::vector<Tensor> inits;
  std::vector<std::string> markers;
  auto yields = op.getBody()->getTerminator()->getOperands();
  for (auto [argument, init, yielded] :
       llvm::zip(op.getRegionIterArgs(), op.getInitArgs(), yields)) {
    std::optional<Tensor> tensor = tensorOf(init);
    if (!tensor)
      return fail("a loop that hands on something that is no tensor");
    // A tensor that every iteration passes on unchanged keeps its value.
    if (yielded == argument) {
      tensors[argument] = *tensor;
      markers.emplace_back();
      inits.push_back(*tensor);
      continue;
    }
    markers.push_back("%handed" + std::to_string(numMarkers++));
    inits.push_back(*tensor);
    tensors[argument] = markerTensor(*tensor, markers.back());
  }
  around.push_back(range);
  for (Operation &inner : op.getBody()->without_terminator())
    if (!read(&inner))
      return false;
  around.pop_back();
  for (auto [i, yielded] : llvm::enumerate(yields)) {
    if (markers[i].empty()) {
      tensors[op.getResult(i)] = inits[i];
      continue;
    }
    std::optional<Tensor> next = tensorOf(yielded);
    if (!next)
      return fail("a loop that yields no tensor");
    std::optional<Tensor> result =
        afterLoop(range, inits[i], *next, markers[i]);
    if (!result)
      return false;
    tensors[op.getResult(i)] = *result;
  }
  return true;
}

/// A forall is read as nested loops; each writes slices.
bool LinalgReader::readForall(scf::ForallOp op) {
  std::vector<LoopRange> ranges;
  for (auto [l, u, s, variable] :
       llvm::zip(op.getMixedLowerBound(), op.getMixedUpperBound(),
                 op.getMixedStep(), op.getInductionVars())) {
    std::optional<IntExpr> lower = integerOf(l), upper = integerOf(u),
                           step = integerOf(s);
    if (!lower || !upper || !step || !step->isKnownPositive() ||
        !lower->isKnownNonNegative())
      return fail("a loop with unknown bounds");
    integers[variable] = bindVariable(variable);
    ranges.push_back({*lower, *upper, *step, variable});
  }
  std::vector<Tensor> inits;
  std::vector<std::string> markers;
  for (auto [argument, init] :
       llvm::zip(op.getRegionIterArgs(), op.getOutputs())) {
    std::optional<Tensor> tensor = tensorOf(init);
    if (!tensor)
      return fail("a loop that hands on something that is no tensor");
    markers.push_back("%handed" + std::to_string(numMarkers++));
    inits.push_back(*tensor);
    tensors[argument] = markerTensor(*tensor, markers.back());
  }
  llvm::append_range(around, ranges);
  for (Operation &inner : op.getBody()->without_terminator())
    if (!read(&inner))
      return false;
  for (Operation &inner : op.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(inner);
    if (!insert)
      return fail("'" + inner.getName().getStringRef() +
                  "' is beyond the verifier");
    auto *it = llvm::find(op.getRegionIterArgs(), insert.getDest());
    unsigned i = it - op.getRegionIterArgs().begin();
    if (tensors.count(op.getResult(i)) ||
        !readInsert(op.getResult(i), insert.getSource(), insert.getDest(),
                    insert, insert.getSourceType()))
      return fail("a loop that writes one tensor twice");
    Tensor next = tensors[op.getResult(i)];
    for (size_t k = ranges.size(); k-- > 0;) {
      // Outside the innermost loop the tensor is still the initial one.
      Tensor outside = k ? markerTensor(inits[i], markers[i]) : inits[i];
      std::optional<Tensor> result =
          afterLoop(ranges[k], outside, next, markers[i]);
      if (!result || !result->update)
        return fail("a parallel loop's slices are not proved disjoint");
      next = *result;
    }
    tensors[op.getResult(i)] = next;
  }
  around.resize(around.size() - ranges.size());
  return true;
}

} // namespace mlc::verifier
