//===- Waits.h - What ranks wait for ----------------------------*- C++ -*-===//

#ifndef MLC_SIMULATOR_TIMELINE_WAITS_H
#define MLC_SIMULATOR_TIMELINE_WAITS_H

#include "simulator/timeline/Timeline.h"

#include <optional>

namespace mlc::simulator {

/// A time in which a rank computes nothing.
struct Wait {
  Interval time;
  /// What it computes afterwards, in its list; nothing: its work is done.
  std::optional<size_t> next;
  /// The message whose end it waits for, in Timeline::transfers.
  std::optional<size_t> transfer;
  /// Or the collective, in its list.
  std::optional<size_t> collective;
};

/// The waits of a rank, in order.
std::vector<Wait> findWaits(const runtime::schedule::Table &table,
                            const Timeline &timeline, int32_t rank);

/// "1F0 waits 12 us for 400 bytes from rank 0, sent at 3 us"; times as
/// toText(Time) has them.
std::string describe(const Wait &wait, const runtime::schedule::Table &table,
                     const Timeline &timeline, int32_t rank);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_WAITS_H
