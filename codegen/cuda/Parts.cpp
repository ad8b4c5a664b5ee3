//===- Parts.cpp - Blocks that share a sum --------------------------------===//

#include "codegen/cuda/Parts.h"
#include "runtime/Step.h"

namespace mlc::cuda {

constexpr int64_t counterBytes = runtime::GridLaunchStep::counterBytes;

/// The last block reads all parts, one after another.
constexpr int64_t mostParts = 32;

IntExpr chooseParts(IntExpr sums, IntExpr depth, int64_t least,
                    const Target &target) {
  mlir::MLIRContext *ctx = sums.getContext();
  auto number = [&](int64_t value) { return IntExpr::constant(ctx, value); };
  // Two blocks for each multiprocessor, so that one computes while the other
  // waits; and a counter for each sum that is shared.
  constexpr int64_t most = counterBytes / sizeof(uint32_t);
  int64_t blocks = 2 * std::min<int64_t>(target.cost.units, most);
  IntExpr room = number(blocks).floorDiv(IntExpr::max(sums, number(1)));
  IntExpr worth = IntExpr::min(depth.floorDiv(least), number(mostParts));
  return IntExpr::max(IntExpr::min(room, worth), number(1));
}

IntExpr jointBytes(IntExpr sums, IntExpr parts, int64_t bytes) {
  IntExpr isShared =
      IntExpr::min(parts - 1, IntExpr::constant(sums.getContext(), 1));
  return sums * parts * isShared * bytes + counterBytes;
}

} // namespace mlc::cuda
