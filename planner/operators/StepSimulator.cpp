//===- StepSimulator.cpp - A step under strategies of operators -----------===//

#include "planner/operators/StepSimulator.h"
#include <algorithm>

using namespace mlc::planner;
using mlc::simulator::Time;

/// Places of the program between two checkpoints.
static constexpr int32_t kStride = 8;

StepSimulator::StepSimulator(const OperatorGraph &graph,
                             const simulator::Network &network,
                             std::vector<int32_t> kinds, Strategies strategies)
    : graph(graph), exchanges(network), kinds(std::move(kinds)) {
  for (int32_t kind : this->kinds)
    isUniform &= kind == this->kinds.front();
  const size_t count = graph.operators.size();
  for (const StepTensor &tensor : graph.tensors)
    tensorShapes.push_back(
        exchanges.addShape(tensor.dims, tensor.elementBytes));
  for (const StepWeight &weight : graph.weights)
    weightShapes.push_back(
        exchanges.addShape(weight.dims, weight.elementBytes));
  findEdges();
  findWeights();
  forwardTimes.resize(count * graph.kinds);
  backwardTimes.resize(count * graph.kinds);
  ends.forward.resize(count);
  ends.backward.resize(count);
  ends.there.resize(edges.size());
  ends.back.resize(edges.size());
  ends.sums.resize(weights.size());
  checkpoints.resize(2 * (2 * count / kStride + 1));
  inForce.resize(checkpoints.size() / 2, 0);
  set(std::move(strategies));
}

void StepSimulator::findEdges() {
  const size_t count = graph.operators.size();
  reads.resize(count);
  readers.resize(count);
  ofTensor.resize(graph.tensors.size());
  for (size_t i = 0; i < count; ++i)
    for (size_t r = 0; r < graph.operators[i].reads.size(); ++r) {
      const int32_t tensor = graph.operators[i].reads[r].tensor;
      const int32_t maker = graph.tensors[tensor].maker;
      if (maker < 0)
        continue;
      const auto number = int32_t(edges.size());
      Edge edge;
      edge.reader = int32_t(i);
      edge.read = int32_t(r);
      edge.tensor = tensor;
      edge.maker = maker;
      edges.push_back(edge);
      reads[i].push_back(number);
      readers[maker].push_back(number);
      ofTensor[tensor].push_back(number);
    }
}

void StepSimulator::findWeights() {
  weights.resize(graph.weights.size());
  weightReads.resize(graph.weights.size());
  sumsBehind.resize(graph.operators.size());
  for (size_t i = 0; i < graph.operators.size(); ++i)
    for (size_t r = 0; r < graph.operators[i].weights.size(); ++r) {
      const int32_t weight = graph.operators[i].weights[r].weight;
      if (graph.weights[weight].isTrained)
        weightReads[weight].push_back({int32_t(i), int32_t(r)});
    }
  for (size_t w = 0; w < weights.size(); ++w)
    if (!weightReads[w].empty())
      sumsBehind[weightReads[w].front().first].push_back(int32_t(w));
  for (size_t i = sumsBehind.size(); i-- > 0;)
    updateOrder.insert(updateOrder.end(), sumsBehind[i].begin(),
                       sumsBehind[i].end());
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

void StepSimulator::findDurations(int32_t op) {
  const StepOperator &own = graph.operators[op];
  double share = 1;
  for (size_t d = 0; d < own.dims.size(); ++d)
    share *= own.dims[d].shareOf(current[op].degrees[d]);
  for (size_t kind = 0; kind < graph.kinds; ++kind) {
    const size_t at = op * graph.kinds + kind;
    forwardTimes[at] = simulator::toTime(own.forwardSeconds[kind] * share);
    backwardTimes[at] = simulator::toTime(own.backwardSeconds[kind] * share);
  }
}

void StepSimulator::priceTensor(int32_t number) {
  const StepTensor &tensor = graph.tensors[number];
  const Layout from = layoutOf(tensor.along, current[tensor.maker]);
  const std::vector<int32_t> &all = ofTensor[number];
  for (size_t i = 0; i < all.size(); ++i) {
    Edge &edge = edges[all[i]];
    undoneEdges.push_back({all[i], edge});
    edge.layout = layoutOf(graph.operators[edge.reader].reads[edge.read].along,
                           current[edge.reader]);
    edge.first = all[i];
    for (size_t j = 0; j < i; ++j)
      if (edges[all[j]].layout == edge.layout) {
        edge.first = all[j];
        break;
      }
    edge.cost = edge.first == all[i]
                    ? exchanges.move(tensorShapes[number], from, edge.layout)
                    : ExchangeCost();
    edge.returns = false;
    if (graph.operators[edge.reader].reads[edge.read].hasGradient)
      edges[edge.first].returns = true;
  }
}

void StepSimulator::priceWeight(int32_t number) {
  Copies &weight = weights[number];
  std::vector<Layout> layouts;
  for (const auto &[op, read] : weightReads[number]) {
    const Layout layout =
        layoutOf(graph.operators[op].weights[read].along, current[op]);
    // Mostly they are all alike.
    if (std::find(layouts.rbegin(), layouts.rend(), layout) == layouts.rend())
      layouts.push_back(layout);
  }
  if (layouts == weight.layouts)
    return;
  undoneWeights.push_back({number, std::move(weight)});
  weight.layouts = std::move(layouts);
  weight.updates.clear();
  for (const Layout &layout : weight.layouts)
    for (double seconds : graph.weights[number].updateSeconds)
      weight.updates.push_back(simulator::toTime(seconds / layout.parts()));
  weight.cost = exchanges.sum(weightShapes[number], weight.layouts);
}

/// An operator's tensors and weights may be priced several times.
void StepSimulator::apply(const Change &change) {
  undoneChanges.push_back({change.op, current[change.op]});
  current[change.op] = change.strategy;
  findDurations(change.op);
  for (int32_t edge : reads[change.op])
    priceTensor(edges[edge].tensor);
  for (int32_t result : graph.operators[change.op].results)
    priceTensor(result);
  for (const WeightRead &read : graph.operators[change.op].weights)
    if (graph.weights[read.weight].isTrained)
      priceWeight(read.weight);
}

int64_t StepSimulator::countBytes() const {
  int64_t bytes = 0;
  for (const Edge &edge : edges)
    bytes += edge.cost.bytes * (edge.returns ? 2 : 1);
  for (const Copies &weight : weights)
    bytes += weight.cost.bytes;
  return bytes;
}

Time StepSimulator::set(Strategies strategies) {
  current = std::move(strategies);
  for (size_t i = 0; i < current.size(); ++i)
    findDurations(int32_t(i));
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    if (!ofTensor[i].empty())
      priceTensor(int32_t(i));
  for (size_t i = 0; i < weights.size(); ++i)
    if (!weightReads[i].empty())
      priceWeight(int32_t(i));
  proposedFrom = 0;
  computing.assign(kinds.size(), 0);
  linking.assign(kinds.size(), 0);
  simulate(0);
  accept();
  return now.span;
}

Time StepSimulator::propose(std::span<const Change> changes) {
  savedEnds = ends;
  proposedFrom = int32_t(graph.operators.size());
  for (const Change &change : changes) {
    proposedFrom = std::min(proposedFrom, change.op);
    apply(change);
  }
  proposedFrom -= proposedFrom % kStride;
  const size_t at = proposedFrom / kStride;
  const std::vector<Time> &queues = checkpoints[2 * at + inForce[at]];
  std::copy_n(queues.begin(), kinds.size(), computing.begin());
  std::copy_n(queues.begin() + kinds.size(), kinds.size(), linking.begin());
  simulate(proposedFrom);
  return next.span;
}

void StepSimulator::accept() {
  now = next;
  for (size_t at = proposedFrom / kStride; at < inForce.size(); ++at)
    inForce[at] ^= 1;
  undoneChanges.clear();
  undoneEdges.clear();
  undoneWeights.clear();
}

void StepSimulator::reject() {
  std::swap(ends, savedEnds);
  // The first one that was kept is the oldest.
  for (; !undoneEdges.empty(); undoneEdges.pop_back())
    edges[undoneEdges.back().first] = undoneEdges.back().second;
  for (; !undoneWeights.empty(); undoneWeights.pop_back())
    weights[undoneWeights.back().first] =
        std::move(undoneWeights.back().second);
  for (; !undoneChanges.empty(); undoneChanges.pop_back()) {
    const Change &change = undoneChanges.back();
    current[change.op] = change.strategy;
    findDurations(change.op);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

Time StepSimulator::exchange(std::span<const Layout *const> layouts, Time ready,
                             Time duration) {
  for (const Layout *layout : layouts)
    for (int32_t i = layout->first; i < layout->first + layout->count; ++i)
      ready = std::max(ready, linking[i]);
  ready += duration;
  for (const Layout *layout : layouts)
    std::fill_n(linking.begin() + layout->first, layout->count, ready);
  return ready;
}

/// The end on the last device.
Time StepSimulator::compute(int32_t first, int32_t count, const Time *durations,
                            Time ready) {
  Time last = 0;
  Time *const begin = computing.data() + first;
  if (isUniform) {
    const Time duration = durations[kinds.front()];
    for (Time *end = begin; end != begin + count; ++end) {
      *end = std::max(*end, ready) + duration;
      last = std::max(last, *end);
    }
    return last;
  }
  for (int32_t i = 0; i < count; ++i) {
    begin[i] = std::max(begin[i], ready) + durations[kinds[first + i]];
    last = std::max(last, begin[i]);
  }
  return last;
}

void StepSimulator::runForward(int32_t op) {
  Time ready = 0;
  for (int32_t number : reads[op]) {
    const Edge &edge = edges[number];
    if (edge.first == number) {
      Time &end = ends.there[number];
      end = 0;
      if (edge.cost.time) {
        const Layout from = layoutOf({}, current[edge.maker]);
        const Layout *both[] = {&from, &edge.layout};
        end = exchange(both, ends.forward[edge.maker], edge.cost.time);
      }
    }
    ready = std::max(ready, ends.there[edge.first]);
  }
  const Strategy &strategy = current[op];
  ends.forward[op] = compute(strategy.first, strategy.parts(),
                             &forwardTimes[op * graph.kinds], ready);
}

void StepSimulator::runBackward(int32_t op) {
  Time ready = 0;
  const Layout own = layoutOf({}, current[op]);
  for (int32_t number : readers[op]) {
    const Edge &edge = edges[number];
    if (edge.first != number || !edge.cost.time || !edge.returns)
      continue;
    // Devices add what their operators give before it is sent.
    Time made = 0;
    for (int32_t other : ofTensor[edge.tensor])
      if (const Edge &alike = edges[other]; alike.first == number)
        made = std::max(made, ends.backward[alike.reader]);
    const Layout *both[] = {&own, &edge.layout};
    ready = std::max(ready, exchange(both, made, edge.cost.time));
  }
  ends.backward[op] =
      compute(own.first, own.count, &backwardTimes[op * graph.kinds], ready);
  for (int32_t weight : sumsBehind[op])
    runSum(weight);
}

void StepSimulator::runSum(int32_t number) {
  const Copies &weight = weights[number];
  Time made = 0;
  for (const auto &[op, read] : weightReads[number])
    made = std::max(made, ends.backward[op]);
  if (weight.cost.time == 0) {
    ends.sums[number] = 0;
    return;
  }
  meeting.clear();
  for (const Layout &layout : weight.layouts)
    meeting.push_back(&layout);
  ends.sums[number] = exchange(meeting, made, weight.cost.time);
}

/// Of a weight in several layouts, a device updates what it has in the first
/// one of them that it is in.
void StepSimulator::runUpdates() {
  for (int32_t number : updateOrder) {
    const Copies &weight = weights[number];
    if (weight.layouts.size() == 1) {
      const Layout &layout = weight.layouts.front();
      compute(layout.first, layout.count, weight.updates.data(),
              ends.sums[number]);
      continue;
    }
    isUpdated.assign(kinds.size(), 0);
    const Time *updates = weight.updates.data();
    for (const Layout &layout : weight.layouts) {
      for (int32_t i = layout.first; i < layout.first + layout.count; ++i)
        if (!isUpdated[i]) {
          isUpdated[i] = 1;
          compute(i, 1, updates, ends.sums[number]);
        }
      updates += graph.kinds;
    }
  }
}

/// From a place on that has a checkpoint.
void StepSimulator::simulate(int32_t from) {
  const auto count = int32_t(graph.operators.size());
  for (int32_t place = from; place < 2 * count; ++place) {
    if (place % kStride == 0) {
      const size_t at = place / kStride;
      std::vector<Time> &queues = checkpoints[2 * at + !inForce[at]];
      queues.assign(computing.begin(), computing.end());
      queues.insert(queues.end(), linking.begin(), linking.end());
    }
    if (place < count)
      runForward(place);
    else
      runBackward(2 * count - 1 - place);
  }
  runUpdates();
  steps += 2 * count - from;
  next.bytes = countBytes();
  next.span = 0;
  for (const std::vector<Time> *queues : {&computing, &linking})
    for (Time end : *queues)
      next.span = std::max(next.span, end);
}

std::vector<StepSimulator::Load> StepSimulator::loads() const {
  std::vector<Load> all(kinds.size());
  auto add = [&](const Layout &layout, auto change) {
    for (int32_t i = layout.first; i < layout.first + layout.count; ++i)
      change(all[i], size_t(kinds[i]));
  };
  for (size_t op = 0; op < current.size(); ++op)
    add(layoutOf({}, current[op]), [&](Load &load, size_t kind) {
      load.computing += forwardTimes[op * graph.kinds + kind] +
                        backwardTimes[op * graph.kinds + kind];
    });
  for (const StepTensor &tensor : graph.tensors)
    if (tensor.maker >= 0) {
      const Layout layout = layoutOf(tensor.along, current[tensor.maker]);
      add(layout, [&](Load &load, size_t) {
        load.resultBytes += tensor.bytes() / layout.parts();
      });
    }
  for (size_t w = 0; w < weights.size(); ++w) {
    std::vector<int64_t> most(kinds.size(), 0);
    for (const Layout &layout : weights[w].layouts)
      for (int32_t i = layout.first; i < layout.first + layout.count; ++i)
        most[i] =
            std::max(most[i], graph.weights[w].stateBytes / layout.parts());
    for (size_t i = 0; i < most.size(); ++i)
      all[i].weightBytes += most[i];
  }
  return all;
}
