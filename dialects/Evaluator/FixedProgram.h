//===- FixedProgram.h - Operators at fixed sizes, run often -----*- C++ -*-===//
//
// The evaluator for running the same operators on new numbers again and again:
// definitions are compiled once, and a run allocates no memory.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_FIXEDPROGRAM_H
#define MLC_DIALECTS_EVALUATOR_FIXEDPROGRAM_H

#include "dialects/Evaluator/Evaluator.h"

namespace mlc {

namespace evaluator {
struct CompiledStage;
struct Source;
} // namespace evaluator

class FixedProgram {
public:
  /// The domain, and the values of symbols and parameters.
  explicit FixedProgram(EvalOptions options);
  FixedProgram(FixedProgram &&);
  ~FixedProgram();

  /// Adds an input of a float type; returns its number. All inputs come before
  /// the operators.
  unsigned addInput(llvm::ArrayRef<int64_t> dims, mlir::Type elementType);
  /// Adds an operator on these tensors; returns the number of its first result.
  /// Fails like `evaluate`; the program is unusable then.
  llvm::Expected<unsigned> add(const Definition &definition,
                               llvm::ArrayRef<unsigned> operands);
  /// Sets the tensor that runs compute.
  void setResult(unsigned tensor);

  /// Writes the result's elements to `out`, in the domain's representation
  /// (EvaluatorTensor.h), like the inputs. False if an element has no value;
  /// `out` is meaningless then. May be called on many threads.
  bool run(llvm::ArrayRef<const void *> inputs, void *out) const;

private:
  struct Step; // a stage
  EvalOptions options;
  std::vector<evaluator::Source> tensors; // inputs, then stages
  std::vector<Step> steps;
  unsigned numInputs = 0;
  unsigned result = 0;
  /// The tensor whose memory the result shares, usually itself.
  unsigned origin = 0;
  size_t scratchBytes = 0;
};

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_FIXEDPROGRAM_H
