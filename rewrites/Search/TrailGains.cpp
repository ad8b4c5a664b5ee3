//===- TrailGains.cpp - The gain of each step of a trail ------------------===//

#include "rewrites/Search/TrailGains.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mlir;
using namespace mlc;

TrailGains::TrailGains(func::FuncOp function, const CostModel &cost)
    : cost(cost) {
  if (!function.getBody().hasOneBlock())
    return;
  auto add = [&](TermId first, double taken) {
    seconds.push_back(taken);
    makerOf.push_back(first);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    add(i, 0);
  for (Operation &op : function.getBody().front().without_terminator()) {
    TermId first = seconds.size();
    double taken = cost.seconds(&op);
    total += taken;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      add(first, i == 0 ? taken : 0);
  }
}

/// By rule: how many terms its step makes.
static llvm::StringMap<unsigned> countResults(RuleSet &rules) {
  llvm::StringMap<unsigned> counts;
  for (Rule &rule : rules.rules) {
    unsigned count = 0;
    for (Operation &op : rule.getAfter().getBody().front().without_terminator())
      count += op.getNumResults();
    counts[rule.getName()] = count;
  }
  return counts;
}

void TrailGains::share(Trail &trail, func::FuncOp function,
                       RuleSet &rules) const {
  if (trail.steps.empty())
    return;
  llvm::StringMap<unsigned> results = countResults(rules);
  std::map<TermId, size_t> coveredBy; // original operator → step
  std::map<TermId, size_t> madeBy;
  TermId next = seconds.size();
  for (auto [i, step] : llvm::enumerate(trail.steps)) {
    step.gainSeconds = 0;
    for (TermId term : step.before)
      if (term < makerOf.size())
        coveredBy.try_emplace(makerOf[term], i);
    for (unsigned made = results.lookup(step.rule); made > 0; --made)
      madeBy[next++] = i;
  }
  double left = total;
  auto count = [&](size_t step, double gain) {
    trail.steps[step].gainSeconds += gain;
    left -= gain;
  };
  std::vector<char> stays(seconds.size(), 0);
  size_t at = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    double taken = cost.seconds(&op);
    left -= taken;
    TermId term =
        at < trail.chosen.size() ? trail.chosen[at].term : TermId(noTerm);
    ++at;
    if (term < seconds.size())
      stays[term] = 1;
    else if (auto it = madeBy.find(term); it != madeBy.end()) {
      trail.steps[it->second].gainSeconds -= taken;
      left += taken;
    }
  }
  for (auto [term, step] : coveredBy)
    if (!stays[term])
      count(step, seconds[term]);
  trail.steps.back().gainSeconds += left;
}
