//===- Slicing.cpp - How long slices of a sequence are --------------------===//

#include "runtime/schedule/Slicing.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// For a bound on the longest slice, the least sum of times is a shortest path
/// over the places of cuts. Bounds come down from one solution to the next: a
/// bound between a solution's longest slice and its own bound has the same
/// solution. So only few of all n^2 bounds are tried.
class Search {
public:
  explicit Search(const SlicingOptions &options)
      : options(options), units(options.tokens / options.granularity) {}

  Status run(Slicing &best) {
    if (Status status = findTimes(); !status.ok())
      return status;
    const auto stages = double(options.stages - 1),
               microBatches = double(options.microBatches);
    const double shortest = findShortestBound();
    best.time = kInfinity;
    for (double bound = kInfinity;;) {
      Slicing found = solve(bound);
      if (found.lengths.empty())
        return Status::success();
      const double sum = found.time;
      found.time = microBatches * sum + stages * longest;
      if (found.time <= best.time)
        best = found;
      // Sums only grow from here on.
      if (microBatches * sum + stages * shortest > best.time)
        return Status::success();
      bound = longest;
    }
  }

private:
  size_t index(int64_t begin, int64_t end) const {
    return size_t(begin * (units + 1) + end);
  }

  int64_t tokensOf(int64_t unit) const {
    return unit == units ? options.tokens : unit * options.granularity;
  }

  Status findTimes() {
    times.assign(size_t((units + 1) * (units + 1)), kInfinity);
    for (int64_t begin = 0; begin < units; ++begin)
      for (int64_t end = begin + 1; end <= units; ++end) {
        const int64_t length = tokensOf(end) - tokensOf(begin);
        const double time = options.time(length, tokensOf(begin));
        if (!std::isfinite(time) || time < 0)
          return Status::error(
              MLC_USAGE,
              "the time of " + std::to_string(length) + " tokens after " +
                  std::to_string(tokensOf(begin)) + " is no number from 0 on");
        times[index(begin, end)] = time;
      }
    return Status::success();
  }

  /// The least longest slice of all ways to cut.
  double findShortestBound() const {
    std::vector<double> least(size_t(units + 1), kInfinity);
    least[0] = 0;
    for (int64_t end = 1; end <= units; ++end)
      for (int64_t begin = 0; begin < end; ++begin)
        least[size_t(end)] =
            std::min(least[size_t(end)],
                     std::max(least[size_t(begin)], times[index(begin, end)]));
    return least[size_t(units)];
  }

  /// The least sum with all slices shorter than `bound`, and of these the one
  /// with the shorter longest slice, which is left in `longest`.
  Slicing solve(double bound) {
    struct Best {
      double sum = kInfinity, longest = kInfinity;
      int64_t from = 0;
    };
    std::vector<Best> best(size_t(units + 1));
    best[0] = {0, 0, 0};
    for (int64_t end = 1; end <= units; ++end)
      for (int64_t begin = 0; begin < end; ++begin) {
        const double time = times[index(begin, end)];
        const Best &before = best[size_t(begin)];
        if (time >= bound || before.sum == kInfinity)
          continue;
        const Best here = {before.sum + time, std::max(before.longest, time),
                           begin};
        Best &known = best[size_t(end)];
        if (here.sum < known.sum ||
            (here.sum == known.sum && here.longest < known.longest))
          known = here;
      }
    Slicing found;
    if (best[size_t(units)].sum == kInfinity)
      return found;
    found.time = best[size_t(units)].sum;
    longest = best[size_t(units)].longest;
    for (int64_t end = units; end; end = best[size_t(end)].from)
      found.lengths.push_back(tokensOf(end) - tokensOf(best[size_t(end)].from));
    std::reverse(found.lengths.begin(), found.lengths.end());
    return found;
  }

  const SlicingOptions &options;
  int64_t units;
  std::vector<double> times; // by the units where slices begin and end
  double longest = 0;
};

} // namespace

Status schedule::findSlices(const SlicingOptions &options, Slicing &slicing) {
  constexpr int64_t most = 4096;
  if (options.tokens < 1 || options.stages < 1 || options.microBatches < 1 ||
      options.granularity < 1)
    return Status::error(MLC_USAGE, "tokens, stages, micro-batches and the "
                                    "granularity count from 1");
  if (options.granularity > options.tokens)
    return Status::error(
        MLC_USAGE, "a granularity of " + std::to_string(options.granularity) +
                       " is more than the " + std::to_string(options.tokens) +
                       " tokens");
  if (options.tokens / options.granularity > most)
    return Status::error(MLC_USAGE, std::to_string(options.tokens) +
                                        " tokens have more than " +
                                        std::to_string(most) + " units of " +
                                        std::to_string(options.granularity) +
                                        "; give a coarser granularity");
  return Search(options).run(slicing);
}
