//===- Launch.h - Several processes of one program --------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_LAUNCH_H
#define MLC_RUNTIME_TRANSPORT_LAUNCH_H

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace mlc::runtime::transport {

struct LaunchOptions {
  int processes = 1;
  std::vector<std::string> command; // the program, found by PATH, and arguments
  /// Each line of their output begins with "[rank] ".
  bool prefix = false;
  /// Seconds from SIGTERM to SIGKILL.
  int graceSeconds = 5;
};

/// Starts the processes on this machine with RANK, WORLD_SIZE, LOCAL_RANK,
/// LOCAL_WORLD_SIZE, MLC_LAUNCH, MASTER_ADDR and MASTER_PORT (the latter two as
/// they are, if set; else 127.0.0.1 and a free port) and without torchrun's
/// TORCHELASTIC_*. Each has its own process group and no standard input.
/// Signals are passed on to all. When one fails, the others and their children
/// are ended. The error names the rank, and `exitCode` is its exit code (128 +
/// the signal if one ended it).
Status launch(const LaunchOptions &options, int &exitCode);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_LAUNCH_H
