//===- Hasty.h - Answers for a search ---------------------------*- C++ -*-===//
//
// Most queries of a search do not hold, mostly for reasons seen before. Nothing
// here is trusted: a decider that asks each query separately checks the
// proofs found.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_HASTY_H
#define MLC_VERIFIER_SEARCH_HASTY_H

#include "verifier/kernel/Decide.h"
#include <deque>

namespace mlc::elaborate {

/// Remembers where queries failed and tries these places first. Variables are
/// renumbered all the time, so they are identified by their order of
/// occurrence.
class HastyDecider : public kernel::Decider {
public:
  HastyDecider(uint64_t maxWork, uint64_t maxWorkInAll)
      : Decider(maxWork, maxWorkInAll) {
    isHasty = true;
  }

protected:
  bool isKnownToFail(const kernel::Obligation &obligation) override;
  void learn(const kernel::Obligation &obligation,
             const kernel::Model &model) override;

private:
  struct Place {
    std::map<std::string, int64_t> sizes;
    std::vector<int64_t> variables; // in order
  };
  bool fails(const kernel::Obligation &obligation,
             const std::vector<kernel::Variable> &variables,
             const Place &place) const;
  std::deque<Place> places; // the latest first
};

} // namespace mlc::elaborate

#endif // MLC_VERIFIER_SEARCH_HASTY_H
