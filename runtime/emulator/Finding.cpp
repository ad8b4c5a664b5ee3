//===- Finding.cpp - What is wrong with a kernel, as text -----------------===//

#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Symbols.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <set>

namespace mlc::emulator {

namespace {

struct Report {
  std::mutex mutex;
  std::string text, given;
};
Report report;

const char *titleOf(Problem problem) {
  switch (problem) {
  case Problem::Race:
    return "race: no barrier between two accesses";
  case Problem::Unwritten:
    return "read of bytes that nobody wrote";
  case Problem::UnwaitedCopy:
    return "use of bytes that an asynchronous copy, not waited for, writes";
  case Problem::OutOfBounds:
    return "access out of bounds";
  case Problem::Misaligned:
    return "misaligned access";
  case Problem::Divergence:
    return "divergent barrier: not all threads reach it";
  case Problem::Division:
    return "division of an integer by zero";
  case Problem::AbsentLane:
    return "lanes that do not exist";
  case Problem::Misuse:
    return "misuse of an instruction";
  case Problem::Deadlock:
    return "deadlock";
  case Problem::Unfenced:
    return "no fenceAsyncProxy() between a write and asynchronous work";
  case Problem::Unfinished:
    return "asynchronous work that the block did not wait for";
  case Problem::Registers:
    return "use of registers of a product that was not waited for";
  }
  return "";
}

/// Texts of the places of findings.
class Places {
public:
  Places(const Launch &launch, const std::vector<Finding> &findings)
      : launch(launch) {
    std::set<uint32_t> places;
    for (const Finding &finding : findings)
      for (uint32_t place : {finding.self.at, finding.other.at})
        if (place)
          places.insert(place);
    lines = findLines(launch.modulePath, places);
  }

  std::string operator()(uint32_t place) const {
    const SourceLine &line = lines.find(place)->second;
    if (line.path.empty())
      return launch.modulePath + "+" + offsetOf(place) +
             " (install llvm-symbolizer or addr2line to see the line)";
    return line.path + ":" + std::to_string(line.number) + ": " + line.text;
  }

private:
  const Launch &launch;
  std::map<uint32_t, SourceLine> lines;
};

void append(std::string &text, const Side &side, const Launch &launch,
            const Places &lines) {
  Index block = launch.block;
  unsigned x = side.thread % block.x, y = side.thread / block.x % block.y,
           z = side.thread / block.x / block.y;
  text += "  thread " + std::to_string(x);
  if (block.y > 1 || block.z > 1)
    text += "," + std::to_string(y) + "," + std::to_string(z);
  text += " of block " + std::to_string(side.block) + " " + side.does;
  if (side.bytes)
    text += " " + std::to_string(side.bytes) +
            (side.bytes == 1 ? " byte" : " bytes");
  text += "\n";
  if (side.at)
    text += "    " + lines(side.at) + "\n";
}

} // namespace

int errorOf(Problem problem) {
  switch (problem) {
  case Problem::OutOfBounds:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case Problem::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  default:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}

std::string describe(const Launch &launch,
                     const std::vector<Finding> &findings) {
  Places lines(launch, findings);
  std::string text;
  for (const Finding &finding : findings) {
    text +=
        "mlc emulator: kernel " + launch.name + ": " + titleOf(finding.problem);
    if (!finding.what.empty())
      text += ": " + finding.what;
    text += "\n";
    append(text, finding.self, launch, lines);
    if (finding.other.does)
      append(text, finding.other, launch, lines);
  }
  return text;
}

void addToReport(const std::string &text) {
  std::fputs(text.c_str(), stderr);
  std::lock_guard<std::mutex> lock(report.mutex);
  report.text += text;
}

} // namespace mlc::emulator

using namespace mlc::emulator;

const char *mlcEmulatorReport() {
  std::lock_guard<std::mutex> lock(report.mutex);
  report.given = report.text;
  return report.given.c_str();
}

void mlcEmulatorClearReport() {
  std::lock_guard<std::mutex> lock(report.mutex);
  report.text.clear();
}
