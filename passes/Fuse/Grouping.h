//===- Grouping.h - Which ops run as one kernel -----------------*- C++ -*-===//
//
// Partitions the ops of a lowered function into groups; each becomes one
// kernel. Ops are visited once, in program order. Each joins the group of one
// of its operands if that pays, else it starts a group:
//
//   - A contraction starts a group and takes the element-wise ops and pads
//     that read its result where it is written (epilogue).
//   - Other ops form loop groups, as far as the back end prefers one
//     kernel for them.
//   - Views (reshapes, contiguous slices) are not work, neither are
//     concatenations whose pieces can be written in place.
//
// A value that is read outside its group is one of the kernel's outputs.
// Groups never depend on each other in a cycle.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_FUSE_GROUPING_H
#define MLC_PASSES_FUSE_GROUPING_H

#include "codegen/Backends.h"
#include "passes/Fuse/Views.h"

namespace mlc {

struct Group {
  /// In program order, including the views between ops of the group.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The contraction, if there is one.
  mlir::Operation *anchor = nullptr;
  /// An opaque operator: one op alone.
  mlir::Operation *opaque = nullptr;
  unsigned numReductions = 0;
};

class Grouping {
public:
  Grouping(mlir::func::FuncOp function, ShapeTable &shapes,
           const CodeTarget &target);

  llvm::ArrayRef<Group> getGroups() const { return groups; }
  /// An order in which the groups can run; an error if there is none. Gathers
  /// begin at most `window` bytes of results ahead of their readers, or one
  /// alone (Schedule.cpp).
  mlir::FailureOr<llvm::SmallVector<unsigned>> schedule(int64_t window) const;
  std::optional<unsigned> groupOf(mlir::Operation *op) const;
  /// The group that computes the memory that holds `value`.
  std::optional<unsigned> producerOf(mlir::Value value) const;
  const ShapeTable &getShapes() const { return shapes; }
  /// Whether the runtime's library computes the group, not a kernel.
  bool isLibraryCall(const Group &group) const;
  /// The bytes of tensors; more than any program has if that is not known.
  int64_t bytesOf(mlir::ValueRange values) const;
  /// The in-place concatenation that `value` is, or null.
  const InPlaceConcat *inPlaceConcatOf(mlir::Value value) const;

  /// Tensors that the ops of a group read but do not make, in order of
  /// appearance, except for those made by ops that every kernel makes itself
  /// (scalars, splats, empty tensors).
  llvm::SmallVector<mlir::Value> inputsOf(const Group &group) const;
  /// Results that are read outside the group, in program order.
  llvm::SmallVector<mlir::Value> outputsOf(const Group &group) const;

private:
  void placeConcatenations(mlir::func::FuncOp function);
  void findReads(mlir::func::FuncOp function);
  bool needsMemory(mlir::Operation *op) const;
  void assign(mlir::Operation *op);
  mlir::Operation *readerOfPadded(mlir::Operation *op) const;
  void start(mlir::Operation *op);
  void join(mlir::Operation *op, unsigned group,
            llvm::ArrayRef<mlir::Operation *> views);
  bool tryJoin(mlir::Operation *op, unsigned group);
  bool canJoinEpilogue(mlir::Operation *op, unsigned group) const;
  void tryMerge(mlir::Operation *op, unsigned into);
  bool dependsOn(llvm::ArrayRef<mlir::Operation *> ops, unsigned group) const;
  bool finds(unsigned from, llvm::ArrayRef<unsigned> targets,
             llvm::function_ref<bool(unsigned)> isLeft) const;
  /// Groups that read from `target` and span its beginning.
  llvm::SmallVector<unsigned> readersAround(unsigned target) const;
  /// Groups that `op` reads from, latest first.
  llvm::SmallVector<unsigned> producersOf(mlir::Operation *op) const;
  /// Views between `op` and results of `group`.
  llvm::SmallVector<mlir::Operation *> viewsBetween(mlir::Operation *op,
                                                    unsigned group) const;

  ShapeTable &shapes;
  const CodeTarget &target;
  const FusionLimits limits;
  llvm::SmallVector<Group> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> groupIndex;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  /// The reads of an op, which are needed again with every group that grows.
  struct Reads {
    /// Its tensors (getTensorReads).
    llvm::SmallVector<mlir::Value> values;
    /// The ops that make their memory: those behind views, and all pieces of a
    /// concatenation in place.
    llvm::SmallVector<mlir::Operation *> makers;
  };
  llvm::DenseMap<mlir::Operation *, Reads> reads;
  llvm::DenseMap<mlir::Value, InPlaceConcat> inPlaceConcats;
  /// insert_slice ops of concatenations in place.
  llvm::DenseSet<mlir::Operation *> placedInserts;
};

/// Ops that a kernel makes itself instead of taking their result as an input:
/// scalars, splats, empty tensors and fills.
bool isMadeInKernel(mlir::Operation *op);

/// Ops that a kernel is built for: structured and opaque ones, pads and slices.
bool isWork(mlir::Operation *op);

/// Tensor values that `op` reads, also in its regions, except for operands that
/// only give a result its shape.
llvm::SmallVector<mlir::Value> getTensorReads(mlir::Operation *op);

} // namespace mlc

#endif // MLC_PASSES_FUSE_GROUPING_H
