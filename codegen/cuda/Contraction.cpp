//===- Contraction.cpp - Contractions as CUDA C++ -------------------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/FormAlongK.h"
#include "codegen/cuda/Parts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace mlc::cuda {

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static bool moves(const Access &access, unsigned dim) {
  return !access.strides[dim].isConstant(0);
}

Roles findRoles(const Contraction &c) {
  Roles roles;
  const Access &out = c.outputs.front().access;
  int fastest = -1;
  for (auto [d, dim] : llvm::enumerate(c.dims)) {
    bool inX = moves(c.x, d), inW = moves(c.w, d);
    if (!dim.parallel)
      roles.k.push_back(d);
    else if (inX == inW)
      roles.batch.push_back(d);
    else
      (inX ? roles.rows : roles.columns).push_back(d);
    if (dim.parallel && out.strides[d].isConstant(1) && inX != inW)
      fastest = d;
  }
  if (fastest >= 0 && llvm::is_contained(roles.rows, unsigned(fastest))) {
    std::swap(roles.rows, roles.columns);
    roles.isSwapped = true;
  }
  auto moveLast = [](SmallVector<unsigned> &dims, auto found) {
    if (found != dims.end())
      std::rotate(found, found + 1, dims.end());
  };
  moveLast(roles.columns, llvm::find(roles.columns, unsigned(fastest)));
  // Where channels are last, neighbours along K are channels.
  auto isRun = [&](unsigned d) {
    return c.x.strides[d].isConstant(1) && c.w.strides[d].isConstant(1);
  };
  moveLast(roles.k, llvm::find_if(roles.k, isRun));
  return roles;
}

IntExpr product(const Contraction &c, ArrayRef<unsigned> dims) {
  IntExpr all = IntExpr::constant(c.context, 1);
  for (unsigned d : dims)
    all = all * c.dims[d].extent;
  return all;
}

IntExpr runAlong(const Contraction &c, const Access &access,
                 ArrayRef<unsigned> dims) {
  IntExpr length = IntExpr::constant(c.context, 1);
  for (unsigned d : llvm::reverse(dims)) {
    if (access.strides[d] != length)
      break;
    length = length * c.dims[d].extent;
  }
  return length;
}

SmallVector<unsigned> joinRuns(const Contraction &c, const Access &access,
                               ArrayRef<unsigned> dims,
                               SmallVectorImpl<IntExpr> &extents) {
  SmallVector<unsigned> runs;
  auto isOne = [&](ArrayRef<IntExpr> strides, unsigned outer, unsigned inner,
                   IntExpr length) {
    return strides[outer] == strides[inner] * length;
  };
  for (unsigned d : llvm::reverse(dims)) {
    if (!runs.empty() &&
        isOne(access.strides, d, runs.back(), extents.back()) &&
        llvm::all_of(access.bounds, [&](const Bound &bound) {
          return isOne(bound.strides, d, runs.back(), extents.back());
        })) {
      extents.back() = extents.back() * c.dims[d].extent;
      continue;
    }
    runs.push_back(d);
    extents.push_back(c.dims[d].extent);
  }
  std::reverse(runs.begin(), runs.end());
  std::reverse(extents.begin(), extents.end());
  return runs;
}

bool isMultiple(IntExpr value, int64_t count) {
  return value.mod(count).isConstant(0);
}

bool hasRuns(const Contraction &c, const Access &access,
             ArrayRef<unsigned> dims, int64_t count) {
  if (access.divisor != 1 || !isMultiple(access.offset, count))
    return false;
  // Find the fewest loops that make up runs; steps of all other loops must keep
  // the alignment.
  IntExpr length = IntExpr::constant(c.context, 1);
  llvm::SmallBitVector together(c.dims.size());
  for (unsigned d : llvm::reverse(dims)) {
    if (access.strides[d] != length ||
        (together.any() && isMultiple(length, count)))
      break;
    together.set(d);
    length = length * c.dims[d].extent;
  }
  if (length.isConstant(1) || !isMultiple(length, count))
    return false;
  for (auto [d, stride] : llvm::enumerate(access.strides))
    if (!together.test(d) && !isMultiple(stride, count))
      return false;
  // The border of a pad would cut a run.
  return llvm::all_of(access.bounds, [&](const Bound &bound) {
    return llvm::all_of(together.set_bits(), [&](unsigned d) {
      return bound.strides[d].isConstant(0);
    });
  });
}

bool readsAlongK(const Contraction &c, const Access &access, const Roles &roles,
                 ArrayRef<unsigned> rows) {
  auto lengthOf = [&](ArrayRef<unsigned> dims) {
    // Open sizes count as large.
    return runAlong(c, access, dims).asConstant().value_or(1 << 20);
  };
  constexpr int64_t enough = 8;
  int64_t k = lengthOf(roles.k), along = lengthOf(rows);
  return k >= enough ? along < enough || k >= along : false;
}

//===----------------------------------------------------------------------===//
// Acceptance
//===----------------------------------------------------------------------===//

FailureOr<Contraction> matchTiles(const Kernel &kernel) {
  std::string why;
  FailureOr<Contraction> c =
      matchContraction(kernel, why, /*readsBounds=*/true);
  if (failed(c) || c->splitOuter >= 0 || computeType(c->accumulator).empty())
    return failure();
  for (const ContractionOutput &output : c->outputs)
    if (!output.pads.empty())
      return failure();
  simplifyLoops(*c);
  takeFormAlongK(*c);
  Roles roles = findRoles(*c);
  auto isFew = [&](ArrayRef<unsigned> dims, int64_t few) {
    std::optional<int64_t> count = product(*c, dims).asConstant();
    return count && *count <= few;
  };
  if (isFew(roles.rows, 4) || isFew(roles.columns, 4) || isFew(roles.k, 7))
    return failure();
  return c;
}

ProductShape shapeOf(const Contraction &c, const Roles &roles) {
  auto guess = [&](ArrayRef<unsigned> dims) {
    return product(c, dims)
        .evaluate([](StringRef) { return std::optional<int64_t>(512); })
        .value_or(512);
  };
  return {.batch = guess(roles.batch),
          .rows = guess(roles.rows),
          .columns = guess(roles.columns),
          .k = guess(roles.k),
          .elementBytes = storageBytes(c.x.element)};
}

bool acceptsTiles(const Kernel &kernel, const EmitOptions &) {
  return succeeded(matchTiles(kernel));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
struct Tile {
  int64_t m, n, k, threadM, threadN;
  int64_t threads() const { return m / threadM * (n / threadN); }
};
} // namespace

/// The largest tile that still gives every multiprocessor work.
static Tile chooseTile(const Contraction &c, const Roles &roles,
                       const Target &target, bool isWide) {
  static const Tile tiles[] = {
      {128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 32, 2, 2}};
  ProductShape shape = shapeOf(c, roles);
  for (const Tile &tile : ArrayRef(tiles).drop_front(isWide).drop_back())
    if (shape.rows * 2 > tile.m && shape.columns * 2 > tile.n &&
        countTiles(shape, tile.m, tile.n) >= target.cost.units)
      return tile;
  return tiles[2];
}

SplitK::SplitK(const Contraction &c, const Roles &roles, const Target &target,
               int64_t m, int64_t n, int64_t step, int64_t most,
               int64_t resident)
    : m(m), n(n) {
  tiles = product(c, roles.batch) * product(c, roles.rows).ceilDiv(m) *
          product(c, roles.columns).ceilDiv(n);
  parts = chooseParts(tiles, product(c, roles.k), leastKOfPart(step), most,
                      target, resident);
}

void printProblemValue(KernelPrinter &to, KernelText &text,
                       const Contraction &c, const SplitK &split) {
  text.scratchBytes = IntExpr::constant(to.kernel.context(), 0);
  text.tasks = split.tiles * split.parts;
  if (!split.parts.isConstant(1))
    text.workspaceBytes =
        workspaceBytes(split.tiles, split.parts,
                       split.m * split.n * storageBytes(c.accumulator));
  std::string members;
  auto add = [&](StringRef prefix, size_t count) {
    for (size_t i = 0; i < count; ++i)
      members +=
          (members.empty() ? "" : ", ") + prefix.str() + std::to_string(i);
  };
  add("in", to.kernel.inputs.size());
  add("out", to.kernel.outputs.size());
  add("s", to.kernel.symbols.size());
  to.code.line("const Problem problem = {" + members + "};");
}

void callSkeleton(KernelPrinter &to, KernelText &text, const Contraction &c,
                  StringRef skeleton, const SplitK &split) {
  printProblemValue(to, text, c, split);
  to.code.line(skeleton + "(problem, task, scratch);");
}

FailureOr<KernelText> emitTiles(KernelPrinter &to) {
  FailureOr<Contraction> c = matchTiles(to.kernel);
  if (failed(c))
    return failure();
  Roles roles = findRoles(*c);
  int64_t bytes = storageBytes(c->accumulator);
  // Long indices take registers as wide elements do.
  bool isWide = bytes > 4 || llvm::any_of(c->dims, [](const LoopDim &dim) {
                  return !dim.extent.isConstant();
                });
  Tile tile = chooseTile(*c, roles, to.options.target, isWide);
  SplitK split(*c, roles, to.options.target, tile.m, tile.n, tile.k,
               mostPartsOfTile);
  to.before = (skeletonText("problem.cuh") + skeletonText("parts.cuh") +
               skeletonText("contraction.cuh"))
                  .str() +
              printProblem(to, *c, roles, split, /*finishesRuns=*/false);
  KernelText text;
  text.block = tile.threads();
  text.sharedBytes = bytes * tile.k * (tile.m + 1 + tile.n + 1);
  auto truth = [](bool value) { return value ? ", true" : ", false"; };
  std::string arguments = computeType(c->accumulator);
  for (int64_t number : {tile.m, tile.n, tile.k, tile.threadM, tile.threadN})
    arguments += ", " + std::to_string(number);
  arguments += truth(readsAlongK(*c, roles.a(*c), roles, roles.rows));
  arguments += truth(readsAlongK(*c, roles.b(*c), roles, roles.columns));
  callSkeleton(to, text, *c, "multiplyTile<" + arguments + ">", split);
  return text;
}

} // namespace mlc::cuda
