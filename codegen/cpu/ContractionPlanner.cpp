//===- ContractionPlanner.cpp - Register tile, blocking, tasks ------------===//
//
// The cost of a register tile of r positions × v vectors per reduction step is
// the largest of: r·v fused multiply-adds on two ports, r + v loads on two
// ports, four cycles of latency between additions to one accumulator, and the
// bandwidth of W from the second-level cache. Tiles never exceed the register
// file: r·v accumulators, v vectors of W and one broadcast.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ContractionPlanner.h"
#include "codegen/cpu/Storage.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace mlc::cpu {

IntExpr totalVectors(const Contraction &c, const ContractionPlan &p) {
  if (p.vectorDim < 0)
    return IntExpr::constant(c.context, 1);
  IntExpr inner = c.dims[p.vectorDim].extent;
  if (p.vectorOuter < 0)
    return inner.ceilDiv(p.lanes);
  if (c.splitBound)
    return c.splitBound.ceilDiv(p.lanes);
  return c.dims[p.vectorOuter].extent * (*inner.asConstant() / p.lanes);
}

IntExpr rowUnits(const Contraction &c, const ContractionPlan &p) {
  if (p.flat)
    return IntExpr::constant(c.context, 1);
  if (p.rowDim >= 0)
    return c.dims[p.rowDim].extent;
  if (p.tileDim < 0)
    return IntExpr::constant(c.context, 1);
  return c.dims[p.tileDim].extent.ceilDiv(p.rows);
}

double registerTileCost(const Target &target, int64_t lanes,
                        int64_t elementBytes, int64_t r, int64_t v,
                        double steps) {
  double fma = r * v / 2.0, loads = (r + v) / 2.0, latency = 4;
  double issue = (r * v + r + v) / (target.vectorRegisters > 16 ? 6.0 : 4.0);
  double stream = double(v * lanes * elementBytes) / 32;
  double step = std::max({fma, loads, latency, issue, stream});
  return steps * step + 12 + 1.5 * r * v;
}

int64_t passSteps(const Contraction &c, const ContractionPlan &p) {
  int64_t steps = 1;
  for (auto [i, d] : llvm::enumerate(p.reduction))
    steps *=
        i == 0 && p.chunk ? p.chunk : c.dims[d].extent.asConstant().value_or(1);
  return steps;
}

static int64_t alignUp(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

int64_t packedRow(const Contraction &c, const ContractionPlan &p) {
  // One cache line more than a power-of-two stride, so that rows fall into
  // different sets of the first-level cache.
  return alignUp(passSteps(c, p), 64) + 16;
}

int64_t packedWBytes(const Contraction &c, const ContractionPlan &p) {
  int64_t element = storageBytes(c.accumulator);
  return alignUp(
      p.vectorBlock * p.vectors * p.lanes * passSteps(c, p) * element, 64);
}

int64_t packedXBytes(const Contraction &c, const ContractionPlan &p) {
  int64_t element = storageBytes(c.accumulator);
  return alignUp(p.rowBlock * p.rows * packedRow(c, p) * element, 64);
}

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t Planner::vectorUnits() const {
  if (p.vectorDim < 0)
    return 1;
  if (p.dot)
    return extent(p.vectorDim);
  return ceilDiv(extent(p.vectorDim), p.lanes) *
         (p.vectorOuter < 0 ? 1 : extent(p.vectorOuter));
}

double Planner::tileCost(int64_t r, int64_t v, double steps) const {
  return registerTileCost(target, p.lanes, bytes(c.w.element), r, v, steps);
}

double Planner::totalCost(int64_t mr, int64_t nv, double steps,
                          int64_t positions, int64_t vectors) const {
  int64_t mTiles = ceilDiv(positions, mr), base = positions / mTiles;
  int64_t larger = positions % mTiles;
  auto column = [&](int64_t v) {
    return larger * tileCost(base + 1, v, steps) +
           (mTiles - larger) * tileCost(base, v, steps);
  };
  const int64_t full = vectors / nv;
  double cost = full * column(nv);
  if (vectors % nv)
    cost += column(vectors % nv);
  return cost;
}

/// Sets the best tile of a row of `positions`, in blocks of `block` vectors (0
/// for none), and returns its cost.
double Planner::searchTile(int64_t positions, int64_t block) {
  int64_t total = vectorUnits();
  double best = std::numeric_limits<double>::max();
  for (int64_t v = 1; v <= std::min<int64_t>(total, p.tileDim < 0 ? 8 : 4);
       ++v) {
    if (block && v % block && block % v)
      continue;
    int64_t most = (target.vectorRegisters - 1 - v) / v;
    for (int64_t r = std::min(most, positions); r >= 1; --r) {
      double cost = totalCost(r, v, reductionSteps(), positions, total);
      if (cost < best * 0.995) {
        best = cost;
        p.rows = r;
        p.vectors = v;
      }
    }
  }
  return best;
}

/// A small image whose rows fill tiles badly is tiled across its rows; every
/// tile then has code of its own, so there must be few.
void Planner::chooseFlat(double rowsCost, int64_t block) {
  constexpr int64_t mostTiles = 12;
  if (p.rowDim < 0 || !fixed(c.dims[p.rowDim].extent) ||
      !fixed(c.dims[p.tileDim].extent))
    return;
  int64_t positions = extent(p.rowDim) * extent(p.tileDim);
  ContractionPlan before = p;
  if (searchTile(positions, block) < 0.93 * rowsCost &&
      ceilDiv(positions, p.rows) <= mostTiles)
    p.flat = true;
  else
    p = before;
}

/// Steps to unroll of an innermost loop of `count`: about `aim`, without a
/// remainder.
static int64_t chooseUnroll(int64_t count, int64_t aim) {
  if (count <= 2 * aim)
    return count <= aim || count % 2 ? count : count / 2;
  for (int64_t u = aim; u > aim / 2; --u)
    if (count % u == 0)
      return u;
  return aim;
}

void Planner::chooseTile() {
  if (p.dot)
    return;
  int64_t regs = target.vectorRegisters;
  int64_t inner = p.reduction.empty() ? 1 : extent(p.reduction.back());
  p.unroll = chooseUnroll(inner, regs > 16 ? 4 : 8);
  if (p.xVector) {
    p.vectors = 1;
    p.unroll = std::min<int64_t>(inner, 7);
    p.rows = std::clamp<int64_t>(regs - 2 * p.unroll - 2, 4, 14);
    p.rows = std::min(p.rows, extent(p.tileDim));
    return;
  }
  int64_t block =
      p.vectorOuter < 0 ? 0 : *fixed(c.dims[p.vectorDim].extent) / p.lanes;
  double rowCost = searchTile(extent(p.tileDim), block);
  chooseFlat(rowCost * extent(p.rowDim), block);
  if (p.vectorDim < 0)
    p.lanes = 1;
}

void Planner::choosePacking() {
  if (p.xVector || p.dot || p.vectorDim < 0)
    return;
  int64_t tiles = ceilDiv(extent(p.tileDim), p.rows) * extent(p.rowDim);
  int k = p.reduction.empty() ? -1 : p.reduction.back();
  bool unit = is(c.w.strides[p.vectorDim], 1);
  bool panel = p.vectorOuter >= 0 || k < 0 ||
               (fixed(c.w.strides[k]) && *fixed(c.w.strides[k]) <= 64);
  p.packW = !unit || (!panel && tiles >= 4);
  for (unsigned i = 1; i < p.reduction.size(); ++i)
    p.packW &= fixed(c.dims[p.reduction[i]].extent).has_value();
  if (!unit && !p.packW)
    useSingleLanes();
  choosePackingX();
}

/// Decides whether to copy rows of X to scratch, for a single reduction loop.
void Planner::choosePackingX() {
  bool casts = !c.xCasts.empty();
  if (p.tileDim < 0 || p.flat || p.reduction.size() != 1 || p.rows <= 2 ||
      vectorUnits() < 2 * p.vectors)
    return;
  // A block holds rows of one index of rowDim; panels of W are then made for
  // each, which costs less than casting X for each column of tiles does.
  constexpr int64_t fewest = 4;
  if (p.rowDim >= 0 && (!casts || (p.packW && extent(p.tileDim) < fewest)))
    return;
  // Rows a multiple of 1 KiB apart compete for a few sets of the first level
  // cache; rows at unknown distances cost an address register each.
  auto stride = fixed(c.x.strides[p.tileDim]);
  bool aliases = !stride || (*stride * bytes(c.x.element)) % 1024 == 0;
  // Packing casts X once for all columns.
  p.packX = casts || (aliases && stride != 1);
  if (p.packX && p.rowDim >= 0)
    p.outer.push_back(std::exchange(p.rowDim, -1));
}

/// Bytes of X that one row of tiles touches: dims by rising stride, overlapping
/// windows (kernel dims) counted once.
double Planner::xBytesPerRow() const {
  SmallVector<std::pair<int64_t, int64_t>> steps;
  SmallVector<int> dims(p.reduction);
  dims.push_back(p.tileDim);
  for (int d : dims)
    if (d >= 0 && value(c.x.strides[d]))
      steps.push_back({value(c.x.strides[d]), extent(d)});
  llvm::sort(steps);
  double span = 1, distinct = 1;
  for (auto [stride, count] : steps) {
    bool overlaps = stride < span;
    distinct =
        overlaps ? distinct + double(count - 1) * stride : distinct * count;
    span += double(count - 1) * stride;
    distinct = std::min(distinct, span);
  }
  return distinct * bytes(c.x.element);
}

/// A row times a matrix in memory is bound by bandwidth. Reading a few rows of
/// W side by side, each in order, streams; walking down a column of tiles
/// touches a new page with every step. The sums stay in the first-level cache.
void Planner::chooseStreaming() {
  constexpr int64_t streams = 8, pageBytes = 4096;
  if (p.tileDim >= 0 || p.rowDim >= 0 || p.packW || p.xVector || p.dot ||
      p.vectorDim < 0 || p.vectorOuter >= 0 || p.reduction.size() != 1 ||
      c.outputs[0].access.element != c.accumulator)
    return;
  int k = p.reduction[0];
  if (value(c.w.strides[k]) * bytes(c.w.element) < pageBytes ||
      extent(k) < 2 * streams)
    return;
  p.chunk = streams;
  p.unroll = streams;
}

void Planner::chooseBlocks() {
  double steps = reductionSteps(), l2 = target.l2Bytes;
  int64_t wBytes = bytes(c.w.element), xBytes = bytes(c.x.element);
  bool accumulates = c.outputs[0].access.element == c.accumulator;
  int64_t tileWidth = p.vectors * p.lanes;
  int64_t tiles = ceilDiv(extent(p.tileDim), p.rows);
  bool repeats = tiles * extent(p.rowDim) > 1;
  // Reduction steps of a pass: the panel of W for one tile column stays in the
  // second-level cache together with the rows of X that it is multiplied with.
  if (!p.reduction.empty() && accumulates && !p.dot) {
    int k = p.reduction[0];
    double inner = steps / extent(k);
    double most =
        (p.packW || p.packX ? 1024.0 : l2 / 3 / (tileWidth * wBytes)) / inner;
    bool open = !fixed(c.dims[k].extent);
    bool needed = open ? p.packW || p.packX : repeats && extent(k) > most;
    if (needed) {
      int64_t limit = std::max<int64_t>(1, int64_t(most));
      int64_t passes = open ? 1 : ceilDiv(extent(k), limit);
      p.chunk = open ? limit : ceilDiv(extent(k), passes);
      if (p.reduction.size() == 1)
        p.chunk = ceilDiv(p.chunk, 16) * 16;
    }
  }
  if (!accumulates && !p.reduction.empty() &&
      !fixed(c.dims[p.reduction[0]].extent)) {
    p.packX = false; // the whole reduction would have to fit the scratch
    if (p.packW && !is(c.w.strides[p.vectorDim], 1))
      useSingleLanes();
    p.packW = false;
  }
  chooseStreaming();
  double passSteps = p.chunk ? steps / extent(p.reduction[0]) * p.chunk : steps;
  int64_t vectorTiles = ceilDiv(vectorUnits(), p.vectors);
  p.vectorBlock = vectorTiles;
  // Panels stream from the third-level cache with prefetches; every column
  // block packs the rows of X again, so there should be few.
  if (p.packW) {
    double room = target.l3Bytes / 4.0 / (passSteps * tileWidth * wBytes);
    p.vectorBlock = std::clamp<int64_t>(room, 1, vectorTiles);
    p.vectorBlock = ceilDiv(vectorTiles, ceilDiv(vectorTiles, p.vectorBlock));
  }
  int64_t units = p.flat ? 1 : p.rowDim >= 0 ? extent(p.rowDim) : tiles;
  double perUnit = p.packX ? p.rows * passSteps * xBytes
                   : p.rowDim >= 0
                       ? xBytesPerRow()
                       : xBytesPerRow() / std::max<int64_t>(1, tiles);
  double room = l2 / 2 / std::max(perUnit, 1.0);
  p.rowBlock = std::clamp<int64_t>(room, 1, std::max<int64_t>(1, units));
  p.rowBlock = ceilDiv(units, ceilDiv(units, p.rowBlock));
}

/// Tasks of a contraction that packs: each range of tasks that a thread runs
/// packs its own operands, so tasks are few and large.
void Planner::splitPacked(double cycles) {
  double wanted = std::clamp(cycles / 100000, 1.0, p.packW ? 8.0 : 16.0);
  int64_t units = ceilDiv(extent(p.tileDim), p.rows);
  int64_t vectorTiles = ceilDiv(vectorUnits(), p.vectors);
  int64_t columns = ceilDiv(vectorTiles, p.vectorBlock);
  if (p.packW && wanted >= 4 && vectorTiles >= 8)
    columns = std::max<int64_t>(columns, 2);
  p.vectorBlock = ceilDiv(vectorTiles, columns);
  double outer = columns;
  for (int d : p.outer)
    outer *= extent(d);
  int64_t blocks = std::clamp<int64_t>(std::ceil(wanted / outer),
                                       ceilDiv(units, p.rowBlock), units);
  p.rowBlock = ceilDiv(units, blocks);
}

/// Splits rows, then columns, until there is work for many threads, but keeps
/// a task above about ten microseconds.
void Planner::chooseTasks() {
  int64_t tiles = ceilDiv(extent(p.tileDim), p.rows);
  int64_t units = p.flat ? 1 : p.rowDim >= 0 ? extent(p.rowDim) : tiles;
  int64_t vectorTiles = ceilDiv(vectorUnits(), p.vectors);
  double outer = 1;
  for (int d : p.outer)
    outer *= extent(d);
  double cycles = outer * units * (p.rowDim >= 0 ? tiles : 1) * vectorTiles *
                  tileCost(p.rows, p.vectors, reductionSteps());
  double wanted = std::clamp(cycles / 30000, 1.0, 48.0);
  if (p.packW || p.packX)
    return splitPacked(cycles);
  auto count = [&] {
    return outer * ceilDiv(units, p.rowBlock) *
           ceilDiv(vectorTiles, p.vectorBlock);
  };
  double wSize = reductionSteps() * vectorUnits() * p.lanes;
  double xSize = units * xBytesPerRow() / bytes(c.x.element) /
                 (p.rowDim >= 0 ? 1 : std::max<int64_t>(1, units));
  bool rowsFirst = xSize > wSize / 4 && !p.packW;
  // Pieces of a row shorter than a page would not stream.
  int64_t shortest =
      p.tileDim < 0 && p.chunk ? ceilDiv(1024, p.vectors * p.lanes) : 1;
  for (int turn = 0; turn < 2; ++turn) {
    if (rowsFirst == (turn == 0)) {
      double factor = std::max(1.0, wanted / count());
      int64_t blocks = std::min<double>(
          units, std::ceil(ceilDiv(units, p.rowBlock) * factor));
      p.rowBlock = ceilDiv(units, std::max<int64_t>(1, blocks));
    } else {
      double factor = std::max(1.0, wanted / count());
      int64_t blocks = std::min<double>(
          vectorTiles, std::ceil(ceilDiv(vectorTiles, p.vectorBlock) * factor));
      p.vectorBlock = std::max(
          shortest, ceilDiv(vectorTiles, std::max<int64_t>(1, blocks)));
    }
  }
}

/// Notes where unrolled steps of neighbouring positions read the same elements
/// of X.
void Planner::findSharedSteps() {
  if (p.reduction.empty() || p.tileDim < 0 || p.xVector || p.dot || p.packX)
    return;
  auto step = fixed(c.x.strides[p.reduction.back()]);
  auto position = fixed(c.x.strides[p.tileDim]);
  if (step && position && *step > 0 && *position > 0)
    p.opaqueSteps = *position < *step * p.unroll;
}

void countTasks(const Contraction &c, ContractionPlan &p, IntExpr blocks) {
  p.interior = p.groups * blocks;
  p.tasks = p.interior;
  if (p.interior.isKnownPositive())
    return;
  IntExpr one = IntExpr::constant(c.context, 1), padded = one * 0;
  for (const ContractionOutput &o : c.outputs) {
    if (o.pads.empty())
      continue;
    IntExpr elements = one;
    for (const PaddedDim &d : o.pads)
      elements = elements * (d.low + d.interior + d.high);
    padded = padded + elements;
  }
  if (!padded.isConstant(0))
    p.tasks = IntExpr::max(p.tasks, IntExpr::min(one, padded));
}

/// Tasks and scratch as expressions of the sizes.
void Planner::finish() {
  IntExpr one = constant(1);
  IntExpr perBlock = constant(p.vectorBlock * p.vectors);
  p.vectorBlocks = p.vectorDim < 0 ? one : totalVectors(c, p).ceilDiv(perBlock);
  p.groups = p.vectorBlocks;
  for (int d : p.outer)
    p.groups = p.groups * c.dims[d].extent;
  p.rowBlocks = rowUnits(c, p).ceilDiv(p.rowBlock);
  countTasks(c, p, p.rowBlocks);
  if (p.packW)
    p.scratchBytes += packedWBytes(c, p);
  if (p.packX)
    p.scratchBytes += packedXBytes(c, p);
}

ContractionPlan Planner::run() {
  simplifyLoops(c);
  chooseRoles();
  chooseTile();
  choosePacking();
  chooseBlocks();
  chooseTasks();
  findSharedSteps();
  if (!p.xVector && !p.dot && p.tileDim >= 0)
    p.prefetch = kPrefetchSteps;
  finish();
  return p;
}

ContractionPlan planContraction(Contraction &c, const Target &target) {
  return Planner(c, target).run();
}

} // namespace mlc::cpu
