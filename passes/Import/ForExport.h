//===- ForExport.h - Models that become files again -------------*- C++ -*-===//
//
// What the writer of an optimized model and the checker of its trail need of
// the model's file beside the graph.
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

/// As importOnnx; `file` becomes what was read, if it could be.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context,
                                             ImportReport &report,
                                             std::shared_ptr<ModelFile> &file);

/// As importOnnx, of a file that was read before; `name` stands for it in
/// messages. With `returnsTensors`, main also returns every tensor that has a
/// value; such results carry `mlc.tensor`, its name.
mlir::OwningOpRef<mlir::ModuleOp>
importFile(ModelFile &file, llvm::StringRef name, const ImportOptions &options,
           mlir::MLIRContext *context, ImportReport &report,
           bool returnsTensors = false);

/// Those of the module's run-time checks where ONNX does something else than to
/// refuse the input: what a slice's bound means depends on its sign, an open
/// dim may turn out to be 1 and be repeated. Where such a check fails, the
/// graph is not what the model computes; an artifact says so, another runtime
/// does not.
std::vector<std::string> assumptionsOf(mlir::ModuleOp module);

/// Puts tensors' data that lies in other files into the graph: beside another
/// file it would not be found.
llvm::Error embedData(onnx::GraphProto &graph, ModelFile &file);
llvm::Error embedData(onnx::TensorProto &tensor, ModelFile &file);

/// Whether the second file computes what the first does node by node and byte
/// by byte; if not, where. Comments and the types of ports are left out.
std::optional<std::string> fileDifference(ModelFile &expected,
                                          ModelFile &found);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_FOREXPORT_H
