//===- SliceFlags.h - Slices of sequences for terapipe ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SLICEFLAGS_H
#define MLC_TOOLS_MLC_SLICEFLAGS_H

#include "runtime/schedule/Slicing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlc::cli {

/// `--tokens`, `--slice-time` and `--slice-granularity` of mlc schedule: the
/// slices of least time.
class SliceFlags {
public:
  explicit SliceFlags(llvm::cl::SubCommand &sub);

  bool isGiven() const { return tokens.getNumOccurrences() != 0; }
  /// Fails with code 2 for flags that are incomplete, or of no such schedule;
  /// `counts`: the number of slices is given, too.
  llvm::Error check(llvm::StringRef schedule, bool counts) const;
  /// Finds the slices of so many micro-batches in so many stages.
  llvm::Error find(int64_t stages, int64_t microBatches);

  /// How many slices were found.
  int64_t count() const { return int64_t(slicing.lengths.size()); }
  /// The time of a slice, from 0, by `--slice-time`.
  double timeOf(int64_t slice) const;
  /// "slices: 4 of 120, 6 of 112 tokens; forward 12.5".
  std::string text() const;

private:
  double time(int64_t length, int64_t context) const;

  llvm::cl::opt<int64_t> tokens;
  llvm::cl::list<double> times;
  llvm::cl::opt<int64_t> granularity;
  mlc::runtime::schedule::Slicing slicing;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SLICEFLAGS_H
