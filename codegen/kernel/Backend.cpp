//===- Backend.cpp - What a back end answers unless it says otherwise -----===//

#include "codegen/kernel/Backend.h"

using namespace mlir;

namespace mlc {

Backend::~Backend() = default;

ConvolutionLayout Backend::getConvolutionLayout(const Target &) const {
  return {};
}

FusionLimits Backend::getFusionLimits(const Target &) const { return {}; }

bool Backend::canPadResult(linalg::LinalgOp, tensor::PadOp) const {
  return false;
}

bool Backend::canReadThrough(linalg::GenericOp, AffineMap, AffineMap,
                             AffineMap) const {
  return true;
}

std::optional<ConstantTransform> Backend::findTransform(const Kernel &,
                                                        const Target &) const {
  return std::nullopt;
}

} // namespace mlc
