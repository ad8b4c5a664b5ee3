//===- Unread.cpp - Unread results of a selection -------------------------===//

#include "rewrites/EGraph/Select.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// The parts of a value that are read, each a box along one axis.
struct Readings {
  bool isWhole = false;
  std::optional<int64_t> axis;
  SmallVector<std::pair<int64_t, int64_t>> spans; // from, to
};
} // namespace

/// Adds the part that a slice of `dims` reads.
static void addReading(Readings &readings, ArrayRef<IntExpr> dims,
                       DictionaryAttr slice) {
  auto starts = slice.getAs<DimsAttr>("starts");
  auto sizes = slice.getAs<DimsAttr>("sizes");
  auto steps = slice.getAs<DimsAttr>("steps");
  std::optional<int64_t> axis;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (starts[d].isConstant(0) && sizes[d] == dims[d])
      continue;
    if (axis || !starts[d].isConstant() || !sizes[d].isConstant() ||
        !steps[d].isConstant(1) || !dims[d].isConstant()) {
      readings.isWhole = true;
      return;
    }
    axis = d;
  }
  if (!axis || (readings.axis && *readings.axis != *axis)) {
    readings.isWhole = true;
    return;
  }
  readings.axis = axis;
  int64_t start = starts[*axis].getConstant();
  readings.spans.push_back({start, start + sizes[*axis].getConstant()});
}

static bool coversAll(Readings &readings, ArrayRef<IntExpr> dims) {
  if (readings.isWhole || !readings.axis)
    return true;
  llvm::sort(readings.spans);
  int64_t reached = 0;
  for (auto [from, to] : readings.spans) {
    if (from > reached)
      return false;
    reached = std::max(reached, to);
  }
  return reached >= dims[*readings.axis].getConstant();
}

std::vector<NodeId> Selector::findUnread(const Selection &selection,
                                         ArrayRef<NodeId> allowed) {
  llvm::DenseMap<NodeId, Readings> readings;
  auto dimsOf = [&](NodeId node) {
    auto type =
        cast<RankedTensorType>(graph.prototypeOf(node)->getResult(0).getType());
    return getDims(type).value_or(SmallVector<IntExpr>());
  };
  for (const ChosenNode &entry : selection.chosen) {
    const Operator &op = graph.operatorOf(entry.node);
    bool isSlice = op.name && op.name->getStringRef() == "mlc.slice";
    for (NodeId operand : entry.operands) {
      bool isMade = graph.operatorOf(operand).kind == Operator::Kind::Compute &&
                    !graph.operatorOf(operand).isTuple();
      if (isSlice && isMade)
        addReading(readings[operand], dimsOf(operand),
                   cast<DictionaryAttr>(op.attributes));
      else
        readings[operand].isWhole = true;
    }
  }
  for (NodeId output : selection.outputs)
    readings[output].isWhole = true;
  std::vector<NodeId> unread;
  for (const ChosenNode &entry : selection.chosen)
    if (auto it = readings.find(entry.node);
        it != readings.end() && !graph.classOf(entry.node).isCompileTime() &&
        !llvm::is_contained(allowed, entry.node) &&
        !coversAll(it->second, dimsOf(entry.node)))
      unread.push_back(entry.node);
  return unread;
}
