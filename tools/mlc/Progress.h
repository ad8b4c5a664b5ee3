//===- Progress.h - Shows the progress of a long command --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PROGRESS_H
#define MLC_TOOLS_MLC_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mlc::cli {

/// Shows the current work and its duration on stderr, if that is a terminal,
/// once it has taken two seconds. Clears the line at the end.
class Progress {
public:
  explicit Progress(llvm::StringRef what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Sets the work that is done from now on.
  void next(llvm::StringRef what);

private:
  void show();

  std::mutex mutex;
  std::condition_variable changed;
  std::string what;
  bool done = false;
  std::chrono::steady_clock::time_point start;
  std::thread thread;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PROGRESS_H
