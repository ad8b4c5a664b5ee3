//===- Parts.h - The tensors of a rank --------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTS_H
#define MLC_PASSES_DISTRIBUTE_PARTS_H

#include "mlir/IR/Builders.h"
#include "passes/Distribute/PartitionOptions.h"
#include "passes/Distribute/Place.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mlc::dist {

/// What a rank has of each tensor of the original: the place where it came to
/// be, and others to which it was brought for those who read it, once each.
class Parts {
public:
  Parts(mlir::OpBuilder &builder, AxisAttr axis,
        const PartitionOptions &options)
      : builder(builder), axis(axis), options(options) {}

  /// `part` is what there is of `whole` at `place`, where it came to be.
  void set(mlir::Value whole, const Place &place, mlir::Value part);
  /// `whole` will be made when somebody needs it, all of it, or parts; those at
  /// `place` take no exchange.
  void setDeferred(mlir::Value whole, const Place &place) {
    tensors[whole].isDeferred = true;
    tensors[whole].deferred = place;
    tensors[whole].isState = place.isSplit();
  }
  /// Whether it is not yet made, but for parts that somebody needed.
  bool isDeferred(mlir::Value whole) const {
    auto it = tensors.find(whole);
    return it != tensors.end() && it->second.isDeferred;
  }
  /// What was brought elsewhere of states that are split, and of what is made
  /// of them alone, is not used from here on.
  void forgetStates();
  void setState(mlir::Value whole) { tensors[whole].isState = true; }

  /// Where it came to be, or will.
  Place placeOf(mlir::Value whole) const;
  /// What there is at `place` already, or null.
  mlir::Value find(mlir::Value whole, const Place &place) const;
  /// About how many bytes a rank receives for `place`; `costOfDeferred` tells
  /// that of what is not yet made.
  double costOf(mlir::Value whole, const Place &place) const;

  std::function<double(mlir::Value, const Place &)> costOfDeferred;

  /// The part at `place`, brought there at the builder's place. Precondition:
  /// it is not deferred, but for the part without its halo.
  mlir::FailureOr<mlir::Value> bring(mlir::Value whole, const Place &place);

  /// A collective that gives the reduction of what ranks have.
  mlir::FailureOr<mlir::Value> reduce(mlir::Value partial, Reduction reduction,
                                      mlir::Location loc);

  /// A collective that gives all of what each rank has a part of.
  mlir::FailureOr<mlir::Value> gather(mlir::Value part, const Place &place,
                                      mlir::Location loc);

private:
  struct Part {
    Place place;
    mlir::Value value;
  };
  struct Tensor {
    llvm::SmallVector<Part, 2> parts;
    bool isDeferred = false, isState = false;
    Place deferred;
  };

  mlir::FailureOr<mlir::Value> change(mlir::Value whole, const Part &from,
                                      const Place &to);
  mlir::FailureOr<mlir::Value> cut(mlir::Value part, const Place &to,
                                   mlir::Location loc);
  mlir::FailureOr<mlir::Value> makeTerm(mlir::Value value, Reduction reduction,
                                        mlir::Location loc);
  mlir::FailureOr<mlir::Value> scatter(const Part &from, const Place &to,
                                       mlir::Location loc);
  void
  addAlgorithm(llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes) const;
  mlir::FailureOr<mlir::Value> widen(mlir::Value whole, const Place &to);
  mlir::FailureOr<mlir::Value> turn(mlir::Value whole, const Part &from,
                                    const Place &to);

  mlir::OpBuilder &builder;
  AxisAttr axis;
  const PartitionOptions &options;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  /// Answers of `costOfDeferred`, which hold until a part is made or forgotten.
  /// What reads a tensor twice asks twice at every level.
  mutable llvm::DenseMap<mlir::Value,
                         llvm::SmallVector<std::pair<Place, double>, 2>>
      deferredCosts;
  int64_t gatherings = 0;
};

/// An operator of `name` with the attributes of a dist operator.
mlir::FailureOr<mlir::Value>
createCollective(mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::StringRef name, mlir::Value operand,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PARTS_H
