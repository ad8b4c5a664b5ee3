//===- Grid.cpp - Timelines as text ---------------------------------------===//

#include "simulator/timeline/Pictures.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace mlc::simulator;
using namespace mlc::runtime::schedule;

std::string mlc::simulator::toPercent(const Share &share) {
  return fmt::format("{:.1f} %", 100 * share.value());
}

/// The longest time that all computation begins and ends at multiples of.
static Time findStep(const Table &table, const Timeline &timeline) {
  Time step = 0;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i)
      if (isCompute(table.ranks[rank][i].kind)) {
        step = std::gcd(step, timeline.ranks[rank][i].start);
        step = std::gcd(step, timeline.ranks[rank][i].end);
      }
  return std::max<Time>(step, 1);
}

/// "0F3" in its first column, then "===" until it ends.
static std::string drawRank(const std::vector<Action> &actions,
                            const std::vector<Interval> &times, Time step,
                            int64_t columns, size_t width) {
  std::string line(size_t(columns) * width, ' ');
  for (int64_t column = 0; column < columns; ++column)
    line[size_t(column) * width] = '.';
  for (size_t i = 0; i < actions.size(); ++i) {
    if (!isCompute(actions[i].kind) || times[i].start == times[i].end)
      continue;
    const int64_t first = times[i].start / step,
                  end = std::min(columns, times[i].end / step);
    if (first >= columns)
      break;
    const std::string name = toString(actions[i]);
    for (size_t j = size_t(first) * width; j + 1 < size_t(end) * width; ++j)
      line[j] = '=';
    line.replace(size_t(first) * width, name.size(), name);
  }
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
  return line;
}

std::string mlc::simulator::drawGrid(const Table &table,
                                     const Timeline &timeline,
                                     const PictureOptions &options) {
  constexpr size_t widest = 400, mostRanks = 128;
  const Time step = findStep(table, timeline);
  size_t width = 0;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i)
      if (const Interval &time = timeline.ranks[rank][i];
          isCompute(table.ranks[rank][i].kind) && time.start < time.end)
        width = std::max(width, toString(table.ranks[rank][i]).size() + 1);
  const int64_t all = timeline.span / step,
                columns = std::min<int64_t>(
                    all, int64_t(widest / std::max<size_t>(width, 1)));
  std::string text;
  const size_t shown = std::min(table.ranks.size(), mostRanks);
  const size_t digits = std::to_string(shown - 1).size();
  for (size_t rank = 0; rank < shown; ++rank)
    text += fmt::format("rank {:>{}} | {}\n", rank, digits,
                        drawRank(table.ranks[rank], timeline.ranks[rank], step,
                                 columns, width));
  if (columns < all || shown < table.ranks.size())
    text += fmt::format("shown are {} of {} columns and {} of {} ranks\n",
                        columns, all, shown, table.ranks.size());
  const std::string span =
      options.unit
          ? fmt::format("{:g}", double(timeline.span) / double(options.unit))
          : toText(timeline.span);
  Share idle = timeline.idle();
  text += fmt::format("time {}, idle {}/{} = {}\n", span, idle.part, idle.whole,
                      toPercent(idle));
  std::string kept;
  for (size_t rank = 0; rank < shown; ++rank) {
    int64_t most = 0;
    for (const Kept &one : activationsOverTime(table, timeline, int32_t(rank)))
      most = std::max(most, one.count);
    kept += fmt::format(" {}", most);
  }
  return text + "activations in flight by rank:" + kept + "\n";
}
