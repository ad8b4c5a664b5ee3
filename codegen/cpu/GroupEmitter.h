//===- GroupEmitter.h - Code of a loop-group kernel -------------*- C++ -*-===//
//
// Walks the plan of a LoopGroup and writes its loops. Tensors are read through
// `element`: from memory if they are stored, else by emitting their
// computation, so that chains of element-wise ops, views and padding fuse into
// their readers.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_GROUPEMITTER_H
#define MLC_CODEGEN_CPU_GROUPEMITTER_H

#include "codegen/cpu/Body.h"
#include "codegen/cpu/Lanes.h"
#include "codegen/kernel/LoopGroup.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlc::cpu {

class GroupEmitter {
public:
  GroupEmitter(KernelBody &body, const LoopGroup &plan);

  /// Writes the whole body.
  mlir::FailureOr<EmittedKernel> run();

private:
  using Indices = llvm::SmallVector<LaneIndex, 6>;
  using ElementFn =
      llvm::function_ref<void(Lanes &, llvm::ArrayRef<LaneIndex>)>;

  /// One loop of a nest: a range, or a fixed index.
  struct Loop {
    mlir::Value low, high, fixed;
    std::optional<int64_t> extent;
  };
  /// How a nest runs: which loop carries lanes, how many, and how the remainder
  /// runs.
  struct Schedule {
    int lane = -1;
    unsigned width = 1;
    bool maskedTail = false;
    bool laneReduces = false;
  };

  // Set-up (GroupEmitter.cpp).
  void createViews();
  void createConstants();
  void createScratch();
  void refreshTileOffsets();
  mlir::Value sizeOf(IntExpr expr);
  void emitTask(mlir::Value task);
  void emitGroup();
  void materialize(mlir::Operation *op);
  void materializeCopy(mlir::Value value, const View &to,
                       const Binding &binding);
  void materializePieces(mlir::Operation *op, const View &to,
                         const Binding &binding);
  void materializeLinalg(mlir::linalg::LinalgOp op);

  // Loops (GroupLoops.cpp).
  Loop loopFor(IntExpr size, int id);
  llvm::SmallVector<mlir::Value>
  forLoop(mlir::Value low, mlir::Value high, int64_t step,
          mlir::ValueRange init,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                            mlir::ValueRange)>
              write);
  void ifPositive(mlir::Value count, std::optional<int64_t> known,
                  llvm::function_ref<void()> write);
  void runNest(llvm::ArrayRef<Loop> loops, const Schedule &schedule,
               ElementFn write);
  void runLevel(llvm::ArrayRef<Loop> loops, unsigned level,
                const Schedule &schedule, Indices &indices, ElementFn write);
  void runLane(const Loop &loop, const Schedule &schedule, Indices &indices,
               ElementFn write);
  LaneCost tryOut(unsigned width, unsigned loops, int lane, ElementFn write);
  unsigned widthFor(const Loop &loop) const;
  Schedule chooseSchedule(llvm::ArrayRef<Loop> loops,
                          llvm::ArrayRef<bool> reduces, bool mayReduceLanes,
                          ElementFn write);
  mlir::Value tailMask(unsigned width, mlir::Value count);

  // Reductions (GroupReduce.cpp).
  bool combiners(mlir::linalg::LinalgOp op,
                 llvm::SmallVectorImpl<mlir::vector::CombiningKind> &kinds);
  /// Results of `op` at the parallel indices of `loops`, by sequential loops
  /// over its reduction dims.
  llvm::SmallVector<mlir::Value> reduceInOrder(mlir::linalg::LinalgOp op,
                                               Lanes &lanes, Indices loops);
  /// The same (scalars) with lanes along reduction loop `lane`.
  llvm::SmallVector<mlir::Value>
  reduceAcross(mlir::linalg::LinalgOp op, Lanes &scalar, Indices loops,
               const Schedule &schedule,
               llvm::ArrayRef<mlir::vector::CombiningKind> kinds);
  llvm::SmallVector<mlir::Value> accumulate(mlir::linalg::LinalgOp op,
                                            const Schedule &schedule,
                                            unsigned level, Indices &loops,
                                            llvm::SmallVector<mlir::Value> accs,
                                            unsigned copies);
  llvm::SmallVector<mlir::Value>
  accumulateLane(mlir::linalg::LinalgOp op, const Schedule &schedule,
                 Indices &loops, llvm::SmallVector<mlir::Value> accs,
                 unsigned copies);
  llvm::SmallVector<mlir::Value> initials(mlir::linalg::LinalgOp op,
                                          Lanes &lanes,
                                          llvm::ArrayRef<LaneIndex> loops);

  // Elements (GroupElement.cpp).
  mlir::Value element(Lanes &lanes, mlir::Value tensor,
                      llvm::ArrayRef<LaneIndex> indices);
  mlir::Value linalgElement(Lanes &lanes, mlir::linalg::LinalgOp op,
                            unsigned result, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value padElement(Lanes &lanes, mlir::tensor::PadOp pad,
                         llvm::ArrayRef<LaneIndex> indices);
  mlir::Value viewElement(Lanes &lanes, mlir::Operation *op,
                          llvm::ArrayRef<LaneIndex> indices);
  mlir::Value extractElement(Lanes &lanes, mlir::Value tensor,
                             llvm::ArrayRef<LaneIndex> indices,
                             llvm::ArrayRef<bool> inBounds);
  /// `inside()` where `condition` (a scalar or per lane) holds, else
  /// `otherwise`, without evaluating reads where the condition is false.
  mlir::Value guarded(Lanes &lanes, mlir::Value condition,
                      mlir::Value otherwise,
                      llvm::function_ref<mlir::Value()> inside);
  /// What the body of `op` yields at `loops`; `accumulators` stand for its
  /// output arguments.
  llvm::SmallVector<mlir::Value>
  evaluateBody(Lanes &lanes, mlir::linalg::LinalgOp op,
               llvm::ArrayRef<LaneIndex> loops,
               llvm::ArrayRef<mlir::Value> accumulators);
  mlir::Value scalar(Lanes &lanes, mlir::Value value);
  Indices mapIndices(Lanes &lanes, mlir::AffineMap map,
                     llvm::ArrayRef<LaneIndex> loops);
  friend class BodyEvaluator;

  KernelBody &body;
  const LoopGroup &plan;
  const Kernel &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  unsigned nativeWidth = 1;

  llvm::DenseMap<mlir::Value, View> views;
  /// Tensor constants; kept apart from `views` because a constant may be an
  /// output.
  llvm::DenseMap<mlir::Value, View> constants;
  llvm::DenseMap<IntExpr, mlir::Value> sizes;
  /// Sizes are computed before this op once it exists.
  mlir::Operation *taskLoop = nullptr;
  IntExpr scratchBytes;
  /// Index of each shared dim that is not tiled; the tiled dim's range.
  llvm::SmallVector<mlir::Value> sharedIndex;
  mlir::Value tileLow, tileHigh;
  bool failed = false;
};

/// The emitter of all other kernels, for the table in Emit.cpp.
mlir::FailureOr<EmittedKernel> emitLoopGroup(KernelBody &body);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_GROUPEMITTER_H
