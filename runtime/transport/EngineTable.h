//===- EngineTable.h - Shared parts of the engines' tables ------*- C++ -*-===//
//
// An engine's mlc_comm begins with an EngineEnd; makeTable() adds the functions
// that only read it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_ENGINETABLE_H
#define MLC_RUNTIME_TRANSPORT_ENGINETABLE_H

#include "runtime/Collective.h"
#include "runtime/transport/mlc_engine.h"

#include <string>
#include <utility>
#include <vector>

namespace mlc::runtime::transport {

struct EngineEnd {
  int rank = 0, size = 0;
  mlc_counters counts{};
  std::string text;

  mlc_status failed(mlc_status code, std::string what) {
    text = std::move(what);
    return code;
  }
  void count(bool isSend, size_t bytes) {
    (isSend ? counts.sent_bytes : counts.received_bytes) += bytes;
    ++(isSend ? counts.sent_messages : counts.received_messages);
  }
};

/// Adds to `table` what all engines share. `Comm` is the engine's mlc_comm.
template <typename Comm> mlc_engine makeTable(mlc_engine table) {
  table.version = MLC_ENGINE_VERSION;
  table.rank = [](mlc_comm *comm) {
    return static_cast<Comm *>(comm)->EngineEnd::rank;
  };
  table.size = [](mlc_comm *comm) {
    return static_cast<Comm *>(comm)->EngineEnd::size;
  };
  table.error = [](mlc_comm *comm) {
    return static_cast<Comm *>(comm)->text.c_str();
  };
  table.counters = [](mlc_comm *comm, mlc_counters *counters) {
    *counters = static_cast<Comm *>(comm)->counts;
  };
  return table;
}

/// The begin of each part, followed by the end.
inline std::vector<size_t> beginsOf(const size_t *parts, int count) {
  std::vector<size_t> begins{0};
  for (int part = 0; part < count; ++part)
    begins.push_back(begins.back() + parts[part]);
  return begins;
}

inline bool areEqual(const size_t *parts, int count) {
  for (int part = 1; part < count; ++part)
    if (parts[part] != parts[0])
      return false;
  return true;
}

// A row's number equals the interface's.
#define MLC_COLLECTIVE(ID, NAME, ENGINE, NUMBER, MESSAGE, INPUT, OUTPUT,       \
                       TRAITS)                                                 \
  static_assert(rowOf(CollectiveKind::ID).isOfEngines()                        \
                    ? ENGINE == static_cast<int>(CollectiveKind::ID)           \
                    : ENGINE == -1);
#define MLC_REDUCTION(ID, NAME, ENGINE)                                        \
  static_assert(ENGINE == static_cast<int>(ReductionKind::ID));
#include "runtime/Collectives.def"

inline bool reduces(mlc_collective kind) {
  return rowOf(static_cast<CollectiveKind>(kind)).reduces();
}

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_ENGINETABLE_H
