//===- Backend.cpp - Code for GPUs by CUDA --------------------------------===//

#include "codegen/cuda/Backend.h"
#include "codegen/cuda/AlongK.h"
#include "codegen/cuda/ChannelsLast.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Emit.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/Joined.h"
#include "codegen/cuda/Opaque.h"
#include "codegen/cuda/Program.h"
#include "codegen/cuda/Tiles.h"
#include "codegen/kernel/Contraction.h"
#include "codegen/kernel/GroupLimits.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace mlc::cuda {
namespace {

/// Whether `op` makes a factor of `reader`, if that is a contraction with a
/// guarded factor. Such a contraction can read only arguments and pads of
/// arguments.
static bool makesFactor(Operation *op, Operation *reader) {
  if (!isGuardedContraction(reader))
    return false;
  auto inputs = cast<linalg::LinalgOp>(reader).getDpsInputs();
  return llvm::any_of(inputs, [&](Value factor) {
    if (auto pad = factor.getDefiningOp<tensor::PadOp>())
      factor = pad.getSource();
    return factor.getDefiningOp() == op;
  });
}

class CudaBackend final : public Backend {
public:
  llvm::StringRef getName() const override { return "cuda"; }
  bool supports(const Target &target) const override { return target.isCuda(); }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    exec::ExecDialect, func::FuncDialect, linalg::LinalgDialect,
                    math::MathDialect, tensor::TensorDialect>();
  }

  ConvolutionLayout getConvolutionLayout(const Target &target) const override {
    return convolutionLayout(target);
  }
  double getChannelsLastGain(const Target &target,
                             const ImageConvolution &convolution,
                             Precision precision) const override {
    return channelsLastGain(convolution, target, precision);
  }

  bool canJoinLoopGroup(const Target &target, llvm::ArrayRef<Operation *> group,
                        Operation *op) const override {
    if (llvm::any_of(group, [&](Operation *member) {
          return makesFactor(member, op) || makesFactor(op, member);
        }))
      return false;
    // A launch of 2 us takes as long as some hundred steps of a thread; those
    // of rows overlap more. Half of the multiprocessors at work are enough.
    return mlc::canJoinLoopGroup(
        group, op,
        {.operations = 32,
         .scratchBytes = 1 << 20,
         .recomputeBeyond = sharedLimit,
         .taskThreads = threads,
         .fullThreads = target.cost.units * threads / 2,
         .rowSteps = 320,
         .columnSteps = 128,
         .shortReduction = shortReduction,
         .repeats = Repeats::BySteps});
  }

  bool canWidenFactors() const override { return true; }
  bool canComputeParts() const override { return true; }
  bool canPermuteResult() const override { return true; }
  bool canRepeat(const Kernel &kernel, unsigned input,
                 const Target &target) const override {
    return canRepeatRows(kernel, input, {target});
  }
  bool canReadPadded(linalg::LinalgOp, tensor::PadOp pad) const override {
    return pad.getConstantPaddingValue() != nullptr;
  }

  bool canJoin(llvm::ArrayRef<const Kernel *> kernels, const Target &target,
               Precision precision) const override {
    return canJoinGroups(kernels, {target, precision});
  }
  std::optional<ConstantTransform>
  findTransform(const Kernel &kernel, const Target &target,
                Precision precision) const override {
    return findAlongK(kernel, {target, precision});
  }

  bool canCompileOpaque(llvm::StringRef libraryKernel) const override {
    return hasOpaqueKernel(libraryKernel);
  }

  std::vector<std::pair<llvm::StringRef, llvm::StringRef>>
  getSourceHeaders() const override {
    std::vector<std::pair<llvm::StringRef, llvm::StringRef>> headers;
    for (const char *name : deviceHeaderNames)
      headers.push_back({name, skeletonText(name)});
    return headers;
  }

  std::optional<double>
  getProductSeconds(const Target &target,
                    const ProductShape &shape) const override {
    return productSeconds(shape, target);
  }
  bool cutsKernelsAtParts() const override { return true; }
  std::optional<double> getJoinedSeconds(const Target &target,
                                         const ProductShape &shape,
                                         unsigned count) const override {
    return joinedSeconds(shape, target, count);
  }

  llvm::Expected<SourceTree> printProgram(const runtime::Program &program,
                                          llvm::ArrayRef<KernelImage> images,
                                          uint64_t weightsSize,
                                          const Target &target) const override {
    return cuda::printProgram(program, images, weightsSize, target);
  }

  FailureOr<CompiledKernels>
  compile(ModuleOp module, const Target &target,
          const CodegenOptions &options) const override {
    return compileKernels(module, target, options);
  }
};

} // namespace

const Backend &getBackend() {
  static const CudaBackend backend;
  return backend;
}

} // namespace mlc::cuda
