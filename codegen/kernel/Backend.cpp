//===- Backend.cpp - Default answers of back ends -------------------------===//

#include "codegen/kernel/Backend.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc {

Backend::~Backend() = default;

int64_t ConvolutionLayout::filled(int64_t channels,
                                  int64_t elementBytes) const {
  // Beyond that most products would be with zeros.
  constexpr int64_t least = 3, vector = 8;
  if (!channelsLast || !fillsChannels || elementBytes != 2 ||
      channels < least || channels >= vector)
    return channels;
  return vector;
}

bool ConvolutionLayout::suits(const ConvolutionShape &shape) const {
  if (block == 0)
    return false;
  if (shape.groups == 1)
    return shape.inputChannels >= block / 2;
  int64_t inputs = shape.inputChannels / shape.groups;
  int64_t outputs = shape.outputChannels / shape.groups;
  auto whole = [&](int64_t channels) -> int64_t {
    return llvm::divideCeil(channels, block) * block;
  };
  return 4.0 * inputs * outputs >= 3.0 * whole(inputs) * whole(outputs);
}

ConvolutionLayout Backend::getConvolutionLayout(const Target &) const {
  return {};
}

double Backend::getChannelsLastGain(const Target &, const ImageConvolution &,
                                    Precision) const {
  return 0;
}

FusionLimits Backend::getFusionLimits(const Target &) const { return {}; }

std::optional<CompiledKernels> Backend::preview(ModuleOp,
                                                const Target &) const {
  return std::nullopt;
}

bool Backend::canPadResult(linalg::LinalgOp, tensor::PadOp) const {
  return false;
}

bool Backend::canWidenFactors() const { return false; }

bool Backend::canComputeParts() const { return false; }

bool Backend::canPermuteResult() const { return false; }
bool Backend::canRepeat(const Kernel &, unsigned, const Target &) const {
  return false;
}

bool Backend::canReadPadded(linalg::LinalgOp, tensor::PadOp) const {
  return false;
}

bool Backend::canReadThrough(linalg::GenericOp, AffineMap, AffineMap,
                             AffineMap) const {
  return true;
}

bool Backend::canCompileOpaque(StringRef) const { return false; }

std::vector<std::pair<llvm::StringRef, llvm::StringRef>>
Backend::getSourceHeaders() const {
  return {};
}

llvm::Expected<SourceTree> Backend::printProgram(const runtime::Program &,
                                                 llvm::ArrayRef<KernelImage>,
                                                 uint64_t,
                                                 const Target &target) const {
  return llvm::createStringError("there are no sources of programs for " +
                                 target.name +
                                 "; give a target like cuda:sm_80");
}

double Backend::getConvolutionShare(const Target &,
                                    const ConvolutionShape &) const {
  return 1;
}

std::optional<double> Backend::getProductSeconds(const Target &,
                                                 const ProductShape &) const {
  return std::nullopt;
}

bool Backend::cutsKernelsAtParts() const { return false; }

AlgorithmCosts Backend::getAlgorithmCosts(const Target &target) const {
  return {[=, this](const ConvolutionShape &shape) {
            return getConvolutionShare(target, shape);
          },
          [=, this](const ProductShape &shape) {
            return getProductSeconds(target, shape);
          },
          cutsKernelsAtParts(),
          [=, this](const ProductShape &shape, unsigned count) {
            return getJoinedSeconds(target, shape, count);
          }};
}

std::optional<double> Backend::getJoinedSeconds(const Target &,
                                                const ProductShape &,
                                                unsigned) const {
  return std::nullopt;
}

bool Backend::canJoin(ArrayRef<const Kernel *>, const Target &,
                      Precision) const {
  return false;
}

std::optional<ConstantTransform>
Backend::findTransform(const Kernel &, const Target &, Precision) const {
  return std::nullopt;
}

} // namespace mlc
