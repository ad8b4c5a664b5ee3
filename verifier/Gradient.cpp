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

/// What f and g are read as.
struct Read {
  SharedInputs shared;
  SmallVector<unsigned> arguments, results; // of f, those of floats
  Program f, g;

  Read(FuncOp function, FuncOp gradient)
      : arguments(floatsOf(function.getArgumentTypes())),
        results(floatsOf(function.getResultTypes())),
        f(ProgramBuilder(function, shared).build()),
        g(ProgramBuilder(gradient, shared).build()) {}

  std::string failure() const {
    return f.failure.empty() ? g.failure : f.failure;
  }
};

/// Programs over the arguments of a question: those of f, the cotangents and
/// the tangents.
class Sides {
public:
  Sides(const Read &read, mlir::MLIRContext *context)
      : context(context), f(read.f), g(read.g), arguments(read.arguments),
        results(read.results), numCotangents(results.size()),
        numTangents(arguments.size()), original(f.definition) {
    for (const SharedInputs::Entry &entry : read.shared.entries)
      original.inputs.push_back(entry.shape);
    chooseType();
  }

  /// f, and g.
  Program function() const {
    Program side = f;
    for (unsigned result : results)
      side.definition.inputs.push_back(
          f.definition.shapeOf({true, f.definition.results[result]}));
    addTangents(side, f);
    return side;
  }
  Program gradient() const {
    Program side = g;
    addTangents(side, g);
    return side;
  }

  /// <dy, J t> for the tangents t of each argument.
  Program before() {
    Program side = function();
    side.definition.results.clear();
    for (unsigned k = 0; k < numTangents && side.failure.empty(); ++k)
      addForward(side, k);
    return side;
  }

  /// <t, g> for the tangents t of each argument.
  Program after() {
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

private:
  /// Gives a side its last arguments. What it reads beyond arguments stands
  /// behind all of them. Sums of products are compared as real numbers.
  void addTangents(Program &side, const Program &read) const {
    for (unsigned argument : arguments)
      side.definition.inputs.push_back(read.definition.inputs[argument]);
    side.numArguments = side.definition.inputs.size();
    side.isLiteral = false;
    moveInputs(side.definition, read.numArguments,
               side.numArguments - read.numArguments);
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
      meet(original.shapeOf({true, original.results[result]}).elementType);
  }

  /// Puts `by` inputs before those from `first` on.
  static void moveInputs(Definition &definition, unsigned first, unsigned by) {
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

  /// Where an input of `original` stands in a question.
  TensorId inputOf(unsigned index) const {
    bool isArgument = index < f.numArguments;
    return {false, index + (isArgument ? 0 : numCotangents + numTangents)};
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
    unsigned numValues = original.stages.size(), first = own.stages.size();
    auto place = [&](TensorId id) -> TensorId {
      if (id.isStage)
        return {true,
                id.index < numValues ? id.index : id.index - numValues + first};
      return id.index == original.inputs.size() ? tangent(k)
                                                : inputOf(id.index);
    };
    unsigned moreLoops = own.numLoops - original.numLoops;
    addStages(own, ArrayRef(forward.definition.stages).drop_front(numValues),
              moreLoops, place);
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

  mlir::MLIRContext *context;
  const Program &f, &g;
  ArrayRef<unsigned> arguments, results;
  unsigned numCotangents, numTangents;
  Definition original; // f's, with all that it reads among its inputs
  mlir::Type type;
};

//===----------------------------------------------------------------------===//
// Maxima that cancel
//===----------------------------------------------------------------------===//

/// Makes stages 0 of which numbers show nothing: maxima that are subtracted
/// everywhere, so that exponentials do not overflow. They have kinks where the
/// program has none, and that these cancel is hard to see. Whether any is.
bool dropMaxima(Program &program, const SharedInputs &shared,
                mlir::MLIRContext *context, const Assumptions &assumptions) {
  bool found = false;
  for (size_t i = 0; i < program.definition.stages.size(); ++i) {
    const Stage &stage = program.definition.stages[i];
    const Expr &body = stage.pieces.front().body;
    bool isExtremum =
        body->kind == Expr::Kind::Reduce && stage.pieces.size() == 1 &&
        mlir::isa<mlir::FloatType>(stage.elementType) &&
        (body->reduce == ReduceKind::Max || body->reduce == ReduceKind::Min) &&
        body->operands[0]->kind == Expr::Kind::Read &&
        !body->operands[0]->guarded;
    if (!isExtremum)
      continue;
    Program other = program;
    other.definition.stages[i].pieces[0].body =
        DefinitionBuilder(context, {}).constant(stage.elementType, 0);
    Question isSame = makeQuestion(
        program, other, shared, std::vector<std::string>(program.numArguments),
        assumptions);
    bool sawInstance = false;
    if (!isSame.failure.empty() ||
        findCounterexample(isSame, assumptions, 1, 12, /*isSmall=*/false,
                           sawInstance) ||
        !sawInstance)
      continue;
    program = std::move(other);
    found = true;
  }
  return found;
}

Question askWith(const Read &read, FuncOp function,
                 const Assumptions &assumptions) {
  Sides sides(read, function->getContext());
  std::vector<std::string> names = sides.argumentNames(function), gradients;
  for (unsigned argument : read.arguments)
    gradients.push_back("gradient of " + names[argument]);
  Question question = makeQuestion(sides.before(), sides.after(), read.shared,
                                   std::move(names), assumptions);
  question.resultNames = std::move(gradients);
  return question;
}

/// The question about f and g without such maxima, and that f and g are equal
/// to those; nothing where they have none.
std::optional<Question> askWithoutMaxima(const Read &read, FuncOp function,
                                         const Assumptions &assumptions) {
  mlir::MLIRContext *context = function->getContext();
  Read other = read;
  bool isOtherF = dropMaxima(other.f, read.shared, context, assumptions),
       isOtherG = dropMaxima(other.g, read.shared, context, assumptions);
  if (!isOtherF && !isOtherG)
    return std::nullopt;
  Question question = askWith(other, function, assumptions);
  Sides original(read, context), changed(other, context);
  auto add = [&](Program before, Program after) {
    Question one =
        makeQuestion(std::move(before), std::move(after), read.shared,
                     question.argumentNames, assumptions);
    if (question.failure.empty())
      question.failure = one.failure;
    llvm::append_range(question.cases, one.cases);
  };
  if (isOtherF)
    add(original.function(), changed.function());
  if (isOtherG)
    add(changed.gradient(), original.gradient());
  if (!question.failure.empty())
    return std::nullopt;
  return question;
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

std::vector<Question> makeGradientQuestions(FuncOp function, FuncOp gradient,
                                            const Assumptions &assumptions) {
  function->getContext()->loadDialect<MlcDialect>();
  std::vector<Question> questions(1);
  std::string &failure = questions.front().failure;
  // What was read of each of them is held against runs of it.
  for (FuncOp one : {function, gradient})
    if (failure.empty())
      failure = makeQuestion(one, one, assumptions).failure;
  if (failure.empty())
    failure = whyNotOfGradient(function, gradient);
  if (failure.empty())
    if (std::string opaque = opaqueOperator(function); !opaque.empty())
      failure = "the derivative of '" + opaque + "' is not known";
  if (!failure.empty())
    return questions;
  Read read(function, gradient);
  failure = read.failure();
  if (!failure.empty())
    return questions;
  questions.front() = askWith(read, function, assumptions);
  if (!questions.front().failure.empty())
    return questions;
  if (std::optional<Question> other =
          askWithoutMaxima(read, function, assumptions))
    questions.insert(questions.begin(), std::move(*other));
  return questions;
}

} // namespace mlc::verifier

namespace mlc {

using namespace verifier;

Verdict verifyGradient(FuncOp function, FuncOp gradient,
                       const Assumptions &assumptions,
                       const VerifierOptions &options) {
  auto start = std::chrono::steady_clock::now();
  std::string title =
      (gradient.getName() + " is the gradient of " + function.getName()).str();
  Verdict verdict;
  for (const Question &question :
       makeGradientQuestions(function, gradient, assumptions)) {
    verdict = answer(question, assumptions, function->getContext(), title,
                     options, start);
    if (verdict.isProved())
      break;
  }
  return verdict;
}

std::string describeDerivative() {
  return "derivative: mlc's forward derivative of definitions, with its "
         "conventions at ties (docs/Differentiation.md)";
}

} // namespace mlc
