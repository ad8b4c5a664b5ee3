//===- GradientSides.cpp - The sides of gradient goals --------------------===//

#include "verifier/read/GradientSides.h"
#include "dialects/Derivative/Tangent.h"
#include "verifier/kernel/Defined.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::func::FuncOp;

namespace mlc::verifier::gradient {

SmallVector<unsigned> floatsOf(mlir::TypeRange types) {
  SmallVector<unsigned> places;
  for (auto [i, type] : llvm::enumerate(types))
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type))
      if (mlir::isa<mlir::FloatType>(tensor.getElementType()))
        places.push_back(i);
  return places;
}

Read::Read(FuncOp function, FuncOp gradient)
    : arguments(floatsOf(function.getArgumentTypes())),
      results(floatsOf(function.getResultTypes())),
      f(ProgramBuilder(function, shared).build()),
      g(ProgramBuilder(gradient, shared).build()) {}

//===----------------------------------------------------------------------===//
// Moving stages
//===----------------------------------------------------------------------===//

static Expr moved(const Expr &expr,
                  llvm::function_ref<TensorId(TensorId)> place) {
  ExprNode node = *expr;
  if (node.kind == Expr::Kind::Read)
    node.tensor = place(node.tensor);
  for (Expr &operand : node.operands)
    operand = moved(operand, place);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

/// Puts `by` inputs before those from `first` on.
static void moveInputs(Definition &definition, unsigned first, unsigned by) {
  for (Stage &stage : definition.stages) {
    if (stage.reinterprets && !stage.reinterprets->isStage &&
        stage.reinterprets->index >= first)
      stage.reinterprets->index += by;
    for (Piece &piece : stage.pieces)
      piece.body = moved(piece.body, [&](TensorId id) {
        return id.isStage || id.index < first ? id
                                              : TensorId{false, id.index + by};
      });
  }
}

static Expr withLoopsFrom(const Expr &expr, unsigned more) {
  ExprNode node = *expr;
  if (node.kind == Expr::Kind::Loop)
    node.loop += more;
  for (Loop &loop : node.loops)
    loop.id += more;
  for (Expr &operand : node.operands)
    operand = withLoopsFrom(operand, more);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

/// Adds stages with loops from `moreLoops` on.
static void addStages(Definition &own, ArrayRef<Stage> stages,
                      unsigned moreLoops,
                      llvm::function_ref<TensorId(TensorId)> place) {
  for (Stage stage : stages) {
    if (stage.reinterprets)
      stage.reinterprets = place(*stage.reinterprets);
    for (Piece &piece : stage.pieces) {
      for (Loop &loop : piece.loops)
        loop.id += moreLoops;
      piece.body = moved(withLoopsFrom(piece.body, moreLoops), place);
    }
    own.stages.push_back(std::move(stage));
  }
}

//===----------------------------------------------------------------------===//
// Sides
//===----------------------------------------------------------------------===//

Sides::Sides(const Read &read, mlir::MLIRContext *context,
             bool isZeroWhereSteep)
    : context(context), f(read.f), g(read.g), arguments(read.arguments),
      results(read.results), numCotangents(results.size()),
      numTangents(arguments.size()), original(f.definition),
      isZeroWhereSteep(isZeroWhereSteep) {
  for (const SharedInputs::Entry &entry : read.shared.entries)
    original.inputs.push_back(entry.shape);
  chooseType();
}

/// Chooses the type of all numbers: the one that is used, or one that holds
/// all.
void Sides::chooseType() {
  auto meet = [&](mlir::Type next) {
    if (type && type != next)
      next = mlir::Float64Type::get(context);
    type = next;
  };
  for (unsigned argument : arguments)
    meet(f.definition.inputs[argument].elementType);
  for (unsigned result : results)
    meet(original.shapeOf({true, original.results[result]}).elementType);
}

/// Gives a side its last arguments. Its other inputs come after all arguments.
/// Sums of products are compared as real numbers.
void Sides::addTangents(Program &side, const Program &read) const {
  for (unsigned argument : arguments)
    side.definition.inputs.push_back(read.definition.inputs[argument]);
  side.numArguments = side.definition.inputs.size();
  side.isLiteral = false;
  moveInputs(side.definition, read.numArguments,
             side.numArguments - read.numArguments);
}

Program Sides::function() const {
  Program side = f;
  for (unsigned result : results)
    side.definition.inputs.push_back(
        f.definition.shapeOf({true, f.definition.results[result]}));
  addTangents(side, f);
  return side;
}
Program Sides::gradient() const {
  Program side = g;
  addTangents(side, g);
  return side;
}

Program Sides::before() const {
  Program side = function();
  side.definition.results.clear();
  for (unsigned k = 0; k < numTangents && side.failure.empty(); ++k)
    addForward(side, k);
  return side;
}

Program Sides::after() const {
  Program side = gradient();
  Definition &own = side.definition;
  own.results.clear();
  for (unsigned k = 0; k < numTangents; ++k) {
    TensorId gradient{true, g.definition.results[k]};
    for (auto [dim, expected] :
         llvm::zip(own.shapeOf(gradient).dims,
                   g.definition.inputs[arguments[k]].dims))
      if (dim != expected)
        own.requirements.push_back(
            {dim, ComparePredicate::EQ, expected,
             "the gradient of an argument has the argument's dims"});
    addProduct(own, {{tangent(k), gradient}});
  }
  return side;
}

std::vector<std::string> Sides::argumentNames(FuncOp function) const {
  std::vector<std::string> names;
  for (unsigned i = 0; i < f.numArguments; ++i)
    names.push_back(describeArgument(function, i));
  for (unsigned result : results)
    names.push_back("cotangent of result " + std::to_string(result));
  for (unsigned argument : arguments)
    names.push_back("tangent of " + names[argument]);
  return names;
}

/// The position of an input of `original` in a goal.
TensorId Sides::inputOf(unsigned index) const {
  bool isArgument = index < f.numArguments;
  return {false, index + (isArgument ? 0 : numCotangents + numTangents)};
}

/// Adds the stages of J t, where only the k-th argument of floats varies, and
/// its product with the cotangents.
void Sides::addForward(Program &side, unsigned k) const {
  Directions directions;
  directions.varies.assign(original.inputs.size(), false);
  for (unsigned argument : arguments)
    directions.varies[argument] = true;
  directions.moves.assign(original.inputs.size(), false);
  directions.moves[arguments[k]] = true;
  directions.isZeroWhereSteep = isZeroWhereSteep;
  TangentDefinition forward =
      differentiateForward(original, directions, context);
  if (!forward.failure.empty()) {
    side.failure = "the function has no derivative: " + forward.failure;
    return;
  }
  Definition &own = side.definition;
  unsigned numValues = original.stages.size(), first = own.stages.size();
  auto place = [&](TensorId id) -> TensorId {
    if (id.isStage)
      return {true,
              id.index < numValues ? id.index : id.index - numValues + first};
    return id.index == original.inputs.size() ? tangent(k) : inputOf(id.index);
  };
  unsigned moreLoops = own.numLoops - original.numLoops;
  addStages(own, ArrayRef(forward.definition.stages).drop_front(numValues),
            moreLoops, place);
  own.numLoops = forward.definition.numLoops + moreLoops;
  SmallVector<std::pair<TensorId, TensorId>> pairs;
  for (auto [i, result] : llvm::enumerate(forward.definition.results))
    pairs.push_back({cotangent(i), place({true, result})});
  addProduct(own, pairs, partialResults());
}

/// The results of f that may have no value.
SmallVector<TensorId> Sides::partialResults() const {
  kernel::Names names;
  kernel::Assumptions none;
  kernel::Definedness definedness(f.definition, none, names);
  SmallVector<TensorId> found;
  for (unsigned stage : f.definition.results)
    if (definedness.mayBeUndefined(stage))
      found.push_back({true, stage});
  return found;
}

/// Adds a result: the sum of all a[i] b[i], over pairs of tensors, plus 0 times
/// the numbers of other tensors.
void Sides::addProduct(Definition &own,
                       ArrayRef<std::pair<TensorId, TensorId>> pairs,
                       ArrayRef<TensorId> others) const {
  DefinitionBuilder numbers(context, {});
  Stage sum;
  sum.name = "product";
  sum.elementType = type;
  Expr total, zero = numbers.constant(type, 0);
  auto add = [&](std::optional<TensorId> a, TensorId b) {
    ExprNode reduce(Expr::Kind::Reduce, type);
    SmallVector<Expr> at;
    for (IntExpr dim : own.shapeOf(b).dims) {
      reduce.loops.push_back({own.numLoops++, dim});
      ExprNode loop(Expr::Kind::Loop, mlir::IndexType::get(context));
      loop.loop = reduce.loops.back().id;
      at.push_back(Expr(std::make_shared<const ExprNode>(std::move(loop))));
    }
    auto read = [&](TensorId tensor) {
      ExprNode node(Expr::Kind::Read, own.shapeOf(tensor).elementType);
      node.tensor = tensor;
      node.operands.assign(at.begin(), at.end());
      return cast(Expr(std::make_shared<const ExprNode>(std::move(node))),
                  type);
    };
    Expr one = (a ? read(*a) : zero) * read(b);
    if (!at.empty()) {
      reduce.operands.push_back(one);
      one = Expr(std::make_shared<const ExprNode>(std::move(reduce)));
    }
    total = total ? total + one : one;
  };
  for (auto [a, b] : pairs)
    add(a, b);
  for (TensorId b : others)
    add(std::nullopt, b);
  Piece piece;
  piece.body = total ? total : zero;
  sum.pieces.push_back(std::move(piece));
  own.results.push_back(own.stages.size());
  own.stages.push_back(std::move(sum));
}

} // namespace mlc::verifier::gradient
