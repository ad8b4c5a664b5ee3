//===- Tangent.cpp - Forward derivatives of definitions -------------------===//

#include "dialects/Derivative/Tangent.h"
#include "dialects/Definition/ExprMap.h"
#include "dialects/Derivative/TangentRules.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::DenseMap;
using llvm::SmallVector;
using mlir::FloatType;
using mlir::isa;

namespace mlc {

using namespace tangent;

namespace {

Expr make(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

class Forward {
public:
  Forward(const Definition &definition, const Directions &directions,
          mlir::MLIRContext *context)
      : definition(definition), directions(directions), numbers(context, {}),
        indexType(mlir::IndexType::get(context)), result(definition) {}

  TangentDefinition run() {
    result.results.clear();
    for (auto [i, input] : llvm::enumerate(definition.inputs)) {
      inputVaries.push_back(directions.varies[i] &&
                            isa<FloatType>(input.elementType));
      inputTangents.push_back(std::nullopt);
      if (!inputVaries.back() || !directions.moves[i])
        continue;
      inputTangents.back() = result.inputs.size();
      result.inputs.push_back(input);
    }
    for (const Stage &stage : definition.stages) {
      stageVaries.push_back(isa<FloatType>(stage.elementType) &&
                            llvm::any_of(stage.pieces, [&](const Piece &p) {
                              return varies(p.body);
                            }));
      stageTangents.push_back(std::nullopt);
      if (stageVaries.back())
        addTangent(stage);
    }
    for (unsigned stage : definition.results)
      if (isa<FloatType>(definition.stages[stage].elementType))
        result.results.push_back(stageTangents[stage]
                                     ? *stageTangents[stage]
                                     : addZeros(definition.stages[stage]));
    return {std::move(result), failure};
  }

private:
  /// Replacements for the loops of the definition.
  using Loops = DenseMap<unsigned, Expr>;

  //===--------------------------------------------------------------------===//
  // Varying values
  //===--------------------------------------------------------------------===//

  bool varies(TensorId tensor) const {
    return tensor.isStage ? stageVaries[tensor.index]
                          : inputVaries[tensor.index];
  }

  /// Whether it reads anything that varies, even in a condition.
  bool varies(const Expr &expr) {
    auto [it, isNew] = known.try_emplace(expr, false);
    if (!isNew)
      return it->second;
    bool found = expr->kind == Expr::Kind::Read && varies(expr->tensor);
    for (const Expr &operand : expr->operands)
      found |= varies(operand);
    return known[expr] = found;
  }

  /// The input or stage that is a tensor's tangent.
  std::optional<TensorId> tangentOf(TensorId tensor) const {
    std::optional<unsigned> number = tensor.isStage
                                         ? stageTangents[tensor.index]
                                         : inputTangents[tensor.index];
    if (!number)
      return std::nullopt;
    return TensorId{tensor.isStage, *number};
  }

  void fail(const llvm::Twine &reason) {
    if (failure.empty())
      failure = reason.str();
  }

  //===--------------------------------------------------------------------===//
  // Stages
  //===--------------------------------------------------------------------===//

  /// New loops in place of the definition's.
  SmallVector<Loop> fresh(ArrayRef<Loop> loops, Loops &map) {
    SmallVector<Loop> own;
    for (const Loop &loop : loops) {
      own.push_back({result.numLoops++, loop.extent});
      ExprNode node(Expr::Kind::Loop, indexType);
      node.loop = own.back().id;
      map[loop.id] = make(std::move(node));
    }
    return own;
  }

  void addTangent(const Stage &stage) {
    Stage moved = stage;
    moved.name = "t_" + stage.name;
    moved.reinterprets.reset();
    if (stage.reinterprets)
      moved.reinterprets = tangentOf(*stage.reinterprets);
    bool isZero = true;
    for (Piece &piece : moved.pieces) {
      Loops map;
      piece.loops = fresh(piece.loops, map);
      Expr tangent = tangentOf(piece.body, map);
      isZero &= !tangent;
      piece.body = tangent ? tangent : numbers.constant(stage.elementType, 0);
    }
    if (isZero)
      return;
    stageTangents.back() = result.stages.size();
    result.stages.push_back(std::move(moved));
  }

  unsigned addZeros(const Stage &stage) {
    Stage zeros = stage;
    zeros.name = "t_" + stage.name;
    zeros.reinterprets.reset();
    zeros.pieces.resize(1);
    Loops map;
    SmallVector<Loop> whole;
    for (IntExpr dim : stage.dims)
      whole.push_back({0, dim});
    zeros.pieces[0].loops = fresh(whole, map);
    for (IntExpr &offset : zeros.pieces[0].offset)
      offset = offset * 0;
    zeros.pieces[0].body = numbers.constant(stage.elementType, 0);
    result.stages.push_back(std::move(zeros));
    return result.stages.size() - 1;
  }

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  /// A reduction of body(map) over new loops.
  Expr reduce(ReduceKind kind, ArrayRef<Loop> loops, const Loops &map,
              llvm::function_ref<Expr(const Loops &)> body) {
    Loops inside = map;
    SmallVector<Loop> own = fresh(loops, inside);
    Expr value = body(inside);
    if (!value)
      return Expr();
    ExprNode node(Expr::Kind::Reduce, value->type);
    node.reduce = kind;
    node.loops.assign(own.begin(), own.end());
    node.operands.push_back(value);
    return make(std::move(node));
  }

  /// An expression of the definition, at `map`.
  Expr valueOf(const Expr &expr, const Loops &map) {
    if (expr->kind == Expr::Kind::Loop)
      return map.lookup(expr->loop);
    if (expr->kind == Expr::Kind::Reduce)
      return reduce(expr->reduce, expr->loops, map, [&](const Loops &inside) {
        return valueOf(expr->operands[0], inside);
      });
    ExprNode node = *expr;
    for (Expr &operand : node.operands)
      operand = valueOf(operand, map);
    return make(std::move(node));
  }

  /// The tangent of an expression of the definition, at `map`; null if it is 0.
  Expr tangentOf(const Expr &expr, const Loops &map) {
    if (!failure.empty() || !isa<FloatType>(expr->type) || !varies(expr))
      return Expr();
    switch (expr->kind) {
    case Expr::Kind::Read:
      return tangentOfRead(*expr, map);
    case Expr::Kind::Unary:
      return tangentOfUnary(expr, map);
    case Expr::Kind::Binary: {
      std::optional<Expr> tangent = tangent::tangentOf(
          numbers, expr->binary, moving(*expr, 0, map), moving(*expr, 1, map),
          directions.isZeroWhereSteep);
      if (!tangent)
        fail("the function " + name(expr->binary) + " has no derivative");
      return tangent.value_or(Expr());
    }
    case Expr::Kind::Select:
      return choose(numbers, valueOf(expr->operands[0], map),
                    tangentOf(expr->operands[1], map),
                    tangentOf(expr->operands[2], map));
    case Expr::Kind::Cast: {
      Expr tangent = tangentOf(expr->operands[0], map);
      return tangent ? cast(tangent, expr->type) : Expr();
    }
    case Expr::Kind::Reduce:
      return tangentOfReduce(*expr, map);
    case Expr::Kind::Loop:
    case Expr::Kind::Int:
    case Expr::Kind::Constant:
    case Expr::Kind::Param:
    case Expr::Kind::Compare:
      return Expr();
    }
    llvm_unreachable("unknown expression");
  }

  Moving moving(const ExprNode &node, unsigned operand, const Loops &map) {
    const Expr &expr = node.operands[operand];
    return {valueOf(expr, map), tangentOf(expr, map), varies(expr)};
  }

  Expr tangentOfUnary(const Expr &expr, const Loops &map) {
    const ExprNode &node = *expr;
    if (std::optional<Logistic> logistic = asLogistic(node)) {
      Expr tangent = tangentOf(logistic->argument, map);
      return tangent ? Logistic::slope(numbers, valueOf(expr, map)) * tangent
                     : Expr();
    }
    const ScalarFunction &function = factsOf(node.unary);
    Expr tangent = tangentOf(node.operands[0], map);
    if (!tangent)
      return Expr();
    if (!function.derivative) {
      fail("the function " + function.name + " has no derivative");
      return Expr();
    }
    Expr slope =
        node.unary == UnaryFn::Sqrt && !directions.isZeroWhereSteep
            ? numbers.constant(node.type, 0.5) / valueOf(expr, map)
            : function.derivative(numbers, valueOf(node.operands[0], map));
    bool isZero = slope->kind == Expr::Kind::Constant && slope->number == 0.0;
    return isZero ? Expr() : slope * tangent;
  }

  /// The tangent at the same place; out of range, the tangent of the guard
  /// value.
  Expr tangentOfRead(const ExprNode &node, const Loops &map) {
    SmallVector<Expr> at;
    for (const Expr &index : node.indices())
      at.push_back(valueOf(index, map));
    Expr otherwise =
        node.guarded ? tangentOf(node.operands.back(), map) : Expr();
    std::optional<TensorId> tensor = tangentOf(node.tensor);
    if (!tensor)
      return otherwise
                 ? choose(numbers, isInside(node.tensor, at), Expr(), otherwise)
                 : Expr();
    ExprNode read(Expr::Kind::Read, node.type);
    read.tensor = *tensor;
    read.guarded = node.guarded;
    read.operands.assign(at.begin(), at.end());
    if (node.guarded)
      read.operands.push_back(otherwise ? otherwise
                                        : numbers.constant(node.type, 0));
    return make(std::move(read));
  }

  Expr isInside(TensorId tensor, ArrayRef<Expr> at) const {
    Expr inside =
        compare(ComparePredicate::EQ, numbers.index(0), numbers.index(0));
    for (auto [index, dim] : llvm::zip(at, definition.shapeOf(tensor).dims))
      for (const Expr &holds :
           {compare(ComparePredicate::GE, index, numbers.index(0)),
            compare(ComparePredicate::LT, index, numbers.integer(dim))})
        inside = binary(BinaryFn::And, inside, holds);
    return inside;
  }

  Expr tangentOfReduce(const ExprNode &node, const Loops &map) {
    const Expr &body = node.operands[0];
    if (node.loops.empty()) // a single value
      return tangentOf(body, map);
    // The weight of the tangent at one place.
    std::function<Expr(const Loops &, const Expr &)> weighted;
    switch (node.reduce) {
    case ReduceKind::Sum:
      weighted = [](const Loops &, const Expr &tangent) { return tangent; };
      break;
    case ReduceKind::Prod:
      weighted = [&](const Loops &here, const Expr &tangent) {
        return tangent * productOfOthers(node, here);
      };
      break;
    case ReduceKind::Max:
    case ReduceKind::Min:
      weighted = [&](const Loops &here, const Expr &tangent) {
        return choose(numbers, hasExtremum(node, here), tangent, Expr());
      };
      break;
    case ReduceKind::Any:
    case ReduceKind::All:
      fail("the reduction " + name(node.reduce) + " has no derivative");
      return Expr();
    }
    return reduce(ReduceKind::Sum, node.loops, map, [&](const Loops &here) {
      Expr tangent = tangentOf(body, here);
      return tangent ? weighted(here, tangent) : Expr();
    });
  }

  SmallVector<Expr> placeOf(const ExprNode &reduction, const Loops &map) {
    SmallVector<Expr> place;
    for (const Loop &loop : reduction.loops)
      place.push_back(map.lookup(loop.id));
    return place;
  }

  /// The product of the values at all other places.
  Expr productOfOthers(const ExprNode &node, const Loops &here) {
    return reduce(ReduceKind::Prod, node.loops, here, [&](const Loops &there) {
      return select(isSamePlace(placeOf(node, here), placeOf(node, there)),
                    numbers.constant(node.type, 1),
                    valueOf(node.operands[0], there));
    });
  }

  /// Whether this is the first place with the maximum or minimum.
  Expr hasExtremum(const ExprNode &node, const Loops &here) {
    Expr own = valueOf(node.operands[0], here);
    return reduce(ReduceKind::All, node.loops, here, [&](const Loops &there) {
      return isFirst(node.reduce, placeOf(node, here), placeOf(node, there),
                     own, valueOf(node.operands[0], there));
    });
  }

  const Definition &definition;
  const Directions &directions;
  DefinitionBuilder numbers; // makes constants
  mlir::Type indexType;
  Definition result;
  SmallVector<bool> inputVaries, stageVaries;
  SmallVector<std::optional<unsigned>> inputTangents, stageTangents;
  ExprMap<bool> known; // what varies
  std::string failure;
};

} // namespace

Directions Directions::all(const Definition &definition) {
  Directions all;
  for (const TensorShape &input : definition.inputs)
    all.varies.push_back(isa<FloatType>(input.elementType));
  all.moves = all.varies;
  return all;
}

TangentDefinition differentiateForward(const Definition &definition,
                                       const Directions &directions,
                                       mlir::MLIRContext *context) {
  return Forward(definition, directions, context).run();
}

TangentDefinition differentiateForward(const Definition &definition,
                                       mlir::MLIRContext *context) {
  return differentiateForward(definition, Directions::all(definition), context);
}

std::string whyNotDifferentiable(const Definition &definition,
                                 mlir::MLIRContext *context) {
  return differentiateForward(definition, context).failure;
}

} // namespace mlc
