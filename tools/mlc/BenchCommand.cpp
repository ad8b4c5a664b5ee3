//===- BenchCommand.cpp - mlc bench ---------------------------------------===//

#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Profile.h"
#include "tools/mlc/Session.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <sys/resource.h>

using namespace mlc::cli;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

class BenchCommand : public Command {
public:
  BenchCommand()
      : Command("bench", "Measure the time and memory of one inference"),
        model(sub, "<model.onnx|model.mlca>"), inputs(sub), device(sub),
        threads("threads", cl::init(0), cl::value_desc("number"),
                cl::desc("Threads that run it (all cores)"), cl::sub(sub)),
        runs("runs", cl::init(20), cl::value_desc("number"),
             cl::desc("Timed runs (20)"), cl::sub(sub)),
        profile("profile",
                cl::desc("Also time each step: bytes, operations, and the "
                         "share of what the device can do at most"),
                cl::sub(sub)),
        roofline("roofline", cl::value_desc("target"),
                 cl::desc("The device whose rates --profile compares with "
                          "(that of the artifact's target)"),
                 cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Expected<std::vector<double>> measure(Session &session);
  llvm::Expected<std::optional<Profile>>
  profileOf(const Model &built, llvm::ArrayRef<DimSetting> sizes);
  void print(const BuiltModel &built, double compileSeconds,
             llvm::ArrayRef<double> times, const mlc_memory &memory,
             const std::optional<Profile> &steps) const;

  ModelOptions model;
  InputOptions inputs;
  DeviceOption device;
  cl::opt<unsigned> threads, runs;
  cl::opt<bool> profile;
  cl::opt<std::string> roofline;
  cl::opt<bool> asJson;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Peak resident memory of this process, in bytes.
uint64_t peakBytes() {
  struct rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

/// The quantile `share` of sorted times.
double quantile(llvm::ArrayRef<double> sorted, double share) {
  size_t index = std::ceil(share * sorted.size());
  return sorted[std::max<size_t>(index, 1) - 1];
}

} // namespace

/// Sorted times in milliseconds, after a few untimed runs.
llvm::Expected<std::vector<double>> BenchCommand::measure(Session &session) {
  for (int i = 0; i < 3; ++i)
    if (llvm::Error error = session.run())
      return std::move(error);
  std::vector<double> times;
  for (unsigned i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = session.run())
      return std::move(error);
    times.push_back(secondsSince(start) * 1e3);
  }
  llvm::sort(times);
  return times;
}

/// The steps' times, from a separate session: measuring costs time, and on a
/// GPU prevents recorded launches.
llvm::Expected<std::optional<Profile>>
BenchCommand::profileOf(const Model &built, llvm::ArrayRef<DimSetting> sizes) {
  if (!profile)
    return std::nullopt;
  auto peak = findPeak(built, roofline, device.device, threads);
  if (!peak)
    return peak.takeError();
  auto feed = makeFeed(built, sizes, inputs);
  if (!feed)
    return feed.takeError();
  auto session =
      Session::create(built, device.device, threads, MLC_SESSION_PROFILE);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(*feed)))
    return std::move(error);
  auto measured = measureSteps(built, *session, runs, std::move(*peak));
  if (!measured)
    return measured.takeError();
  return std::move(*measured);
}

llvm::Error BenchCommand::run() {
  if (runs == 0)
    return fail(Exit::Usage, "--runs 0: expected at least 1");
  if (!roofline.empty() && !profile)
    return fail(Exit::Usage, "--roofline needs --profile");
  auto sizes = parseDims(model.dims);
  if (!sizes)
    return sizes.takeError();
  auto start = std::chrono::steady_clock::now();
  auto built = openOrBuild(model);
  if (!built)
    return built.takeError();
  const double compileSeconds = built->compiled ? secondsSince(start) : 0;
  auto feed = makeFeed(built->model, *sizes, inputs);
  if (!feed)
    return feed.takeError();
  auto session = Session::create(built->model, device.device, threads);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(*feed)))
    return error;
  auto times = measure(*session);
  if (!times)
    return times.takeError();
  auto memory = session->memory();
  if (!memory)
    return memory.takeError();
  auto steps = profileOf(built->model, *sizes);
  if (!steps)
    return steps.takeError();
  print(*built, compileSeconds, *times, *memory, *steps);
  return llvm::Error::success();
}

void BenchCommand::print(const BuiltModel &built, double compileSeconds,
                         llvm::ArrayRef<double> times, const mlc_memory &memory,
                         const std::optional<Profile> &steps) const {
  std::vector<double> all = times.vec();
  const double middle = mlc::runtime::median(all), low = times.front(),
               high = quantile(times, 0.95);
  if (asJson) {
    json::Object object{{"median_ms", middle},
                        {"min_ms", low},
                        {"p95_ms", high},
                        {"compile_s", compileSeconds},
                        {"peak_bytes", peakBytes()},
                        {"arena_bytes", memory.arena_bytes},
                        {"arena_lower_bound_bytes", memory.lower_bound_bytes},
                        {"runs", runs.getValue()}};
    if (steps)
      object["profile"] = steps->toJson();
    llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(object)))
                 << '\n';
    return;
  }
  llvm::outs() << llvm::format("inference  median %.3f ms, min %.3f ms, p95 "
                               "%.3f ms (%u runs)\n",
                               middle, low, high, runs.getValue());
  if (built.compiled)
    llvm::outs() << llvm::format("compile    %.2f s\n", compileSeconds);
  llvm::outs() << llvm::format("memory     peak %.1f MB, arena %.2f MB, lower "
                               "bound %.2f MB\n",
                               peakBytes() / 1048576.0,
                               memory.arena_bytes / 1048576.0,
                               memory.lower_bound_bytes / 1048576.0);
  if (steps)
    steps->print(llvm::outs());
}

std::unique_ptr<Command> mlc::cli::makeBenchCommand() {
  return std::make_unique<BenchCommand>();
}
