//===- StageEntry.h - The entries of stages ---------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_SCHEDULE_STAGEENTRY_H
#define MLC_RUNTIME_SCHEDULE_STAGEENTRY_H

#include "runtime/schedule/Table.h"

#include <optional>
#include <tuple>

namespace mlc::runtime::schedule {

/// A program that a stage runs in actions of a kind: F, I, W, B, NORM or STEP.
struct StageEntry {
  int64_t stage = 0;
  ActionKind kind = ActionKind::Forward;

  bool operator==(const StageEntry &other) const {
    return stage == other.stage && kind == other.kind;
  }
  bool operator!=(const StageEntry &other) const { return !(*this == other); }
  bool operator<(const StageEntry &other) const {
    return std::tie(kind, stage) < std::tie(other.kind, other.stage);
  }
  /// Whether it belongs to an update, rather than to a micro-batch.
  bool isUpdate() const { return !hasMicroBatch(kind); }
  /// Its name in modules and artifacts: the action without a micro-batch, "2F".
  std::string name() const { return std::to_string(stage) + toText(kind); }
  /// The entry with that name; nothing for other names.
  static std::optional<StageEntry> parse(std::string_view name);
};

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_STAGEENTRY_H
