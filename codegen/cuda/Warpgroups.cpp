//===- Warpgroups.cpp - Contractions by warpgroups of sm_90a --------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/FactorMap.h"
#include "codegen/cuda/Joined.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc::cuda {

namespace {
/// How a factor gets into shared memory: by a tensor map, or by threads.
struct Source {
  std::optional<FactorMap> map;
  Reading reading;
};

/// A contraction that warpgroups compute.
struct GroupProblem {
  Roles roles;
  std::string products;
  GroupTile tile;
  Source a, b;
};
} // namespace

/// None if products of warpgroups cannot read the factor as it comes: only
/// 16-bit types may lie across K, and only maps round float32.
static std::optional<Source>
findSource(const Kernel &kernel, const Contraction &c, const Access &access,
           const Roles &roles, ArrayRef<unsigned> rows, int64_t tileRows) {
  Source source = {findFactorMap(kernel, c, access, roles, rows, tileRows),
                   chooseReading(c, access, roles, rows)};
  if (!source.map)
    source.map = findPixelMap(kernel, c, access, roles, rows, tileRows);
  int64_t bytes = storageBytes(access.element);
  bool isReadable = bytes <= 2 && source.reading.isByVectors() &&
                    (bytes == 2 || source.reading.alongK);
  if (!source.map && !isReadable)
    return std::nullopt;
  return source;
}

static std::optional<GroupProblem> matchGroups(const Kernel &kernel,
                                               const Contraction &c,
                                               const EmitOptions &options) {
  Roles roles = findRoles(c);
  std::string products = productsOf(c, roles, options);
  ProductShape shape = shapeOf(c, roles);
  if (products.empty() || !suitsGroups(shape, options.target))
    return std::nullopt;
  GroupTile tile = chooseGroupTile(shape, options.target);
  auto a = findSource(kernel, c, roles.a(c), roles, roles.rows, tile.m);
  auto b = findSource(kernel, c, roles.b(c), roles, roles.columns, tile.n);
  if (!a || !b)
    return std::nullopt;
  return GroupProblem{roles, products, tile, std::move(*a), std::move(*b)};
}

bool isByWarpgroups(const Kernel &kernel, const Contraction &c,
                    const EmitOptions &options) {
  return matchGroups(kernel, c, options).has_value();
}

bool acceptsWarpgroups(const Kernel &kernel, const EmitOptions &options) {
  FailureOr<Contraction> c = matchTiles(kernel);
  return succeeded(c) && isByWarpgroups(kernel, *c, options);
}

/// The registers of a thread that copies and of one that multiplies, which
/// share those that the launch gives to all: of 65,536 on a multiprocessor, a
/// multiple of 8 for each thread. Threads that gather have several places, of
/// long indices twice as large.
static std::pair<int64_t, int64_t>
shareRegisters(const GroupTile &tile, bool gathers, bool areIndicesLong) {
  int64_t copying = !gathers ? 40 : areIndicesLong ? 120 : 88;
  int64_t all =
      65536 / tile.resident / tile.threads() / 8 * 8 * (tile.groups + 1);
  return {copying, (all - copying) / tile.groups / 8 * 8};
}

/// The type of what copies a factor of `rows` rows, and the map that it takes.
static std::pair<std::string, std::string>
printSource(KernelText &text, StringRef side, int64_t rows,
            const Source &source, StringRef product) {
  std::string common = (", " + product + ", Side" + side + "<Problem>>").str();
  if (!source.map)
    return {"GatheredTile<" + std::to_string(rows) + ", " +
                source.reading.copyMode.str() + common,
            "nullptr"};
  text.maps.push_back(source.map->map);
  return {"MappedTile<" + std::to_string(rows) + ", " +
              (source.map->alongK ? "false" : "true") + common,
          "&map" + std::to_string(text.maps.size() - 1)};
}

std::string skeletonOfGroups() {
  std::string text;
  for (StringRef name : {"problem.cuh", "parts.cuh", "vector.cuh",
                         "factors.cuh", "finish.cuh", "wgmma.cuh"})
    text += skeletonText(name);
  return text;
}

FailureOr<KernelText> printGroups(KernelPrinter &to, bool sharesTiles,
                                  StringRef first, StringRef blocks) {
  FailureOr<Contraction> found = matchTiles(to.kernel);
  if (failed(found))
    return failure();
  const Contraction &c = *found;
  std::optional<GroupProblem> problem = matchGroups(to.kernel, c, to.options);
  if (!problem)
    return failure();
  const GroupTile &tile = problem->tile;
  const Source &a = problem->a, &b = problem->b;
  SplitK split(
      c, problem->roles, to.options.target, tile.m, tile.n,
      elementsOfStep(storageBytes(c.x.element)),
      mostPartsOfGroups(shapeOf(c, problem->roles), to.options.target, tile),
      tile.resident);
  if (!sharesTiles)
    split.parts = IntExpr::constant(c.context, 1);
  to.before +=
      printProblem(to, c, problem->roles, split, /*finishesRuns=*/true,
                   a.map ? &*a.map : nullptr, b.map ? &*b.map : nullptr);
  KernelText text;
  text.usesHopper = text.findsTasks = true;
  text.block = tile.threads();
  text.resident = tile.resident;
  text.sharedBytes = tile.bytes();
  to.code = Code(1);
  printProblemValue(to, text, c, split);
  // A block goes on with further tasks, whose factors are on their way then.
  text.tasks = IntExpr::min(
      text.tasks, IntExpr::constant(c.context, to.options.target.cost.units *
                                                   tile.resident));
  std::string product = "Product" + problem->products;
  auto [tileA, mapA] = printSource(text, "A", tile.m, a, product);
  auto [tileB, mapB] = printSource(text, "B", tile.n, b, product);
  auto [copying, multiplying] =
      shareRegisters(tile, !a.map || !b.map, !to.fitsInt());
  std::string arguments;
  for (int64_t number : {tile.m, tile.n, tile.groups, tile.stages, tile.piece,
                         copying, multiplying})
    arguments += std::to_string(number) + ", ";
  to.code.line("typedef " + tileA + " TileA;");
  to.code.line("typedef " + tileB + " TileB;");
  to.code.line("Warpgroups<" + arguments + product +
               ", TileA, TileB, Problem>(problem, scratch, " + mapA + ", " +
               mapB + ", " + first + ", " + blocks + ").run();");
  return text;
}

FailureOr<KernelText> emitWarpgroups(KernelPrinter &to) {
  to.before += skeletonOfGroups();
  return printGroups(to, /*sharesTiles=*/true, "blockIdx.x", "gridDim.x");
}

bool canJoinGroups(ArrayRef<const Kernel *> kernels,
                   const EmitOptions &options) {
  // A launch in between, and what is lost where blocks do not share tiles.
  double separate = 0, joined = 0;
  std::optional<GroupTile> common;
  int64_t tiles = 0;
  for (const Kernel *kernel : kernels) {
    FailureOr<Contraction> c = matchTiles(*kernel);
    auto problem = failed(c) ? std::nullopt : matchGroups(*kernel, *c, options);
    if (!problem || (common && !(problem->tile == *common)))
      return false;
    common = problem->tile;
    ProductShape shape = shapeOf(*c, problem->roles);
    separate += productSeconds(shape, options.target).value_or(0) +
                options.target.cost.secondsPerKernel;
    tiles += countTiles(shape, common->m, common->n);
    joined = std::max(joined, secondsOfStepsOfGroups(shape, options.target));
  }
  int64_t atATime = options.target.cost.units * common->resident;
  joined *= double(llvm::divideCeil(tiles, atATime));
  return joined + options.target.cost.secondsPerKernel <= separate;
}

} // namespace mlc::cuda
