//===- Trace.cpp - Timelines as trace events ------------------------------===//

#include "simulator/timeline/Pictures.h"
#include <fmt/format.h>
#include <iterator>
#include <set>

using namespace mlc::simulator;
using namespace mlc::runtime::schedule;

namespace {

/// Microseconds with all picoseconds.
std::string stamp(Time time) {
  return fmt::format("{}.{:06}", time / 1'000'000, time % 1'000'000);
}

class Trace {
public:
  Trace(const Table &table, const Timeline &timeline)
      : table(table), timeline(timeline) {}

  std::string draw();

private:
  template <typename... Values>
  void event(fmt::format_string<Values...> format, Values &&...values) {
    text += text.empty() ? "" : ",\n";
    fmt::format_to(std::back_inserter(text), format,
                   std::forward<Values>(values)...);
  }
  void span(const std::string &name, const char *kind, int32_t rank,
            int32_t track, const Interval &time, const std::string &more) {
    event("{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"{}\",\"pid\":{},"
          "\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
          name, kind, rank, track, stamp(time.start),
          stamp(time.end - time.start), more);
  }
  void flow(char phase, size_t number, int32_t rank, int32_t track, Time time) {
    event("{{\"ph\":\"{}\",\"name\":\"message\",\"cat\":\"message\",\"id\":{},"
          "\"pid\":{},\"tid\":{},\"ts\":{}{}}}",
          phase, number, rank, track, stamp(time),
          phase == 'f' ? ",\"bp\":\"e\"" : "");
  }
  void drawRank(size_t rank);
  void drawMessage(size_t number);
  /// A rank computes on track 0; messages with each other rank have tracks of
  /// their own, as they are under way at once.
  static int32_t toTrack(int32_t peer) { return 1 + 2 * peer; }
  static int32_t fromTrack(int32_t peer) { return 2 + 2 * peer; }
  void nameTrack(int32_t rank, int32_t track, const std::string &name) {
    if (named.emplace(rank, track).second)
      event("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},"
            "\"args\":{{\"name\":\"{}\"}}}}",
            rank, track, name);
  }

  const Table &table;
  const Timeline &timeline;
  std::string text;
  std::set<std::pair<int32_t, int32_t>> named;
};

} // namespace

void Trace::drawRank(size_t rank) {
  const int32_t number = int32_t(rank);
  event("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},"
        "\"args\":{{\"name\":\"rank {0}\"}}}}",
        rank);
  event("{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},"
        "\"args\":{{\"sort_index\":{0}}}}}",
        rank);
  nameTrack(number, 0, "computation");
  for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
    const Action &action = table.ranks[rank][i];
    const bool isCollective = action.kind == ActionKind::Unshard ||
                              action.kind == ActionKind::ReduceGradients;
    if (!isCompute(action.kind) && !isCollective)
      continue;
    std::string more = fmt::format("\"stage\":{}", action.stage);
    if (action.microBatch != kNone)
      more += fmt::format(",\"{}\":{}",
                          action.kind == ActionKind::Step ? "makes version"
                                                          : "micro-batch",
                          action.microBatch);
    if (action.slice != kNone)
      more += fmt::format(",\"slice\":{}", action.slice);
    if (action.version != kNone)
      more += fmt::format(",\"version\":{}", action.version);
    // Collectives of several stages are under way at once, behind all messages.
    const int32_t track =
        isCollective ? toTrack(int32_t(table.ranks.size()) + action.stage) : 0;
    if (isCollective)
      nameTrack(number, track,
                fmt::format("collectives of stage {}", action.stage));
    span(toString(action), toText(action.kind), number, track,
         timeline.ranks[rank][i], more);
  }
  for (const Kept &kept : activationsOverTime(table, timeline, number))
    event("{{\"ph\":\"C\",\"name\":\"activations in flight\",\"pid\":{},"
          "\"ts\":{},\"args\":{{\"kept\":{}}}}}",
          rank, stamp(kept.time), kept.count);
}

void Trace::drawMessage(size_t number) {
  const TransferTime &one = timeline.transfers[number];
  const Action &from = table.ranks[size_t(one.from)][size_t(one.fromIndex)],
               &to = table.ranks[size_t(one.to)][size_t(one.toIndex)];
  if (isCompute(from.kind)) {
    // The table has no transfers: from what makes the data to what needs them.
    flow('s', number, one.from, 0,
         timeline.ranks[size_t(one.from)][size_t(one.fromIndex)].start);
    flow('f', number, one.to, 0,
         timeline.ranks[size_t(one.to)][size_t(one.toIndex)].start);
    return;
  }
  const std::string more = fmt::format("\"bytes\":{}", one.bytes);
  nameTrack(one.from, toTrack(one.to), fmt::format("to rank {}", one.to));
  nameTrack(one.to, fromTrack(one.from), fmt::format("from rank {}", one.from));
  span(toString(from), toText(from.kind), one.from, toTrack(one.to), one.time,
       more);
  span(toString(to), toText(to.kind), one.to, fromTrack(one.from), one.time,
       more);
  flow('s', number, one.from, toTrack(one.to), one.time.start);
  flow('f', number, one.to, fromTrack(one.from), one.time.start);
}

std::string Trace::draw() {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    drawRank(rank);
  for (size_t i = 0; i < timeline.transfers.size(); ++i)
    drawMessage(i);
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text + "\n]}\n";
}

std::string mlc::simulator::drawTrace(const Table &table,
                                      const Timeline &timeline) {
  return Trace(table, timeline).draw();
}
