//===- RunEngines.h - The engines of a command ------------------*- C++ -*-===//
//
// For programs, not for libraries: they handle signals, so that a rank that is
// ended reports what it waited for, and end the process if an engine hangs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_RUNENGINES_H
#define MLC_RUNTIME_TRANSPORT_RUNENGINES_H

#include "runtime/RunRanks.h"
#include "runtime/transport/RankThread.h"

namespace mlc::runtime::transport {

class RunEngines : public RankSource {
public:
  RunEngines();
  ~RunEngines() override;
  Status open(const RunOptions &options, uint64_t needed,
              std::vector<std::shared_ptr<Ranks>> &ranks) override;

private:
  std::unique_ptr<Watchdog> watchdog;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_RUNENGINES_H
