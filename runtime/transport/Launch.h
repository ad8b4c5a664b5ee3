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
  /// From SIGTERM to SIGKILL, for those that are to end.
  int graceSeconds = 5;
};

/// Starts the processes on this machine with RANK, WORLD_SIZE, LOCAL_RANK,
/// LOCAL_WORLD_SIZE, MLC_LAUNCH, MASTER_ADDR and MASTER_PORT (the latter two as
/// they are, if set; else 127.0.0.1 and a free port) and without torchrun's
/// TORCHELASTIC_*, each in a process group of its own
/// and without standard input. Passes signals on to all. When one fails the
/// others are ended, with all that they have started, and the error names the
/// rank; `exitCode` is that rank's (128 + the signal if one ended it).
Status launch(const LaunchOptions &options, int &exitCode);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_LAUNCH_H
