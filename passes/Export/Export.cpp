//===- Export.cpp - mlc graphs become ONNX models -------------------------===//

#include "passes/Export/Export.h"
#include "passes/Export/Exporter.h"

llvm::Expected<std::string> mlc::exportOnnx(mlir::ModuleOp module) {
  return Exporter(module).run();
}
