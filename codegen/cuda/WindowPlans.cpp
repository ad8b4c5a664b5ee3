//===- WindowPlans.cpp - How windows are shared out -----------------------===//

#include "codegen/cuda/WindowPlans.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

/// In a band, a run of rows begins anywhere in 16 bytes.
int64_t PlanesPlan::segment(int64_t bytesOfElement) const {
  int64_t wide = 16 / bytesOfElement;
  int64_t count = std::min(rows().span(band), inRows) * inRow;
  return llvm::alignTo(count + wide - 1, wide);
}

/// Places everything in shared memory.
void PlanesPlan::place(const Kernel &kernel) {
  tiles.clear();
  weights.clear();
  bytes = 0;
  auto add = [&](int64_t count, int64_t each) {
    int64_t at = bytes;
    bytes += llvm::alignTo(count * each, 16);
    return at;
  };
  for (unsigned input : w.inputs) {
    int64_t each = storageBytes(elementOf(kernel.inputs[input]));
    tiles.push_back(add(band ? w.channels * segment(each)
                             : groups * w.channels * inPlane() + 16 / each,
                        each));
  }
  for (const WindowWeights &own : w.weights)
    weights.push_back(add(std::max<int64_t>(groups, 1) * own.perGroup,
                          storageBytes(elementOf(kernel.inputs[own.input]))));
  int64_t outputs = band ? band * outRow : groups * outPlane();
  if (!isDirect)
    sums = add(outputs * w.results, storageBytes(sum));
}

/// Chooses the elements next to each other that a thread computes, and whether
/// it finishes them itself. Lanes should not meet in banks of shared memory
/// more often than twice, and write runs of whole sectors.
static void chooseColumns(const Kernel &kernel, PlanesPlan &plan) {
  constexpr int64_t mostBytes = 8, leastRun = 64, pair = 2;
  const WindowDim &last = plan.w.dims.back();
  if (plan.w.dims.size() == 1)
    return;
  int64_t out = last.out.getConstant(), in = 1, least = 8;
  for (unsigned input : plan.w.inputs)
    in = std::max(in, storageBytes(elementOf(kernel.inputs[input])));
  for (Value output : kernel.outputs)
    least = std::min(least, storageBytes(elementOf(output)));
  if (last.dilation == 1 && last.kernel > 1 && out % pair == 0 &&
      pair * last.stride * in <= mostBytes)
    plan.columns = pair;
  plan.isDirect = out * least >= leastRun;
}

/// How many elements below each other a thread computes: rows are read for
/// several, but fewer threads have less to do at the same time.
static int64_t choosePerThread(const PlanesPlan &plan, const Target &target) {
  if (plan.w.dims.size() == 1)
    return 1;
  int64_t inner = 1;
  for (const WindowDim &dim : ArrayRef(plan.w.dims).drop_front())
    inner *= dim.kernel;
  int64_t innerReads = inner / plan.w.dims.back().kernel * plan.columnReads();
  inner *= plan.columns;
  constexpr int64_t mostProducts = 256, most = 8, threadsOfUnit = 256;
  // A read of shared memory with its bounds takes as long as some products.
  constexpr double read = 3;
  double leastCost = 0;
  int64_t best = 1;
  double columns = 1 << 20;
  if (std::optional<int64_t> groups = plan.w.groups.asConstant())
    columns =
        double(*groups) * plan.w.results * double(plan.outRow / plan.columns);
  for (int64_t count = 1; count <= std::min(most, plan.outRows); ++count) {
    int64_t products = count * plan.rows().kernel * inner;
    if (count > 1 && products > mostProducts)
      break;
    int64_t steps = llvm::divideCeil(plan.outRows, count);
    double cost = double(steps) *
                  (read * plan.rows().span(count) * innerReads + products);
    double wanted = double(threadsOfUnit) * target.cost.units;
    cost *= std::max(1.0, wanted / (columns * steps));
    if (count == 1 || cost < leastCost) {
      leastCost = cost;
      best = count;
    }
  }
  return best;
}

/// The widest vectors by which results can be finished.
static int64_t chooseWidth(const Kernel &kernel, const PlanesPlan &plan) {
  int64_t widest = 1;
  for (Value output : kernel.outputs)
    widest = std::max(widest, storageBytes(elementOf(output)));
  for (const Read &read : plan.w.reads)
    widest =
        std::max(widest, storageBytes(elementOf(kernel.inputs[read.input])));
  int64_t width = 16 / widest;
  auto suits = [&] {
    if (plan.band)
      return plan.outPlane() % width == 0 &&
             plan.band * plan.outRow % width == 0;
    int64_t ofGroup = plan.w.results * plan.outPlane();
    return plan.groups * ofGroup % width == 0 &&
           (plan.w.groups * ofGroup).mod(width).isConstant(0);
  };
  while (width > 1 && !suits())
    width /= 2;
  // Vectors within a plane need what is the same for it once.
  int64_t inPlane = width;
  while (plan.outPlane() % inPlane != 0)
    inPlane /= 2;
  int64_t vectors = kernel.outputs.size() + plan.w.reads.size();
  bool isBetter = (vectors + plan.otherReads) * width <=
                  (vectors + plan.otherReads * width) * inPlane;
  return isBetter ? inPlane : width;
}

/// Bytes of shared memory of a task, and the most of a band that has one row.
constexpr int64_t sharedOfTask = 24 << 10, sharedOfRow = 48 << 10;

/// Chooses how many whole groups a task has. False if not even one fits.
static bool chooseGroups(const Kernel &kernel, PlanesPlan &plan,
                         const Target &target) {
  constexpr int64_t itemsOfTask = 2 * threads;
  auto fits = [&](int64_t groups) {
    plan.groups = groups;
    plan.place(kernel);
    return plan.bytes <= sharedOfTask;
  };
  if (!fits(1))
    return false;
  std::optional<int64_t> all = plan.w.groups.asConstant();
  int64_t wanted = llvm::divideCeil(itemsOfTask, plan.items());
  // Each multiprocessor should have several tasks: while one waits, others
  // compute.
  constexpr int64_t tasksOfUnit = 4;
  if (all)
    wanted = std::min(
        wanted, std::max<int64_t>(*all / (tasksOfUnit * target.cost.units), 1));
  while (wanted > 1 && !fits(wanted))
    wanted /= 2;
  // Of about so many, those whose results are runs of the widest vectors.
  int64_t best = wanted, widest = 0;
  for (int64_t groups = wanted; groups <= 2 * wanted; ++groups) {
    if (!fits(groups))
      break;
    int64_t width = chooseWidth(kernel, plan);
    if (width > widest) {
      widest = width;
      best = groups;
    }
  }
  fits(best);
  return true;
}

/// Chooses how many rows a band has. False if one row takes too much.
static bool chooseBand(const Kernel &kernel, PlanesPlan &plan) {
  plan.groups = 0;
  auto fits = [&](int64_t band, int64_t limit) {
    plan.band = band;
    plan.place(kernel);
    return plan.bytes <= limit;
  };
  int64_t step = plan.perThread, band = step;
  if (!fits(step, sharedOfTask)) {
    plan.perThread = band = step = 1;
    if (!fits(1, sharedOfRow))
      return false;
  }
  while (band < plan.outRows && fits(band + step, sharedOfTask))
    band += step;
  // All bands alike.
  int64_t bands = llvm::divideCeil(plan.outRows, band);
  band = std::min(band, int64_t(llvm::alignTo(
                            llvm::divideCeil(plan.outRows, bands), step)));
  fits(band, sharedOfRow);
  return true;
}

/// Keeps the epilogue's reads in the order of the results, and counts others.
static void takeVectorReads(const Kernel &kernel, PlanesPlan &plan) {
  SmallVector<int> inOrder;
  for (auto [d, extent] : llvm::enumerate(plan.w.shape(kernel)))
    inOrder.push_back(extent.isConstant(1) ? -1 : int(d));
  size_t all = plan.w.reads.size();
  llvm::erase_if(plan.w.reads,
                 [&](const Read &read) { return read.dims != inOrder; });
  plan.otherReads = all - plan.w.reads.size();
}

std::optional<PlanesPlan> planPlanes(const Kernel &kernel,
                                     const EmitOptions &options) {
  std::optional<Windows> windows =
      matchWindows(kernel, options, WindowForm::Planes);
  if (!windows)
    return std::nullopt;
  PlanesPlan plan;
  plan.w = *windows;
  takeVectorReads(kernel, plan);

  plan.sum = elementOf(plan.w.op->getResult(0));
  std::string type = computeType(plan.sum);
  if (type.empty() || type == "bool" || type == "Index" || kernel.repeats > 1)
    return std::nullopt;
  for (auto [i, dim] : llvm::enumerate(plan.w.dims)) {
    int64_t in = dim.in.asConstant().value_or(0);
    int64_t out = dim.out.asConstant().value_or(0);
    if (in < 1 || out < 1)
      return std::nullopt;
    (i == 0 ? plan.inRows : plan.inRow) *= in;
    (i == 0 ? plan.outRows : plan.outRow) *= out;
  }
  // Sums of whole planes are for rows.
  if (plan.outPlane() == 1)
    return std::nullopt;
  for (unsigned input : plan.w.inputs)
    if (storageBytes(elementOf(kernel.inputs[input])) > 8)
      return std::nullopt;
  chooseColumns(kernel, plan);
  plan.perThread = choosePerThread(plan, options.target);
  if (!chooseGroups(kernel, plan, options.target) && !chooseBand(kernel, plan))
    return std::nullopt;
  plan.width = chooseWidth(kernel, plan);
  int64_t rounds = llvm::divideCeil(plan.items(), threads);
  plan.block = std::clamp<int64_t>(
      llvm::alignTo(llvm::divideCeil(plan.items(), rounds), 32), 64, threads);
  return plan;
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

SmallVector<IntExpr> PixelsPlan::extents(const Kernel &kernel) const {
  SmallVector<IntExpr> all(w.shape(kernel));
  all[w.first] = all[w.first].ceilDiv(rows);
  unsigned last = w.first + w.dims.size() - 1;
  if (hasColumns())
    all[last] = all[last].ceilDiv(columns);
  all.pop_back();
  return all;
}

SmallVector<IntExpr> PixelsPlan::parts(const Kernel &kernel) const {
  SmallVector<IntExpr> all = extents(kernel);
  if (across == 0)
    return {elementCount(all, kernel.context()).ceilDiv(tiles)};
  all[w.first] = all[w.first].ceilDiv(down());
  all.back() = all.back().ceilDiv(across);
  return all;
}

/// Whether the epilogue's read has neighbouring channels.
bool isVector(const Windows &w, const Read &read) {
  return !read.dims.empty() && read.dims.back() == int(w.loops.size()) - 1;
}

/// The number of channels of a vector: 16 bytes of the widest element, but not
/// more weights than registers hold.
static int64_t chooseChannels(const Kernel &kernel, const Windows &w) {
  int64_t widest = 1;
  auto add = [&](Value value) {
    widest = std::max(widest, storageBytes(elementOf(value)));
  };
  for (unsigned input : w.inputs)
    add(kernel.inputs[input]);
  for (Value output : kernel.outputs)
    add(output);
  for (const Read &read : w.reads)
    if (isVector(w, read))
      add(kernel.inputs[read.input]);
  int64_t width = 16 / widest;
  constexpr int64_t mostWeights = 64;
  while (!w.others.empty() && width * widest > 4 &&
         width * w.taps() > mostWeights)
    width /= 2;
  while (w.shape(kernel).back().getConstant() % width != 0)
    width /= 2;
  return width;
}

/// What a thread does, in loads of vectors, for each of its pixels.
static double costOf(const Kernel &kernel, const PixelsPlan &plan,
                     const Target &target) {
  int64_t middle = 1;
  for (const WindowDim &dim : plan.middle())
    middle *= dim.kernel;
  double reads =
             double(plan.rowDim().span(plan.rows) * middle * plan.columnSpan()),
         pixels = double(plan.rows * plan.columns);
  double weights = plan.w.others.empty() ? 0 : double(plan.w.taps());
  double cost = (reads + weights + pixels) / pixels;
  // Tiles that reach beyond the end, and too few threads.
  double all = 1, tiles = 1;
  for (auto [extent, count] : llvm::zip_equal(plan.w.shape(kernel).drop_back(),
                                              plan.extents(kernel))) {
    all *= double(extent.asConstant().value_or(256));
    tiles *= double(count.asConstant().value_or(256));
  }
  cost *= tiles * pixels / std::max(all, 1.0);
  double threadsOfAll =
      tiles * double(plan.channels(kernel)) / double(plan.width);
  constexpr double threadsOfUnit = 512;
  double wanted = threadsOfUnit * double(target.cost.units);
  return cost * std::max(1.0, wanted / std::max(threadsOfAll, 1.0));
}

/// An estimate of a thread's registers for sums, weights, a row of pixels, and
/// pixels of `bytes` for each channel on their way.
static int64_t keptBy(const PixelsPlan &plan, int64_t bytes) {
  int64_t weights = plan.w.others.empty() ? 0 : plan.w.taps();
  int64_t reads = plan.rowDim().span(plan.rows) * plan.columnSpan();
  return plan.width * (plan.rows * plan.columns + weights + plan.columnSpan()) +
         reads * std::clamp<int64_t>(plan.width * bytes / 4, 1, 2);
}

/// Chooses the pixels of a thread.
static void chooseTile(const Kernel &kernel, PixelsPlan &plan,
                       const Target &target) {
  constexpr int64_t mostSums = 32, mostProducts = 1024, wholeSectors = 256;
  // What a thread keeps in registers: about so much leaves room for three
  // blocks on a multiprocessor, of which some load while others compute.
  constexpr int64_t mostKept = 144;
  int64_t bytes = storageBytes(elementOf(kernel.inputs[plan.w.inputs.front()]));
  int64_t pixel = plan.channels(kernel) * bytes;
  // Pixels that do not end with a sector of 32 bytes are read next to each
  // other.
  int64_t mostColumns =
      !plan.hasColumns() || (pixel % 32 != 0 && pixel < wholeSectors) ? 1 : 4;
  PixelsPlan best = plan;
  double least = costOf(kernel, plan, target);
  for (int64_t rows = 1; rows <= 8; ++rows)
    for (int64_t columns = 1; columns <= mostColumns; columns *= 2) {
      PixelsPlan other = plan;
      other.rows = rows;
      other.columns = columns;
      int64_t sums = rows * columns * plan.width;
      if (sums > mostSums || sums * plan.w.taps() > mostProducts ||
          keptBy(other, bytes) > mostKept)
        continue;
      double cost = costOf(kernel, other, target);
      if (cost < least) {
        least = cost;
        best = other;
      }
    }
  plan = best;
}

/// Whether the read has neighbouring channels as neighbours.
bool isVector(const Kernel &kernel, const Windows &w,
              const WindowOther &other) {
  AffineExpr channel = getAffineDimExpr(w.loops.back(), kernel.context());
  if (other.places.empty() || other.places.back() != channel ||
      kernel.shapeOf(kernel.inputs[other.input]).back() !=
          w.shape(kernel).back())
    return false;
  return llvm::none_of(ArrayRef(other.places).drop_back(), [&](AffineExpr e) {
    return e.isFunctionOfDim(w.loops.back());
  });
}

/// Chooses how a block's tiles lie. A compact part of a picture has fewer
/// neighbours that other blocks read as well, but may reach beyond its end.
static void chooseAcross(const Kernel &kernel, PixelsPlan &plan) {
  SmallVector<IntExpr> extents = plan.extents(kernel);
  std::optional<int64_t> rows = extents[plan.w.first].asConstant();
  std::optional<int64_t> columns = extents.back().asConstant();
  if (!plan.hasColumns() || !rows || !columns || *rows * *columns == 0)
    return;
  const WindowDim &row = plan.rowDim(), &column = plan.columnDim();
  // Pixels that are read and written, for each that must be read.
  auto costOf = [&](int64_t down, int64_t across) {
    int64_t results = down * plan.rows * across * plan.columns;
    int64_t read =
        row.span(down * plan.rows) * column.span(across * plan.columns);
    return double(read + results) /
           double(results * row.stride * column.stride);
  };
  int64_t whole = std::min(*columns, plan.tiles);
  double least = 0.9 * costOf(plan.tiles / whole, whole);
  int64_t tiles = plan.tiles;
  for (int64_t across = 1; across <= std::min(tiles, *columns); ++across) {
    int64_t down = std::min(tiles / across, *rows);
    double all = double(llvm::alignTo(*rows, down)) *
                 double(llvm::alignTo(*columns, across));
    double waste =
        all / double(*rows * *columns) * double(tiles) / double(down * across);
    double cost = costOf(down, across) * waste;
    if (cost < least) {
      least = cost;
      plan.across = across;
      plan.tiles = down * across;
    }
  }
}

/// Chooses the channels and pixels of a block, and what it brings to shared
/// memory.
static void shareBlock(const Kernel &kernel, PixelsPlan &plan,
                       const Target &target) {
  constexpr int64_t mostVectors = 64, fewThreads = 64, tasksOfUnit = 2;
  int64_t vectors = plan.channels(kernel) / plan.width;
  plan.vectors =
      llvm::divideCeil(vectors, llvm::divideCeil(vectors, mostVectors));
  plan.tiles = std::max<int64_t>(threads / plan.vectors, 1);
  // Where there is little to do, smaller blocks are shared out more evenly.
  std::optional<int64_t> all =
      elementCount(plan.extents(kernel), kernel.context()).asConstant();
  auto areFew = [&] {
    int64_t tasks = llvm::divideCeil(*all, plan.tiles) * plan.chunks(kernel);
    return tasks < tasksOfUnit * int64_t(target.cost.units);
  };
  while (all && plan.tiles > 1 && plan.block() > fewThreads && areFew())
    plan.tiles /= 2;
  chooseAcross(kernel, plan);
  for (const WindowWeights &weights : plan.w.weights) {
    bool isRun = weights.perGroup == plan.w.taps() &&
                 weights.groups == plan.channels(kernel) &&
                 llvm::none_of(plan.w.others, [&](const WindowOther &other) {
                   return other.input == weights.input &&
                          isVector(kernel, plan.w, other);
                 });
    if (!isRun)
      continue;
    int64_t bytes = storageBytes(elementOf(kernel.inputs[weights.input]));
    plan.runs.push_back({weights, plan.sharedBytes});
    // The run begins anywhere in 16 bytes.
    plan.sharedBytes += llvm::alignTo(
        plan.vectors * plan.width * weights.perGroup * bytes + 16, 16);
  }
}

/// Whether all pixels of a thread are loaded before its weights. That takes
/// registers, but where threads are few, the time is that of their loads.
static bool shouldLoadFirst(const Kernel &kernel, const PixelsPlan &plan,
                            const Target &target) {
  constexpr int64_t threadsOfUnit = 768, mostRegisters = 72;
  int64_t bytes = storageBytes(elementOf(kernel.inputs[plan.w.inputs.front()]));
  int64_t reads = plan.rowDim().span(plan.rows) * plan.columnSpan();
  std::optional<int64_t> tiles =
      elementCount(plan.extents(kernel), kernel.context()).asConstant();
  return tiles && !plan.runs.empty() && plan.w.inputs.size() == 1 &&
         plan.middle().empty() &&
         *tiles * plan.channels(kernel) / plan.width <=
             threadsOfUnit * int64_t(target.cost.units) &&
         reads * llvm::divideCeil(plan.width * bytes, 4) <= mostRegisters;
}

std::optional<PixelsPlan> planPixels(const Kernel &kernel,
                                     const EmitOptions &options) {
  if (kernel.repeats > 1)
    return std::nullopt;
  std::optional<Windows> windows =
      matchWindows(kernel, options, WindowForm::Pixels);
  if (!windows)
    return std::nullopt;
  PixelsPlan plan;
  plan.w = *windows;
  std::string type = computeType(elementOf(plan.w.op->getResult(0)));
  constexpr int64_t mostTaps = 128;
  if (type.empty() || type == "bool" || plan.w.taps() > mostTaps)
    return std::nullopt;
  // A warp should read some neighbours.
  constexpr int64_t fewChannels = 8;
  if (plan.w.shape(kernel).back().asConstant().value_or(0) < fewChannels)
    return std::nullopt;
  plan.width = chooseChannels(kernel, plan.w);
  chooseTile(kernel, plan, options.target);
  shareBlock(kernel, plan, options.target);
  plan.loadsFirst = shouldLoadFirst(kernel, plan, options.target);
  return plan;
}

bool acceptsPlanes(const Kernel &kernel, const EmitOptions &options) {
  return planPlanes(kernel, options).has_value();
}

bool acceptsPixels(const Kernel &kernel, const EmitOptions &options) {
  std::optional<PixelsPlan> plan = planPixels(kernel, options);
  // Runs of whole rows are better than single channels.
  return plan && (plan->width > 1 || !acceptsPlanes(kernel, options));
}

} // namespace mlc::cuda
