//===- Adjoint.cpp - Reverse derivatives of definitions -------------------===//

#include "dialects/Derivative/Adjoint.h"
#include "dialects/Derivative/AdjointIndices.h"
#include "dialects/Derivative/AdjointTerms.h"
#include "dialects/Derivative/TangentRules.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::FloatType;
using mlir::isa;

namespace mlc {

using namespace adjoint;

namespace {

class Reverse {
public:
  Reverse(const Definition &definition, ArrayRef<bool> wanted,
          mlir::MLIRContext *context)
      : definition(definition), wanted(wanted),
        builder(context, inputsOf(definition)),
        recomputed(definition.stages.size()) {}

  AdjointDefinition run() {
    findActive();
    for (unsigned i = 0; i < builder.numInputs(); ++i)
      shapes[{false, i}] = builder.input(i);
    inputs.resize(definition.inputs.size());
    stages.resize(definition.stages.size());
    for (unsigned s = definition.stages.size(); s-- > 0 && failure.empty();)
      if (isActive[s])
        visit(s);
    for (unsigned i = 0; i < inputs.size() && failure.empty(); ++i)
      if (wanted[i])
        builder.result(collect("d" + std::to_string(i), definition.inputs[i],
                               inputs[i], std::nullopt)
                           .index);
    return {builder.take(), failure};
  }

private:
  static SmallVector<TensorShape> inputsOf(const Definition &definition) {
    SmallVector<TensorShape> shapes(definition.inputs);
    for (unsigned result : definition.results)
      shapes.push_back(definition.shapeOf({true, result}));
    for (unsigned result : definition.results)
      if (isa<FloatType>(definition.stages[result].elementType))
        shapes.push_back(definition.shapeOf({true, result}));
    return shapes;
  }

  bool isActiveTensor(TensorId id) const {
    return id.isStage ? isActive[id.index] : wanted[id.index];
  }

  bool varies(const Expr &expr) const {
    bool found = false;
    walk(expr, [&](const ExprNode &node) {
      found |= node.kind == Expr::Kind::Read && isActiveTensor(node.tensor) &&
               isa<FloatType>(node.type);
    });
    return found;
  }

  void findActive() {
    isActive.assign(definition.stages.size(), false);
    for (auto [s, stage] : llvm::enumerate(definition.stages))
      if (isa<FloatType>(stage.elementType))
        isActive[s] = llvm::any_of(stage.pieces, [&](const Piece &piece) {
          return varies(piece.body);
        });
  }

  void fail(const llvm::Twine &reason) {
    if (failure.empty())
      failure = reason.str();
  }

  void failAt(llvm::StringRef function) {
    fail("the function " + function + " has no derivative");
  }

  //===--------------------------------------------------------------------===//
  // Values of the definition
  //===--------------------------------------------------------------------===//

  /// The available value of a tensor of the definition, recomputed if
  /// necessary.
  TensorId valueOf(TensorId tensor) {
    if (!tensor.isStage)
      return tensor;
    const auto *it = llvm::find(definition.results, tensor.index);
    if (it != definition.results.end())
      return {false, static_cast<unsigned>(definition.inputs.size() +
                                           (it - definition.results.begin()))};
    std::optional<unsigned> &number = recomputed[tensor.index];
    if (!number) {
      const Stage &stage = definition.stages[tensor.index];
      if (stage.pieces.size() != 1) {
        fail("an intermediate value that is made of pieces is used");
        return tensor;
      }
      const Piece &piece = stage.pieces[0];
      Expr body = translate(piece.body);
      number = addStage(stage.name, stage.dims, stage.elementType,
                        [&](ArrayRef<Expr> i, auto) {
                          llvm::DenseMap<unsigned, Expr> values;
                          for (auto [loop, e] : llvm::zip(piece.loops, i))
                            values[foreign(loop).id] = e;
                          return adjoint::withLoops(builder, body, values);
                        });
    }
    return {true, *number};
  }

  static Loop foreign(Loop loop) {
    return {loop.id + adjoint::firstForeignLoop, loop.extent};
  }

  /// An expression of the definition over available values, with foreign loops.
  Expr translate(const Expr &expr) {
    ExprNode node = *expr;
    if (node.kind == Expr::Kind::Loop)
      node.loop += adjoint::firstForeignLoop;
    if (node.kind == Expr::Kind::Read)
      node.tensor = valueOf(node.tensor);
    for (Loop &loop : node.loops)
      loop = foreign(loop);
    for (Expr &operand : node.operands)
      operand = translate(operand);
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  }

  using Extents = llvm::DenseMap<unsigned, IntExpr>;

  /// Adds a stage whose reads are all in range or guarded.
  unsigned
  addStage(llvm::StringRef name, ArrayRef<IntExpr> dims, mlir::Type type,
           llvm::function_ref<Expr(ArrayRef<Expr>, const Extents &)> body) {
    unsigned number = builder.stage(name, dims, type, [&](ArrayRef<Expr> i) {
      Extents extents;
      for (auto [loop, dim] : llvm::zip(i, dims))
        extents[loop->loop] = dim;
      return adjoint::guardReads(
          builder, body(i, extents), extents,
          [&](TensorId id) { return shapes.at(key(id)); });
    });
    shapes[{true, number}] = {SmallVector<IntExpr>(dims), type};
    return number;
  }

  static std::pair<bool, unsigned> key(TensorId id) {
    return {id.isStage, id.index};
  }

  Expr readAt(TensorId id, ArrayRef<Expr> indices) const {
    return id.isStage ? builder.readStage(id.index, indices)
                      : builder.read(id.index, indices);
  }

  //===--------------------------------------------------------------------===//
  // Cotangents
  //===--------------------------------------------------------------------===//

  /// The input that is the cotangent of a result, if the stage is one.
  std::optional<TensorId> givenCotangent(unsigned stage) const {
    unsigned place = definition.inputs.size() + definition.results.size();
    for (unsigned result : definition.results) {
      if (result == stage)
        return TensorId{false, place};
      place += isa<FloatType>(definition.stages[result].elementType);
    }
    return std::nullopt;
  }

  /// The sum of all contributions to a tensor, and of its given cotangent.
  TensorId collect(const std::string &name, const TensorShape &shape,
                   ArrayRef<Contribution> contributions,
                   std::optional<TensorId> given) {
    if (contributions.empty() && given)
      return *given;
    std::vector<TensorId> parts;
    if (given)
      parts.push_back(*given);
    bool isOnly = !given && contributions.size() == 1;
    for (const Contribution &one : contributions) {
      std::string own =
          isOnly ? name : name + "_" + std::to_string(parts.size());
      parts.push_back(
          {true, addStage(own, shape.dims, shape.elementType,
                          [&](ArrayRef<Expr> i, const Extents &extents) {
                            return adjoint::gather(builder, one, i, extents);
                          })});
    }
    if (parts.size() == 1)
      return parts[0];
    return {true, addStage(name, shape.dims, shape.elementType,
                           [&](ArrayRef<Expr> i, const Extents &) {
                             Expr sum = builder.constant(shape.elementType, 0);
                             for (TensorId part : parts)
                               sum = plus(sum, readAt(part, i));
                             return sum;
                           })};
  }

  void visit(unsigned number) {
    const Stage &stage = definition.stages[number];
    std::optional<TensorId> given = givenCotangent(number);
    if (stages[number].empty() && !given)
      return;
    TensorId cotangent =
        collect("d" + stage.name, definition.shapeOf({true, number}),
                stages[number], given);
    if (stage.reinterprets) {
      TensorId source = *stage.reinterprets;
      if (cotangent.isStage || source.isStage)
        return fail("an intermediate value is read with other dims");
      if (!wanted[source.index])
        return;
      const TensorShape &shape = definition.inputs[source.index];
      unsigned back =
          builder.reinterpret("d" + std::to_string(source.index) + "_back",
                              cotangent.index, shape.dims);
      shapes[{true, back}] = shape;
      return contributeWhole(source, {true, back});
    }
    for (const Piece &piece : stage.pieces) {
      Place place;
      SmallVector<Expr> at;
      bool isWhole = stage.pieces.size() == 1;
      for (auto [loop, offset, dim] :
           llvm::zip(piece.loops, piece.offset, stage.dims)) {
        place.loops.push_back(foreign(loop));
        at.push_back(variable(place.loops.back()) + offset);
        isWhole &= offset.isConstant(0) && loop.extent == dim;
      }
      place.numOuter = place.loops.size();
      place.cotangent = cotangent;
      place.isWhole = isWhole;
      descend(piece.body, readAt(cotangent, at), place);
    }
  }

  Expr variable(Loop loop) const {
    return adjoint::loopExpr(builder.index(0), loop.id);
  }

  /// Contributes all of `from` to a tensor of the same dims.
  void contributeWhole(TensorId to, TensorId from) {
    Contribution one;
    for (auto [i, dim] : llvm::enumerate(definition.shapeOf(to).dims)) {
      one.loops.push_back(
          {adjoint::firstForeignLoop + static_cast<unsigned>(i), dim});
      one.indices.push_back(variable(one.loops.back()));
    }
    one.numOuter = one.loops.size();
    one.value = readAt(from, one.indices);
    one.vanishesOutside = true;
    (to.isStage ? stages : inputs)[to.index].push_back(std::move(one));
  }

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  struct Place {
    SmallVector<Loop> loops;
    unsigned numOuter = 0;
    TensorId cotangent{false, 0};
    /// Whether the outer loops run over all of the cotangent's elements.
    bool isWhole = false;
  };

  Expr number(const Expr &like, double value) const {
    return builder.constant(like->type, value);
  }

  /// Adds what `expr`, of the definition, contributes to the tensors that it
  /// reads, if its cotangent is `c`.
  void descend(const Expr &expr, const Expr &c, const Place &place) {
    if (!failure.empty() || isZero(c) || !isa<FloatType>(expr->type) ||
        !varies(expr))
      return;
    const ExprNode &node = *expr;
    switch (node.kind) {
    case Expr::Kind::Read:
      return descendRead(node, c, place);
    case Expr::Kind::Unary: {
      if (std::optional<tangent::Logistic> logistic = tangent::asLogistic(node))
        return descend(
            logistic->argument,
            times(c, tangent::Logistic::slope(builder, translate(expr))),
            place);
      const ScalarFunction &function = factsOf(node.unary);
      if (!function.derivative)
        return failAt(function.name);
      Expr slope = function.derivative(builder, translate(node.operands[0]));
      return descend(node.operands[0], times(c, slope), place);
    }
    case Expr::Kind::Binary:
      return descendBinary(node, c, place);
    case Expr::Kind::Select: {
      Expr condition = translate(node.operands[0]), zero = number(expr, 0);
      descend(node.operands[1], select(condition, c, zero), place);
      return descend(node.operands[2], select(condition, zero, c), place);
    }
    case Expr::Kind::Cast:
      return descend(node.operands[0], cast(c, node.operands[0]->type), place);
    case Expr::Kind::Reduce:
      return descendReduce(expr, c, place);
    default:
      return;
    }
  }

  void descendRead(const ExprNode &node, const Expr &c, const Place &place) {
    Contribution one;
    for (const Expr &index : node.indices())
      one.indices.push_back(translate(index));
    if (node.guarded && varies(node.operands.back())) {
      Expr inside;
      TensorShape shape = definition.shapeOf(node.tensor);
      for (auto [index, dim] : llvm::zip(one.indices, shape.dims))
        for (Expr holds :
             {compare(ComparePredicate::GE, index, builder.index(0)),
              compare(ComparePredicate::LT, index, builder.integer(dim))})
          inside = inside ? binary(BinaryFn::And, inside, holds) : holds;
      if (inside)
        descend(node.operands.back(), select(inside, number(c, 0), c), place);
    }
    if (!isActiveTensor(node.tensor))
      return;
    one.loops = place.loops;
    one.numOuter = place.numOuter;
    one.value = c;
    one.vanishesOutside = place.isWhole && vanishesWith(c, place.cotangent);
    auto &list = node.tensor.isStage ? stages[node.tensor.index]
                                     : inputs[node.tensor.index];
    for (Contribution &other : list)
      if (other.numOuter == one.numOuter && isSame(other.loops, one.loops) &&
          other.indices.size() == one.indices.size() &&
          llvm::all_of(llvm::zip(other.indices, one.indices), [](auto pair) {
            return isSame(std::get<0>(pair), std::get<1>(pair));
          })) {
        other.value = other.value + c;
        other.vanishesOutside &= one.vanishesOutside;
        return;
      }
    list.push_back(std::move(one));
  }

  void descendBinary(const ExprNode &node, const Expr &c, const Place &place) {
    const Expr &a = node.operands[0], &b = node.operands[1];
    bool aVaries = varies(a), bVaries = varies(b);
    auto left = [&](const Expr &slope) {
      if (aVaries)
        descend(a, times(c, slope), place);
    };
    auto right = [&](const Expr &slope) {
      if (bVaries)
        descend(b, times(c, slope), place);
    };
    Expr x = translate(a), y = translate(b);
    Expr zero = number(c, 0), one = number(c, 1);
    auto isActive = [&](TensorId id) { return isActiveTensor(id); };
    auto factor = [&](const Expr &into, const Expr &slope) {
      if (varies(into))
        descend(into,
                adjoint::isTermOfSum(into, slope, place.loops, isActive)
                    ? plainTimes(c, slope)
                    : times(c, slope),
                place);
    };
    switch (node.binary) {
    case BinaryFn::Add:
      left(one);
      return right(one);
    case BinaryFn::Sub:
      left(one);
      return right(number(c, -1));
    case BinaryFn::Mul:
      factor(a, y);
      return factor(b, x);
    case BinaryFn::Div:
      if (aVaries)
        descend(a, quotient(c, one, y), place);
      if (bVaries) // without squares, which overflow
        descend(b, quotient(c, -(x / y), y), place);
      return;
    case BinaryFn::Pow:
      left(slopeOfPower(builder, x, y));
      return right(select(compare(ComparePredicate::GT, x, zero),
                          binary(BinaryFn::Pow, x, y) * unary(UnaryFn::Log, x),
                          zero));
    case BinaryFn::Max:
    case BinaryFn::Min: {
      // On a tie a constant operand wins, else the first.
      bool isMax = node.binary == BinaryFn::Max;
      bool first = aVaries && bVaries;
      Expr takesLeft =
          compare(isMax ? (first ? ComparePredicate::GE : ComparePredicate::GT)
                        : (first ? ComparePredicate::LE : ComparePredicate::LT),
                  x, y);
      if (aVaries)
        descend(a, select(takesLeft, c, zero), place);
      if (aVaries && bVaries)
        descend(b, select(takesLeft, zero, c), place);
      else if (bVaries)
        descend(
            b,
            select(compare(isMax ? ComparePredicate::GT : ComparePredicate::LT,
                           y, x),
                   c, zero),
            place);
      return;
    }
    default:
      return failAt(name(node.binary));
    }
  }

  /// `body` of the reduction with its loops at `points`.
  Expr bodyAt(const ExprNode &node, ArrayRef<Expr> points) {
    llvm::DenseMap<unsigned, Expr> values;
    for (auto [loop, point] : llvm::zip(node.loops, points))
      values[foreign(loop).id] = point;
    return adjoint::withLoops(builder, translate(node.operands[0]), values);
  }

  void descendReduce(const Expr &expr, const Expr &c, const Place &place) {
    const ExprNode &node = *expr;
    Place inside = place;
    SmallVector<Expr> here;
    SmallVector<IntExpr> extents;
    for (const Loop &loop : node.loops) {
      inside.loops.push_back(foreign(loop));
      here.push_back(variable(foreign(loop)));
      extents.push_back(loop.extent);
    }
    const Expr &body = node.operands[0];
    Expr slope = number(c, 1);
    switch (node.reduce) {
    case ReduceKind::Sum:
      break;
    case ReduceKind::Prod:
      if (here.empty()) // a single value
        break;
      slope =
          builder.reduce(ReduceKind::Prod, extents, [&](ArrayRef<Expr> other) {
            Expr value = bodyAt(node, other);
            return here.empty() ? value
                                : select(tangent::isSamePlace(here, other),
                                         number(c, 1), value);
          });
      break;
    case ReduceKind::Max:
    case ReduceKind::Min: {
      Expr value = translate(body);
      Expr isFirst =
          builder.reduce(ReduceKind::All, extents, [&](ArrayRef<Expr> other) {
            return tangent::isFirst(node.reduce, here, other, value,
                                    bodyAt(node, other));
          });
      return descend(body, select(isFirst, c, number(c, 0)), inside);
    }
    default:
      return fail("the reduction " + name(node.reduce) + " has no derivative");
    }
    descend(body, times(c, slope), inside);
  }

  const Definition &definition;
  ArrayRef<bool> wanted;
  DefinitionBuilder builder;
  std::vector<std::optional<unsigned>> recomputed;
  std::map<std::pair<bool, unsigned>, TensorShape> shapes;
  std::vector<bool> isActive; // stages
  std::vector<std::vector<Contribution>> inputs, stages;
  std::string failure;
};

} // namespace

AdjointDefinition differentiateReverse(const Definition &definition,
                                       ArrayRef<bool> wanted,
                                       mlir::MLIRContext *context) {
  return Reverse(definition, wanted, context).run();
}

} // namespace mlc
