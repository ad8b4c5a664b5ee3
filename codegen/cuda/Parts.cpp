//===- Parts.cpp - Blocks that share a sum --------------------------------===//

#include "codegen/cuda/Parts.h"
#include "runtime/Step.h"

namespace mlc::cuda {

constexpr int64_t counterBytes = runtime::GridLaunchStep::counterBytes;

IntExpr chooseParts(IntExpr sums, IntExpr k, int64_t least, int64_t most,
                    const Target &target) {
  mlir::MLIRContext *ctx = sums.getContext();
  auto number = [&](int64_t value) { return IntExpr::constant(ctx, value); };
  // Two blocks for each multiprocessor, so that one computes while the other
  // waits; and a counter for each sum that is shared.
  constexpr int64_t counters = counterBytes / sizeof(uint32_t);
  int64_t blocks = 2 * std::min<int64_t>(target.cost.units, counters);
  IntExpr room = number(blocks).floorDiv(IntExpr::max(sums, number(1)));
  IntExpr worth = IntExpr::min(k.floorDiv(least), number(most));
  return IntExpr::max(IntExpr::min(room, worth), number(1));
}

IntExpr workspaceBytes(IntExpr sums, IntExpr parts, int64_t bytes) {
  IntExpr isShared =
      IntExpr::min(parts - 1, IntExpr::constant(sums.getContext(), 1));
  return sums * parts * isShared * bytes + counterBytes;
}

} // namespace mlc::cuda
