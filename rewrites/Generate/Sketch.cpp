//===- Sketch.cpp - One side of a rule, built step by step ----------------===//

#include "rewrites/Generate/Sketch.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/ParseModule.h"

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

NamedAttribute Sketch::list(StringRef name, ArrayRef<IntExpr> values) {
  return builder.getNamedAttr(name,
                              DimsAttr::get(builder.getContext(), values));
}

Value Sketch::op(StringRef name, ArrayRef<Value> operands,
                 ArrayRef<NamedAttribute> attributes) {
  failed |= !llvm::all_of(operands, [](Value v) { return bool(v); });
  if (failed)
    return {};
  // Failing to build is an answer here, not an error to report.
  ScopedDiagnosticHandler quiet(builder.getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<Operation *> made =
      createOp(builder, builder.getUnknownLoc(), ("mlc." + name).str(),
               operands, attributes);
  failed = mlir::failed(made);
  return failed ? Value() : (*made)->getResult(0);
}

Value Sketch::conv(Value x, Value w, const SketchWindow &window,
                   IntExpr groups) {
  return op("conv", {x, w},
            {list("strides", window.strides), list("pads", window.pads),
             list("dilations", window.dilations),
             builder.getNamedAttr("groups", groups)});
}

Value Sketch::averagePool(Value x, const SketchWindow &window, bool countPads) {
  return op("avg_pool", {x},
            {list("kernel", window.kernel), list("strides", window.strides),
             list("pads", window.pads), list("dilations", window.dilations),
             list("ceil_pads", {integer(0), integer(0)}),
             builder.getNamedAttr("count_include_pad",
                                  builder.getBoolAttr(countPads))});
}

Value Sketch::zeroPad(Value x, ArrayRef<IntExpr> low, ArrayRef<IntExpr> high) {
  return op("pad", {x},
            {list("low", low), list("high", high),
             builder.getNamedAttr("mode", builder.getStringAttr("constant")),
             builder.getNamedAttr("value",
                                  RealAttr::get(builder.getContext(), 0.0))});
}

Value Sketch::broadcast(Value x, ArrayRef<IntExpr> dims) {
  return op("broadcast", {x}, {list("dims", dims)});
}

Value Sketch::concat(ArrayRef<Value> xs, int64_t axis) {
  return op("concat", xs,
            {builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis))});
}

Value Sketch::slice(Value x, unsigned axis, IntExpr start, IntExpr size) {
  Dims sizes = dimsOf(x), starts(sizes.size(), integer(0)),
       steps(sizes.size(), integer(1));
  if (axis < sizes.size()) {
    starts[axis] = start;
    sizes[axis] = size;
  }
  return op(
      "slice", {x},
      {list("starts", starts), list("sizes", sizes), list("steps", steps)});
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
