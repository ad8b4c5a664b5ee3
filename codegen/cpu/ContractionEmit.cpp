//===- ContractionEmit.cpp - Tasks, blocking and tiles of a contraction ---===//
//
//   for group of this call's tasks            (outer dims × block of columns)
//     for pass over the reduction             (panels of W packed here)
//       for row block of this call's tasks    (rows of X packed here)
//         for tile column
//           for row, for tile                 → register tile
//
// Consecutive tasks share a group, so a range of tasks packs W once.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ContractionEmit.h"
#include "codegen/kernel/InPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace mlc::cpu {

void emitLoop(OpBuilder &b, Location loc, Index lower, Index upper,
              int64_t step, function_ref<void(Index)> body) {
  auto lo = IndexMath::fixed(lower), hi = IndexMath::fixed(upper);
  if (lo && hi && *hi <= *lo)
    return;
  if (lo && hi && *hi <= *lo + step)
    return body(lower);
  IndexMath m(b, loc);
  Value first = m.value(lower), last = m.value(upper),
        by = m.value(m.constant(step));
  auto loop = scf::ForOp::create(b, loc, first, last, by);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Index ContractionEmitter::eval(IntExpr e) {
  if (auto k = e.asConstant())
    return m.constant(*k);
  return body.emit(e);
}

RuntimeAccess ContractionEmitter::runtime(const Access &a, Value memref) {
  RuntimeAccess r{memref, a.element, eval(a.offset), {}};
  for (IntExpr stride : a.strides)
    r.strides.push_back(eval(stride));
  return r;
}

void ContractionEmitter::prepare() {
  auto bufferOf = [&](Value tensor) {
    return body.inputs[llvm::find(body.kernel.inputs, tensor) -
                       body.kernel.inputs.begin()];
  };
  x = runtime(c.x, bufferOf(c.x.tensor));
  w = runtime(c.w, bufferOf(c.w.tensor));
  for (const Access &a : c.loads)
    loads.push_back(runtime(a, bufferOf(a.tensor)));
  for (auto [o, memref] : llvm::zip_equal(c.outputs, body.outputs))
    outputs.push_back(runtime(o.access, memref));
  for (const LoopDim &d : c.dims)
    extents.push_back(eval(d.extent));
  at.assign(c.dims.size(), m.constant(0));
}

int64_t ContractionEmitter::vectorsPerBlock() const {
  if (p.vectorOuter < 0)
    return 0;
  return *c.dims[p.vectorDim].extent.asConstant() / p.lanes;
}

/// Position of `a` for the indices in `at`.
Index ContractionEmitter::base(const RuntimeAccess &a) {
  Index sum = a.offset;
  for (unsigned d = 0; d < at.size(); ++d)
    sum = m.add(sum, m.mul(at[d], a.strides[d]));
  return sum;
}

/// Adds the position of vector number `vector` to `start`, and lists the
/// offsets of `count` vectors from there.
void ContractionEmitter::addVectorPosition(const RuntimeAccess &a, Index vector,
                                           int64_t count, Index &start,
                                           SmallVectorImpl<Index> &offsets) {
  offsets.clear();
  if (p.vectorDim < 0) {
    offsets.assign(count, m.constant(0));
    return;
  }
  Index lane = m.mul(m.constant(p.lanes), a.strides[p.vectorDim]);
  int64_t block = vectorsPerBlock();
  if (!block) {
    start = m.add(start, m.mul(vector, lane));
    for (int64_t v = 0; v < count; ++v)
      offsets.push_back(m.mul(m.constant(v), lane));
    return;
  }
  Index outer = a.strides[p.vectorOuter], size = m.constant(block);
  start = m.add(start, m.mul(m.div(vector, size), outer));
  bool whole = count % block == 0;
  if (!whole)
    start = m.add(start, m.mul(m.rem(vector, size), lane));
  for (int64_t v = 0; v < count; ++v)
    offsets.push_back(whole ? m.add(m.mul(m.constant(v / block), outer),
                                    m.mul(m.constant(v % block), lane))
                            : m.mul(m.constant(v), lane));
}

TileOperand ContractionEmitter::operand(const RuntimeAccess &a,
                                        const TilePosition &t, bool vectors) {
  TileOperand o;
  o.memref = a.memref;
  o.element = a.element;
  o.base = base(a);
  Index step = p.tileDim < 0 ? m.constant(0) : a.strides[p.tileDim];
  if (p.flat) {
    int64_t width = *IndexMath::fixed(total(p.tileDim));
    int64_t first = *IndexMath::fixed(t.row);
    for (int64_t r = first; r < first + t.rows; ++r)
      o.rowOffset.push_back(
          m.add(m.mul(m.constant(r / width), a.strides[p.rowDim]),
                m.mul(m.constant(r % width), step)));
  } else {
    o.base = m.add(o.base, m.mul(t.row, step));
    for (int64_t r = 0; r < t.rows; ++r)
      o.rowOffset.push_back(m.mul(m.constant(r), step));
  }
  if (vectors)
    addVectorPosition(a, t.vector, t.vectors, o.base, o.vectorOffset);
  else
    o.vectorOffset.assign(t.vectors, m.constant(0));
  return o;
}

/// The number of columns; vectors beyond it have no active lanes.
Index ContractionEmitter::columnBound() {
  if (c.splitBound)
    return eval(c.splitBound);
  Index size = extents[p.vectorDim];
  return p.vectorOuter < 0 ? size : m.mul(size, extents[p.vectorOuter]);
}

/// Calls `tile` for the columns of tiles in vectors [lower, upper): full tiles,
/// then the remainder, with the last vector masked if lanes are missing.
void ContractionEmitter::columns(Index lower, Index upper, TileFn tile) {
  int64_t nv = p.vectors, block = vectorsPerBlock();
  TilePosition t{m.constant(0), 1, lower, nv, Value(), m.constant(p.lanes)};
  if (p.vectorDim < 0) {
    t.vectors = 1;
    return tile(t);
  }
  auto emit = [&](Index from, Index to, int64_t count, Index maskFrom) {
    emitLoop(b, loc, from, to, count, [&](Index v) {
      TilePosition here = t;
      here.vector = v;
      here.vectors = count;
      if (IndexMath::fixed(maskFrom) != -1) {
        Index before =
            m.mul(m.add(v, m.constant(count - 1)), m.constant(p.lanes));
        here.activeLanes = m.min(m.sub(maskFrom, before), m.constant(p.lanes));
        if (!IndexMath::is(here.activeLanes, p.lanes))
          here.mask = vector::CreateMaskOp::create(
              b, loc, vectorOf(b.getI1Type()), m.value(here.activeLanes));
      }
      tile(here);
    });
  };
  bool bounded = !block || c.splitBound;
  Index none = m.constant(-1);
  Index bound = none;
  if (bounded)
    bound = columnBound();
  Index all = bounded ? m.ceilDiv(bound, m.constant(p.lanes))
                      : m.mul(extents[p.vectorOuter], m.constant(block));
  if (auto fixedAll = IndexMath::fixed(all)) {
    bool masked = bounded && *IndexMath::fixed(bound) % p.lanes;
    int64_t full = *fixedAll / nv * nv;
    if (masked && full == *fixedAll)
      full -= nv;
    emit(lower, m.min(upper, m.constant(full)), nv, none);
    // The remainder: whole blocks, then a part of one.
    int64_t rest = *fixedAll - full, part = block ? rest % block : 0;
    Index from = m.constant(full), middle = m.constant(*fixedAll - part);
    if (rest > part)
      emit(m.max(lower, from), m.min(upper, middle), rest - part,
           masked && !part ? bound : none);
    if (part)
      emit(m.max(lower, middle), upper, part, masked ? bound : none);
    return;
  }
  Index whole =
      bounded ? m.min(upper, m.div(bound, m.constant(p.lanes))) : upper;
  Index count = m.max(m.sub(whole, lower), m.constant(0));
  Index full =
      m.add(lower, m.mul(m.div(count, m.constant(nv)), m.constant(nv)));
  emit(lower, full, nv, none);
  int64_t step = bounded || nv <= block ? 1 : block;
  if (nv > 1 || bounded)
    emit(full, upper, step, bound);
}

/// First position of tile number `unit`, or the size after the last tile.
Index ContractionEmitter::unitStart(Index unit) {
  auto size = IndexMath::fixed(total(p.tileDim));
  if (!size)
    return m.min(m.mul(unit, m.constant(p.rows)), total(p.tileDim));
  int64_t tiles = (*size + p.rows - 1) / std::max<int64_t>(1, p.rows);
  if (tiles == 0)
    return m.constant(0);
  int64_t each = *size / tiles, larger = *size % tiles;
  return m.add(m.mul(unit, m.constant(each)), m.min(unit, m.constant(larger)));
}

/// Calls `tile` for the tiles of all rows together.
void ContractionEmitter::flatTiles(TilePosition column, TileFn tile) {
  int64_t positions =
      *IndexMath::fixed(total(p.rowDim)) * *IndexMath::fixed(total(p.tileDim));
  int64_t tiles = (positions + p.rows - 1) / p.rows;
  for (int64_t i = 0; i < tiles; ++i) {
    int64_t first = positions * i / tiles;
    column.row = m.constant(first);
    column.rows = positions * (i + 1) / tiles - first;
    tile(column);
  }
}

/// Calls `tile` for tiles [lower, upper) along tileDim. A known size is dealt
/// out evenly; an unknown one takes full tiles and then ever smaller ones.
void ContractionEmitter::rows(TilePosition column, Index lower, Index upper,
                              TileFn tile) {
  auto each = [&](Index row, int64_t count) {
    TilePosition t = column;
    t.row = row;
    t.rows = count;
    tile(t);
  };
  Index size = total(p.tileDim);
  if (auto fixedSize = IndexMath::fixed(size)) {
    int64_t tiles = (*fixedSize + p.rows - 1) / p.rows;
    if (tiles == 0)
      return;
    int64_t count = *fixedSize / tiles, larger = *fixedSize % tiles;
    Index split = m.constant(larger);
    if (larger)
      emitLoop(b, loc, lower, m.min(upper, split), 1, [&](Index u) {
        each(m.mul(u, m.constant(count + 1)), count + 1);
      });
    emitLoop(b, loc, larger ? m.max(lower, split) : lower, upper, 1,
             [&](Index u) {
               each(m.add(m.mul(u, m.constant(count)), split), count);
             });
    return;
  }
  Index from = m.mul(lower, m.constant(p.rows));
  Index to = m.min(m.mul(upper, m.constant(p.rows)), size);
  for (int64_t count = p.rows; count >= 1;
       count = count == 1 ? 0 : (count > 8 ? 8 : count / 2)) {
    Index by = m.constant(count);
    Index end = m.add(
        from, m.mul(m.div(m.max(m.sub(to, from), m.constant(0)), by), by));
    emitLoop(b, loc, from, end, count, [&](Index row) { each(row, count); });
    from = end;
  }
}

/// The sums of a tile whose vectors run along the reduction.
SmallVector<Value> ContractionEmitter::dotSums(const TilePosition &t,
                                               MicroKernel &k) {
  k.dot = true;
  k.accumulator = VectorType::get({p.dotLanes}, c.accumulator);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(k.accumulator));
  SmallVector<Value> parts =
      emitMicroKernel(b, loc, k, SmallVector<Value>(t.rows * t.vectors, zero));
  Pass whole{m.constant(0), m.constant(0), Value(), Value()};
  SmallVector<Value> all = initialSums(t, whole);
  for (auto [sum, part] : llvm::zip_equal(all, parts)) {
    Value start = vector::ExtractOp::create(b, loc, sum, 0);
    Value total = vector::ReductionOp::create(
        b, loc, vector::CombiningKind::ADD, part, start);
    sum = vector::BroadcastOp::create(b, loc, vectorOf(c.accumulator), total);
  }
  return all;
}

void ContractionEmitter::tile(const TilePosition &t, const Pass &pass,
                              const Panels &panelsW, const Panels &panelsX) {
  MicroKernel k;
  k.accumulator = vectorOf(c.accumulator);
  k.rows = t.rows;
  k.vectors = t.vectors;
  k.xVector = p.xVector;
  k.unroll = p.unroll;
  k.opaqueSteps = p.opaqueSteps;
  SmallVector<Index> xSteps, wSteps;
  for (int d : p.reduction) {
    xSteps.push_back(x.strides[d]);
    wSteps.push_back(w.strides[d]);
  }
  if (panelsX.memref) {
    Index row = m.constant(packedRow(c, p));
    k.x.memref = panelsX.memref;
    k.x.element = c.accumulator;
    k.x.base = m.mul(m.sub(t.row, panelsX.firstRow), row);
    for (int64_t r = 0; r < t.rows; ++r)
      k.x.rowOffset.push_back(m.mul(m.constant(r), row));
    xSteps[0] = m.constant(1);
  } else {
    k.x = operand(x, t, p.xVector);
    k.x.casts = c.xCasts;
    if (!xSteps.empty())
      k.x.base = m.add(k.x.base, m.mul(pass.lower, xSteps[0]));
  }
  if (panelsW.memref) {
    k.w.memref = panelsW.memref;
    k.w.element = c.accumulator;
    k.w.base = m.mul(m.sub(t.vector, panelsW.firstVector),
                     m.constant(p.lanes * passSteps(c, p)));
    for (int64_t v = 0; v < t.vectors; ++v)
      k.w.vectorOffset.push_back(m.constant(v * p.lanes));
    wSteps = panelStrides(t.vectors);
  } else {
    k.w = operand(w, t, true);
    k.w.casts = c.wCasts;
    if (!wSteps.empty())
      k.w.base = m.add(k.w.base, m.mul(pass.lower, wSteps[0]));
    k.mask = c.splitBound ? Value() : t.mask;
  }
  for (auto [i, d] : llvm::enumerate(p.reduction))
    k.loops.push_back({i ? extents[d] : pass.count, xSteps[i], wSteps[i]});
  if (k.loops.empty()) // a product without a sum has one step
    k.loops.push_back({m.constant(1), m.constant(0), m.constant(0)});
  if (!wSteps.empty())
    k.prefetch = p.prefetch * IndexMath::fixed(wSteps.back()).value_or(0);
  positions.clear();
  if (p.dot)
    return finish(t, pass, dotSums(t, k));
  SmallVector<Value> acc = initialSums(t, pass);
  acc = emitMicroKernel(b, loc, k, acc);
  finish(t, pass, acc);
}

void ContractionEmitter::pass(Index vectorBlock, Index rowBlock0,
                              Index rowBlock1, const Pass &pass) {
  Index perBlock = m.constant(p.vectorBlock * p.vectors);
  Index lower = m.mul(vectorBlock, perBlock);
  Index upper = m.add(lower, perBlock);
  if (p.vectorDim >= 0) {
    Index all = eval(totalVectors(c, p));
    upper = m.min(upper, all);
  }
  Panels panelsW{Value(), lower, m.constant(0)};
  if (p.packW)
    panelsW = packW(lower, upper, pass);
  Index units = eval(rowUnits(c, p));
  emitLoop(b, loc, rowBlock0, rowBlock1, 1, [&](Index block) {
    Index from = m.mul(block, m.constant(p.rowBlock));
    Index to = m.min(m.add(from, m.constant(p.rowBlock)), units);
    Panels panelsX{Value(), m.constant(0), m.constant(0)};
    if (p.packX)
      panelsX = packX(unitStart(from), unitStart(to), pass);
    columns(lower, upper, [&](const TilePosition &column) {
      auto tiles = [&](Index first, Index last) {
        rows(column, first, last,
             [&](const TilePosition &t) { tile(t, pass, panelsW, panelsX); });
      };
      if (p.flat)
        return flatTiles(column, [&](const TilePosition &t) {
          tile(t, pass, panelsW, panelsX);
        });
      if (p.rowDim < 0)
        return tiles(from, to);
      emitLoop(b, loc, from, to, 1, [&](Index row) {
        at[p.rowDim] = row;
        tiles(m.constant(0), m.ceilDiv(total(p.tileDim), m.constant(p.rows)));
        at[p.rowDim] = m.constant(0);
      });
    });
  });
}

void ContractionEmitter::group(Index g, Index rowBlock0, Index rowBlock1) {
  Index blocks = eval(p.vectorBlocks);
  Index vectorBlock = m.rem(g, blocks), rest = m.div(g, blocks);
  for (int d : llvm::reverse(p.outer)) {
    at[d] = m.rem(rest, extents[d]);
    rest = m.div(rest, extents[d]);
  }
  if (p.reduction.empty())
    return pass(vectorBlock, rowBlock0, rowBlock1,
                {m.constant(0), m.constant(0), Value(), Value()});
  Index size = extents[p.reduction[0]];
  if (!p.chunk)
    return pass(vectorBlock, rowBlock0, rowBlock1,
                {m.constant(0), size, Value(), Value()});
  Index chunk = m.constant(p.chunk);
  Index passes = m.max(m.ceilDiv(size, chunk), m.constant(1));
  emitLoop(b, loc, m.constant(0), passes, 1, [&](Index i) {
    Pass one{m.mul(i, chunk), chunk, Value(), Value()};
    if (auto all = IndexMath::fixed(size); !all || *all % p.chunk)
      one.count = m.min(chunk, m.sub(size, one.lower));
    if (!IndexMath::fixed(i)) {
      Value zero = m.value(m.constant(0));
      Value end = m.value(m.sub(passes, m.constant(1)));
      one.first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        m.value(i), zero);
      one.last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                       m.value(i), end);
    }
    pass(vectorBlock, rowBlock0, rowBlock1, one);
  });
}

/// Calls `emit` for the groups of this call's tasks, each with its range of the
/// `blocks` that a group has.
void ContractionEmitter::eachGroup(IntExpr blocks, GroupFn emit) {
  Index perGroup = m.max(eval(blocks), m.constant(1)), end = body.end;
  if (p.tasks != p.interior) // a task that only pads has no groups
    end = m.min(end, eval(p.interior));
  emitLoop(b, loc, m.div(body.begin, perGroup), m.ceilDiv(end, perGroup), 1,
           [&](Index g) {
             Index before = m.mul(g, perGroup);
             emit(g, m.max(m.sub(body.begin, before), m.constant(0)),
                  m.min(m.sub(end, before), perGroup));
           });
}

void ContractionEmitter::emit() {
  prepare();
  fillPadding();
  eachGroup(p.rowBlocks,
            [&](Index g, Index from, Index to) { group(g, from, to); });
}

void emitContraction(KernelBody &body, const Contraction &c,
                     const ContractionPlan &plan) {
  ContractionEmitter(body, c, plan).emit();
}

bool acceptsContraction(const Kernel &kernel, const Target &target) {
  std::string why;
  if (!kernel.anchor)
    return false;
  FailureOr<Contraction> c = matchContraction(kernel, why);
  if (failed(c))
    return false;
  // Only masked vectors handle a split dim whose last block is not full.
  ContractionPlan plan = planContraction(*c, target);
  return !c->splitBound || plan.vectorDim == c->splitInner;
}

FailureOr<EmittedKernel> emitContractionKernel(KernelBody &body) {
  std::string why;
  FailureOr<Contraction> c = matchContraction(body.kernel, why);
  if (failed(c))
    return func::FuncOp(body.kernel.function).emitError("no contraction: ")
           << why;
  ContractionPlan plan = planContraction(*c, body.target);
  emitContraction(body, *c, plan);
  auto inPlace = findInPlaceBehind(body.kernel);
  // The first output holds the sums of earlier passes.
  if (plan.chunk)
    llvm::erase_if(inPlace, [](auto pair) { return pair.second == 0; });
  return EmittedKernel{plan.tasks,
                       IntExpr::constant(c->context, plan.scratchBytes),
                       std::move(inPlace), factorsOf(body.kernel, *c)};
}

} // namespace mlc::cpu
