//===- Cost.h - What an operator costs on a target --------------*- C++ -*-===//
//
// Derived from definitions and a target description alone. A contraction takes
// the longest of three: its tiles on the units, in waves; the tiles' operands
// from the shared cache; its bytes from memory. Everything else is bytes or
// scalar arithmetic, and each kernel has its cost. Work on constants is free
// (it happens at compile time), so is a reshape (it shares storage), and
// pointwise work behind another operator is nearly free (it is fused).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_COST_COST_H
#define MLC_REWRITES_COST_COST_H

#include "codegen/target/ConvolutionShape.h"
#include "codegen/target/CostParameters.h"
#include "mlir/IR/Operation.h"
#include "rewrites/Cost/TimingCache.h"
#include "rewrites/Cost/Work.h"
#include <map>
#include <unordered_map>

namespace mlc {

/// What the graph around an operator tells, where it is not in one (an
/// e-graph's node).
struct OperandFacts {
  /// Every result is known when the model is compiled.
  bool resultsAreCompileTime = false;
  /// Some operand comes from an operator at run time.
  bool isFed = false;
  /// Every operand but the first is known when the model is compiled.
  bool hasConstantWeights = true;
};

/// Estimates operators of one context; not for several threads at once.
class CostModel {
public:
  /// With `timings`, which outlive the model, an operator that was measured
  /// costs what was measured. With `share`, convolutions cost what they take by
  /// the best algorithm of those who run them; without, direct convolution. It
  /// is asked once for each shape. `sizes` are those of symbols that have not
  /// the parameters' common one.
  explicit CostModel(CostParameters given, const TimingCache *timings = nullptr,
                     ConvolutionShare share = nullptr,
                     std::map<std::string, int64_t, std::less<>> sizes = {})
      : parameters(std::move(given)), timings(timings), share(std::move(share)),
        symbols{std::move(sizes), parameters.symbolValue} {}

  /// Seconds of one run of `op`, with the facts read off its operands.
  double seconds(mlir::Operation *op) const;
  /// The same with given facts; looks at nothing but `op`'s name, attributes
  /// and types. What it counts of a definition is kept for operators alike.
  double seconds(mlir::Operation *op, const OperandFacts &facts) const;
  /// Operations and bytes at the target's full rates, whatever they fill: what
  /// tells apart operators that `seconds` takes for alike, because one of them
  /// leaves units idle that the other keeps busy for nothing. At most twice
  /// `seconds`.
  double effort(mlir::Operation *op, const OperandFacts &facts) const;
  /// Of every operator in a region's blocks.
  double seconds(mlir::Region &region) const;

  /// The facts as they are in the graph around `op`.
  static OperandFacts factsOf(mlir::Operation *op);

  const CostParameters &getParameters() const { return parameters; }
  const SymbolSizes &getSymbolSizes() const { return symbols; }

private:
  /// What tells operators alike: name, attributes, types of the operands.
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
    std::optional<double> measured;
  };

  const Counted &count(mlir::Operation *op) const;
  double contractionSeconds(const ContractionWork &work,
                            const OperandFacts &facts) const;
  double directSeconds(const ContractionWork &work) const;
  double shareOf(const ConvolutionShape &shape) const;
  double bytesSeconds(double bytes) const;

  CostParameters parameters;
  const TimingCache *timings;
  ConvolutionShare share;
  SymbolSizes symbols;
  mutable std::map<ConvolutionShape, double> shares;
  mutable std::unordered_map<Signature, Counted, SignatureHash> counted;
};

} // namespace mlc

#endif // MLC_REWRITES_COST_COST_H
