//===- EvaluatorSymbolic.cpp - Definitions on symbolic numbers ------------===//

#include "dialects/Evaluator/EvaluatorSymbolic.h"
#include "dialects/Evaluator/EvaluatorTensor.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

class SymbolicEvaluator {
public:
  SymbolicEvaluator(const Definition &definition,
                    ArrayRef<const Elements *> inputs,
                    const SymbolicOptions &options)
      : definition(definition), inputs(inputs), options(options),
        steps(options.stepsLeft ? std::min(options.maxSteps, *options.stepsLeft)
                                : options.maxSteps),
        allowed(steps) {}
  ~SymbolicEvaluator() {
    if (options.stepsLeft)
      *options.stepsLeft -= allowed - std::max(steps, int64_t(0));
  }

  std::optional<std::vector<Elements>> run() {
    for (const Stage &stage : definition.stages)
      if (!runStage(stage))
        return std::nullopt;
    std::vector<Elements> results;
    bool isAnyKnown = false;
    for (unsigned result : definition.results) {
      results.push_back(stages[result]);
      isAnyKnown |= llvm::any_of(
          results.back(), [](const MaybeNumber &n) { return n.has_value(); });
    }
    if (!isAnyKnown)
      return std::nullopt;
    return results;
  }

private:
  /// Row-major position of constant indices; nothing if they are not constant,
  /// -1 if out of range.
  static std::optional<int64_t> placeOf(ArrayRef<int64_t> indices,
                                        ArrayRef<IntExpr> dims) {
    int64_t place = 0;
    bool inside = true;
    for (auto [index, dim] : llvm::zip(indices, dims)) {
      if (!dim.isConstant())
        return std::nullopt;
      inside &= index >= 0 && index < dim.getConstant();
      place = place * dim.getConstant() + (inside ? index : 0);
    }
    return inside ? place : -1;
  }

  /// Calls `body` for each point of constant loops; false if `body` is, or if
  /// there are too many points.
  bool forEachPoint(ArrayRef<Loop> over, llvm::function_ref<bool()> body) {
    if (--steps < 0)
      return false;
    if (over.empty())
      return body();
    IntExpr extent = over[0].extent;
    if (!extent.isConstant())
      return false;
    for (int64_t i = 0; i < extent.getConstant(); ++i) {
      loops[over[0].id] = i;
      if (!forEachPoint(over.drop_front(), body))
        return false;
    }
    return true;
  }

  bool runStage(const Stage &stage) {
    Elements &out = stages.emplace_back();
    SmallVector<int64_t> sizes;
    for (IntExpr dim : stage.dims) {
      if (!dim.isConstant())
        return false;
      sizes.push_back(dim.getConstant());
    }
    std::optional<int64_t> count = elementCount(sizes);
    if (!count || *count > options.maxElements)
      return false;
    out.resize(*count);
    for (const Piece &piece : stage.pieces) {
      bool complete = forEachPoint(piece.loops, [&] {
        SmallVector<int64_t> indices;
        for (auto [loop, offset] : llvm::zip(piece.loops, piece.offset)) {
          if (!offset.isConstant())
            return false;
          indices.push_back(loops.lookup(loop.id) + offset.getConstant());
        }
        std::optional<int64_t> place = placeOf(indices, stage.dims);
        if (!place || *place < 0)
          return false;
        out[*place] = evaluate(piece.body);
        return steps >= 0;
      });
      if (!complete)
        return false;
    }
    return true;
  }

  Number number(const ExprNode &node, int64_t value) {
    return {IntExpr::constant(node.type.getContext(), value)};
  }

  MaybeNumber evaluate(const Expr &expr) {
    const ExprNode &node = *expr;
    if (--steps < 0)
      return std::nullopt;
    switch (node.kind) {
    case Expr::Kind::Loop:
      return number(node, loops.lookup(node.loop));
    case Expr::Kind::Int:
      return Number{node.integer};
    case Expr::Kind::Constant:
      if (isa<FloatType>(node.type))
        return numberOf(node.number, node.type.getContext());
      return number(node, node.integerNumber);
    case Expr::Kind::Param:
      return std::nullopt;
    case Expr::Kind::Read:
      return read(node);
    case Expr::Kind::Unary: {
      MaybeNumber a = evaluate(node.operands[0]);
      return a ? applyUnary(node.unary, node.type, *a) : std::nullopt;
    }
    case Expr::Kind::Binary:
      return binary(node);
    case Expr::Kind::Compare: {
      MaybeNumber a = evaluate(node.operands[0]);
      MaybeNumber b = a ? evaluate(node.operands[1]) : std::nullopt;
      return b ? applyCompare(node.predicate, *a, *b) : std::nullopt;
    }
    case Expr::Kind::Select: {
      MaybeNumber condition = evaluate(node.operands[0]);
      if (!condition)
        return std::nullopt;
      if (std::optional<int64_t> truth = condition->asConstant())
        return evaluate(node.operands[*truth ? 1 : 2]);
      return applySelect(*condition, evaluate(node.operands[1]),
                         evaluate(node.operands[2]));
    }
    case Expr::Kind::Cast: {
      MaybeNumber a = evaluate(node.operands[0]);
      return a ? applyCast(*a, node.operands[0]->type, node.type)
               : std::nullopt;
    }
    case Expr::Kind::Reduce:
      return reduce(node);
    }
    llvm_unreachable("unknown kind");
  }

  MaybeNumber read(const ExprNode &node) {
    SmallVector<int64_t> indices;
    for (const Expr &index : node.indices()) {
      MaybeNumber at = evaluate(index);
      std::optional<int64_t> value = at ? at->asConstant() : std::nullopt;
      if (!value)
        return std::nullopt;
      indices.push_back(*value);
    }
    std::optional<int64_t> place =
        placeOf(indices, definition.shapeOf(node.tensor).dims);
    if (!place)
      return std::nullopt;
    if (*place < 0)
      return node.guarded ? evaluate(node.operands.back()) : std::nullopt;
    const Elements *from = node.tensor.isStage ? &stages[node.tensor.index]
                                               : inputs[node.tensor.index];
    return from ? (*from)[*place] : std::nullopt;
  }

  /// x - (x / y) * y of non-negative numbers, which is mod.
  MaybeNumber remainder(const ExprNode &node, const Number &a) {
    const ExprNode &product = *node.operands[1];
    if (node.binary != BinaryFn::Sub || isa<FloatType>(node.type) ||
        product.kind != Expr::Kind::Binary || product.binary != BinaryFn::Mul)
      return std::nullopt;
    const ExprNode &quotient = *product.operands[0];
    if (quotient.kind != Expr::Kind::Binary ||
        quotient.binary != BinaryFn::Div ||
        !(quotient.operands[0] == node.operands[0]) ||
        !(quotient.operands[1] == product.operands[1]))
      return std::nullopt;
    MaybeNumber by = evaluate(quotient.operands[1]);
    if (!by || a.numerator.isConstant() || !a.numerator.isKnownNonNegative() ||
        !by->numerator.isKnownPositive())
      return std::nullopt;
    return Number{a.numerator.mod(by->numerator)};
  }

  MaybeNumber binary(const ExprNode &node) {
    MaybeNumber a = evaluate(node.operands[0]);
    if (a)
      if (MaybeNumber rest = remainder(node, *a))
        return rest;
    MaybeNumber b = evaluate(node.operands[1]);
    if (a && b)
      return applyBinary(node.binary, node.type, *a, *b,
                         options.assumeNonNegative);
    // A single truth value may decide.
    const MaybeNumber &known = a ? a : b;
    bool decides =
        known && node.type.isInteger(1) &&
        ((node.binary == BinaryFn::And && known->numerator.isConstant(0)) ||
         (node.binary == BinaryFn::Or && known->numerator.isConstant(1)));
    return decides ? known : std::nullopt;
  }

  MaybeNumber reduce(const ExprNode &node) {
    // In the order of ReduceKind.
    static constexpr BinaryFn functions[] = {BinaryFn::Add, BinaryFn::Mul,
                                             BinaryFn::Max, BinaryFn::Min,
                                             BinaryFn::Or,  BinaryFn::And};
    BinaryFn fn = functions[static_cast<unsigned>(node.reduce)];
    MaybeNumber result;
    bool isKnown = true, isEmpty = true;
    bool complete = forEachPoint(node.loops, [&] {
      MaybeNumber value = evaluate(node.operands[0]);
      isKnown &= value.has_value();
      if (!isKnown)
        return false;
      result = isEmpty ? value
                       : applyBinary(fn, node.type, *result, *value,
                                     options.assumeNonNegative);
      isEmpty = false;
      return isKnown = result.has_value();
    });
    if (!complete || !isKnown)
      return std::nullopt;
    if (!isEmpty)
      return result;
    bool isOne =
        node.reduce == ReduceKind::Prod || node.reduce == ReduceKind::All;
    bool hasNone =
        node.reduce == ReduceKind::Max || node.reduce == ReduceKind::Min;
    return hasNone ? MaybeNumber() : number(node, isOne);
  }

  const Definition &definition;
  ArrayRef<const Elements *> inputs;
  const SymbolicOptions &options;
  int64_t steps;
  const int64_t allowed;
  std::vector<Elements> stages;
  llvm::DenseMap<unsigned, int64_t> loops;
};

} // namespace

std::optional<std::vector<Elements>>
evaluateSymbolically(const Definition &definition,
                     ArrayRef<const Elements *> inputs,
                     const SymbolicOptions &options) {
  return SymbolicEvaluator(definition, inputs, options).run();
}

std::optional<Elements> elementsOf(ElementsAttr literal, int64_t maxElements) {
  Type type = literal.getElementType();
  bool isFloat = type.isF32() || type.isF64();
  if (literal.getNumElements() > maxElements ||
      !(isFloat || isa<IntegerType>(type)))
    return std::nullopt;
  llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(literal);
  if (!tensor) {
    llvm::consumeError(tensor.takeError());
    return std::nullopt;
  }
  MLIRContext *context = type.getContext();
  Elements elements;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    if (isFloat) {
      elements.push_back(numberOf(tensor->getDouble(i), context));
      continue;
    }
    int64_t value = tensor->getInt(i);
    bool isHeld = !type.isUnsignedInteger(64) || value >= 0;
    elements.push_back(
        isHeld ? MaybeNumber(Number{IntExpr::constant(context, value)})
               : std::nullopt);
  }
  return elements;
}

} // namespace mlc
