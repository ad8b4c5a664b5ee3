//===- WinogradEmit.cpp - 3×3 convolutions by Winograd's algorithm --------===//
//
//   for block of tile rows of this call's tasks
//     V[ξ][ib][q][ii]  = Bᵀ x B of every tile q         (scratch)
//     for group of output channels of this call's tasks
//       for ξ: M[ξ][q] = V[ξ][·][q] · U[ξ]              (the register tile)
//       for q: Y       = epilogue(Aᵀ M[·][q] A)
//
// Tiles that cross the lower or right edge read the last row or column again;
// the outputs that this affects lie outside the result.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Storage.h"
#include "codegen/cpu/WinogradPlan.h"
#include "codegen/cpu/WinogradTransform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace mlc::cpu {
namespace {
class WinogradEmitter : public ContractionEmitter {
public:
  WinogradEmitter(KernelBody &body, const Contraction &c,
                  const ContractionPlan &p, const WinogradPlan &wp)
      : ContractionEmitter(body, c, p), wp(wp),
        matrices(winogradMatrices(wp.m)) {}

  void emitTasks();

private:
  void tileBlock(Index group, Index channels0, Index channels1);
  void transformInput(Index row0, Index row1);
  void inputTile(Index tileRow, Index tileColumn, Index inputBlock, Index q);
  void products(Index vector, int64_t count, Index positions);
  void outputTiles(Index vector, int64_t count, Index row0, Index row1);
  void outputTile(Index vector, int64_t lane, int64_t count, Index tileRow,
                  Index tileColumn, Index q);
  void storePixels(const TilePosition &t, ArrayRef<Value> pixels, Index row,
                   Index column);
  SmallVector<Value> apply(const TransformMatrix &matrix, ArrayRef<Value> in);
  SmallVector<Value> apply2D(const TransformMatrix &matrix, ArrayRef<Value> in);
  Value scaled(double factor, Value v, Value plus);
  Index tilesAcross() { return eval(wp.tilesAcross); }

  const WinogradPlan &wp;
  const WinogradMatrices &matrices;
  Value v, products_;
};
} // namespace

/// factor·v + plus, `plus` may be null.
Value WinogradEmitter::scaled(double factor, Value v, Value plus) {
  if (factor == 1)
    return plus ? arith::AddFOp::create(b, loc, plus, v).getResult() : v;
  if (factor == -1 && plus)
    return arith::SubFOp::create(b, loc, plus, v);
  auto type = cast<VectorType>(v.getType());
  Value k = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type, Attribute(b.getF32FloatAttr(factor))));
  if (plus)
    return vector::FMAOp::create(b, loc, v, k, plus);
  return arith::MulFOp::create(b, loc, v, k);
}

/// matrix · in. Rows that come in pairs E + O, E − O share E and O (Bᵀ), and
/// columns that come in pairs a, ±a are added and subtracted first (Aᵀ).
SmallVector<Value> WinogradEmitter::apply(const TransformMatrix &matrix,
                                          ArrayRef<Value> in) {
  unsigned rows = matrix.rows, columns = matrix.columns;
  auto at = [&](unsigned r, unsigned c) { return matrix.at(r, c); };
  auto sum = [&](unsigned r, llvm::function_ref<bool(unsigned)> take,
                 ArrayRef<Value> values) {
    Value total;
    // A unit coefficient first: it needs no multiplication.
    for (int unit = 1; unit >= 0; --unit)
      for (unsigned c = 0; c < columns; ++c)
        if (at(r, c) != 0 && take(c) && (at(r, c) == 1) == bool(unit))
          total = scaled(at(r, c), values[c], total);
    return total;
  };
  SmallVector<Value> out(rows);
  if (rows == columns) {
    for (unsigned r = 0; r < rows; ++r) {
      auto pairs = [&](unsigned c) {
        return r + 1 < rows && std::abs(at(r, c)) == std::abs(at(r + 1, c));
      };
      bool paired = true;
      for (unsigned c = 0; c < columns; ++c)
        paired &= pairs(c);
      if (!paired) {
        out[r] = sum(r, [](unsigned) { return true; }, in);
        continue;
      }
      Value even =
          sum(r, [&](unsigned c) { return at(r, c) == at(r + 1, c); }, in);
      Value odd =
          sum(r, [&](unsigned c) { return at(r, c) != at(r + 1, c); }, in);
      out[r] = arith::AddFOp::create(b, loc, even, odd);
      out[r + 1] = arith::SubFOp::create(b, loc, even, odd);
      ++r;
    }
    return out;
  }
  // Columns (1,2), (3,4), …: sum and difference.
  SmallVector<Value> plus(in), minus(in);
  for (unsigned c = 1; c + 1 < columns; c += 2) {
    plus[c] = arith::AddFOp::create(b, loc, in[c], in[c + 1]);
    minus[c] = arith::SubFOp::create(b, loc, in[c], in[c + 1]);
  }
  for (unsigned r = 0; r < rows; ++r) {
    bool same = at(r, 1) == at(r, 2);
    out[r] = sum(
        r, [&](unsigned c) { return c == 0 || c % 2 == 1 || c + 1 == columns; },
        same ? plus : minus);
  }
  return out;
}

/// matrix · in · matrixᵀ of a square of vectors.
SmallVector<Value> WinogradEmitter::apply2D(const TransformMatrix &matrix,
                                            ArrayRef<Value> in) {
  unsigned n = matrix.columns, k = matrix.rows;
  SmallVector<Value> half(k * n), out(k * k);
  for (unsigned c = 0; c < n; ++c) {
    SmallVector<Value> column;
    for (unsigned r = 0; r < n; ++r)
      column.push_back(in[r * n + c]);
    for (auto [r, value] : llvm::enumerate(apply(matrix, column)))
      half[r * n + c] = value;
  }
  for (unsigned r = 0; r < k; ++r)
    for (auto [c, value] :
         llvm::enumerate(apply(matrix, ArrayRef<Value>(half).slice(r * n, n))))
      out[r * k + c] = value;
  return out;
}

void WinogradEmitter::inputTile(Index tileRow, Index tileColumn,
                                Index inputBlock, Index q) {
  int64_t n = wp.m + 2, block = *c.dims[p.vectorDim].extent.asConstant();
  Index rowStride = x.strides[p.rowDim], columnStride = x.strides[p.tileDim];
  Index start = m.add(base(x), m.mul(inputBlock, x.strides[wp.inputBlock]));
  SmallVector<Index> rowAt, columnAt;
  auto positions = [&](Index tile, int d, Index stride,
                       SmallVectorImpl<Index> &at) {
    Index first = m.mul(tile, m.constant(wp.m));
    auto size = IndexMath::fixed(extents[d]);
    bool inside = size && *size % wp.m == 0;
    Index last = m.add(extents[d], m.constant(1));
    for (int64_t i = 0; i < n; ++i) {
      Index here = m.add(first, m.constant(i));
      at.push_back(m.mul(inside ? here : m.min(here, last), stride));
    }
  };
  positions(tileRow, p.rowDim, rowStride, rowAt);
  positions(tileColumn, p.tileDim, columnStride, columnAt);
  VectorType type = vectorOf(c.accumulator);
  for (int64_t lane = 0; lane < block; lane += p.lanes) {
    SmallVector<Value> in;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        in.push_back(
            loadVector(b, loc, type, x.memref,
                       m.value(m.add(m.add(start, rowAt[i]),
                                     m.add(columnAt[j], m.constant(lane)))),
                       Value()));
    Index to =
        m.add(m.mul(m.add(m.mul(inputBlock, m.constant(wp.positions)), q),
                    m.constant(block)),
              m.constant(lane));
    for (auto [xi, value] : llvm::enumerate(apply2D(matrices.input, in)))
      storeVector(b, loc, value, v,
                  m.value(m.add(to, m.constant(xi * planeV(wp, block)))));
  }
}

void WinogradEmitter::transformInput(Index row0, Index row1) {
  Index across = tilesAcross();
  emitLoop(b, loc, m.constant(0), m.constant(wp.inputBlocks), 1, [&](Index ib) {
    emitLoop(b, loc, row0, row1, 1, [&](Index row) {
      Index q0 = m.mul(m.sub(row, row0), across);
      emitLoop(b, loc, m.constant(0), across, 1, [&](Index column) {
        inputTile(row, column, ib, m.add(q0, column));
      });
    });
  });
}

/// M[ξ][q][columns] for `count` vectors from `vector` on and all q. The last
/// register tile overlaps the one before if the positions do not divide evenly.
void WinogradEmitter::products(Index vector, int64_t count, Index positions) {
  int64_t block = *c.dims[p.vectorDim].extent.asConstant();
  int64_t perBlock = block / p.lanes, channels = wp.inputBlocks * block;
  Index perRow = m.constant(wp.rows);
  Index last = m.max(m.sub(positions, perRow), m.constant(0));
  MicroKernel k;
  k.accumulator = vectorOf(c.accumulator);
  k.rows = wp.rows;
  k.vectors = count;
  k.unroll = p.unroll;
  k.prefetch = kPrefetchSteps * block;
  k.x.memref = v;
  k.w.memref = w.memref;
  k.x.element = k.w.element = c.accumulator;
  for (int64_t r = 0; r < k.rows; ++r)
    k.x.rowOffset.push_back(m.constant(r * block));
  Index outerStride = m.constant(wp.points() * channels * block);
  for (int64_t i = 0; i < count; ++i)
    k.w.vectorOffset.push_back(
        count % perBlock ? m.constant(i * p.lanes)
                         : m.add(m.mul(m.constant(i / perBlock), outerStride),
                                 m.constant(i % perBlock * p.lanes)));
  k.loops = {{m.constant(wp.inputBlocks), m.constant(wp.positions * block),
              m.constant(block * block)},
             {m.constant(block), m.constant(1), m.constant(block)}};
  Index size = m.constant(perBlock);
  Index columns = m.add(m.mul(m.div(vector, size), outerStride),
                        m.mul(m.rem(vector, size), m.constant(p.lanes)));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(k.accumulator));
  emitLoop(b, loc, m.constant(0), m.constant(wp.points()), 1, [&](Index xi) {
    k.w.base = m.add(columns, m.mul(xi, m.constant(channels * block)));
    Index plane = m.mul(xi, m.constant(planeV(wp, block)));
    Index target = m.mul(xi, m.constant(planeM(wp, p)));
    emitLoop(
        b, loc, m.constant(0), m.ceilDiv(positions, perRow), 1, [&](Index t) {
          Index q = m.min(m.mul(t, perRow), last);
          k.x.base = m.add(plane, m.mul(q, m.constant(block)));
          SmallVector<Value> sums = emitMicroKernel(
              b, loc, k, SmallVector<Value>(k.rows * count, zero));
          Index to = m.add(target, m.mul(q, m.constant(count * p.lanes)));
          for (auto [i, sum] : llvm::enumerate(sums))
            storeVector(b, loc, sum, products_,
                        m.value(m.add(to, m.constant(int64_t(i) * p.lanes))));
        });
  });
}

/// Runs the epilogue for the m×m pixels of a tile and stores those that exist.
void WinogradEmitter::storePixels(const TilePosition &t, ArrayRef<Value> pixels,
                                  Index row, Index column) {
  positions.clear();
  auto place = [&](const RuntimeAccess &a) {
    TileOperand &o = positions[&a];
    o.memref = a.memref;
    o.base = m.add(base(a), m.add(m.mul(row, a.strides[p.rowDim]),
                                  m.mul(column, a.strides[p.tileDim])));
    for (int64_t i = 0; i < wp.m * wp.m; ++i)
      o.rowOffset.push_back(
          m.add(m.mul(m.constant(i / wp.m), a.strides[p.rowDim]),
                m.mul(m.constant(i % wp.m), a.strides[p.tileDim])));
    addVectorPosition(a, t.vector, 1, o.base, o.vectorOffset);
  };
  for (const RuntimeAccess &a : loads)
    place(a);
  for (const RuntimeAccess &a : outputs)
    place(a);
  const EpilogueNode &init = c.nodes[c.init];
  bool zeroInit = init.kind == EpilogueNode::Kind::Scalar &&
                  matchPattern(init.scalar, m_AnyZeroFloat());
  SmallVector<Value> complete(pixels);
  sums = complete;
  auto inside = [&](Index first, int64_t i, int d) -> Value {
    auto size = IndexMath::fixed(extents[d]);
    if (i == 0 || (size && *size % wp.m == 0))
      return Value();
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                 m.value(m.add(first, m.constant(i))),
                                 m.value(extents[d]));
  };
  for (int64_t i = 0; i < wp.m * wp.m; ++i) {
    Value rowInside = inside(row, i / wp.m, p.rowDim);
    Value columnInside = inside(column, i % wp.m, p.tileDim);
    Value both =
        rowInside && columnInside
            ? arith::AndIOp::create(b, loc, rowInside, columnInside).getResult()
        : rowInside ? rowInside
                    : columnInside;
    OpBuilder::InsertionGuard guard(b);
    if (both) {
      auto branch = scf::IfOp::create(b, loc, both);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    computed.clear();
    if (!zeroInit)
      complete[i] =
          arith::AddFOp::create(b, loc, pixels[i], evalNode(c.init, t, i, 0));
    SmallVector<Value> values;
    for (const ContractionOutput &o : c.outputs)
      values.push_back(evalNode(o.node, t, i, 0));
    for (auto [value, a] : llvm::zip_equal(values, outputs))
      store(a, t, i, 0, value);
  }
  computed.clear();
}

void WinogradEmitter::outputTile(Index vector, int64_t lane, int64_t count,
                                 Index tileRow, Index tileColumn, Index q) {
  VectorType type = vectorOf(c.accumulator);
  Index from = m.mul(m.add(m.mul(q, m.constant(count)), m.constant(lane)),
                     m.constant(p.lanes));
  SmallVector<Value> in;
  for (int64_t xi = 0; xi < wp.points(); ++xi)
    in.push_back(loadVector(
        b, loc, type, products_,
        m.value(m.add(from, m.constant(xi * planeM(wp, p)))), Value()));
  SmallVector<Value> pixels = apply2D(matrices.output, in);
  TilePosition t{
      m.constant(0), wp.m * wp.m,        m.add(vector, m.constant(lane)), 1,
      Value(),       m.constant(p.lanes)};
  storePixels(t, pixels, m.mul(tileRow, m.constant(wp.m)),
              m.mul(tileColumn, m.constant(wp.m)));
}

void WinogradEmitter::outputTiles(Index vector, int64_t count, Index row0,
                                  Index row1) {
  Index across = tilesAcross();
  for (int64_t lane = 0; lane < count; ++lane)
    emitLoop(b, loc, row0, row1, 1, [&](Index row) {
      Index q0 = m.mul(m.sub(row, row0), across);
      emitLoop(b, loc, m.constant(0), across, 1, [&](Index column) {
        outputTile(vector, lane, count, row, column, m.add(q0, column));
      });
    });
}

/// One block of tile rows, and channel groups [channels0, channels1) of it.
void WinogradEmitter::tileBlock(Index group, Index channels0, Index channels1) {
  Index blocks = eval(wp.blocks), down = eval(wp.tilesDown);
  Index rest = m.div(group, blocks);
  for (int d : llvm::reverse(p.outer)) {
    at[d] = m.rem(rest, extents[d]);
    rest = m.div(rest, extents[d]);
  }
  Index row0 = m.mul(m.rem(group, blocks), m.constant(wp.tileRows));
  Index row1 = m.min(m.add(row0, m.constant(wp.tileRows)), down);
  transformInput(row0, row1);
  Index positions = m.mul(m.sub(row1, row0), tilesAcross());
  Index all = eval(totalVectors(c, p));
  Index step = m.constant(p.vectorBlock * p.vectors);
  Index lower = m.mul(channels0, step);
  Index upper = m.min(m.mul(channels1, step), all);
  int64_t count = *IndexMath::fixed(all), full = count / p.vectors * p.vectors;
  auto column = [&](int64_t size) {
    return [&, size](Index vector) {
      products(vector, size, positions);
      outputTiles(vector, size, row0, row1);
    };
  };
  emitLoop(b, loc, lower, m.min(upper, m.constant(full)), p.vectors,
           column(p.vectors));
  if (int64_t left = count - full)
    emitLoop(b, loc, m.max(lower, m.constant(full)), upper, left, column(left));
}

void WinogradEmitter::emitTasks() {
  prepare();
  fillPadding();
  int64_t block = *c.dims[p.vectorDim].extent.asConstant();
  v = body.scratchView(IntExpr::constant(c.context, 0), c.accumulator);
  products_ = body.scratchView(
      IntExpr::constant(c.context, wp.points() * planeV(wp, block) * 4),
      c.accumulator);
  eachGroup(p.vectorBlocks,
            [&](Index g, Index from, Index to) { tileBlock(g, from, to); });
}

bool acceptsWinograd(const Kernel &kernel, const Target &target) {
  return winogradArgument(kernel).has_value();
}

FailureOr<EmittedKernel> emitWinogradKernel(KernelBody &body) {
  std::string why;
  FailureOr<Contraction> c = matchContraction(body.kernel, why);
  ContractionPlan p;
  WinogradPlan wp;
  if (failed(c) ||
      failed(planWinograd(body.kernel, body.target, *c, p, wp, why)))
    return func::FuncOp(body.kernel.function)
               .emitError("no Winograd convolution: ")
           << why;
  WinogradEmitter(body, *c, p, wp).emitTasks();
  return EmittedKernel{p.tasks,
                       IntExpr::constant(c->context, p.scratchBytes),
                       {},
                       factorsOf(body.kernel, *c)};
}

} // namespace mlc::cpu
