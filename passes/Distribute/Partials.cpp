//===- Partials.cpp - Partial sums through operators ----------------------===//

#include "passes/Distribute/Partials.h"
#include "passes/Distribute/MakeExpr.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

/// The value of an expression on each rank.
struct State {
  enum class Kind {
    Plain,   ///< its value
    Zero,    ///< 0 or NaN: a sum of copies of it is the same
    Partial, ///< a term of its value's reduction
    Bad,     ///< something else
  };
  Kind kind = Kind::Plain;
  Reduction reduction = Reduction::Sum;

  bool isPartial() const { return kind == Kind::Partial; }
  bool isKnown() const { return kind == Kind::Plain || kind == Kind::Zero; }
  bool isPartial(Reduction of) const { return isPartial() && reduction == of; }
  static State bad() { return {Kind::Bad}; }
};

std::optional<Reduction> reductionOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return Reduction::Sum;
  case ReduceKind::Prod:
    return Reduction::Prod;
  case ReduceKind::Max:
    return Reduction::Max;
  case ReduceKind::Min:
    return Reduction::Min;
  case ReduceKind::Any:
  case ReduceKind::All:
    return std::nullopt;
  }
  llvm_unreachable("unknown reduction");
}

/// Whether equal values are also terms: the maximum of copies of a value is the
/// value.
bool isIdempotent(Reduction reduction) {
  return reduction == Reduction::Max || reduction == Reduction::Min;
}

bool isZero(const ExprNode &node) {
  if (node.kind == Expr::Kind::Int)
    return node.integer.isConstant(0);
  return node.kind == Expr::Kind::Constant &&
         (isa<FloatType>(node.type) ? node.number == 0
                                    : node.integerNumber == 0);
}

class Judge {
public:
  Judge(const Factor &factor, ArrayRef<std::optional<Reduction>> inputs,
        ArrayRef<std::optional<Reduction>> stages)
      : factor(factor), inputs(inputs), stages(stages) {}

  State judge(const Expr &expr) {
    if (isZero(*expr) || isNaN(expr))
      return {State::Kind::Zero};
    switch (expr->kind) {
    case Expr::Kind::Read:
      return judgeRead(*expr);
    case Expr::Kind::Reduce:
      return judgeReduce(*expr);
    case Expr::Kind::Binary:
      return judgeBinary(*expr);
    case Expr::Kind::Select: {
      if (!judge(expr->operands[0]).isKnown())
        return State::bad();
      return either(judge(expr->operands[1]), judge(expr->operands[2]));
    }
    case Expr::Kind::Cast:
      return judgeCast(*expr);
    case Expr::Kind::Unary: {
      State own = judge(expr->operands[0]);
      if (own.isPartial(Reduction::Sum) && expr->unary == UnaryFn::Neg)
        return own;
      return own.isKnown() ? State() : State::bad();
    }
    default:
      for (const Expr &operand : expr->operands)
        if (!judge(operand).isKnown())
          return State::bad();
      return {};
    }
  }

private:
  /// The state of a choice or sum of both: terms of one reduction, or a term
  /// and a value that can be one.
  static State either(State a, State b) {
    if (a.isPartial() && b.isPartial())
      return a.reduction == b.reduction ? a : State::bad();
    if (b.isPartial())
      std::swap(a, b);
    if (a.kind == State::Kind::Zero && b.kind == State::Kind::Zero)
      return a;
    if (!a.isPartial())
      return a.isKnown() && b.isKnown() ? State() : State::bad();
    if (b.kind == State::Kind::Zero && a.reduction == Reduction::Sum)
      return a;
    return b.isKnown() && isIdempotent(a.reduction) ? a : State::bad();
  }

  State judgeRead(const ExprNode &node) {
    for (const Expr &index : node.indices())
      if (!judge(index).isKnown())
        return State::bad();
    std::optional<Reduction> partial =
        (node.tensor.isStage ? stages : inputs)[node.tensor.index];
    State own = partial ? State{State::Kind::Partial, *partial} : State();
    // One rank has it, the others have 0.
    if (factor.isLookup(node.tensor))
      own = State{State::Kind::Partial, Reduction::Sum};
    return node.guarded ? either(own, judge(node.operands.back())) : own;
  }

  State judgeReduce(const ExprNode &node) {
    State body = judge(node.operands[0]);
    bool isSplit = llvm::any_of(node.loops, [&](const Loop &loop) {
      return factor.loops.contains(loop.id);
    });
    std::optional<Reduction> reduction = reductionOf(node.reduce);
    if (isSplit)
      return body.isKnown() && reduction
                 ? State{State::Kind::Partial, *reduction}
                 : State::bad();
    if (body.isPartial())
      return reduction == body.reduction ? body : State::bad();
    return body.isKnown() ? State() : State::bad();
  }

  State judgeBinary(const ExprNode &node) {
    State a = judge(node.operands[0]), b = judge(node.operands[1]);
    if (a.isKnown() && b.isKnown())
      return {};
    constexpr auto sum = Reduction::Sum;
    switch (node.binary) {
    case BinaryFn::Add:
    case BinaryFn::Sub:
      if (!isa<FloatType, IntegerType>(node.type))
        return State::bad();
      return a.isPartial(sum) || b.isPartial(sum) ? either(a, b) : State::bad();
    case BinaryFn::Mul:
      if (a.isPartial(sum) && b.isKnown())
        return a;
      return b.isPartial(sum) && a.isKnown() ? b : State::bad();
    case BinaryFn::Div:
      // Quotients of integers are rounded.
      return a.isPartial(sum) && b.isKnown() && isa<FloatType>(node.type)
                 ? a
                 : State::bad();
    case BinaryFn::Max:
      return either(a, b).isPartial(Reduction::Max) ? either(a, b)
                                                    : State::bad();
    case BinaryFn::Min:
      return either(a, b).isPartial(Reduction::Min) ? either(a, b)
                                                    : State::bad();
    default:
      return State::bad();
    }
  }

  /// Casts between floats, also to smaller ones, stay partial: each rank rounds
  /// its term, as in exchanging 16-bit gradients.
  State judgeCast(const ExprNode &node) {
    State own = judge(node.operands[0]);
    if (!own.isPartial())
      return own.isKnown() ? State() : State::bad();
    bool areFloats =
        isa<FloatType>(node.operands[0]->type) && isa<FloatType>(node.type);
    return areFloats ? own : State::bad();
  }

  const Factor &factor;
  ArrayRef<std::optional<Reduction>> inputs, stages;
};

State judgeStage(const Definition &definition, unsigned s, Judge judge,
                 bool isSplit) {
  State state;
  bool isFirst = true;
  for (const Piece &piece : definition.stages[s].pieces) {
    State own = judge.judge(piece.body);
    if (own.kind == State::Kind::Zero)
      own = {};
    // A stage has one state: pieces beside a partial one would be summed.
    if (!isFirst &&
        (own.kind != state.kind || own.reduction != state.reduction))
      return State::bad();
    state = own;
    isFirst = false;
  }
  return isSplit && state.isPartial() ? State::bad() : state;
}

} // namespace

std::optional<Partials>
findPartials(const Definition &definition, const Factor &factor,
             ArrayRef<std::optional<Reduction>> inputs) {
  size_t count = definition.stages.size();
  Partials found{SmallVector<std::optional<Reduction>>(count),
                 SmallVector<bool>(count)};
  // As readers see them: cut stages are reduced.
  SmallVector<std::optional<Reduction>> read(count);
  for (unsigned s = 0; s < count; ++s) {
    bool isSplit = factor.stages[s].has_value();
    State state =
        judgeStage(definition, s, Judge(factor, inputs, read), isSplit);
    if (state.kind == State::Kind::Bad) {
      for (const Piece &piece : definition.stages[s].pieces)
        walk(piece.body, [&](const ExprNode &node) {
          if (node.kind == Expr::Kind::Read && node.tensor.isStage &&
              read[node.tensor.index]) {
            read[node.tensor.index].reset();
            found.cuts[node.tensor.index] = true;
          }
        });
      state = judgeStage(definition, s, Judge(factor, inputs, read), isSplit);
    }
    if (state.kind == State::Kind::Bad)
      return std::nullopt;
    if (state.isPartial())
      read[s] = found.stages[s] = state.reduction;
  }
  return found;
}

} // namespace mlc::dist
