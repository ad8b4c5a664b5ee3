//===- RunRanks.h - The ranks of a run command ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_RUNRANKS_H
#define MLC_RUNTIME_RUNRANKS_H

#include "runtime/Ranks.h"
#include "runtime/RunOptions.h"

namespace mlc::runtime {

/// Opens the ranks that a run command asks for. Who links engines has one
/// (runtime/transport/RunEngines.h).
class RankSource {
public:
  virtual ~RankSource() = default;
  /// The ranks that this process is, one in most cases, for an artifact that
  /// needs `needed`; none where neither the options nor a launcher speak of
  /// any.
  virtual Status open(const RunOptions &options, uint64_t needed,
                      std::vector<std::shared_ptr<Ranks>> &ranks) = 0;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RUNRANKS_H
