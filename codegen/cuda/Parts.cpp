//===- Parts.cpp - Blocks that share a sum --------------------------------===//

#include "codegen/cuda/Parts.h"
#include "runtime/Step.h"

namespace mlc::cuda {

constexpr int64_t counterBytes = runtime::GridLaunchStep::counterBytes;

static IntExpr min(IntExpr a, IntExpr b) { return IntExpr::min(a, b); }
static IntExpr max(IntExpr a, IntExpr b) { return IntExpr::max(a, b); }
static IntExpr quotient(IntExpr a, IntExpr b) { return a.floorDiv(b); }
static int64_t min(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t max(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t quotient(int64_t a, int64_t b) { return a / b; }

/// The number of parts, of expressions or integers with `min`, `max` and
/// `quotient`.
template <typename T, typename Number>
static T partsOf(T sums, T k, int64_t least, int64_t most, const Target &target,
                 int64_t resident, Number number) {
  // There is a counter for each sum that is shared, by two blocks at least.
  constexpr int64_t counters = counterBytes / sizeof(uint32_t);
  int64_t blocks =
      std::min<int64_t>(resident * target.cost.units, 2 * counters);
  T room = quotient(number(blocks), max(sums, number(1)));
  T worth = min(quotient(k, number(least)), number(most));
  return max(min(room, worth), number(1));
}

IntExpr chooseParts(IntExpr sums, IntExpr k, int64_t least, int64_t most,
                    const Target &target, int64_t resident) {
  return partsOf(sums, k, least, most, target, resident, [&](int64_t value) {
    return IntExpr::constant(sums.getContext(), value);
  });
}

int64_t chooseParts(int64_t sums, int64_t k, int64_t least, int64_t most,
                    const Target &target, int64_t resident) {
  return partsOf(sums, k, least, most, target, resident,
                 [](int64_t value) { return value; });
}

IntExpr workspaceBytes(IntExpr sums, IntExpr parts, int64_t bytes) {
  IntExpr isShared =
      IntExpr::min(parts - 1, IntExpr::constant(sums.getContext(), 1));
  return sums * parts * isShared * bytes + counterBytes;
}

} // namespace mlc::cuda
