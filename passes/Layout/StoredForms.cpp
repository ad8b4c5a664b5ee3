//===- StoredForms.cpp - Values and their stored forms --------------------===//

#include "passes/Layout/StoredForms.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

using Part = StoredDim::Part;

SmallVector<IntExpr> mlc::sizesOf(Value value) {
  return *getDims(cast<RankedTensorType>(value.getType()));
}

bool mlc::isSmallFloat(Type element) {
  return element.isF16() || element.isBF16();
}

Value StoredForms::createLike(Operation *op, ValueRange operands) {
  FailureOr<Operation *> like =
      createOp(builder, op->getLoc(), op->getName().getStringRef(), operands,
               op->getAttrs());
  return failed(like) ? Value() : (*like)->getResult(0);
}

Value StoredForms::layOut(Location loc, StringRef name, ValueRange operands,
                          DictionaryAttr attributes,
                          ArrayRef<LayoutAttr> layouts) {
  SmallVector<Attribute> list(layouts.begin(), layouts.end());
  return create<LaidOutOp>(loc, operands, name, attributes,
                           builder.getArrayAttr(list));
}

Value StoredForms::reshape(Location loc, Value x, ArrayRef<IntExpr> to) {
  return create<ReshapeOp>(loc, x, dims(to));
}

Value StoredForms::pad(Location loc, Value x, ArrayRef<IntExpr> low,
                       ArrayRef<IntExpr> high) {
  auto isZero = [](IntExpr size) { return size.isConstant(0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  return create<PadOp>(loc, x, dims(low), dims(high), PadMode::Constant,
                       RealAttr::get(getContext(), 0.0));
}

Value StoredForms::padOnce(Location loc, Value x, ArrayRef<IntExpr> low,
                           ArrayRef<IntExpr> high) {
  for (Operation *user : x.getUsers())
    if (auto pad = dyn_cast<PadOp>(user))
      if (pad->isBeforeInBlock(&*builder.getInsertionPoint()) &&
          pad.getLow() == dims(low) && pad.getHigh() == dims(high) &&
          pad.getMode() == PadMode::Constant && pad.getValue().getDouble() == 0)
        return pad.getResult();
  return pad(loc, x, low, high);
}

LayoutAttr StoredForms::layoutOf(ArrayRef<IntExpr> dims, int64_t groups) const {
  bool isBlocked = wanted.block != 0;
  SmallVector<StoredDim> order;
  for (unsigned d = 0; d < dims.size(); ++d)
    if (d != 1)
      order.push_back({d, Part::Whole});
    else if (isBlocked)
      order.push_back({d, Part::Block});
  order.push_back({1, isBlocked ? Part::Lane : Part::Whole});
  SmallVector<DimSplit> splits;
  if (isBlocked) {
    int64_t channels = dims[1].getConstant();
    // With whole blocks per group, groups make no difference.
    bool isWhole = channels % (groups * wanted.block) == 0;
    splits.push_back({1, channels, wanted.block, isWhole ? 1 : groups});
  }
  return LayoutAttr::get(getContext(), order, splits);
}

/// Whether every spatial dim is 1, or the only channel moves as a whole, so
/// that the order of pixels and channels does not matter.
static bool isOneOrder(ArrayRef<IntExpr> dims, LayoutAttr layout) {
  return llvm::all_of(dims.drop_front(2),
                      [](IntExpr dim) { return dim.isConstant(1); }) ||
         (layout.getSplits().empty() && dims[1].isConstant(1));
}

/// Whether `permutation` puts the dims into the order of `layout`.
static bool isOrderOf(ArrayRef<int64_t> permutation, LayoutAttr layout) {
  return layout.getSplits().empty() &&
         llvm::equal(permutation, layout.getOrder(),
                     [](int64_t from, const StoredDim &stored) {
                       return from == stored.dim;
                     });
}

/// The tensor that `plain` transposes, if that is stored as `layout` says.
static Value storedBehind(Value plain, LayoutAttr layout) {
  auto transpose = plain.getDefiningOp<TransposeOp>();
  if (!transpose || !layout.getSplits().empty())
    return {};
  for (auto [i, stored] : llvm::enumerate(layout.getOrder()))
    if (transpose.getPermutation()[stored.dim] != int64_t(i))
      return {};
  return transpose.getX();
}

StoredForm StoredForms::lookupTransposed(TransposeOp transpose) const {
  StoredForm form = lookup(transpose.getX());
  return form && isOrderOf(transpose.getPermutation(), form.layout)
             ? form
             : StoredForm();
}

StoredForm StoredForms::get(Location loc, Value plain, int64_t groups,
                            bool clean) {
  SmallVector<IntExpr> from = sizesOf(plain);
  if (from.size() < 3 || !from[1].isConstant())
    return {};
  LayoutAttr layout = layoutOf(from, groups);
  if (StoredForm form = lookup(plain);
      form && form.layout == layout && !(clean && form.isDirty))
    return form;
  StoredForm form{storedBehind(plain, layout), layout, false};
  if (form) {
    // It is there already.
  } else if (form.groups() == 1 && isOneOrder(from, layout)) {
    SmallVector<IntExpr> low(from.size(), integer(0)), high(low);
    if (const DimSplit *split = layout.getSplit(1))
      high[1] = integer(split->blocks() * split->block - split->size);
    form.value =
        reshape(loc, pad(loc, plain, low, high), *layout.getStoredDims(from));
  } else {
    form.value = create<PackOp>(loc, plain, layout);
  }
  if (!form)
    return {};
  forms[plain] = form;
  return form;
}

Value StoredForms::unpack(Location loc, const StoredForm &form) {
  SmallVector<IntExpr> to = *form.layout.getDims(sizesOf(form.value));
  bool isReshape = form.groups() == 1 && !form.layout.isFilled() &&
                   isOneOrder(to, form.layout);
  Value plain = isReshape ? reshape(loc, form.value, to)
                          : create<UnpackOp>(loc, form.value, form.layout);
  if (plain)
    forms[plain] = form;
  return plain;
}

Value StoredForms::rearrange(Location loc, Value x, LayoutAttr layout) {
  SmallVector<IntExpr> dims = sizesOf(x);
  SmallVector<IntExpr> low(dims.size(), integer(0)), high(low), parts;
  SmallVector<int64_t> whole(dims.size()), lanes(dims.size());
  for (unsigned d = 0; d < dims.size(); ++d) {
    const DimSplit *split = layout.getSplit(d);
    if (split && split->isLeftOut())
      continue;
    whole[d] = parts.size();
    parts.push_back(split ? integer(split->blocks()) : dims[d]);
    if (!split)
      continue;
    assert(split->groups == 1 && "groups are sliced apart");
    lanes[d] = parts.size();
    parts.push_back(integer(split->block));
    high[d] = integer(split->blocks() * split->block - split->size);
  }
  SmallVector<int64_t> permutation;
  for (const StoredDim &stored : layout.getOrder())
    permutation.push_back(stored.part == Part::Lane ? lanes[stored.dim]
                                                    : whole[stored.dim]);
  x = pad(loc, x, low, high);
  if (x && !layout.getSplits().empty())
    x = reshape(loc, x, parts);
  return x ? create<TransposeOp>(loc, x, permutation) : Value();
}
