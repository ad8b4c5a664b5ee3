//===- Import.h - ONNX files become mlc graphs ------------------*- C++ -*-===//
//
// A model file is untrusted input: whatever its bytes are, the result is a
// module or an error that names file, node and remedy.
//
// The module holds one `func.func @main` of mlc operators. Arguments and
// results carry `mlc.name`; arguments after the inputs that are parameters also
// carry `mlc.parameter`. A result with `mlc.updates` is the new value of the
// parameter that it names, a running statistic. Every operator's location is a
// NameLoc with its node's name (its first output if the node has none).
// Module attributes:
//   mlc.symbols   names of the symbols in the inputs' dims, in input order
//   mlc.metadata  the model's metadata_props
//   mlc.onnx      producer, graph name, opset versions
//   mlc.indices   for inputs that hold indices, the extent that bounds them
// Before @main there is an `mlc.check` for each pair of sizes that must be
// equal at run time: the model implies it, but the compiler cannot show it.
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
  /// open, the default.
  std::vector<std::pair<std::string, std::optional<int64_t>>> dims;
  /// Weights (initializers, or constants of Constant nodes of the outermost
  /// graph) that become parameters: they may change after compilation, so
  /// nothing is computed from them in advance.
  std::vector<std::string> parameters;
  /// Makes initializers that are also inputs (from IR version 4 on) parameters.
  /// If the import must know the value of one of them, all become constants.
  bool overridable = false;
  /// Running statistics, parameters that follow `parameters`. After the
  /// outputs, main returns the new value of each.
  std::vector<std::string> statistics;
  /// BatchNormalization and Dropout have their training form, whatever the
  /// nodes say.
  bool inTraining = false;
  /// A run fails, with the node's name, if an index is out of range.
  bool checked = false;
};

/// A node that cannot be compiled.
struct UnsupportedNode {
  std::string name; // the path to it if it is inside a subgraph
  std::string op, domain;
  int64_t opset = 0;
  std::vector<std::string> inputTypes; // "?" if unknown
  std::string reason;
  std::vector<Remedy> remedies = {};
};

struct ImportReport {
  /// Done, Usage (an option does not fit the model), BadFile (missing, damaged
  /// or contradictory), Resources (beyond the machine's memory or a stated
  /// bound) or Unsupported (`unsupported` lists the nodes).
  Exit status = Exit::Done;
  /// "FILE: NODE: what; remedy", without the leading "mlc: error:".
  std::string message;
  /// In graph order. Nodes after one of these are judged by their operator
  /// alone if the model does not declare the types between.
  std::vector<UnsupportedNode> unsupported;
  /// Open symbols of this model, before options are applied.
  std::vector<std::string> symbols;
  /// Inputs whose values the file holds, from IR version 4 on defaults that a
  /// run may replace. They are parameters, or constants if `overridable` is not
  /// set.
  std::vector<std::string> defaults;
  bool overridable = false;
  /// BLAKE3 of the file's bytes, in hexadecimal; empty if it was not read.
  std::string hash;
  /// External data files that were read.
  std::vector<std::string> externalFiles;

  bool ok() const { return status == Exit::Done; }
};

/// "FILE: 14 nodes cannot be compiled: 12 NonZero, 2 Det".
std::string countUnsupported(llvm::StringRef file, const ImportReport &report);

/// Lists operators and reasons, most nodes first: each with the remedy, then
/// its first node, "NODE: Op of opset 13 on (types)". One per line, which
/// begins with FILE unless that is empty; no duplicates.
std::string listUnsupported(llvm::StringRef file, const ImportReport &report,
                            DescribeRemedy describe);

/// Reads the model at `path`. Null if the report is not ok. Loads the mlc and
/// func dialects into `context`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context,
                                             ImportReport &report);

/// Like importOnnx, from memory; the bytes are not needed afterwards. `name`
/// stands for the file in messages. External data is looked up in `folder`, and
/// refused if that is empty.
mlir::OwningOpRef<mlir::ModuleOp>
importOnnxBytes(llvm::StringRef bytes, llvm::StringRef name,
                llvm::StringRef folder, const ImportOptions &options,
                mlir::MLIRContext *context, ImportReport &report);

/// Reports what prevents the model at `path` from compiling.
ImportReport checkModel(llvm::StringRef path, const ImportOptions &options,
                        mlir::MLIRContext *context);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_IMPORT_H
