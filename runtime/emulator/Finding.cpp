//===- Finding.cpp - What is wrong with a kernel, as text -----------------===//

#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Cuda.h"
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

/// The `number`th line of a file, trimmed; empty if none.
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

/// Finds source lines, all with one run of a tool.
class Symbolizer {
public:
  Symbolizer(const Launch &launch, const std::vector<Finding> &findings) {
    for (const Finding &finding : findings)
      for (uint32_t place : {finding.self.at, finding.other.at})
        if (place)
          lines[place];
    std::string tool =
        findProgram({"llvm-symbolizer-22", "llvm-symbolizer", "addr2line"});
    std::vector<std::string> command = {tool, "-a", "-f",
                                        "-i", "-e", launch.modulePath};
    for (auto &[place, line] : lines) {
      line = launch.modulePath + "+" + offset(place) +
             " (install llvm-symbolizer or addr2line to see the line)";
      command.push_back(offset(place));
    }
    std::string output;
    if (!lines.empty() && !tool.empty() && runProgram(command, output) == 0)
      read(output);
  }

  const std::string &operator()(uint32_t place) const {
    return lines.find(place)->second;
  }

private:
  /// A place is a return address, hence the next instruction.
  static std::string offset(uint32_t place) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%x", place - 1);
    return text;
  }

  /// For each address there is a line that repeats it, then two per frame from
  /// the inside out: the function, and FILE:12 followed by more. Takes the
  /// first frame in the kernel's own source, not in the device header.
  void read(const std::string &output) {
    std::istringstream stream(output);
    std::string text, where;
    auto next = lines.begin(), current = lines.end();
    bool isOwn = false;
    while (std::getline(stream, text)) {
      if (text.rfind("0x", 0) == 0 && next != lines.end()) {
        current = next++;
        isOwn = false;
        continue;
      }
      if (text.empty() || !std::getline(stream, where))
        continue;
      if (current == lines.end() || isOwn || where[0] == '?')
        continue;
      isOwn = where.find("mlc_device.cuh:") == std::string::npos &&
              where.find("mlc_hopper.cuh:") == std::string::npos;
      std::string path = where.substr(0, where.find(':'));
      unsigned long number =
          std::strtoul(where.c_str() + path.size() + 1, nullptr, 10);
      current->second =
          path + ":" + std::to_string(number) + ": " + lineOf(path, number);
    }
  }

  std::map<uint32_t, std::string> lines;
};

void append(std::string &text, const Side &side, const Launch &launch,
            const Symbolizer &lines) {
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
  Symbolizer lines(launch, findings);
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
