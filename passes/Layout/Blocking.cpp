//===- Blocking.cpp - Plain values and their blocked forms ----------------===//

#include "passes/Layout/Blocking.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

SmallVector<IntExpr> mlc::sizesOf(Value value) {
  return *getDims(cast<RankedTensorType>(value.getType()));
}

NamedAttribute Blocking::dims(StringRef name, ArrayRef<IntExpr> values) const {
  return {StringAttr::get(getContext(), name),
          DimsAttr::get(getContext(), values)};
}
NamedAttribute Blocking::dims(StringRef name, ArrayRef<int64_t> values) const {
  return {StringAttr::get(getContext(), name),
          DimsAttr::get(getContext(), values)};
}
NamedAttribute Blocking::i64(StringRef name, int64_t value) const {
  return {StringAttr::get(getContext(), name),
          builder.getI64IntegerAttr(value)};
}

Value Blocking::create(Location loc, StringRef name, ValueRange operands,
                       ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> op =
      createOp(builder, loc, name, operands, attributes);
  return failed(op) ? Value() : (*op)->getResult(0);
}

Value Blocking::reshape(Location loc, Value x, ArrayRef<IntExpr> to) {
  return create<ReshapeOp>(loc, x, dims("dims", to));
}

Value Blocking::pad(Location loc, Value x, ArrayRef<IntExpr> low,
                    ArrayRef<IntExpr> high) {
  auto isZero = [](IntExpr size) { return size.isConstant(0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  return create<PadOp>(
      loc, x,
      {dims("low", low),
       dims("high", high),
       {StringAttr::get(getContext(), "mode"),
        builder.getStringAttr(stringifyPadMode(PadMode::Constant))},
       {StringAttr::get(getContext(), "value"),
        RealAttr::get(getContext(), 0.0)}});
}

/// Every spatial dim is 1, so that lanes and channels are one order.
static bool isPixel(ArrayRef<IntExpr> spatial) {
  return llvm::all_of(spatial, [](IntExpr dim) { return dim.isConstant(1); });
}

Blocked Blocking::get(Location loc, Value plain, int64_t groups, bool clean) {
  SmallVector<IntExpr> from = sizesOf(plain);
  if (from.size() < 3 || !from[1].isConstant())
    return {};
  int64_t channels = from[1].getConstant();
  // Whole blocks: groups make no difference.
  if (groups > 1 && channels % (groups * block) == 0)
    groups = 1;
  if (Blocked form = lookup(plain);
      form && form.groups == groups && !(clean && form.isDirty))
    return form;
  Value packed;
  if (groups == 1 && isPixel(ArrayRef(from).drop_front(2))) {
    int64_t blocks = llvm::divideCeil(channels, block);
    SmallVector<IntExpr> none(from.size(), integer(0)), high(none), to(from);
    high[1] = integer(blocks * block - channels);
    to[1] = integer(blocks);
    to.push_back(integer(block));
    packed = reshape(loc, pad(loc, plain, none, high), to);
  } else {
    packed = create<PackOp>(loc, plain,
                            {i64("block", block), i64("groups", groups)});
  }
  if (!packed)
    return {};
  Blocked form{packed, channels, groups, false};
  blockedForms[plain] = form;
  return form;
}

Value Blocking::unpack(Location loc, Blocked form) {
  SmallVector<IntExpr> from = sizesOf(form.value);
  Value plain;
  ArrayRef<IntExpr> spatial = ArrayRef(from).drop_front(2).drop_back();
  if (form.groups == 1 && isPixel(spatial) &&
      (from[1] * from.back()).isConstant(form.channels)) {
    SmallVector<IntExpr> to(from.begin(), from.end() - 1);
    to[1] = integer(form.channels);
    plain = reshape(loc, form.value, to);
  } else {
    plain = create<UnpackOp>(
        loc, form.value,
        {i64("channels", form.channels), i64("groups", form.groups)});
  }
  if (plain)
    blockedForms[plain] = form;
  return plain;
}
