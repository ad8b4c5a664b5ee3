//===- Profile.cpp - Where the time of a run goes -------------------------===//

#include "runtime/Profile.h"
#include "runtime/ApiCall.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstdio>

namespace mlc::runtime {

double Roofline::leastNanoseconds(const mlc_step_cost &cost) const {
  double bytes = double(cost.bytes_read) + double(cost.bytes_written);
  double seconds = 0;
  for (const Level &level : levels)
    if (bytes <= level.bytes || &level == &levels.back()) {
      seconds = bytes / level.bytesPerSecond;
      break;
    }
  double products = double(cost.contraction_operations);
  double others = std::max(0.0, double(cost.operations) - products);
  return 1e9 * std::max(seconds, products / contractionsPerSecond +
                                     others / scalarsPerSecond);
}

bool readsOnly(const mlc_artifact *artifact, size_t index, mlc_dtype type) {
  const Program &program = artifact->impl->program(artifact->entry);
  const std::vector<BufferId> &inputs = program.steps[index].inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](BufferId id) {
    return program.buffers[id].type == DType(type);
  });
}

double median(std::vector<double> &times) {
  if (times.empty())
    return 0;
  std::sort(times.begin(), times.end());
  size_t half = times.size() / 2;
  return times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
}

void finishProfile(std::vector<ProfiledStep> &steps, const Roofline *roofline) {
  steps.erase(std::remove_if(steps.begin(), steps.end(),
                             [](const ProfiledStep &s) { return s.ns <= 0; }),
              steps.end());
  for (ProfiledStep &step : steps)
    if (roofline && step.hasPeak)
      step.share = roofline->leastNanoseconds(step.cost) / step.ns;
  std::stable_sort(
      steps.begin(), steps.end(),
      [](const ProfiledStep &a, const ProfiledStep &b) { return a.ns > b.ns; });
}

ProfiledStep totalOf(const std::vector<ProfiledStep> &steps) {
  ProfiledStep total;
  double least = 0;
  bool isKnown = !steps.empty();
  for (const ProfiledStep &step : steps) {
    total.ns += step.ns;
    total.cost.bytes_read += step.cost.bytes_read;
    total.cost.bytes_written += step.cost.bytes_written;
    total.cost.operations += step.cost.operations;
    total.cost.contraction_operations += step.cost.contraction_operations;
    least += step.share * step.ns;
    isKnown &= step.share >= 0;
  }
  if (isKnown)
    total.share = least / total.ns;
  return total;
}

static std::string row(const ProfiledStep &step, double all,
                       const std::string &what) {
  char text[160];
  std::snprintf(text, sizeof(text), "%10.1f %5.1f%% %9.3f %9.3f %10.3f ",
                step.ns / 1e3, all > 0 ? 100 * step.ns / all : 0.0,
                double(step.cost.bytes_read) / 1e6,
                double(step.cost.bytes_written) / 1e6,
                double(step.cost.operations) / 1e6);
  std::string line = text;
  if (step.share >= 0) {
    std::snprintf(text, sizeof(text), "%7.1f%% ", 100 * step.share);
    line += text;
  } else {
    line += "       - ";
  }
  std::snprintf(text, sizeof(text), " %-11.11s ",
                step.skeleton.empty() ? "-" : printable(step.skeleton).c_str());
  return line + text + what + "\n";
}

std::string profileTable(const std::vector<ProfiledStep> &steps) {
  const ProfiledStep total = totalOf(steps);
  std::string text = "        us  share   MB read   written       Mops  of "
                     "peak  skeleton    step: nodes\n";
  for (const ProfiledStep &step : steps) {
    std::string nodes;
    for (const std::string &node : step.nodes)
      nodes += (nodes.empty() ? "" : ", ") + printable(node);
    text += row(step, total.ns, printable(step.name) + ": " + nodes);
  }
  return text + row(total, total.ns, "total");
}

} // namespace mlc::runtime
