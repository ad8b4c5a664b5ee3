//===- AffineIndex.cpp - Index expressions as affine maps -----------------===//

#include "passes/Lower/AffineIndex.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

namespace {

struct Converter {
  const LoopNest &nest;

  static MLIRContext *contextOf(const Expr &e) { return e->type.getContext(); }
  static IntExpr zero(MLIRContext *context) {
    return IntExpr::constant(context, 0);
  }

  std::optional<AffineIndex> loop(const ExprNode &node) {
    auto it = nest.position.find(node.loop);
    if (it == nest.position.end())
      return std::nullopt;
    MLIRContext *context = node.type.getContext();
    return AffineIndex{getAffineDimExpr(it->second, context), zero(context),
                       zero(context), nest.loops[it->second].extent - 1};
  }

  std::optional<AffineIndex> integer(const ExprNode &node) {
    MLIRContext *context = node.type.getContext();
    return AffineIndex{getAffineConstantExpr(0, context), node.integer,
                       zero(context), zero(context)};
  }

  std::optional<AffineIndex> add(const AffineIndex &a, const AffineIndex &b) {
    return AffineIndex{a.expr + b.expr, a.offset + b.offset, a.min + b.min,
                       a.max + b.max};
  }

  std::optional<AffineIndex> scale(const AffineIndex &a, IntExpr factor) {
    if (a.isConstant())
      return AffineIndex{a.expr, a.offset * factor, a.min, a.max};
    std::optional<int64_t> c = factor.asConstant();
    if (!c)
      return std::nullopt;
    AffineIndex result{a.expr * *c, a.offset * *c, a.min * *c, a.max * *c};
    if (*c < 0)
      std::swap(result.min, result.max);
    return result;
  }

  /// floordiv and mod need their whole argument as an expression of loops, so
  /// its offset must be constant.
  std::optional<AffineIndex> divide(BinaryFn fn, const AffineIndex &a,
                                    IntExpr divisor) {
    MLIRContext *context = divisor.getContext();
    bool isDiv = fn == BinaryFn::FloorDiv;
    if (a.isConstant())
      return AffineIndex{
          a.expr, isDiv ? a.offset.floorDiv(divisor) : a.offset.mod(divisor),
          a.min, a.max};
    std::optional<int64_t> c = divisor.asConstant();
    std::optional<int64_t> offset = a.offset.asConstant();
    if (!c || *c <= 0 || !offset)
      return std::nullopt;
    AffineExpr whole = a.expr + *offset;
    IntExpr low = a.lowest(), high = a.highest();
    // The quotient is the same for all loops if the extents are below c.
    IntExpr quotient = low.floorDiv(*c);
    if (isDiv && quotient == high.floorDiv(*c))
      return AffineIndex{getAffineConstantExpr(0, context), quotient,
                         zero(context), zero(context)};
    if (isDiv)
      return AffineIndex{whole.floorDiv(*c), zero(context), low.floorDiv(*c),
                         high.floorDiv(*c)};
    if (low.isKnownNonNegative() && (-high + (*c - 1)).isKnownNonNegative())
      return a;
    return AffineIndex{whole % *c, zero(context), zero(context),
                       IntExpr::constant(context, *c - 1)};
  }

  std::optional<AffineIndex> binary(const ExprNode &node) {
    std::optional<AffineIndex> a = convert(node.operands[0]);
    std::optional<AffineIndex> b = convert(node.operands[1]);
    if (!a || !b)
      return std::nullopt;
    MLIRContext *context = node.type.getContext();
    switch (node.binary) {
    case BinaryFn::Add:
      return add(*a, *b);
    case BinaryFn::Sub:
      return add(*a, *scale(*b, IntExpr::constant(context, -1)));
    case BinaryFn::Mul:
      if (b->isConstant())
        return scale(*a, b->offset);
      if (a->isConstant())
        return scale(*b, a->offset);
      return std::nullopt;
    case BinaryFn::FloorDiv:
    case BinaryFn::Mod:
      if (b->isConstant())
        return divide(node.binary, *a, b->offset);
      return std::nullopt;
    default:
      return std::nullopt;
    }
  }

  std::optional<AffineIndex> convert(const Expr &index) {
    switch (index->kind) {
    case Expr::Kind::Loop:
      return loop(*index);
    case Expr::Kind::Int:
      return integer(*index);
    case Expr::Kind::Binary:
      return binary(*index);
    default:
      return std::nullopt;
    }
  }
};

} // namespace

std::optional<AffineIndex> getAffineIndex(const Expr &index,
                                          const LoopNest &nest) {
  std::optional<AffineIndex> result = Converter{nest}.convert(index);
  if (!result || result->isLoop())
    return result;
  // A loop of extent 1 is always 0; dropping it simplifies 1x1 windows.
  MLIRContext *context = index->type.getContext();
  SmallVector<AffineExpr> dims;
  for (auto [i, loop] : llvm::enumerate(nest.loops))
    dims.push_back(loop.extent.isConstant(1) ? getAffineConstantExpr(0, context)
                                             : getAffineDimExpr(i, context));
  result->expr = result->expr.replaceDims(dims);
  return result;
}

} // namespace mlc
