//===- CounterReport.cpp - What was counted, as a file --------------------===//

#include "runtime/emulator/CounterReport.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Process.h"
#include "runtime/emulator/Symbols.h"

#include <cstdio>
#include <set>
#include <sstream>
#include <utility>

namespace mlc::emulator {

namespace {

/// A line of the source, and the outermost line that leads there.
using LineKey = std::pair<unsigned long, unsigned long>;
struct LineCounts {
  std::string text;
  Counts counts;
};
using LineTable = std::map<LineKey, LineCounts>;

LineTable byLine(const std::string &modulePath, const KernelCounts &kernel) {
  std::set<uint32_t> places;
  for (const auto &[place, counts] : kernel.places)
    places.insert(place);
  LineTable table;
  for (const auto &[place, line] : findLines(modulePath, places)) {
    LineCounts &to = table[{line.number, line.from}];
    to.text = line.text;
    to.counts.add(kernel.places.at(place));
  }
  return table;
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

/// The figures that are not 0, as an object.
std::string figuresOf(const Counts &counts) {
  std::string text;
  forEachFigure(counts, [&](const std::string &name, uint64_t value) {
    if (value)
      text += (text.empty() ? "" : ", ") + quoted(name) + ": " +
              std::to_string(value);
  });
  return "{" + text + "}";
}

class Report {
public:
  ~Report() {
    if (file.empty())
      return;
    bool isJson = file.size() >= 5 && file.substr(file.size() - 5) == ".json";
    if (!writeFile(file, isJson ? json() : table()))
      std::fprintf(stderr, "mlc emulator: cannot write the counters to %s\n",
                   file.c_str());
  }

  KernelCounts &of(const Launch &launch, const std::string &to) {
    file = to;
    return kernels[{launch.name, launch.modulePath}];
  }

  uint64_t figure(const std::string &kernel, const std::string &wanted) const {
    uint64_t sum = 0;
    for (const auto &[key, counts] : kernels) {
      if (key.first != kernel)
        continue;
      auto take = [&](const std::string &name, uint64_t value) {
        sum += name == wanted ? value : 0;
      };
      forEachFigure(counts.total(), take);
      take("launches", counts.launches);
      take("blocks", counts.blocks);
      take("threads", counts.threads);
    }
    return sum;
  }

private:
  std::string json() const;
  std::string table() const;

  std::string file;
  /// By name and path of the module.
  std::map<std::pair<std::string, std::string>, KernelCounts> kernels;
};

Report report;

std::string Report::json() const {
  std::ostringstream text;
  text << "{\"kernels\": [";
  const char *separator = "\n";
  for (const auto &[key, kernel] : kernels) {
    text << separator << "{\"name\": " << quoted(key.first)
         << ", \"launches\": " << kernel.launches
         << ", \"blocks\": " << kernel.blocks
         << ", \"threads\": " << kernel.threads
         << ",\n \"figures\": " << figuresOf(kernel.total())
         << ",\n \"lines\": [";
    const char *between = "\n";
    for (const auto &[where, line] : byLine(key.second, kernel)) {
      text << between << "  {\"line\": " << where.first
           << ", \"from\": " << where.second
           << ", \"text\": " << quoted(line.text)
           << ", \"figures\": " << figuresOf(line.counts) << "}";
      between = ",\n";
    }
    text << "]}";
    separator = ",\n";
  }
  text << "\n]}\n";
  return text.str();
}

/// Columns of the table: requests, units and ideal units of both memories, then
/// operations.
std::string rowOf(const Counts &counts, const std::string &end) {
  std::string text;
  auto column = [&](uint64_t value) {
    std::string number = value ? std::to_string(value) : "-";
    text += std::string(number.size() < 9 ? 9 - number.size() : 0, ' ') +
            number + " ";
  };
  for (size_t kind = 0; kind < kindCount; kind += 2) {
    const Traffic &loads = counts.traffic[kind],
                  &stores = counts.traffic[kind + 1];
    column(loads.requests + stores.requests);
    column(loads.units + stores.units);
    column(loads.ideal + stores.ideal);
  }
  column(counts.barriers);
  column(counts.shuffles);
  column(counts.products);
  return text + " " + end + "\n";
}

std::string Report::table() const {
  std::string text;
  for (const auto &[key, kernel] : kernels) {
    text += "kernel " + key.first + ": launches " +
            std::to_string(kernel.launches) + ", blocks " +
            std::to_string(kernel.blocks) + ", threads " +
            std::to_string(kernel.threads) +
            "\n   global memory                   shared memory\n"
            " requests   sectors     ideal  requests wavefront     ideal"
            "  barriers  shuffles  products  line\n";
    for (const auto &[where, line] : byLine(key.second, kernel)) {
      std::string end = std::to_string(where.first);
      if (where.second != where.first)
        end += " (from " + std::to_string(where.second) + ")";
      text += rowOf(line.counts, end + ": " + line.text);
    }
    text += rowOf(kernel.total(), "all") + "\n";
  }
  return text;
}

} // namespace

KernelCounts &countsOf(const Launch &launch, const std::string &file) {
  return report.of(launch, file);
}

} // namespace mlc::emulator

uint64_t mlcEmulatorCounted(const char *kernel, const char *figure) {
  return mlc::emulator::report.figure(kernel, figure);
}
