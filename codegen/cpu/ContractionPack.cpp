//===- ContractionPack.cpp - Scratch panels and padding -------------------===//
//
// Panels of W: for every tile column, for every reduction step, the column's
// vectors, contiguous. Rows of X: the pass's part of every row, contiguous, at
// a distance that spreads rows over the first-level cache. Both hold the
// factors after their casts, so each cast runs once, here.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ContractionEmit.h"
#include "codegen/cpu/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace mlc::cpu {

/// Steps of every reduction dim in a panel of `vectors` vectors.
SmallVector<Index> ContractionEmitter::panelStrides(int64_t vectors) {
  SmallVector<Index> strides(p.reduction.size());
  int64_t step = vectors * p.lanes;
  for (int i = int(p.reduction.size()) - 1; i >= 0; --i) {
    strides[i] = m.constant(step);
    step *= c.dims[p.reduction[i]].extent.asConstant().value_or(1);
  }
  return strides;
}

/// Packs the vectors of `t` into panels of `vectors` vectors.
void ContractionEmitter::packColumn(const Panels &panels, const TilePosition &t,
                                    int64_t vectors, const Pass &pass) {
  TileOperand source = operand(w, t, true);
  Index target = m.mul(m.sub(t.vector, panels.firstVector),
                       m.constant(p.lanes * passSteps(c, p)));
  Index from = source.base;
  if (!p.reduction.empty()) // a pass covers a part of it
    from = m.add(from, m.mul(pass.lower, w.strides[p.reduction[0]]));
  SmallVector<Index> to = panelStrides(vectors);
  int64_t panel = vectors * p.lanes * passSteps(c, p);
  VectorType type = vectorOf(w.element);
  Index lane = w.strides[p.vectorDim];
  std::function<void(unsigned, Index, Index)> copy = [&](unsigned depth,
                                                         Index src, Index dst) {
    if (depth < p.reduction.size()) {
      Index stride = w.strides[p.reduction[depth]];
      emitLoop(b, loc, m.constant(0),
               depth ? extents[p.reduction[depth]] : pass.count, 1,
               [&](Index k) {
                 copy(depth + 1, m.add(src, m.mul(k, stride)),
                      m.add(dst, m.mul(k, to[depth])));
               });
      return;
    }
    for (int64_t v = 0; v < t.vectors; ++v) {
      Value at = m.value(m.add(src, source.vectorOffset[v]));
      bool masked = t.mask && v == t.vectors - 1 && !c.splitBound;
      Value loaded = p.lanes == 1 || IndexMath::is(lane, 1)
                         ? loadVector(b, loc, type, w.memref, at,
                                      masked ? t.mask : Value())
                         : strided(w, t, at, lane, masked);
      Value place = m.value(
          m.add(dst, m.constant(v / vectors * panel + v % vectors * p.lanes)));
      storeVector(b, loc, emitCasts(b, c.wCasts, loaded), panels.memref, place);
    }
  };
  copy(0, from, target);
}

Panels ContractionEmitter::packW(Index firstVector, Index lastVector,
                                 const Pass &pass) {
  Panels panels{
      body.scratchView(IntExpr::constant(c.context, 0), c.accumulator),
      firstVector, m.constant(0)};
  // A few panels at a time: a step then reads some neighbouring lines of W.
  constexpr int64_t together = 4;
  Index wide = m.constant(together * p.vectors);
  Index whole = m.min(lastVector, m.div(columnBound(), m.constant(p.lanes)));
  if (vectorsPerBlock())
    whole = firstVector;
  Index count = m.max(m.sub(whole, firstVector), m.constant(0));
  Index middle = m.add(firstVector, m.mul(m.div(count, wide), wide));
  emitLoop(b, loc, firstVector, middle, together * p.vectors, [&](Index v) {
    TilePosition t{m.constant(0),        1,       v,
                   together * p.vectors, Value(), m.constant(p.lanes)};
    packColumn(panels, t, p.vectors, pass);
  });
  columns(middle, lastVector, [&](const TilePosition &column) {
    packColumn(panels, column, column.vectors, pass);
  });
  return panels;
}

Panels ContractionEmitter::packX(Index firstRow, Index lastRow,
                                 const Pass &pass) {
  int64_t start = p.packW ? packedWBytes(c, p) : 0;
  Panels panels{
      body.scratchView(IntExpr::constant(c.context, start), c.accumulator),
      m.constant(0), firstRow};
  int k = p.reduction[0];
  Index row = m.constant(packedRow(c, p)), step = x.strides[k];
  Index source = m.add(base(x), m.mul(pass.lower, step));
  bool vectors = IndexMath::is(step, 1);
  int64_t lanes = vectors ? p.lanes : 1;
  auto type = VectorType::get({lanes}, x.element);
  emitLoop(b, loc, firstRow, lastRow, 1, [&](Index r) {
    Index from = m.add(source, m.mul(r, x.strides[p.tileDim]));
    Index to = m.mul(m.sub(r, firstRow), row);
    auto copy = [&](Index first, Index last, int64_t count, VectorType type) {
      emitLoop(b, loc, first, last, count, [&](Index i) {
        Value loaded = loadVector(b, loc, type, x.memref,
                                  m.value(m.add(from, m.mul(i, step))));
        storeVector(b, loc, emitCasts(b, c.xCasts, loaded), panels.memref,
                    m.value(m.add(to, i)));
      });
    };
    Index whole =
        m.mul(m.div(pass.count, m.constant(lanes)), m.constant(lanes));
    copy(m.constant(0), whole, lanes, type);
    if (lanes > 1)
      copy(whole, pass.count, 1, VectorType::get({1}, x.element));
  });
  return panels;
}

/// Sets memref[lower, upper) to `scalar`.
void ContractionEmitter::fill(Value memref, Value scalar, Index lower,
                              Index upper) {
  auto type =
      VectorType::get({std::max<int64_t>(1, p.lanes)}, scalar.getType());
  Value vector = vector::BroadcastOp::create(b, loc, type, scalar);
  int64_t lanes = type.getNumElements();
  Index whole =
      m.add(lower, m.mul(m.div(m.sub(upper, lower), m.constant(lanes)),
                         m.constant(lanes)));
  emitLoop(b, loc, lower, whole, lanes,
           [&](Index i) { storeVector(b, loc, vector, memref, m.value(i)); });
  emitLoop(b, loc, whole, upper, 1,
           [&](Index i) { storeElement(b, loc, scalar, memref, m.value(i)); });
}

/// Fills the padding of a padded output: for every padded dim, the parts before
/// and after the interior, at interior positions of the dims before it. The
/// dims before the first padded one are dealt out over the tasks.
void ContractionEmitter::fillPadding(const ContractionOutput &o,
                                     const RuntimeAccess &a) {
  unsigned rank = o.pads.size(), first = 0;
  auto padded = [&](unsigned d) {
    return !o.pads[d].low.isConstant(0) || !o.pads[d].high.isConstant(0);
  };
  while (first < rank && !padded(first))
    ++first;
  if (first == rank)
    return;
  SmallVector<Index> low, interior, high, size, stride(rank);
  for (const PaddedDim &d : o.pads) {
    low.push_back(eval(d.low));
    interior.push_back(eval(d.interior));
    high.push_back(eval(d.high));
    size.push_back(eval(d.low + d.interior + d.high));
  }
  Index step = m.constant(1), count = m.constant(1);
  for (int d = int(rank) - 1; d >= 0; --d) {
    stride[d] = step;
    step = m.mul(step, size[d]);
  }
  for (unsigned d = 0; d < first; ++d)
    count = m.mul(count, size[d]);
  Value scalar = arith::ConstantOp::create(b, loc, o.padValue);
  Index outerStride = first ? stride[first - 1] : m.constant(0);

  std::function<void(unsigned, Index)> slabs = [&](unsigned d, Index start) {
    if (d == rank)
      return;
    if (padded(d)) {
      fill(a.memref, scalar, start, m.add(start, m.mul(low[d], stride[d])));
      Index behind = m.add(start, m.mul(m.add(low[d], interior[d]), stride[d]));
      fill(a.memref, scalar, behind, m.add(behind, m.mul(high[d], stride[d])));
    }
    bool more = false;
    for (unsigned e = d + 1; e < rank; ++e)
      more |= padded(e);
    if (!more)
      return;
    emitLoop(b, loc, low[d], m.add(low[d], interior[d]), 1,
             [&](Index i) { slabs(d + 1, m.add(start, m.mul(i, stride[d]))); });
  };
  Index tasks = eval(p.tasks);
  emitLoop(b, loc, m.div(m.mul(body.begin, count), tasks),
           m.div(m.mul(body.end, count), tasks), 1,
           [&](Index i) { slabs(first, m.mul(i, outerStride)); });
}

void ContractionEmitter::fillPadding() {
  for (auto [o, a] : llvm::zip_equal(c.outputs, outputs))
    if (!o.pads.empty())
      fillPadding(o, a);
}

} // namespace mlc::cpu
