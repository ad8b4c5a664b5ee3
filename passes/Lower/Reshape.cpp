//===- Reshape.cpp - Reinterpretation as collapse and expand --------------===//

#include "passes/Lower/Reshape.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Lower/ElementTypes.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

/// Groups of adjacent dims on both sides with equal products.
struct Groups {
  SmallVector<ReassociationIndices> from, to;
  SmallVector<IntExpr> products;
};

enum class Smaller { Left, Right, Unknown };

Smaller smaller(IntExpr a, IntExpr b) {
  if (a.isConstant() && b.isConstant())
    return a.getConstant() < b.getConstant() ? Smaller::Left : Smaller::Right;
  if (b.exactDiv(a))
    return Smaller::Left;
  if (a.exactDiv(b))
    return Smaller::Right;
  return Smaller::Unknown;
}

Groups oneGroup(ArrayRef<IntExpr> from, ArrayRef<IntExpr> to) {
  Groups groups;
  groups.from.emplace_back(llvm::to_vector<2>(llvm::seq<int64_t>(from.size())));
  groups.to.emplace_back(llvm::to_vector<2>(llvm::seq<int64_t>(to.size())));
  groups.products.push_back(getNumElements(to.front().getContext(), to));
  return groups;
}

/// Groups for non-empty `from` and `to`.
Groups groupDims(ArrayRef<IntExpr> from, ArrayRef<IntExpr> to) {
  auto isZero = [](IntExpr e) { return e.isConstant(0); };
  if (llvm::any_of(from, isZero) || llvm::any_of(to, isZero))
    return oneGroup(from, to);
  Groups groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left{int64_t(i)}, right{int64_t(j)};
    IntExpr a = from[i++], b = to[j++];
    while (a != b) {
      Smaller which = smaller(a, b);
      if (which == Smaller::Left && i < from.size()) {
        left.push_back(i);
        a = a * from[i++];
      } else if (which == Smaller::Right && j < to.size()) {
        right.push_back(j);
        b = b * to[j++];
      } else {
        return oneGroup(from, to);
      }
    }
    groups.from.push_back(left);
    groups.to.push_back(right);
    groups.products.push_back(a);
  }
  // Only ones can be left.
  for (; i < from.size(); ++i) {
    if (!from[i].isConstant(1))
      return oneGroup(from, to);
    groups.from.back().push_back(i);
  }
  for (; j < to.size(); ++j) {
    if (!to[j].isConstant(1))
      return oneGroup(from, to);
    groups.to.back().push_back(j);
  }
  return groups;
}

bool isTrivial(ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [](auto &group) { return group.size() == 1; });
}

/// The type between collapse and expand: a dim is `?` exactly if a dim of its
/// group on this side is.
RankedTensorType getMiddleType(ArrayRef<ReassociationIndices> groups,
                               ArrayRef<IntExpr> dims, Type elementType) {
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : groups) {
    int64_t size = 1;
    for (int64_t d : group) {
      std::optional<int64_t> dim = dims[d].asConstant();
      if (!dim || size == ShapedType::kDynamic)
        size = ShapedType::kDynamic;
      else
        size *= *dim;
    }
    shape.push_back(size);
  }
  return RankedTensorType::get(shape, elementType);
}

} // namespace

Value reshape(OpBuilder &b, Location loc, SizeValues &sizes, Value value,
              ArrayRef<IntExpr> from, ArrayRef<IntExpr> to) {
  if (from == to)
    return value;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  RankedTensorType result = getLoweredType(to, element);
  // A scalar has no dims to group.
  if (from.empty() || to.empty()) {
    if (to.empty() && from.empty())
      return value;
    SmallVector<ReassociationIndices> none;
    RankedTensorType expanded = from.empty() ? result : nullptr;
    if (!expanded) {
      if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
        value = tensor::CastOp::create(
            b, loc,
            RankedTensorType::get(SmallVector<int64_t>(from.size(), 1),
                                  element),
            value);
      return tensor::CollapseShapeOp::create(b, loc, result, value, none);
    }
    SmallVector<int64_t> ones(to.size(), 1);
    Value unit = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(ones, element), value, none);
    if (unit.getType() == result)
      return unit;
    return tensor::CastOp::create(b, loc, result, unit);
  }
  Groups groups = groupDims(from, to);
  if (!isTrivial(groups.from))
    value = tensor::CollapseShapeOp::create(
        b, loc, getMiddleType(groups.from, from, element), value, groups.from);
  RankedTensorType middle = getMiddleType(groups.to, to, element);
  if (value.getType() != middle)
    value = tensor::CastOp::create(b, loc, middle, value);
  if (!isTrivial(groups.to))
    value = tensor::ExpandShapeOp::create(b, loc, result, value, groups.to,
                                          sizes.getMixed(to));
  return value;
}

} // namespace mlc
