//===- Symbols.cpp - Source lines of places in a module -------------------===//

#include "runtime/emulator/Symbols.h"
#include "runtime/emulator/Process.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

namespace mlc::emulator {

namespace {

/// The lines of a file, trimmed; read once.
class Lines {
public:
  std::string at(const std::string &path, unsigned long number) {
    auto [file, isNew] = files.try_emplace(path);
    if (isNew)
      read(path, file->second);
    return number && number <= file->second.size() ? file->second[number - 1]
                                                   : "";
  }

private:
  static void read(const std::string &path, std::vector<std::string> &lines) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      size_t begin = line.find_first_not_of(" \t\r");
      size_t end = line.find_last_not_of(" \t\r");
      lines.push_back(begin == std::string::npos
                          ? ""
                          : line.substr(begin, end + 1 - begin));
    }
  }
  std::map<std::string, std::vector<std::string>> files;
};

/// Whether `where`, FILE:12, is in a header that kernels include.
bool isInHeader(const std::string &where) {
  return where.find("mlc_device.cuh:") != std::string::npos ||
         where.find("mlc_hopper.cuh:") != std::string::npos;
}

/// For each address there is a line that repeats it, then two per frame from
/// the inside out: the function, and FILE:12 followed by more.
void readFrames(const std::string &output,
                std::map<uint32_t, SourceLine> &found) {
  std::istringstream stream(output);
  std::string text, where;
  auto next = found.begin(), current = found.end();
  while (std::getline(stream, text)) {
    if (text.rfind("0x", 0) == 0 && next != found.end()) {
      current = next++;
      continue;
    }
    if (text.empty() || !std::getline(stream, where))
      continue;
    if (current == found.end() || where[0] == '?' || isInHeader(where))
      continue;
    SourceLine &line = current->second;
    std::string path = where.substr(0, where.find(':'));
    line.from = std::strtoul(where.c_str() + path.size() + 1, nullptr, 10);
    if (!line.path.empty())
      continue;
    line.path = path;
    line.number = line.from;
  }
}

} // namespace

std::string offsetOf(uint32_t place) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%x", place - 1);
  return text;
}

std::map<uint32_t, SourceLine> findLines(const std::string &modulePath,
                                         const std::set<uint32_t> &places) {
  std::map<uint32_t, SourceLine> found;
  std::string tool =
      findProgram({"llvm-symbolizer-22", "llvm-symbolizer", "addr2line"});
  std::vector<std::string> command = {tool, "-a", "-f", "-i", "-e", modulePath};
  for (uint32_t place : places) {
    found[place];
    command.push_back(offsetOf(place));
  }
  std::string output;
  if (!places.empty() && !tool.empty() && runProgram(command, output) == 0)
    readFrames(output, found);
  Lines lines;
  for (auto &[place, line] : found)
    line.text = lines.at(line.path, line.number);
  return found;
}

} // namespace mlc::emulator
