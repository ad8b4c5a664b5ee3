//===- SearchFlags.h - How rewrites are searched ----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SEARCHFLAGS_H
#define MLC_TOOLS_MLC_SEARCHFLAGS_H

#include "rewrites/Search/Search.h"
#include "tools/CommandLine.h"
#include "tools/mlc/ModelOptions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// `--search`, `--search-steps`, `--time-limit`, `--fp`, `--assume`, for
/// commands that rewrite a model and keep the result.
struct SearchFlags {
  explicit SearchFlags(llvm::cl::SubCommand &sub);

  /// Fails if steps or the time limit are not positive.
  llvm::Expected<SearchOptions> options() const;
  /// The given flags that are not defaults, for the manifest.
  std::vector<std::string> texts() const;

  /// While it lives, the time limit ends the program; null without one.
  std::unique_ptr<Deadline> startLimit() const;

  llvm::cl::opt<SearchEngine> search;
  /// The sizes of `--assume`. Fails if one is not a number.
  llvm::Expected<std::vector<DimSetting>> assumedSizes() const;

  llvm::cl::opt<double> steps, timeLimit;
  llvm::cl::opt<FpMode> fp;
  llvm::cl::list<std::string> assumed;
};

/// Prints the result of a search on standard output, for people or as one JSON
/// object (an empty one without a search).
void show(const std::optional<SearchReport> &report, bool asJson);

/// Predicted seconds before and after, the assumed sizes of open dims, lower
/// bound and gap (null if the engine proves none), stop reason, seconds of the
/// search, steps.
llvm::json::Object toJson(const SearchReport &report);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SEARCHFLAGS_H
