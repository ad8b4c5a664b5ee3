//===- Expand.cpp - From a definition to normal forms ---------------------===//

#include "verifier/search/Expand.h"
#include "verifier/read/Program.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::verifier {

static bool isFloat(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type);
}
static bool isBool(mlir::Type type) { return type.isInteger(1); }
static bool isIndex(mlir::Type type) {
  return mlir::isa<mlir::IndexType>(type);
}

Sum Expander::fail(const llvm::Twine &reason) {
  if (failure.empty())
    failure = reason.str();
  return {};
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Sum Expander::expandResult(unsigned result, ArrayRef<IntExpr> indices,
                           const Facts &facts) {
  return readTensor({true, definition.results[result]}, indices, facts);
}

Sum Expander::readTensor(TensorId tensor, ArrayRef<IntExpr> indices,
                         const Facts &facts) {
  if (!n.getBudget().check() || !failure.empty())
    return {};
  if (!tensor.isStage) {
    bool allEqual = tensor.index < n.settings.inputs.size() &&
                    n.settings.inputs[tensor.index].allEqual;
    return atomSum(
        makeRead(tensor.index, allEqual ? ArrayRef<IntExpr>() : indices,
                 isBool(definition.inputs[tensor.index].elementType)));
  }
  const Stage &stage = definition.stages[tensor.index];
  Sum result;
  for (const Piece &piece : stage.pieces) {
    Environment loops;
    SmallVector<Guard> guards;
    Facts known = facts;
    bool isEmpty = false;
    for (auto [d, loop] : llvm::enumerate(piece.loops)) {
      IntExpr local = indices[d] - piece.offset[d];
      loops[loop.id] = local;
      if (stage.pieces.size() == 1)
        continue;
      for (Guard guard :
           {Guard::nonNegative(local), Guard::less(local, loop.extent)}) {
        isEmpty |= known.refutes(guard);
        if (known.implies(guard))
          continue;
        guards.push_back(guard);
        known.add(guard);
      }
    }
    if (isEmpty)
      continue;
    Scope scope{loops, known};
    result = add(result, guarded(expand(piece.body, scope), guards));
  }
  return result;
}

/// An input at an index that depends on values: uninterpreted.
Sum Expander::readOpaque(const ExprNode &node, const Scope &scope) {
  if (node.tensor.isStage)
    return fail("an index of stage '" +
                definition.stages[node.tensor.index].name +
                "' depends on the values of a tensor");
  std::vector<Sum> arguments;
  for (const Expr &index : node.indices())
    arguments.push_back(expand(index, scope));
  bool isBoolean = isBool(node.type);
  Sum value =
      n.call(Head::uninterpreted("t" + llvm::Twine(node.tensor.index) + "@"),
             arguments, scope.facts, isBoolean);
  if (!node.guarded)
    return value;
  for (IntExpr dim : definition.inputs[node.tensor.index].dims)
    arguments.push_back(n.integerSum(dim));
  Sum inside = n.call(Head::uninterpreted("in-range"), arguments, scope.facts,
                      /*isBoolean=*/true);
  Sum otherwise = expand(node.operands.back(), scope);
  return add(otherwise, n.multiply(inside, add(value, negated(otherwise))));
}

Sum Expander::expandRead(const ExprNode &node, const Scope &scope) {
  SmallVector<IntExpr> indices;
  for (const Expr &index : node.indices()) {
    std::optional<IntExpr> value = toIndex(index, scope);
    if (!value)
      return readOpaque(node, scope);
    indices.push_back(scope.facts.simplify(*value));
  }
  if (!node.guarded)
    return readTensor(node.tensor, indices, scope.facts);
  SmallVector<Guard> guards;
  Facts known = scope.facts;
  TensorShape shape = definition.shapeOf(node.tensor);
  for (auto [index, dim] : llvm::zip(indices, shape.dims))
    for (Guard guard : {Guard::nonNegative(index), Guard::less(index, dim)}) {
      if (known.refutes(guard))
        return expand(node.operands.back(), scope);
      if (known.implies(guard))
        continue;
      guards.push_back(guard);
      known.add(guard);
    }
  Sum inside = readTensor(node.tensor, indices, known);
  if (guards.empty())
    return inside;
  Sum otherwise = expand(node.operands.back(), scope);
  return add(otherwise, guarded(add(inside, negated(otherwise)), guards));
}

//===----------------------------------------------------------------------===//
// Index expressions
//===----------------------------------------------------------------------===//

std::optional<IntExpr> Expander::fromSum(const Sum &sum) {
  IntExpr result = n.integer(0);
  for (const Term &term : sum.terms) {
    if (!term.domain.variables.empty() || !term.domain.guards.empty() ||
        term.coefficient.den != 1 ||
        abs(term.coefficient.num) > std::numeric_limits<int64_t>::max())
      return std::nullopt;
    IntExpr product = n.integer(static_cast<int64_t>(term.coefficient.num));
    for (const Factor &factor : term.factors) {
      if (factor.atom->kind != Atom::Kind::Integer || factor.power < 0)
        return std::nullopt;
      for (int i = 0; i < factor.power; ++i)
        product = product * factor.atom->index[0];
    }
    result = result + product;
  }
  return result;
}

std::optional<IntExpr> Expander::toIndex(const Expr &expr, const Scope &scope) {
  return toIndex(*expr, scope);
}

std::optional<IntExpr> Expander::toIndex(const ExprNode &node,
                                         const Scope &scope) {
  auto operand = [&](unsigned i) { return toIndex(node.operands[i], scope); };
  switch (node.kind) {
  case Expr::Kind::Loop:
    return scope.loops.at(node.loop);
  case Expr::Kind::Int:
    return node.integer;
  case Expr::Kind::Unary: {
    std::optional<IntExpr> a = operand(0);
    if (!a || node.unary != UnaryFn::Neg)
      return std::nullopt;
    return -*a;
  }
  case Expr::Kind::Binary: {
    std::optional<IntExpr> a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    switch (node.binary) {
    case BinaryFn::Add:
      return *a + *b;
    case BinaryFn::Sub:
      return *a - *b;
    case BinaryFn::Mul:
      return *a * *b;
    case BinaryFn::FloorDiv:
      return a->floorDiv(*b);
    case BinaryFn::Mod:
      return a->mod(*b);
    case BinaryFn::Min:
      return IntExpr::min(*a, *b);
    case BinaryFn::Max:
      return IntExpr::max(*a, *b);
    default:
      return std::nullopt;
    }
  }
  case Expr::Kind::Select: {
    Sum condition = expand(node.operands[0], scope);
    Sum known = n.simplify(condition, scope.facts);
    if (std::optional<Fraction> c = asConstant(known))
      return operand(*c == Fraction(0) ? 2 : 1);
    return std::nullopt;
  }
  case Expr::Kind::Cast:
    if (isFloat(node.operands[0]->type))
      return std::nullopt;
    return fromSum(expandCast(node, scope));
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Scalar expressions
//===----------------------------------------------------------------------===//

Sum Expander::expand(const Expr &expr, const Scope &scope) {
  if (!n.getBudget().check() || !failure.empty())
    return {};
  // A frame of this function and its callees takes about 2 KiB.
  constexpr unsigned maxDepth = 1500;
  if (depth >= maxDepth)
    return fail("an element is computed by a chain of too many operations");
  ++depth;
  Sum result = expandNode(*expr, scope);
  --depth;
  std::optional<IntegerKind> kind = integerKindOf(expr->type);
  return kind ? wrapped(std::move(result), *kind) : result;
}

Sum Expander::expandNode(const ExprNode &node, const Scope &scope) {
  if (isIndex(node.type) && node.kind != Expr::Kind::Cast)
    if (std::optional<IntExpr> index = toIndex(node, scope))
      return n.integerSum(scope.facts.simplify(*index));
  switch (node.kind) {
  case Expr::Kind::Loop:
    return n.integerSum(scope.loops.at(node.loop));
  case Expr::Kind::Int:
    return n.integerSum(node.integer);
  case Expr::Kind::Constant:
    if (!isFloat(node.type))
      return constantSum(Fraction(node.integerNumber));
    return numberSum(node.type, node.number);
  case Expr::Kind::Param:
    return expandParameter(node, scope);
  case Expr::Kind::Read:
    return expandRead(node, scope);
  case Expr::Kind::Unary:
    return expandUnary(node, scope);
  case Expr::Kind::Binary:
    return expandBinary(node, scope);
  case Expr::Kind::Compare:
    return expandCompare(node, scope);
  case Expr::Kind::Select:
    return expandSelect(node, scope);
  case Expr::Kind::Cast:
    return expandCast(node, scope);
  case Expr::Kind::Reduce:
    return expandReduce(node, scope);
  }
  llvm_unreachable("unknown expression");
}

Sum Expander::expandParameter(const ExprNode &node, const Scope &scope) {
  if (!StringRef(node.parameter).starts_with(uninitializedPrefix))
    return atomSum(makeReal(node.parameter));
  std::vector<Sum> indices;
  for (const Expr &index : node.operands)
    indices.push_back(expand(index, scope));
  return n.call(Head::uninterpreted(node.parameter), std::move(indices),
                scope.facts);
}

/// The monoid of a reduction of truth values.
static Head::Kind booleanMonoid(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Max:
  case ReduceKind::Any:
    return Head::Kind::Any;
  case ReduceKind::Min:
  case ReduceKind::Prod:
  case ReduceKind::All:
    return Head::Kind::All;
  case ReduceKind::Sum:
    return Head::Kind::Parity;
  }
  llvm_unreachable("unknown reduction");
}

Sum Expander::expandReduce(const ExprNode &node, const Scope &scope) {
  Environment loops = scope.loops;
  Facts facts = scope.facts;
  Domain own;
  for (const Loop &loop : node.loops) {
    IntExpr variable = n.freshVariable();
    loops[loop.id] = variable;
    Guard bound = Guard::less(variable, loop.extent);
    own.variables.push_back(variable);
    own.guards.push_back(bound);
    facts.add(bound);
  }
  Scope inner{loops, facts};
  Sum body = expand(node.operands[0], inner);
  bool real = isFloat(node.type);
  auto reduce = [&](const Head &monoid) {
    return n.reduce(monoid, {{own, body}}, scope.facts);
  };
  if (isBool(node.type))
    return reduce(booleanMonoid(node.reduce));
  switch (node.reduce) {
  case ReduceKind::Sum:
    return n.simplify(n.sumOver(own, body), scope.facts);
  case ReduceKind::Min:
    if (real)
      return negated(
          n.reduce(Head::Kind::Max, {{own, negated(body)}}, scope.facts));
    return reduce({Head::Kind::Min, node.type});
  case ReduceKind::Max:
    return reduce({Head::Kind::Max, node.type});
  case ReduceKind::Prod:
    return reduce({Head::Kind::Prod, node.type});
  case ReduceKind::Any:
  case ReduceKind::All:
    break;
  }
  llvm_unreachable("of truth values");
}

} // namespace mlc::verifier
