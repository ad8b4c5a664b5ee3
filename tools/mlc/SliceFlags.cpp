//===- SliceFlags.cpp - Slices of sequences for terapipe ------------------===//

#include "tools/mlc/SliceFlags.h"
#include "tools/mlc/Failure.h"
#include <fmt/format.h>

using namespace mlc::cli;
namespace cl = llvm::cl;

SliceFlags::SliceFlags(cl::SubCommand &sub)
    : tokens("tokens", cl::init(0), cl::value_desc("number"),
             cl::desc("For terapipe: tokens of a sequence, whose slices are "
                      "then those of least time by --slice-time"),
             cl::sub(sub)),
      times("slice-time", cl::CommaSeparated,
            cl::value_desc("SLICE,TOKEN,PAIR"),
            cl::desc("With --tokens: the time of a slice, of each token of it, "
                     "and of each token that one of them looks at"),
            cl::sub(sub)),
      granularity("slice-granularity", cl::init(1), cl::value_desc("number"),
                  cl::desc("With --tokens: slices are multiples of so many "
                           "tokens (1)"),
                  cl::sub(sub)) {}

static llvm::Error wrongSlices(const llvm::Twine &what) {
  return fail(mlc::Exit::Usage, "schedule: " + what);
}

llvm::Error SliceFlags::check(llvm::StringRef schedule, bool counts) const {
  if (!isGiven())
    return !times.empty() || granularity.getNumOccurrences()
               ? wrongSlices(
                     "--slice-time and --slice-granularity are of --tokens; "
                     "give that, too")
               : llvm::Error::success();
  if (schedule != "terapipe")
    return wrongSlices(
        "--tokens are of terapipe, which has slices; leave them out");
  if (counts)
    return wrongSlices(
        "--tokens says how many slices there are; leave --slices out");
  if (times.size() != 3)
    return wrongSlices(
        "--slice-time has " + llvm::Twine(times.size()) +
        " times; give those of a slice, a token and a pair of tokens");
  for (double one : times)
    if (!(one >= 0 && one <= 1e6))
      return wrongSlices("--slice-time: a time is from 0 to 1000000");
  return llvm::Error::success();
}

/// A token looks at itself and at all before it.
double SliceFlags::time(int64_t length, int64_t context) const {
  const double own = double(length), before = double(context);
  return times[0] + times[1] * own +
         times[2] * (own * before + own * (own + 1) / 2);
}

llvm::Error SliceFlags::find(int64_t stages, int64_t microBatches) {
  runtime::schedule::SlicingOptions options;
  options.tokens = tokens;
  options.stages = stages;
  options.microBatches = microBatches;
  options.granularity = granularity;
  options.time = [this](int64_t length, int64_t context) {
    return time(length, context);
  };
  auto status = findSlices(options, slicing);
  return status.ok() ? llvm::Error::success()
                     : wrongSlices("slices: " + status.message);
}

double SliceFlags::timeOf(int64_t slice) const {
  int64_t context = 0;
  for (int64_t i = 0; i < slice; ++i)
    context += slicing.lengths[size_t(i)];
  return time(slicing.lengths[size_t(slice)], context);
}

std::string SliceFlags::text() const {
  std::string text;
  const std::vector<int64_t> &all = slicing.lengths;
  for (size_t i = 0, end = 0; i < all.size(); i = end) {
    while (end < all.size() && all[end] == all[i])
      ++end;
    text += fmt::format("{}{} of {}", i ? ", " : "", end - i, all[i]);
  }
  return fmt::format("slices: {} tokens; forward {:.6g}\n", text, slicing.time);
}
