//===- WellFormed.cpp - What a function needs beyond its dims -------------===//

#include "verifier/read/WellFormed.h"
#include "dialects/Graph/MovementOps.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// A slice whose step may go either way has both ends inside.
static void needsOfSlice(SliceOp op, const TensorShape &from,
                         std::vector<Need> &out) {
  for (size_t d = 0; d < from.dims.size(); ++d) {
    IntExpr step = op.getSteps()[d], size = op.getSizes()[d];
    if (step.isConstant() || step.isKnownPositive())
      continue;
    Guard isEmpty = Guard::zero(size);
    IntExpr first = op.getStarts()[d], last = first + (size - 1) * step;
    const char *inside = "the slice lies inside the operand";
    out.push_back({{}, {isEmpty, Guard::nonNegative(last)}, inside});
    out.push_back({{}, {isEmpty, Guard::less(first, from.dims[d])}, inside});
    out.push_back({{}, {isEmpty, Guard::nonZero(step)}, "a step is not 0"});
  }
}

void needsOf(mlir::Operation *op, ArrayRef<TensorShape> operands,
             std::vector<Need> &out) {
  for (mlir::NamedAttribute attribute : op->getAttrs()) {
    StringRef list = attribute.getName();
    auto values = mlir::dyn_cast<DimsAttr>(attribute.getValue());
    std::optional<int64_t> least = leastOf(list);
    if (!values || !least)
      continue;
    for (IntExpr value : values)
      out.push_back({{},
                     {Guard::nonNegative(value - *least)},
                     (list + " of '" + op->getName().getStringRef() +
                      "' are at least " + llvm::Twine(*least))
                         .str()});
  }
  if (auto slice = mlir::dyn_cast<SliceOp>(op))
    needsOfSlice(slice, operands[0], out);
  if (auto broadcast = mlir::dyn_cast<BroadcastOp>(op))
    for (auto [from, to] :
         llvm::zip(operands[0].dims, broadcast.getDims().getDims()))
      out.push_back({{},
                     {Guard::zero(from - to), Guard::zero(from - 1)},
                     "a dim that is broadcast is 1 or stays"});
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

static void needsOfDivisors(IntExpr expr, ArrayRef<Guard> given,
                            std::vector<Need> &out) {
  bool divides = expr.getKind() == IntExpr::Kind::FloorDiv ||
                 expr.getKind() == IntExpr::Kind::Mod;
  if (divides)
    out.push_back({given,
                   {Guard::nonNegative(expr.getOperands()[1] - 1)},
                   "a divisor of sizes is positive"});
  if (!expr.isConstant() && expr.getKind() != IntExpr::Kind::Symbol)
    for (IntExpr operand : expr.getOperands())
      needsOfDivisors(operand, given, out);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

namespace {

/// Walks the body of a piece with what holds of its loops.
class ReadNeeds {
public:
  ReadNeeds(const Definition &definition, std::vector<Need> &out)
      : definition(definition), out(out) {}

  void visit(const Piece &piece) {
    std::vector<Guard> given;
    bind(piece.loops, given);
    visit(piece.body, given);
  }

private:
  using Given = std::vector<Guard>;
  using Use = llvm::function_ref<void(std::optional<IntExpr>, const Given &)>;

  static IntExpr variableOf(unsigned loop, mlir::MLIRContext *context) {
    return IntExpr::symbol(context, "%l" + std::to_string(loop));
  }
  void bind(ArrayRef<Loop> loops, Given &given) {
    for (const Loop &loop : loops) {
      needsOfDivisors(loop.extent, given, out);
      given.push_back(Guard::less(variableOf(loop.id, loop.extent.getContext()),
                                  loop.extent));
    }
  }

  /// Guards that together say what a condition on indices says; nothing for
  /// others.
  std::optional<Given> guardsOf(const Expr &condition, const Given &given) {
    const ExprNode &node = *condition;
    if (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::And) {
      std::optional<Given> all = guardsOf(node.operands[0], given),
                           more = guardsOf(node.operands[1], given);
      if (!all || !more)
        return std::nullopt;
      llvm::append_range(*all, *more);
      return all;
    }
    if (node.kind != Expr::Kind::Compare ||
        !mlir::isa<mlir::IndexType>(node.operands[0]->type))
      return std::nullopt;
    std::optional<IntExpr> a = plainIndex(node.operands[0]),
                           b = plainIndex(node.operands[1]);
    if (!a || !b)
      return std::nullopt;
    return Given{guardOf(*a, node.predicate, *b)};
  }

  /// An index without selections.
  std::optional<IntExpr> plainIndex(const Expr &expr) {
    std::optional<IntExpr> result;
    unsigned numCases = 0;
    forEachCase(expr, {}, [&](std::optional<IntExpr> value, const Given &) {
      ++numCases;
      result = value;
    });
    return numCases == 1 ? result : std::nullopt;
  }

  /// Calls `use` with the value that an index has in each case.
  void forEachCase(const Expr &expr, const Given &given, Use use) {
    // Selections inside selections have many.
    if (casesLeft == 0 || --casesLeft == 0) {
      out.push_back(
          {{},
           {},
           "an index is in range, in more cases than can be looked at"});
      return;
    }
    const ExprNode &node = *expr;
    switch (node.kind) {
    case Expr::Kind::Loop:
      return use(variableOf(node.loop, node.type.getContext()), given);
    case Expr::Kind::Int:
      return use(node.integer, given);
    case Expr::Kind::Select:
      return forEachSide(node, given, [&](const Expr &side, const Given &g) {
        forEachCase(side, g, use);
      });
    case Expr::Kind::Unary:
      if (node.unary != UnaryFn::Neg)
        break;
      return forEachCase(node.operands[0], given,
                         [&](std::optional<IntExpr> a, const Given &g) {
                           use(a ? std::optional(-*a) : a, g);
                         });
    case Expr::Kind::Binary:
      return forEachCase(
          node.operands[0], given,
          [&](std::optional<IntExpr> a, const Given &g) {
            forEachCase(
                node.operands[1], g,
                [&](std::optional<IntExpr> b, const Given &h) {
                  use(a && b ? combine(node.binary, *a, *b) : std::nullopt, h);
                });
          });
    default:
      break;
    }
    use(std::nullopt, given);
  }

  static std::optional<IntExpr> combine(BinaryFn fn, IntExpr a, IntExpr b) {
    switch (fn) {
    case BinaryFn::Add:
      return a + b;
    case BinaryFn::Sub:
      return a - b;
    case BinaryFn::Mul:
      return a * b;
    case BinaryFn::FloorDiv:
      return a.floorDiv(b);
    case BinaryFn::Mod:
      return a.mod(b);
    case BinaryFn::Min:
      return IntExpr::min(a, b);
    case BinaryFn::Max:
      return IntExpr::max(a, b);
    default:
      return std::nullopt;
    }
  }

  void forEachSide(const ExprNode &select, const Given &given,
                   llvm::function_ref<void(const Expr &, const Given &)> use) {
    std::optional<Given> guards = guardsOf(select.operands[0], given);
    Given yes = given, no = given;
    if (guards) {
      llvm::append_range(yes, *guards);
      if (guards->size() == 1)
        no.push_back(guards->front().negated());
    }
    use(select.operands[1], yes);
    use(select.operands[2], no);
  }

  void visit(const Expr &expr, const Given &given) {
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Select) {
      visit(node.operands[0], given);
      forEachSide(node, given, [&](const Expr &side, const Given &inside) {
        visit(side, inside);
      });
      return;
    }
    if (node.kind == Expr::Kind::Int)
      needsOfDivisors(node.integer, given, out);
    if (node.kind == Expr::Kind::Read && !node.guarded)
      needsOfRead(node, given);
    bool divides =
        node.kind == Expr::Kind::Binary &&
        (node.binary == BinaryFn::FloorDiv || node.binary == BinaryFn::Mod);
    if (divides)
      forEachCase(node.operands[1], given,
                  [&](std::optional<IntExpr> divisor, const Given &inside) {
                    if (divisor)
                      need(inside, Guard::nonNegative(*divisor - 1),
                           "a divisor of an index is positive");
                  });
    Given inside = given;
    bind(node.loops, inside);
    for (const Expr &operand : node.operands)
      visit(operand, inside);
  }

  void needsOfRead(const ExprNode &node, const Given &given) {
    TensorShape shape = definition.shapeOf(node.tensor);
    for (auto [index, dim] : llvm::zip(node.indices(), shape.dims))
      forEachCase(
          index, given, [&](std::optional<IntExpr> value, const Given &inside) {
            if (!value) {
              out.push_back(
                  {inside, {}, "an index that depends on values is in range"});
              return;
            }
            need(inside, Guard::nonNegative(*value), "an index is in range");
            need(inside, Guard::less(*value, dim), "an index is in range");
          });
  }

  void need(const Given &given, Guard guard, const char *message) {
    if (!llvm::is_contained(given, guard))
      out.push_back({given, {guard}, message});
  }

  const Definition &definition;
  std::vector<Need> &out;
  unsigned casesLeft = 20000;
};

} // namespace

void needsOf(const Definition &definition, const std::set<unsigned> &openStages,
             std::vector<Need> &out) {
  for (const Requirement &r : definition.requirements)
    for (IntExpr side : {r.lhs, r.rhs})
      needsOfDivisors(side, {}, out);
  for (const Stage &stage : definition.stages)
    for (IntExpr dim : stage.dims) {
      needsOfDivisors(dim, {}, out);
      if (!dim.isKnownNonNegative())
        out.push_back({{},
                       {Guard::nonNegative(dim)},
                       "a size of '" + stage.name + "' is not negative"});
    }
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        for (const Loop &loop : node.loops) {
          needsOfDivisors(loop.extent, {}, out);
          if (!loop.extent.isKnownNonNegative())
            out.push_back({{},
                           {Guard::nonNegative(loop.extent)},
                           "a range in '" + stage.name + "' is not negative"});
        }
      });
  for (unsigned stage : openStages)
    for (const Piece &piece : definition.stages[stage].pieces)
      ReadNeeds(definition, out).visit(piece);
}

} // namespace mlc::verifier
