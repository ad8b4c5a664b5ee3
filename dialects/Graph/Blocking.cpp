//===- Blocking.cpp - Definitions of blocked layouts ----------------------===//

#include "dialects/Graph/MovementOps.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

LogicalResult PackOp::checkOperands() {
  auto type = getX().getType();
  int64_t block = getBlock(), groups = getGroups();
  if (type.getRank() < 2 || type.isDynamicDim(1))
    return emitOpError()
           << "requires rank 2 or more and constant channels, got " << type;
  if (block < 1 || groups < 1 || type.getDimSize(1) % groups != 0)
    return emitOpError() << "requires a positive block and groups that divide "
                         << type.getDimSize(1) << " channels, got " << block
                         << " and " << groups;
  return success();
}

void PackOp::define(DefinitionBuilder &b) {
  int64_t block = getBlock(), groups = getGroups();
  int64_t perGroup = b.dims(0)[1].getConstant() / groups;
  int64_t blocks = llvm::divideCeil(perGroup, block);
  MLIRContext *context = b.getContext();
  SmallVector<IntExpr> dims(b.dims(0));
  dims[1] = IntExpr::constant(context, blocks * groups);
  dims.push_back(IntExpr::constant(context, block));
  Type type = b.elementType(0);
  bool isFilled = perGroup % block != 0;
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    IntExpr blocksExpr = IntExpr::constant(context, blocks);
    IntExpr size = IntExpr::constant(context, block);
    Expr inGroup = groups == 1 ? i[1] : mod(i[1], blocksExpr);
    Expr lane = inGroup * size + i.back();
    Expr channel = lane;
    if (groups != 1)
      channel =
          floorDiv(i[1], blocksExpr) * IntExpr::constant(context, perGroup) +
          lane;
    SmallVector<Expr> at(i.drop_back());
    at[1] = channel;
    if (!isFilled)
      return b.read(0, at);
    Expr zero = b.constant(type, 0);
    if (groups == 1)
      return b.readOr(0, at, zero);
    // Past its group a lane would be the next group's channel.
    return mlc::select(compare(ComparePredicate::LT, lane, b.index(perGroup)),
                       b.readOr(0, at, zero), zero);
  }));
}

LogicalResult UnpackOp::checkOperands() {
  auto type = getX().getType();
  int64_t channels = getChannels(), groups = getGroups();
  if (type.getRank() < 3 || type.isDynamicDim(1) ||
      type.isDynamicDim(type.getRank() - 1))
    return emitOpError() << "requires rank 3 or more and constant blocks, got "
                         << type;
  int64_t block = type.getDimSize(type.getRank() - 1);
  if (groups < 1 || block < 1 || channels < 0 || channels % groups != 0 ||
      groups * static_cast<int64_t>(llvm::divideCeil(
                   static_cast<uint64_t>(channels / groups), block)) !=
          type.getDimSize(1))
    return emitOpError() << "does not hold " << channels << " channels in "
                         << groups << " groups, being " << type;
  return success();
}

void UnpackOp::define(DefinitionBuilder &b) {
  MLIRContext *context = b.getContext();
  int64_t channels = getChannels(), groups = getGroups();
  int64_t perGroup = channels / groups;
  IntExpr block = b.dims(0).back();
  int64_t blocks = b.dims(0)[1].getConstant() / groups;
  SmallVector<IntExpr> dims(b.dims(0).drop_back());
  dims[1] = IntExpr::constant(context, channels);
  b.result(b.stage("y", dims, b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i);
    Expr lane = i[1];
    if (groups != 1)
      lane = mod(lane, IntExpr::constant(context, perGroup));
    at[1] = floorDiv(lane, block);
    if (groups != 1)
      at[1] = floorDiv(i[1], IntExpr::constant(context, perGroup)) *
                  IntExpr::constant(context, blocks) +
              at[1];
    at.push_back(mod(lane, block));
    return b.read(0, at);
  }));
}
