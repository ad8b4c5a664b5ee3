//===- ContractionRoles.cpp - Roles of a contraction's loops --------------===//

#include "codegen/cpu/ContractionPlanner.h"
#include <limits>

using namespace mlir;

namespace mlc::cpu {

int64_t Planner::value(IntExpr e) const {
  if (auto k = e.asConstant())
    return *k;
  return e.evaluate([](StringRef) { return kGuess; }).value_or(kGuess);
}

/// Makes W the factor with the vector dim: swaps the factors if only X has it.
void Planner::orient() {
  const Access &y = c.outputs[0].access;
  int best = -1, bestRank = 0;
  for (int d = 0; d < int(c.dims.size()); ++d) {
    if (!c.dims[d].parallel || !is(y.strides[d], 1))
      continue;
    bool inX = !is(c.x.strides[d], 0), inW = !is(c.w.strides[d], 0);
    bool unitX = is(c.x.strides[d], 1), unitW = is(c.w.strides[d], 1);
    int rank = inX && inW ? (unitX && unitW ? 3 : 0)
               : inW      ? (unitW ? 4 : 2)
               : inX      ? (unitX ? 4 : 2)
                          : 0;
    if (rank > bestRank) {
      best = d;
      bestRank = rank;
      p.swapped = inX && !inW;
      p.xVector = inX && inW;
    }
  }
  p.vectorDim = best;
  if (p.swapped) {
    std::swap(c.x, c.w);
    std::swap(c.xCasts, c.wCasts);
  }
}

/// Finds the dim that steps over blocks of the vector dim, if it is blocked.
void Planner::chooseVectorOuter() {
  int64_t native = target.vectorBits / 8 / bytes(c.accumulator);
  p.lanes = std::max<int64_t>(1, native);
  int n = p.vectorDim;
  auto block = fixed(c.dims[n].extent);
  if (n == c.splitInner)
    p.vectorOuter = c.splitOuter;
  if (!block || *block > 128)
    return;
  if (p.vectorOuter < 0) {
    int64_t best = std::numeric_limits<int64_t>::max();
    for (int d = 0; d < int(c.dims.size()); ++d) {
      if (d == n || !c.dims[d].parallel || is(c.w.strides[d], 0) ||
          is(c.x.strides[d], 0) == p.xVector)
        continue;
      int64_t stride = value(c.outputs[0].access.strides[d]);
      if (stride < best) {
        best = stride;
        p.vectorOuter = d;
      }
    }
  }
  int64_t lanes = std::min(p.lanes, *block & -*block);
  if (p.vectorOuter >= 0 && p.vectorOuter != c.splitOuter &&
      (lanes < 4 && lanes < p.lanes))
    p.vectorOuter = -1;
  if (p.vectorOuter >= 0)
    p.lanes = lanes;
}

void Planner::chooseRoles() {
  orient();
  if (p.vectorDim >= 0)
    chooseVectorOuter();
  const Access &y = c.outputs[0].access;
  SmallVector<int> positions;
  for (int d = 0; d < int(c.dims.size()); ++d) {
    if (!c.dims[d].parallel) {
      p.reduction.push_back(d);
      continue;
    }
    if (d == p.vectorDim || d == p.vectorOuter)
      continue;
    bool tileable = is(c.w.strides[d], 0) && !is(c.x.strides[d], 0);
    (tileable ? positions : p.outer).push_back(d);
  }
  llvm::stable_sort(positions, [&](int a, int b) {
    return value(y.strides[a]) < value(y.strides[b]);
  });
  if (!positions.empty())
    p.tileDim = positions[0];
  if (positions.size() > 1)
    p.rowDim = positions[1];
  for (unsigned i = 2; i < positions.size(); ++i)
    p.outer.push_back(positions[i]);
  llvm::sort(p.outer);
  llvm::stable_sort(p.reduction, [&](int a, int b) {
    return value(c.w.strides[a]) > value(c.w.strides[b]);
  });
  chooseDot();
}

/// Vectors run along the reduction if W is contiguous there and X has few rows:
/// packing W would cost more than the products.
void Planner::chooseDot() {
  if (p.xVector || p.vectorDim < 0 || p.vectorOuter >= 0 || p.rowDim >= 0 ||
      p.reduction.empty() || is(c.w.strides[p.vectorDim], 1) ||
      c.accumulator != c.x.element || c.accumulator != c.w.element)
    return;
  auto rows = p.tileDim < 0 ? 1 : fixed(c.dims[p.tileDim].extent);
  int k = p.reduction.back();
  p.dot = rows && *rows <= 4 && is(c.x.strides[k], 1) && is(c.w.strides[k], 1);
  if (!p.dot)
    return;
  p.dotLanes =
      std::max<int64_t>(1, target.vectorBits / 8 / bytes(c.accumulator));
  p.lanes = 1;
  p.rows = std::max<int64_t>(1, *rows);
  int64_t most = (target.vectorRegisters - 1 - p.rows) / p.rows;
  p.vectors = std::min<int64_t>({most, extent(p.vectorDim), 8});
}

} // namespace mlc::cpu
