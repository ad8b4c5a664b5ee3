//===- Warpgroups.cpp - Contractions by warpgroups of sm_90a --------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"

using namespace mlir;

namespace mlc::cuda {

namespace {
/// A contraction that warpgroups compute, and how its factors come.
struct GroupProblem {
  Contraction contraction;
  Roles roles;
  std::string products;
  Reading a, b;
};
} // namespace

/// Whether products of warpgroups read a factor as it comes: only 16-bit types
/// may lie across K.
static bool isReadable(const Access &access, const Reading &reading) {
  int64_t bytes = storageBytes(access.element);
  return bytes <= 2 && reading.isByVectors() && (bytes == 2 || reading.alongK);
}

static FailureOr<GroupProblem> matchGroups(const Kernel &kernel,
                                           const EmitOptions &options) {
  // Code for sm_90a runs on that alone.
  if (options.target.cpu != "sm_90a")
    return failure();
  FailureOr<Contraction> c = matchTiles(kernel);
  if (failed(c))
    return failure();
  Roles roles = findRoles(*c);
  std::string products = productsOf(*c, roles, options);
  ProductShape shape = shapeOf(*c, roles);
  // A tile has 64 rows and columns, a step 128 bytes of K.
  if (products.empty() || shape.rows <= 32 || shape.columns <= 32 ||
      shape.k * shape.elementBytes < 128)
    return failure();
  Reading a = chooseReading(*c, roles.a(*c), roles, roles.rows);
  Reading b = chooseReading(*c, roles.b(*c), roles, roles.columns);
  if (!isReadable(roles.a(*c), a) || !isReadable(roles.b(*c), b))
    return failure();
  return GroupProblem{std::move(*c), roles, products, a, b};
}

bool acceptsWarpgroups(const Kernel &kernel, const EmitOptions &options) {
  return succeeded(matchGroups(kernel, options));
}

/// The registers of a thread that copies and of one that multiplies. Those of
/// all threads of a multiprocessor are 65,536 at most, and each is a multiple
/// of 8.
static std::pair<int64_t, int64_t> shareRegisters(const GroupTile &tile) {
  constexpr int64_t copying = 88;
  int64_t all = 65536 / tile.resident / 128;
  return {copying, (all - copying) / tile.groups / 8 * 8};
}

FailureOr<KernelText> emitWarpgroups(KernelPrinter &to) {
  FailureOr<GroupProblem> problem = matchGroups(to.kernel, to.options);
  if (failed(problem))
    return failure();
  const Contraction &c = problem->contraction;
  const Roles &roles = problem->roles;
  ProductShape shape = shapeOf(c, roles);
  GroupTile tile = chooseGroupTile(shape, to.options.target);
  SplitK split(c, roles, to.options.target, tile.m, tile.n,
               elementsOfStep(shape.elementBytes));
  for (StringRef name : {"problem.cuh", "parts.cuh", "vector.cuh",
                         "factors.cuh", "finish.cuh", "wgmma.cuh"})
    to.before += skeletonText(name);
  to.before += printProblem(to, c, roles, split, /*finishesRuns=*/true);
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
  auto source = [&](StringRef side, int64_t rows, const Reading &reading) {
    return "GatheredTile<" + std::to_string(rows) + ", " +
           reading.copyMode.str() + ", " + product + ", Side" + side.str() +
           "<Problem>>";
  };
  auto [copying, multiplying] = shareRegisters(tile);
  std::string arguments;
  for (int64_t number : {tile.m, tile.n, tile.groups, tile.stages, tile.piece,
                         copying, multiplying})
    arguments += std::to_string(number) + ", ";
  to.code.line("typedef " + source("A", tile.m, problem->a) + " TileA;");
  to.code.line("typedef " + source("B", tile.n, problem->b) + " TileB;");
  to.code.line(
      "Warpgroups<" + arguments + product +
      ", TileA, TileB, Problem>(problem, scratch, nullptr, nullptr).run();");
  return text;
}

} // namespace mlc::cuda
