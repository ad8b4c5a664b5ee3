//===- Evaluator.h - Values of definitions on concrete tensors --*- C++ -*-===//
//
// The reference evaluator: computes an operator from its Definition alone. It
// is the oracle of tests, replays counterexamples, fingerprints graphs in exact
// arithmetic and folds constants.
//
// A body is compiled to straight-line code over chunks of points
// (EvaluatorProgram.h), so that millions of elements take milliseconds.
// Elements of a reduction are combined in row-major index order; f32 is
// computed in f32 (functions of the C library in double, rounded once).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATOR_H
#define MLC_DIALECTS_EVALUATOR_EVALUATOR_H

#include "dialects/Definition/Definition.h"
#include "dialects/Evaluator/EvaluatorOptions.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace mlc {

/// Whether a domain can evaluate a definition, judged by its functions.
struct DomainAnswer {
  bool applies = true;
  /// No function is hashed or uninterpreted there.
  bool isExact = true;
  /// The reason if either is false.
  std::string reason;
};
DomainAnswer domainApplies(const Definition &definition, EvalDomain domain);

/// The results of `definition` on `inputs`, which are in `options.domain`.
/// Errors are EvalErrors. An undefined element of a result is an error that
/// names stage and place: an integer division by zero, a read out of range,
/// and, except in Native and Float64, any division by zero, square root of a
/// negative, ... Masked or dead values may be undefined, except that integers
/// must not be divided by zero (verifier/kernel/Defined.h).
llvm::Expected<std::vector<EvalTensor>>
evaluate(const Definition &definition, llvm::ArrayRef<EvalTensor> inputs,
         const EvalOptions &options = {});

/// The results of one operator: from its definition, from its value if it is a
/// constant, or as it says itself if it is opaque.
llvm::Expected<std::vector<EvalTensor>>
evaluateOp(mlir::Operation *op, llvm::ArrayRef<EvalTensor> inputs,
           const EvalOptions &options = {});

/// Called after each operator of a function with its results.
using EvalObserver = llvm::function_ref<void(
    mlir::Operation *, llvm::ArrayRef<EvalTensor> results)>;

/// The results of a function: an operation with one block of operators that
/// evaluateOp understands, ended by a return. Constants are converted to the
/// domain. Values are freed after their last use.
llvm::Expected<std::vector<EvalTensor>>
evaluateFunction(mlir::Operation *function, llvm::ArrayRef<EvalTensor> inputs,
                 const EvalOptions &options = {},
                 EvalObserver observer = nullptr);

/// Binds symbols that are dims by themselves to `sizes`, and checks the other
/// dims as far as they can be evaluated. Fails if a size does not fit.
llvm::Error bindSymbols(llvm::ArrayRef<IntExpr> dims,
                        llvm::ArrayRef<int64_t> sizes,
                        llvm::StringMap<int64_t> &symbols);

/// The values of integer expressions under symbols; fails for an unbound one.
llvm::Expected<llvm::SmallVector<int64_t>>
evaluateDims(llvm::ArrayRef<IntExpr> dims,
             const llvm::StringMap<int64_t> &symbols);

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_EVALUATOR_H
