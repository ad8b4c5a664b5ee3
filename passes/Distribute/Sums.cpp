//===- Sums.cpp - Sums of partial and other terms -------------------------===//

#include "passes/Distribute/Sums.h"
#include "dialects/Dist/Pins.h"
#include "dialects/Module/StageFacts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::dist {

/// Whether `reader` is an addition that may take over the terms of `add`.
static bool takesOver(AddOp reader, AddOp add) {
  if (!reader || reader->getBlock() != add->getBlock() ||
      reader.getType() != add.getType())
    return false;
  return llvm::all_of(std::array<llvm::StringRef, 2>{kStageAttr, kBackwardAttr},
                      [&](llvm::StringRef name) {
                        return reader->getAttr(name) == add->getAttr(name);
                      });
}

bool Sums::isPartialSum(Value value) const {
  const Place place = parts.placeOf(value);
  return place.isPartial() && place.reduction == Reduction::Sum;
}

Sums::Terms Sums::termsOf(AddOp add) const {
  Terms terms;
  for (Value operand : add->getOperands()) {
    auto it = waiting.find(operand);
    if (it == waiting.end()) {
      terms.values.push_back(operand);
      continue;
    }
    llvm::append_range(terms.values, it->second.values);
    llvm::append_range(terms.additions, it->second.additions);
  }
  terms.additions.push_back(add);
  return terms;
}

bool Sums::waits(AddOp add) {
  if (!add->hasOneUse() || add->hasAttr(kPinAttr) ||
      !takesOver(llvm::dyn_cast<AddOp>(*add->user_begin()), add))
    return false;
  Terms terms = termsOf(add);
  auto hasType = [&](Value term) { return term.getType() == add.getType(); };
  auto isPartial = [&](Value term) { return isPartialSum(term); };
  if (!llvm::all_of(terms.values, hasType) ||
      llvm::all_of(terms.values, isPartial) ||
      llvm::none_of(terms.values, isPartial))
    return false;
  waiting[add.getResult()] = std::move(terms);
  return true;
}

SmallVector<AddOp> Sums::regroup(AddOp add) {
  Terms terms = termsOf(add);
  if (terms.additions.size() == 1)
    return {};
  for (AddOp one : terms.additions)
    waiting.erase(one.getResult());
  // The others first, then the partial ones, each in their order.
  std::stable_partition(terms.values.begin(), terms.values.end(),
                        [&](Value term) { return !isPartialSum(term); });
  const auto begin = terms.values.begin(), end = terms.values.end();
  const auto middle = llvm::find_if(
      terms.values, [&](Value term) { return isPartialSum(term); });
  size_t next = 0;
  auto addUp = [&](auto from, auto to) {
    Value sum = *from;
    for (++from; from != to; ++from) {
      AddOp one = terms.additions[next++];
      if (one != add)
        one->moveBefore(add);
      one->setOperands({sum, *from});
      sum = one.getResult();
    }
    return sum;
  };
  if (middle == begin || middle == end) {
    addUp(begin, end);
    return terms.additions;
  }
  Value others = addUp(begin, middle), partial = addUp(middle, end);
  add->setOperands({others, partial});
  return terms.additions;
}

} // namespace mlc::dist
