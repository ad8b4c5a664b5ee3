//===- OperatorStarts.cpp - Where a search for strategies begins ----------===//

#include "planner/operators/OperatorStarts.h"
#include "planner/choices/Solve.h"
#include <algorithm>
#include <map>
#include <numeric>

using namespace mlc::planner;

/// The product of degrees along dims of samples.
static int32_t samplesOf(const StepOperator &op, const Strategy &strategy) {
  int32_t product = 1;
  for (size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].kind == SplitKind::Sample)
      product *= strategy.degrees[d];
  return product;
}

/// The first strategy of an operator on `count` devices from `first` on with so
/// many parts of samples; null if there is none. Lists end with those that
/// divide the last dims, of parameters, least.
static const Strategy *findStrategy(const OperatorGraph &graph,
                                    const StrategySpace &space, int32_t op,
                                    int32_t first, int32_t count,
                                    int32_t samples) {
  for (const Strategy &strategy : space.of(op))
    if (strategy.first == first && strategy.parts() == count &&
        samplesOf(graph.operators[op], strategy) == samples)
      return &strategy;
  return nullptr;
}

/// So many parts of samples, and of the rest what divides into `devices`.
static Strategies splitBoth(const OperatorGraph &graph,
                            const StrategySpace &space, int32_t devices,
                            int32_t samples) {
  Strategies all = splitSamples(graph, devices);
  for (size_t i = 0; i < all.size(); ++i)
    if (const Strategy *found =
            findStrategy(graph, space, int32_t(i), 0, devices, samples))
      all[i] = *found;
  return all;
}

static double secondsOf(const StepOperator &op) {
  return op.forwardSeconds[0] + op.backwardSeconds[0];
}

/// Layers in `groups` groups of about equal work, each on its part of the
/// devices, divided into so many parts of samples.
static Strategies splitLayers(const OperatorGraph &graph,
                              const StrategySpace &space,
                              const std::vector<OperatorClass> &layers,
                              int32_t devices, int32_t groups,
                              int32_t samples) {
  const int32_t each = devices / groups;
  double all = 0, before = 0;
  for (const StepOperator &op : graph.operators)
    all += secondsOf(op);
  Strategies strategies(graph.operators.size());
  for (const OperatorClass &layer : layers) {
    double own = 0;
    for (int32_t op : layer)
      own += secondsOf(graph.operators[op]);
    const auto group =
        all > 0 ? std::min<int32_t>(groups - 1,
                                    int32_t((before + own / 2) / all * groups))
                : 0;
    before += own;
    for (int32_t op : layer) {
      const Strategy *found =
          findStrategy(graph, space, op, group * each, each, samples);
      strategies[op] = Strategy::onDevice(group * each);
      if (found)
        strategies[op] = *found;
    }
  }
  return strategies;
}

std::vector<Strategies>
mlc::planner::listKnown(const OperatorGraph &graph, const StrategySpace &space,
                        const std::vector<OperatorClass> &layers,
                        int32_t devices) {
  std::vector<Strategies> all;
  for (int32_t count = devices; count >= 1; --count) {
    if (devices % count)
      continue;
    all.push_back(splitSamples(graph, count));
    for (int32_t samples = 1; samples < count; ++samples)
      if (count % samples == 0)
        all.push_back(splitBoth(graph, space, count, samples));
  }
  for (int32_t groups = 2; groups <= devices; ++groups) {
    if (devices % groups)
      continue;
    const int32_t each = devices / groups;
    for (int32_t samples = 1; samples <= each; ++samples)
      if (each % samples == 0)
        all.push_back(
            splitLayers(graph, space, layers, devices, groups, samples));
  }
  return all;
}

namespace {

/// Builds the problem of eliminate().
class Elimination {
public:
  Elimination(const OperatorGraph &graph, const StrategySpace &space,
              const std::vector<OperatorClass> &layers,
              const mlc::simulator::Network &network, int32_t devices)
      : graph(graph), layers(layers), exchanges(network),
        layerOf(graph.operators.size()) {
    for (size_t i = 0; i < layers.size(); ++i) {
      for (int32_t op : layers[i])
        layerOf[op] = i;
      std::vector<Strategy> own;
      for (const Strategy &strategy : space.of(layers[i].front()))
        if (strategy.parts() == devices)
          own.push_back(strategy);
      // Small operators, and those that nothing divides.
      const Strategies samples = splitSamples(graph, devices);
      const Strategy &few = samples[layers[i].front()];
      if (std::find(own.begin(), own.end(), few) == own.end())
        own.push_back(few);
      if (few.parts() > 1)
        own.push_back(Strategy::onDevice(0));
      choices.push_back(std::move(own));
    }
  }

  Strategies solve() {
    for (size_t i = 0; i < layers.size(); ++i)
      problem.nodes.push_back({"", costsOf(i)});
    addEdges();
    ChoiceOptions options;
    options.steps = 3e8;
    ChoiceSolution solution;
    Strategies strategies(graph.operators.size());
    // Without rows there are always choices that fit.
    if (!solveByElimination(problem, options, solution).ok())
      return strategies;
    for (size_t op = 0; op < strategies.size(); ++op)
      strategies[op] = choices[layerOf[op]][solution.choices[layerOf[op]]];
    return strategies;
  }

private:
  std::vector<double> costsOf(size_t layer) {
    std::vector<double> costs;
    for (const Strategy &strategy : choices[layer]) {
      double seconds = 0;
      for (int32_t number : layers[layer]) {
        const StepOperator &op = graph.operators[number];
        double share = 1;
        for (size_t d = 0; d < op.dims.size(); ++d)
          share *= op.dims[d].shareOf(strategy.degrees[d]);
        seconds += share * secondsOf(op);
      }
      costs.push_back(seconds + sumSeconds(layer, strategy));
    }
    return costs;
  }

  /// Of weights that the layer is the first to read.
  double sumSeconds(size_t layer, const Strategy &strategy) {
    double seconds = 0;
    std::vector<int32_t> known;
    for (int32_t op : layers[layer])
      for (const WeightRead &read : graph.operators[op].weights) {
        const StepWeight &weight = graph.weights[read.weight];
        if (!weight.isTrained ||
            std::find(known.begin(), known.end(), read.weight) != known.end())
          continue;
        known.push_back(read.weight);
        const Layout layout = layoutOf(read.along, strategy);
        const int32_t shape =
            exchanges.addShape(weight.dims, weight.elementBytes);
        seconds +=
            mlc::simulator::toSeconds(exchanges.sum(shape, {layout}).time) +
            weight.updateSeconds[0] / layout.parts();
      }
    return seconds;
  }

  /// Reads between two layers, with how often they are alike.
  struct Read {
    int32_t shape;
    DimMap from, to;
    bool operator<(const Read &other) const {
      return std::tie(shape, from, to) <
             std::tie(other.shape, other.from, other.to);
    }
  };

  void addEdges() {
    std::map<std::pair<size_t, size_t>, std::map<Read, int>> reads;
    for (size_t i = 0; i < graph.operators.size(); ++i)
      for (const TensorRead &read : graph.operators[i].reads) {
        const StepTensor &tensor = graph.tensors[read.tensor];
        if (tensor.maker < 0)
          continue;
        reads[{layerOf[tensor.maker], layerOf[i]}]
             [{exchanges.addShape(tensor.dims, tensor.elementBytes),
               tensor.along, read.along}] += read.hasGradient ? 2 : 1;
      }
    for (const auto &[ends, alike] : reads) {
      const auto &[from, to] = ends;
      std::vector<double> costs;
      for (size_t a = 0; a < choices[from].size(); ++a)
        for (size_t b = 0; b < choices[to].size(); ++b) {
          double seconds = 0;
          if (from == to && a != b)
            continue;
          for (const auto &[read, count] : alike)
            seconds +=
                count *
                mlc::simulator::toSeconds(
                    exchanges
                        .move(read.shape, layoutOf(read.from, choices[from][a]),
                              layoutOf(read.to, choices[to][b]))
                        .time);
          if (from == to)
            problem.nodes[from].costs[a] += seconds;
          else
            costs.push_back(seconds);
        }
      if (from != to)
        problem.edges.push_back(
            {uint32_t(from), uint32_t(to), std::move(costs)});
    }
  }

  const OperatorGraph &graph;
  const std::vector<OperatorClass> &layers;
  Exchanges exchanges;
  std::vector<size_t> layerOf;
  std::vector<std::vector<Strategy>> choices; ///< by layer
  ChoiceProblem problem;
};

} // namespace

Strategies mlc::planner::eliminate(const OperatorGraph &graph,
                                   const StrategySpace &space,
                                   const std::vector<OperatorClass> &layers,
                                   const simulator::Network &network,
                                   int32_t devices) {
  return Elimination(graph, space, layers, network, devices).solve();
}
