//===- Divide.cpp - The operators of a model, in parts --------------------===//

#include "passes/Stages/Divide.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Module/CompileTime.h"
#include "rewrites/Cost/Work.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;

namespace mlc {

SmallVector<Operation *> listOperators(func::FuncOp main) {
  llvm::DenseSet<Operation *> fixed;
  auto isFixed = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      return fixed.contains(op);
    return bool(main.getArgAttr(cast<BlockArgument>(value).getArgNumber(),
                                kParameterAttr));
  };
  SmallVector<Operation *> operators;
  for (Operation &op : main.getBody().front().without_terminator())
    if (llvm::all_of(op.getOperands(), isFixed))
      fixed.insert(&op);
    else
      operators.push_back(&op);
  return operators;
}

StringRef nodeOf(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

uint64_t weigh(Operation *op) {
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  if (!defined)
    return 1;
  FailureOr<Definition> definition = getDefinition(defined);
  if (failed(definition))
    return 1;
  Work work = countWork(op->getContext(), *definition, SymbolSizes());
  double sum = work.operations + work.bytes() / 4;
  for (const ContractionWork &contraction : work.contractions)
    sum += contraction.flops() / 8;
  return 1 + uint64_t(std::min(sum, 1e15));
}

/// How many stages of at most `limit` the operators fill, in order; each keeps
/// at least one operator for each stage behind it. Sets their ends.
static bool fits(ArrayRef<uint64_t> weights, int64_t stages, uint64_t limit,
                 SmallVectorImpl<size_t> &ends) {
  ends.clear();
  size_t next = 0;
  for (int64_t stage = 0; stage < stages; ++stage) {
    const size_t most = weights.size() - size_t(stages - 1 - stage);
    uint64_t sum = weights[next++];
    while (next < most && sum + weights[next] <= limit)
      sum += weights[next++];
    if (sum > limit)
      return false;
    ends.push_back(next);
  }
  return next == weights.size();
}

SmallVector<size_t> divideEvenly(ArrayRef<uint64_t> weights, int64_t stages) {
  SmallVector<size_t> ends;
  uint64_t low = 0, high = 0;
  for (uint64_t weight : weights)
    high += weight;
  // The least limit lies in (low, high].
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (fits(weights, stages, middle, ends) ? high : low) = middle;
  }
  (void)fits(weights, stages, high, ends);
  return ends;
}

SmallVector<uint64_t>
countCrossing(ArrayRef<Operation *> operators,
              const llvm::DenseMap<Operation *, size_t> &groupOf,
              size_t groups) {
  SmallVector<uint64_t> crossing(groups + 1);
  for (Operation *op : operators)
    for (Value result : op->getResults()) {
      size_t last = groupOf.lookup(op);
      for (Operation *user : result.getUsers())
        if (auto it = groupOf.find(user); it != groupOf.end())
          last = std::max(last, it->second);
      uint64_t elements = 1;
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        for (int64_t dim : type.getShape())
          elements *= uint64_t(std::max<int64_t>(dim, 1));
      for (size_t cut = groupOf.lookup(op) + 1; cut <= last; ++cut)
        crossing[cut] += elements;
    }
  return crossing;
}

void moveToNarrowCuts(ArrayRef<uint64_t> crossing,
                      SmallVectorImpl<size_t> &ends) {
  const SmallVector<size_t> even(ends.begin(), ends.end());
  size_t before = 0;
  for (size_t i = 0; i + 1 < even.size(); ++i) {
    const size_t first =
                     std::max(before + 1,
                              even[i] - (even[i] - (i ? even[i - 1] : 0)) / 2),
                 last = even[i] + (even[i + 1] - even[i]) / 2;
    size_t best = std::max(even[i], first);
    auto distance = [&](size_t cut) {
      return cut > even[i] ? cut - even[i] : even[i] - cut;
    };
    for (size_t cut = first; cut <= last; ++cut)
      if (std::pair(crossing[cut], distance(cut)) <
          std::pair(crossing[best], distance(best)))
        best = cut;
    before = ends[i] = best;
  }
}

} // namespace mlc
