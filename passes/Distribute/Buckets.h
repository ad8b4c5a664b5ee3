//===- Buckets.h - Reductions of gradients, several at a time ---*- C++ -*-===//
//
// Sources: compute_bucket_assignment_by_size in PyTorch's
// torch/csrc/distributed/c10d/reducer.cpp and Horovod's
// Controller::FuseResponses (horovod/common/controller.cc).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_BUCKETS_H
#define MLC_PASSES_DISTRIBUTE_BUCKETS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/plan/Plan.h"

namespace mlc {

/// A tensor that is to be reduced; those of one kind may share a bucket.
struct BucketItem {
  int64_t bytes;
  unsigned kind;
};

/// The items of each bucket, for items in the order in which they become ready.
/// Buckets are in the order in which they are full; those that never are come
/// last, in the order of their last items.
std::vector<llvm::SmallVector<size_t>>
assignBuckets(llvm::ArrayRef<BucketItem> items,
              const runtime::BucketOptions &options);

/// Makes one operator of all that reduce gradients and fall into one bucket, by
/// what they reduce and the order in which it is ready. A bucket stands
/// directly behind the last of its operands, and what reads a bucket behind
/// everything that reads none, by buckets. A reduction is a gradient's if
/// a state's new value depends on it, and no reduction of more than one
/// element. What has no fixed size stays by itself. Returns how many buckets
/// there are.
unsigned bucketReductions(mlir::func::FuncOp function,
                          const runtime::BucketOptions &options);

/// `mlc-bucket`, which does that to the entries of a module.
std::unique_ptr<mlir::Pass>
createBucketPass(const runtime::BucketOptions &buckets);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_BUCKETS_H
