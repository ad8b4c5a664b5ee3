//===- Saturate.h - Applying rules until nothing is new ---------*- C++ -*-===//
//
// *Weights.* Values known at compile time are computed once, before the model
// runs, and cost nothing at run time. The search therefore cares only about the
// type of a weight, not about how it is computed. Rules that fold operators
// into the weights of a convolution give the same convolution repeatedly, each
// time with weights that are equal as numbers but belong to different classes.
// An e-graph would keep all of these and continue from each. So an application
// is skipped if the class already holds an expression that differs from the
// rule's built side only in how weights of the same types are computed. Rules
// are also not matched within expressions that only compute a weight.
//
// Both only remove choices, so results stay correct, and a trail holds only
// what was applied. Little is lost: rules look at a weight's type and at
// whether it is known, and both are the same for either expression. There are
// two exceptions. Rules with one weight in two places need the same class; the
// first way to compute it, in a fixed order of rules, is the same wherever the
// same weights meet. Rules on the elements of a literal do not match a computed
// weight.
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
  /// Rules with several results apply only in this many first iterations: each
  /// iteration merges all pairs.
  unsigned multiOutputIterations = 2;
  /// If more parts than this share an input, each part is merged only once and
  /// its result replaces it. Merging all pairs, and pairs of pairs, would give
  /// all subsets.
  unsigned parts = 3;
  /// Values known at compile time are weights (see the top): of several ways to
  /// compute one, one is kept. Off if equalities between weights matter.
  bool mergeWeights = true;
  /// A rule with more matches in one iteration pauses for `pauseIterations`;
  /// both limits double the next time.
  unsigned matchesPerRule = 1000;
  unsigned pauseIterations = 2;
  /// The number of nodes that the matcher tries plus the matches applied. A
  /// count instead of a clock keeps results independent of the machine's speed.
  uint64_t steps = 10'000'000;
};

enum class StopReason {
  Saturated,      // no rule says anything new
  Reached,        // the goal was reached
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
  /// An operand of a matched node whose bound value only refines it, and the
  /// path between them.
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

  /// Adds a condition to assume, with values substituted for its symbols.
  void assume(const Condition &condition, const Bindings &bindings);
  void assume(const RealAssumption &assumption);

  /// Runs until `isReached` (checked after every iteration) or a limit.
  StopReason run(llvm::function_ref<bool()> isReached = [] { return false; });

  enum class Outcome {
    New,    // the rule was applied
    Known,  // the graph has the built side already, and knows it equal
    Alike,  // the same up to how weights are computed; not applied
    Refused // conditions do not hold, or it does not fit; nothing is changed
  };
  /// Applies a rule at a match; without `mergeWeights`, even if only the
  /// computation of weights differs. If New or Known, `built` receives the
  /// nodes of the built operators.
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
  /// The operators that a rule builds at a match.
  struct Plan {
    llvm::SmallVector<OperatorId, 8> operators;
    /// Types of the values of the built side.
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
  /// Matches that were applied or can never be.
  std::set<EMatchKey> done;
  /// Nodes over which a rule's equations have no solution.
  std::set<EMatchKey> unsolvable;
  /// Nodes that a rule built by splitting a size (Rule::splits).
  std::set<std::pair<const RuleProgram *, NodeId>> splitParts;
  /// The solutions of equations that may have several (Rule::splits).
  std::map<EMatchKey, std::vector<EMatch>> solutions;
  /// Nodes over which a rule with several results was applied.
  llvm::DenseSet<NodeId> mergedParts;
  std::vector<Pause> pauses;
  Changes changes{0};
  /// Per rule, the iteration in which only the changes of the previous one are
  /// new to it, because that one found and handled all its matches.
  std::vector<unsigned> isUpToDateIn;
  unsigned iterations = 0;
  uint64_t stepsLeft;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_SATURATE_H
