//===- Gradient.cpp - Is a function another's gradient? -------------------===//

#include "verifier/Gradient.h"
#include "dialects/Interfaces/Tangent.h"
#include "verifier/ByKernel.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::func::FuncOp;

namespace mlc::verifier {

namespace {

bool isFloat(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && mlir::isa<mlir::FloatType>(tensor.getElementType());
}

/// The places of types of floats.
SmallVector<unsigned> floatsOf(mlir::TypeRange types) {
  SmallVector<unsigned> places;
  for (auto [i, type] : llvm::enumerate(types))
    if (isFloat(type))
      places.push_back(i);
  return places;
}

/// An operator whose derivative nobody knows: one that has no definition, and
/// makes floats of floats.
std::string opaqueOperator(FuncOp function) {
  llvm::SmallDenseSet<mlir::Value> moving;
  for (mlir::BlockArgument argument : function.getArguments())
    if (isFloat(argument.getType()))
      moving.insert(argument);
  for (mlir::Operation &op : function.getBody().front()) {
    bool moves = op.getNumRegions() > 0 ||
                 llvm::any_of(op.getOperands(), [&](mlir::Value operand) {
                   return moving.contains(operand);
                 });
    if (!moves)
      continue;
    if (mlir::isa<OpaqueOpInterface>(op) &&
        llvm::any_of(op.getResultTypes(), isFloat))
      return op.getName().getStringRef().str();
    moving.insert(op.result_begin(), op.result_end());
  }
  return "";
}

/// Both sides of the question, built from f and g as they were read.
class Sides {
public:
  Sides(FuncOp function, FuncOp gradient)
      : context(function->getContext()),
        arguments(floatsOf(function.getArgumentTypes())),
        results(floatsOf(function.getResultTypes())),
        f(ProgramBuilder(function, shared).build()),
        g(ProgramBuilder(gradient, shared).build()),
        numCotangents(results.size()), numTangents(arguments.size()) {
    if (!f.failure.empty() || !g.failure.empty())
      return;
    original = f.definition;
    for (const SharedInputs::Entry &entry : shared.entries)
      original.inputs.push_back(entry.shape);
    chooseType();
  }

  /// <dy, J t> for the tangents t of each argument.
  Program before() {
    Program side = f;
    if (!side.failure.empty())
      return side;
    Definition &own = side.definition;
    for (unsigned result : results)
      own.inputs.push_back(f.definition.shapeOf(resultOf(result)));
    for (unsigned argument : arguments)
      own.inputs.push_back(f.definition.inputs[argument]);
    moveShared(own, f.numArguments, numCotangents + numTangents);
    own.results.clear();
    for (unsigned k = 0; k < numTangents && side.failure.empty(); ++k)
      addForward(side, k);
    finish(side);
    return side;
  }

  /// <t, g> for the tangents t of each argument.
  Program after() {
    Program side = g;
    if (!side.failure.empty())
      return side;
    Definition &own = side.definition;
    for (unsigned argument : arguments)
      own.inputs.push_back(g.definition.inputs[argument]);
    moveShared(own, g.numArguments, numTangents);
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
    finish(side);
    return side;
  }

  std::vector<std::string> argumentNames(FuncOp function) const {
    std::vector<std::string> names;
    for (unsigned i = 0; i < f.numArguments; ++i)
      names.push_back(describeArgument(function, i));
    for (unsigned result : results)
      names.push_back("cotangent of result " + std::to_string(result));
    for (unsigned argument : arguments)
      names.push_back("tangent of " + names[argument]);
    return names;
  }

  SharedInputs shared;

private:
  TensorId resultOf(unsigned result) const {
    return {true, f.definition.results[result]};
  }
  TensorId cotangent(unsigned k) const { return {false, f.numArguments + k}; }
  TensorId tangent(unsigned k) const {
    return {false, f.numArguments + numCotangents + k};
  }

  /// All numbers are of this type: the one that is used, or one that holds all.
  void chooseType() {
    auto meet = [&](mlir::Type next) {
      if (type && type != next)
        next = mlir::Float64Type::get(context);
      type = next;
    };
    for (unsigned argument : arguments)
      meet(f.definition.inputs[argument].elementType);
    for (unsigned result : results)
      meet(f.definition.shapeOf(resultOf(result)).elementType);
  }

  /// Puts `by` inputs before those from `first` on.
  static void moveShared(Definition &definition, unsigned first, unsigned by) {
    for (Stage &stage : definition.stages) {
      if (stage.reinterprets && !stage.reinterprets->isStage &&
          stage.reinterprets->index >= first)
        stage.reinterprets->index += by;
      for (Piece &piece : stage.pieces)
        piece.body = moved(piece.body, [&](TensorId id) {
          return id.isStage || id.index < first
                     ? id
                     : TensorId{false, id.index + by};
        });
    }
  }

  static Expr moved(const Expr &expr,
                    llvm::function_ref<TensorId(TensorId)> place) {
    ExprNode node = *expr;
    if (node.kind == Expr::Kind::Read)
      node.tensor = place(node.tensor);
    for (Expr &operand : node.operands)
      operand = moved(operand, place);
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  }

  /// Adds the stages of J t, where the k-th argument of floats moves, and its
  /// product with the cotangents.
  void addForward(Program &side, unsigned k) {
    Directions directions;
    directions.varies.assign(original.inputs.size(), false);
    for (unsigned argument : arguments)
      directions.varies[argument] = true;
    directions.moves.assign(original.inputs.size(), false);
    directions.moves[arguments[k]] = true;
    TangentDefinition forward =
        differentiateForward(original, directions, context);
    if (!forward.failure.empty()) {
      side.failure = "the function has no derivative: " + forward.failure;
      return;
    }
    Definition &own = side.definition;
    unsigned firstStage = original.stages.size();
    unsigned moreStages = own.stages.size() - firstStage;
    unsigned moreLoops = own.numLoops - original.numLoops;
    auto place = [&](TensorId id) -> TensorId {
      if (id.isStage)
        return {true, id.index + (id.index < firstStage ? 0 : moreStages)};
      if (id.index == original.inputs.size())
        return tangent(k);
      bool isArgument = id.index < f.numArguments;
      return {false, id.index + (isArgument ? 0 : numCotangents + numTangents)};
    };
    for (Stage &stage : llvm::MutableArrayRef(forward.definition.stages)
                            .drop_front(firstStage)) {
      if (stage.reinterprets)
        stage.reinterprets = place(*stage.reinterprets);
      for (Piece &piece : stage.pieces) {
        for (Loop &loop : piece.loops)
          loop.id += moreLoops;
        piece.body = moved(withLoopsFrom(piece.body, moreLoops), place);
      }
      own.stages.push_back(std::move(stage));
    }
    own.numLoops = forward.definition.numLoops + moreLoops;
    SmallVector<std::pair<TensorId, TensorId>> pairs;
    for (auto [i, result] : llvm::enumerate(forward.definition.results))
      pairs.push_back({cotangent(i), place({true, result})});
    addProduct(own, pairs);
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

  /// Adds a result: the sum of all a[i] b[i], of pairs of tensors.
  void addProduct(Definition &own,
                  ArrayRef<std::pair<TensorId, TensorId>> pairs) {
    DefinitionBuilder numbers(context, {});
    Stage sum;
    sum.name = "product";
    sum.elementType = type;
    Expr total;
    for (auto [a, b] : pairs) {
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
      reduce.operands.push_back(read(a) * read(b));
      Expr one(std::make_shared<const ExprNode>(std::move(reduce)));
      total = total ? total + one : one;
    }
    Piece piece;
    piece.body = total ? total : numbers.constant(type, 0);
    sum.pieces.push_back(std::move(piece));
    own.results.push_back(own.stages.size());
    own.stages.push_back(std::move(sum));
  }

  /// Sums of products are compared as real numbers.
  void finish(Program &side) const {
    side.numArguments = f.numArguments + numCotangents + numTangents;
    side.isLiteral = false;
  }

  mlir::MLIRContext *context;
  SmallVector<unsigned> arguments, results; // of f, those of floats
  Program f, g;
  unsigned numCotangents, numTangents;
  Definition original; // f's, with all that it reads among its inputs
  mlir::Type type;
};

} // namespace

std::string whyNotOfGradient(FuncOp function, FuncOp gradient) {
  SmallVector<mlir::Type> arguments(function.getArgumentTypes()), results;
  for (unsigned place : floatsOf(function.getResultTypes()))
    arguments.push_back(function.getResultTypes()[place]);
  for (unsigned place : floatsOf(function.getArgumentTypes()))
    results.push_back(function.getArgumentTypes()[place]);
  auto isAlike = [](mlir::Type a, mlir::Type b) {
    auto x = mlir::dyn_cast<mlir::RankedTensorType>(a),
         y = mlir::dyn_cast<mlir::RankedTensorType>(b);
    return x && y && x.getRank() == y.getRank() &&
           x.getElementType() == y.getElementType();
  };
  auto compare = [&](ArrayRef<mlir::Type> expected, ArrayRef<mlir::Type> found,
                     llvm::StringRef what) -> std::string {
    std::string why;
    llvm::raw_string_ostream os(why);
    if (expected.size() != found.size())
      os << "takes the arguments of @" << function.getName()
         << " and then the cotangents of its results of floats, and gives the "
            "gradients of its arguments of floats: expected "
         << expected.size() << ' ' << what << "s, got " << found.size();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(expected, found)))
      if (why.empty() && !isAlike(std::get<0>(pair), std::get<1>(pair)))
        os << what << " #" << i << " is " << std::get<1>(pair) << " instead of "
           << std::get<0>(pair);
    return why;
  };
  std::string why = compare(
      arguments, llvm::to_vector(gradient.getArgumentTypes()), "argument");
  if (why.empty())
    why =
        compare(results, llvm::to_vector(gradient.getResultTypes()), "result");
  return why;
}

Question makeGradientQuestion(FuncOp function, FuncOp gradient,
                              const Assumptions &assumptions) {
  Question question;
  // What was read of each of them is held against runs of it.
  for (FuncOp one : {function, gradient}) {
    question.failure = makeQuestion(one, one, assumptions).failure;
    if (!question.failure.empty())
      return question;
  }
  question.failure = whyNotOfGradient(function, gradient);
  if (std::string opaque = opaqueOperator(function); !opaque.empty())
    question.failure = "the derivative of '" + opaque + "' is not known";
  if (!question.failure.empty())
    return question;
  Sides sides(function, gradient);
  Program before = sides.before(), after = sides.after();
  std::vector<std::string> names = sides.argumentNames(function), gradients;
  for (unsigned argument : floatsOf(function.getArgumentTypes()))
    gradients.push_back("gradient of " + names[argument]);
  question =
      makeQuestion(std::move(before), std::move(after), std::move(sides.shared),
                   std::move(names), assumptions);
  question.resultNames = std::move(gradients);
  return question;
}

} // namespace mlc::verifier

namespace mlc {

using namespace verifier;

Verdict verifyGradient(FuncOp function, FuncOp gradient,
                       const Assumptions &assumptions,
                       const VerifierOptions &options) {
  auto start = std::chrono::steady_clock::now();
  function->getContext()->loadDialect<MlcDialect>();
  return answer(
      makeGradientQuestion(function, gradient, assumptions), assumptions,
      function->getContext(),
      (gradient.getName() + " is the gradient of " + function.getName()).str(),
      options, start);
}

std::string describeDerivative() {
  return "derivative: mlc's forward derivative of definitions, with its "
         "conventions at ties (docs/Differentiation.md)";
}

} // namespace mlc
