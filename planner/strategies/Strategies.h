//===- Strategies.h - Ways to share a step that people wrote ----*- C++ -*-===//
//
// What `mlc plan --strategy` knows by name (docs/Planners.md), and how such
// strategies divide layers.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_STRATEGIES_STRATEGIES_H
#define MLC_PLANNER_STRATEGIES_STRATEGIES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlc::planner {

enum class WrittenStrategy : uint8_t {
  DataParallel,
  ParameterServer,
  Zero1,
  Zero2,
  Zero3,
  OneWeirdTrick,
  Megatron,
  LayerPerDevice,
  EqualStages,
  BlockPartition,
  Gspmd,
  OptCnn,
};

struct StrategyRow {
  WrittenStrategy strategy;
  const char *name;    ///< as flags have it
  const char *meaning; ///< on one line
  const char *paper;
};

/// All strategies, in the order of the enumeration.
std::span<const StrategyRow> allStrategies();
/// Null for an unknown name.
const StrategyRow *findStrategy(std::string_view name);
/// "data-parallel, parameter-server, ..."
std::string strategyNames();

/// Ends of parts of so many layers in a row whose numbers differ by one at
/// most, the longer ones first. 0 < `parts` <= `count`.
std::vector<size_t> divideEqually(size_t count, size_t parts);

/// Ends of parts of weights in a row, none of which is heavier than the
/// lightest by more than the largest weight: the algorithm of Barany and
/// Grinberg (Block partitions of sequences, 2015), as torchgpipe has it (Kim et
/// al. 2020). 0 < `parts` <= the number of weights, which are not negative.
std::vector<size_t> partitionBlocks(const std::vector<double> &weights,
                                    size_t parts);

/// Numbers of micro-batches to try for so many samples of a step: those that
/// divide them, each a third larger than the one before at least, up to 256, or
/// 16 for a rank up to 1,024.
std::vector<int64_t> listMicroBatches(int64_t samples, int64_t ranks);

} // namespace mlc::planner

#endif // MLC_PLANNER_STRATEGIES_STRATEGIES_H
