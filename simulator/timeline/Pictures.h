//===- Pictures.h - Timelines for people and for Perfetto -------*- C++ -*-===//
//
// The same table and timeline give the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_TIMELINE_PICTURES_H
#define MLC_SIMULATOR_TIMELINE_PICTURES_H

#include "simulator/timeline/Timeline.h"

#include <string>

namespace mlc::simulator {

struct PictureOptions {
  std::string title;
  /// Times are shown as multiples of it; 0: as seconds.
  Time unit = 0;
};

/// "27.3 %".
std::string toPercent(const Share &share);

/// A line for each rank and a column for each step of time, with an action's
/// name where it begins; then the idle share and activations in flight. What is
/// too wide for a screen is left out, with a note.
std::string drawGrid(const runtime::schedule::Table &table,
                     const Timeline &timeline, const PictureOptions &options);

/// A lane for each rank with its computation coloured by kind and numbered by
/// micro-batch, transfers that take time as lines, idle shares beside, and
/// activations in flight below. Valid XML, readable on light and dark pages.
/// What would be narrower than a quarter of a point is drawn together.
std::string drawSvg(const runtime::schedule::Table &table,
                    const Timeline &timeline, const PictureOptions &options);

/// Trace events of Chrome and Perfetto: a process for each rank with
/// computation, messages to and from other ranks, arrows from sends to
/// receives, activations in flight as a counter.
std::string drawTrace(const runtime::schedule::Table &table,
                      const Timeline &timeline);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_PICTURES_H
