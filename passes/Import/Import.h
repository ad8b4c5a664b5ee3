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
#include "passes/Import/ImportOptions.h"
#include "passes/Import/ImportReport.h"

namespace mlc {

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
