//===- GradientGoals.cpp - Goals about gradients --------------------------===//

#include "verifier/read/GradientGoals.h"
#include "verifier/read/GradientSides.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::func::FuncOp;

namespace mlc::verifier {

using namespace gradient;

namespace {

bool isFloat(mlir::Type type) { return !floatsOf(type).empty(); }

/// An operator with unknown derivative: it has no definition and computes
/// floats from floats.
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

//===----------------------------------------------------------------------===//
// Maxima that cancel
//===----------------------------------------------------------------------===//
//
// Softmax subtracts a maximum, so that exponentials do not overflow. The
// maximum has kinks where softmax has none, and it is hard to see that these
// cancel. So a program is replaced by one in which the maximum is 0. Both are
// equal; this is stated for the first stages that agree in both.

/// A program, the same without such maxima, and the stages that agree although
/// their inputs differ.
struct Dropped {
  Program original, changed;
  std::vector<unsigned> stages;
};

bool isExtremum(const Stage &stage) {
  if (stage.pieces.size() != 1 ||
      !mlir::isa<mlir::FloatType>(stage.elementType))
    return false;
  const Expr &body = stage.pieces.front().body;
  return body->kind == Expr::Kind::Reduce &&
         (body->reduce == ReduceKind::Max || body->reduce == ReduceKind::Min) &&
         body->operands[0]->kind == Expr::Kind::Read &&
         !body->operands[0]->guarded;
}

Program withResults(Program program, ArrayRef<unsigned> stages) {
  program.definition.results.assign(stages.begin(), stages.end());
  return program;
}

class MaximaDropper {
public:
  MaximaDropper(const Program &program, const SharedInputs &shared,
                mlir::MLIRContext *context, const Assumptions &assumptions,
                MayBeTrue mayBeTrue)
      : shared(shared), context(context), assumptions(assumptions),
        mayBeTrue(mayBeTrue), dropped{program, program, {}} {}

  /// nullopt if the program has no such maxima.
  std::optional<Dropped> run() {
    for (size_t i = 0; i < dropped.original.definition.stages.size(); ++i)
      if (isExtremum(dropped.original.definition.stages[i]))
        drop(i);
    if (dropped.stages.empty())
      return std::nullopt;
    return std::move(dropped);
  }

private:
  void drop(unsigned maximum) {
    Program other = dropped.changed;
    Stage &stage = other.definition.stages[maximum];
    stage.pieces[0].body =
        DefinitionBuilder(context, {}).constant(stage.elementType, 0);
    std::set<unsigned> differs{maximum};
    std::vector<unsigned> same;
    for (unsigned i = maximum + 1; i < other.definition.stages.size(); ++i) {
      if (!reads(other.definition.stages[i], differs))
        continue;
      if (isSame(other, i))
        same.push_back(i);
      else
        differs.insert(i);
    }
    if (llvm::any_of(other.definition.results,
                     [&](unsigned result) { return differs.count(result); }))
      return;
    dropped.changed = std::move(other);
    llvm::append_range(dropped.stages, same);
  }

  static bool reads(const Stage &stage, const std::set<unsigned> &stages) {
    bool found = false;
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        found |= node.kind == Expr::Kind::Read && node.tensor.isStage &&
                 stages.count(node.tensor.index);
      });
    return found;
  }

  /// Guesses whether a stage is the same in both. If so, the goal states
  /// that too.
  bool isSame(const Program &other, unsigned stage) const {
    Goal goal = makeGoal(
        withResults(dropped.original, stage), withResults(other, stage), shared,
        std::vector<std::string>(other.numArguments), assumptions);
    return goal.failure.empty() && mayBeTrue(goal);
  }

  const SharedInputs &shared;
  mlir::MLIRContext *context;
  const Assumptions &assumptions;
  MayBeTrue mayBeTrue;
  Dropped dropped;
};

/// The results of a program, and 0 times each of some stages, or 0.
Program withZeros(Program program, ArrayRef<unsigned> stages, bool areProducts,
                  mlir::MLIRContext *context) {
  for (unsigned number : stages) {
    Definition &own = program.definition;
    Stage zeros = own.stages[number];
    zeros.reinterprets.reset();
    Piece piece;
    ExprNode read(Expr::Kind::Read, zeros.elementType);
    read.tensor = {true, number};
    for (IntExpr dim : zeros.dims) {
      piece.offset.push_back(dim * 0);
      piece.loops.push_back({own.numLoops++, dim});
      ExprNode loop(Expr::Kind::Loop, mlir::IndexType::get(context));
      loop.loop = piece.loops.back().id;
      read.operands.push_back(
          Expr(std::make_shared<const ExprNode>(std::move(loop))));
    }
    Expr zero = DefinitionBuilder(context, {}).constant(zeros.elementType, 0);
    piece.body =
        areProducts
            ? zero * Expr(std::make_shared<const ExprNode>(std::move(read)))
            : zero;
    zeros.pieces.assign(1, std::move(piece));
    own.results.push_back(own.stages.size());
    own.stages.push_back(std::move(zeros));
  }
  return program;
}

//===----------------------------------------------------------------------===//
// Goals
//===----------------------------------------------------------------------===//

Goal askWith(const Read &read, FuncOp function, const Assumptions &assumptions,
             bool isZeroWhereSteep) {
  Sides sides(read, function->getContext(), isZeroWhereSteep);
  std::vector<std::string> names = sides.argumentNames(function), gradients;
  for (unsigned argument : read.arguments)
    gradients.push_back("gradient of " + names[argument]);
  Goal goal = makeGoal(sides.before(), sides.after(), read.shared,
                       std::move(names), assumptions);
  goal.resultNames = std::move(gradients);
  return goal;
}

/// The goal about f and g without such maxima, and that these are f and g;
/// nullopt if they have none.
std::optional<Goal> askWithoutMaxima(const Read &read, FuncOp function,
                                     const Assumptions &assumptions,
                                     bool isZeroWhereSteep,
                                     MayBeTrue mayBeTrue) {
  mlir::MLIRContext *context = function->getContext();
  auto drop = [&](const Program &program) {
    return MaximaDropper(program, read.shared, context, assumptions, mayBeTrue)
        .run();
  };
  auto f = drop(read.f), g = drop(read.g);
  if (!f && !g)
    return std::nullopt;
  Read other = read;
  if (f)
    other.f = f->changed;
  if (g)
    other.g = g->changed;
  Goal goal = askWith(other, function, assumptions, isZeroWhereSteep);
  Sides original(read, context), changed(other, context);
  auto add = [&](Program before, Program after) {
    Goal one = makeGoal(std::move(before), std::move(after), read.shared,
                        goal.argumentNames, assumptions);
    if (goal.failure.empty())
      goal.failure = one.failure;
    goal.beside.push_back({one.conditions, goal.cases.size()});
    llvm::append_range(goal.cases, one.cases);
  };
  // States that these stages of `from` are defined wherever it is, and that
  // those of `to` are equal; then all of `to` is equal.
  auto addEqual = [&](const Program &from, const Program &to,
                      ArrayRef<unsigned> stages) {
    add(withZeros(from, stages, false, context),
        withZeros(from, stages, true, context));
    add(withResults(from, stages), withResults(to, stages));
  };
  if (f)
    addEqual(original.function(), changed.function(), f->stages);
  if (g)
    addEqual(changed.gradient(), original.gradient(), g->stages);
  if (!goal.failure.empty())
    return std::nullopt;
  return goal;
}

/// Whether a slope may be infinite where f has a value.
bool mayBeSteep(const Definition &definition) {
  bool found = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        found |=
            (node.kind == Expr::Kind::Unary && node.unary == UnaryFn::Sqrt) ||
            (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::Pow);
      });
  return found;
}

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
        os << "has " << std::get<1>(pair) << " for " << what << " #" << i
           << ", where a ranked tensor like " << std::get<0>(pair)
           << " is needed";
    return why;
  };
  std::string why = compare(
      arguments, llvm::to_vector(gradient.getArgumentTypes()), "argument");
  if (why.empty())
    why =
        compare(results, llvm::to_vector(gradient.getResultTypes()), "result");
  return why;
}

std::vector<Goal> makeGradientGoals(FuncOp function, FuncOp gradient,
                                    const Assumptions &assumptions,
                                    MayBeTrue mayBeTrue) {
  function->getContext()->loadDialect<MlcDialect>();
  std::vector<Goal> goals(1);
  std::string &failure = goals.front().failure;
  // Compare the reading of each function with runs of it.
  for (FuncOp one : {function, gradient})
    if (failure.empty())
      failure = makeGoal(one, one, assumptions).failure;
  if (failure.empty())
    failure = whyNotOfGradient(function, gradient);
  if (failure.empty())
    if (std::string opaque = opaqueOperator(function); !opaque.empty())
      failure = "the derivative of '" + opaque + "' is not known";
  if (!failure.empty())
    return goals;
  Read read(function, gradient);
  failure = read.failure();
  if (!failure.empty())
    return goals;
  goals.clear();
  for (bool isZeroWhereSteep : {true, false}) {
    if (!isZeroWhereSteep && !mayBeSteep(read.f.definition))
      break;
    Goal goal = askWith(read, function, assumptions, isZeroWhereSteep);
    if (goal.failure.empty())
      if (std::optional<Goal> other = askWithoutMaxima(
              read, function, assumptions, isZeroWhereSteep, mayBeTrue))
        goals.push_back(std::move(*other));
    goals.push_back(std::move(goal));
  }
  return goals;
}

} // namespace mlc::verifier
