//===- WindowMatch.cpp - Which kernels reduce windows ---------------------===//

#include "codegen/cuda/Group.h"
#include "codegen/cuda/WindowMatcher.h"

using namespace mlir;

namespace mlc::cuda {

int64_t Windows::taps() const {
  int64_t all = channels;
  for (const WindowDim &dim : dims)
    all *= dim.kernel;
  return all;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The kernel's one reduction, which has a single result and whose body is
/// arithmetic on its operands.
bool WindowMatcher::findReduction() {
  SmallVector<linalg::LinalgOp> reductions = reductionsOf(kernel);
  if (reductions.size() != 1 || kernel.outputs.empty())
    return false;
  w.op = reductions.front();
  if (w.op->getNumResults() != 1 || w.op.hasIndexSemantics() || !isPlain(w.op))
    return false;
  extents = loopSizes(kernel, w.op);
  constexpr int64_t mostTaps = 256;
  int64_t taps = 1;
  SmallVector<unsigned> loops;
  w.op.getReductionDims(loops);
  for (unsigned loop : loops) {
    std::optional<int64_t> extent =
        extents[loop] ? extents[loop].asConstant() : std::nullopt;
    if (!extent || *extent < 1 || *extent > mostTaps)
      return false;
    taps *= *extent;
  }
  return taps <= mostTaps &&
         llvm::all_of(extents, [](IntExpr e) { return bool(e); });
}

/// Prints an element of each result as a trial: it must need one element of the
/// sum, whose indices are the result's. Finds their order.
bool WindowMatcher::followResult() {
  ArrayRef<IntExpr> shape = w.shape(kernel);
  KernelPrinter trial(kernel, options, "");
  trial.printer.isTrial = true;
  Indices places;
  for (auto [d, extent] : llvm::enumerate(shape))
    places.push_back(extent.isConstant(1) ? Index(0)
                                          : Index("d" + std::to_string(d)));
  Value sum = w.op->getResult(0);
  AffineMap map = w.op.getMatchingIndexingMap(w.op.getDpsInitOperand(0));
  trial.printer.known[sum] = "sum";
  w.loops.assign(shape.size(), -1);
  bool isFollowed = true, isRead = false;
  auto onKnown = [&](Value, ArrayRef<Index> indices) {
    isRead = true;
    for (auto [index, expr] : llvm::zip_equal(indices, map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return void(isFollowed = false);
      if (extents[dim.getPosition()].isConstant(1))
        continue;
      auto at = llvm::find_if(places, [&, index = index](const Index &place) {
        return !place.value && place.text == index.text;
      });
      if (at == places.end() ||
          shape[at - places.begin()] != extents[dim.getPosition()])
        return void(isFollowed = false);
      int &loop = w.loops[at - places.begin()];
      if (loop >= 0 && loop != int(dim.getPosition()))
        return void(isFollowed = false);
      loop = int(dim.getPosition());
    }
  };
  trial.printer.onKnown = onKnown;

  trial.printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    std::optional<Read> read = readAt(kernel, view, indices, places);
    if (read && !llvm::is_contained(w.reads, *read))
      w.reads.push_back(*read);
    return std::string();
  };
  for (Value output : kernel.outputs) {
    if (kernel.shapeOf(output) != shape)
      return false;
    trial.printer.element(output, places);
  }
  if (trial.printer.failed || !isFollowed || !isRead)
    return false;
  for (auto [loop, extent] : llvm::zip_equal(w.loops, shape))
    if (loop < 0 && !extent.isConstant(1))
      return false;
  return true;
}

bool WindowMatcher::traceOperand(OpOperand &operand, ReadTracer &tracer) {
  SmallVector<AffineExpr> loops;
  for (auto [i, extent] : llvm::enumerate(extents))
    loops.push_back(extent.isConstant(1) ? getAffineConstantExpr(0, ctx)
                                         : getAffineDimExpr(i, ctx));
  SmallVector<Place> places;
  for (AffineExpr expr : w.op.getMatchingIndexingMap(&operand).getResults())
    places.push_back(
        {simplifyAffineExpr(expr.replaceDims(loops), extents.size(), 0),
         false});
  if (operand.getOperandNumber() == w.operand) {
    operandIndices.clear();
    for (const Place &place : places)
      operandIndices.push_back(place.index);
  }
  if (!tracer.trace(operand.get(), places))
    return false;
  for (TracedRead &read : tracer.reads)
    for (Place &place : read.places)
      place.index = simplifyAffineExpr(place.index, extents.size(), 0);
  return true;
}

/// The operand that most loops index is read through windows.
bool WindowMatcher::findOperand() {
  unsigned most = 0;
  for (OpOperand *operand : w.op.getDpsInputOperands()) {
    AffineMap map = w.op.getMatchingIndexingMap(operand);
    unsigned count = 0;
    for (unsigned i = 0; i < extents.size(); ++i)
      count += !extents[i].isConstant(1) && map.isFunctionOfDim(i);
    if (w.op.getMatchingBlockArgument(operand).use_empty() || count <= most)
      continue;
    most = count;
    w.operand = operand->getOperandNumber();
  }
  ReadTracer tracer(kernel);
  if (most == 0 || !traceOperand(w.op->getOpOperand(w.operand), tracer) ||
      tracer.reads.empty())
    return false;
  // What most loops index, again.
  auto countOf = [&](const TracedRead &read) {
    llvm::DenseSet<unsigned> loops;
    for (const Place &place : read.places)
      place.index.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          loops.insert(dim.getPosition());
      });
    return loops.size();
  };
  reads = tracer.reads;
  llvm::stable_sort(reads, [&](const TracedRead &a, const TracedRead &b) {
    return countOf(a) > countOf(b);
  });
  return true;
}

/// `place` as the index of a window along dim `out` of the result.
std::optional<WindowDim> WindowMatcher::matchDim(const Place &place,
                                                 const Linear &linear,
                                                 unsigned out) {
  WindowDim dim;
  dim.isPadded = place.isPadded;
  dim.inputFirst = linear.constant;
  dim.out = w.shape(kernel)[out];
  for (auto [term, scale] : linear.terms) {
    if (!isa<AffineDimExpr>(term) || scale.getConstant() < 1)
      return std::nullopt;
    unsigned loop = loopOf(term);
    bool reduces = isReduction(w.op, loop);
    if (reduces ? dim.reduction >= 0 : int(loop) != w.loops[out])
      return std::nullopt;
    (reduces ? dim.reduction : dim.loop) = int(loop);
    (reduces ? dim.dilation : dim.stride) = scale.getConstant();
    if (reduces)
      dim.kernel = extents[loop].getConstant();
  }
  if (dim.loop < 0 && !dim.out.isConstant(1))
    return std::nullopt;
  if (linear.terms.empty())
    return dim;
  // The operand's dim that has the same index, but for pads.
  for (auto [d, index] : llvm::enumerate(operandIndices)) {
    Linear other;
    if (addTo(other, index, 1) && other.terms.size() == linear.terms.size() &&
        llvm::all_of(linear.terms, [&](auto &term) {
          return other.terms.lookup(term.first) == term.second;
        })) {
      dim.operandDim = int(d);
      dim.operandFirst = other.constant;
      return dim;
    }
  }
  return std::nullopt;
}

/// Whether windows along the dim are its parts: none overlap, and no element
/// is left over.
static bool areParts(const WindowDim &dim) {
  return !dim.isPadded && dim.inputFirst == 0 && dim.stride == dim.kernel &&
         (dim.dilation == 1 || dim.kernel == 1) &&
         dim.out * dim.kernel == dim.in;
}

/// Whether the last dim of the input is that of the result, and indexes nothing
/// else.
bool WindowMatcher::matchChannels(const TracedRead &read,
                                  ArrayRef<Linear> linear) const {
  ArrayRef<IntExpr> in = kernel.shapeOf(kernel.inputs[read.input]);
  int loop = w.loops.back();
  if (loop < 0 || in.back() != w.shape(kernel).back() ||
      read.places.back().isPadded ||
      read.places.back().index != getAffineDimExpr(loop, ctx))
    return false;
  return llvm::all_of(linear.drop_back(), [&](const Linear &index) {
    return llvm::all_of(index.terms, [&](auto &term) {
      return loopOf(term.first) != unsigned(loop);
    });
  });
}

/// Finds the dims of windows, as few as possible, behind those of groups.
bool WindowMatcher::matchDims() {
  const TracedRead &read = reads.front();
  ArrayRef<IntExpr> in = kernel.shapeOf(kernel.inputs[read.input]);
  unsigned rank = w.loops.size();
  if (in.size() != rank)
    return false;
  SmallVector<Linear> linear(rank);
  for (unsigned d = 0; d < rank; ++d)
    if (!addTo(linear[d], read.places[d].index, 1))
      return false;
  SmallVector<WindowDim> found;
  unsigned least = 1, end = form == WindowForm::Pixels ? rank - 1 : rank;
  if (end < rank && !matchChannels(read, linear))
    return false;
  for (unsigned d = end; d-- > 0;) {
    std::optional<WindowDim> dim = matchDim(read.places[d], linear[d], d);
    if (!dim)
      break;
    dim->in = in[d];
    found.push_back(*dim);
    if (!areParts(*dim))
      least = found.size();
  }
  for (unsigned count = least; count <= found.size(); ++count) {
    w.dims.assign(found.begin(), found.begin() + count);
    std::reverse(w.dims.begin(), w.dims.end());
    w.first = end - count;
    bool hasGroups = form == WindowForm::Pixels ||
                     matchGroups(ArrayRef(linear).take_front(w.first));
    if (hasGroups && keepsOrder() && hasWindows())
      return true;
  }
  return false;
}

/// Takes the terms of reduction loops, which index the channels of a group.
bool WindowMatcher::takeChannels(llvm::MapVector<AffineExpr, IntExpr> &terms) {
  w.channelLoops.clear();
  w.channels = 1;
  auto reduces = [&](AffineExpr term) {
    return isReduction(w.op, loopOf(term));
  };
  for (;;) {
    auto next = llvm::find_if(terms, [&](auto &term) {
      return reduces(term.first) && isa<AffineDimExpr>(term.first) &&
             term.second.isConstant(w.channels);
    });
    if (next == terms.end())
      break;
    unsigned loop = loopOf(next->first);
    w.channelLoops.insert(w.channelLoops.begin(), loop);
    w.channels *= extents[loop].getConstant();
    terms.erase(next);
  }
  return llvm::none_of(terms, [&](auto &term) { return reduces(term.first); });
}

/// Whether groups of the input and of the result lie one behind the other, in
/// the same order.
bool WindowMatcher::matchGroups(ArrayRef<Linear> leading) {
  ArrayRef<IntExpr> in = kernel.shapeOf(kernel.inputs[reads.front().input]);
  ArrayRef<IntExpr> out = w.shape(kernel);
  llvm::MapVector<AffineExpr, IntExpr> terms;
  IntExpr stride = IntExpr::constant(ctx, 1);
  for (unsigned d = leading.size(); d-- > 0;) {
    if (leading[d].constant != 0 || reads.front().places[d].isPadded)
      return false;
    for (auto [term, scale] : leading[d].terms) {
      IntExpr &at = terms[term];
      at = at ? at + stride * scale : stride * scale;
    }
    stride = stride * in[d];
  }
  if (!takeChannels(terms))
    return false;
  w.results = 1;
  w.groups = IntExpr::constant(ctx, 1);
  IntExpr expected = IntExpr::constant(ctx, w.channels);
  for (unsigned d = leading.size(); d-- > 0;) {
    if (w.loops[d] < 0)
      continue;
    auto term = llvm::find_if(terms, [&](auto &term) {
      return int(loopOf(term.first)) == w.loops[d];
    });
    int64_t divisor = 1;
    bool isFirst = w.groups.isConstant(1);
    if (term == terms.end()) {
      // All of its indices have the same input.
      if (!isFirst || !out[d].isConstant())
        return false;
      w.results *= out[d].getConstant();
      continue;
    }
    if (auto division = dyn_cast<AffineBinaryOpExpr>(term->first)) {
      divisor = cast<AffineConstantExpr>(division.getRHS()).getValue();
      if (!isFirst || w.results != 1 || divisor < 1 ||
          !out[d].mod(divisor).isConstant(0))
        return false;
      w.results = divisor;
    }
    if (term->second != expected)
      return false;
    IntExpr count = out[d].floorDiv(divisor);
    expected = expected * count;
    w.groups = w.groups * count;
    terms.erase(term);
  }
  return terms.empty();
}

/// Whether neighbours' windows differ, or groups have a few channels; anything
/// else is a product of matrices, or a sum.
bool WindowMatcher::hasWindows() const {
  constexpr int64_t fewChannels = 4;
  return llvm::any_of(w.dims,
                      [](const WindowDim &dim) {
                        return dim.loop >= 0 && dim.reduction >= 0;
                      }) ||
         (form == WindowForm::Planes && w.channels > 1 &&
          w.channels <= fewChannels && !w.groups.isConstant(1));
}

/// Whether channels, then windows from the slowest dim on, are the order of the
/// reduction, and all of it.
bool WindowMatcher::keepsOrder() {
  SmallVector<unsigned> order(w.channelLoops), loops;
  for (const WindowDim &dim : w.dims)
    if (dim.reduction >= 0)
      order.push_back(dim.reduction);
  w.op.getReductionDims(loops);
  llvm::erase_if(loops, [&](unsigned l) { return extents[l].isConstant(1); });
  return order == loops;
}

std::optional<Windows> WindowMatcher::run() {
  if (findReduction() && followResult() && findOperand() && matchDims() &&
      checkOthers())
    return w;
  return std::nullopt;
}

std::optional<Windows> matchWindows(const Kernel &kernel,
                                    const EmitOptions &options,
                                    WindowForm form) {
  return WindowMatcher(kernel, options, form).run();
}

} // namespace mlc::cuda
