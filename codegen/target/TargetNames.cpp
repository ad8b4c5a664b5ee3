//===- TargetNames.cpp - Targets by name ----------------------------------===//

#include "codegen/target/Target.h"
#include "codegen/target/TargetFile.h"
#include "runtime/FileBytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace mlc {

ArrayRef<StringRef> knownTargets() {
  static const StringRef names[] = {
      "cpu",         "cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_75",
      "cuda:sm_80",  "cuda:sm_86",    "cuda:sm_89",    "cuda:sm_90",
      "cuda:sm_90a", "cuda:sm_100",   "cuda:sm_120",   "gpu:k80",
      "gpu:p100",    "gpu:v100",      "gpu:a100",      "gpu:h100",
      "gpu:h200"};
  return names;
}

bool isTargetFile(StringRef name) { return name.ends_with(".json"); }

static bool hasAll(const StringMap<bool> &features,
                   ArrayRef<StringRef> required) {
  return all_of(required,
                [&](StringRef name) { return features.lookup(name); });
}

static Expected<StringRef> hostLevel() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  if (!hasAll(features, {"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe",
                         "popcnt"}))
    return createStringError(
        "this machine has no AVX2 and FMA, which generated code needs; "
        "cross-compile for target cpu:x86-64-v3");
  if (hasAll(features,
             {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return StringRef("cpu:x86-64-v4");
  return StringRef("cpu:x86-64-v3");
}

static Expected<Target> readFile(StringRef name) {
  runtime::FileBytes bytes;
  runtime::Status status =
      runtime::FileBytes::read(name.str().c_str(), runtime::maxTextFile, bytes);
  if (!status.ok())
    return createStringError(name + ": " + status.message +
                             "; give a target file (mlc calibrate writes one)");
  Expected<Target> target = readTarget(bytes.text());
  if (!target)
    return createStringError(name + ": " + toString(target.takeError()));
  target->file = name.str();
  return target;
}

/// The device whose costs represent a CUDA architecture; empty if it is
/// unknown.
static StringRef costsOf(StringRef arch) {
  return StringSwitch<StringRef>(arch)
      .Case("sm_75", "gpu:v100")
      .Cases({"sm_80", "sm_86", "sm_89"}, "gpu:a100")
      .Cases({"sm_90", "sm_90a"}, "gpu:h100")
      .Cases({"sm_100", "sm_120"}, "gpu:h200")
      .Default("");
}

static Expected<Target> parseCudaTarget(StringRef arch) {
  Expected<Target> target = parseTarget(costsOf(arch));
  if (!target)
    return target;
  target->name = ("cuda:" + arch).str();
  target->triple = Target::cudaTriple;
  target->cpu = arch.str();
  return target;
}

Expected<Target> parseTarget(StringRef name) {
  if (isTargetFile(name))
    return readFile(name);
  if (StringRef arch = name;
      arch.consume_front("cuda:") && !costsOf(arch).empty())
    return parseCudaTarget(arch);
  if (name == "cpu") {
    Expected<StringRef> level = hostLevel();
    if (!level)
      return level.takeError();
    name = *level;
  }
  for (const EmbeddedTargetFile &file : embeddedTargetFiles()) {
    Expected<Target> target = readTarget(file.text);
    if (!target)
      return createStringError(Twine(file.name) + ": " +
                               toString(target.takeError()));
    if (target->name == name)
      return target;
  }
  return createStringError("unknown target '" + name +
                           "'; known targets: " + join(knownTargets(), ", ") +
                           ", or a target file (.json)");
}

} // namespace mlc
