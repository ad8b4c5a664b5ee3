//===- Tensor.cpp - Contractions on tensor cores --------------------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mlc::cuda {

std::string productsOf(const Contraction &c, const Roles &roles,
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
      return "TF32";
    if (!isa_and_nonnull<arith::ExtFOp>(a) ||
        !isa_and_nonnull<arith::ExtFOp>(b))
      return "";
    return x.isF16() ? "F16" : x.isBF16() ? "BF16" : "";
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
  return std::string("Bytes<") + sign(a) + ", " + sign(b) + ">";
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

Reading chooseReading(const Contraction &c, const Access &access,
                      const Roles &roles, ArrayRef<unsigned> rows) {
  int64_t bytes = storageBytes(access.element);
  // Asynchronous copies can fill only with zeros outside the bounds.
  auto isZero = [](TypedAttr value) {
    if (auto real = dyn_cast<FloatAttr>(value))
      return real.getValue().isPosZero();
    return cast<IntegerAttr>(value).getValue().isZero();
  };
  bool isZeroOutside = !access.padValue || isZero(access.padValue);
  if (isZeroOutside) {
    if (hasRuns(c, access, roles.k, 16 / bytes))
      return {"CopyMode::Vectors", true};
    if (bytes > 1 && hasRuns(c, access, rows, 16 / bytes))
      return {"CopyMode::VectorsAcross", false};
  }
  bool alongK = readsAlongK(c, access, roles, rows);
  if (isZeroOutside) {
    if (bytes == 4)
      return alongK ? Reading{"CopyMode::Words", true}
                    : Reading{"CopyMode::WordsAcross", false};
    if (hasRuns(c, access, roles.k, 4 / bytes))
      return {"CopyMode::Words", true};
    if (bytes == 2 && hasRuns(c, access, rows, 2))
      return {"CopyMode::WordsAcross", false};
  }
  if (bytes > 1 && !alongK)
    return {"CopyMode::ElementsAcross", false};
  return {"CopyMode::Elements", alongK};
}

FailureOr<KernelText> emitTensor(KernelPrinter &to) {
  FailureOr<Contraction> c = matchTiles(to.kernel);
  if (failed(c))
    return failure();
  Roles roles = findRoles(*c);
  Reading a = chooseReading(*c, roles.a(*c), roles, roles.rows);
  Reading b = chooseReading(*c, roles.b(*c), roles, roles.columns);
  ProductShape shape = shapeOf(*c, roles);
  // A place with bounds takes more registers than one without.
  bool isSimple = roles.a(*c).bounds.empty() && roles.b(*c).bounds.empty();
  WarpTile tile = chooseWarpTile(
      shape, to.options.target, a.isByVectors() && b.isByVectors() && isSimple);
  int64_t step = elementsOfStep(shape.elementBytes);
  SplitK split(*c, roles, to.options.target, tile.m, tile.n, step,
               mostPartsOfWarps(shapeOf(*c, roles), to.options.target, tile));
  for (StringRef name : {"problem.cuh", "parts.cuh", "vector.cuh",
                         "factors.cuh", "finish.cuh", "tensor.cuh"})
    to.before += skeletonText(name);
  to.before += printProblem(to, *c, roles, split, /*finishesRuns=*/true);
  KernelText text;
  text.block = tile.threads();
  text.resident = tile.resident;
  text.sharedBytes = tile.bytes();
  std::string arguments;
  for (int64_t number : {tile.m, tile.n, tile.warpsM, tile.warpsN, tile.stages})
    arguments += std::to_string(number) + ", ";
  auto add = [&](const Reading &reading) {
    arguments +=
        ", " + reading.copyMode.str() + (reading.alongK ? ", true" : ", false");
  };
  arguments += "Mma" + productsOf(*c, roles, to.options);
  add(a);
  add(b);
  callSkeleton(to, text, *c, "multiplyTileByWarps<" + arguments + ">", split);
  return text;
}

} // namespace mlc::cuda
