//===- Target.cpp - The table of targets
//------------------------------------===//

#include "codegen/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace mlc {

ArrayRef<StringRef> knownTargets() {
  static const StringRef names[] = {"cpu", "cpu:x86-64-v3", "cpu:x86-64-v4"};
  return names;
}

static Target avx2() {
  Target target;
  target.name = "cpu:x86-64-v3";
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = "x86-64-v3";
  target.vectorBits = 256;
  target.vectorRegisters = 16;
  target.l1Bytes = 32 << 10;
  target.l2Bytes = 512 << 10;
  target.l3Bytes = 16 << 20;
  target.flopsPerCycle = 32;
  target.gigahertz = 3.0;
  target.memoryBandwidth = 12;
  target.cacheBandwidth = 80;
  target.launchNanoseconds = 50;
  return target;
}

static Target avx512() {
  Target target = avx2();
  target.name = "cpu:x86-64-v4";
  target.cpu = "x86-64-v4";
  target.vectorBits = 512;
  target.vectorRegisters = 32;
  target.hasMaskRegisters = true;
  target.l2Bytes = 1 << 20;
  target.l3Bytes = 32 << 20;
  target.flopsPerCycle = 64;
  target.gigahertz = 2.6;
  target.cacheBandwidth = 120;
  return target;
}

static bool hasAll(const StringMap<bool> &features,
                   ArrayRef<StringRef> required) {
  return all_of(required,
                [&](StringRef name) { return features.lookup(name); });
}

static Expected<Target> hostTarget() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  if (!hasAll(features, {"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe",
                         "popcnt"}))
    return createStringError(
        "this machine has no AVX2 and FMA, which generated code needs; "
        "cross-compile with --target=cpu:x86-64-v3");
  if (hasAll(features,
             {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return avx512();
  return avx2();
}

Expected<Target> parseTarget(StringRef name) {
  if (name == "cpu")
    return hostTarget();
  if (name == "cpu:x86-64-v3")
    return avx2();
  if (name == "cpu:x86-64-v4")
    return avx512();
  return createStringError("unknown target '" + name +
                           "'; known targets: " + join(knownTargets(), ", "));
}

} // namespace mlc
