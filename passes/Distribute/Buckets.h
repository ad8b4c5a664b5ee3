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

/// A tensor to reduce; tensors of one kind may share a bucket.
struct BucketItem {
  int64_t bytes;
  unsigned kind;
};

/// The items of each bucket, for items in the order in which they become ready.
/// Full buckets come first, in the order in which they fill up; the rest follow
/// in the order of their last items.
std::vector<llvm::SmallVector<size_t>>
assignBuckets(llvm::ArrayRef<BucketItem> items,
              const runtime::BucketOptions &options);

/// Merges the reductions of gradients that fall into one bucket into one
/// operator, by what they reduce and the order in which it is ready. A bucket
/// stands directly after the last of its operands; readers of buckets follow
/// everything that reads none, in the order of the buckets. A reduction belongs
/// to a gradient if a state's new value depends on it and no reduction of more
/// than one element does. Tensors without a fixed size get no bucket. Returns
/// the number of buckets.
unsigned bucketReductions(mlir::func::FuncOp function,
                          const runtime::BucketOptions &options);

/// `mlc-bucket`, which runs bucketReductions on the entries of a module.
std::unique_ptr<mlir::Pass>
createBucketPass(const runtime::BucketOptions &buckets);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_BUCKETS_H
