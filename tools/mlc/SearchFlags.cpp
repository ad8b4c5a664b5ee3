//===- SearchFlags.cpp - How rewrites are searched ------------------------===//

#include "tools/mlc/SearchFlags.h"
#include "runtime/Text.h"
#include "tools/CommandLine.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;
namespace json = llvm::json;

SearchFlags::SearchFlags(cl::SubCommand &sub)
    : search("search", cl::init(SearchOptions().engine),
             cl::desc("How rewrites are searched"),
             cl::values(clEnumValN(SearchEngine::EGraph, "egraph",
                                   "all ways at once, then the cheapest"),
                        clEnumValN(SearchEngine::Greedy, "greedy",
                                   "whatever pays, where it pays"),
                        clEnumValN(SearchEngine::Backtracking, "backtracking",
                                   "a queue of whole graphs, as TASO has")),
             cl::sub(sub)),
      steps("search-steps", cl::init(SearchOptions().steps),
            cl::value_desc("times"),
            cl::desc("How many times the usual steps a search for rewrites "
                     "may take: 0.1 for a tenth (1)"),
            cl::sub(sub)),
      timeLimit("time-limit", cl::init(0), cl::value_desc("seconds"),
                cl::desc("End with code 9, and write nothing, when the search "
                         "for rewrites takes longer (never)"),
                cl::sub(sub)),
      fp("fp", cl::init(SearchOptions().fp),
         cl::desc("Which rewrites of floats are taken (fast)"),
         cl::values(
             clEnumValN(
                 FpMode::Strict, "strict",
                 "those that are proved to keep every bit; kernels round "
                 "16-bit floats wherever the model does"),
             clEnumValN(
                 FpMode::Reassociate, "reassociate",
                 "those that only add and multiply in another order, too"),
             clEnumValN(FpMode::Fast, "fast",
                        "all that are proved for finite real numbers")),
         cl::sub(sub)),
      assumed("assume", cl::value_desc("name=N"),
              cl::desc("Predict, and choose rewrites, for this size of an open "
                       "dim (64)"),
              cl::sub(sub)) {}

llvm::Expected<SearchOptions> SearchFlags::options() const {
  if (timeLimit.getNumOccurrences() != 0)
    if (std::string wrong = checkSeconds("--time-limit", timeLimit);
        !wrong.empty())
      return fail(Exit::Usage, wrong);
  if (!(steps > 0) || !std::isfinite(steps))
    return fail(Exit::Usage, "--search-steps: expected a number above 0");
  SearchOptions options;
  options.engine = search;
  options.steps = steps;
  options.fp = fp;
  return options;
}

std::unique_ptr<Deadline> SearchFlags::startLimit() const {
  if (timeLimit.getNumOccurrences() == 0)
    return nullptr;
  return std::make_unique<Deadline>(
      "--time-limit", timeLimit,
      search == SearchEngine::Greedy
          ? "nothing was written; give the search more time"
          : "nothing was written; give the search more time, fewer "
            "--search-steps, or --search=greedy");
}

llvm::Expected<std::vector<DimSetting>> SearchFlags::assumedSizes() const {
  auto sizes = parseDims(assumed, "--assume");
  if (!sizes)
    return sizes;
  for (const DimSetting &size : *sizes)
    if (!size.value)
      return fail(Exit::Usage,
                  "--assume " + size.name + "=any: expected a number");
  return sizes;
}

std::vector<std::string> SearchFlags::texts() const {
  std::vector<std::string> texts;
  SearchOptions defaults;
  if (search != defaults.engine)
    texts.push_back("--search=" + name(search).str());
  // The time limit does not affect the output.
  if (steps != defaults.steps)
    texts.push_back(fmt::format("--search-steps={}", steps.getValue()));
  if (fp != defaults.fp)
    texts.push_back(fp == FpMode::Strict ? "--fp=strict" : "--fp=reassociate");
  for (const std::string &size : assumed)
    texts.push_back("--assume=" + size);
  return texts;
}

json::Object mlc::cli::toJson(const SearchReport &report) {
  json::Array steps;
  for (const TrailStep &step : report.trail.steps)
    steps.push_back(json::Object{{"rule", step.rule},
                                 {"places", json::Array(step.places)},
                                 {"bindings", step.bindings()},
                                 {"predicted_gain_seconds", step.gainSeconds}});
  json::Object sizes;
  for (const auto &[name, size] : report.assumedSizes)
    sizes[name] = size;
  auto orNull = [](std::optional<double> value) {
    return value ? json::Value(*value) : json::Value(nullptr);
  };
  return json::Object{
      {"search", name(report.engine)},
      {"predicted_seconds_before", report.secondsBefore},
      {"predicted_seconds_after", report.secondsAfter},
      {"assumed_sizes", std::move(sizes)},
      {"lower_bound_seconds", orNull(report.lowerBound)},
      {"gap", orNull(report.gap())},
      {"optimal", report.isOptimal},
      {"rewrites_found", int64_t(report.numFound)},
      {"stop_reason", report.stopReason},
      {"search_steps", static_cast<int64_t>(report.searchSteps)},
      {"seconds", report.seconds},
      {"saturation_seconds", report.saturationSeconds},
      {"extraction_seconds", report.extractionSeconds},
      {"iterations", static_cast<int64_t>(report.iterations)},
      {"nodes", static_cast<int64_t>(report.nodes)},
      {"classes", static_cast<int64_t>(report.classes)},
      {"steps", std::move(steps)}};
}

static void printText(const SearchReport &report) {
  llvm::raw_ostream &os = llvm::outs();
  os << llvm::format("predicted: %.3f ms, before %.3f ms",
                     report.secondsAfter * 1e3, report.secondsBefore * 1e3);
  llvm::StringRef separator = " (with ";
  for (const auto &[name, size] : report.assumedSizes) {
    os << separator << runtime::printable(name) << " = " << size;
    separator = ", ";
  }
  os << (report.assumedSizes.empty() ? "\n" : ")\n");
  if (std::optional<double> gap = report.gap())
    os << llvm::format("lower bound: %.3f ms, gap %.2f %%",
                       *report.lowerBound * 1e3, *gap * 100)
       << (report.isOptimal ? " (optimal" : " (not shown to be optimal")
       << " among " << report.numFound << " rewrites found)\n";
  os << llvm::format("search: %.2f s, ", report.seconds) << report.stopReason
     << ", " << report.trail.steps.size() << " steps\n";
}

void mlc::cli::show(const std::optional<SearchReport> &report, bool asJson) {
  if (asJson) {
    json::Object object = report ? toJson(*report) : json::Object();
    llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(object)))
                 << '\n';
  } else if (report) {
    printText(*report);
  }
}
