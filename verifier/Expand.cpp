//===- Expand.cpp - From a definition to normal forms ---------------------===//

#include "verifier/Expand.h"
#include "verifier/Program.h"
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

/// The points of a domain for which `facts` hold.
static Domain guardedBy(Domain domain, const Facts &facts) {
  llvm::append_range(domain.guards, facts.getGuards());
  return domain;
}

void Expander::require(Obligation::Kind kind, const Sum &value, mlir::Type type,
                       const Scope &scope) {
  obligations.push_back(
      {kind, guardedBy(scope.domain, scope.facts), value, type});
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Sum Expander::expandResult(unsigned result, ArrayRef<IntExpr> indices,
                           const Facts &facts) {
  return readTensor({true, definition.results[result]}, indices, facts, {});
}

Sum Expander::readTensor(TensorId tensor, ArrayRef<IntExpr> indices,
                         const Facts &facts, const Domain &domain) {
  if (!n.getBudget().check() || !failure.empty())
    return {};
  if (!tensor.isStage) {
    bool allEqual = tensor.index < n.settings.inputs.size() &&
                    n.settings.inputs[tensor.index].allEqual;
    Sum element =
        atomSum(makeRead(tensor.index, allEqual ? ArrayRef<IntExpr>() : indices,
                         isBool(definition.inputs[tensor.index].elementType)));
    if (tensor.index < n.settings.inputs.size() &&
        n.settings.inputs[tensor.index].isPartial)
      obligations.push_back({Obligation::Kind::Defined,
                             guardedBy(domain, facts), element,
                             definition.inputs[tensor.index].elementType});
    return element;
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
    Scope scope{loops, known, domain};
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
  Sum value = n.call("t" + std::to_string(node.tensor.index) + "@", arguments,
                     scope.facts, isBoolean);
  if (!node.guarded)
    return value;
  for (IntExpr dim : definition.inputs[node.tensor.index].dims)
    arguments.push_back(n.integerSum(dim));
  Sum inside = n.call("in-range", arguments, scope.facts, /*isBoolean=*/true);
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
    return readTensor(node.tensor, indices, scope.facts, scope.domain);
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
  Sum inside = readTensor(node.tensor, indices, known, scope.domain);
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
  // A frame of this and of what it calls takes about 2 KiB.
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
    return isFloat(node.type) ? numberSum(node.type, node.number)
                              : constantSum(Fraction(node.integerNumber));
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
  // Nothing may depend on it: 0 != 0 wherever it is read.
  require(Obligation::Kind::NonZero, Sum(), node.type, scope);
  std::vector<Sum> indices;
  for (const Expr &index : node.operands)
    indices.push_back(expand(index, scope));
  return n.call(node.parameter, std::move(indices), scope.facts);
}

/// An operation on elements that strict proofs leave uninterpreted.
Sum Expander::arithmetic(StringRef function, std::vector<Sum> arguments,
                         mlir::Type type, const Scope &scope) {
  return n.call(function, std::move(arguments), scope.facts, isBool(type));
}

Sum Expander::expandUnary(const ExprNode &node, const Scope &scope) {
  Sum x = expand(node.operands[0], scope);
  bool strict = n.settings.strict && isFloat(node.type);
  std::string function = named(name(node.unary), node.type);
  switch (node.unary) {
  case UnaryFn::Not:
    // ~x = -x - 1 modulo 2^w.
    return add(constantSum(Fraction(isBool(node.type) ? 1 : -1)), negated(x));
  case UnaryFn::Reciprocal:
    require(Obligation::Kind::NonZero, x, node.type, scope);
    return strict ? arithmetic("recip", {x}, node.type, scope)
                  : n.reciprocal(x, scope.facts);
  case UnaryFn::Neg:
    if (isBool(node.type))
      return x;
    return strict ? arithmetic("neg", {x}, node.type, scope) : negated(x);
  case UnaryFn::Sqrt:
    require(Obligation::Kind::NonNegative, x, node.type, scope);
    break;
  case UnaryFn::Log:
    require(Obligation::Kind::Positive, x, node.type, scope);
    break;
  case UnaryFn::Abs:
    if (isBool(node.type))
      return x;
    if (isIndex(node.type)) // of the integers, which are among the reals
      function = "abs";
    break;
  default:
    break;
  }
  return n.apply(function, {x}, scope.facts, isBool(node.type));
}

/// Operations on truth values: arithmetic is modulo 2.
std::optional<Sum> Expander::boolean(BinaryFn fn, const Sum &a, const Sum &b) {
  switch (fn) {
  case BinaryFn::And:
  case BinaryFn::Mul:
  case BinaryFn::Min:
    return n.multiply(a, b);
  case BinaryFn::Or:
  case BinaryFn::Max:
    return add(add(a, b), negated(n.multiply(a, b)));
  case BinaryFn::Xor:
  case BinaryFn::Add:
  case BinaryFn::Sub:
    return add(add(a, b), scaled(n.multiply(a, b), Fraction(-2)));
  default:
    return std::nullopt;
  }
}

Sum Expander::expandBinary(const ExprNode &node, const Scope &scope) {
  Sum a = expand(node.operands[0], scope), b = expand(node.operands[1], scope);
  bool real = isFloat(node.type), strict = n.settings.strict && real;
  if (isBool(node.type))
    if (std::optional<Sum> known = boolean(node.binary, a, b))
      return *known;
  auto uninterpreted = [&] {
    return n.call(named(name(node.binary), node.type), {a, b}, scope.facts,
                  isBool(node.type));
  };
  switch (node.binary) {
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
    return uninterpreted();
  case BinaryFn::Add:
    return strict ? arithmetic("add", {a, b}, node.type, scope)
                  : add(a, b, &n.numCancelled);
  case BinaryFn::Sub:
    return strict ? arithmetic("sub", {a, b}, node.type, scope)
                  : add(a, negated(b), &n.numCancelled);
  case BinaryFn::Mul:
    return strict ? arithmetic("mul", {a, b}, node.type, scope)
                  : n.multiply(a, b);
  case BinaryFn::Div:
    require(Obligation::Kind::NonZero, b, node.type, scope);
    if (strict || !real)
      return uninterpreted();
    return n.multiply(a, n.reciprocal(b, scope.facts));
  case BinaryFn::Min:
  case BinaryFn::Max: {
    bool isMin = node.binary == BinaryFn::Min;
    if (!real || !isMin || strict)
      return n.reduce(named(isMin ? "min" : "max", node.type),
                      {{{}, a}, {{}, b}}, scope.facts);
    return negated(
        n.reduce("max", {{{}, negated(a)}, {{}, negated(b)}}, scope.facts));
  }
  case BinaryFn::Pow:
    if (std::optional<Fraction> exponent = asConstant(b);
        exponent && !strict && exponent->den == 1 && *exponent >= Fraction(0) &&
        *exponent <= Fraction(4))
      return n.power(a, static_cast<int>(static_cast<int64_t>(exponent->num)));
    if (real)
      require(Obligation::Kind::Positive, a, node.type, scope);
    return uninterpreted();
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    require(Obligation::Kind::NonZero, b, node.type, scope);
    return uninterpreted();
  }
  llvm_unreachable("unknown function");
}

/// a < b, or a = b.
Sum Expander::ordered(bool isEquality, const Sum &a, const Sum &b,
                      mlir::Type type, const Scope &scope) {
  if (isBool(type)) {
    Sum both = n.multiply(a, b);
    if (!isEquality)
      return add(b, negated(both));
    Sum differs = add(add(a, b), scaled(both, Fraction(-2)));
    return add(constantSum(Fraction(1)), negated(differs));
  }
  // Integers beyond a width have no difference whose sign is their order.
  bool isModular = mlir::isa<mlir::IntegerType>(type);
  if (isModular && !isEquality)
    return n.apply(named("<", type), {a, b}, scope.facts, /*isBoolean=*/true);
  std::string function = isModular    ? named("zero", type)
                         : isEquality ? "zero"
                                      : "positive";
  return n.apply(function, {add(b, negated(a))}, scope.facts,
                 /*isBoolean=*/true);
}

Sum Expander::expandCompare(const ExprNode &node, const Scope &scope) {
  ComparePredicate predicate = node.predicate;
  bool swap =
      predicate == ComparePredicate::GT || predicate == ComparePredicate::GE;
  const Expr &left = node.operands[swap], &right = node.operands[!swap];
  bool negate = predicate == ComparePredicate::NE ||
                predicate == ComparePredicate::LE ||
                predicate == ComparePredicate::GE;
  bool isEquality =
      predicate == ComparePredicate::EQ || predicate == ComparePredicate::NE;
  // a <= b is not (b < a).
  bool reversed = !isEquality && negate;
  const Expr &low = reversed ? right : left, &high = reversed ? left : right;
  Sum result;
  std::optional<IntExpr> a, b;
  if (isIndex(left->type)) {
    a = toIndex(low, scope);
    b = toIndex(high, scope);
  }
  if (a && b) {
    Guard guard = isEquality ? Guard::zero(*b - *a) : Guard::less(*a, *b);
    result = indicator({scope.facts.simplify(guard)});
    result = n.simplify(result, scope.facts);
  } else {
    Sum x = expand(low, scope), y = expand(high, scope);
    // NaN makes a < b and not (b <= a) differ, so nothing is rearranged.
    if (n.settings.strict && isFloat(left->type))
      return n.call(name(predicate),
                    reversed ? std::vector<Sum>{y, x} : std::vector<Sum>{x, y},
                    scope.facts, /*isBoolean=*/true);
    result = ordered(isEquality, x, y, left->type, scope);
  }
  return negate ? add(constantSum(Fraction(1)), negated(result)) : result;
}

/// Whether a truth value depends on indices alone.
static bool isDecidedByGuards(const Sum &condition) {
  return llvm::all_of(condition.terms,
                      [](const Term &t) { return t.factors.empty(); });
}

Sum Expander::expandSelect(const ExprNode &node, const Scope &scope) {
  Sum condition = expand(node.operands[0], scope);
  if (n.settings.strict && !isDecidedByGuards(condition))
    return n.call("select",
                  {condition, expand(node.operands[1], scope),
                   expand(node.operands[2], scope)},
                  scope.facts, isBool(node.type));
  // Only what holds where a side is chosen makes that side defined.
  return n.mapCases(condition, scope.facts, [&](const Sum &c, const Facts &f) {
    Scope inner{scope.loops, f, scope.domain};
    if (std::optional<Fraction> known = asConstant(c))
      return expand(node.operands[*known == Fraction(0) ? 2 : 1], inner);
    Sum yes = expand(node.operands[1], inner),
        no = expand(node.operands[2], inner);
    return add(no, n.multiply(c, add(yes, negated(no))));
  });
}

/// What a reduction of truth values is, as monoids are called.
static StringRef booleanMonoid(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Max:
  case ReduceKind::Any:
    return "any";
  case ReduceKind::Min:
  case ReduceKind::Prod:
  case ReduceKind::All:
    return "all";
  case ReduceKind::Sum:
    return "parity";
  }
  llvm_unreachable("unknown reduction");
}

Sum Expander::expandReduce(const ExprNode &node, const Scope &scope) {
  Environment loops = scope.loops;
  Facts facts = scope.facts;
  Domain own, around = scope.domain;
  for (const Loop &loop : node.loops) {
    IntExpr variable = n.freshVariable();
    loops[loop.id] = variable;
    Guard bound = Guard::less(variable, loop.extent);
    own.variables.push_back(variable);
    own.guards.push_back(bound);
    around.variables.push_back(variable);
    facts.add(bound);
  }
  Scope inner{loops, facts, around};
  Sum body = expand(node.operands[0], inner);
  bool real = isFloat(node.type), strict = n.settings.strict && real;
  auto reduce = [&](StringRef monoid) {
    return n.reduce(monoid, {{own, body}}, scope.facts);
  };
  if (isBool(node.type))
    return reduce(booleanMonoid(node.reduce));
  switch (node.reduce) {
  case ReduceKind::Sum:
    return strict ? reduce("ordered-sum")
                  : n.simplify(n.sumOver(own, body), scope.facts);
  case ReduceKind::Min:
    if (real && !strict)
      return negated(n.reduce("max", {{own, negated(body)}}, scope.facts));
    break;
  case ReduceKind::Prod:
  case ReduceKind::Max:
  case ReduceKind::Any:
  case ReduceKind::All:
    break;
  }
  return reduce(named(name(node.reduce), node.type));
}

} // namespace mlc::verifier
