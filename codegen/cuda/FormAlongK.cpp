//===- FormAlongK.cpp - Factors whose neighbours lie along K --------------===//

#include "codegen/cuda/FormAlongK.h"
#include "dialects/Exec/Exec.h"

using namespace mlir;

namespace mlc::cuda {

SmallVector<unsigned> loopsOfForm(const Contraction &c, const Access &access) {
  SmallVector<unsigned> loops;
  for (bool parallel : {true, false})
    for (auto [d, dim] : llvm::enumerate(c.dims))
      if (dim.parallel == parallel && !access.strides[d].isConstant(0))
        loops.push_back(d);
  return loops;
}

Access accessToForm(const Contraction &c, const Access &access) {
  Access form = access;
  IntExpr stride = IntExpr::constant(c.context, 1);
  for (unsigned d : llvm::reverse(loopsOfForm(c, access))) {
    form.strides[d] = stride;
    stride = stride * c.dims[d].extent;
  }
  return form;
}

void takeFormAlongK(Contraction &c) {
  for (Access *access : {&c.x, &c.w})
    for (Operation *user : access->tensor.getUsers())
      if (auto inverse = dyn_cast<exec::InverseTransformOp>(user);
          inverse && inverse.getTransform().starts_with(formAlongK)) {
        *access = accessToForm(c, *access);
        break;
      }
}

} // namespace mlc::cuda
