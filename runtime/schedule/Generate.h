//===- Generate.h - The schedules of the literature -------------*- C++ -*-===//
//
// A schedule is named, and gets sizes; the result is a table of computations.
// Transfers.h adds what is sent, and updates. docs/Schedules.md has the paper,
// the promises and the limits of each.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_GENERATE_H
#define MLC_RUNTIME_SCHEDULE_GENERATE_H

#include "runtime/schedule/Table.h"

namespace mlc::runtime::schedule {

/// Sizes that may be given, or not (0).
struct ScheduleOptions {
  std::string name;
  /// Stages of the model, ranks, and stages that a rank has; stages = ranks x
  /// chunks, so two of them give the third; `replicas` gives the first two.
  /// Chimera has as many ranks as stages, each with a stage of both directions;
  /// data-parallel has one stage.
  int64_t stages = 0, ranks = 0, chunks = 0;
  int64_t microBatches = 0;
  /// Slices of each micro-batch, for terapipe; 1 if not given.
  int64_t slices = 0;
  /// Gradients that a stage adds up before it updates its weights, for ampnet
  /// (1) and pipedream-2bw (as many as ranks).
  int64_t updateEvery = 0;
  /// Micro-batches between the first stage's F and B, for ampnet (as many as
  /// stages).
  int64_t inFlight = 0;
  /// Ranks of each stage, which share its micro-batches in turn: micro-batch m
  /// is that of replica m mod r (PipeDream's 1F1B with round-robin). Ranks are
  /// numbered through the stages. Empty: each stage is on one rank.
  std::vector<int64_t> replicas = {};
};

/// What a schedule is, for people and for tools.
struct ScheduleRow {
  const char *name;
  /// One line: what it does, and whose it is.
  const char *summary;
  /// Stages that a rank has if nobody says how many, and whether one may.
  int32_t usualChunks;
  bool hasChunks;
  bool hasSlices, hasUpdateEvery, hasInFlight;
  /// Whether ranks may share a stage's micro-batches.
  bool hasReplicas;
  /// Whether all micro-batches of a table use the same weights.
  bool isSynchronous;
};

/// The row of a schedule, or null.
const ScheduleRow *findSchedule(std::string_view name);
/// All, in the order of docs/Schedules.md.
const std::vector<ScheduleRow> &allSchedules();
/// "gpipe, 1f1b, ...".
std::string scheduleNames();

/// Makes the table of the named schedule. MLC_USAGE says which size cannot be
/// served, and what can; nothing is allocated for sizes beyond a table's.
/// Tables of synchronous schedules have F, B, I and W alone; asynchronous ones
/// name weight versions and have STEP.
Status generate(const ScheduleOptions &options, Table &table);

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_GENERATE_H
