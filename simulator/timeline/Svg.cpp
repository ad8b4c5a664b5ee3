//===- Svg.cpp - Timelines as SVG -----------------------------------------===//

#include "simulator/timeline/Pictures.h"
#include "simulator/timeline/Xml.h"
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

using namespace mlc::simulator;
using namespace mlc::runtime::schedule;

namespace {

constexpr double lane = 26, gap = 6, letter = 6.1, margin = 16, top = 62,
                 labels = 70, shares = 80, keptLane = 22;
/// Wider pictures are scaled down; boxes below `thin` are drawn together.
constexpr double widest = 6000, narrowest = 500, usual = 24, thin = 0.25;
constexpr size_t mostTitles = 20'000, mostLines = 4'000;

/// Boxes have light colours with dark text on pages of both kinds.
constexpr const char *style =
    "text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "font-size:10px;fill:#1f2328}"
    ".title{font-size:14px;font-weight:bold}.box{text-anchor:middle}"
    ".end{text-anchor:end}.back{fill:#ffffff}.idle{fill:#f0f2f5}"
    "rect.b{stroke:#57606a;stroke-width:.4}"
    ".F{fill:#9cc8ff}.F1{fill:#cfe4ff}.I{fill:#a5e0c0}.I1{fill:#d0f1df}"
    ".W{fill:#ffd08a}.W1{fill:#ffe7c2}.B{fill:#8fd3b0}.B1{fill:#c3ead5}"
    ".S{fill:#d6b8f5}.many{fill:#b6c2cf}"
    ".kept{fill:#9cc8ff;stroke:#4a86c5;stroke-width:.8}"
    ".tick{stroke:#afb8c1;stroke-width:.5}"
    ".send{stroke:#cf5a00;stroke-width:.7;fill:none;opacity:.7}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.box{fill:#1f2328}"
    ".back{fill:#0d1117}.idle{fill:#21262d}.tick{stroke:#484f58}"
    ".send{stroke:#ffa657}}";

class Svg {
public:
  Svg(const Table &table, const Timeline &timeline,
      const PictureOptions &options)
      : table(table), timeline(timeline), options(options) {}

  std::string draw();

private:
  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values &&...values) {
    fmt::format_to(std::back_inserter(body), format,
                   std::forward<Values>(values)...);
  }
  double x(Time time) const { return margin + labels + double(time) * scale; }
  double laneOf(size_t rank) const { return top + double(rank) * (lane + gap); }
  std::string textOf(Time time) const {
    return options.unit
               ? fmt::format("{:g}", double(time) / double(options.unit))
               : toText(time);
  }
  void findScale();
  void drawHead(double width, double height);
  void drawLegend(double right);
  void drawAxis(double bottom);
  void drawRank(size_t rank);
  void drawBox(size_t rank, size_t index, const std::set<int32_t> &stages);
  void drawMany(size_t rank);
  void drawTransfers();
  void drawKept(size_t rank, double y, int64_t highest);

  const Table &table;
  const Timeline &timeline;
  const PictureOptions &options;
  std::string body;
  double scale = 1, right = 0;
  bool hasTitles = true;
  /// Boxes that are too thin for themselves: from, to, how many.
  double manyBegin = 0, manyEnd = 0;
  size_t many = 0;
};

} // namespace

/// Most actions get room for their number, if the whole is not too wide.
void Svg::findScale() {
  std::vector<Time> times;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      const Interval &time = timeline.ranks[rank][i];
      if (isCompute(table.ranks[rank][i].kind) && time.end > time.start)
        times.push_back(time.end - time.start);
    }
  hasTitles = times.size() <= mostTitles;
  const double span = double(std::max<Time>(timeline.span, 1));
  double wanted = narrowest;
  if (!times.empty()) {
    std::nth_element(times.begin(), times.begin() + long(times.size() / 4),
                     times.end());
    wanted = span / double(times[times.size() / 4]) * usual;
  }
  scale = std::clamp(wanted, narrowest, widest) / span;
  right = x(timeline.span);
}

void Svg::drawHead(double width, double height) {
  print("<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' "
        "height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}'>\n<style>{2}</style>\n"
        "<rect class='back' width='100%' height='100%'/>\n",
        width, height, style);
  print("<text class='title' x='{}' y='{}'>{}</text>\n", margin, margin + 8,
        escapeXml(options.title));
  print("<text x='{}' y='{}'>{} ranks, {} stages, {} micro-batches; time {}, "
        "idle {}</text>\n",
        margin, margin + 24, table.ranks.size(), table.countStages(),
        table.countMicroBatches(), textOf(timeline.span),
        toPercent(timeline.idle()));
}

void Svg::drawLegend(double right) {
  static constexpr struct {
    ActionKind kind;
    const char *name, *text;
  } kinds[] = {{ActionKind::Forward, "F", "F forward"},
               {ActionKind::Backward, "B", "B backward"},
               {ActionKind::InputGradient, "I", "I input gradient"},
               {ActionKind::WeightGradient, "W", "W weight gradient"},
               {ActionKind::Step, "S", "STEP update"}};
  std::set<ActionKind> used;
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions)
      used.insert(action.kind);
  double left = std::max(margin + 330, right - 470);
  for (const auto &kind : kinds) {
    if (!used.count(kind.kind))
      continue;
    print("<rect class='b {}' x='{:.1f}' y='{}' width='10' height='10'/>"
          "<text x='{:.1f}' y='{}'>{}</text>\n",
          kind.name, left, margin, left + 14, margin + 9, kind.text);
    left += 14 + letter * double(std::string(kind.text).size()) + 14;
  }
}

void Svg::drawAxis(double bottom) {
  // 1, 2 or 5 times a power of ten, some 80 points apart.
  const double unit = options.unit ? double(options.unit) : 1;
  double step = 1;
  for (int i = 0; step * unit * scale < 80; ++i)
    step *= i % 3 == 1 ? 2.5 : 2;
  const int64_t ticks = int64_t(double(timeline.span) / (step * unit));
  for (int64_t tick = 0; tick <= ticks; ++tick) {
    const Time at = Time(double(tick) * step * unit);
    const double left = x(at);
    print("<line class='tick' x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2:.1f}'/>"
          "<text x='{3:.1f}' y='{1}'>{4}</text>\n",
          left, top - 6, bottom, left + 2, textOf(at));
  }
}

void Svg::drawMany(size_t rank) {
  if (many)
    print("<rect class='many' x='{:.2f}' y='{}' width='{:.2f}' height='{}'>"
          "<title>{} actions</title></rect>\n",
          manyBegin, laneOf(rank), std::max(manyEnd - manyBegin, thin), lane,
          many);
  many = 0;
}

void Svg::drawBox(size_t rank, size_t index, const std::set<int32_t> &stages) {
  const Action &action = table.ranks[rank][index];
  Interval time = timeline.ranks[rank][index];
  // Actions that overlap in one task share its height.
  double y = laneOf(rank), height = lane;
  auto shares = [&](size_t other) {
    return other < table.ranks[rank].size() && action.overlap != kNone &&
           table.ranks[rank][other].overlap == action.overlap &&
           timeline.ranks[rank][other].start == time.start;
  };
  if (shares(index + 1) || (index && shares(index - 1))) {
    height /= 2;
    y += index && shares(index - 1) ? height : 0;
  }
  const double left = x(time.start), width = x(time.end) - left;
  if (width < thin) {
    if (!many || left - manyEnd > thin) {
      drawMany(rank);
      manyBegin = left;
    }
    manyEnd = left + width;
    ++many;
    return;
  }
  drawMany(rank);
  // Stages of a rank take turns in tone.
  const bool isAlternate =
      std::distance(stages.begin(), stages.find(action.stage)) % 2;
  const std::string name =
      action.kind == ActionKind::Step ? "S" : toText(action.kind);
  print("<rect class='b {}{}' x='{:.2f}' y='{:.1f}' width='{:.2f}' "
        "height='{:.1f}'>",
        name, isAlternate && name != "S" ? "1" : "", left, y, width, height);
  if (hasTitles)
    print("<title>rank {}, {}: {} to {}</title>", rank,
          escapeXml(toString(action)), textOf(time.start), textOf(time.end));
  body += "</rect>";
  std::string label = toString(action);
  const std::string number =
      action.kind == ActionKind::Step ? "" : std::to_string(action.microBatch);
  if (stages.size() == 1 || letter * double(label.size()) > width - 1)
    label = action.slice == kNone ? number
                                  : number + "." + std::to_string(action.slice);
  if (!label.empty() && letter * double(label.size()) <= width - 1)
    print("<text class='box' x='{:.2f}' y='{:.1f}'>{}</text>", left + width / 2,
          y + height / 2 + 3.5, escapeXml(label));
  body += "\n";
}

void Svg::drawRank(size_t rank) {
  const double y = laneOf(rank);
  print("<text x='{}' y='{}'>rank {}</text>"
        "<rect class='idle' x='{}' y='{}' width='{:.2f}' height='{}'/>"
        "<text class='end' x='{:.1f}' y='{}'>idle {}</text>\n",
        margin, y + lane / 2 + 3.5, rank, x(0), y, right - x(0), lane,
        right + shares, y + lane / 2 + 3.5,
        toPercent(timeline.idle(int32_t(rank))));
  std::set<int32_t> stages;
  for (const Action &action : table.ranks[rank])
    if (isCompute(action.kind))
      stages.insert(action.stage);
  for (size_t i = 0; i < table.ranks[rank].size(); ++i)
    if (isCompute(table.ranks[rank][i].kind) &&
        timeline.ranks[rank][i].end > timeline.ranks[rank][i].start)
      drawBox(rank, i, stages);
  drawMany(rank);
}

/// Messages without a time would hide what they connect.
void Svg::drawTransfers() {
  if (timeline.transfers.size() > mostLines)
    return;
  for (const TransferTime &transfer : timeline.transfers) {
    if (transfer.time.start == transfer.time.end)
      continue;
    const bool isDown = transfer.to > transfer.from;
    print("<line class='send' x1='{:.2f}' y1='{:.1f}' x2='{:.2f}' "
          "y2='{:.1f}'/>\n",
          x(transfer.time.start),
          laneOf(size_t(transfer.from)) + (isDown ? lane : 0),
          x(transfer.time.end),
          laneOf(size_t(transfer.to)) + (isDown ? 0 : lane));
  }
}

/// Steps, as high as the lane for the highest of all ranks.
void Svg::drawKept(size_t rank, double y, int64_t highest) {
  const std::vector<Kept> kept =
      activationsOverTime(table, timeline, int32_t(rank));
  const double high = (keptLane - 4) / double(std::max<int64_t>(highest, 1));
  std::string path = fmt::format("M{:.2f},{:.1f}", x(0), y + keptLane);
  int64_t most = 0;
  double last = x(0) - 1;
  for (const Kept &one : kept) {
    most = std::max(most, one.count);
    // What is finer than the picture is left out.
    if (x(one.time) - last < thin && &one != &kept.back())
      continue;
    last = x(one.time);
    path += fmt::format("H{:.2f}V{:.1f}", last,
                        y + keptLane - high * double(one.count));
  }
  path += fmt::format("H{:.2f}V{:.1f}Z", right, y + keptLane);
  print("<text x='{}' y='{}'>rank {}</text><path class='kept' d='{}'/>"
        "<text class='end' x='{:.1f}' y='{}'>at most {}</text>\n",
        margin, y + keptLane - 4, rank, path, right + shares, y + keptLane - 4,
        most);
}

std::string Svg::draw() {
  findScale();
  const size_t ranks = table.ranks.size();
  const double keptTop = laneOf(ranks) + 30;
  const double bottom = keptTop + double(ranks) * keptLane;
  drawHead(std::max(right + shares, 820.0) + margin, bottom + margin);
  drawLegend(std::max(right + shares, 820.0));
  drawAxis(laneOf(ranks) - gap);
  for (size_t rank = 0; rank < ranks; ++rank)
    drawRank(rank);
  drawTransfers();
  print("<text x='{}' y='{}'>activations in flight</text>\n", margin,
        keptTop - 6);
  int64_t highest = 0;
  for (size_t rank = 0; rank < ranks; ++rank)
    for (const Kept &one : activationsOverTime(table, timeline, int32_t(rank)))
      highest = std::max(highest, one.count);
  for (size_t rank = 0; rank < ranks; ++rank)
    drawKept(rank, keptTop + double(rank) * keptLane, highest);
  return body + "</svg>\n";
}

std::string mlc::simulator::drawSvg(const Table &table,
                                    const Timeline &timeline,
                                    const PictureOptions &options) {
  return Svg(table, timeline, options).draw();
}
