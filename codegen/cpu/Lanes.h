//===- Lanes.h - Code for one or several elements at once -------*- C++ -*-===//
//
// The loop-group emitter writes the computation of one element; a Lanes object
// decides whether that is one element (width 1: scalar code) or `width`
// neighbours along one loop (vector code). Values that do not differ between
// lanes stay scalars, so that they are computed once.
//
// Types in registers: f16 and bf16 are computed as f32 and rounded where they
// are stored or cast; bool is i1 (memory: i8).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_LANES_H
#define MLC_CODEGEN_CPU_LANES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace mlc::cpu {

/// An index per lane: `base + lane * step`, or an arbitrary vector.
struct LaneIndex {
  mlir::Value base;
  int64_t step = 0;
  mlir::Value vector;
  bool isUniform() const { return !vector && step == 0; }
};

/// A strided view of a flat memref: element i is at offset + sum i_k stride_k.
struct View {
  mlir::Value memref;
  mlir::Value offset;
  llvm::SmallVector<mlir::Value, 6> strides;
  /// The tensor's element type (i1 is stored as i8).
  mlir::Type element;
};

/// The cost of a piece of code, counted while it is emitted.
struct LaneCost {
  unsigned gathers = 0, contiguous = 0, uniform = 0;
  /// Something cannot be emitted for several lanes.
  bool impossible = false;
  /// An access that is slow under a mask.
  bool narrowAccess = false;
  /// Lanes are divided through one shared inverse; single elements are not.
  bool sharesInverse = false;
};

class Lanes {
public:
  Lanes(mlir::OpBuilder &builder, mlir::Location loc, unsigned width,
        mlir::Value mask = {})
      : b(builder), loc(loc), width(width), mask(mask) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  const unsigned width;
  /// vector<width x i1> of the active lanes; null for all.
  mlir::Value mask;
  LaneCost cost;

  /// The type in which values of `element` are computed (scalar).
  static mlir::Type computeType(mlir::Type element);
  /// `type`, or a vector of it.
  mlir::Type vectorType(mlir::Type scalar) const;
  static bool isVector(mlir::Value value);
  mlir::Value splat(mlir::Value value);
  mlir::Value floatConstant(mlir::Type type, double value);

  LaneIndex constant(int64_t value);
  LaneIndex uniform(mlir::Value value) { return {value, 0, {}}; }
  LaneIndex add(LaneIndex lhs, LaneIndex rhs);
  LaneIndex sub(LaneIndex lhs, LaneIndex rhs);
  LaneIndex mul(LaneIndex lhs, LaneIndex rhs);
  /// A binary integer op without simplification: floordivsi and the like.
  template <typename Op> LaneIndex apply(LaneIndex lhs, LaneIndex rhs) {
    if (lhs.isUniform() && rhs.isUniform())
      return uniform(b.createOrFold<Op>(loc, lhs.base, rhs.base));
    return {{}, 0, b.createOrFold<Op>(loc, toVector(lhs), toVector(rhs))};
  }
  LaneIndex mod(LaneIndex lhs, LaneIndex rhs);
  LaneIndex evaluate(mlir::AffineExpr expr, llvm::ArrayRef<LaneIndex> dims,
                     llvm::ArrayRef<LaneIndex> symbols);
  mlir::Value toVector(LaneIndex index);
  /// Scalar when uniform, else a vector.
  mlir::Value toValue(LaneIndex index);
  LaneIndex fromValue(mlir::Value value);
  /// Per lane `lower <= index < upper`, as i1 or a vector of it.
  mlir::Value inRange(LaneIndex index, mlir::Value lower, mlir::Value upper);

  mlir::Value load(const View &view, llvm::ArrayRef<LaneIndex> indices);
  void store(const View &view, llvm::ArrayRef<LaneIndex> indices,
             mlir::Value value);

  /// `op` (arith, math) on operands already in registers; one result.
  mlir::Value clone(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

private:
  LaneIndex address(const View &view, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value allLanes();
  void note(mlir::Type stored, const LaneIndex &address);
  mlir::Value divideByUniform(mlir::Value x, mlir::Value y);
  /// `sum` as a fused multiply-add, if it is the sum with a product.
  mlir::Value fusedSum(mlir::Operation *sum,
                       llvm::ArrayRef<mlir::Value> operands);
  mlir::Value cloneCast(mlir::Operation *op, mlir::Value operand);
  /// `value` rounded to the type `to`, in the type that `to` is computed in.
  mlir::Value rounded(mlir::Value value, mlir::Type to);
};

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_LANES_H
