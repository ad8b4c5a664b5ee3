//===- Fit.cpp - Constants of a cluster from measured iterations ----------===//

#include "simulator/iteration/Fit.h"
#include "simulator/iteration/GptIteration.h"
#include "simulator/iteration/LeastSquares.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

using namespace mlc;
using namespace mlc::simulator;

namespace {

using Indices = std::vector<size_t>;

/// SplitMix64, whose numbers are the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

private:
  uint64_t state;
};

void shuffle(Indices &indices, Random &random) {
  for (size_t i = indices.size(); i > 1; --i)
    std::swap(indices[i - 1], indices[random.next() % i]);
}

bool isOneNode(const Cluster &cluster, const Iteration &row) {
  return row.gpus <= cluster.nodes.front().ranks;
}

/// `cluster` with other constants, given by their logarithms.
Cluster withConstants(Cluster cluster, const std::vector<double> &logarithms) {
  for (size_t i = 0; i < constantCount; ++i)
    cluster.training[i].value = std::exp(logarithms[i]);
  return cluster;
}

double logError(const Cluster &cluster, const Iteration &row) {
  return std::log(predict(cluster, row).total() / row.seconds);
}

/// Errors beyond this share count less.
constexpr double usualError = 0.05;
/// How strongly a constant with HELD = 1 is drawn to its start: e times as
/// large counts as an error of so much.
constexpr double drawn = 0.1;

std::vector<double> fitConstants(const Cluster &cluster,
                                 std::span<const Iteration> rows,
                                 const Indices &seen) {
  std::vector<double> start;
  for (const Number &number : cluster.training)
    start.push_back(std::log(number.value));
  std::vector<double> weights(seen.size(), 1), point = start;
  auto residuals = [&](const std::vector<double> &at) {
    const Cluster moved = withConstants(cluster, at);
    std::vector<double> all;
    for (size_t i = 0; i < seen.size(); ++i)
      all.push_back(weights[i] * logError(moved, rows[seen[i]]));
    for (size_t j = 0; j < at.size(); ++j)
      all.push_back(drawn * constantRows[j].held * (at[j] - start[j]));
    return all;
  };
  constexpr int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    point = leastSquares(residuals, point);
    const Cluster now = withConstants(cluster, point);
    for (size_t i = 0; i < seen.size(); ++i) {
      const double error = std::abs(logError(now, rows[seen[i]]));
      weights[i] = std::sqrt(std::min(1.0, usualError / error));
    }
  }
  return point;
}

Agreement compare(const Cluster &cluster, std::span<const Iteration> rows,
                  const Indices &which) {
  Agreement result;
  std::vector<double> predicted, measured;
  for (size_t i : which) {
    predicted.push_back(predict(cluster, rows[i]).total());
    measured.push_back(rows[i].seconds);
    const double error = std::abs(predicted.back() / measured.back() - 1);
    result.meanError += error;
    result.largestError = std::max(result.largestError, error);
  }
  result.rows = static_cast<int>(which.size());
  if (result.rows)
    result.meanError /= result.rows;
  result.tau = kendallTau(predicted, measured);
  return result;
}

Choices choose(const Cluster &cluster, std::span<const Iteration> rows) {
  struct Best {
    int rows = 0;
    double predicted = 0, chosen = 0, fastest = 0;
  };
  std::map<std::array<int, 5>, Best> groups;
  for (const Iteration &row : rows) {
    if (!isOneNode(cluster, row))
      continue;
    Best &best = groups[{row.gpus, row.globalBatch, row.hidden, row.layers,
                         row.sequence}];
    const double predicted = predict(cluster, row).total();
    if (best.rows++ == 0)
      best = {1, predicted, row.seconds, row.seconds};
    best.fastest = std::min(best.fastest, row.seconds);
    if (predicted < best.predicted) {
      best.predicted = predicted;
      best.chosen = row.seconds;
    }
  }
  Choices result;
  for (const auto &[key, best] : groups) {
    if (best.rows < 2)
      continue;
    const double loss = best.chosen / best.fastest - 1;
    ++result.groups;
    result.meanLoss += loss;
    result.largestLoss = std::max(result.largestLoss, loss);
  }
  if (result.groups)
    result.meanLoss /= result.groups;
  return result;
}

} // namespace

double simulator::kendallTau(std::span<const double> a,
                             std::span<const double> b) {
  auto sign = [](double x) { return (x > 0) - (x < 0); };
  int64_t sum = 0, inA = 0, inB = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const int x = sign(a[i] - a[j]), y = sign(b[i] - b[j]);
      sum += x * y;
      inA += x != 0;
      inB += y != 0;
    }
  return double(sum) / std::sqrt(double(inA) * double(inB));
}

FitResult simulator::fit(const Cluster &cluster,
                         std::span<const Iteration> rows,
                         const FitOptions &options) {
  Random random(options.seed);
  Indices seen, held[2];
  bool heldOut[2];
  for (bool oneNode : {true, false}) {
    Indices all;
    for (size_t i = 0; i < rows.size(); ++i)
      if (isOneNode(cluster, rows[i]) == oneNode)
        all.push_back(i);
    shuffle(all, random);
    auto taken = static_cast<size_t>(
        std::round(double(all.size()) * (1 - options.holdout)));
    taken = std::min(all.size(), std::max<size_t>(taken, 1));
    seen.insert(seen.end(), all.begin(), all.begin() + taken);
    const int which = oneNode ? 0 : 1;
    heldOut[which] = taken < all.size();
    held[which].assign(all.begin() + (taken == all.size() ? 0 : taken),
                       all.end());
  }
  FitResult result;
  result.cluster = withConstants(cluster, fitConstants(cluster, rows, seen));
  for (Number &number : result.cluster.training)
    number.source = fmt::format("fitted by mlc calibrate to {} iterations, "
                                "holdout {}, seed {}",
                                seen.size(), options.holdout, options.seed);
  result.fittedRows = static_cast<int>(seen.size());
  result.oneNode = compare(result.cluster, rows, held[0]);
  result.manyNodes = compare(result.cluster, rows, held[1]);
  result.oneNode.heldOut = heldOut[0];
  result.manyNodes.heldOut = heldOut[1];
  result.choices = choose(result.cluster, rows);
  return result;
}
