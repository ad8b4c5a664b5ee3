//===- OperatorsTest.cpp - Steps under strategies of operators ------------===//

#include "RandomOperators.h"
#include "planner/operators/StepSimulator.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/timeline/RankTasks.h"
#include <catch2/catch.hpp>
#include <map>

using namespace mlc::planner;
using namespace mlc::simulator;

namespace {

Cluster openShipped(const char *name) {
  Cluster cluster;
  REQUIRE(openCluster(name, cluster).ok());
  return cluster;
}

RankSet rangesOf(const std::vector<Layout> &layouts, int32_t devices) {
  RankSet ranks;
  for (int32_t device = 0; device < devices; ++device) {
    bool isIn = false;
    for (const Layout &layout : layouts)
      isIn |= device >= layout.first && device < layout.first + layout.count;
    if (!isIn)
      continue;
    if (!ranks.empty() && ranks.back().end == device)
      ++ranks.back().end;
    else
      ranks.push_back({device, device + 1});
  }
  return ranks;
}

/// The program of StepSimulator.h as tasks of ranks, for devices of one kind.
class Program {
public:
  Program(const OperatorGraph &graph, const Network &network,
          const Strategies &strategies, int32_t devices)
      : graph(graph), exchanges(network), strategies(strategies),
        devices(devices) {
    for (size_t i = 0; i < graph.operators.size(); ++i)
      addForward(i);
    backwards.assign(graph.operators.size(), 0);
    for (size_t i = graph.operators.size(); i-- > 0;)
      addBackward(i);
    for (const auto &[weight, task] : sums)
      addUpdate(weight, task);
  }

  Time span() const { return RankTasks(tasks, devices, 2, {}, false).span(); }
  int64_t bytes = 0;

private:
  struct Read {
    Layout layout;
    int32_t reader;
    bool returns;
  };
  /// The reads of a tensor by other layouts, with all that read so.
  std::vector<std::vector<Read>> readsOf(int32_t tensor) const {
    std::vector<std::vector<Read>> groups;
    for (size_t i = 0; i < graph.operators.size(); ++i)
      for (const TensorRead &read : graph.operators[i].reads) {
        if (read.tensor != tensor)
          continue;
        const Read one{layoutOf(read.along, strategies[i]), int32_t(i),
                       read.hasGradient};
        auto known =
            std::find_if(groups.begin(), groups.end(), [&](const auto &group) {
              return group[0].layout == one.layout;
            });
        if (known == groups.end())
          groups.push_back({one});
        else
          known->push_back(one);
      }
    return groups;
  }
  ExchangeCost costOf(int32_t tensor, const Layout &to) {
    const StepTensor &own = graph.tensors[tensor];
    return exchanges.move(exchanges.addShape(own.dims, own.elementBytes),
                          layoutOf(own.along, strategies[own.maker]), to);
  }
  int32_t add(Time duration, std::vector<Layout> layouts, bool isExchange,
              std::vector<int32_t> after) {
    tasks.push_back({duration, rangesOf(layouts, devices), isExchange,
                     isExchange, std::move(after)});
    return int32_t(tasks.size()) - 1;
  }
  Time timeOf(double seconds, size_t op) const {
    double share = 1;
    for (size_t d = 0; d < graph.operators[op].dims.size(); ++d)
      share *= graph.operators[op].dims[d].shareOf(strategies[op].degrees[d]);
    return toTime(seconds * share);
  }

  void addForward(size_t i) {
    const StepOperator &op = graph.operators[i];
    std::vector<int32_t> after;
    for (const TensorRead &read : op.reads) {
      const int32_t maker = graph.tensors[read.tensor].maker;
      int32_t number = 0;
      for (const auto &group : readsOf(read.tensor)) {
        ++number;
        if (!(group[0].layout == layoutOf(read.along, strategies[i])))
          continue;
        const ExchangeCost cost = costOf(read.tensor, group[0].layout);
        after.push_back(forwards[maker]);
        if (cost.time == 0)
          continue;
        auto [it, isNew] = comes.try_emplace(std::pair(read.tensor, number), 0);
        if (isNew) {
          it->second =
              add(cost.time, {layoutOf({}, strategies[maker]), group[0].layout},
                  true, {forwards[maker]});
          bytes += cost.bytes;
        }
        after.push_back(it->second);
      }
    }
    forwards.push_back(add(timeOf(op.forwardSeconds[0], i),
                           {layoutOf({}, strategies[i])}, false, after));
  }

  void addBackward(size_t i) {
    const StepOperator &op = graph.operators[i];
    std::vector<int32_t> after;
    for (int32_t tensor : op.results)
      for (const auto &group : readsOf(tensor)) {
        const ExchangeCost cost = costOf(tensor, group[0].layout);
        bool returns = false;
        std::vector<int32_t> made;
        for (const Read &read : group) {
          returns |= read.returns;
          made.push_back(backwards[read.reader]);
        }
        if (cost.time == 0 || !returns)
          continue;
        after.push_back(add(cost.time,
                            {layoutOf({}, strategies[i]), group[0].layout},
                            true, made));
        bytes += cost.bytes;
      }
    backwards[i] = add(timeOf(op.backwardSeconds[0], i),
                       {layoutOf({}, strategies[i])}, false, after);
    for (size_t w = 0; w < graph.weights.size(); ++w)
      addSum(w, i);
  }

  void addSum(size_t weight, size_t behind) {
    std::vector<int32_t> made;
    std::vector<Layout> layouts = layoutsOf(weight, made, behind);
    if (layouts.empty())
      return;
    const ExchangeCost cost =
        exchanges.sum(exchanges.addShape(graph.weights[weight].dims,
                                         graph.weights[weight].elementBytes),
                      layouts);
    bytes += cost.bytes;
    sums.push_back(
        {weight, cost.time ? add(cost.time, layouts, true, made) : kNoTask});
  }

  /// Empty if the first reader is another one than `behind`.
  std::vector<Layout> layoutsOf(size_t weight, std::vector<int32_t> &made,
                                size_t behind) const {
    std::vector<Layout> layouts;
    for (size_t i = 0; i < graph.operators.size(); ++i)
      for (const WeightRead &read : graph.operators[i].weights) {
        if (size_t(read.weight) != weight)
          continue;
        if (made.empty() && i != behind)
          return {};
        made.push_back(backwards[i]);
        const Layout layout = layoutOf(read.along, strategies[i]);
        if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end())
          layouts.push_back(layout);
      }
    return layouts;
  }

  void addUpdate(size_t weight, int32_t sum) {
    std::vector<int32_t> made;
    size_t first = 0;
    auto reads = [&](size_t i) {
      for (const WeightRead &read : graph.operators[i].weights)
        if (size_t(read.weight) == weight)
          return true;
      return false;
    };
    while (!reads(first))
      ++first;
    std::vector<int32_t> done;
    for (const Layout &layout : layoutsOf(weight, made, first))
      for (int32_t i = layout.first; i < layout.first + layout.count; ++i) {
        if (std::find(done.begin(), done.end(), i) != done.end())
          continue;
        done.push_back(i);
        Layout one;
        one.first = i;
        add(toTime(graph.weights[weight].updateSeconds[0] / layout.parts()),
            {one}, false,
            sum == kNoTask ? std::vector<int32_t>()
                           : std::vector<int32_t>{sum});
      }
  }

  const OperatorGraph &graph;
  Exchanges exchanges;
  const Strategies &strategies;
  int32_t devices;
  std::vector<RankTask> tasks;
  std::vector<int32_t> forwards, backwards;
  std::map<std::pair<int32_t, int32_t>, int32_t> comes;
  std::vector<std::pair<size_t, int32_t>> sums;
};

} // namespace

TEST_CASE("a placement on two devices") {
  const Cluster cluster = openShipped("cluster:flexflow-k80");
  const Network network(cluster);
  OperatorGraph graph;
  for (int i = 0; i < 2; ++i) {
    StepOperator op;
    op.name = "op" + std::to_string(i);
    op.forwardSeconds = {1e-3};
    op.backwardSeconds = {2e-3};
    op.dims = {{SplitKind::Sample, 64, {}}};
    if (i)
      op.reads = {{0, {0, kWhole}, true}};
    op.results = {i};
    op.weights = {{i, {kWhole}}};
    graph.operators.push_back(op);
    graph.tensors.push_back({"t", {64, 1000}, 4, i, {0, kWhole}});
    StepWeight weight;
    weight.name = "w";
    weight.dims = {1000};
    weight.updateSeconds = {1e-4};
    weight.stateBytes = 8000;
    graph.weights.push_back(weight);
  }
  REQUIRE(graph.check().ok());
  for (int32_t other : {1, 2, 63}) {
    StepSimulator step(graph, network, std::vector<int32_t>(64, 0),
                       {Strategy::onDevice(0), Strategy::onDevice(other)});
    // Device 0 updates last.
    const Time message = network.transfer(0, other, 256000);
    CHECK(step.span() == toTime(1e-3) + message + toTime(1e-3) + toTime(2e-3) +
                             message + toTime(2e-3) + toTime(1e-4));
    CHECK(step.bytes() == 2 * 256000);
    CHECK(step.loads()[other].computing == toTime(3e-3));
    CHECK(step.loads()[0].weightBytes == 8000);
    CHECK(step.loads()[0].resultBytes == 256000);
  }
  // Half of the samples each: weights are summed, tensors stay.
  StepSimulator halves(graph, network, {0, 0}, splitSamples(graph, 2));
  CHECK(halves.bytes() == 2 * 2 * 4000);
  CHECK(halves.span() < toTime(3.5e-3));
  // One device.
  StepSimulator alone(graph, network, {0}, splitSamples(graph, 1));
  CHECK(alone.span() == 2 * toTime(3e-3) + 2 * toTime(1e-4));
  CHECK(alone.bytes() == 0);
}

TEST_CASE("steps are those of tasks of ranks, and changes those of a whole "
          "simulation") {
  std::mt19937 random(5);
  for (const char *name : {"cluster:flexflow-p100", "cluster:flexflow-k80"}) {
    const Cluster cluster = openShipped(name);
    const Network network(cluster);
    for (int32_t devices : {6, 16}) {
      const OperatorGraph graph = randomOperators(random, 30);
      REQUIRE(graph.check().ok());
      const auto strategies = listStrategies(graph.operators[0], devices);
      auto draw = [&](size_t below) {
        return std::uniform_int_distribution<size_t>(0, below - 1)(random);
      };
      const std::vector<int32_t> kinds(devices, 0);
      StepSimulator step(graph, network, kinds, splitSamples(graph, devices));
      for (int i = 0; i < 300; ++i) {
        const Time before = step.span();
        const int64_t bytes = step.bytes();
        std::vector<Change> changes;
        for (size_t count = 1 + draw(2); count > 0; --count)
          changes.push_back(
              {int32_t(draw(30)), strategies[draw(strategies.size())]});
        const Time proposed = step.propose(changes);
        if (draw(2)) {
          step.reject();
          CHECK(step.span() == before);
          CHECK(step.bytes() == bytes);
          continue;
        }
        step.accept();
        CHECK(step.span() == proposed);
        if (i % 10)
          continue;
        const StepSimulator whole(graph, network, kinds, step.strategies());
        CHECK(whole.span() == proposed);
        CHECK(whole.bytes() == step.bytes());
        const Program program(graph, network, step.strategies(), devices);
        CHECK(program.span() == proposed);
        CHECK(program.bytes == step.bytes());
      }
    }
  }
}

TEST_CASE("an exchange takes what links take") {
  const Cluster cluster = openShipped("cluster:flexflow-p100");
  const Network network(cluster);
  Exchanges exchanges(network);
  const int32_t shape = exchanges.addShape({64, 64}, 4);
  auto rows = [](int32_t first, int32_t count) {
    Layout layout;
    layout.first = first;
    layout.count = layout.degrees[0] = count;
    return layout;
  };
  Layout columns = rows(0, 1);
  columns.count = columns.degrees[1] = 4;
  // One device to another, near and far.
  CHECK(exchanges.move(shape, rows(0, 1), rows(3, 1)).time ==
        network.transfer(0, 3, 64 * 64 * 4));
  CHECK(exchanges.move(shape, rows(0, 1), rows(9, 1)).time ==
        network.transfer(0, 9, 64 * 64 * 4));
  // Rows to columns in a node: each gets three quarters of its quarter.
  const ExchangeCost turned = exchanges.move(shape, rows(0, 4), columns);
  CHECK(turned.bytes == 64 * 64 * 4 * 3 / 4);
  CHECK(turned.time == toTime(64 * 64 * 3 / 4 / 3.6e10) + toTime(3.4e-6));
  // All to all of 8 devices of two nodes: each node gets the other's half once.
  Layout whole = rows(0, 1);
  whole.count = 8;
  const ExchangeCost gathered = exchanges.move(shape, rows(0, 8), whole);
  CHECK(gathered.bytes == 7 * 64 * 64 * 4);
  CHECK(gathered.time == toTime(64 * 64 * 2 / 1.25e10) + toTime(5e-6));
  // What all have is taken at home.
  CHECK(exchanges.move(shape, whole, rows(0, 8)).bytes == 0);
  CHECK(exchanges.move(shape, rows(0, 4), rows(0, 4)).time == 0);
}

TEST_CASE("graphs that make no sense are refused") {
  std::mt19937 random(1);
  const OperatorGraph good = randomOperators(random, 4);
  REQUIRE(good.check().ok());
  auto refuses = [&](auto change) {
    OperatorGraph graph = good;
    change(graph);
    CHECK(graph.check().code == MLC_USAGE);
  };
  refuses([](OperatorGraph &g) { g.operators[1].reads[0].tensor = 3; });
  refuses([](OperatorGraph &g) { g.operators[1].reads[0].tensor = 9; });
  refuses([](OperatorGraph &g) { g.operators[1].reads[0].along = {0}; });
  refuses([](OperatorGraph &g) { g.operators[1].reads[0].along = {0, 0}; });
  refuses([](OperatorGraph &g) { g.operators[1].reads[0].along = {0, 2}; });
  refuses([](OperatorGraph &g) { g.operators[1].weights[0].weight = -1; });
  refuses([](OperatorGraph &g) { g.operators[1].forwardSeconds = {}; });
  refuses([](OperatorGraph &g) { g.operators[1].backwardSeconds = {-1}; });
  refuses([](OperatorGraph &g) { g.operators[1].dims[0].extent = 0; });
  refuses([](OperatorGraph &g) { g.operators[1].dims.resize(7); });
  refuses([](OperatorGraph &g) { g.operators[1].results = {0}; });
  refuses([](OperatorGraph &g) { g.tensors[1].dims = {int64_t(1) << 62, 4}; });
  refuses([](OperatorGraph &g) { g.tensors[1].maker = 4; });
  refuses([](OperatorGraph &g) { g.weights[0].updateSeconds = {}; });
}
