//===- Learner.cpp - The cheapest formula over literals -------------------===//

#include "rewrites/Precondition/Learner.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::BitVector;

namespace mlc::precondition {

namespace {

using Conjunction = Formula::Conjunction;

/// Whether every bit of `a` is in `b`.
bool isSubset(const BitVector &a, const BitVector &b) { return !a.test(b); }

class Learner {
public:
  Learner(ArrayRef<Sample> samples, ArrayRef<LiteralClass> literals)
      : literals(literals), valid(samples.size()), wanted(samples.size()),
        invalid(samples.size()) {
    for (auto [i, sample] : llvm::enumerate(samples)) {
      (sample.isValid ? valid : invalid).set(i);
      if (sample.isValid && !sample.isDegenerate)
        wanted.set(i);
    }
    if (wanted.none())
      wanted = valid;
  }

  std::optional<Formula> run() {
    for (const BitVector *target : {&valid, &wanted})
      if (std::optional<Conjunction> found = conjunction(*target))
        return Formula{{*found}, true};
    collectImplicants();
    if (implicants.empty())
      return std::nullopt;
    for (const BitVector *target : {&valid, &wanted})
      if (std::optional<Formula> found = pair(*target))
        return found;
    return greedy();
  }

private:
  /// A conjunction that is false on all invalid samples.
  struct Implicant {
    Conjunction literals;
    BitVector truth;
    unsigned cost;
  };

  /// The cheapest conjunction that is true on all of `target` and on no invalid
  /// sample: a smallest set of literals that hits every invalid sample.
  std::optional<Conjunction> conjunction(const BitVector &target) {
    if (target.none())
      return std::nullopt;
    usable.clear();
    for (auto [i, literal] : llvm::enumerate(literals))
      if (isSubset(target, literal.truth))
        usable.push_back(i);
    best.reset();
    bestCost = ~0u;
    fuel = 60000;
    chosen.clear();
    cover(invalid, 0);
    return best;
  }

  /// Branches on one of a few invalid samples: the one that the fewest literals
  /// exclude.
  void cover(const BitVector &left, unsigned cost) {
    if (cost >= bestCost)
      return;
    if (left.none()) {
      best = chosen;
      bestCost = cost;
      return;
    }
    constexpr unsigned mostLiterals = 4;
    if (chosen.size() == mostLiterals || fuel == 0)
      return;
    size_t fewest = ~size_t(0);
    int hardest = -1;
    unsigned looked = 0;
    for (int sample : left.set_bits()) {
      size_t count = llvm::count_if(
          usable, [&](unsigned i) { return !literals[i].truth.test(sample); });
      if (count < fewest) {
        fewest = count;
        hardest = sample;
      }
      if (++looked == 12)
        break;
    }
    for (unsigned i : usable) {
      if (literals[i].truth.test(hardest) || fuel == 0)
        continue;
      if (cost + literals[i].cost() >= bestCost)
        break; // the rest costs more
      --fuel;
      BitVector rest = left;
      rest &= literals[i].truth;
      chosen.push_back(i);
      // Each further literal adds a word to read.
      cover(rest, cost + literals[i].cost() + 1);
      chosen.pop_back();
    }
  }

  void addImplicant(Conjunction conjunction) {
    Implicant implicant;
    implicant.truth = BitVector(valid.size(), true);
    implicant.cost = 0;
    for (unsigned i : conjunction) {
      implicant.truth &= literals[i].truth;
      implicant.cost += literals[i].cost() + 1;
    }
    implicant.truth &= valid;
    bool isNew = llvm::none_of(implicants, [&](const Implicant &other) {
      return other.cost <= implicant.cost &&
             isSubset(implicant.truth, other.truth);
    });
    implicant.literals = std::move(conjunction);
    if (isNew && implicant.truth.any())
      implicants.push_back(std::move(implicant));
  }

  /// Collects implicants of one and two literals, and the cheapest ones for
  /// some valid samples that these do not cover.
  void collectImplicants() {
    constexpr size_t mostLiterals = 600;
    std::vector<unsigned> open;
    for (auto [i, literal] : llvm::enumerate(literals)) {
      if (!literal.truth.anyCommon(invalid))
        addImplicant({unsigned(i)});
      else if (literal.truth.anyCommon(wanted) && open.size() < mostLiterals)
        open.push_back(i);
    }
    for (size_t a = 0; a < open.size(); ++a)
      for (size_t b = a + 1; b < open.size(); ++b) {
        BitVector both = literals[open[a]].truth;
        both &= literals[open[b]].truth;
        if (!both.anyCommon(invalid) && both.anyCommon(wanted))
          addImplicant({open[a], open[b]});
      }
    BitVector left = wanted;
    for (const Implicant &implicant : implicants)
      left.reset(implicant.truth);
    for (unsigned tries = 0; tries < 6 && left.any(); ++tries) {
      BitVector seed(valid.size());
      seed.set(left.find_first());
      left.reset(left.find_first());
      if (std::optional<Conjunction> found = conjunction(seed)) {
        addImplicant(*found);
        left.reset(implicants.back().truth);
      }
    }
  }

  std::optional<Formula> pair(const BitVector &target) {
    std::optional<Formula> result;
    unsigned cheapest = ~0u;
    for (size_t a = 0; a < implicants.size(); ++a) {
      BitVector left = target;
      left.reset(implicants[a].truth);
      for (size_t b = a + 1; b < implicants.size(); ++b) {
        unsigned cost = implicants[a].cost + implicants[b].cost;
        if (cost >= cheapest || !isSubset(left, implicants[b].truth))
          continue;
        cheapest = cost;
        result =
            Formula{{implicants[a].literals, implicants[b].literals}, true};
      }
    }
    return result;
  }

  /// Up to three implicants, each covering most of the remaining samples; one
  /// that covers few is a coincidence.
  std::optional<Formula> greedy() {
    Formula formula;
    BitVector left = wanted;
    while (left.any() && formula.alternatives.size() < 3) {
      const Implicant *next = nullptr;
      unsigned most = 0;
      for (const Implicant &implicant : implicants) {
        BitVector covered = implicant.truth;
        covered &= left;
        unsigned count = covered.count();
        if (count > most ||
            (next && count == most && implicant.cost < next->cost)) {
          most = count;
          next = &implicant;
        }
      }
      if (most == 0 ||
          (!formula.alternatives.empty() && 10 * most < wanted.count()))
        break;
      formula.alternatives.push_back(next->literals);
      left.reset(next->truth);
    }
    formula.isWeakest = left.none();
    return formula;
  }

  ArrayRef<LiteralClass> literals;
  BitVector valid, wanted, invalid;
  std::vector<Implicant> implicants;

  // State of one search for a conjunction.
  std::vector<unsigned> usable;
  Conjunction chosen;
  std::optional<Conjunction> best;
  unsigned bestCost = 0, fuel = 0;
};

} // namespace

std::optional<Formula> learn(ArrayRef<Sample> samples,
                             ArrayRef<LiteralClass> literals) {
  return Learner(samples, literals).run();
}

} // namespace mlc::precondition
