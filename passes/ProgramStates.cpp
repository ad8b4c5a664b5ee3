//===- ProgramStates.cpp - States of programs as the runtime's data -------===//

#include "passes/ProgramStates.h"
#include "dialects/Module/States.h"
#include "passes/ProgramRanks.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace rt = mlc::runtime;

namespace mlc {

FailureOr<uint32_t> addState(exec::StateOp op, rt::DType type,
                             ArrayRef<char> bytes, CompiledModel &model) {
  rt::State state;
  state.name = op.getState().str();
  state.type = type;
  state.size = byteSize(type);
  StateUse use = getStateUse(op->getParentOfType<ModuleOp>(), op.getState());
  state.role = use.role;
  state.owner = use.owner.str();
  auto splits = readSplits(op, model.programs.mesh, op.getSplitAttr());
  if (failed(splits))
    return failure();
  state.splits = std::move(*splits);
  if (op.getWhole())
    state.dims = op.getWhole()->vec();
  else
    for (IntExpr dim : op.getDims().getDims()) {
      std::optional<int64_t> size = dim.asConstant();
      if (!size)
        return op.emitError("a state needs fixed dims");
      state.dims.push_back(*size);
    }
  for (int64_t dim : state.dims)
    state.size *= dim;
  if (op.getValue()) {
    bool isZero = llvm::all_of(bytes, [](char byte) { return byte == 0; });
    state.initial = isZero ? rt::State::Zeros : rt::State::Stored;
    if (!isZero)
      state.offset = model.weights.addConstant(bytes);
  }
  std::vector<rt::State> &all = model.programs.states;
  auto known = llvm::find_if(
      all, [&](const rt::State &other) { return other.name == state.name; });
  if (known == all.end()) {
    all.push_back(std::move(state));
    return uint32_t(all.size() - 1);
  }
  auto isSplitAlike = [](const rt::Split &a, const rt::Split &b) {
    return a.dim == b.dim && a.axis == b.axis;
  };
  if (known->type != state.type || known->dims != state.dims ||
      !llvm::equal(known->splits, state.splits, isSplitAlike))
    return op.emitError("the state '")
           << state.name << "' has another type in another program";
  bool hasOther =
      known->initial != rt::State::None && op.getValue() &&
      (known->initial != state.initial || known->offset != state.offset);
  if (hasOther)
    return op.emitError("the state '")
           << state.name << "' has another value in another program";
  if (op.getValue()) {
    known->initial = state.initial;
    known->offset = state.offset;
  }
  return uint32_t(known - all.begin());
}

} // namespace mlc
