//===- Finding.cpp - What is wrong with a kernel, as text -----------------===//

#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Process.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

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
  }
  return "";
}

/// The `number`th line of a file, without blanks around; empty if none.
std::string lineOf(const std::string &path, unsigned long number) {
  std::ifstream file(path);
  std::string line;
  while (number && std::getline(file, line))
    --number;
  if (number)
    return "";
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos)
    return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// "FILE:12:3" of the innermost frame that is the kernel's own text, not the
/// device header's. The tool prints two lines for each frame.
std::string ownFrame(const std::string &frames) {
  std::istringstream stream(frames);
  std::string function, where, result;
  while (std::getline(stream, function) && std::getline(stream, where)) {
    if (where.rfind("??", 0) == 0)
      break;
    result = where;
    if (where.find("mlc_device.cuh:") == std::string::npos)
      break;
  }
  return result;
}

class Symbolizer {
public:
  explicit Symbolizer(const Launch &launch) : launch(launch) {
    tool = findProgram({"llvm-symbolizer-22", "llvm-symbolizer", "addr2line"});
  }

  std::string operator()(uint32_t place) {
    auto [found, isNew] = known.try_emplace(place);
    if (isNew)
      found->second = find(place);
    return found->second;
  }

private:
  std::string find(uint32_t place) const {
    char offset[32];
    // The place is where the call returns to, the next instruction.
    std::snprintf(offset, sizeof(offset), "0x%x", place - 1);
    std::string plain =
        launch.modulePath + "+" + std::string(offset) +
        " (install llvm-symbolizer or addr2line to see the source's line)";
    if (tool.empty())
      return plain;
    bool isBinutils = tool.find("addr2line") != std::string::npos;
    std::string output;
    std::vector<std::string> command = {
        tool, isBinutils ? "-fie" : "-fi",
        isBinutils ? launch.modulePath : "--obj=" + launch.modulePath, offset};
    if (runProgram(command, output) != 0)
      return plain;
    std::string where = ownFrame(output);
    size_t colon = where.find(':');
    if (colon == std::string::npos)
      return plain;
    std::string path = where.substr(0, colon);
    unsigned long line = std::strtoul(where.c_str() + colon + 1, nullptr, 10);
    return path + ":" + std::to_string(line) + ": " + lineOf(path, line);
  }

  const Launch &launch;
  std::string tool;
  std::map<uint32_t, std::string> known;
};

void append(std::string &text, const Side &side, const Launch &launch,
            Symbolizer &lines) {
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
  Symbolizer lines(launch);
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

uint64_t mlcEmulatorAccesses() { return execution.accesses; }
