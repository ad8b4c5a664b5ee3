//===- Pooling.cpp - ONNX's pools -----------------------------------------===//

#include "dialects/Graph/PoolingOps.h"
#include "passes/Import/Handlers.h"
#include "passes/Import/Windows.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// How far the last window of a pool with ceil_mode reaches past the padded
/// end. A window that would start there does not count.
static Dims ceilPadsOf(Node &n, const WindowAttributes &window, bool ceil) {
  unsigned rank = window.rank();
  Dims result(rank, n.integer(0));
  for (unsigned d = 0; ceil && d < rank; ++d) {
    IntExpr size = n.dims(0)[2 + d];
    IntExpr padded = size + window.pads[d] + window.pads[rank + d];
    int64_t stride = window.strides[d];
    IntExpr count = IntExpr::min((padded - window.span(d)).ceilDiv(stride) + 1,
                                 (size + window.pads[d]).ceilDiv(stride));
    result[d] = IntExpr::max((count - 1) * stride + window.span(d) - padded,
                             n.integer(0));
  }
  return result;
}

static std::optional<WindowAttributes> readPool(Node &n, Dims &ceilPads) {
  std::optional<WindowAttributes> window = readWindow(n, std::nullopt);
  if (!window)
    return std::nullopt;
  if (window->same)
    padSame(n, *window);
  bool ceil = n.intAttr("ceil_mode", 0) && !window->same;
  ceilPads = ceilPadsOf(n, *window, ceil);
  return window;
}

/// A pool over these windows; `more` are its other attributes.
template <typename Op, typename... More>
static Value pool(Node &n, const WindowAttributes &w,
                  ArrayRef<IntExpr> ceilPads, More... more) {
  return n.op<Op>(n.value(0), n.dimsAttr(w.kernel), n.dimsAttr(w.strides),
                  n.dimsAttr(w.pads), n.dimsAttr(w.dilations),
                  n.dimsAttr(ceilPads), more...);
}

static LogicalResult importMaxPool(Node &n) {
  if (n.wants(1))
    return n.unsupported("the indices of MaxPool are not supported");
  Dims ceilPads;
  std::optional<WindowAttributes> window = readPool(n, ceilPads);
  if (!window)
    return failure();
  return n.result(pool<MaxPoolOp>(n, *window, ceilPads));
}

static LogicalResult importAveragePool(Node &n) {
  Dims ceilPads;
  std::optional<WindowAttributes> window = readPool(n, ceilPads);
  if (!window)
    return failure();
  bool countsPads = n.intAttr("count_include_pad", 0);
  return n.result(pool<AvgPoolOp>(n, *window, ceilPads, countsPads));
}

/// A reduction over all spatial dims.
static LogicalResult importGlobalPool(Node &n) {
  if (n.rank(0) < 3)
    return n.invalid("requires an input of rank 3 or more");
  SmallVector<int64_t> axes;
  for (int64_t d = 2; d < n.rank(0); ++d)
    axes.push_back(d);
  return n.result(
      n.reduce(n.opType() == "GlobalMaxPool" ? Reduction::Max : Reduction::Mean,
               n.value(0), axes));
}

ArrayRef<OperatorEntry> poolingOperators() {
  static const OperatorEntry entries[] = {
      {"", "AveragePool", 1, 1, importAveragePool},
      {"", "GlobalAveragePool", 1, 1, importGlobalPool},
      {"", "GlobalMaxPool", 1, 1, importGlobalPool},
      {"", "MaxPool", 1, 1, importMaxPool},
  };
  return entries;
}

} // namespace mlc
