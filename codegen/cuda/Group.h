//===- Group.h - Kernels without a contraction as CUDA C++ ------*- C++ -*-===//
//
// Five skeletons run a loop group (codegen/kernel/LoopGroup.h):
//
//   elementwise  a thread computes one element of each output directly from
//                the inputs
//   columns      a thread runs the whole group for one index of the shared
//                dims, the last of which is the outputs' last: neighbours read
//                and write neighbours. Either a thread has one element of each
//                output and stored intermediate, or reductions read
//                neighbouring elements in neighbouring threads
//   rows         a block runs the whole group for one index of the shared dims:
//                its threads share the work of each operation, with a barrier
//                between operations; rows of a known length by vectors, each
//                thread the same ones in all operations (LongRows.h)
//   warps        the same for rows of a known length, which a team of threads
//                has in registers (Rows.h)
//   sums         blocks share the long sums of a group that has one reduction,
//                and one of them computes the elements that depend on each
//                (Sums.cpp)
//
// Stored intermediates are in shared memory if all of them fit, else in the
// scratch memory of the block.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_GROUP_H
#define MLC_CODEGEN_CUDA_GROUP_H

#include "codegen/cuda/KernelPrinter.h"
#include "codegen/kernel/LoopGroup.h"

namespace mlc::cuda {

/// Threads of a block: they share a task, or run one task each.
constexpr int64_t threads = 256;
/// A single thread runs reductions of at most this many steps.
constexpr int64_t shortReduction = 64;
/// Stored intermediates of a block beyond this size are in scratch memory, or
/// are recomputed if possible.
constexpr int64_t sharedLimit = 32 << 10;

/// The operations that reduce, in order.
llvm::SmallVector<mlir::linalg::LinalgOp> reductionsOf(const Kernel &kernel);
/// Whether a reduction has so few steps that one thread can run it.
bool isShort(const Kernel &kernel, mlir::linalg::LinalgOp op);

/// For each result of `op` the operation that accumulates it and has an
/// identity; empty if any result is combined in another copyMode.
llvm::SmallVector<mlir::Operation *> combinersOf(mlir::linalg::LinalgOp op);
/// How warps exchange a value called `name`: small integers and bools as int.
std::string exchanged(mlir::Type type, const std::string &name);

bool acceptsElementwise(const Kernel &kernel, const EmitOptions &options);
bool acceptsColumns(const Kernel &kernel, const EmitOptions &options);
bool acceptsWarps(const Kernel &kernel, const EmitOptions &options);
/// Whether the skeleton `warps` can run the kernel several times in a launch,
/// each time with its result in the place of input `input`.
bool canRepeatRows(const Kernel &kernel, unsigned input,
                   const EmitOptions &options);
bool acceptsSums(const Kernel &kernel, const EmitOptions &options);
bool acceptsLongRows(const Kernel &kernel, const EmitOptions &options);

// Each emits an error and fails where it cannot.
mlir::FailureOr<KernelText> emitElementwise(KernelPrinter &to);
mlir::FailureOr<KernelText> emitSums(KernelPrinter &to);
mlir::FailureOr<KernelText> emitWarps(KernelPrinter &to);
mlir::FailureOr<KernelText> emitLongRows(KernelPrinter &to);
mlir::FailureOr<KernelText> emitRows(KernelPrinter &to);
mlir::FailureOr<KernelText> emitColumns(KernelPrinter &to);

/// Prints a loop group, operation by operation, for one task.
class GroupPrinter {
public:
  /// `perThread`: each thread has its own stored intermediates.
  GroupPrinter(KernelPrinter &to, bool perThread);

  /// Places outputs and stored intermediates, and sets the shared and scratch
  /// bytes in `text`.
  void place(KernelText &text);
  /// All operations whose results are stored, at `shared`.
  void printGroup(llvm::ArrayRef<Index> shared);

  LoopGroup plan;

private:
  void print(mlir::Operation *op);
  void printCopy(mlir::Value value, const View &to, const Binding &binding);
  void printLinalg(mlir::linalg::LinalgOp op);
  void printReduction(mlir::linalg::LinalgOp op, Indices loops,
                      llvm::ArrayRef<unsigned> free);
  void reduceByTeam(mlir::linalg::LinalgOp op, Indices loops,
                    llvm::StringRef rank, llvm::StringRef team);
  void combineAcross(mlir::linalg::LinalgOp op,
                     llvm::ArrayRef<std::string> partials, bool byBlock);
  void storeResults(mlir::linalg::LinalgOp op, llvm::ArrayRef<Index> loops,
                    llvm::ArrayRef<std::string> values);
  /// For every place of the dims with these extents, shared out among the
  /// threads (or one after another, where each thread has its own).
  void forEach(llvm::ArrayRef<IntExpr> extents,
               llvm::function_ref<void(llvm::ArrayRef<Index>)> inside);
  void sync();
  bool needsSync(mlir::Operation *op) const;
  bool reads(mlir::Operation *op,
             llvm::function_ref<bool(mlir::Value)> isSought) const;
  bool isOneElement(mlir::Operation *op) const;
  bool isTeamReduction(mlir::Operation *op) const;

  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  bool perThread;
  Indices shared;
  /// What was written since the last barrier, and whether warps have exchanged
  /// anything since.
  llvm::SetVector<mlir::Value> written;
  bool hasExchanged = false;
  /// Bytes of shared memory for exchanges between warps.
  int64_t exchangeBytes = 0;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_GROUP_H
