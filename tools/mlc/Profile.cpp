//===- Profile.cpp - Measuring the steps of an artifact -------------------===//

#include "tools/mlc/Profile.h"
#include "runtime/Cpu.h"
#include "tools/mlc/Build.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc;
using namespace mlc::cli;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Rates of a device
//===----------------------------------------------------------------------===//

/// Rates of `scale` cores, for contractions of float32 as tf32 where `isTF32`.
static runtime::Roofline rooflineOf(const CostParameters &cost, double scale,
                                    bool isTF32) {
  runtime::Roofline roofline;
  for (const MemoryLevel &level : cost.memory)
    roofline.levels.push_back({level.bytes, level.bytesPerSecond * scale});
  roofline.contractionsPerSecond =
      (isTF32 ? cost.contractionFlopsPerSecond : cost.scalarFlopsPerSecond) *
      scale;
  roofline.scalarsPerSecond = cost.scalarFlopsPerSecond * scale;
  return roofline;
}

llvm::Expected<Peak> mlc::cli::findPeak(const Model &model,
                                        llvm::StringRef wanted,
                                        llvm::StringRef device,
                                        unsigned threads) {
  if (!wanted.empty())
    if (auto target = parseTargetOption(wanted.str()); !target)
      return target.takeError();
  if (device.starts_with("emulator"))
    return Peak{
        "no share of a peak: the emulator's times say nothing of a GPU, but "
        "MLC_EMULATOR_COUNTERS=FILE counts what accesses cost",
        std::nullopt};
  auto manifest = model.manifest();
  if (!manifest)
    return manifest.takeError();
  const json::Object *object = manifest->getAsObject();
  auto entry = [&](llvm::StringRef key) {
    return object ? object->getString(key).value_or("") : llvm::StringRef();
  };
  std::string name = wanted.str();
  if (name.empty()) {
    name = entry("target").str();
    // An artifact must not decide which files are read.
    auto known = isTargetFile(name) ? llvm::createStringError("")
                                    : parseTarget(name).takeError();
    bool isKnown = !known;
    llvm::consumeError(std::move(known));
    if (!isKnown)
      return Peak{"no share of a peak: the artifact's target is not one that "
                  "is known here; name one by --roofline",
                  std::nullopt};
  }
  auto target = parseTargetOption(name);
  if (!target)
    return target.takeError();
  // A CPU's rates are per core.
  bool isCpu = target->hasCode() && !target->isCuda();
  unsigned cores = !isCpu ? 1 : threads ? threads : runtime::usableCores();
  std::string text = "peak: " + target->description;
  if (isCpu)
    text += ", times " + std::to_string(cores);
  bool isTF32 = isCpu || entry("precision") != "ieee";
  if (!isCpu)
    text += std::string(", contractions of float32") +
            (isTF32 ? " with tf32 allowed" : "") +
            "; no share for those of other types";
  return Peak{text, rooflineOf(target->cost, cores, isTF32), !isCpu};
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Skeletons by the kernel's symbol, from the manifest.
static llvm::StringMap<std::string> skeletonsOf(const json::Value &manifest) {
  llvm::StringMap<std::string> skeletons;
  const json::Object *object = manifest.getAsObject();
  const json::Array *kernels = object ? object->getArray("kernels") : nullptr;
  if (!kernels)
    return skeletons;
  for (const json::Value &value : *kernels)
    if (const json::Object *kernel = value.getAsObject())
      skeletons[kernel->getString("symbol").value_or("")] =
          kernel->getString("skeleton").value_or("").str();
  return skeletons;
}

llvm::Expected<Profile> mlc::cli::measureSteps(const Model &model,
                                               Session &session, unsigned runs,
                                               Peak peak) {
  auto manifest = model.manifest();
  if (!manifest)
    return manifest.takeError();
  llvm::StringMap<std::string> skeletons = skeletonsOf(*manifest);
  const size_t count = mlc_artifact_step_count(model.get());
  std::vector<std::vector<double>> times(count);
  // A few untimed runs come first.
  constexpr unsigned warmups = 3;
  for (unsigned run = 0; run < warmups + runs; ++run) {
    if (llvm::Error error = session.run())
      return std::move(error);
    for (size_t s = 0; run >= warmups && s < count; ++s) {
      uint64_t ns = 0;
      if (mlc_status status = mlc_session_step_ns(session.get(), s, &ns))
        return runtimeFailure(model.name(), status);
      times[s].push_back(double(ns));
    }
  }
  Profile profile{std::move(peak), {}};
  for (size_t s = 0; s < count; ++s) {
    mlc_step step;
    if (mlc_status status = mlc_artifact_step(model.get(), s, &step))
      return runtimeFailure(model.name(), status);
    runtime::ProfiledStep &found = profile.steps.emplace_back();
    found.name = step.name;
    found.nodes.assign(step.nodes, step.nodes + step.node_count);
    // "kernel SYMBOL, tasks ..."
    llvm::StringRef text = step.text;
    if (text.consume_front("kernel "))
      found.skeleton = skeletons.lookup(text.split(',').first);
    found.ns = runtime::median(times[s]);
    // A count that overflows stays unknown.
    (void)mlc_session_step_cost(session.get(), s, &found.cost);
    found.hasPeak = !profile.peak.isFloat32Only ||
                    found.cost.contraction_operations == 0 ||
                    runtime::readsOnly(model.get(), s, MLC_F32);
  }
  finishProfile(profile.steps,
                profile.peak.roofline ? &*profile.peak.roofline : nullptr);
  return profile;
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

void Profile::print(llvm::raw_ostream &os) const {
  os << runtime::profileTable(steps) << peak.text << '\n';
}

static json::Object toJson(const runtime::ProfiledStep &step) {
  json::Object object{
      {"ns", step.ns},
      {"bytes_read", step.cost.bytes_read},
      {"bytes_written", step.cost.bytes_written},
      {"operations", step.cost.operations},
      {"contraction_operations", step.cost.contraction_operations}};
  if (step.share >= 0)
    object["share_of_peak"] = step.share;
  return object;
}

json::Object Profile::toJson() const {
  json::Array list;
  for (const runtime::ProfiledStep &step : steps) {
    json::Object object = ::toJson(step);
    object["name"] = json::fixUTF8(step.name);
    object["skeleton"] = json::fixUTF8(step.skeleton);
    json::Array nodes;
    for (const std::string &node : step.nodes)
      nodes.push_back(json::fixUTF8(node));
    object["nodes"] = std::move(nodes);
    list.push_back(std::move(object));
  }
  return json::Object{{"peak", json::fixUTF8(peak.text)},
                      {"steps", std::move(list)},
                      {"total", ::toJson(runtime::totalOf(steps))}};
}
