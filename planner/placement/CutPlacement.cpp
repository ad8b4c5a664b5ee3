//===- CutPlacement.cpp - Few bytes between devices -----------------------===//

#include "planner/placement/Placement.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace mlc::planner;

namespace {

/// A graph of groups, or of a coarser level.
struct CutGraph {
  std::vector<double> work;
  std::vector<std::vector<std::pair<int32_t, double>>> links;

  size_t count() const { return work.size(); }
};

} // namespace

static CutGraph toCutGraph(const OperatorGroups &groups) {
  CutGraph graph;
  graph.work = groups.seconds;
  graph.links.resize(groups.count());
  for (size_t a = 0; a < groups.count(); ++a)
    for (size_t b = 0; b < groups.count(); ++b)
      if (groups.between(a, b) > 0)
        graph.links[a].push_back({int32_t(b), groups.between(a, b)});
  return graph;
}

/// Joins each node with the neighbour of its heaviest link that is still alone;
/// `into` has the coarser node of each.
static CutGraph coarsen(const CutGraph &graph, std::mt19937_64 &random,
                        double most, std::vector<int32_t> &into) {
  std::vector<size_t> order(graph.count());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  into.assign(graph.count(), -1);
  CutGraph coarse;
  for (size_t node : order) {
    if (into[node] >= 0)
      continue;
    double heaviest = 0, work = graph.work[node];
    size_t partner = node;
    for (const auto &[other, bytes] : graph.links[node])
      if (into[other] < 0 && bytes > heaviest &&
          work + graph.work[other] <= most) {
        heaviest = bytes;
        partner = size_t(other);
      }
    into[node] = into[partner] = int32_t(coarse.count());
    coarse.work.push_back(work + (partner == node ? 0 : graph.work[partner]));
  }
  std::vector<std::vector<double>> bytes(coarse.count(),
                                         std::vector<double>(coarse.count()));
  for (size_t node = 0; node < graph.count(); ++node)
    for (const auto &[other, sent] : graph.links[node])
      bytes[into[node]][into[other]] += sent;
  coarse.links.resize(coarse.count());
  for (size_t a = 0; a < coarse.count(); ++a)
    for (size_t b = 0; b < coarse.count(); ++b)
      if (a != b && bytes[a][b] > 0)
        coarse.links[a].push_back({int32_t(b), bytes[a][b]});
  return coarse;
}

namespace {

/// Refines a cut in passes: each moves every node once, the one that saves most
/// first, also where that costs, and the best state on the way is kept.
class CutRefiner {
public:
  CutRefiner(const CutGraph &graph, int32_t devices, double most,
             Placement &placement)
      : graph(graph), devices(devices), most(most), placement(placement),
        loads(devices) {
    for (size_t node = 0; node < graph.count(); ++node)
      loads[placement[node]] += graph.work[node];
  }

  void run() {
    for (int pass = 0; pass < 20 && runPass(); ++pass) {
    }
  }

private:
  /// What a move saves, and how much less too heavy devices are then.
  std::pair<double, double> gain(size_t node, int32_t to) const {
    double saved = 0;
    for (const auto &[other, bytes] : graph.links[node])
      saved += placement[other] == to                ? bytes
               : placement[other] == placement[node] ? -bytes
                                                     : 0;
    const double work = graph.work[node];
    auto over = [&](double load) { return std::max(0.0, load - most); };
    const double from = loads[placement[node]], there = loads[to];
    const double lighter =
        over(from) + over(there) - over(from - work) - over(there + work);
    return {lighter, saved};
  }
  void move(size_t node, int32_t to) {
    loads[placement[node]] -= graph.work[node];
    placement[node] = to;
    loads[to] += graph.work[node];
  }
  bool runPass();

  const CutGraph &graph;
  int32_t devices;
  double most;
  Placement &placement;
  std::vector<double> loads;
};

} // namespace

bool CutRefiner::runPass() {
  std::vector<bool> isMoved(graph.count());
  Placement best = placement;
  std::pair<double, double> sum{0, 0}, highest{0, 0};
  const double tiny = 1e-12 * most;
  for (size_t step = 0; step < graph.count(); ++step) {
    std::pair<double, double> top{-1e300, -1e300};
    size_t node = graph.count();
    int32_t device = 0;
    for (size_t i = 0; i < graph.count(); ++i)
      for (int32_t to = 0; to < devices && !isMoved[i]; ++to)
        if (to != placement[i])
          if (const auto found = gain(i, to); found > top) {
            top = found;
            node = i;
            device = to;
          }
    if (node == graph.count())
      break;
    move(node, device);
    isMoved[node] = true;
    sum.first += top.first;
    sum.second += top.second;
    if (sum.first > highest.first + tiny ||
        (sum.first > highest.first - tiny &&
         sum.second > highest.second * (1 + 1e-12) + 1e-9)) {
      highest = sum;
      best = placement;
    }
  }
  const bool isBetter = highest.first > tiny || highest.second > 1e-9;
  placement = best;
  std::fill(loads.begin(), loads.end(), 0);
  for (size_t i = 0; i < graph.count(); ++i)
    loads[placement[i]] += graph.work[i];
  return isBetter;
}

/// The heaviest first, or in any order, each where it has most links and fits.
static Placement beginCut(const CutGraph &graph, int32_t devices, double most,
                          std::mt19937_64 &random) {
  std::vector<size_t> order(graph.count());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return graph.work[a] > graph.work[b];
  });
  if (random() % 2)
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
  Placement placement(graph.count(), -1);
  std::vector<double> loads(devices);
  for (size_t node : order) {
    std::vector<double> near(devices);
    for (const auto &[other, bytes] : graph.links[node])
      if (placement[other] >= 0)
        near[placement[other]] += bytes;
    auto key = [&](int32_t device) {
      const bool fits = loads[device] + graph.work[node] <= most;
      return std::tuple(!fits, fits ? -near[device] : 0, loads[device]);
    };
    int32_t best = 0;
    for (int32_t device = 1; device < devices; ++device)
      if (key(device) < key(best))
        best = device;
    placement[node] = best;
    loads[best] += graph.work[node];
  }
  return placement;
}

/// The heaviest load of a device, at least `most`, and the bytes between them.
static std::pair<double, double> judgeCut(const OperatorGroups &groups,
                                          const Placement &placement,
                                          int32_t devices, double most) {
  std::vector<double> loads(devices);
  for (size_t i = 0; i < groups.count(); ++i)
    loads[placement[i]] += groups.seconds[i];
  return {std::max(most, *std::max_element(loads.begin(), loads.end())),
          cutBytes(groups, placement)};
}

/// Once from the finest level to the coarsest, and back.
static Placement cutOnce(const CutGraph &graph, int32_t devices, double most,
                         std::mt19937_64 &random) {
  std::vector<CutGraph> levels{graph};
  std::vector<std::vector<int32_t>> into;
  while (levels.back().count() > size_t(4 * devices)) {
    std::vector<int32_t> joined;
    CutGraph coarse = coarsen(levels.back(), random, most / 2, joined);
    if (coarse.count() * 20 > levels.back().count() * 19)
      break;
    levels.push_back(std::move(coarse));
    into.push_back(std::move(joined));
  }
  Placement placement = beginCut(levels.back(), devices, most, random);
  CutRefiner(levels.back(), devices, most, placement).run();
  while (!into.empty()) {
    levels.pop_back();
    Placement finer;
    for (int32_t node : into.back())
      finer.push_back(placement[node]);
    into.pop_back();
    placement = std::move(finer);
    CutRefiner(levels.back(), devices, most, placement).run();
  }
  return placement;
}

Placement mlc::planner::placeByCut(const OperatorGroups &groups,
                                   int32_t devices, double slack,
                                   uint64_t seed) {
  std::mt19937_64 random(seed);
  const CutGraph graph = toCutGraph(groups);
  const double most =
      std::accumulate(groups.seconds.begin(), groups.seconds.end(), 0.0) /
      devices * (1 + slack);
  Placement best;
  std::pair<double, double> least;
  for (int start = 0; start < 12; ++start) {
    Placement placement = cutOnce(graph, devices, most, random);
    const auto found = judgeCut(groups, placement, devices, most);
    if (best.empty() || found < least) {
      least = found;
      best = std::move(placement);
    }
  }
  return best;
}
