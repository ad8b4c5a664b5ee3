//===- Cost.h - The cost of an operator on a target -------------*- C++ -*-===//
//
// Derived from definitions and a target description alone. A contraction takes
// the longest of three times: its tiles on the units, in waves; the tiles'
// operands from the shared cache; its bytes from memory. Everything else takes
// the time of its bytes or scalar arithmetic, and each kernel has a fixed cost.
// Work on constants is free (it happens at compile time), as is a reshape (it
// shares storage). Pointwise work after another operator is nearly free (it is
// fused).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_COST_COST_H
#define MLC_REWRITES_COST_COST_H

#include "codegen/target/AlgorithmCosts.h"
#include "codegen/target/CostParameters.h"
#include "mlir/IR/Operation.h"
#include "rewrites/Cost/TimingCache.h"
#include "rewrites/Cost/Work.h"
#include <map>
#include <unordered_map>

namespace mlc {

/// Facts about the graph around an operator, for operators that are in none
/// (e-graph nodes).
struct OperandFacts {
  /// Every result is known when the model is compiled.
  bool resultsAreCompileTime = false;
  /// Some operand comes from an operator at run time.
  bool isFed = false;
  /// Every operand but the first is known when the model is compiled.
  bool hasConstantWeights = true;
  /// Some operator reads a part of the result, perhaps behind reshapes
  /// (CostModel::readsPart).
  bool isCut = false;
  /// How many operators like it read the same first operand, which is computed
  /// at run time; itself included.
  unsigned siblings = 1;
};

/// Estimates operators of one context; not thread-safe.
class CostModel {
public:
  /// With `timings`, which must outlive the model, measured operators cost
  /// their measured time, and others the learned one if there is one. With
  /// `algorithms`, contractions cost what the back end's code takes;
  /// convolutions are asked for once per shape. `sizes` overrides the
  /// parameters' common size for some symbols.
  explicit CostModel(CostParameters given, const TimingCache *timings = nullptr,
                     AlgorithmCosts algorithms = {},
                     std::map<std::string, int64_t, std::less<>> sizes = {})
      : parameters(std::move(given)), timings(timings),
        algorithms(std::move(algorithms)),
        symbols{std::move(sizes), parameters.symbolValue} {}

  /// The model by which a search changes `graph`: kernels that `graph` does not
  /// have, and that nobody measured, cost more by the error of predictions
  /// (CostParameters::predictionError). So a change must gain more than that.
  CostModel chargingNewKernels(mlir::Region &graph) const;

  /// Seconds of one run of `op`, with the facts derived from its operands.
  double seconds(mlir::Operation *op) const;
  /// The same with given facts; uses only `op`'s name, attributes and types.
  /// Caches the work per operator signature.
  double seconds(mlir::Operation *op, const OperandFacts &facts) const;
  /// Operations and bytes at the target's full rates, ignoring idle units.
  /// Distinguishes operators with equal `seconds` if one does useless work on
  /// units that the other leaves idle. At most twice `seconds`.
  double effort(mlir::Operation *op, const OperandFacts &facts) const;
  /// The sum over all operators in a region's blocks.
  double seconds(mlir::Region &region) const;

  /// Whether operators differ in operands alone, whose types are equal.
  static bool areAlike(mlir::Operation *a, mlir::Operation *b);

  /// Whether `op` takes a part of a tensor at constant offsets and steps.
  bool readsPart(mlir::Operation *op) const;
  /// Whether the result of `op` shares the operand's storage.
  bool isReinterpretation(mlir::Operation *op) const;

  /// The facts about the operands of `op` in the graph around it.
  static OperandFacts factsOf(mlir::Operation *op);

  /// An operator with a definition as numbers to learn from, with a feature for
  /// each of the names of operators.
  CostFeatures featuresOf(mlir::Operation *op,
                          llvm::ArrayRef<std::string> operators) const;

  const CostParameters &getParameters() const { return parameters; }
  const SymbolSizes &getSymbolSizes() const { return symbols; }

private:
  /// Operators with equal signatures cost the same: name, attributes, operand
  /// types.
  struct Signature {
    mlir::OperationName name;
    mlir::DictionaryAttr attributes;
    llvm::SmallVector<mlir::Type, 3> operands;
    bool operator==(const Signature &other) const;
  };
  struct SignatureHash {
    size_t operator()(const Signature &signature) const;
  };

  struct Counted {
    Work work;
    std::optional<double> measured, learned;
    bool isOfGraph = false; ///< of chargingNewKernels
  };

  Counted &count(mlir::Operation *op) const;
  bool isCut(mlir::Operation *op) const;
  CostFeatures featuresOf(mlir::Operation *op, const Work &work,
                          llvm::ArrayRef<std::string> operators) const;
  double estimate(const Work &work, const OperandFacts &facts) const;
  double contractionSeconds(const ContractionWork &work,
                            const OperandFacts &facts) const;
  double directSeconds(const ContractionWork &work) const;
  double shareOf(const ConvolutionShape &shape) const;
  std::optional<ProductShape> shapeOf(const ContractionWork &work) const;
  std::optional<double> productSeconds(const ContractionWork &work) const;
  std::optional<double> joinedSeconds(const Work &work,
                                      const OperandFacts &facts) const;
  double bytesSeconds(double bytes) const;

  CostParameters parameters;
  const TimingCache *timings;
  AlgorithmCosts algorithms;
  SymbolSizes symbols;
  mutable std::map<ConvolutionShape, double> shares;
  mutable std::unordered_map<Signature, Counted, SignatureHash> counted;
  bool chargesNewKernels = false;
};

} // namespace mlc

#endif // MLC_REWRITES_COST_COST_H
