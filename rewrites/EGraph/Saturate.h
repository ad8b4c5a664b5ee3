//===- Saturate.h - Applying rules until nothing is new ---------*- C++ -*-===//
//
// *Weights.* What is known at compile time is computed once, before the model
// runs, and costs nothing then: a search does not care how a weight is made,
// only of what type it is. Rules that fold one operator after another into the
// weights of a convolution give the same convolution over and over, each time
// with weights that are equal as numbers but, as terms, of another class. An
// e-graph would keep all of them and go on from each. So, where a class holds
// an expression already that differs from a rule's built side in nothing but
// how weights of the same types are made, the application is skipped; and no
// rule is laid over what only makes a weight.
//
// Both take choices away, never add one, so what is found stays right, and a
// trail holds only what was applied. What is lost is little: rules look at a
// weight's type and at whether it is known, which are the same in both, save
// for two kinds: those in which one weight stands in two places (they need the
// same class; the first way to make it, in a fixed order of rules, is the same
// wherever the same weights meet), and those that ask for the elements of a
// literal (a computed weight has none).
//
#ifndef MLC_REWRITES_EGRAPH_SATURATE_H
#define MLC_REWRITES_EGRAPH_SATURATE_H

#include "rewrites/EGraph/Changes.h"
#include "rewrites/EGraph/Matcher.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <set>

namespace mlc::egraph {

struct SaturationLimits {
  unsigned nodes = 20000;
  unsigned iterations = 12;
  /// Rules with several results apply in this many first iterations: each
  /// merges all pairs that there are.
  unsigned multiOutputIterations = 2;
  /// Where more parts than this share an input, all pairs of them, and pairs of
  /// pairs, would be all their subsets: there, each part is merged once, and
  /// what it became goes on in its stead.
  unsigned parts = 3;
  /// Values known at compile time are weights (see the top): of several ways
  /// to make one, one is kept. Off where equalities between weights are asked
  /// for.
  bool mergeWeights = true;
  /// A rule that is found more often in one iteration pauses, for
  /// `pauseIterations`, and twice as often and long the next time.
  unsigned matchesPerRule = 1000;
  unsigned pauseIterations = 2;
  /// Nodes on which an operator of a rule is laid to see whether it fits, and
  /// matches that are applied: what takes the time, counted, so that a result
  /// does not depend on how fast the machine is.
  uint64_t steps = 10'000'000;
};

enum class StopReason {
  Saturated,      // no rule says anything new
  Reached,        // what was asked for is there
  NodeLimit,      //
  IterationLimit, //
  StepLimit,      //
};
llvm::StringRef name(StopReason reason); // "saturated", "node-limit"

/// One application of a rule.
struct Application {
  const RuleProgram *program;
  EMatch ematch;
  /// Nodes of the built operators, in order.
  llvm::SmallVector<NodeId, 8> built;
  /// For each of the rule's assumptions on tensors, the node that showed it.
  llvm::SmallVector<NodeId, 4> shownBy;
  /// Where what stands for a value of the pattern only refines what the node
  /// was made with: both, and how.
  struct Refined {
    NodeId child, value;
    EGraph::RefinementPath path;
  };
  llvm::SmallVector<Refined, 0> refined;
};

/// A run of rules over a graph.
class Saturation {
public:
  Saturation(EGraph &graph, llvm::ArrayRef<const RuleProgram *> programs,
             const SaturationLimits &limits);

  /// What may be taken for true, beside what holds: a condition, with values
  /// put in for its symbols.
  void assume(const Condition &condition, const Bindings &bindings);
  void assume(const RealAssumption &assumption);

  /// Runs until `isReached` (asked after every iteration) or a limit.
  StopReason run(llvm::function_ref<bool()> isReached = [] { return false; });

  enum class Outcome {
    New,    // the rule was applied
    Known,  // the graph has the built side already, and knows it equal
    Alike,  // the same, but that weights are made in another way; not applied
    Refused // conditions do not hold, or it does not fit; nothing is changed
  };
  /// Applies a rule at a match; unless `mergeWeights`, also where that
  /// makes weights in another way only. `built`, where New or Known: the nodes
  /// of the built operators.
  Outcome apply(const RuleProgram &program, const EMatch &ematch,
                bool mergeWeights, llvm::SmallVectorImpl<NodeId> &built);

  const std::vector<Application> &getApplications() const {
    return applications;
  }
  unsigned getIterations() const { return iterations; }
  /// See SaturationLimits::steps.
  uint64_t getSteps() const { return limits.steps - stepsLeft; }

private:
  struct Pause {
    unsigned until = 0, times = 0;
  };
  using EMatchKey = llvm::SmallVector<const void *, 8>;
  struct Found {
    const RuleProgram *program;
    EMatch ematch;
  };

  class Finder;
  bool isForRound(const RuleProgram &program, unsigned round) const;
  bool endFirstPause();
  void dropMergedParts(const RuleProgram &program, std::vector<Found> &found,
                       size_t first);
  void search(std::vector<Found> &found);
  void choose(const RuleProgram &program, const EMatch &ematch,
              llvm::function_ref<void(const EMatch &)> callback);
  static EMatchKey nodesOf(const RuleProgram &program, const EMatch &ematch);
  static EMatchKey keyOf(const RuleProgram &program, const EMatch &ematch);
  bool holdsHere(const Condition &condition, const Bindings &bindings) const;
  bool holdsHere(const RealAssumption &assumption,
                 const Bindings &bindings) const;
  bool symbolsFit(const RuleProgram &program, const Bindings &bindings) const;
  bool tensorsFit(const RuleProgram &program, const EMatch &ematch,
                  llvm::SmallVectorImpl<NodeId> &shownBy) const;
  /// What a rule builds at a match.
  struct Plan {
    llvm::SmallVector<OperatorId, 8> operators;
    /// Of the values of the built side.
    llvm::SmallVector<mlir::Type, 8> types;
    llvm::SmallVector<bool, 8> isWeight;
  };
  bool plan(const RuleProgram &program, const EMatch &ematch,
            const Bindings &bindings, Plan &planned);
  bool isKnown(const RuleProgram &program, const EMatch &ematch,
               llvm::ArrayRef<OperatorId> operators,
               llvm::SmallVectorImpl<NodeId> &built);
  class ButForWeights;
  bool isKnownButForWeights(const RuleProgram &program, const EMatch &ematch,
                            const Plan &planned);
  bool wouldMakeCycle(const RuleProgram &program, const EMatch &ematch);
  std::optional<llvm::SmallVector<Application::Refined, 0>>
  findRefined(const RuleProgram &program, const EMatch &ematch) const;
  void commit(Application application, llvm::ArrayRef<OperatorId> operators);

  EGraph &graph;
  llvm::ArrayRef<const RuleProgram *> programs;
  SaturationLimits limits;
  std::vector<Application> applications;
  std::set<std::string> assumed; // as text
  std::vector<RealAssumption> assumedReals;
  /// What was applied or can never be.
  std::set<EMatchKey> done;
  /// Nodes over which a rule's equations have no solution.
  std::set<EMatchKey> unsolvable;
  /// Nodes that a rule built by splitting a size (Rule::splits).
  std::set<std::pair<const RuleProgram *, NodeId>> splitParts;
  /// The solutions of those that may have several (Rule::splits).
  std::map<EMatchKey, std::vector<EMatch>> solutions;
  /// Nodes over which a rule with several results was applied.
  llvm::DenseSet<NodeId> mergedParts;
  std::vector<Pause> pauses;
  Changes changes{0};
  /// The iteration for which what has changed in the one before is all that is
  /// new to a rule: it was looked for then, and nothing of it left.
  std::vector<unsigned> isUpToDateIn;
  unsigned iterations = 0;
  uint64_t stepsLeft;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_SATURATE_H
