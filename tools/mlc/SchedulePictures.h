//===- SchedulePictures.h - Checks and pictures of mlc schedule -*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SCHEDULEPICTURES_H
#define MLC_TOOLS_MLC_SCHEDULEPICTURES_H

#include "runtime/schedule/Check.h"
#include "simulator/timeline/Timeline.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/OutputFile.h"

namespace mlc::cli {

/// `--promise`, `--slots`, `--buffered`, by which a table is checked, and
/// `--times`, `--transfer-time`, `--svg`, `--trace`, in the order in which a
/// command needs them.
class SchedulePictures {
public:
  explicit SchedulePictures(llvm::cl::SubCommand &sub);

  /// Fails with code 2 for values that flags cannot have. Before anything is
  /// made.
  llvm::Error checkFlags();
  /// Refuses a table that cannot run, or not as promised. `name` says whose
  /// table it is, for messages.
  llvm::Error checkTable(const runtime::schedule::Table &table,
                         runtime::schedule::CheckOptions options,
                         llvm::StringRef name) const;
  /// F, I and W of a slice take `--times` times as long as this says.
  void setSliceTime(std::function<double(int64_t)> time) {
    sliceTime = std::move(time);
  }
  /// Gives the table's actions times.
  llvm::Error simulate(const runtime::schedule::Table &table,
                       const std::vector<runtime::schedule::Reading> &reads,
                       llvm::StringRef name);
  /// The text grid, after simulate().
  std::string grid(const runtime::schedule::Table &table,
                   llvm::StringRef title) const;
  /// Where pictures go; empty names where none is asked for.
  std::vector<NamedOutput> files() const {
    return {{svg, "the picture (--svg)"}, {trace, "the trace (--trace)"}};
  }
  /// The files that flags ask for. `table` and `title` outlive them.
  std::vector<Output> outputs(const runtime::schedule::Table &table,
                              const std::string &title) const;

private:
  llvm::cl::opt<std::string> promise;
  llvm::cl::opt<int32_t> slots;
  llvm::cl::opt<bool> isBuffered;
  llvm::cl::list<double> times;
  llvm::cl::opt<double> transferTime;
  llvm::cl::opt<std::string> svg, trace;

  std::function<double(int64_t)> sliceTime;
  simulator::StageTimes stageTimes;
  simulator::Time messageTime = 0;
  simulator::Timeline timeline;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SCHEDULEPICTURES_H
