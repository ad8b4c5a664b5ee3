//===- SchedulePictures.cpp - Checks and pictures of mlc schedule ---------===//

#include "tools/mlc/SchedulePictures.h"
#include "simulator/timeline/Pictures.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::simulator;
using mlc::runtime::Status;
using mlc::runtime::schedule::CheckOptions;
using mlc::runtime::schedule::Promise;
using mlc::runtime::schedule::Reading;
using mlc::runtime::schedule::Table;
namespace cl = llvm::cl;

/// What a time of 1 is in traces: a microsecond.
static constexpr Time oneUnit = 1'000'000;

SchedulePictures::SchedulePictures(cl::SubCommand &sub)
    : promise("promise", cl::value_desc("name"),
              cl::desc("What versions of weights the table is checked for: "
                       "synchronous, stashing, two-versions or newest (the "
                       "schedule's own, of a file synchronous); none checks "
                       "nothing"),
              cl::sub(sub)),
      slots("slots", cl::init(0), cl::value_desc("number"),
            cl::desc("Refuse a table that keeps the activations of more "
                     "micro-batches of a stage on a rank"),
            cl::sub(sub)),
      isBuffered("buffered",
                 cl::desc("Check the table for ranks whose sends do not wait "
                          "for receives"),
                 cl::sub(sub)),
      times("times", cl::CommaSeparated, cl::value_desc("F,I,W[,STEP]"),
            cl::desc("Times of actions in pictures; B takes I + W (1,1,1,0)"),
            cl::sub(sub)),
      transferTime("transfer-time", cl::init(0), cl::value_desc("time"),
                   cl::desc("Time of a message between two ranks (0)"),
                   cl::sub(sub)),
      svg("svg", cl::value_desc("file.svg"),
          cl::desc("Draw a lane for each rank into this file"), cl::sub(sub)),
      trace("trace", cl::value_desc("file.json"),
            cl::desc("Write trace events for Perfetto or Chrome to this file; "
                     "a time of 1 is a microsecond"),
            cl::sub(sub)) {}

static llvm::Error wrongFlag(const llvm::Twine &what) {
  return fail(mlc::Exit::Usage, "schedule: " + what);
}

/// The times are multiples of a millionth, so that all sums are exact.
static llvm::Error readTime(llvm::StringRef flag, double value, Time &time) {
  if (!(value >= 0 && value <= 1e6))
    return wrongFlag(flag + ": a time is from 0 to 1000000");
  time = Time(std::llround(value * double(oneUnit)));
  // Both are the double that is nearest to the same decimal number.
  if (double(time) / double(oneUnit) != value)
    return wrongFlag(flag + ": a time is a multiple of 0.000001, not " +
                     fmt::format("{}", value));
  return llvm::Error::success();
}

llvm::Error SchedulePictures::checkFlags() {
  static constexpr llvm::StringLiteral names[] = {
      "", "synchronous", "stashing", "two-versions", "newest", "none"};
  if (!llvm::is_contained(names, promise.getValue()))
    return wrongFlag("--promise=" + promise +
                     ": there are synchronous, stashing, two-versions, newest "
                     "and none");
  if (svg == "-" || trace == "-")
    return wrongFlag("--svg and --trace write to files; name one");
  if (slots.getNumOccurrences() && slots < 1)
    return wrongFlag("--slots=" + llvm::Twine(slots) + " counts from 1");
  if (!times.empty() && (times.size() < 3 || times.size() > 4))
    return wrongFlag("--times has " + llvm::Twine(times.size()) +
                     " times; give those of F, I and W, and of STEP");
  Time *const parts[] = {&stageTimes.forward, &stageTimes.input,
                         &stageTimes.weight, &stageTimes.step};
  for (auto [i, part] : llvm::enumerate(parts)) {
    const double usual = i < 3 ? 1 : 0;
    const double value = i < times.size() ? times[unsigned(i)] : usual;
    if (llvm::Error error = readTime("--times", value, *part))
      return error;
  }
  return readTime("--transfer-time", transferTime, messageTime);
}

llvm::Error SchedulePictures::checkTable(const Table &table,
                                         CheckOptions options,
                                         llvm::StringRef name) const {
  if (promise == "none")
    return llvm::Error::success();
  if (!promise.empty()) {
    options.promise = {promise == "stashing"       ? Promise::Stashing
                       : promise == "two-versions" ? Promise::TwoVersions
                       : promise == "newest"       ? Promise::BoundedStaleness
                                                   : Promise::Synchronous};
  }
  if (slots)
    options.slots = slots;
  options.isBuffered = isBuffered;
  Status status = check(table, options);
  return status.ok() ? llvm::Error::success()
                     : fail(static_cast<Exit>(status.code),
                            name + ": " + status.message);
}

llvm::Error SchedulePictures::simulate(const Table &table,
                                       const std::vector<Reading> &reads,
                                       llvm::StringRef name) {
  TimelineOptions options;
  options.stages = {stageTimes};
  options.reads = reads;
  options.transfer = [this](int32_t, int64_t, int32_t, int32_t) {
    return messageTime;
  };
  if (sliceTime)
    options.compute = [this](const mlc::runtime::schedule::Action &action) {
      using Kind = mlc::runtime::schedule::ActionKind;
      const Time whole = action.kind == Kind::Forward ? stageTimes.forward
                         : action.kind == Kind::InputGradient ? stageTimes.input
                         : action.kind == Kind::WeightGradient
                             ? stageTimes.weight
                             : stageTimes.step;
      return action.slice < 0
                 ? whole
                 : Time(std::llround(double(whole) * sliceTime(action.slice)));
    };
  Status status = makeTimeline(table, options, timeline);
  return status.ok() ? llvm::Error::success()
                     : fail(static_cast<Exit>(status.code),
                            name + ": " + status.message);
}

std::string SchedulePictures::grid(const Table &table,
                                   llvm::StringRef title) const {
  return drawGrid(table, timeline, {title.str(), oneUnit});
}

std::vector<Output> SchedulePictures::outputs(const Table &table,
                                              const std::string &title) const {
  std::vector<Output> outputs;
  if (!svg.empty())
    outputs.push_back({svg, [&](llvm::raw_ostream &os) {
                         os << drawSvg(table, timeline, {title, oneUnit});
                         return llvm::Error::success();
                       }});
  if (!trace.empty())
    outputs.push_back({trace, [&](llvm::raw_ostream &os) {
                         os << drawTrace(table, timeline);
                         return llvm::Error::success();
                       }});
  return outputs;
}
