//===- Rewritten.h - The file of a rewritten model --------------*- C++ -*-===//

#ifndef MLC_PASSES_EXPORT_REWRITTEN_H
#define MLC_PASSES_EXPORT_REWRITTEN_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Import/Import.h"
#include "passes/Import/ModelFile.h"

namespace mlc {

struct RewrittenFile {
  std::string bytes;
  /// Why rules are not in it although some were applied; empty where they are.
  std::string whyUnchanged;
};

/// The file of a model that a search has rewritten: `module` is what was made
/// of `original`, imported as `options` say, and holds the trail that says how;
/// constants are folded here, and were not since. Nodes that no rewrite touched
/// stay as they were; the opset does where it has what is new. What is written
/// was imported again and is what the module is. Where nothing was rewritten,
/// where that cannot be shown, where ONNX has no form for what was made, or
/// where other runtimes would compute something else than the graph does
/// (assumptionsOf), the model is written as it came, with a trail of no steps;
/// only dims that were fixed are fixed in it.
llvm::Expected<RewrittenFile> exportRewritten(mlir::ModuleOp module,
                                              ModelFile &original,
                                              const ImportOptions &options);

} // namespace mlc

#endif // MLC_PASSES_EXPORT_REWRITTEN_H
