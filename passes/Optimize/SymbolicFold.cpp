//===- SymbolicFold.cpp - Shape arithmetic on integer tensors -------------===//

#include "passes/Optimize/SymbolicFold.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Interfaces/EvaluatorTensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

/// More elements than any shape has dims.
constexpr int64_t maxElements = 64;

using Elements = SmallVector<IntExpr>;

bool isSmallInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isSignlessInteger(64))
    return false;
  std::optional<int64_t> count = elementCount(tensor.getShape());
  return count && *count <= maxElements;
}

/// Evaluates a definition on symbolic integers.
class SymbolicEvaluator {
public:
  SymbolicEvaluator(const Definition &definition,
                    ArrayRef<const Elements *> inputs)
      : definition(definition), inputs(inputs) {}

  /// Elements of the only result.
  std::optional<Elements> run() {
    if (definition.results.size() != 1)
      return std::nullopt;
    for (const Stage &stage : definition.stages)
      if (!runStage(stage))
        return std::nullopt;
    return stages[definition.results[0]];
  }

private:
  /// Row-major place of constant indices; nothing when they are not constant,
  /// -1 when out of range.
  static std::optional<int64_t> placeOf(ArrayRef<IntExpr> indices,
                                        ArrayRef<IntExpr> dims) {
    int64_t place = 0;
    bool inside = true;
    for (auto [index, dim] : llvm::zip(indices, dims)) {
      if (!index.isConstant() || !dim.isConstant())
        return std::nullopt;
      inside &=
          index.getConstant() >= 0 && index.getConstant() < dim.getConstant();
      place = place * dim.getConstant() + index.getConstant();
    }
    return inside ? place : -1;
  }

  /// Calls `body` for each point of small constant loops.
  bool forEachPoint(ArrayRef<Loop> over, llvm::function_ref<bool()> body) {
    if (over.empty())
      return body();
    IntExpr extent = over[0].extent;
    if (!extent.isConstant() || extent.getConstant() > maxElements)
      return false;
    for (int64_t i = 0; i < extent.getConstant(); ++i) {
      loops[over[0].id] = IntExpr::constant(extent.getContext(), i);
      if (!forEachPoint(over.drop_front(), body))
        return false;
    }
    return true;
  }

  bool runStage(const Stage &stage) {
    Elements &out = stages.emplace_back();
    int64_t count = 1;
    for (IntExpr dim : stage.dims) {
      if (!dim.isConstant() || dim.getConstant() > maxElements)
        return false;
      count *= dim.getConstant();
      if (count > maxElements)
        return false;
    }
    out.resize(count);
    for (const Piece &piece : stage.pieces) {
      bool complete = forEachPoint(piece.loops, [&] {
        SmallVector<IntExpr> indices;
        for (auto [loop, offset] : llvm::zip(piece.loops, piece.offset))
          indices.push_back(loops[loop.id] + offset);
        std::optional<int64_t> place = placeOf(indices, stage.dims);
        IntExpr value = evaluate(piece.body);
        if (!place || *place < 0 || !value)
          return false;
        out[*place] = value;
        return true;
      });
      if (!complete)
        return false;
    }
    return true;
  }

  IntExpr number(const ExprNode &node, int64_t value) {
    return IntExpr::constant(node.type.getContext(), value);
  }

  /// Null where the value has no closed form.
  IntExpr evaluate(const Expr &expr) {
    const ExprNode &node = *expr;
    bool isInteger = isa<IndexType>(node.type) ||
                     node.type.isSignlessInteger(64) || node.type.isInteger(1);
    if (!isInteger)
      return nullptr;
    switch (node.kind) {
    case Expr::Kind::Loop:
      return loops[node.loop];
    case Expr::Kind::Int:
      return node.integer;
    case Expr::Kind::Constant:
      return number(node, node.integerNumber);
    case Expr::Kind::Param:
      return nullptr;
    case Expr::Kind::Read:
      return read(node);
    case Expr::Kind::Unary: {
      IntExpr a = evaluate(node.operands[0]);
      return a && node.unary == UnaryFn::Neg ? -a : nullptr;
    }
    case Expr::Kind::Binary:
      return binary(node);
    case Expr::Kind::Compare:
      return compare(node);
    case Expr::Kind::Select: {
      IntExpr condition = evaluate(node.operands[0]);
      if (!condition || !condition.isConstant())
        return nullptr;
      return evaluate(node.operands[condition.isConstant(0) ? 2 : 1]);
    }
    case Expr::Kind::Cast: {
      IntExpr a = evaluate(node.operands[0]);
      if (!a || !node.type.isInteger(1))
        return a;
      return a.isConstant() ? number(node, a.getConstant() != 0) : nullptr;
    }
    case Expr::Kind::Reduce:
      return reduce(node);
    }
    llvm_unreachable("unknown kind");
  }

  IntExpr read(const ExprNode &node) {
    SmallVector<IntExpr> indices;
    for (const Expr &index : node.indices()) {
      indices.push_back(evaluate(index));
      if (!indices.back())
        return nullptr;
    }
    TensorShape shape = definition.shapeOf(node.tensor);
    std::optional<int64_t> place = placeOf(indices, shape.dims);
    if (!place)
      return nullptr;
    if (*place < 0)
      return node.guarded ? evaluate(node.operands.back()) : nullptr;
    const Elements &from = node.tensor.isStage ? stages[node.tensor.index]
                                               : *inputs[node.tensor.index];
    return from[*place];
  }

  static IntExpr combine(BinaryFn fn, IntExpr a, IntExpr b) {
    switch (fn) {
    case BinaryFn::Add:
      return a + b;
    case BinaryFn::Sub:
      return a - b;
    case BinaryFn::Mul:
      return a * b;
    case BinaryFn::Min:
      return IntExpr::min(a, b);
    case BinaryFn::Max:
      return IntExpr::max(a, b);
    case BinaryFn::Div: // truncates, so signs must be known
      return a.isKnownNonNegative() && b.isKnownPositive() ? a.floorDiv(b)
                                                           : nullptr;
    case BinaryFn::FloorDiv:
      return b.isKnownPositive() ? a.floorDiv(b) : nullptr;
    case BinaryFn::Mod:
      return b.isKnownPositive() ? a.mod(b) : nullptr;
    default:
      return nullptr;
    }
  }

  IntExpr binary(const ExprNode &node) {
    IntExpr a = evaluate(node.operands[0]);
    IntExpr b = a ? evaluate(node.operands[1]) : nullptr;
    return b ? combine(node.binary, a, b) : nullptr;
  }

  IntExpr compare(const ExprNode &node) {
    IntExpr a = evaluate(node.operands[0]);
    IntExpr b = a ? evaluate(node.operands[1]) : nullptr;
    if (!b)
      return nullptr;
    IntExpr difference = a - b;
    bool positive = difference.isKnownPositive();
    bool negative = (-difference).isKnownPositive();
    bool notNegative = difference.isKnownNonNegative();
    bool notPositive = (-difference).isKnownNonNegative();
    auto decided = [&](bool always, bool never) {
      return always || never ? number(node, always) : IntExpr();
    };
    switch (node.predicate) {
    case ComparePredicate::EQ:
      return decided(notNegative && notPositive, positive || negative);
    case ComparePredicate::NE:
      return decided(positive || negative, notNegative && notPositive);
    case ComparePredicate::LT:
      return decided(negative, notNegative);
    case ComparePredicate::LE:
      return decided(notPositive, positive);
    case ComparePredicate::GT:
      return decided(positive, notPositive);
    case ComparePredicate::GE:
      return decided(notNegative, negative);
    }
    llvm_unreachable("unknown predicate");
  }

  IntExpr reduce(const ExprNode &node) {
    static constexpr BinaryFn functions[] = {BinaryFn::Add, BinaryFn::Mul,
                                             BinaryFn::Max, BinaryFn::Min};
    unsigned kind = static_cast<unsigned>(node.reduce);
    if (kind >= std::size(functions))
      return nullptr;
    IntExpr result;
    bool complete = forEachPoint(node.loops, [&] {
      IntExpr value = evaluate(node.operands[0]);
      if (!value)
        return false;
      result = result ? combine(functions[kind], result, value) : value;
      return true;
    });
    if (complete && !result && node.reduce <= ReduceKind::Prod)
      return number(node, node.reduce == ReduceKind::Prod);
    return complete ? result : nullptr;
  }

  const Definition &definition;
  ArrayRef<const Elements *> inputs;
  std::vector<Elements> stages;
  llvm::DenseMap<unsigned, IntExpr> loops;
};

bool hasSymbols(IntExpr expr) {
  bool found = false;
  expr.walkSymbols([&](StringRef) { found = true; });
  return found;
}

class Folder {
public:
  void visit(Operation &op) {
    if (op.getNumResults() != 1 || !isSmallInteger(op.getResult(0).getType()))
      return;
    ElementsAttr value;
    if (matchPattern(&op, m_Constant(&value))) {
      rememberLiteral(op.getResult(0), value);
      return;
    }
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined)
      return;
    SmallVector<const Elements *> inputs;
    for (Value operand : op.getOperands()) {
      auto it = known.find(operand);
      if (it == known.end())
        return;
      inputs.push_back(it->second.get());
    }
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return;
    std::optional<Elements> elements =
        SymbolicEvaluator(*definition, inputs).run();
    if (!elements)
      return;
    // Numbers that wrap around are for the evaluator.
    if (llvm::any_of(*elements, [](IntExpr element) {
          return !element.isConstant() && !hasSymbols(element);
        }))
      return;
    bool isSymbolic = llvm::any_of(
        *elements, [](IntExpr element) { return !element.isConstant(); });
    Value result = op.getResult(0);
    if (isSymbolic && op.getNumOperands() != 0)
      result = write(op, *elements);
    known[result] = std::make_unique<Elements>(std::move(*elements));
  }

private:
  void rememberLiteral(Value value, ElementsAttr attr) {
    llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(attr);
    if (!tensor) {
      llvm::consumeError(tensor.takeError());
      return;
    }
    auto elements = std::make_unique<Elements>();
    for (int64_t i = 0; i < tensor->getNumElements(); ++i)
      elements->push_back(
          IntExpr::constant(value.getContext(), tensor->getInt(i)));
    known[value] = std::move(elements);
  }

  /// The value that now has these elements. `int_tensor` has rank 0 or 1.
  Value write(Operation &op, const Elements &elements) {
    Value old = op.getResult(0);
    auto type = cast<RankedTensorType>(old.getType());
    if (type.getRank() > 1)
      return old;
    OpBuilder builder(&op);
    MLIRContext *context = builder.getContext();
    auto values = DimsAttr::get(context, ArrayRef<IntExpr>(elements));
    auto dims = DimsAttr::get(context, type.getShape());
    FailureOr<IntTensorOp> folded =
        createOp<IntTensorOp>(builder, op.getLoc(), values, dims);
    if (failed(folded))
      return old;
    old.replaceAllUsesWith(folded->getResult());
    return folded->getResult();
  }

  llvm::DenseMap<Value, std::unique_ptr<Elements>> known;
};

} // namespace

void foldSymbolicIntegers(Block &block) {
  Folder folder;
  for (Operation &op : llvm::make_early_inc_range(block))
    folder.visit(op);
}

} // namespace mlc
