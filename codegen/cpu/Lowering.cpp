//===- Lowering.cpp - Emitted bodies to the LLVM dialect ------------------===//

#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/Math.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace mlc::cpu {

namespace {
/// expands math functions to polynomials, and arith ops that LLVM has no
/// instruction for.
struct ExpandMath : PassWrapper<ExpandMath, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMath)
  StringRef getArgument() const override { return "mlc-expand-math"; }
  void runOnOperation() override {
    RewritePatternSet recognition(&getContext());
    populateMathRecognitionPatterns(recognition);
    walkAndApplyPatterns(getOperation(), std::move(recognition));
    RewritePatternSet patterns(&getContext());
    populateMathExpansionPatterns(patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

LogicalResult lowerToLLVMDialect(ModuleOp module) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  pm.addPass(createLowerAffinePass());
  // Compositions are recognized by the operands they share.
  pm.addPass(createCSEPass());
  pm.addPass(std::make_unique<ExpandMath>());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectorOptions;
  vectorOptions.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vectorOptions));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(module)))
    return failure();
  // Branches keep the loop annotations, but under a name that the translation
  // does not read.
  module.walk([](LLVM::BrOp branch) {
    constexpr StringLiteral name = "llvm.loop_annotation";
    if (Attribute annotation = branch->getDiscardableAttr(name)) {
      branch.setLoopAnnotationAttr(cast<LLVM::LoopAnnotationAttr>(annotation));
      branch->removeDiscardableAttr(name);
    }
  });
  return success();
}

} // namespace mlc::cpu
