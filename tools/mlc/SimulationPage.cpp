//===- SimulationPage.cpp - A simulated step as HTML ----------------------===//

#include "runtime/schedule/Check.h"
#include "simulator/timeline/Pictures.h"
#include "simulator/timeline/Waits.h"
#include "simulator/timeline/Xml.h"
#include "tools/mlc/Simulation.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
namespace schedule = mlc::runtime::schedule;

namespace {

constexpr const char *pageStyle =
    "body{font-family:system-ui,sans-serif;margin:2em;max-width:1200px}"
    "table{border-collapse:collapse;margin:.6em 0}"
    "td,th{padding:.2em .8em;border-bottom:1px solid #afb8c1;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
    ".wide{overflow-x:auto}.note{color:#57606a}"
    ".allocated{fill:none;stroke:#cf5a00}.used{fill:#9cc8ff;stroke:#4a86c5}"
    ".limit{stroke:#cf222e;stroke-dasharray:4 3}"
    "@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}"
    ".note{color:#9198a1}}";

class Page {
public:
  explicit Page(const Simulation &result) : result(result) {}
  std::string draw();

private:
  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values &&...values) {
    fmt::format_to(std::back_inserter(body), format,
                   std::forward<Values>(values)...);
  }
  void drawSummary();
  void drawStages();
  void drawEntries();
  void drawRank(size_t rank);
  void drawHeld(size_t rank);
  void drawMemory(size_t rank);
  void drawSent(size_t rank);
  void drawWaits(size_t rank);
  std::string stagesOf(size_t rank) const;
  std::string ranksOf(int64_t stage) const;

  const Simulation &result;
  std::string body;
};

std::string bytesText(int64_t bytes) {
  return bytes < 10'000 ? fmt::format("{} B", bytes)
                        : fmt::format("{:.2f} MB", double(bytes) / (1 << 20));
}

} // namespace

std::string Page::stagesOf(size_t rank) const {
  std::string text;
  for (int64_t stage : result.stagesOf(rank))
    text += (text.empty() ? "" : ", ") + std::to_string(stage);
  return text;
}

std::string Page::ranksOf(int64_t stage) const {
  std::string text;
  for (size_t rank = 0; rank < result.table.ranks.size(); ++rank)
    if (llvm::is_contained(result.stagesOf(rank), stage))
      text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

void Page::drawSummary() {
  print("<p>A step of {} micro-batches takes {} on {} ranks of {}, which are "
        "idle for {} of the time. ",
        result.table.countMicroBatches(), toText(result.timeline.span),
        result.table.ranks.size() * result.copies,
        escapeXml(result.cluster.name), toPercent(result.timeline.idle()));
  if (result.copies > 1)
    print("{} ranks share each part of the work; one of them is shown.</p>\n",
          result.copies);
  else
    print("On one rank the same work takes {}.</p>\n",
          toText(result.onOneRank()));
  print("<p class='note'>Memory is {}. Times are predicted.</p>\n",
        result.isCompiled ? "what the entries allocate, to the byte"
                          : "estimated for intermediate results, and to the "
                            "byte for the rest");
}

void Page::drawStages() {
  print("<h2>Stages</h2>\n<table><tr><th>stage</th><th>until</th><th>ranks</th>"
        "<th>forward</th><th>backward</th><th>update</th><th>states</th>"
        "<th>carried for a micro-batch</th></tr>\n");
  for (auto [i, times] : llvm::enumerate(result.stages)) {
    const auto stage = static_cast<int64_t>(i);
    int64_t states = 0, carried = 0;
    for (const StepMemory::State &state : result.step.states)
      if (llvm::any_of(state.users, [&](const StageEntry &user) {
            return user.stage == stage;
          }))
        states += state.bytes;
    for (const StepMemory::Value &value : result.step.values)
      if (value.source.stage == stage && !value.source.isUpdate())
        carried += value.bytes;
    const std::string until = i < result.plan.training->stages.ends.size()
                                  ? result.plan.training->stages.ends[i]
                                  : std::string("");
    print("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}"
          "</td><td>{}</td><td>{}</td></tr>\n",
          stage, escapeXml(until), ranksOf(stage), toText(times.forward),
          toText(times.input + times.weight), toText(times.step),
          bytesText(states), bytesText(carried));
  }
  print("</table>\n");
}

void Page::drawEntries() {
  print("<h2>Entries</h2>\n<p>Each has memory for its intermediate results, "
        "which it uses again for all micro-batches.</p>\n<table><tr><th>entry"
        "</th><th>arena</th><th>scratch</th></tr>\n");
  for (const StepMemory::Entry &entry : result.step.entries)
    print("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", entry.entry.name(),
          bytesText(entry.arena), bytesText(entry.scratch));
  print("</table>\n");
}

void Page::drawHeld(size_t rank) {
  const MemoryParts &parts = result.memory[rank].parts();
  const RankMemory::Point &peak = result.memory[rank].peak();
  const int64_t kept = schedule::activationsInFlight(result.table)[rank];
  print("<p>It holds {} in all. At most {} are in use at one time, in {}.</p>\n"
        "<table><tr><th>held</th><th>bytes</th><th>why</th></tr>\n",
        bytesText(parts.total()), bytesText(peak.inUse),
        peak.action.empty() ? "the beginning" : peak.action);
  const std::string stages = stagesOf(rank);
  auto row = [&](const char *what, int64_t bytes, const std::string &why) {
    if (bytes)
      print("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", what, bytes, why);
  };
  row("states", parts.states,
      "weights, moments and sums of gradients of its stages " + stages);
  row("arenas", parts.arenas, "intermediate results, one arena for each entry");
  row("carried", parts.carried,
      fmt::format("results that wait for other entries, of at most {} "
                  "micro-batches, and messages",
                  kept));
  row("sums", parts.sums, "gradients of other ranks that have the same stage");
  row("samples", parts.samples, "the inputs of a micro-batch");
  row("scratch", parts.scratch, "of the threads");
  print("</table>\n");
}

/// Bytes over time: allocated as a line, in use as an area.
void Page::drawMemory(size_t rank) {
  constexpr double width = 900, height = 110;
  const RankMemory &memory = result.memory[rank];
  const double capacity = result.deviceOf(rank).memoryBytes.value;
  const bool isNear = capacity > 0 && capacity < 2.0 * memory.parts().total();
  const double highest = std::max<double>(
      1, isNear ? std::max(capacity, double(memory.parts().total()))
                : double(memory.parts().total()));
  auto x = [&](Time time) {
    return width * double(time) /
           double(std::max<Time>(result.timeline.span, 1));
  };
  auto y = [&](double bytes) { return height * (1 - bytes / highest); };
  std::string allocated, used = fmt::format("M0,{}", height);
  for (const RankMemory::Point &point : memory.points) {
    const double at = x(result.timeOf(rank, point));
    allocated += fmt::format("{}{:.1f}V{:.1f}", allocated.empty() ? "M" : "H",
                             at, y(double(point.allocated.total())));
    used += fmt::format("H{:.1f}V{:.1f}", at, y(double(point.inUse)));
  }
  // A path begins with a point.
  allocated.replace(0, allocated.find('V') + 1, "M0,");
  print("<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' "
        "viewBox='-1 -2 {2} {3}' role='img'><title>memory of rank {4} over "
        "time</title><path class='used' d='{5}H{0}V{1}Z'/><path "
        "class='allocated' d='{6}H{0}'/>",
        width, height + 4, width + 2, height + 4, rank, used, allocated);
  if (isNear)
    print("<line class='limit' x1='0' x2='{}' y1='{:.1f}' y2='{:.1f}'/>", width,
          y(capacity), y(capacity));
  print("</svg>\n<p class='note'>Line: allocated in the first step. Area: in "
        "use.{}</p>\n",
        isNear ? " Dashed: what the device has." : "");
}

void Page::drawSent(size_t rank) {
  struct Sum {
    int64_t messages = 0, bytes = 0;
    Time time = 0;
  };
  std::map<std::pair<int32_t, bool>, Sum> sums;
  for (const TransferTime &message : result.timeline.transfers)
    if (message.from == int32_t(rank)) {
      Sum &sum = sums[{message.to, message.isForward}];
      ++sum.messages;
      sum.bytes += message.bytes;
      sum.time += message.time.end - message.time.start;
    }
  print("<p>It sends {} bytes for a step, with what updates tell each other."
        "</p>\n",
        result.sent[rank]);
  if (sums.empty())
    return;
  print("<table><tr><th>sent</th><th>messages</th><th>bytes</th><th>on the link"
        "</th></tr>\n");
  for (const auto &[way, sum] : sums)
    print("<tr><td>{} to rank {}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          way.second ? "results" : "gradients", way.first, sum.messages,
          sum.bytes, toText(sum.time));
  print("</table>\n");
}

void Page::drawWaits(size_t rank) {
  constexpr size_t most = 12;
  std::vector<Wait> waits =
      findWaits(result.table, result.timeline, int32_t(rank));
  Time all = 0;
  for (const Wait &wait : waits)
    all += wait.time.end - wait.time.start;
  print("<p>It computes for {} and waits for {}, {} of the step.</p>\n",
        toText(result.timeline.busy[rank]), toText(all),
        toPercent(result.timeline.idle(int32_t(rank))));
  std::stable_sort(
      waits.begin(), waits.end(), [](const Wait &a, const Wait &b) {
        return a.time.end - a.time.start > b.time.end - b.time.start;
      });
  print("<ol>\n");
  for (size_t i = 0; i < std::min(most, waits.size()); ++i)
    print("<li>{}</li>\n",
          escapeXml(simulator::describe(waits[i], result.table, result.timeline,
                                        int32_t(rank))));
  print("</ol>\n");
  if (waits.size() > most)
    print("<p class='note'>{} shorter waits are left out.</p>\n",
          waits.size() - most);
}

void Page::drawRank(size_t rank) {
  print("<h2>Rank {}</h2>\n<p>Stages {} on a {}.</p>\n",
        result.worldRanks[rank], stagesOf(rank),
        escapeXml(result.deviceOf(rank).name));
  drawHeld(rank);
  drawMemory(rank);
  drawSent(rank);
  drawWaits(rank);
}

std::string Page::draw() {
  const std::string title =
      escapeXml(result.model + " on " + result.cluster.name);
  print(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{0}"
      "</title>\n<style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      title, pageStyle);
  drawSummary();
  print("<div class='wide'>\n{}</div>\n",
        drawSvg(result.table, result.timeline, {"", 0}));
  drawStages();
  drawEntries();
  // Pages of hundreds of ranks are for machines: those have --json.
  constexpr size_t most = 64;
  const size_t ranks = result.table.ranks.size();
  for (size_t rank = 0; rank < std::min(most, ranks); ++rank)
    drawRank(rank);
  if (ranks > most)
    print("<p class='note'>{} more ranks are left out; mlc simulate --json has "
          "all.</p>\n",
          ranks - most);
  return std::move(body) + "</body></html>\n";
}

std::string mlc::cli::drawPage(const Simulation &result) {
  return Page(result).draw();
}
