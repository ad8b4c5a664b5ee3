//===- Rewritten.h - The file of a rewritten model --------------*- C++ -*-===//

#ifndef MLC_PASSES_EXPORT_REWRITTEN_H
#define MLC_PASSES_EXPORT_REWRITTEN_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Import/Import.h"
#include "passes/Import/ModelFile.h"

namespace mlc {

struct RewrittenFile {
  std::string bytes;
  /// Why the file has no rewrites although some were applied; empty otherwise.
  std::string whyUnchanged;
};

/// The file of a model that a search has rewritten. `module` was made from
/// `original`, imported with `options`, and holds the trail; constants are
/// folded here and not before. Nodes that no rewrite touched stay as they were;
/// the opset changes only if new nodes need it. The file is imported again and
/// must equal the module.
/// The model is written as it came, with a trail without steps and only its
/// fixed dims fixed, in these cases: nothing was rewritten; equality cannot be
/// shown; ONNX has no form for an operator; other runtimes would compute
/// something else than the graph (assumptionsOf).
llvm::Expected<RewrittenFile> exportRewritten(mlir::ModuleOp module,
                                              ModelFile &original,
                                              const ImportOptions &options);

} // namespace mlc

#endif // MLC_PASSES_EXPORT_REWRITTEN_H
