//===- Import.h - ONNX files become mlc graphs ------------------*- C++ -*-===//
//
// A model file is untrusted input: whatever its bytes are, the outcome is a
// module or an error that names file, node and remedy.
//
// The module holds one `func.func @main` of mlc operators. Arguments and
// results carry `mlc.name`, those behind the inputs that are parameters also
// `mlc.parameter`; a result with `mlc.updates` is the new value of the
// parameter that it names, a running statistic. Every operator's location is a
// NameLoc with its node's name (its first output where the node has none).
// Module attributes:
//   mlc.symbols   names of the symbols in the inputs' dims, in input order
//   mlc.metadata  the model's metadata_props
//   mlc.onnx      producer, graph name, opset versions
//   mlc.indices   of inputs that hold indices, the extent that they are below
// Before @main stand an `mlc.check` for each pair of sizes that must be equal
// at run time, which the model implies but the compiler cannot show.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_IMPORT_IMPORT_H
#define MLC_PASSES_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Base/Remedy.h"
#include "runtime/Exit.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlc {

struct ImportOptions {
  /// NAME=N fixes the symbolic dim NAME to N; NAME=any (nothing) leaves it
  /// open, which is also what happens to dims that are not named.
  std::vector<std::pair<std::string, std::optional<int64_t>>> dims;
  /// Weights (initializers, or what a Constant node of the outermost graph
  /// holds) that are parameters: they may change after the model has been
  /// compiled, so that nothing is computed from them before.
  std::vector<std::string> parameters;
  /// Initializers that are inputs too, from IR version 4 on, are parameters,
  /// unless something must be known of one at compile time: then all of them
  /// are constants.
  bool overridable = false;
  /// Parameters behind those which are running statistics: main returns behind
  /// the outputs, for each of these, what the model makes of it.
  std::vector<std::string> statistics;
  /// BatchNormalization and Dropout are taken as in training, whatever the
  /// nodes say.
  bool inTraining = false;
  /// A run fails, with the node's name, where an index is out of range.
  bool checked = false;
};

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

/// "FILE: 14 nodes cannot be compiled: 12 NonZero, 2 Det".
std::string countUnsupported(llvm::StringRef file, const ImportReport &report);

/// For each operator and reason, most nodes first: both with the remedy, then
/// the first of its nodes, "NODE: Op of opset 13 on (types)". One a line, which
/// begins with FILE unless it is empty; none twice.
std::string listUnsupported(llvm::StringRef file, const ImportReport &report,
                            DescribeRemedy describe);

/// Reads the model at `path`. Null when the report is not ok. Loads the mlc and
/// func dialects into `context`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context,
                                             ImportReport &report);

/// As importOnnx, from memory; the bytes are not needed afterwards. `name`
/// stands for the file in messages. Data outside the file is looked for in
/// `folder`, and refused when that is empty.
mlir::OwningOpRef<mlir::ModuleOp>
importOnnxBytes(llvm::StringRef bytes, llvm::StringRef name,
                llvm::StringRef folder, const ImportOptions &options,
                mlir::MLIRContext *context, ImportReport &report);

/// What stands in the way of compiling the model at `path`.
ImportReport checkModel(llvm::StringRef path, const ImportOptions &options,
                        mlir::MLIRContext *context);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_IMPORT_H
