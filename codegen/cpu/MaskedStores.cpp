//===- MaskedStores.cpp - Stores that LLVM would widen --------------------===//

#include "codegen/cpu/MaskedStores.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;

namespace mlc::cpu {

/// The active lanes; nullopt if the mask is not constant.
static std::optional<SmallVector<unsigned>> lanesOf(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  SmallVector<unsigned> lanes;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    auto *lane =
        dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(i));
    if (!lane)
      return std::nullopt;
    if (lane->isOne())
      lanes.push_back(i);
  }
  return lanes;
}

/// LLVM halves vectors until the machine supports them; no piece is smaller
/// than four lanes.
static bool hasSingleLane(ArrayRef<unsigned> lanes, unsigned count) {
  for (unsigned size = count; size == count || size >= 4; size /= 2) {
    SmallVector<unsigned> used(count / size + 1, 0);
    for (unsigned lane : lanes)
      ++used[lane / size];
    if (is_contained(used, 1u))
      return true;
    if (size % 2)
      break;
  }
  return false;
}

/// Stores runs of lanes in pieces of powers of two.
static void writeOut(IntrinsicInst &store, ArrayRef<unsigned> lanes) {
  IRBuilder<> b(&store);
  Value *vector = store.getArgOperand(0), *place = store.getArgOperand(1);
  Type *element = cast<VectorType>(vector->getType())->getElementType();
  uint64_t bytes = store.getDataLayout().getTypeStoreSize(element);
  Align align = store.getParamAlign(1).valueOrOne();
  for (size_t i = 0; i < lanes.size();) {
    size_t run = 1;
    while (i + run < lanes.size() && lanes[i + run] == lanes[i] + run)
      ++run;
    run = llvm::bit_floor(run);
    SmallVector<int> chosen(run);
    std::iota(chosen.begin(), chosen.end(), int(lanes[i]));
    Value *piece = run == 1 ? b.CreateExtractElement(vector, lanes[i])
                            : b.CreateShuffleVector(vector, chosen);
    uint64_t offset = lanes[i] * bytes;
    b.CreateAlignedStore(
        piece, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), place, offset),
        commonAlignment(align, offset));
    i += run;
  }
  store.eraseFromParent();
}

void writeOutMaskedStores(Module &module) {
  SmallVector<IntrinsicInst *> stores;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
            intrinsic && intrinsic->getIntrinsicID() == Intrinsic::masked_store)
          stores.push_back(intrinsic);
  for (IntrinsicInst *store : stores) {
    auto *type = cast<VectorType>(store->getArgOperand(0)->getType());
    auto lanes = lanesOf(store->getArgOperand(2));
    if (lanes && type->getElementType()->isIntegerTy() &&
        hasSingleLane(*lanes, type->getElementCount().getFixedValue()))
      writeOut(*store, *lanes);
  }
}

} // namespace mlc::cpu
