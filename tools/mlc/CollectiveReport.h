//===- CollectiveReport.h - The output of mlc collective --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_COLLECTIVEREPORT_H
#define MLC_TOOLS_MLC_COLLECTIVEREPORT_H

#include "runtime/transport/GroupTrial.h"
#include "runtime/transport/Trial.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

struct CollectiveReport {
  std::string engine;
  int64_t bytes; // on each rank
  bool asJson;
  const runtime::transport::TrialOptions &trial;
  const runtime::transport::TrialResult &result;

  /// Prints a trial; an error if a result or the number of bytes is wrong.
  llvm::Error print() const;
  /// Prints a trial of groups whose results were all right.
  llvm::Error
  printGroups(int ranks,
              const runtime::transport::GroupTrialOptions &options) const;

private:
  struct Totals;
  void printJson(const Totals &totals) const;
  void printText(const Totals &totals) const;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_COLLECTIVEREPORT_H
