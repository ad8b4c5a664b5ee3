//===- Backend.cpp - Code for CPUs ----------------------------------------===//

#include "codegen/cpu/Backend.h"
#include "codegen/cpu/Emit.h"
#include "codegen/cpu/Fusion.h"
#include "codegen/cpu/Winograd.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace mlc::cpu {
namespace {

class CPUBackend final : public Backend {
public:
  llvm::StringRef getName() const override { return "cpu"; }
  bool supports(const Target &target) const override {
    return target.hasCode() && !target.isCuda();
  }

  void registerDialects(DialectRegistry &registry) const override {
    registry
        .insert<affine::AffineDialect, arith::ArithDialect, exec::ExecDialect,
                func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                tensor::TensorDialect, vector::VectorDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }

  ConvolutionLayout getConvolutionLayout(const Target &) const override {
    return {.block = 16};
  }

  bool canJoinLoopGroup(const Target &, llvm::ArrayRef<Operation *> group,
                        Operation *op) const override {
    return cpu::canJoinLoopGroup(group, op);
  }
  bool canPadResult(linalg::LinalgOp contraction,
                    tensor::PadOp pad) const override {
    return cpu::canPadResult(contraction, pad);
  }
  bool canReadThrough(linalg::GenericOp contraction, AffineMap before,
                      AffineMap movement, AffineMap after) const override {
    return cpu::canReadThrough(contraction, before, movement, after);
  }

  std::optional<ConstantTransform> findTransform(const Kernel &kernel,
                                                 const Target &target,
                                                 Precision) const override {
    return findWinograd(kernel, target);
  }
  double getConvolutionShare(const Target &target,
                             const ConvolutionShape &shape) const override {
    return cpu::getConvolutionShare(target, getConvolutionLayout(target),
                                    shape);
  }

  FailureOr<CompiledKernels>
  compile(ModuleOp module, const Target &target,
          const CodegenOptions &options) const override {
    return compileKernels(module, target, options);
  }
  std::optional<CompiledKernels> preview(ModuleOp module,
                                         const Target &target) const override {
    FailureOr<CompiledKernels> kernels = previewKernels(module, target);
    return failed(kernels) ? std::nullopt : std::optional(*kernels);
  }
};

} // namespace

const Backend &getBackend() {
  static const CPUBackend backend;
  return backend;
}

} // namespace mlc::cpu
