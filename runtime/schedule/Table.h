//===- Table.h - A training step as a table of actions ----------*- C++ -*-===//
//
// Each rank of a pipeline runs a list of actions: the forward pass of a stage
// for a micro-batch, parts of its backward pass, transfers, updates. A table
// has the lists of all ranks. Its text is PyTorch's CSV notation
// (torch.distributed.pipelining), a line for each rank, with a few actions more
// (docs/Schedules.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_TABLE_H
#define MLC_RUNTIME_SCHEDULE_TABLE_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlc::runtime::schedule {

/// What an action does. Actions.def has the text and the properties of each.
enum class ActionKind : uint8_t {
#define ACTION(NAME, TEXT, HAS_MICRO_BATCH, IS_COMPUTE) NAME,
#include "runtime/schedule/Actions.def"
};

/// Where a number does not apply.
inline constexpr int32_t kNone = -1;

/// One action of a rank: "2F0", "1SEND_B3", "0STEP2", "0F4.1@3".
struct Action {
  ActionKind kind = ActionKind::Forward;
  int32_t stage = 0;
  /// kNone for actions that belong to no micro-batch. For Step, the version of
  /// the weights that it makes (0: those before training), or kNone.
  int32_t microBatch = kNone;
  /// The slice of the micro-batch (TeraPipe), from 0; kNone: all of it.
  int32_t slice = kNone;
  /// The version of the stage's weights that the action reads; kNone: the one
  /// that the rank has. Only asynchronous schedules name versions.
  int32_t version = kNone;
  /// Actions with the same number, not kNone, that follow each other on a rank
  /// may overlap: "(0F7;7B3)OVERLAP_F_B". A rank's groups count from 0.
  int32_t overlap = kNone;
  /// For sends and receives, the stage at the other end: "0SEND_F4>3" goes to
  /// stage 3, "3RECV_F4<0" comes from stage 0. kNone: the neighbour, as in
  /// PyTorch's tables.
  int32_t peer = kNone;

  bool operator==(const Action &other) const {
    return kind == other.kind && stage == other.stage &&
           microBatch == other.microBatch && slice == other.slice &&
           version == other.version && overlap == other.overlap &&
           peer == other.peer;
  }
  bool operator!=(const Action &other) const { return !(*this == other); }
};

/// The row of the kind in Actions.def.
const char *toText(ActionKind kind);
bool hasMicroBatch(ActionKind kind);
/// Whether the action runs kernels of a stage (F, I, W, B, NORM, STEP), rather
/// than a transfer or a collective.
bool isCompute(ActionKind kind);
/// SEND_F and SEND_B; RECV_F and RECV_B.
bool isSend(ActionKind kind);
bool isReceive(ActionKind kind);
/// The stage at the other end of a send or a receive; -1, or the number of
/// stages, if that is no stage.
int32_t peerOf(const Action &action);

/// "2F0"; the overlap is left out.
std::string toString(const Action &action);

/// The most ranks, stages and actions that a table may have, and how many
/// micro-batches, slices and versions. So products of two of them fit into
/// int64_t.
inline constexpr int64_t kMaxRanks = 1 << 16, kMaxStages = 1 << 20,
                         kMaxNumbers = 1 << 24, kMaxActions = int64_t(1) << 26;

struct Table {
  /// The actions of each rank, in order. A stage may be on several ranks
  /// (Chimera, data parallelism). The rank that runs a stage for a micro-batch
  /// is the one whose list says so; transfers follow from that.
  std::vector<std::vector<Action>> ranks;

  /// One more than the largest number that appears.
  int32_t countStages() const;
  int32_t countMicroBatches() const;
  /// 1 for a table without slices.
  int32_t countSlices() const;
  int64_t countActions() const;
  /// Whether the table has transfers of its own.
  bool hasTransfers() const;

  /// As CSV, a line for each rank. parse() reads the same table again if each
  /// rank has an action and overlaps are numbered as above.
  std::string text() const;
  /// Reads a CSV text, PyTorch's or that of text(). MLC_BAD_FILE names line and
  /// cell. Empty cells are skipped, as PyTorch does, and blank lines at the
  /// end. Another line without an action is refused, and numbers that far
  /// exceed what the actions can be about, so that a table of stages by
  /// micro-batches by slices takes no more memory than the text (beyond a few
  /// pages).
  static Status parse(std::string_view text, Table &table);

  bool operator==(const Table &other) const { return ranks == other.ranks; }
};

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_TABLE_H
