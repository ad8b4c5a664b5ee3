//===- Progress.h - What a long command is doing ----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PROGRESS_H
#define MLC_TOOLS_MLC_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mlc::cli {

/// Shows on stderr, if that is a terminal, what is going on and for how long,
/// as soon as it has taken two seconds. Gone without a trace when it ends.
class Progress {
public:
  explicit Progress(llvm::StringRef what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// What is done from now on.
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
