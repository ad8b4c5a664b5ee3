//===- Timeline.h - When the actions of a table run -------------*- C++ -*-===//

#ifndef MLC_SIMULATOR_TIMELINE_TIMELINE_H
#define MLC_SIMULATOR_TIMELINE_TIMELINE_H

#include "runtime/schedule/Table.h"
#include "simulator/cluster/Time.h"

namespace mlc::simulator {} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_TIMELINE_H
