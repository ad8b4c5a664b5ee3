//===- Halo.cpp - Indices that reach beside a part ------------------------===//

#include "passes/Distribute/Halo.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace mlc::dist {

namespace {

/// A sum of constants times loops.
struct Linear {
  llvm::SmallMapVector<unsigned, int64_t, 4> loops;
  int64_t constant = 0;
};

// Far above any window size.
constexpr int64_t kLimit = 1 << 24;

std::optional<Linear> linearOf(const Expr &index);

std::optional<Linear> combined(const ExprNode &node) {
  std::optional<Linear> a = linearOf(node.operands[0]),
                        b = linearOf(node.operands[1]);
  if (!a || !b)
    return std::nullopt;
  switch (node.binary) {
  case BinaryFn::Add:
  case BinaryFn::Sub: {
    int64_t sign = node.binary == BinaryFn::Add ? 1 : -1;
    a->constant += sign * b->constant;
    for (auto [loop, factor] : b->loops)
      a->loops[loop] += sign * factor;
    return a;
  }
  case BinaryFn::Mul:
    if (a->loops.empty())
      std::swap(a, b);
    if (!b->loops.empty())
      return std::nullopt;
    a->constant *= b->constant;
    for (auto &[loop, factor] : a->loops)
      factor *= b->constant;
    return a;
  default:
    return std::nullopt;
  }
}

std::optional<Linear> linearOf(const Expr &index) {
  std::optional<Linear> found;
  switch (index->kind) {
  case Expr::Kind::Loop:
    found.emplace().loops[index->loop] = 1;
    return found;
  case Expr::Kind::Int:
    if (std::optional<int64_t> value = index->integer.asConstant())
      found.emplace().constant = *value;
    break;
  case Expr::Kind::Binary:
    found = combined(*index);
    break;
  default:
    break;
  }
  auto isLarge = [](int64_t value) { return std::abs(value) > kLimit; };
  if (found && (isLarge(found->constant) ||
                llvm::any_of(found->loops, [&](const auto &term) {
                  return isLarge(term.second);
                })))
    return std::nullopt;
  return found;
}

} // namespace

std::optional<Window> windowOf(const Expr &index, IntExpr size,
                               const Extents &extents,
                               llvm::function_ref<bool(unsigned)> isCarrier) {
  std::optional<Linear> linear = linearOf(index);
  if (!linear)
    return std::nullopt;
  auto carrier = llvm::find_if(linear->loops, [&](const auto &term) {
    auto [loop, factor] = term;
    return factor > 0 && isCarrier(loop) &&
           extents.lookup(loop) * factor == size;
  });
  if (carrier == linear->loops.end())
    return std::nullopt;
  int64_t first = linear->constant, last = linear->constant;
  for (auto [loop, factor] : linear->loops) {
    if (loop == carrier->first)
      continue;
    std::optional<int64_t> extent = extents.lookup(loop).asConstant();
    if (!extent || *extent < 1 || *extent > kLimit)
      return std::nullopt;
    (factor < 0 ? first : last) += factor * (*extent - 1);
  }
  return Window{carrier->first, carrier->second, std::max<int64_t>(0, -first),
                std::max<int64_t>(0, last - carrier->second + 1)};
}

} // namespace mlc::dist
