//===- StepSimulator.h - A step under strategies of operators ---*- C++ -*-===//
//
// A device has two queues, each done in order: one computes, one exchanges. The
// program, the same for all devices, is
//
//   for each operator: what it reads comes to where it is read; its forward
//                      pass
//   for each operator, from the last to the first: the gradients of its results
//                      come back; its backward pass; then the gradients of
//                      weights that no operator before it reads are added up
//   the updates of the weights, in the order of these sums
//
// An exchange is one of all devices of both operators: it begins when all have
// come to it, and each goes on when it ends. These are the rules of
// simulator/timeline/RankTasks.h; the program is fixed, so that a simulation of
// a change begins where the change does, and goes on without a graph. Tensors
// that several operators read alike come once.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_OPERATORS_STEPSIMULATOR_H
#define MLC_PLANNER_OPERATORS_STEPSIMULATOR_H

#include "planner/operators/Exchanges.h"
#include <span>

namespace mlc::planner {

struct Change {
  int32_t op = 0;
  Strategy strategy;
};

class StepSimulator {
public:
  /// Simulates `strategies`. `devices` are the first ranks of the network's
  /// cluster; `kinds` has the kind of each, of those that the graph's times
  /// are of. The graph is checked, and outlives this, as the network does.
  StepSimulator(const OperatorGraph &graph, const simulator::Network &network,
                std::vector<int32_t> kinds, Strategies strategies);

  /// Of the strategies that are in force.
  simulator::Time span() const { return now.span; }
  /// What all devices together receive in a step.
  int64_t bytes() const { return now.bytes; }
  const Strategies &strategies() const { return current; }

  /// The time of the step with some operators changed; only what comes behind
  /// the first change is simulated. Then accept() or reject(), before anything
  /// else is asked for.
  simulator::Time propose(std::span<const Change> changes);
  int64_t proposedBytes() const { return next.bytes; }
  void accept();
  void reject();

  /// Puts other strategies in force, and gives their time.
  simulator::Time set(Strategies strategies);

  /// How long each device computes, and how many bytes of weights, of what
  /// belongs to them and of forward results it has.
  struct Load {
    simulator::Time computing = 0;
    int64_t weightBytes = 0, resultBytes = 0;
  };
  std::vector<Load> loads() const;

  /// Steps of the program that were simulated, which is the effort.
  int64_t countSteps() const { return steps; }
  int32_t countDevices() const { return int32_t(kinds.size()); }

private:
  using Time = simulator::Time;
  /// A tensor that an operator reads of another.
  struct Edge {
    int32_t reader = 0, read = 0, tensor = 0, maker = 0;
    Layout layout;
    ExchangeCost cost;
    /// The first edge of the tensor with the same layout, which exchanges for
    /// all of them.
    int32_t first = 0;
    bool returns = false; ///< a gradient goes back
  };
  /// Where a weight is.
  struct Copies {
    /// Those that differ, in the order of readers.
    std::vector<Layout> layouts;
    ExchangeCost cost;
    /// Of updates, by layout and kind of device.
    std::vector<Time> updates;
  };
  struct Result {
    Time span = 0;
    int64_t bytes = 0;
  };
  /// When tasks of the program end.
  struct Ends {
    std::vector<Time> forward, backward; ///< by operator, on its last device
    std::vector<Time> there, back;       ///< by edge
    std::vector<Time> sums;              ///< by weight
  };

  void findEdges();
  void findWeights();
  void apply(const Change &change);
  void priceTensor(int32_t tensor);
  void priceWeight(int32_t weight);
  void findDurations(int32_t op);
  void simulate(int32_t place);
  void runForward(int32_t op);
  void runBackward(int32_t op);
  void runSum(int32_t weight);
  void runUpdates();
  Time exchange(std::span<const Layout *const> layouts, Time ready,
                Time duration);
  Time compute(int32_t first, int32_t count, const Time *durations, Time ready);
  int64_t countBytes() const;

  const OperatorGraph &graph;
  Exchanges exchanges;
  std::vector<int32_t> kinds; ///< of devices
  bool isUniform = true;      ///< all of one kind
  Strategies current;
  std::vector<Edge> edges;
  /// Edges that an operator reads, and edges and readers of its results.
  std::vector<std::vector<int32_t>> reads, readers;
  std::vector<std::vector<int32_t>> ofTensor; ///< edges
  std::vector<std::vector<std::pair<int32_t, int32_t>>>
      weightReads; ///< by weight: operator, its read
  std::vector<Copies> weights;
  std::vector<int32_t> tensorShapes, weightShapes; ///< of exchanges
  /// By operator: weights whose sums follow its backward pass.
  std::vector<std::vector<int32_t>> sumsBehind;
  std::vector<int32_t> updateOrder; ///< weights
  /// By operator and kind.
  std::vector<Time> forwardTimes, backwardTimes;

  Result now, next;
  Ends ends, savedEnds;
  std::vector<Time> computing, linking; ///< when queues are free, by device
  std::vector<const Layout *> meeting;  ///< of an exchange
  std::vector<uint8_t> isUpdated;       ///< devices
  /// The queues at every kStride-th place of the program, those in force and
  /// those of a proposal; which of the two are in force.
  std::vector<std::vector<Time>> checkpoints;
  std::vector<uint8_t> inForce;
  int32_t proposedFrom = 0; ///< a place

  std::vector<Change> undoneChanges;
  std::vector<std::pair<int32_t, Edge>> undoneEdges;
  std::vector<std::pair<int32_t, Copies>> undoneWeights;
  int64_t steps = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_STEPSIMULATOR_H
