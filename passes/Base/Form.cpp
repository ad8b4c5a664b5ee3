//===- Form.cpp - The forms of a module between passes --------------------===//

#include "passes/Base/Form.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace mlc {

static constexpr StringRef graphDialects[] = {"builtin", "dist", "func", "mlc"};
static constexpr StringRef loweredDialects[] = {"affine", "arith", "builtin",
                                                "dist",   "func",  "linalg",
                                                "math",   "mlc",   "tensor"};
static constexpr StringRef kernelDialects[] = {"affine", "arith", "builtin",
                                               "exec",   "func",  "linalg",
                                               "math",   "mlc",   "tensor"};

static ArrayRef<StringRef> dialectsOf(Form form) {
  switch (form) {
  case Form::Graph:
    return graphDialects;
  case Form::Lowered:
    return loweredDialects;
  case Form::Kernels:
    return kernelDialects;
  }
  llvm_unreachable("no such form");
}

/// The form that a pass needs, for its message, and how to get it.
static StringRef remedyFor(Form form) {
  switch (form) {
  case Form::Graph:
    return "a graph of mlc operators; run it before mlc-lower-to-linalg";
  case Form::Lowered:
    return "linalg on tensors; run mlc-lower-to-linalg first";
  case Form::Kernels:
    return "kernels and their program; run mlc-fuse first";
  }
  llvm_unreachable("no such form");
}

/// Whether an op belongs to a form. Of the graph only opaque operators, checks
/// and scalar functions remain after lowering. In the end only kernels are
/// functions, and they contain the opaque operators that back ends compute
/// themselves.
static bool belongsTo(Operation *op, Form form) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (!llvm::is_contained(dialectsOf(form), dialect))
    return false;
  if (form == Form::Lowered && dialect == "mlc")
    return isa<OpaqueOpInterface, CheckOp, ThreefryOp>(op);
  if (form == Form::Kernels && dialect == "mlc")
    return isa<OpaqueOpInterface, ThreefryOp>(op);
  if (form == Form::Kernels && isa<func::FuncOp>(op))
    return op->hasAttr("mlc.kernel");
  return true;
}

LogicalResult checkForm(Operation *root, Form form, const Twine &problem) {
  WalkResult result = root->walk([&](Operation *op) {
    if (belongsTo(op, form))
      return WalkResult::advance();
    op->emitOpError() << problem;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult requireForm(const Pass &pass, Operation *root, Form form) {
  return checkForm(root, form,
                   "is not what --" + pass.getArgument() + " takes, which is " +
                       remedyFor(form));
}

} // namespace mlc
