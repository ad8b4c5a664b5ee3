//===- Reals.cpp - Limits of proofs over the reals ------------------------===//

#include "verifier/read/Reals.h"
#include "dialects/Definition/ExprMap.h"
#include "dialects/Definition/NumberTypes.h"
#include "dialects/Evaluator/EvaluatorTensor.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using mlir::FloatType;

namespace mlc::verifier {

namespace {

bool isFloat(const Expr &expr) { return mlir::isa<FloatType>(expr->type); }

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Whether a definition contains NaN, except as the value of elements out of
/// range.
bool namesNaN(const Expr &expr) {
  const ExprNode &node = *expr;
  if (node.kind == Expr::Kind::Constant && isFloat(expr))
    return std::isnan(node.number);
  bool isGuarded = node.kind == Expr::Kind::Read && node.guarded;
  return llvm::any_of(ArrayRef(node.operands).drop_back(isGuarded ? 1 : 0),
                      namesNaN);
}

bool namesNaN(const Definition &side) {
  return llvm::any_of(side.stages, [](const Stage &stage) {
    return llvm::any_of(
        stage.pieces, [](const Piece &piece) { return namesNaN(piece.body); });
  });
}

/// The kinds of non-finite elements of a constant.
struct Special {
  bool nan = false, low = false, high = false;
};

Special specialOf(const SharedInputs::Entry &entry) {
  Special special;
  if (!entry.constant || !mlir::isa<FloatType>(entry.shape.elementType))
    return special;
  llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(entry.constant);
  if (!tensor) {
    llvm::consumeError(tensor.takeError());
    return {true, true, true};
  }
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    double number = tensor->getDouble(i);
    special.nan |= std::isnan(number);
    special.low |= std::isinf(number) && number < 0;
    special.high |= std::isinf(number) && number > 0;
  }
  return special;
}

//===----------------------------------------------------------------------===//
// Infinities
//===----------------------------------------------------------------------===//

/// Extents that must not be empty for a value to be finite.
struct Extents {
  SmallVector<IntExpr> extents;
  bool more = false; // an unknown or impossible condition: a literal infinity

  bool any() const { return more || !extents.empty(); }
  void add(const Extents &other) {
    more |= other.more;
    llvm::append_range(extents, other.extents);
  }
  /// Drops the extents of these loops: inside them, they are not empty.
  void drop(ArrayRef<Loop> loops) {
    llvm::erase_if(extents, [&](IntExpr extent) {
      return llvm::any_of(
          loops, [&](const Loop &loop) { return loop.extent == extent; });
    });
  }
};

/// Extents that must not be empty for a value not to be -inf, and not to be
/// inf.
struct Needs {
  Extents low, high;

  bool any() const { return low.any() || high.any(); }
  /// Both infinities in one sum have no value.
  bool clash() const { return low.any() && high.any(); }
  Needs negated() const { return {high, low}; }
  void add(const Needs &other) {
    low.add(other.low);
    high.add(other.high);
  }
  void drop(ArrayRef<Loop> loops) {
    low.drop(loops);
    high.drop(loops);
  }
};

/// Tracks literal infinities and extrema that may be empty.
class Infinities {
public:
  Infinities(const Definition &side, ArrayRef<Guard> guards,
             ArrayRef<Special> inputs)
      : side(side), guards(guards), inputs(inputs) {}

  /// Whether an infinity enters arithmetic that does not preserve it.
  bool areUsed() {
    for (const Stage &stage : side.stages) {
      Needs &all = stages.emplace_back();
      for (const Piece &piece : stage.pieces) {
        SmallVector<Loop> around(piece.loops.begin(), piece.loops.end());
        Needs needs = needsOf(piece.body, around);
        needs.drop(piece.loops);
        all.add(needs);
      }
    }
    return used;
  }

private:
  bool isPositive(IntExpr extent) const {
    return extent.isKnownPositive() ||
           llvm::any_of(guards, [&](const Guard &guard) {
             std::optional<int64_t> above = (extent - guard.expr).asConstant();
             return guard.kind == Guard::Kind::NonNegative && above &&
                    *above >= 1;
           });
  }

  static Needs infinity(bool low, bool high) {
    Needs needs;
    needs.low.more = low;
    needs.high.more = high;
    return needs;
  }

  /// Whether the operand is the initial value of a maximum or minimum.
  static bool isNeutral(const ExprNode &node, const Expr &operand) {
    return operand->kind == Expr::Kind::Constant &&
           std::isinf(operand->number) &&
           node.binary == (operand->number < 0 ? BinaryFn::Max : BinaryFn::Min);
  }

  /// Expressions share parts; a part has the same needs inside the same loops.
  Needs needsOf(const Expr &expr, SmallVectorImpl<Loop> &around) {
    std::vector<unsigned> ids;
    for (const Loop &loop : around)
      ids.push_back(loop.id);
    auto [it, isNew] = known[expr].try_emplace(std::move(ids));
    if (!isNew)
      return it->second;
    Needs needs = findNeeds(expr, around);
    it->second = needs; // references into the map stay valid
    return needs;
  }

  Needs findNeeds(const Expr &expr, SmallVectorImpl<Loop> &around) {
    const ExprNode &node = *expr;
    SmallVector<Needs> operands;
    size_t before = around.size();
    if (node.kind == Expr::Kind::Reduce)
      llvm::append_range(around, node.loops);
    for (const Expr &operand : node.operands)
      operands.push_back(needsOf(operand, around));
    around.resize(before, Loop());
    if (node.kind == Expr::Kind::Compare) {
      if (areOrdered(node.operands[0], node.operands[1]))
        return {};
      // Treated like a difference.
      Needs both = operands[0];
      both.add(operands[1].negated());
      both.drop(around);
      return both.clash() ? use(both, around) : Needs();
    }
    if (!isFloat(expr))
      return {};
    Needs all;
    for (const Needs &needs : operands)
      all.add(needs);
    switch (node.kind) {
    case Expr::Kind::Constant:
      return std::isinf(node.number)
                 ? infinity(node.number < 0, node.number > 0)
                 : Needs();
    case Expr::Kind::Read:
      if (node.tensor.isStage)
        all.add(stages[node.tensor.index]);
      else if (const Special &input = inputs[node.tensor.index];
               input.low || input.high)
        all.add(infinity(input.low, input.high));
      return all;
    case Expr::Kind::Reduce:
      all.drop(node.loops);
      if (node.reduce == ReduceKind::Max || node.reduce == ReduceKind::Min)
        addExtremum(node, around, all);
      else if (node.reduce != ReduceKind::Sum)
        return use(all, around);
      return all.clash() ? use(all, around) : all;
    case Expr::Kind::Binary:
      return ofBinary(node, operands, around);
    case Expr::Kind::Unary:
      if (node.unary == UnaryFn::Neg)
        return all.negated();
      return use(all, around);
    default:
      return all; // a choice or another type
    }
  }

  /// Whether two values are finite or one and the same infinity, as read: such
  /// an infinity is ordered like the lowest number.
  bool areOrdered(const Expr &x, const Expr &y) const {
    auto lowestOf = [&](const Expr &expr) {
      const ExprNode &node = *expr;
      bool isGuarded = node.kind == Expr::Kind::Read && node.guarded &&
                       node.operands.back()->kind == Expr::Kind::Constant;
      if (!isGuarded || !isFloat(expr))
        return 0.0;
      bool isFinite = true;
      if (node.tensor.isStage)
        isFinite = !stages[node.tensor.index].any();
      else if (const Special &input = inputs[node.tensor.index];
               input.low || input.high)
        isFinite = false;
      double outside = node.operands.back()->number;
      return isFinite && std::isinf(outside) ? outside : 0.0;
    };
    double lowest = lowestOf(x);
    return lowest != 0.0 && lowest == lowestOf(y);
  }

  Needs ofBinary(const ExprNode &node, ArrayRef<Needs> operands,
                 ArrayRef<Loop> around) {
    Needs all = operands[0];
    switch (node.binary) {
    case BinaryFn::Min:
    case BinaryFn::Max:
      if (isNeutral(node, node.operands[0]))
        return operands[1];
      if (!isNeutral(node, node.operands[1]))
        all.add(operands[1]);
      return all;
    case BinaryFn::Add:
    case BinaryFn::Sub:
      all.add(node.binary == BinaryFn::Add ? operands[1]
                                           : operands[1].negated());
      all.drop(around);
      return all.clash() ? use(all, around) : all;
    default:
      all.add(operands[1]);
      return use(all, around);
    }
  }

  /// Arithmetic that does not preserve an infinity.
  Needs use(Needs needs, ArrayRef<Loop> around) {
    needs.drop(around);
    used |= needs.any();
    return {};
  }

  void addExtremum(const ExprNode &node, ArrayRef<Loop> around, Needs &all) {
    Extents &needs = node.reduce == ReduceKind::Max ? all.low : all.high;
    for (const Loop &loop : node.loops)
      if (!isPositive(loop.extent))
        needs.extents.push_back(loop.extent);
    all.drop(around);
  }

  const Definition &side;
  ArrayRef<Guard> guards;
  ArrayRef<Special> inputs;
  std::vector<Needs> stages;
  ExprMap<std::map<std::vector<unsigned>, Needs>> known;
  bool used = false;
};

//===----------------------------------------------------------------------===//
// Rounded indices
//===----------------------------------------------------------------------===//

/// Whether a float that arithmetic has rounded becomes an integer.
class Rounding {
public:
  explicit Rounding(const Definition &side) : side(side) {}

  bool reachesIntegers() {
    bool result = false;
    for (const Stage &stage : side.stages) {
      bool areExact = true, areSmall = true;
      for (const Piece &piece : stage.pieces) {
        walk(piece.body, [&](const ExprNode &node) {
          result |= node.kind == Expr::Kind::Cast &&
                    !mlir::isa<FloatType>(node.type) &&
                    isFloat(node.operands[0]) && !isExact(node.operands[0]);
        });
        areExact &= isExact(piece.body);
        areSmall &= isSmall(piece.body);
      }
      exactStages.push_back(areExact);
      smallStages.push_back(areSmall);
    }
    return result;
  }

private:
  /// A small multiple of 2^-20, such as positions and half positions.
  static bool isDyadic(double number) {
    return std::abs(number) <= std::ldexp(1.0, 22) &&
           std::ldexp(number, 20) == std::floor(std::ldexp(number, 20));
  }

  /// A known number that was not rounded.
  static std::optional<double> numberOf(const Expr &expr) {
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Constant && isFloat(expr))
      return node.number;
    if (node.kind == Expr::Kind::Int)
      if (std::optional<int64_t> number = node.integer.asConstant())
        return double(*number);
    if (node.kind == Expr::Kind::Cast)
      return numberOf(node.operands[0]);
    if (node.kind != Expr::Kind::Binary || node.binary != BinaryFn::Div)
      return std::nullopt;
    std::optional<double> x = numberOf(node.operands[0]),
                          y = numberOf(node.operands[1]);
    if (!x || !y || *y == 0.0 || !isDyadic(*x / *y))
      return std::nullopt;
    return *x / *y;
  }

  /// Sums and products of few positions and dyadic constants: exact as long as
  /// sizes are below 2^20 or so.
  bool isSmall(const Expr &expr) {
    auto found = small.find(expr);
    if (found != small.end())
      return found->second;
    return small[expr] = findSmall(expr);
  }

  bool findSmall(const Expr &expr) {
    const ExprNode &node = *expr;
    auto all = [&] {
      return llvm::all_of(
          node.operands, [&](const Expr &operand) { return isSmall(operand); });
    };
    if (!isFloat(expr))
      return node.kind == Expr::Kind::Int || node.kind == Expr::Kind::Loop ||
             mlir::isa<mlir::IndexType>(node.type);
    if (!holdsNumbersOf(node.type,
                        mlir::Float32Type::get(node.type.getContext())))
      return false;
    if (std::optional<double> number = numberOf(expr))
      return isDyadic(*number);
    switch (node.kind) {
    case Expr::Kind::Cast:
      return isSmall(node.operands[0]);
    case Expr::Kind::Unary:
      return !factsOf(node.unary).isRounded && all();
    case Expr::Kind::Select:
      return isSmall(node.operands[1]) && isSmall(node.operands[2]);
    case Expr::Kind::Read:
      return node.tensor.isStage && smallStages[node.tensor.index];
    case Expr::Kind::Binary:
      if (node.binary == BinaryFn::Div) {
        std::optional<double> by = numberOf(node.operands[1]);
        return by && *by != 0.0 && isDyadic(1 / *by) &&
               isSmall(node.operands[0]);
      }
      return node.binary != BinaryFn::Pow && all();
    default:
      return false;
    }
  }

  /// An element of an input, or a value computed without rounding.
  bool isExact(const Expr &expr) {
    auto found = exact.find(expr);
    if (found != exact.end())
      return found->second;
    return exact[expr] = findExact(expr);
  }

  bool findExact(const Expr &expr) {
    const ExprNode &node = *expr;
    auto all = [&](ArrayRef<Expr> operands) {
      return llvm::all_of(
          operands, [&](const Expr &operand) { return isExact(operand); });
    };
    if (!isFloat(expr))
      return node.kind != Expr::Kind::Read || !node.tensor.isStage ||
             exactStages[node.tensor.index];
    if (isSmall(expr))
      return true;
    switch (node.kind) {
    case Expr::Kind::Constant:
    case Expr::Kind::Param:
      return true;
    case Expr::Kind::Read:
      return !node.tensor.isStage || exactStages[node.tensor.index];
    case Expr::Kind::Cast:
      return holdsNumbersOf(node.type, node.operands[0]->type) &&
             isExact(node.operands[0]);
    case Expr::Kind::Unary:
      return !factsOf(node.unary).isRounded && all(node.operands);
    case Expr::Kind::Binary:
      return (node.binary == BinaryFn::Min || node.binary == BinaryFn::Max) &&
             all(node.operands);
    case Expr::Kind::Select:
      return all(ArrayRef(node.operands).drop_front());
    case Expr::Kind::Reduce:
      return (node.reduce == ReduceKind::Max ||
              node.reduce == ReduceKind::Min) &&
             all(node.operands);
    default:
      return false;
    }
  }

  const Definition &side;
  std::vector<bool> exactStages, smallStages;
  ExprMap<bool> exact, small;
};

} // namespace

std::string whyNotReal(const Goal &goal) {
  std::vector<Special> inputs(goal.numArguments);
  for (const SharedInputs::Entry &entry : goal.shared.entries)
    inputs.push_back(specialOf(entry));
  if (namesNaN(goal.before) || namesNaN(goal.after) ||
      llvm::any_of(inputs, [](const Special &input) { return input.nan; }))
    return "a constant is NaN, of which the reals know nothing";
  for (const Case &one : goal.cases)
    for (const Definition *side : {&one.before, &one.after})
      if (Infinities(*side, one.guards, inputs).areUsed())
        return "an infinity, of which the reals know nothing, is computed "
               "with: "
               "a constant, or a maximum or minimum that may be of nothing";
  for (const Definition *side : {&goal.before, &goal.after})
    if (Rounding(*side).reachesIntegers())
      return "floats that were rounded become integers or indices, and the "
             "reals do not know which";
  return "";
}

} // namespace mlc::verifier
