//===- ImportReport.h - What came of an import ------------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_IMPORTREPORT_H
#define MLC_PASSES_IMPORT_IMPORTREPORT_H

#include "passes/Base/Remedy.h"
#include "runtime/Exit.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlc {

/// A node that cannot be compiled.
struct UnsupportedNode {
  std::string name; // the path to it when it is inside a subgraph
  std::string op, domain;
  int64_t opset = 0;
  std::vector<std::string> inputTypes; // "?" where unknown
  std::string reason;
  std::vector<Remedy> remedies = {};
};

struct ImportReport {
  /// Done, Usage (an option does not fit the model), BadFile (missing, damaged
  /// or contradictory), Resources (beyond the machine's memory or a stated
  /// bound) or Unsupported (`unsupported` says what).
  Exit status = Exit::Done;
  /// "FILE: NODE: what; remedy", without the leading "mlc: error:".
  std::string message;
  /// In graph order. Nodes behind one of these are judged by their operator
  /// alone where the model does not declare the types between.
  std::vector<UnsupportedNode> unsupported;
  /// Symbols that are open in this model, before options are applied.
  std::vector<std::string> symbols;
  /// Inputs whose values the file holds, from IR version 4 on as defaults that
  /// whoever runs the model may replace: parameters, or constants where
  /// `overridable` is not set.
  std::vector<std::string> defaults;
  bool overridable = false;
  /// BLAKE3 of the file's bytes, in hexadecimal; empty when it was not read.
  std::string hash;
  /// Files with external data that were read.
  std::vector<std::string> externalFiles;

  bool ok() const { return status == Exit::Done; }
};

/// What to do about a refused node, one text for each way; `describe` says how
/// remedies are followed. Never empty.
std::vector<std::string> remediesOf(const UnsupportedNode &node,
                                    DescribeRemedy describe);

/// Takes the remedy to fix dims from the nodes of a model without open dims;
/// `isFixed` says whether the caller has fixed one of its symbols.
void dropDimRemedies(ImportReport &report,
                     llvm::function_ref<bool(llvm::StringRef)> isFixed);

/// "FILE: 14 nodes cannot be compiled: 12 NonZero, 2 Det".
std::string countUnsupported(llvm::StringRef file, const ImportReport &report);

/// For each operator and reason, most nodes first: both with the remedy, then
/// the first of its nodes, "NODE: Op of opset 13 on (types)". One a line, which
/// begins with FILE unless it is empty; none twice.
std::string listUnsupported(llvm::StringRef file, const ImportReport &report,
                            DescribeRemedy describe);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_IMPORTREPORT_H
