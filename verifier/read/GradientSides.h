//===- GradientSides.h - The sides of gradient goals ------------*- C++ -*-===//
//
// Internal to GradientGoals.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_GRADIENTSIDES_H
#define MLC_VERIFIER_READ_GRADIENTSIDES_H

#include "verifier/read/Goal.h"

namespace mlc::verifier::gradient {

/// The positions of float types.
llvm::SmallVector<unsigned> floatsOf(mlir::TypeRange types);

/// The programs read from f and g.
struct Read {
  SharedInputs shared;
  llvm::SmallVector<unsigned> arguments, results; // of f, those of floats
  Program f, g;

  Read(mlir::func::FuncOp function, mlir::func::FuncOp gradient);

  std::string failure() const {
    return f.failure.empty() ? g.failure : f.failure;
  }
};

/// Programs over the arguments of a goal: those of f, the cotangents and
/// the tangents.
class Sides {
public:
  /// `isZeroWhereSteep` as in Tangent.h.
  Sides(const Read &read, mlir::MLIRContext *context,
        bool isZeroWhereSteep = true);

  /// f, and g.
  Program function() const;
  Program gradient() const;

  /// <dy, J t> for the tangents t of each argument, and 0 times each number of
  /// f: there is no derivative where f has no value.
  Program before() const;
  /// <t, g> for the tangents t of each argument.
  Program after() const;

  std::vector<std::string> argumentNames(mlir::func::FuncOp function) const;

private:
  TensorId cotangent(unsigned k) const { return {false, f.numArguments + k}; }
  TensorId tangent(unsigned k) const {
    return {false, f.numArguments + numCotangents + k};
  }
  TensorId inputOf(unsigned index) const;
  void chooseType();
  void addTangents(Program &side, const Program &read) const;
  void addForward(Program &side, unsigned k) const;
  void addProduct(Definition &own,
                  llvm::ArrayRef<std::pair<TensorId, TensorId>> pairs,
                  llvm::ArrayRef<TensorId> others = {}) const;
  llvm::SmallVector<TensorId> partialResults() const;

  mlir::MLIRContext *context;
  const Program &f, &g;
  llvm::ArrayRef<unsigned> arguments, results;
  unsigned numCotangents, numTangents;
  Definition original; // f's, with all that it reads among its inputs
  mlir::Type type;     // of all numbers
  bool isZeroWhereSteep;
};

} // namespace mlc::verifier::gradient

#endif // MLC_VERIFIER_READ_GRADIENTSIDES_H
