//===- Remedy.h - What makes an error go away -------------------*- C++ -*-===//
//
// Passes and the importer do not know whether a command line, Python or another
// compiler runs them. An error says what is wrong and names its remedies by
// kind; whoever shows it says how they are followed (tools/mlc/Remedies.h: by a
// flag or by an argument of Python).
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
    /// An open dim, the subject, is given a size; without a subject, the dims
    /// that the message is about.
    FixDim,
    /// The model has a constant where it computes something.
    GiveConstant,
    /// A loss of the output and a target.
    ChooseLoss,
    /// Another name for the input that holds the targets.
    RenameTarget,
    /// Another dim of the output for the classes.
    ChooseClassAxis,
    /// Masters alone, without weights of 16 bits beside them.
    DropHalfWeights,
    /// Another number of samples in a batch.
    ChangeBatch,
    /// A weight, the subject, is not trained.
    Freeze,
    /// Gradients are summed between the ranks that compute them.
    SumBetweenRanks,
    /// Each rank has the statistics of its own samples.
    LocalStatistics,
    /// Statistics are of the samples of all ranks.
    GlobalStatistics,
    /// Memory is not limited.
    DropMemoryBudget,
    /// Where all of them are seen.
    ListAll,
  };
  Kind kind;
  std::string subject = {};
};

/// How somebody follows a remedy, as an imperative: "give --dim N=SIZE".
using DescribeRemedy = llvm::function_ref<std::string(const Remedy &)>;

/// `message`, then "; " and its remedies: those of one kind are followed
/// together, and any kind will do. Without `describe` the message alone.
std::string withRemedies(std::string message, llvm::ArrayRef<Remedy> remedies,
                         DescribeRemedy describe);

/// Adds a remedy to an error.
mlir::InFlightDiagnostic &operator<<(mlir::InFlightDiagnostic &diagnostic,
                                     Remedy &&remedy);
mlir::InFlightDiagnostic &&operator<<(mlir::InFlightDiagnostic &&diagnostic,
                                      Remedy &&remedy);

/// Those that have been added to an error.
llvm::SmallVector<Remedy> remediesOf(mlir::Diagnostic &diagnostic);

} // namespace mlc

#endif // MLC_PASSES_BASE_REMEDY_H
