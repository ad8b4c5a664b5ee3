//===- Parts.h - The tensors of a rank --------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTS_H
#define MLC_PASSES_DISTRIBUTE_PARTS_H

#include "mlir/IR/Builders.h"
#include "passes/Distribute/Partition.h"
#include "passes/Distribute/Place.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::dist {

/// What a rank has of each tensor of the original: the place where it came to
/// be, and others to which it was brought for those who read it, once each.
class Parts {
public:
  Parts(mlir::OpBuilder &builder, AxisAttr axis,
        const PartitionOptions &options)
      : builder(builder), axis(axis), options(options) {}

  /// `part` is what there is of `whole` at `place`, where it came to be. With
  /// `isKept` false it is brought elsewhere for each reader anew.
  void set(mlir::Value whole, const Place &place, mlir::Value part,
           bool isKept = true);
  /// `whole` will be made when somebody needs it, of what is whole everywhere:
  /// all of it, or parts.
  void setDeferred(mlir::Value whole) { tensors[whole].isDeferred = true; }
  /// Whether it is not yet made, but for parts that somebody needed.
  bool isDeferred(mlir::Value whole) const {
    auto it = tensors.find(whole);
    return it != tensors.end() && it->second.isDeferred;
  }
  /// Where it came to be; whole where it will be made.
  Place placeOf(mlir::Value whole) const;
  /// What there is at `place` already, or null.
  mlir::Value find(mlir::Value whole, const Place &place) const;
  /// About how many bytes a rank receives for `place`.
  double costOf(mlir::Value whole, const Place &place) const;

  /// The part at `place`, brought there at the builder's place. Precondition:
  /// it is not deferred; what is not partial is not wanted so.
  mlir::FailureOr<mlir::Value> bring(mlir::Value whole, const Place &place);

  /// A collective that gives the reduction of what ranks have.
  mlir::FailureOr<mlir::Value> reduce(mlir::Value partial, Reduction reduction,
                                      mlir::Location loc);

private:
  struct Part {
    Place place;
    mlir::Value value;
  };
  struct Tensor {
    llvm::SmallVector<Part, 2> parts;
    bool isDeferred = false, isKept = true;
  };

  mlir::FailureOr<mlir::Value> change(mlir::Value whole, const Part &from,
                                      const Place &to);
  mlir::FailureOr<mlir::Value> cut(mlir::Value part, const Place &to,
                                   mlir::Location loc);
  mlir::FailureOr<mlir::Value> gather(const Part &from, mlir::Location loc);
  mlir::FailureOr<mlir::Value> scatter(const Part &from, const Place &to,
                                       mlir::Location loc);
  mlir::FailureOr<mlir::Value> turn(mlir::Value whole, const Part &from,
                                    const Place &to);

  mlir::OpBuilder &builder;
  AxisAttr axis;
  const PartitionOptions &options;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
};

/// An operator of `name` with the attributes of a dist operator.
mlir::FailureOr<mlir::Value>
createCollective(mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::StringRef name, mlir::Value operand,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PARTS_H
