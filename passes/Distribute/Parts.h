//===- Parts.h - The tensors of a rank --------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTS_H
#define MLC_PASSES_DISTRIBUTE_PARTS_H

#include "mlir/IR/Builders.h"
#include "passes/Distribute/PartitionOptions.h"
#include "passes/Distribute/Place.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mlc::dist {

/// The parts that a rank has of each tensor of the original: at the place where
/// it was computed, and at each other place that a reader needed, once each.
class Parts {
public:
  Parts(mlir::OpBuilder &builder, AxisAttr axis,
        const PartitionOptions &options)
      : builder(builder), axis(axis), options(options) {}

  /// Sets `part`, the part of `whole` at `place`, where it was computed.
  void set(mlir::Value whole, const Place &place, mlir::Value part);
  /// Defers `whole`: it is computed on demand, all of it or parts. A part at
  /// `place` needs no exchange.
  void setDeferred(mlir::Value whole, const Place &place) {
    tensors[whole].isDeferred = true;
    tensors[whole].deferred = place;
    tensors[whole].isState = place.isSplit();
  }
  /// Makes the part at `place`, which exists, the first: readers are planned
  /// for it.
  void prefer(mlir::Value whole, const Place &place);
  /// Whether it is not computed yet, except for parts that were needed.
  bool isDeferred(mlir::Value whole) const {
    auto it = tensors.find(whole);
    return it != tensors.end() && it->second.isDeferred;
  }
  /// Forgets the copies at other places of split states, and of tensors that
  /// are computed from these alone.
  void forgetStates();
  void setState(mlir::Value whole) { tensors[whole].isState = true; }

  /// The place where it was or will be computed.
  Place placeOf(mlir::Value whole) const;
  /// The part that exists at `place`, or null.
  mlir::Value find(mlir::Value whole, const Place &place) const;
  /// Roughly the bytes that a rank receives to have it at `place`;
  /// `costOfDeferred` answers for a deferred tensor.
  double costOf(mlir::Value whole, const Place &place) const;

  std::function<double(mlir::Value, const Place &)> costOfDeferred;

  /// The part at `place`, brought there at the builder's insertion point.
  /// Precondition: it is not deferred, except that the part without its halo
  /// may be.
  mlir::FailureOr<mlir::Value> bring(mlir::Value whole, const Place &place);

  /// A collective that reduces the ranks' values.
  mlir::FailureOr<mlir::Value> reduce(mlir::Value partial, Reduction reduction,
                                      mlir::Location loc);

  /// A collective that gathers the ranks' parts.
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
  /// Results of `costOfDeferred`, valid until a part is made or forgotten. An
  /// operator that reads a tensor twice asks twice at every level.
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
