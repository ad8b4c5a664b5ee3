//===- StageEntry.h - The entries of stages ---------------------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_STAGEENTRY_H
#define MLC_PASSES_STAGES_STAGEENTRY_H

#include "runtime/schedule/Table.h"
#include <string>
#include <tuple>

namespace mlc {

/// What a stage does in an action of a table (runtime/schedule/Table.h).
struct StageEntry {
  int64_t stage = 0;
  runtime::schedule::ActionKind kind = runtime::schedule::ActionKind::Forward;

  bool operator==(const StageEntry &other) const {
    return stage == other.stage && kind == other.kind;
  }
  bool operator!=(const StageEntry &other) const { return !(*this == other); }
  bool operator<(const StageEntry &other) const {
    return std::tie(kind, stage) < std::tie(other.kind, other.stage);
  }
  /// The name of its function: the action without a micro-batch, "2F".
  std::string name() const {
    return std::to_string(stage) + runtime::schedule::toText(kind);
  }
};

} // namespace mlc

#endif // MLC_PASSES_STAGES_STAGEENTRY_H
