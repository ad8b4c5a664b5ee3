//===- Passes.h - The pass definitions from TableGen ------------*- C++ -*-===//
//
// A file with a pass defines GEN_PASS_DEF_<PASS> and includes this file's
// Passes.h.inc; the pass derives from impl::<Pass>Base. Passes.td has names,
// options and dependent dialects.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_BASE_PASSES_H
#define MLC_PASSES_BASE_PASSES_H

#include "codegen/Backends.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Rule/Rule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace mlc {

#define GEN_PASS_DECL
#include "passes/Base/Passes.h.inc"

/// The target that a pass makes code for: `given`, or else the target called
/// `name`. Emits an error at `module` if there is no such target or no back end
/// makes code for it.
mlir::FailureOr<CodeTarget>
findCodeTarget(mlir::ModuleOp module, const std::optional<CodeTarget> &given,
               llvm::StringRef name);

} // namespace mlc

#endif // MLC_PASSES_BASE_PASSES_H
