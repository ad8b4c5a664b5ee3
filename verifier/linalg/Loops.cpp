//===- Loops.cpp - Loops that carry tensors -------------------------------===//

#include "verifier/linalg/Machine.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::interpret {

bool Machine::runFor(scf::ForOp op) {
  std::optional<int64_t> lower = indexOf(op.getLowerBound()),
                         upper = indexOf(op.getUpperBound()),
                         step = indexOf(op.getStep());
  if (!lower || !upper || !step)
    return false;
  if (*step <= 0)
    return run.open("a loop whose step is not positive");
  SmallVector<TensorRef> handed;
  for (Value init : op.getInitArgs()) {
    handed.push_back(operand(init));
    if (!handed.back())
      return false;
  }
  for (int64_t i = *lower; i < *upper;) {
    if (!run.spend(1))
      return false;
    scalars[op.getInductionVar()] = Scalar::index(i);
    for (auto [argument, tensor] : llvm::zip(op.getRegionIterArgs(), handed))
      set(argument, tensor);
    if (!runBlock(*op.getBody()))
      return false;
    for (auto [tensor, yielded] :
         llvm::zip(handed, op.getBody()->getTerminator()->getOperands())) {
      tensor = operand(yielded);
      if (!tensor)
        return false;
    }
    if (llvm::AddOverflow(i, *step, i))
      return run.open("an index is beyond 64 bits");
  }
  for (auto [result, tensor] : llvm::zip(op.getResults(), handed))
    set(result, tensor);
  return true;
}

/// All iterations read the initial tensors, and each writes to its own
/// elements.
bool Machine::runForall(scf::ForallOp op) {
  SmallVector<int64_t> lower, upper, step, trips;
  if (!indicesOf(op.getMixedLowerBound(), lower) ||
      !indicesOf(op.getMixedUpperBound(), upper) ||
      !indicesOf(op.getMixedStep(), step))
    return false;
  for (auto [l, u, s] : llvm::zip(lower, upper, step)) {
    int64_t range = 0;
    if (s <= 0)
      return run.open("a loop whose step is not positive");
    if (llvm::SubOverflow(u, l, range))
      return run.open("an index is beyond 64 bits");
    trips.push_back(range <= 0 ? 0 : (range - 1) / s + 1);
  }
  std::vector<Tensor> outputs;
  std::vector<std::vector<bool>> written;
  for (auto [argument, init] :
       llvm::zip(op.getRegionIterArgs(), op.getOutputs())) {
    TensorRef tensor = operand(init);
    if (!tensor || !run.spendElements(tensor->dims))
      return false;
    set(argument, tensor);
    outputs.push_back(*tensor);
    written.emplace_back(tensor->elements.size(), false);
  }
  bool isDone = forEachPoint(trips, [&](ArrayRef<int64_t> at) {
    if (!run.spend(1))
      return false;
    for (auto [d, variable] : llvm::enumerate(op.getInductionVars()))
      scalars[variable] = Scalar::index(lower[d] + at[d] * step[d]);
    if (!runBlock(*op.getBody()))
      return false;
    for (Operation &inner : op.getTerminator().getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(inner);
      if (!insert)
        return run.unknown("'" + inner.getName().getStringRef() + "'");
      unsigned output = llvm::find(op.getRegionIterArgs(), insert.getDest()) -
                        op.getRegionIterArgs().begin();
      TensorRef source = operand(insert.getSource());
      if (!source || output >= outputs.size() ||
          !write(*source, insert, outputs[output], &written[output]))
        return false;
    }
    return true;
  });
  if (!isDone)
    return false;
  for (auto [result, output] : llvm::zip(op.getResults(), outputs))
    set(result, std::move(output));
  return true;
}

} // namespace mlc::interpret
