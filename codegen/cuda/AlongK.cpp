//===- AlongK.cpp - Constant factors with neighbours along K --------------===//

#include "codegen/cuda/AlongK.h"
#include "codegen/cuda/FormAlongK.h"

using namespace mlir;

namespace mlc::cuda {

namespace {
struct Loop {
  int64_t extent, stride;
};
} // namespace

/// The loops of the form with their strides in the original, if they pass over
/// each element once.
static std::optional<SmallVector<Loop>> loopsOver(const Contraction &c,
                                                  const Access &access) {
  if (!access.bounds.empty() || access.divisor != 1 ||
      !access.offset.isConstant(0))
    return std::nullopt;
  SmallVector<Loop> loops;
  for (unsigned d : loopsOfForm(c, access)) {
    std::optional<int64_t> extent = c.dims[d].extent.asConstant(),
                           stride = access.strides[d].asConstant();
    if (!extent || !stride || *extent < 1)
      return std::nullopt;
    loops.push_back({*extent, *stride});
  }
  SmallVector<Loop> sorted = loops;
  llvm::sort(sorted,
             [](const Loop &a, const Loop &b) { return a.stride < b.stride; });
  int64_t count = 1;
  for (const Loop &loop : sorted) {
    if (loop.stride != count)
      return std::nullopt;
    count *= loop.extent;
  }
  return loops;
}

/// Copies the elements over which `loops` pass, in their order.
static void copyInOrder(ArrayRef<Loop> loops, const float *from, float *&to) {
  if (loops.empty()) {
    *to++ = *from;
    return;
  }
  for (int64_t i = 0; i < loops.front().extent; ++i)
    copyInOrder(loops.drop_front(), from + i * loops.front().stride, to);
}

std::optional<ConstantTransform> findAlongK(const Kernel &kernel,
                                            const EmitOptions &options) {
  FailureOr<Contraction> c = matchTiles(kernel);
  if (failed(c) || !c->x.element.isF32() || isByWarpgroups(kernel, *c, options))
    return std::nullopt;
  for (Access *factor : {&c->x, &c->w}) {
    auto loops = loopsOver(*c, *factor);
    // Another reader in the kernel needs the original.
    if (!loops || !factor->tensor.hasOneUse())
      continue;
    Contraction other = *c;
    (factor == &c->x ? other.x : other.w) = accessToForm(*c, *factor);
    if (!isByWarpgroups(kernel, other, options))
      continue;
    auto argument = llvm::find(kernel.inputs, factor->tensor);
    int64_t all = 1, k = 1;
    // The name says the order too: forms of one name are the same.
    std::string name = formAlongK.str();
    for (auto [d, loop] : llvm::zip_equal(loopsOfForm(*c, *factor), *loops)) {
      all *= loop.extent;
      name +=
          " " + std::to_string(loop.extent) + "*" + std::to_string(loop.stride);
      k *= c->dims[d].parallel ? 1 : loop.extent;
    }
    return ConstantTransform{
        .argument = unsigned(argument - kernel.inputs.begin()),
        .name = name,
        .dims = {all / k, k},
        .apply = [loops = *loops](ArrayRef<float> from,
                                  MutableArrayRef<float> to) {
          float *at = to.data();
          copyInOrder(loops, from.data(), at);
          return true;
        }};
  }
  return std::nullopt;
}

} // namespace mlc::cuda
