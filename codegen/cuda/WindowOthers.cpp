//===- WindowOthers.cpp - What else a reduction of windows reads ----------===//

#include "codegen/cuda/WindowMatcher.h"

using namespace mlir;

namespace mlc::cuda {

/// Whether windows at different places read different elements: along the
/// slowest dim, or along any.
bool WindowMatcher::isSpatial(const TracedRead &read, bool inRows) const {
  return llvm::any_of(read.places, [&](const Place &place) {
    return llvm::any_of(ArrayRef(w.dims).take_front(inRows ? w.dims.size() : 1),
                        [&](const WindowDim &dim) {
                          return dim.loop >= 0 &&
                                 place.index.isFunctionOfDim(dim.loop);
                        });
  });
}

static bool areEqual(const TracedRead &a, const TracedRead &b) {
  return llvm::equal(a.places, b.places, [](const Place &a, const Place &b) {
    return a.index == b.index && a.isPadded == b.isPadded;
  });
}

/// Weights of which each group has a dense part, in order.
std::optional<WindowWeights>
WindowMatcher::denseWeights(const TracedRead &read) {
  Linear flat;
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.inputs[read.input]);
  int64_t stride = 1;
  for (unsigned d = shape.size(); d-- > 0;) {
    if (read.places[d].isPadded || !shape[d].isConstant() ||
        !addTo(flat, read.places[d].index, stride))
      return std::nullopt;
    stride *= shape[d].getConstant();
  }
  if (flat.constant != 0 || stride == 0)
    return std::nullopt;
  // All indices of a group but the group itself must fill a range; groups are
  // in the order of the result.
  int64_t filled = 1, groups = 1, perGroup = 0;
  SmallVector<int> order;
  if (form == WindowForm::Pixels)
    order.push_back(w.loops.back());
  else
    for (int loop : llvm::reverse(ArrayRef(w.loops).take_front(w.first)))
      if (loop >= 0)
        order.push_back(loop);
  size_t found = 0;

  while (!flat.terms.empty()) {
    auto next = llvm::find_if(flat.terms, [&](auto &term) {
      return isa<AffineDimExpr>(term.first) && term.second.isConstant(filled) &&
             extents[loopOf(term.first)].isConstant();
    });
    if (next == flat.terms.end())
      return std::nullopt;
    unsigned loop = loopOf(next->first);
    int64_t extent = extents[loop].getConstant();
    bool reduces = isReduction(w.op, loop);
    if (!reduces) {
      if (found == order.size() || order[found] != int(loop))
        return std::nullopt;
      ++found;
      // The slowest part of the group, and what lies outside.
      int64_t inGroup = perGroup == 0 ? std::min(w.results, extent) : 1;
      if (perGroup == 0)
        perGroup = filled * inGroup;
      if (extent % inGroup != 0)
        return std::nullopt;
      groups *= extent / inGroup;
    } else if (perGroup != 0) {
      return std::nullopt;
    }
    filled *= extent;
    flat.terms.erase(next);
  }
  if (filled != stride)
    return std::nullopt;
  return WindowWeights{read.input, perGroup ? perGroup : filled, groups};
}

/// Other operands, and initial values, must be the same for all of a group's
/// results. Finds weights.
bool WindowMatcher::checkOthers() {
  // All other reads of the window operand are alike, or the same for a group.
  const TracedRead &front = reads.front();
  auto isAlike = [&](const TracedRead &read) {
    return kernel.shapeOf(kernel.inputs[read.input]) ==
               kernel.shapeOf(kernel.inputs[front.input]) &&
           areEqual(read, front);
  };
  for (const TracedRead &read : reads)
    if (isAlike(read) && !llvm::is_contained(w.inputs, read.input))
      w.inputs.push_back(read.input);
  for (const TracedRead &read : reads)
    if (!isAlike(read) && (isSpatial(read, /*inRows=*/true) ||
                           llvm::is_contained(w.inputs, read.input)))
      return false;
  for (const Place &place : front.places)
    w.places.push_back(place.index);
  SmallVector<TracedRead> others;
  for (OpOperand &operand : w.op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (number == w.operand ||
        w.op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    ReadTracer tracer(kernel);
    if (!traceOperand(operand, tracer))
      return false;
    for (const TracedRead &read : tracer.reads) {
      if (llvm::is_contained(w.inputs, read.input) ||
          isSpatial(read, /*inRows=*/form == WindowForm::Pixels))
        return false;
      others.push_back(read);
      WindowOther other{number, read.input, {}};
      for (const Place &place : read.places)
        other.places.push_back(place.index);
      w.others.push_back(other);
    }
  }
  for (auto [i, read] : llvm::enumerate(others)) {
    auto same = [&, &read = read](const TracedRead &other) {
      return other.input == read.input;
    };
    if (llvm::any_of(ArrayRef(others).take_front(i), same) ||
        llvm::any_of(reads, same))
      continue;
    bool isOnly = llvm::all_of(others, [&, &read = read](auto &other) {
      return other.input != read.input || areEqual(other, read);
    });
    std::optional<WindowWeights> weights = denseWeights(read);
    if (weights && isOnly)
      w.weights.push_back(*weights);
  }
  return true;
}

} // namespace mlc::cuda
