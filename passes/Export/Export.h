//===- Export.h - mlc graphs become ONNX models -----------------*- C++ -*-===//
//
// Takes what passes/Import makes, rewritten or not: a module with one
// `func.func @main` of mlc operators (before the layout pass). Names of inputs
// and outputs, metadata and symbolic dims are kept; weights are initializers;
// the trail (rewrites/ProofLog/Trail.h) becomes the metadata mlc.trail.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_EXPORT_EXPORT_H
#define MLC_PASSES_EXPORT_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlc {

/// The bytes of the ONNX file. Errors: an operator without an ONNX form, or
/// weights beyond the format's limit of 2 GB.
llvm::Expected<std::string> exportOnnx(mlir::ModuleOp module);

} // namespace mlc

#endif // MLC_PASSES_EXPORT_EXPORT_H
