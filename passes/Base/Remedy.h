//===- Remedy.h - Remedies of errors ----------------------------*- C++ -*-===//
//
// Passes and the importer do not know whether a command line, Python or another
// compiler runs them. An error says what is wrong and names its remedies by
// kind. The caller that shows it says how to follow them (tools/mlc/Remedies.h:
// by a flag or by an argument in Python).
//
//   return function.emitError("the dim ")
//          << name << " must be known" << Remedy{Remedy::Kind::FixDim, name};
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_BASE_REMEDY_H
#define MLC_PASSES_BASE_REMEDY_H

#include "mlir/IR/Diagnostics.h"
#include <string>

namespace mlc {

struct Remedy {
  enum class Kind {
    /// Give an open dim, the subject, a size; without a subject, the dims that
    /// the message is about.
    FixDim,
    /// Give the model a constant where it computes a value.
    GiveConstant,
    /// Choose a loss of the output and a target.
    ChooseLoss,
    /// Give the input with the targets another name.
    RenameTarget,
    /// Choose another dim of the output for the classes.
    ChooseClassAxis,
    /// Keep only masters, without 16-bit copies of weights.
    DropHalfWeights,
    /// Change the number of samples in a batch.
    ChangeBatch,
    /// Do not train a weight, the subject.
    Freeze,
    /// Sum gradients between the ranks that compute them.
    SumBetweenRanks,
    /// Take each rank's statistics from its own samples.
    LocalStatistics,
    /// Take statistics from the samples of all ranks.
    GlobalStatistics,
    /// Do not limit memory.
    DropMemoryBudget,
    /// Update all stages together, without a clipped norm or a loss scale
    /// otherwise.
    UpdateTogether,
    /// Show all nodes that cannot be compiled.
    ListAll,
  };
  Kind kind;
  std::string subject = {};
};

/// How to follow a remedy, as an imperative: "give --dim N=SIZE".
using DescribeRemedy = llvm::function_ref<std::string(const Remedy &)>;

/// `message`, then "; " and its remedies: those of one kind apply together, and
/// one kind is enough. Without `describe` only the message.
std::string withRemedies(std::string message, llvm::ArrayRef<Remedy> remedies,
                         DescribeRemedy describe);

/// Adds a remedy to an error.
mlir::InFlightDiagnostic &operator<<(mlir::InFlightDiagnostic &diagnostic,
                                     Remedy &&remedy);
mlir::InFlightDiagnostic &&operator<<(mlir::InFlightDiagnostic &&diagnostic,
                                      Remedy &&remedy);

/// The remedies that were added to an error.
llvm::SmallVector<Remedy> remediesOf(mlir::Diagnostic &diagnostic);

} // namespace mlc

#endif // MLC_PASSES_BASE_REMEDY_H
