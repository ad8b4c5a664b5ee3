//===- StageCosts.cpp - What the stages of a step take --------------------===//

#include "tools/mlc/StageCosts.h"
#include "dialects/Module/States.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/mlc/EntryArena.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::runtime::schedule;
using mlc::simulator::StageTimes;

std::optional<StageEntry> mlc::cli::findEntry(llvm::StringRef name) {
  if (name == "step" || name == "accumulate")
    return StageEntry{0, ActionKind::Backward};
  return name == "apply" ? StageEntry{0, ActionKind::Step}
                         : StageEntry::parse(name.str());
}

llvm::Expected<StageCosts>
StageCosts::read(mlir::ModuleOp module, const EntryTimes &entries,
                 const Table &table, llvm::ArrayRef<int64_t> worldRanks) {
  StageCosts costs(table);
  costs.readValues(module);
  if (llvm::Error error = costs.readTimes(module, entries, worldRanks))
    return std::move(error);
  return costs;
}

StageCosts::StageCosts(const Table &table)
    : stageTimes(table.countStages(), StageTimes{0, 0, 0, 0}),
      sums(table.countStages()), stageRanks(table.countStages()) {
  rankOf.assign(table.countMicroBatches(),
                std::vector<int>(table.countStages()));
  for (auto [rank, actions] : llvm::enumerate(table.ranks))
    for (const Action &action : actions) {
      if (!isCompute(action.kind) || !hasMicroBatch(action.kind))
        continue;
      rankOf[action.microBatch][action.stage] = int(rank);
      if (!llvm::is_contained(stageRanks[action.stage], int(rank)))
        stageRanks[action.stage].push_back(int(rank));
    }
}

llvm::Error StageCosts::readTimes(mlir::ModuleOp module,
                                  const EntryTimes &entries,
                                  llvm::ArrayRef<int64_t> worldRanks) {
  for (auto entry : module.getOps<mlir::func::FuncOp>()) {
    auto parsed = findEntry(entry.getName());
    if (!parsed || size_t(parsed->stage) >= stageTimes.size())
      continue;
    const ActionKind kind = parsed->kind;
    StageTimes &times = stageTimes[parsed->stage];
    const int first = stageRanks[parsed->stage].front();
    auto time = entries.time(entry.getBody(), worldRanks[first]);
    if (!time)
      return time.takeError();
    // Where B is one entry, its time stands as that of I.
    (kind == ActionKind::Forward          ? times.forward
     : kind == ActionKind::WeightGradient ? times.weight
     : parsed->isUpdate()                 ? times.step
                                          : times.input) += *time;
  }
  return llvm::Error::success();
}

void StageCosts::readValues(mlir::ModuleOp module) {
  llvm::StringMap<std::vector<int64_t>> readers;
  for (auto entry : module.getOps<mlir::func::FuncOp>())
    if (auto parsed = findEntry(entry.getName()))
      for (unsigned i = 0; i < entry.getNumArguments(); ++i)
        if (auto role =
                entry.getArgAttrOfType<mlir::StringAttr>(i, kInputRoleAttr);
            role && role == runtime::name(runtime::InputRole::Carried))
          readers[entry.getArgAttrOfType<mlir::StringAttr>(i, "mlc.name")]
              .push_back(parsed->stage);
  for (auto entry : module.getOps<mlir::func::FuncOp>()) {
    auto parsed = findEntry(entry.getName());
    if (!parsed || size_t(parsed->stage) >= sums.size())
      continue;
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      const int64_t bytes = tensorBytes(entry.getResultTypes()[i]);
      if (auto state =
              entry.getResultAttrOfType<mlir::StringAttr>(i, kStateAttr)) {
        if (getStateUse(module, state).role == runtime::StateRole::GradientSum)
          sums[parsed->stage] += bytes;
        continue;
      }
      auto name = entry.getResultAttrOfType<mlir::StringAttr>(i, "mlc.name");
      if (auto it = readers.find(name.getValue()); it != readers.end())
        values.push_back(
            {parsed->stage, bytes, parsed->isUpdate(), it->second});
    }
  }
}

std::vector<Reading> StageCosts::reads() const {
  std::map<std::pair<int32_t, int32_t>, bool> found;
  for (const Value &value : values)
    for (int64_t reader : value.readers) {
      if (value.isOfUpdate || reader == value.stage)
        continue;
      if (reader > value.stage)
        found[{int32_t(value.stage), int32_t(reader)}];
      else
        found[{int32_t(reader), int32_t(value.stage)}] = true;
    }
  std::vector<Reading> all;
  for (const auto &[stages, hasGradient] : found)
    all.push_back({stages.first, stages.second, hasGradient});
  return all;
}

std::vector<Move> StageCosts::movesOf(const Value &value,
                                      const std::vector<int> &ranks) const {
  // All ranks of a stage update it.
  auto ranksOf = [&](int64_t stage) {
    return value.isOfUpdate ? stageRanks[stage]
                            : std::vector<int>{ranks[stage]};
  };
  std::vector<ValueReader> readers;
  for (int64_t reader : value.readers)
    readers.push_back({reader, ranksOf(reader)});
  return findMoves(value.stage, ranksOf(value.stage), readers);
}

int64_t StageCosts::bytes(const Action &send) const {
  int64_t sum = 0;
  for (const Value &value : values)
    if (!value.isOfUpdate && value.stage == send.stage)
      for (const Move &move : movesOf(value, rankOf[send.microBatch]))
        sum += move.stage == peerOf(send) ? value.bytes : 0;
  return sum;
}

std::vector<int64_t> StageCosts::sentBytes() const {
  std::set<int> ranks;
  for (const std::vector<int> &having : stageRanks)
    ranks.insert(having.begin(), having.end());
  std::vector<int64_t> sent(ranks.empty() ? 0 : *ranks.rbegin() + 1);
  for (const Value &value : values) {
    if (value.isOfUpdate) {
      for (const Move &move : movesOf(value, {}))
        sent[move.from] += value.bytes;
      continue;
    }
    for (const std::vector<int> &places : rankOf)
      for (const Move &move : movesOf(value, places))
        sent[move.from] += value.bytes;
  }
  for (auto [stage, having] : llvm::enumerate(stageRanks))
    for (int rank : llvm::drop_begin(having)) {
      sent[rank] += sums[stage];
      sent[having.front()] += sums[stage];
    }
  return sent;
}
