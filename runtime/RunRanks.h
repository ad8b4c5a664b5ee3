//===- RunRanks.h - The ranks of a run command ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_RUNRANKS_H
#define MLC_RUNTIME_RUNRANKS_H

#include "runtime/Ranks.h"
#include "runtime/RunOptions.h"

namespace mlc::runtime {

/// Opens the ranks that a run command asks for. Tools that link engines have
/// one (runtime/transport/RunEngines.h).
class RankSource {
public:
  virtual ~RankSource() = default;
  /// Opens the ranks of this process, usually one, for an artifact that needs
  /// `needed` in all; none if neither the options nor a launcher ask for any.
  virtual Status open(const RunOptions &options, uint64_t needed,
                      std::vector<std::shared_ptr<Ranks>> &ranks) = 0;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RUNRANKS_H
