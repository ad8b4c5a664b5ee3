//===- Improve.cpp - Better choices by small changes ----------------------===//

#include "planner/choices/Improve.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::planner;

static constexpr double kNever = std::numeric_limits<double>::infinity();
static constexpr uint32_t kNone = UINT32_MAX;
/// Changes that are tried in pairs.
static constexpr size_t kMostExchanges = 100;

Improver::Improver(const ChoiceProblem &problem)
    : byteCosts(problem.rows.size()), problem(problem),
      neighbours(problem.nodes.size()), uses(problem.nodes.size()),
      used(problem.rows.size()), more(problem.rows.size()) {
  for (uint32_t i = 0; i < problem.edges.size(); ++i) {
    const ChoiceProblem::Edge &edge = problem.edges[i];
    neighbours[edge.from].push_back({i, edge.to, true});
    neighbours[edge.to].push_back({i, edge.from, false});
  }
  for (uint32_t row = 0; row < problem.rows.size(); ++row)
    for (const ChoiceProblem::Use &use : problem.rows[row].uses)
      uses[use.node].push_back({row, &use.bytes});
}

void Improver::begin(const Choices &choices) {
  now = choices;
  for (size_t row = 0; row < used.size(); ++row)
    used[row] = bytesOf(problem.rows[row], now);
  const double cost = costOf(problem, now);
  least = cost < kNever ? 1e-12 * std::abs(cost) : 0;
}

double Improver::edgeCost(const Neighbour &edge, uint32_t mine,
                          uint32_t its) const {
  const ChoiceProblem::Edge &costs = problem.edges[edge.edge];
  const uint32_t from = edge.isFrom ? mine : its, to = edge.isFrom ? its : mine;
  return costs.costs[size_t(from) * problem.countChoices(costs.to) + to];
}

/// What all costs change by, but for those of the edge to `except`. A change
/// to what is not allowed costs infinity.
double Improver::changeOf(uint32_t node, uint32_t choice,
                          uint32_t except) const {
  const std::vector<double> &costs = problem.nodes[node].costs;
  double after = costs[choice], before = costs[now[node]];
  for (const Neighbour &edge : neighbours[node])
    if (edge.node != except) {
      after += edgeCost(edge, choice, now[edge.node]);
      before += edgeCost(edge, now[node], now[edge.node]);
    }
  if (after == kNever)
    return kNever;
  return before == kNever ? -kNever : after - before;
}

double Improver::bytesChangeOf(uint32_t node, uint32_t choice) const {
  double sum = 0;
  for (const RowUse &use : uses[node])
    sum += byteCosts[use.row] *
           double((*use.bytes)[choice] - (*use.bytes)[now[node]]);
  return sum;
}

/// By how much less, in parts of the budgets, rows are over them afterwards.
double Improver::excessChangeOf(uint32_t node, uint32_t choice) const {
  double sum = 0;
  for (const RowUse &use : uses[node]) {
    const int64_t budget = problem.rows[use.row].budget;
    const int64_t before = used[use.row] - budget;
    const int64_t after =
        before + (*use.bytes)[choice] - (*use.bytes)[now[node]];
    sum += double(std::max<int64_t>(after, 0) - std::max<int64_t>(before, 0)) /
           double(std::max<int64_t>(budget, 1));
  }
  return sum;
}

void Improver::move(uint32_t node, uint32_t choice) {
  for (const RowUse &use : uses[node])
    used[use.row] += (*use.bytes)[choice] - (*use.bytes)[now[node]];
  now[node] = choice;
}

/// Whether rows have room once these nodes, which are different, have moved.
bool Improver::fitsAfter(
    const std::vector<std::pair<uint32_t, uint32_t>> &moves) {
  for (auto [node, choice] : moves)
    for (const RowUse &use : uses[node])
      more[use.row] += (*use.bytes)[choice] - (*use.bytes)[now[node]];
  bool isFitting = true;
  for (auto [node, choice] : moves)
    for (const RowUse &use : uses[node]) {
      isFitting &= more[use.row] <= 0 || used[use.row] + more[use.row] <=
                                             problem.rows[use.row].budget;
    }
  for (auto [node, choice] : moves)
    for (const RowUse &use : uses[node])
      more[use.row] = 0;
  return isFitting;
}

bool Improver::repair(Choices &choices) {
  begin(choices);
  for (size_t moves = 0; moves < 20 * now.size() + 100; ++moves) {
    bool isOver = false;
    for (size_t row = 0; row < used.size(); ++row)
      isOver |= used[row] > problem.rows[row].budget;
    if (!isOver) {
      choices = now;
      return true;
    }
    double best = kNever;
    uint32_t bestNode = kNone, bestChoice = 0;
    for (uint32_t node = 0; node < now.size(); ++node) {
      if (uses[node].empty())
        continue;
      for (uint32_t i = 0; i < problem.countChoices(node); ++i) {
        const double freed = i == now[node] ? 0 : -excessChangeOf(node, i);
        if (freed <= 0)
          continue;
        const double cost = changeOf(node, i, kNone) + bytesChangeOf(node, i);
        // What costs nothing frees for free; then more is better.
        const double price = cost > 0 ? cost / freed : cost * freed;
        if (price < best) {
          best = price;
          bestNode = node;
          bestChoice = i;
        }
      }
      count += double(problem.countChoices(node)) * neighbours[node].size();
    }
    if (bestNode == kNone)
      return false;
    move(bestNode, bestChoice);
  }
  return false;
}

bool Improver::improveNodes() {
  bool isChanged = false;
  for (uint32_t node = 0; node < now.size(); ++node) {
    double best = -least;
    uint32_t choice = kNone;
    for (uint32_t i = 0; i < problem.countChoices(node); ++i)
      if (i != now[node])
        if (double change = changeOf(node, i, kNone);
            change < best && fitsAfter({{node, i}})) {
          best = change;
          choice = i;
        }
    count += double(problem.countChoices(node)) * neighbours[node].size();
    if (choice == kNone)
      continue;
    move(node, choice);
    isChanged = true;
  }
  return isChanged;
}

bool Improver::improveEdge(const ChoiceProblem::Edge &edge) {
  const uint32_t from = edge.from, to = edge.to;
  const uint32_t width = problem.countChoices(to);
  std::vector<double> changes(width);
  for (uint32_t j = 0; j < width; ++j)
    changes[j] = changeOf(to, j, from);
  const double before = edge.costs[size_t(now[from]) * width + now[to]];
  double best = -least;
  uint32_t bestFrom = kNone, bestTo = 0;
  for (uint32_t i = 0; i < problem.countChoices(from); ++i) {
    const double change = changeOf(from, i, to);
    if (change == kNever)
      continue;
    for (uint32_t j = 0; j < width; ++j) {
      const double all =
          change + changes[j] + edge.costs[size_t(i) * width + j] - before;
      if (all < best && fitsAfter({{from, i}, {to, j}})) {
        best = all;
        bestFrom = i;
        bestTo = j;
      }
    }
  }
  count += double(problem.countChoices(from)) * width;
  if (bestFrom == kNone)
    return false;
  move(from, bestFrom);
  move(to, bestTo);
  return true;
}

bool Improver::improveEdges() {
  bool isChanged = false;
  for (const ChoiceProblem::Edge &edge : problem.edges)
    isChanged |= improveEdge(edge);
  return isChanged;
}

bool Improver::improveExchanges() {
  std::vector<Change> wanted, given;
  for (uint32_t node = 0; node < now.size(); ++node)
    for (uint32_t i = 0; i < problem.countChoices(node); ++i) {
      if (i == now[node] || uses[node].empty())
        continue;
      const double cost = changeOf(node, i, kNone);
      if (cost == kNever)
        continue;
      const double priced = cost + bytesChangeOf(node, i);
      if (cost < -least)
        wanted.push_back({cost, priced, node, i});
      else
        given.push_back({cost, priced, node, i});
    }
  auto trim = [](std::vector<Change> &changes) {
    std::stable_sort(
        changes.begin(), changes.end(),
        [](const Change &a, const Change &b) { return a.priced < b.priced; });
    changes.resize(std::min(changes.size(), kMostExchanges));
  };
  trim(wanted);
  trim(given);
  count += double(wanted.size()) * given.size();
  for (const Change &want : wanted)
    for (const Change &give : given) {
      const bool areApart =
          want.node != give.node &&
          std::none_of(neighbours[want.node].begin(),
                       neighbours[want.node].end(),
                       [&](const Neighbour &n) { return n.node == give.node; });
      if (areApart && want.cost + give.cost < -least &&
          fitsAfter({{want.node, want.choice}, {give.node, give.choice}})) {
        move(want.node, want.choice);
        move(give.node, give.choice);
        return true;
      }
    }
  return false;
}

void Improver::improve(Choices &choices) {
  begin(choices);
  for (int pass = 0; pass < 100; ++pass)
    if (!improveNodes() && !improveEdges() && !improveExchanges())
      break;
  choices = now;
}

/// The connected parts of the nodes where `other` differs.
std::vector<std::vector<uint32_t>>
Improver::partsOfDifference(const Choices &other) {
  std::vector<std::vector<uint32_t>> parts;
  std::vector<bool> isSeen(now.size());
  for (uint32_t node = 0; node < now.size(); ++node) {
    if (isSeen[node] || now[node] == other[node])
      continue;
    std::vector<uint32_t> part{node};
    isSeen[node] = true;
    for (size_t next = 0; next < part.size(); ++next)
      for (const Neighbour &edge : neighbours[part[next]])
        if (!isSeen[edge.node] && now[edge.node] != other[edge.node]) {
          isSeen[edge.node] = true;
          part.push_back(edge.node);
        }
    parts.push_back(std::move(part));
  }
  return parts;
}

/// What costs change by if the part's nodes choose as in `other`.
double Improver::changeOfPart(const std::vector<uint32_t> &part,
                              const Choices &other) {
  double after = 0, before = 0;
  for (uint32_t node : part) {
    after += problem.nodes[node].costs[other[node]];
    before += problem.nodes[node].costs[now[node]];
    for (const Neighbour &edge : neighbours[node]) {
      // Neighbours that differ are in the part; their edges count once.
      const bool isInside = now[edge.node] != other[edge.node];
      if (isInside && edge.node < node)
        continue;
      after += edgeCost(edge, other[node], other[edge.node]);
      before += edgeCost(edge, now[node], now[edge.node]);
    }
    count += double(neighbours[node].size());
  }
  return after == kNever ? kNever : after - before;
}

bool Improver::takeFrom(const Choices &other, Choices &choices) {
  begin(choices);
  struct Part {
    double cost, priced;
    std::vector<std::pair<uint32_t, uint32_t>> moves;
  };
  std::vector<Part> parts;
  for (const std::vector<uint32_t> &nodes : partsOfDifference(other)) {
    Part part{changeOfPart(nodes, other), 0, {}};
    part.priced = part.cost;
    for (uint32_t node : nodes) {
      part.priced += bytesChangeOf(node, other[node]);
      part.moves.emplace_back(node, other[node]);
    }
    parts.push_back(std::move(part));
  }
  std::stable_sort(
      parts.begin(), parts.end(),
      [](const Part &a, const Part &b) { return a.priced < b.priced; });
  bool isChanged = false;
  for (const Part &part : parts)
    if (part.cost < -least && fitsAfter(part.moves)) {
      for (auto [node, choice] : part.moves)
        move(node, choice);
      isChanged = true;
    }
  choices = now;
  return isChanged;
}
