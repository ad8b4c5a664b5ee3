//===- Sketch.cpp - One side of a rule, built step by step ----------------===//

#include "rewrites/Generate/Sketch.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PoolingOps.h"
#include "dialects/Module/ParseModule.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::generate {

Sketch::Sketch(MLIRContext *context, StringRef name) : builder(context) {
  function = func::FuncOp::create(builder.getUnknownLoc(), name,
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function->addEntryBlock());
}

Value Sketch::argument(StringRef name, ArrayRef<IntExpr> dims,
                       bool isConstant) {
  arguments.push_back({name.str(), isConstant});
  BlockArgument argument = function->getBody().front().addArgument(
      getTensorType(dims, builder.getF32Type()), builder.getUnknownLoc());
  setArgumentName(argument, name);
  return argument;
}

IntExpr Sketch::symbol(StringRef name) const {
  return IntExpr::symbol(builder.getContext(), name);
}
IntExpr Sketch::integer(int64_t value) const {
  return IntExpr::constant(builder.getContext(), value);
}
Sketch::Dims Sketch::dimsOf(Value value) {
  return value ? *getDims(cast<RankedTensorType>(value.getType())) : Dims();
}

Value Sketch::conv(Value x, Value w, const SketchWindow &window,
                   IntExpr groups) {
  return op<ConvOp>({x, w}, list(window.strides), list(window.pads),
                    list(window.dilations), groups);
}

Value Sketch::averagePool(Value x, const SketchWindow &window, bool countPads) {
  return op<AvgPoolOp>({x}, list(window.kernel), list(window.strides),
                       list(window.pads), list(window.dilations),
                       list({integer(0), integer(0)}), countPads);
}

Value Sketch::zeroPad(Value x, ArrayRef<IntExpr> low, ArrayRef<IntExpr> high) {
  return op<PadOp>({x}, list(low), list(high), PadMode::Constant,
                   RealAttr::get(builder.getContext(), 0.0));
}

Value Sketch::broadcast(Value x, ArrayRef<IntExpr> dims) {
  return op<BroadcastOp>({x}, list(dims));
}

Value Sketch::concat(ArrayRef<Value> xs, int64_t axis) {
  failed |= llvm::is_contained(xs, Value());
  return make<ConcatOp>(xs, axis);
}

Value Sketch::slice(Value x, unsigned axis, IntExpr start, IntExpr size) {
  Dims sizes = dimsOf(x), starts(sizes.size(), integer(0)),
       steps(sizes.size(), integer(1));
  if (axis < sizes.size()) {
    starts[axis] = start;
    sizes[axis] = size;
  }
  return op<SliceOp>({x}, list(starts), list(sizes), list(steps));
}

OwningOpRef<func::FuncOp> Sketch::finish(ArrayRef<Value> results) {
  failed |= !llvm::all_of(results, [](Value v) { return bool(v); });
  if (failed)
    return {};
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  function->setType(
      builder.getFunctionType(function->getBody().front().getArgumentTypes(),
                              ValueRange(results).getTypes()));
  return std::move(function);
}

} // namespace mlc::generate
