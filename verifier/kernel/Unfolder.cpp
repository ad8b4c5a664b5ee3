//===- Unfolder.cpp - How definitions become sums -------------------------===//

#include "verifier/kernel/Unfolder.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::kernel {

unsigned widthOf(mlir::Type type) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  return integer && integer.getWidth() > 1 ? integer.getWidth() : 0;
}

Integer integerOf(IntExpr expr) {
  auto fold = [&](Integer::Kind kind) {
    ArrayRef<IntExpr> operands = expr.getOperands();
    Integer result = integerOf(operands.front());
    for (IntExpr operand : operands.drop_front())
      result = Integer::apply(kind, result, integerOf(operand));
    return result;
  };
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return Integer(expr.getConstant());
  case IntExpr::Kind::Symbol:
    return Integer::size(expr.getSymbol());
  case IntExpr::Kind::Add:
    return fold(Integer::Kind::Add);
  case IntExpr::Kind::Mul:
    return fold(Integer::Kind::Multiply);
  case IntExpr::Kind::FloorDiv:
    return fold(Integer::Kind::FloorDivide);
  case IntExpr::Kind::Mod:
    return fold(Integer::Kind::Modulo);
  case IntExpr::Kind::Min:
    return fold(Integer::Kind::Minimum);
  case IntExpr::Kind::Max:
    return fold(Integer::Kind::Maximum);
  }
  llvm_unreachable("unknown integer");
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// All cases in one sum: exactly one term group has guards that hold.
Sum Unfolder::sumOf(const Value &value) {
  Sum result;
  for (const Case &one : value)
    result = add(std::move(result), guarded(one.value, one.guards));
  return result;
}

/// A function in each case of its operands. Where there are too many, an
/// operand is taken as one sum, which has the same value.
Value Unfolder::apply(ArrayRef<Value> operands, Function function) {
  constexpr size_t mostCases = 64;
  size_t count = 1;
  for (const Value &operand : operands)
    count = std::min(count * operand.size(), mostCases + 1);
  std::vector<Value> own(operands.begin(), operands.end());
  if (count > mostCases)
    for (Value &operand : own)
      operand = plain(sumOf(operand));
  Value result;
  std::vector<Sum> chosen;
  std::vector<Formula> guards;
  std::function<void(size_t)> next = [&](size_t i) {
    if (i == own.size()) {
      result.push_back({guards, function(chosen)});
      return;
    }
    for (const Case &one : own[i]) {
      size_t before = guards.size();
      llvm::append_range(guards, one.guards);
      chosen.push_back(one.value);
      next(i + 1);
      chosen.pop_back();
      guards.resize(before);
    }
  };
  next(0);
  return result;
}

/// Unlike sums, products have more parts than what they are made of, all of
/// which get other names.
Sum Unfolder::multiply(const Sum &a, const Sum &b) {
  constexpr uint64_t most = 5000000;
  if (!failure.empty())
    return {};
  multiplied += a.size() * nodesOf(b) + b.size() * nodesOf(a);
  if (multiplied > most * effort) {
    fail("an element takes too many operations");
    return {};
  }
  return kernel::multiply(a, b, names);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Value Unfolder::read(TensorId tensor, ArrayRef<Integer> indices,
                     const Scope &scope) {
  if (!tensor.isStage) {
    // Equal elements may be both zeros.
    bool isUniform = !assumptions.isLiteral &&
                     tensor.index < assumptions.inputs.size() &&
                     assumptions.inputs[tensor.index].isUniform;
    mlir::Type type = definition.inputs[tensor.index].elementType;
    return plain(single(makeRead(
        tensor.index, isUniform ? std::vector<Integer>() : indices.vec(),
        isTruth(type))));
  }
  Value result;
  forEachPiece(definition.stages[tensor.index], indices, scope,
               [&](const Piece &piece, const Scope &local) {
                 for (Case &one : unfold(piece.body, local)) {
                   llvm::append_range(
                       one.guards,
                       ArrayRef(local.guards).drop_front(scope.guards.size()));
                   result.push_back(std::move(one));
                 }
               });
  return result;
}

void Unfolder::forEachPiece(const Stage &stage, ArrayRef<Integer> indices,
                            const Scope &scope, OnPiece onPiece) {
  for (const Piece &piece : stage.pieces) {
    Scope local{{}, scope.guards, scope.variables};
    std::vector<Formula> bounds;
    for (auto [d, loop] : llvm::enumerate(piece.loops)) {
      Integer index = indices[d] - integerOf(piece.offset[d]);
      local.loops.insert({loop.id, index});
      if (stage.pieces.size() > 1)
        bounds.push_back(Formula::inRange(index, integerOf(loop.extent)));
    }
    if (!bounds.empty())
      local.guards.push_back(Formula::all(std::move(bounds)));
    onPiece(piece, local);
  }
}

/// The integers that an index may be, each with the condition under which it is
/// that; nothing if it is something else.
std::optional<Unfolder::Choice> Unfolder::indexChoice(const Expr &index,
                                                      const Scope &scope) {
  if (std::optional<Integer> known = integer(*index, scope))
    return Choice{{{}, *known}};
  Choice choice;
  if (index->kind == Expr::Kind::Select)
    if (std::optional<Formula> condition =
            formula(*index->operands[0], scope)) {
      std::optional<Integer> yes = integer(*index->operands[1], scope),
                             no = integer(*index->operands[2], scope);
      if (yes && no)
        return Choice{{*condition, *yes}, {Formula::negation(*condition), *no}};
    }
  return std::nullopt;
}

std::optional<std::vector<Unfolder::Way>> Unfolder::waysOf(const ExprNode &node,
                                                           const Scope &scope) {
  std::vector<Way> ways{{{}, true, {}}};
  for (const Expr &index : node.indices()) {
    std::optional<Choice> choice = indexChoice(index, scope);
    if (!choice || (choice->size() > 1 && !node.guarded))
      return std::nullopt;
    std::vector<Way> next;
    for (const Way &way : ways)
      for (const auto &[condition, integer] : *choice) {
        next.push_back(way);
        if (!condition.isTrue())
          next.back().guards.push_back(condition);
        next.back().indices.push_back(integer);
      }
    ways = std::move(next);
  }
  if (!node.guarded)
    return ways;
  std::vector<Way> both;
  for (const Way &way : ways) {
    std::vector<Formula> bounds;
    for (auto [index, dim] :
         llvm::zip(way.indices, definition.shapeOf(node.tensor).dims))
      bounds.push_back(Formula::inRange(index, integerOf(dim)));
    Formula inRange = Formula::all(std::move(bounds));
    both.push_back(way);
    both.back().guards.push_back(inRange);
    both.push_back({way.guards, false, {}});
    both.back().guards.push_back(Formula::negation(inRange));
  }
  return both;
}

Value Unfolder::unfoldRead(const ExprNode &node, const Scope &scope) {
  if (std::optional<std::vector<Way>> ways = waysOf(node, scope)) {
    Value result;
    for (const Way &way : *ways) {
      Scope where = scope;
      llvm::append_range(where.guards, way.guards);
      for (Case &one : way.isElement ? read(node.tensor, way.indices, where)
                                     : unfold(node.operands.back(), where)) {
        llvm::append_range(one.guards, way.guards);
        result.push_back(std::move(one));
      }
    }
    return result;
  }
  Anywhere read = readAnywhere(node, scope);
  if (!read.within)
    return read.element;
  Value otherwise = unfold(node.operands.back(), scope);
  return apply({*read.within, read.element, otherwise}, [&](ArrayRef<Sum> x) {
    return add(x[2], multiply(x[0], add(x[1], scaled(x[2], Rational(-1)))));
  });
}

Unfolder::Anywhere Unfolder::readAnywhere(const ExprNode &node,
                                          const Scope &scope) {
  if (node.tensor.isStage)
    return {fail("an index of stage '" +
                 definition.stages[node.tensor.index].name +
                 "' depends on the values of a tensor"),
            std::nullopt};
  std::vector<Value> values;
  for (const Expr &index : node.indices())
    values.push_back(unfold(index, scope));
  Anywhere result{
      call(Head::element(node.tensor.index), values, isTruth(node.type)),
      std::nullopt};
  if (!node.guarded)
    return result;
  for (IntExpr dim : definition.shapeOf(node.tensor).dims)
    values.push_back(plain(single(makeNumber(integerOf(dim)))));
  result.within = call(Head::Kind::InRange, values, /*truth=*/true);
  return result;
}

//===----------------------------------------------------------------------===//
// Indices and conditions on them
//===----------------------------------------------------------------------===//

std::optional<Integer> Unfolder::integer(const ExprNode &node,
                                         const Scope &scope) {
  if (node.kind == Expr::Kind::Loop)
    return scope.loops.at(node.loop);
  if (node.kind == Expr::Kind::Int)
    return integerOf(node.integer);
  if (!isIndex(node.type))
    return std::nullopt;
  if (node.kind == Expr::Kind::Unary && node.unary == UnaryFn::Neg) {
    std::optional<Integer> a = integer(*node.operands[0], scope);
    return a ? std::optional(Integer(0) - *a) : std::nullopt;
  }
  if (node.kind == Expr::Kind::Cast)
    return element(*node.operands[0], scope);
  if (node.kind != Expr::Kind::Binary)
    return std::nullopt;
  std::optional<Integer> a = integer(*node.operands[0], scope),
                         b = integer(*node.operands[1], scope);
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
    return Integer::apply(Integer::Kind::FloorDivide, *a, *b);
  case BinaryFn::Mod:
    return Integer::apply(Integer::Kind::Modulo, *a, *b);
  case BinaryFn::Min:
    return Integer::apply(Integer::Kind::Minimum, *a, *b);
  case BinaryFn::Max:
    return Integer::apply(Integer::Kind::Maximum, *a, *b);
  default:
    return std::nullopt;
  }
}

/// An element of an input of integers, made an index; also as stages hand it on
/// that move elements alone.
std::optional<Integer> Unfolder::element(const ExprNode &node,
                                         const Scope &scope) {
  if (node.kind != Expr::Kind::Read || node.guarded || !widthOf(node.type))
    return std::nullopt;
  std::vector<Integer> indices;
  for (const Expr &index : node.indices())
    if (std::optional<Integer> known = integer(*index, scope))
      indices.push_back(*known);
    else
      return std::nullopt;
  if (node.tensor.isStage) {
    llvm::ArrayRef<Piece> pieces = definition.stages[node.tensor.index].pieces;
    if (pieces.size() != 1)
      return std::nullopt;
    Scope local{{}, scope.guards, scope.variables};
    for (auto [d, loop] : llvm::enumerate(pieces.front().loops))
      local.loops.insert(
          {loop.id, indices[d] - integerOf(pieces.front().offset[d])});
    return element(*pieces.front().body, local);
  }
  unsigned input = node.tensor.index;
  if (indices.empty() || (input < assumptions.inputs.size() &&
                          assumptions.inputs[input].isUniform))
    indices = {Integer(0)};
  Integer result = int64_t(input);
  for (const Integer &index : indices)
    result = Integer::apply(Integer::Kind::Element, result, index);
  return result;
}

/// A truth value that indices decide.
std::optional<Formula> Unfolder::formula(const ExprNode &node,
                                         const Scope &scope) {
  if (node.kind == Expr::Kind::Unary && node.unary == UnaryFn::Not &&
      isTruth(node.type)) {
    std::optional<Formula> part = formula(*node.operands[0], scope);
    return part ? std::optional(Formula::negation(*part)) : std::nullopt;
  }
  bool isJunction =
      node.kind == Expr::Kind::Binary && isTruth(node.type) &&
      (node.binary == BinaryFn::And || node.binary == BinaryFn::Or);
  if (isJunction) {
    std::optional<Formula> a = formula(*node.operands[0], scope),
                           b = formula(*node.operands[1], scope);
    if (!a || !b)
      return std::nullopt;
    return node.binary == BinaryFn::And ? Formula::all({*a, *b})
                                        : Formula::any({*a, *b});
  }
  if (node.kind != Expr::Kind::Compare || !isIndex(node.operands[0]->type))
    return std::nullopt;
  std::optional<Integer> a = integer(*node.operands[0], scope),
                         b = integer(*node.operands[1], scope);
  if (!a || !b)
    return std::nullopt;
  switch (node.predicate) {
  case ComparePredicate::EQ:
    return Formula::equal(*a, *b);
  case ComparePredicate::NE:
    return Formula::negation(Formula::equal(*a, *b));
  case ComparePredicate::LT:
    return Formula::less(*a, *b);
  case ComparePredicate::LE:
    return Formula::notNegative(*b - *a);
  case ComparePredicate::GT:
    return Formula::less(*b, *a);
  case ComparePredicate::GE:
    return Formula::notNegative(*a - *b);
  }
  llvm_unreachable("unknown predicate");
}

Unfolded unfold(const Definition &definition, const Assumptions &assumptions,
                unsigned stage, ArrayRef<Integer> indices, Names &names) {
  Unfolder unfolder(definition, assumptions, names);
  Value value = unfolder.read({true, stage}, indices, {});
  Unfolded result;
  for (const Case &one : value)
    result.value = add(std::move(result.value), guarded(one.value, one.guards));
  result.dropsTerms = unfolder.dropsTerms;
  result.failure = std::move(unfolder.failure);
  return result;
}

} // namespace mlc::kernel
