//===- Tensor.cpp - Contractions on tensor cores --------------------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace mlc::cuda {

/// The skeleton's type for the products; empty if tensor cores cannot compute
/// them.
static std::string productsOf(const Contraction &c, const Roles &roles,
                              const EmitOptions &options) {
  Type x = c.x.element, w = c.w.element;
  if (x != w || options.arch() < 80)
    return "";
  auto single = [](ArrayRef<Operation *> casts) -> Operation * {
    return casts.size() == 1 ? casts[0] : nullptr;
  };
  Operation *a = single(roles.aCasts(c)), *b = single(roles.bCasts(c));
  if (c.accumulator.isF32()) {
    if (x.isF32() && c.xCasts.empty() && c.wCasts.empty() &&
        options.precision == Precision::TF32)
      return "MmaTF32";
    if (!isa_and_nonnull<arith::ExtFOp>(a) ||
        !isa_and_nonnull<arith::ExtFOp>(b))
      return "";
    return x.isF16() ? "MmaF16" : x.isBF16() ? "MmaBF16" : "";
  }
  auto isWidened = [](Operation *cast) {
    return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(cast);
  };
  if (!c.accumulator.isInteger(32) || !x.isInteger(8) || !isWidened(a) ||
      !isWidened(b))
    return "";
  auto sign = [](Operation *cast) {
    return isa<arith::ExtSIOp>(cast) ? "true" : "false";
  };
  return std::string("MmaBytes<") + sign(a) + ", " + sign(b) + ">";
}

bool acceptsTensor(const Kernel &kernel, const EmitOptions &options) {
  FailureOr<Contraction> c = matchTiles(kernel);
  if (failed(c) || productsOf(*c, findRoles(*c), options).empty())
    return false;
  // A word or two along k would be mostly zeros.
  return shapeOf(*c, findRoles(*c)).k >= 8;
}

//===----------------------------------------------------------------------===//
// Reading factors
//===----------------------------------------------------------------------===//

/// Whether `value` is a multiple of `count` for all values of its symbols.
static bool isMultiple(IntExpr value, int64_t count) {
  return value.mod(count).isConstant(0);
}

/// Whether aligned runs of `count` elements along `dims` are contiguous and
/// aligned to `count` in memory, and none crosses the end of the dims.
static bool hasRuns(const Contraction &c, const Access &access,
                    ArrayRef<unsigned> dims, int64_t count) {
  IntExpr length = runAlong(c, access, dims);
  if (access.divisor != 1 || length.isConstant(1) ||
      !isMultiple(length, count) || !isMultiple(access.offset, count))
    return false;
  // Find the loops that make up the run; steps of all other loops must keep the
  // alignment.
  IntExpr within = IntExpr::constant(c.context, 1);
  llvm::SmallBitVector together(c.dims.size());
  for (unsigned d : llvm::reverse(dims)) {
    if (within == length)
      break;
    together.set(d);
    within = within * c.dims[d].extent;
  }
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

namespace {
struct Reading {
  StringRef copyMode;
  bool alongK;

  /// The size of a tile in shared memory, in words (Layout in
  /// kernels/tensor.cuh).
  int64_t words(int64_t rows) const {
    return copyMode.ends_with("Across") ? (rows / 2 + 4) * 64 : rows * 36;
  }
};
} // namespace

static Reading chooseReading(const Contraction &c, const Access &access,
                             const Roles &roles, ArrayRef<unsigned> rows) {
  int64_t bytes = storageBytes(access.element);
  // Asynchronous copies can fill only with zeros outside the bounds.
  auto isZero = [](TypedAttr value) {
    if (auto real = dyn_cast<FloatAttr>(value))
      return real.getValue().isPosZero();
    return cast<IntegerAttr>(value).getValue().isZero();
  };
  bool isZeroOutside = !access.padValue || isZero(access.padValue);
  bool alongK = readsAlongK(c, access, roles, rows);
  if (!isZeroOutside)
    return {"CopyMode::Elements", alongK};
  if (hasRuns(c, access, roles.k, 16 / bytes))
    return {"CopyMode::Vectors", true};
  if (bytes == 2 && hasRuns(c, access, rows, 16 / bytes))
    return {"CopyMode::VectorsAcross", false};
  if (bytes == 4 || hasRuns(c, access, roles.k, 4 / bytes))
    return {"CopyMode::Words", bytes == 4 ? alongK : true};
  if (bytes == 2 && hasRuns(c, access, rows, 4 / bytes))
    return {"CopyMode::WordsAcross", false};
  return {"CopyMode::Elements", alongK};
}

FailureOr<KernelText> emitTensor(KernelPrinter &to) {
  FailureOr<Contraction> c = matchTiles(to.kernel);
  if (failed(c))
    return failure();
  Roles roles = findRoles(*c);
  ProductShape shape = shapeOf(*c, roles);
  WarpTile tile = chooseWarpTile(shape, to.options.target);
  int64_t step = elementsOfStep(shape.elementBytes);
  SplitK split(*c, roles, to.options.target, tile.m, tile.n, step);
  to.before = (skeletonText("problem.cuh") + skeletonText("parts.cuh") +
               skeletonText("tensor.cuh"))
                  .str() +
              printProblem(to, *c, roles, split);
  KernelText text;
  text.block = tile.threads();
  // Shared memory limits the number of blocks before registers do.
  text.resident = 1;
  Reading a = chooseReading(*c, roles.a(*c), roles, roles.rows);
  Reading b = chooseReading(*c, roles.b(*c), roles, roles.columns);
  text.sharedBytes = tile.stages * (a.words(tile.m) + b.words(tile.n)) * 4;
  std::string arguments;
  for (int64_t number : {tile.m, tile.n, tile.warpsM, tile.warpsN, tile.stages})
    arguments += std::to_string(number) + ", ";
  auto add = [&](const Reading &reading) {
    arguments +=
        ", " + reading.copyMode.str() + (reading.alongK ? ", true" : ", false");
  };
  arguments += productsOf(*c, roles, to.options);
  add(a);
  add(b);
  callSkeleton(to, text, *c, "multiplyTileByWarps<" + arguments + ">", split);
  return text;
}

} // namespace mlc::cuda
