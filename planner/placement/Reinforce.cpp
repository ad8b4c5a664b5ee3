//===- Reinforce.cpp - Learns to draw placements --------------------------===//

#include "planner/placement/PlacementPolicy.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace mlc::planner;

/// So many types of operators, the most frequent ones, are told apart.
static constexpr size_t knownTypes = 8;

/// The share of each frequent type among a group's operators.
static void addTypes(const OperatorGraph &graph, const OperatorGroups &groups,
                     GroupFeatures &features) {
  std::map<std::string, size_t> counts;
  for (const StepOperator &op : graph.operators)
    ++counts[op.type];
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto &[type, count] : counts)
    order.push_back({count, type});
  std::stable_sort(order.begin(), order.end(),
                   [](auto &a, auto &b) { return a.first > b.first; });
  order.resize(std::min(order.size(), knownTypes));
  for (size_t group = 0; group < groups.count(); ++group)
    for (const auto &[count, type] : order) {
      double own = 0;
      for (int32_t op : groups.members[group])
        own += double(graph.operators[op].type == type);
      features[group].push_back(own / double(groups.members[group].size()));
    }
}

GroupFeatures mlc::planner::describeGroups(const OperatorGraph &graph,
                                           const OperatorGroups &groups) {
  GroupFeatures features(groups.count());
  const double count = double(groups.count());
  double work = 0, most = 0;
  for (double seconds : groups.seconds)
    work = std::max(work, seconds);
  for (double bytes : groups.bytes)
    most = std::max(most, bytes);
  for (size_t group = 0; group < groups.count(); ++group) {
    double sent = 0;
    for (size_t other = 0; other < groups.count(); ++other)
      sent += groups.between(group, other);
    features[group] = {double(group) / count,
                       work > 0 ? groups.seconds[group] / work : 0,
                       most > 0 ? std::log1p(sent / most) : 0};
    for (size_t other = 0; other < groups.count(); ++other)
      features[group].push_back(
          most > 0 ? std::sqrt(groups.between(group, other) / most) : 0);
  }
  addTypes(graph, groups, features);
  return features;
}

namespace {

/// Kingma and Ba 2015, upwards, with gradients of norm 1 at most.
class AdamClimb {
public:
  AdamClimb(std::vector<double> &parameters, double rate)
      : parameters(parameters), rate(rate), first(parameters.size()),
        second(parameters.size()) {}

  void step(std::vector<double> &gradient) {
    double squares = 0;
    for (double one : gradient)
      squares += one * one;
    const double scale = 1 / std::max(1.0, std::sqrt(squares));
    ++steps;
    const double firstShare = 1 - std::pow(0.9, steps),
                 secondShare = 1 - std::pow(0.999, steps);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const double one = gradient[i] * scale;
      first[i] = 0.9 * first[i] + 0.1 * one;
      second[i] = 0.999 * second[i] + 0.001 * one * one;
      parameters[i] += rate * (first[i] / firstShare) /
                       (std::sqrt(second[i] / secondShare) + 1e-8);
    }
  }

private:
  std::vector<double> &parameters;
  double rate;
  std::vector<double> first, second;
  int steps = 0;
};

} // namespace

PlacementResult mlc::planner::learnPlacement(
    PlacementSimulator &simulator, const OperatorGraph &graph,
    const OperatorGroups &groups, const std::vector<Placement> &known,
    const ReinforceOptions &options) {
  constexpr int64_t drawnTogether = 8;
  PlacementResult best{known.front(), simulator.seconds(known.front())};
  auto take = [&](const Placement &placement) {
    const double seconds = simulator.seconds(placement);
    if (seconds < best.seconds)
      best = {placement, seconds};
    return seconds;
  };
  for (const Placement &placement : known)
    take(placement);
  if (groups.count() == 0)
    return best;
  PlacementPolicy policy(describeGroups(graph, groups),
                         simulator.countDevices(), options.hidden,
                         options.seed);
  AdamClimb adam(policy.parameters(), options.learningRate);
  std::mt19937_64 random(options.seed + 1);
  std::vector<double> gradient(policy.parameters().size());
  double baseline = 0;
  for (int64_t drawn = 0; drawn < options.placements; drawn += drawnTogether) {
    std::vector<Placement> placements;
    std::vector<double> rewards;
    double mean = 0;
    for (int64_t i = 0; i < drawnTogether; ++i) {
      placements.push_back(policy.draw(random));
      rewards.push_back(-std::sqrt(take(placements.back())));
      mean += rewards.back() / drawnTogether;
    }
    placements.push_back(best.placement);
    rewards.push_back(-std::sqrt(best.seconds));
    baseline = drawn ? 0.9 * baseline + 0.1 * mean : mean;
    std::fill(gradient.begin(), gradient.end(), 0);
    for (size_t i = 0; i < placements.size(); ++i)
      policy.addGradient(
          placements[i],
          (rewards[i] - baseline) / -baseline / drawnTogether * 10, gradient);
    adam.step(gradient);
  }
  return improvePlacement(simulator, groups, best, options.moves);
}
