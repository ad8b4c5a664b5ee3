//===- MicroKernel.cpp - A register tile of a contraction -----------------===//

#include "codegen/cpu/MicroKernel.h"
#include "codegen/cpu/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace mlc::cpu {

Value emitMultiplyAdd(OpBuilder &b, Location loc, Value x, Value y, Value acc) {
  if (isa<FloatType>(getElementTypeOrSelf(acc.getType())))
    return vector::FMAOp::create(b, loc, x, y, acc);
  return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, x, y),
                               acc);
}

Value emitCasts(OpBuilder &b, ArrayRef<Operation *> casts, Value v) {
  for (Operation *cast : casts) {
    IRMapping map;
    map.map(cast->getOperand(0), v);
    Operation *copy = b.clone(*cast, map);
    if (auto shape = dyn_cast<VectorType>(v.getType()))
      copy->getResult(0).setType(shape.clone(cast->getResult(0).getType()));
    v = copy->getResult(0);
  }
  return v;
}

namespace {

class TileEmitter {
public:
  TileEmitter(OpBuilder &b, Location loc, const MicroKernel &tile)
      : b(b), loc(loc), m(b, loc), tile(tile) {}

  /// Loops `depth` and deeper, from the factors' positions `x` and `w`.
  SmallVector<Value> loop(unsigned depth, Index x, Index w,
                          SmallVector<Value> acc);

private:
  SmallVector<Value> steps(Index x, Index w, Index k, int64_t count,
                           SmallVector<Value> acc);
  SmallVector<Value> stepBroadcast(Index x, Index w, SmallVector<Value> acc);
  SmallVector<Value> stepsVector(Index x, Index w, int64_t count,
                                 SmallVector<Value> acc);
  SmallVector<Value> stepDot(Index x, Index w, Value mask,
                             SmallVector<Value> acc);
  SmallVector<Value> dotLoop(Index x, Index w, SmallVector<Value> acc);
  void prefetch(Value memref, Index base, ArrayRef<Index> offsets);
  void prefetchW(Index w, int64_t count);
  Index opaque(Index at);
  Value loadW(Index at, int64_t v);
  Value maskOf(int64_t v) const {
    return v == tile.vectors - 1 ? tile.mask : Value();
  }
  VectorType vectorOf(const TileOperand &o) const {
    return VectorType::get(tile.accumulator.getShape(), o.element);
  }
  template <typename Body>
  SmallVector<Value> forLoop(Index lower, Index upper, int64_t step,
                             ArrayRef<Value> acc, Body body);

  OpBuilder &b;
  Location loc;
  IndexMath m;
  const MicroKernel &tile;
};

} // namespace

Value TileEmitter::loadW(Index at, int64_t v) {
  Value position = m.value(m.add(at, tile.w.vectorOffset[v]));
  Value loaded =
      loadVector(b, loc, vectorOf(tile.w), tile.w.memref, position, maskOf(v));
  return emitCasts(b, tile.w.casts, loaded);
}

/// One reduction step with a broadcast of X.
SmallVector<Value> TileEmitter::stepBroadcast(Index x, Index w,
                                              SmallVector<Value> acc) {
  SmallVector<Value> vectors;
  for (int64_t v = 0; v < tile.vectors; ++v)
    vectors.push_back(loadW(w, v));
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value at = m.value(m.add(x, tile.x.rowOffset[r]));
    Value scalar = loadElement(b, loc, tile.x.element, tile.x.memref, at);
    scalar = emitCasts(b, tile.x.casts, scalar);
    Value spread =
        vector::BroadcastOp::create(b, loc, tile.accumulator, scalar);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value &sum = acc[r * tile.vectors + v];
      sum = emitMultiplyAdd(b, loc, spread, vectors[v], sum);
    }
  }
  return acc;
}

/// `count` reduction steps with vectors of X, row by row: neighbouring rows
/// read the same vectors, which then live for a few instructions only.
SmallVector<Value> TileEmitter::stepsVector(Index x, Index w, int64_t count,
                                            SmallVector<Value> acc) {
  const ReductionLoop &k = tile.loops.back();
  for (int64_t v = 0; v < tile.vectors; ++v) {
    SmallVector<Value> weights;
    for (int64_t u = 0; u < count; ++u)
      weights.push_back(loadW(m.add(w, m.mul(m.constant(u), k.wStride)), v));
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t u = 0; u < count; ++u) {
        Index at =
            m.add(m.add(x, m.add(tile.x.rowOffset[r], tile.x.vectorOffset[v])),
                  m.mul(m.constant(u), k.xStride));
        Value pixels = loadVector(b, loc, vectorOf(tile.x), tile.x.memref,
                                  m.value(at), maskOf(v));
        pixels = emitCasts(b, tile.x.casts, pixels);
        Value &sum = acc[r * tile.vectors + v];
        sum = emitMultiplyAdd(b, loc, pixels, weights[u], sum);
      }
  }
  return acc;
}

/// One vector of reduction steps of every row and column.
SmallVector<Value> TileEmitter::stepDot(Index x, Index w, Value mask,
                                        SmallVector<Value> acc) {
  auto load = [&](const TileOperand &o, Index at) {
    return loadVector(b, loc, vectorOf(o), o.memref, m.value(at), mask);
  };
  SmallVector<Value> rows;
  for (int64_t r = 0; r < tile.rows; ++r)
    rows.push_back(load(tile.x, m.add(x, tile.x.rowOffset[r])));
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Value column = load(tile.w, m.add(w, tile.w.vectorOffset[v]));
    for (int64_t r = 0; r < tile.rows; ++r) {
      Value &sum = acc[r * tile.vectors + v];
      sum = emitMultiplyAdd(b, loc, rows[r], column, sum);
    }
  }
  return acc;
}

SmallVector<Value> TileEmitter::dotLoop(Index x, Index w,
                                        SmallVector<Value> acc) {
  Index count = tile.loops.back().count;
  int64_t lanes = tile.accumulator.getNumElements();
  Index step = m.constant(lanes);
  Index whole = m.mul(m.div(count, step), step);
  acc = forLoop(m.constant(0), whole, lanes, acc,
                [&](Index i, SmallVector<Value> sums) {
                  return stepDot(m.add(x, i), m.add(w, i), Value(), sums);
                });
  Index rest = m.sub(count, whole);
  if (IndexMath::is(rest, 0))
    return acc;
  auto type = VectorType::get({lanes}, b.getI1Type());
  Value mask = vector::CreateMaskOp::create(b, loc, type, m.value(rest));
  return stepDot(m.add(x, whole), m.add(w, whole), mask, acc);
}

/// `at`, made opaque to LLVM.
Index TileEmitter::opaque(Index at) {
  Type i64 = b.getI64Type();
  Value in = arith::IndexCastOp::create(b, loc, i64, m.value(at));
  Value out = LLVM::InlineAsmOp::create(
                  b, loc, TypeRange{i64}, ValueRange{in}, /*asm_string=*/"",
                  /*constraints=*/"=r,0", /*has_side_effects=*/false,
                  /*is_align_stack=*/false, LLVM::TailCallKind::None,
                  LLVM::AsmDialectAttr(), ArrayAttr())
                  .getResult(0);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), out).getResult();
}

/// Prefetches `base` + every offset, each cache line once.
void TileEmitter::prefetch(Value memref, Index base, ArrayRef<Index> offsets) {
  constexpr int64_t lineBytes = 64;
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  llvm::SmallSet<int64_t, 16> lines;
  for (Index offset : offsets) {
    if (auto fixed = IndexMath::fixed(offset))
      if (!lines.insert(*fixed * bytes / lineBytes).second)
        continue;
    memref::PrefetchOp::create(b, loc, memref, m.value(m.add(base, offset)),
                               /*isWrite=*/false, /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

/// Prefetches W for `count` steps, `tile.prefetch` elements ahead of `w`.
void TileEmitter::prefetchW(Index w, int64_t count) {
  SmallVector<Index> offsets;
  for (int64_t u = 0; u < count; ++u)
    for (Index vector : tile.w.vectorOffset)
      offsets.push_back(
          m.add(vector, m.mul(m.constant(u), tile.loops.back().wStride)));
  prefetch(tile.w.memref, m.add(w, m.constant(tile.prefetch)), offsets);
}

/// `count` unrolled steps of the innermost loop from index `k` on.
SmallVector<Value> TileEmitter::steps(Index x, Index w, Index k, int64_t count,
                                      SmallVector<Value> acc) {
  const ReductionLoop &inner = tile.loops.back();
  Index xk = m.add(x, m.mul(k, inner.xStride));
  Index wk = m.add(w, m.mul(k, inner.wStride));
  if (tile.xVector)
    return stepsVector(xk, wk, count, std::move(acc));
  if (tile.prefetch)
    prefetchW(wk, count);
  for (int64_t u = 0; u < count; ++u) {
    Index step = m.constant(u);
    Index from = m.add(xk, m.mul(step, inner.xStride));
    acc = stepBroadcast(tile.opaqueSteps ? opaque(from) : from,
                        m.add(wk, m.mul(step, inner.wStride)), std::move(acc));
  }
  return acc;
}

/// Tells LLVM not to unroll a loop: it would share loads between steps, for
/// which there are no registers.
static void keepRolled(scf::ForOp loop) {
  MLIRContext *ctx = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(ctx, BoolAttr::get(ctx, true), {}, {},
                                          {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", LLVM::LoopAnnotationAttr::get(
                                            ctx, {}, {}, {}, unroll, {}, {}, {},
                                            {}, {}, {}, {}, {}, {}, {}, {}));
}

/// A loop that carries the accumulators; constant trips of at most one become
/// straight code.
template <typename Body>
SmallVector<Value> TileEmitter::forLoop(Index lower, Index upper, int64_t step,
                                        ArrayRef<Value> acc, Body body) {
  auto lo = IndexMath::fixed(lower), hi = IndexMath::fixed(upper);
  if (lo && hi && *hi <= *lo)
    return SmallVector<Value>(acc);
  if (lo && hi && *hi <= *lo + step)
    return body(lower, SmallVector<Value>(acc));
  Value first = m.value(lower), last = m.value(upper),
        by = m.value(m.constant(step));
  auto loop = scf::ForOp::create(b, loc, first, last, by, ValueRange(acc));
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  SmallVector<Value> next = body(Index(loop.getInductionVar()), carried);
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> TileEmitter::loop(unsigned depth, Index x, Index w,
                                     SmallVector<Value> acc) {
  const ReductionLoop &k = tile.loops[depth];
  Index zero = m.constant(0);
  if (depth + 1 < tile.loops.size())
    return forLoop(
        zero, k.count, 1, acc, [&](Index i, SmallVector<Value> sums) {
          Index here = m.add(x, m.mul(i, k.xStride));
          // The next iteration reads other lines of X, which the hardware
          // prefetcher does not predict.
          if (tile.prefetch && depth + 2 == tile.loops.size())
            prefetch(tile.x.memref, m.add(here, k.xStride), tile.x.rowOffset);
          return loop(depth + 1, here, m.add(w, m.mul(i, k.wStride)), sums);
        });
  if (tile.dot)
    return dotLoop(x, w, acc);
  Index unroll = m.constant(tile.unroll);
  Index whole = m.mul(m.div(k.count, unroll), unroll);
  acc = forLoop(zero, whole, tile.unroll, acc,
                [&](Index i, SmallVector<Value> sums) {
                  return steps(x, w, i, tile.unroll, sums);
                });
  return forLoop(whole, k.count, 1, acc, [&](Index i, SmallVector<Value> sums) {
    return steps(x, w, i, 1, sums);
  });
}

SmallVector<Value> emitMicroKernel(OpBuilder &b, Location loc,
                                   const MicroKernel &tile,
                                   ValueRange accumulators) {
  return TileEmitter(b, loc, tile)
      .loop(0, tile.x.base, tile.w.base, SmallVector<Value>(accumulators));
}

} // namespace mlc::cpu
