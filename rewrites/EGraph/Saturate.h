//===- Saturate.h - Applying rules until nothing is new ---------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_SATURATE_H
#define MLC_REWRITES_EGRAPH_SATURATE_H

#include "rewrites/EGraph/Matcher.h"
#include "llvm/ADT/DenseSet.h"
#include <chrono>
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
  /// A rule that is found more often in one iteration pauses, for
  /// `pauseIterations`, and twice as often and long the next time.
  unsigned placementsPerRule = 1000;
  unsigned pauseIterations = 2;
  double seconds = 10;
};

enum class StopReason {
  Saturated,      // no rule says anything new
  Reached,        // what was asked for is there
  NodeLimit,      //
  IterationLimit, //
  TimeLimit,      //
};
llvm::StringRef name(StopReason reason); // "saturated", "node-limit"

/// One application of a rule.
struct Application {
  const RuleProgram *program;
  Placement placement;
  /// Nodes of the built operators, in order.
  llvm::SmallVector<NodeId, 8> built;
  /// For each of the rule's assumptions on tensors, the node that showed it.
  llvm::SmallVector<NodeId, 4> shownBy;
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
    Refused // conditions do not hold, or it does not fit; nothing is changed
  };
  /// Applies a rule at a placement. `built`, unless Refused: the nodes of the
  /// built operators.
  Outcome apply(const RuleProgram &program, const Placement &placement,
                llvm::SmallVectorImpl<NodeId> &built);

  const std::vector<Application> &getApplications() const {
    return applications;
  }
  unsigned getIterations() const { return iterations; }

private:
  struct Pause {
    unsigned until = 0, times = 0;
  };
  using PlacementKey = llvm::SmallVector<const void *, 8>;
  struct Found {
    const RuleProgram *program;
    Placement placement;
  };

  bool isOutOfTime() const;
  void dropMergedParts(const RuleProgram &program, std::vector<Found> &found,
                       size_t first);
  void search(std::vector<Found> &found);
  void choose(const RuleProgram &program, const Placement &placement,
              llvm::function_ref<void(const Placement &)> callback);
  static PlacementKey keyOf(const RuleProgram &program,
                            const Placement &placement);
  bool holdsHere(const Condition &condition, const Bindings &bindings) const;
  bool holdsHere(const RealAssumption &assumption,
                 const Bindings &bindings) const;
  bool symbolsFit(const RuleProgram &program, const Bindings &bindings) const;
  bool tensorsFit(const RuleProgram &program, const Placement &placement,
                  llvm::SmallVectorImpl<NodeId> &shownBy) const;
  bool plan(const RuleProgram &program, const Placement &placement,
            const Bindings &bindings,
            llvm::SmallVectorImpl<OperatorId> &operators);
  bool isKnown(const RuleProgram &program, const Placement &placement,
               llvm::ArrayRef<OperatorId> operators,
               llvm::SmallVectorImpl<NodeId> &built);
  bool wouldMakeCycle(const RuleProgram &program, const Placement &placement);
  void commit(const RuleProgram &program, const Placement &placement,
              llvm::ArrayRef<OperatorId> operators,
              llvm::ArrayRef<NodeId> shownBy);

  EGraph &graph;
  llvm::ArrayRef<const RuleProgram *> programs;
  SaturationLimits limits;
  std::vector<Application> applications;
  std::set<std::string> assumed; // as text
  std::vector<RealAssumption> assumedReals;
  /// What was applied or can never be.
  std::set<PlacementKey> done;
  /// Nodes over which a rule with several results was applied.
  llvm::DenseSet<NodeId> mergedParts;
  std::vector<Pause> pauses;
  unsigned iterations = 0;
  std::chrono::steady_clock::time_point start;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_SATURATE_H
