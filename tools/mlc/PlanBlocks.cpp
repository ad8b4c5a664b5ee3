//===- PlanBlocks.cpp - A step as blocks that stages are made of ----------===//

#include "tools/mlc/PlanBlocks.h"
#include "passes/Stages/Repeats.h"
#include "passes/Stages/Stages.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/StageCosts.h"
#include "tools/mlc/StageMemory.h"
#include "llvm/ADT/StringMap.h"

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
using Kind = mlc::runtime::schedule::ActionKind;

size_t Blocks::slowest(llvm::ArrayRef<int64_t> ranks) const {
  size_t found = kinds[ranks.front()];
  for (int64_t rank : ranks)
    if (costs[kinds[rank]].computing() > costs[found].computing())
      found = kinds[rank];
  return found;
}

Blocks Blocks::recomputing() const {
  Blocks again = *this;
  for (StepCosts &kind : again.costs)
    for (StageTimes &times : kind.times)
      times.input += times.forward;
  // What a block's forward pass gives its own gradients need not wait.
  std::vector<int64_t> freed(ends.size() + 1);
  again.memory.values.clear();
  for (StepMemory::Value value : memory.values) {
    const StageEntry source = value.source;
    if (source.kind == Kind::Forward) {
      const size_t before = value.readers.size();
      llvm::erase_if(value.readers, [&](const StageEntry &reader) {
        return reader.stage == source.stage && reader.kind != Kind::Forward;
      });
      if (value.readers.empty()) {
        freed[size_t(source.stage)] += value.bytes;
        continue;
      }
      // The block itself begins with what the ones before it gave.
      if (value.readers.size() < before)
        freed[size_t(source.stage)] += value.bytes;
    }
    again.memory.values.push_back(std::move(value));
  }
  // Gradients take the place of what was computed again.
  for (StepMemory::Entry &entry : again.memory.entries)
    if (entry.entry.kind == Kind::InputGradient) {
      const int64_t more = freed[size_t(entry.entry.stage)];
      entry.arena =
          std::max(entry.arena, more) + std::min(entry.arena, more) / 4;
    }
  return again;
}

static bool isAlike(const StepCosts &a, const StepCosts &b) {
  return a.times.size() == b.times.size() && a.sums == b.sums &&
         llvm::equal(a.values, b.values,
                     [](const auto &one, const auto &other) {
                       return one.stage == other.stage &&
                              one.readers == other.readers &&
                              one.isOfUpdate == other.isOfUpdate;
                     });
}

static bool isAlike(const StepMemory &a, const StepMemory &b) {
  return a.states.size() == b.states.size() &&
         llvm::equal(a.entries, b.entries,
                     [](const auto &one, const auto &other) {
                       return one.entry == other.entry;
                     }) &&
         llvm::equal(a.values, b.values,
                     [](const auto &one, const auto &other) {
                       return one.source == other.source &&
                              one.readers == other.readers;
                     });
}

std::optional<Blocks> Blocks::between(const Blocks &other, double place) const {
  if (costs.size() != other.costs.size() || !isAlike(memory, other.memory))
    return std::nullopt;
  auto move = [&](int64_t &value, int64_t to) {
    value += int64_t(double(to - value) * place);
  };
  Blocks own = *this;
  for (auto [kind, to] : llvm::zip(own.costs, other.costs)) {
    if (!isAlike(kind, to))
      return std::nullopt;
    for (auto [times, others] : llvm::zip(kind.times, to.times)) {
      move(times.forward, others.forward);
      move(times.input, others.input);
      move(times.weight, others.weight);
      move(times.step, others.step);
    }
    for (auto [value, others] : llvm::zip(kind.values, to.values))
      move(value.bytes, others.bytes);
  }
  for (auto [entry, to] : llvm::zip(own.memory.entries, other.memory.entries)) {
    move(entry.arena, to.arena);
    move(entry.scratch, to.scratch);
  }
  for (auto [value, to] : llvm::zip(own.memory.values, other.memory.values))
    move(value.bytes, to.bytes);
  move(own.memory.samples, other.memory.samples);
  move(own.batch, other.batch);
  return own;
}

std::vector<std::string> Blocks::kept(llvm::ArrayRef<size_t> stageEnds) const {
  auto stageOf = [&](int64_t block) {
    return std::upper_bound(stageEnds.begin(), stageEnds.end(), size_t(block)) -
           stageEnds.begin();
  };
  std::vector<std::string> names;
  for (const Crossing &crossing : crossings)
    if (llvm::any_of(crossing.readers,
                     [&](int64_t reader) {
                       return stageOf(reader) == stageOf(crossing.block);
                     }) &&
        !llvm::is_contained(names, crossing.node))
      names.push_back(crossing.node);
  return names;
}

/// The nodes of forward passes whose results other blocks read.
static std::vector<Blocks::Crossing> readCrossings(mlir::ModuleOp module) {
  std::vector<std::pair<mlir::func::FuncOp, runtime::schedule::StageEntry>> all;
  llvm::StringMap<std::vector<int64_t>> readers;
  for (auto entry : module.getOps<mlir::func::FuncOp>())
    if (auto name = findEntry(entry.getName()); name && !name->isUpdate())
      all.push_back({entry, *name});
  for (auto &[entry, name] : all)
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto tensor = entry.getArgAttrOfType<mlir::StringAttr>(i, "mlc.name"))
        readers[tensor].push_back(name.stage);
  std::vector<Blocks::Crossing> crossings;
  for (auto &[entry, name] : all) {
    if (name.kind != Kind::Forward)
      continue;
    mlir::Operation *end = entry.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      auto tensor = entry.getResultAttrOfType<mlir::StringAttr>(i, "mlc.name");
      auto it = tensor ? readers.find(tensor.getValue()) : readers.end();
      mlir::Operation *op = value.getDefiningOp();
      auto node =
          op ? op->getLoc()->findInstanceOf<mlir::NameLoc>() : mlir::NameLoc();
      if (it == readers.end() || !node)
        continue;
      Blocks::Crossing crossing{node.getName().str(), name.stage, {}};
      for (int64_t reader : it->second)
        if (reader != name.stage)
          crossing.readers.push_back(reader);
      if (!crossing.readers.empty())
        crossings.push_back(std::move(crossing));
    }
  }
  return crossings;
}

llvm::Error BlockReader::readCosts(mlir::ModuleOp module,
                                   Compilation &compilation, int64_t parts,
                                   Blocks &blocks) const {
  auto devices =
      DeviceCosts::make(compilation, request.model, network.getCluster());
  if (!devices)
    return devices.takeError();
  // Parts are on neighbouring ranks.
  const std::vector<runtime::MeshAxis> mesh = {
      {kTensorAxis, static_cast<uint32_t>(parts)}};
  const EntryTimes entries(*devices, network, mesh, "");
  const auto once = withoutRepeats(module);
  // The kinds of devices that are used, in the order of ranks.
  std::vector<size_t> used;
  for (int64_t rank = 0; rank < request.ranks; ++rank) {
    auto known = llvm::find(used, devices->kindOf(rank));
    blocks.kinds.push_back(known - used.begin());
    if (known != used.end())
      continue;
    used.push_back(devices->kindOf(rank));
    auto costs = readStepCosts(
        *once, entries,
        std::vector<std::vector<int64_t>>(blocks.ends.size() + 1, {rank}));
    if (!costs)
      return costs.takeError();
    blocks.costs.push_back(std::move(*costs));
  }
  (*once).walk([&](mlir::Operation *) { ++blocks.operators; });
  blocks.memory = readStepMemory(module, devices->of(0));
  blocks.crossings = readCrossings(module);
  return llvm::Error::success();
}

/// For each block that `own` stands for, those of `others` that have to do with
/// it.
static std::vector<std::vector<int64_t>>
expandReaders(const Repeats &repeats, int64_t own,
              llvm::ArrayRef<int64_t> others) {
  std::vector<std::vector<int64_t>> all(repeats.standsFor(own).size());
  for (int64_t other : others) {
    const std::vector<std::vector<int64_t>> found =
        repeats.neighbours(own, other);
    for (size_t copy = 0; copy < all.size(); ++copy)
      for (int64_t reader : found[std::min(copy, found.size() - 1)])
        if (!llvm::is_contained(all[copy], reader))
          all[copy].push_back(reader);
  }
  return all;
}

static StepCosts expand(const Repeats &repeats, const StepCosts &costs) {
  StepCosts all;
  all.times.resize(size_t(repeats.countAll()));
  all.sums.resize(size_t(repeats.countAll()));
  for (int64_t block = 0; block < costs.countStages(); ++block)
    for (int64_t copy : repeats.standsFor(block)) {
      all.times[size_t(copy)] = costs.times[size_t(block)];
      all.sums[size_t(copy)] = costs.sums[size_t(block)];
    }
  for (const StepCosts::Value &value : costs.values) {
    const auto readers = expandReaders(repeats, value.stage, value.readers);
    for (auto [copy, stage] : llvm::enumerate(repeats.standsFor(value.stage)))
      all.values.push_back(
          {stage, value.bytes, value.isOfUpdate, readers[copy]});
  }
  return all;
}

/// Entries of other blocks, as the copies of `own` have them.
static std::vector<std::vector<StageEntry>>
expandEntries(const Repeats &repeats, int64_t own,
              llvm::ArrayRef<StageEntry> others) {
  std::vector<std::vector<StageEntry>> all(repeats.standsFor(own).size());
  for (const StageEntry &other : others) {
    const auto found = expandReaders(repeats, own, {other.stage});
    for (size_t copy = 0; copy < all.size(); ++copy)
      for (int64_t stage : found[copy])
        all[copy].push_back({stage, other.kind});
  }
  return all;
}

static StepMemory expand(const Repeats &repeats, const StepMemory &memory) {
  StepMemory all;
  all.samples = memory.samples;
  for (const StepMemory::Entry &entry : memory.entries)
    for (int64_t copy : repeats.standsFor(entry.entry.stage))
      all.entries.push_back(
          {{copy, entry.entry.kind}, entry.arena, entry.scratch});
  llvm::sort(all.entries,
             [](const auto &a, const auto &b) { return a.entry < b.entry; });
  for (const StepMemory::Value &value : memory.values) {
    const auto readers =
        expandEntries(repeats, value.source.stage, value.readers);
    for (auto [copy, stage] :
         llvm::enumerate(repeats.standsFor(value.source.stage)))
      all.values.push_back(
          {{stage, value.source.kind}, readers[copy], value.bytes});
  }
  for (const StepMemory::State &state : memory.states) {
    // A state of several blocks is that of its first user.
    const int64_t own =
        state.sumOf >= 0 ? state.sumOf : state.users.front().stage;
    const auto users = expandEntries(repeats, own, state.users);
    for (auto [copy, stage] : llvm::enumerate(repeats.standsFor(own)))
      all.states.push_back({users[copy], state.bytes,
                            state.sumOf < 0 ? -1 : stage, state.sharedFrom});
  }
  return all;
}

/// Blocks of a model that was left with three repeats, as the whole has them.
static void expand(const Repeats &repeats, Blocks &blocks) {
  for (StepCosts &costs : blocks.costs)
    costs = expand(repeats, costs);
  blocks.memory = expand(repeats, blocks.memory);
  blocks.ends = repeats.allEnds;
  std::vector<Blocks::Crossing> crossings;
  for (const Blocks::Crossing &crossing : blocks.crossings) {
    const auto readers =
        expandReaders(repeats, crossing.block, crossing.readers);
    const std::vector<int64_t> stands = repeats.standsFor(crossing.block);
    auto names = repeats.names.find(crossing.node);
    for (auto [copy, block] : llvm::enumerate(stands))
      crossings.push_back({stands.size() > 1 && names != repeats.names.end()
                               ? names->second[copy]
                               : crossing.node,
                           block, readers[copy]});
  }
  blocks.crossings = std::move(crossings);
}

/// Reads the step as blocks of one rank each, or of the ranks that have parts
/// of its weights; the gradients of inputs and of weights are apart, as some
/// schedules want them.
llvm::Expected<Blocks> BlockReader::make(int64_t batch, int64_t parts) {
  runtime::Plan plan;
  plan.training.emplace();
  // Two batches, so that gradients are added up.
  plan.training->accumulate = 2;
  Blocks blocks;
  if (parts > 1) {
    auto split = shardings(parts, batch);
    if (!split)
      return split.takeError();
    if ((*split)->empty())
      return blocks;
    plan.training->axes = {{kTensorAxis, static_cast<uint32_t>(parts)}};
    // Reading whole weights tells which layers are left out.
    if (auto whole = read(batch, 1); !whole)
      return whole.takeError();
    for (const runtime::TensorSharding &sharding : **split)
      if (!leftOut[batch].contains(sharding.pattern))
        plan.shardings.push_back(sharding);
  }
  std::optional<Repeats> repeats;
  auto choose = [&](mlir::ModuleOp module, runtime::TrainingPlan &own) {
    if (ends.empty())
      repeats = shortenRepeats(module, size_t(request.blocks));
    blocks.ends = !ends.empty() ? ends
                  : repeats     ? repeats->ends
                                : listStageEnds(module, size_t(request.blocks));
    if (blocks.ends.empty())
      return;
    own.stages.ends = blocks.ends;
    own.stages.count = int64_t(blocks.ends.size()) + 1;
    own.stages.ranks = own.stages.count;
    own.stages.schedule = "zero-bubble";
  };
  auto read = readTrainingModel(
      request.model, request.training, &request.optimizer, batch,
      {2, false, false, /*isApart=*/true}, &plan, choose);
  if (!read)
    return read.takeError();
  blocks.batch = read->training.batch;
  // A model of one node cannot be cut.
  if (blocks.batch > 0 && !blocks.ends.empty())
    if (llvm::Error error = readCosts(read->compilation->getModule(),
                                      *read->compilation, parts, blocks))
      return std::move(error);
  if (!repeats)
    return blocks;
  expand(*repeats, blocks);
  for (const auto &copies : repeats->names)
    for (const std::string &name : llvm::drop_begin(copies.getValue()))
      if (name != copies.getKey())
        leftOut[batch].insert(name);
  return blocks;
}

llvm::Expected<const Blocks *> BlockReader::read(int64_t batch, int64_t parts) {
  auto it = known.find({batch, parts});
  if (it != known.end())
    return &it->second;
  auto between = interpolate(batch, parts);
  if (!between)
    return between.takeError();
  if (!*between) {
    auto blocks = make(batch, parts);
    if (!blocks)
      return blocks.takeError();
    *between = std::move(*blocks);
  }
  return &known.emplace(std::pair(batch, parts), std::move(**between))
              .first->second;
}

/// Of a large model every fourth power of 2 is read, and the first and the last
/// of what is expected.
llvm::Expected<std::optional<Blocks>> BlockReader::interpolate(int64_t batch,
                                                               int64_t parts) {
  constexpr int64_t mostOperators = 20000;
  std::optional<Blocks> none;
  if (expected.size() < 3 || !llvm::is_contained(expected, batch))
    return none;
  auto isRead = [&](int64_t size) {
    return size == expected.front() || size == expected.back() ||
           (llvm::isPowerOf2_64(uint64_t(size)) &&
            llvm::Log2_64(size) % 2 == 0);
  };
  int64_t below = 0, above = 0;
  for (int64_t size : expected) {
    below = isRead(size) && size < batch ? size : below;
    above = isRead(size) && size > batch && !above ? size : above;
  }
  if (isRead(batch) || !below || !above)
    return none;
  auto less = read(below, parts);
  if (!less)
    return less.takeError();
  const int64_t operators = (*less)->operators * int64_t(expected.size());
  if (operators < mostOperators)
    return none;
  auto more = read(above, parts);
  if (!more)
    return more.takeError();
  return (*less)->between(**more,
                          double(batch - below) / double(above - below));
}

llvm::Expected<const std::vector<runtime::TensorSharding> *>
BlockReader::shardings(int64_t parts, int64_t batch) {
  auto [it, isNew] = splits.try_emplace(parts);
  if (isNew && parts > 1 && request.findShardings) {
    // Where nothing is worth being split, there are no such plans.
    if (auto found = request.findShardings(parts, batch))
      it->second = std::move(*found);
    else
      llvm::consumeError(found.takeError());
  }
  return &it->second;
}

llvm::Expected<std::vector<Time>>
mlc::cli::readStageTimes(const PipelineRequest &request, const Cluster &cluster,
                         int64_t batch, llvm::ArrayRef<std::string> ends) {
  const Network network(cluster);
  BlockReader reader(request, network, ends.vec());
  auto blocks = reader.read(batch, 1);
  if (!blocks)
    return blocks.takeError();
  std::vector<Time> times;
  for (const StageTimes &stage : (*blocks)->costs.front().times)
    times.push_back(stage.forward + stage.input + stage.weight);
  return times;
}
