//===- WindowPrinters.h - Kernels of windows by their plans -----*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_WINDOWPRINTERS_H
#define MLC_CODEGEN_CUDA_WINDOWPRINTERS_H

#include "codegen/cuda/WindowPlans.h"

namespace mlc::cuda {

/// Prints windows in planes: a task brings its input, computes sums, and
/// finishes them.
class PlanesPrinter {
public:
  PlanesPrinter(KernelPrinter &to, const PlanesPlan &plan)
      : to(to), kernel(to.kernel), printer(to.printer), code(to.code),
        plan(plan), w(plan.w), op(plan.w.op), shape(plan.w.shape(to.kernel)),
        block(std::to_string(plan.block)) {}

  KernelText print();

private:
  void printTask();
  void bring();
  void compute();
  void printItem();
  void printSums(const Indices &loops);
  void reduceWindows(Indices loops);
  void readRow(const Indices &loops);
  void addRow(const Indices &loops);
  void finish();
  void finishItem();
  void finishElement(const std::string &sum, llvm::ArrayRef<Index> places);
  void finishRun(const std::string &base, const std::string &total,
                 const Index &plane);
  void finishVector(const std::string &base, const Index &plane);
  llvm::SmallVector<std::string> pointers();
  void placeGroups(const Index &plane, llvm::MutableArrayRef<Index> places);
  View viewOfTile(unsigned i);
  std::string windowIndex(const std::string &column = "") const;
  /// A loop over the kernel's places along all dims but the slowest; `reads`:
  /// along the fastest, over what the thread's elements read.
  void forInner(bool reads, llvm::function_ref<void()> inside);
  std::string sumOf(const std::string &column) const;
  /// A loop over the thread's elements next to each other, with the place of
  /// each in `loops`.
  void forColumns(Indices loops,
                  llvm::function_ref<void(const Indices &)> inside);

  KernelPrinter &to;
  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  const PlanesPlan &plan;
  const Windows &w;
  mlir::linalg::LinalgOp op;
  llvm::ArrayRef<IntExpr> shape;
  std::string block;
  /// The thread's index along each dim of windows, and those of its group along
  /// the dims in front of them.
  llvm::SmallVector<Index> inner;
  Indices places;
};

/// Prints windows of pixels: a thread brings weights, computes sums, and
/// finishes them.
class PixelsPrinter {
public:
  PixelsPrinter(KernelPrinter &to, const PixelsPlan &plan)
      : to(to), kernel(to.kernel), printer(to.printer), code(to.code),
        plan(plan), w(plan.w), op(plan.w.op), width(std::to_string(plan.width)),
        shape(plan.w.shape(to.kernel)), loops(op.getNumLoops(), Index(0)),
        taps(plan.w.dims.size(), Index(0)) {}

  KernelText print();

private:
  void bringRuns();
  void waitForRuns();
  std::string findTile();
  void placeThread();
  void computeThread();
  void loadWeights();
  void loadOperand(unsigned number);
  void startSums();
  void reduceWindows();
  std::string loadOf(unsigned i, std::string condition);
  void loadPixels(const std::string &isIn);
  void readPixels();
  void readPixel();
  void addPixels();
  void finish();
  void finishPixel();
  Index addressOf(unsigned input, llvm::ArrayRef<mlir::AffineExpr> places);
  std::string inside();
  std::string tapNumber();
  std::string vectorOf(mlir::Type element) const {
    return "Vector<" + storageType(element) + ", " + width + ">";
  }
  Index inputIndex(unsigned d);
  void forChannels(llvm::function_ref<void()> inside);
  void forTaps(unsigned first, unsigned last,
               llvm::function_ref<void()> inside);

  KernelPrinter &to;
  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  const PixelsPlan &plan;
  const Windows &w;
  mlir::linalg::LinalgOp op;
  std::string width;
  llvm::ArrayRef<IntExpr> shape;
  /// Loops of the reduction, and the kernel's place along each dim.
  Indices loops;
  llvm::SmallVector<Index> taps;
  /// The thread's first index along each dim of the result.
  Indices places;
  /// In the operand, the index of what is read along each dim of windows.
  llvm::SmallVector<Index> at;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_WINDOWPRINTERS_H
