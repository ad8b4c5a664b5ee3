//===- Samples.h - Tables that tests of schedules share ---------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_SCHEDULE_SAMPLES_H
#define MLC_TEST_UNIT_SCHEDULE_SAMPLES_H

#include "runtime/schedule/Table.h"

#include <string>
#include <vector>

/// A table that PyTorch publishes (pytorch_schedules.txt).
struct PytorchTable {
  /// "GPipe", "1F1B", "Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble",
  /// "ZBVZeroBubble", "DualPipeV".
  std::string schedule;
  int ranks = 0, microBatches = 0, chunks = 0;
  std::string csv;
  mlc::runtime::schedule::Table table;
};

/// All 54; the test fails if one cannot be read.
std::vector<PytorchTable> readPytorchTables();

/// The table of a CSV text; the test fails if it cannot be read.
mlc::runtime::schedule::Table parsed(const std::string &csv);

#endif // MLC_TEST_UNIT_SCHEDULE_SAMPLES_H
