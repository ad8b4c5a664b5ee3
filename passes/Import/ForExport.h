//===- ForExport.h - Import for the exporter and checker --------*- C++ -*-===//
//
// Data of the model's file, besides the graph, for the writer of an optimized
// model and the checker of its trail.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_IMPORT_FOREXPORT_H
#define MLC_PASSES_IMPORT_FOREXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Import/ImportOptions.h"
#include "passes/Import/ImportReport.h"
#include "passes/Import/ModelFile.h"

namespace mlc {

/// Like importOnnx; `file` receives the parsed file, if it could be read.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context,
                                             ImportReport &report,
                                             std::shared_ptr<ModelFile> &file);

/// Like importOnnx, for a file that was read before; `name` stands for it in
/// messages. With `returnsTensors`, main also returns every tensor that has a
/// value; such results carry `mlc.tensor`, its name.
mlir::OwningOpRef<mlir::ModuleOp>
importFile(ModelFile &file, llvm::StringRef name, const ImportOptions &options,
           mlir::MLIRContext *context, ImportReport &report,
           bool returnsTensors = false);

/// The run-time checks of the module whose violation ONNX does not refuse: what
/// a slice's bound means depends on its sign, and an open dim may turn out to
/// be 1 and be broadcast. If such a check fails, the graph is not what the
/// model computes. An artifact reports that, another runtime does not.
std::vector<std::string> assumptionsOf(mlir::ModuleOp module);

/// Embeds tensor data from other files into the graph: beside another file it
/// would not be found.
llvm::Error embedData(onnx::GraphProto &graph, ModelFile &file);
llvm::Error embedData(onnx::TensorProto &tensor, ModelFile &file);

/// Compares two files node by node and byte by byte; nothing if they compute
/// the same, otherwise the first difference. Comments and the types of inputs
/// and outputs are ignored.
std::optional<std::string> fileDifference(ModelFile &expected,
                                          ModelFile &found);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_FOREXPORT_H
