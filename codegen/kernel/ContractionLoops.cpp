//===- ContractionLoops.cpp - Fewer loops around a contraction ------------===//

#include "codegen/kernel/Contraction.h"

using namespace mlir;

namespace mlc {

SmallVector<Access *> accesses(Contraction &c) {
  SmallVector<Access *> all{&c.x, &c.w};
  for (Access &a : c.loads)
    all.push_back(&a);
  for (ContractionOutput &o : c.outputs)
    all.push_back(&o.access);
  return all;
}

static void eraseDim(Contraction &c, unsigned d) {
  c.dims.erase(c.dims.begin() + d);
  for (Access *a : accesses(c)) {
    a->strides.erase(a->strides.begin() + d);
    for (Bound &bound : a->bounds)
      bound.strides.erase(bound.strides.begin() + d);
  }
  for (int *s : {&c.splitInner, &c.splitOuter})
    *s -= *s > int(d);
}

static void dropUnitDims(Contraction &c) {
  for (int d = int(c.dims.size()) - 1; d >= 0; --d)
    if (c.dims[d].extent.isConstant(1) && d != c.splitInner &&
        d != c.splitOuter)
      eraseDim(c, d);
}

/// Merges a pair of loops that step through every buffer like one.
static bool mergeOnce(Contraction &c) {
  for (unsigned a = 0; a < c.dims.size(); ++a)
    for (unsigned b = 0; b < c.dims.size(); ++b) {
      auto split = [&](int d) {
        return d == c.splitInner || d == c.splitOuter;
      };
      if (a == b || c.dims[a].parallel != c.dims[b].parallel || split(a) ||
          split(b))
        continue;
      IntExpr size = c.dims[b].extent;
      auto likeOne = [&](ArrayRef<IntExpr> strides) {
        return strides[a] == strides[b] * size;
      };
      if (!llvm::all_of(accesses(c), [&](Access *s) {
            return likeOne(s->strides) &&
                   llvm::all_of(s->bounds, [&](const Bound &bound) {
                     return likeOne(bound.strides);
                   });
          }))
        continue;
      c.dims[b].extent = c.dims[a].extent * size;
      eraseDim(c, a);
      return true;
    }
  return false;
}

void simplifyLoops(Contraction &c) {
  dropUnitDims(c);
  while (mergeOnce(c))
    dropUnitDims(c);
}

} // namespace mlc
