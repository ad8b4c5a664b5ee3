//===- Forward.cpp - Forward derivatives of functions ---------------------===//

#include "passes/Differentiate/Forward.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Derivative/AdjointIndices.h"
#include "dialects/Derivative/Tangent.h"
#include "passes/Differentiate/Derived.h"
#include "passes/Differentiate/Emit.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

/// The stages that the results of a forward derivative need, in a form that
/// texts allow: one piece each, with guarded reads. The operator's results are
/// available as inputs after the others.
class Plain {
public:
  Plain(MLIRContext *context, const Definition &operation,
        const Definition &forward)
      : operation(operation), forward(forward),
        builder(context, inputsOf(operation, forward)) {}

  Definition run() {
    std::vector<bool> isNeeded(forward.stages.size());
    for (unsigned result : forward.results)
      isNeeded[result] = true;
    for (unsigned s = forward.stages.size(); s-- > 0;)
      for (const Piece &piece : forward.stages[s].pieces)
        walk(piece.body, [&](const ExprNode &node) {
          if (isNeeded[s] && node.kind == Expr::Kind::Read &&
              moved(node.tensor).isStage && node.tensor.isStage)
            isNeeded[node.tensor.index] = true;
        });
    numbers.resize(forward.stages.size());
    for (auto [s, stage] : llvm::enumerate(forward.stages))
      if (isNeeded[s])
        numbers[s] = add(stage);
    for (unsigned result : forward.results)
      builder.result(numbers[result]);
    return builder.take();
  }

private:
  static SmallVector<TensorShape> inputsOf(const Definition &operation,
                                           const Definition &forward) {
    SmallVector<TensorShape> shapes(forward.inputs);
    for (unsigned result : operation.results)
      shapes.push_back(operation.shapeOf({true, result}));
    return shapes;
  }

  /// A value's tensor here, except for the numbers of stages.
  TensorId moved(TensorId id) const {
    const auto *it = llvm::find(operation.results, id.index);
    if (!id.isStage || it == operation.results.end())
      return id;
    return {false, static_cast<unsigned>(forward.inputs.size() +
                                         (it - operation.results.begin()))};
  }

  Expr translate(const Expr &expr) const {
    return rewrite(expr, [&](const ExprNode &node) -> Expr {
      if (node.kind != Expr::Kind::Read)
        return Expr();
      ExprNode read = node;
      read.tensor = moved(node.tensor);
      if (read.tensor.isStage)
        read.tensor.index = numbers[read.tensor.index];
      for (Expr &operand : read.operands)
        operand = translate(operand);
      return withoutChoices(std::move(read));
    });
  }

  /// Texts cannot select indices, so select elements instead.
  static Expr withoutChoices(ExprNode read) {
    for (unsigned i = 0; i < read.indices().size(); ++i) {
      Expr index = read.operands[i];
      if (index->kind != Expr::Kind::Select)
        continue;
      ExprNode yes = read, no = read;
      yes.operands[i] = index->operands[1];
      no.operands[i] = index->operands[2];
      return select(index->operands[0], withoutChoices(std::move(yes)),
                    withoutChoices(std::move(no)));
    }
    return Expr(std::make_shared<const ExprNode>(std::move(read)));
  }

  unsigned add(const Stage &stage) {
    unsigned number = builder.stage(
        stage.name, stage.dims, stage.elementType, [&](ArrayRef<Expr> i) {
          Expr whole;
          for (const Piece &piece : llvm::reverse(stage.pieces)) {
            Expr element = elementOf(piece, i);
            whole =
                whole ? select(isIn(piece, stage, i), element, whole) : element;
          }
          llvm::DenseMap<unsigned, IntExpr> extents;
          for (auto [loop, dim] : llvm::zip(i, stage.dims))
            extents[loop->loop] = dim;
          return adjoint::guardReads(builder, whole, extents, [&](TensorId id) {
            return id.isStage ? shapes[id.index] : builder.input(id.index);
          });
        });
    shapes.push_back({stage.dims, stage.elementType});
    return number;
  }

  Expr elementOf(const Piece &piece, ArrayRef<Expr> i) {
    llvm::DenseMap<unsigned, Expr> values;
    for (auto [loop, offset, at] : llvm::zip(piece.loops, piece.offset, i))
      values[loop.id] = at - offset;
    return adjoint::withLoops(builder, translate(piece.body), values);
  }

  /// Whether an element belongs to this one of several pieces.
  Expr isIn(const Piece &piece, const Stage &stage, ArrayRef<Expr> i) const {
    Expr isHere;
    auto add = [&](Expr holds) {
      isHere = isHere ? binary(BinaryFn::And, isHere, holds) : holds;
    };
    for (auto [loop, offset, at, dim] :
         llvm::zip(piece.loops, piece.offset, i, stage.dims)) {
      IntExpr end = offset + loop.extent;
      if (!offset.isConstant(0))
        add(compare(ComparePredicate::GE, at, builder.integer(offset)));
      if (end != dim)
        add(compare(ComparePredicate::LT, at, builder.integer(end)));
    }
    return isHere ? isHere
                  : compare(ComparePredicate::EQ, builder.index(0),
                            builder.index(0));
  }

  const Definition &operation;
  const Definition &forward;
  DefinitionBuilder builder;
  std::vector<unsigned> numbers; // of the stages that are needed
  SmallVector<TensorShape> shapes;
};

/// Walks a block that has been copied and adds tangents of its values.
class ForwardBuilder {
public:
  explicit ForwardBuilder(OpBuilder &builder) : builder(builder) {}

  void setTangent(Value value, Value tangent) {
    varying.insert(value);
    tangents[value] = tangent;
  }

  LogicalResult visit(Operation *op) {
    if (llvm::none_of(op->getOperands(),
                      [&](Value value) { return varying.contains(value); }))
      return success();
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    if (!defined && llvm::none_of(op->getResults(), isFloatTensor))
      return success();
    if (!defined)
      return op->emitOpError() << "has no derivative";
    FailureOr<Definition> definition = getDefinition(defined);
    if (failed(definition))
      return failure();
    Directions directions;
    SmallVector<Value> inputs(op->getOperands());
    for (Value operand : op->getOperands()) {
      directions.varies.push_back(varying.contains(operand));
      Value tangent = tangents.lookup(operand);
      directions.moves.push_back(tangent != nullptr);
      if (tangent)
        inputs.push_back(tangent);
    }
    llvm::append_range(inputs, op->getResults());
    TangentDefinition forward =
        differentiateForward(*definition, directions, builder.getContext());
    if (!forward.failure.empty())
      return op->emitOpError() << "has no derivative: " << forward.failure;
    auto emitted = emitStages(
        builder, op->getLoc(),
        Plain(builder.getContext(), *definition, forward.definition).run(),
        inputs);
    if (failed(emitted))
      return failure();
    const Value *next = emitted->begin();
    for (Value result : op->getResults())
      if (isFloatTensor(result))
        setTangent(result, *next++);
    return success();
  }

  FailureOr<Value> tangentOf(Value value) {
    if (Value tangent = tangents.lookup(value))
      return tangent;
    return createFilled(builder, value, 0.0);
  }

private:
  OpBuilder &builder;
  llvm::DenseMap<Value, Value> tangents;
  llvm::SmallDenseSet<Value> varying;
};

} // namespace

FailureOr<func::FuncOp> addForward(func::FuncOp function) {
  auto change = [](OpBuilder &builder, Block &block,
                   llvm::SmallVectorImpl<Value> &results) -> LogicalResult {
    ForwardBuilder tangents(builder);
    SmallVector<Value> arguments(block.getArguments());
    for (Value argument : arguments)
      if (isFloatTensor(argument))
        tangents.setTangent(
            argument, block.addArgument(argument.getType(), argument.getLoc()));
    SmallVector<Operation *> operators;
    for (Operation &op : block.without_terminator())
      operators.push_back(&op);
    for (Operation *op : operators)
      if (failed(tangents.visit(op)))
        return failure();
    for (Value result : block.getTerminator()->getOperands())
      if (isFloatTensor(result)) {
        FailureOr<Value> tangent = tangents.tangentOf(result);
        if (failed(tangent))
          return failure();
        results.push_back(*tangent);
      }
    return success();
  };
  return deriveFunction(function, "_jvp", change);
}

} // namespace mlc
