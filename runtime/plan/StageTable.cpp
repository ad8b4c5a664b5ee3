//===- StageTable.cpp - The table of a plan's stages ----------------------===//

#include "runtime/FileBytes.h"
#include "runtime/Parts.h"
#include "runtime/Text.h"
#include "runtime/Training.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/StagePlaces.h"
#include "runtime/schedule/Generate.h"
#include "runtime/schedule/StageRanks.h"
#include "runtime/schedule/Versions.h"

#include <algorithm>
#include <cctype>

using namespace mlc::runtime;

static Status wrong(const std::string &what) {
  return Status::error(MLC_USAGE, what);
}

bool mlc::runtime::isTableFile(const std::string &schedule) {
  constexpr std::string_view ending = ".csv";
  return schedule.size() > ending.size() &&
         std::equal(ending.rbegin(), ending.rend(), schedule.rbegin(),
                    [](char a, char b) { return a == std::tolower(b); });
}

/// Whether the schedule is one whose ranks may share a stage: it then runs
/// stages where the plan has them.
static bool dealsPlaces(const StagePlan &stages) {
  if (isTableFile(stages.schedule))
    return false;
  const schedule::ScheduleRow *row = schedule::findSchedule(
      stages.schedule.empty() ? std::string("1f1b") : stages.schedule);
  return row && row->hasReplicas &&
         (!stages.schedule.empty() || stages.ranks >= stages.count);
}

Status mlc::runtime::checkStages(const StagePlan &stages) {
  if (stages.count < 1 || stages.count > mostStagesOfAStep)
    return wrong("a step has 1 to " + std::to_string(mostStagesOfAStep) +
                 " stages, not " + std::to_string(stages.count));
  if (!stages.ends.empty() &&
      stages.count != static_cast<int64_t>(stages.ends.size()) + 1)
    return wrong(std::to_string(stages.ends.size()) +
                 " ends make a stage more, not " +
                 std::to_string(stages.count));
  if (stages.count == 1 && (stages.ranks > 1 || !stages.schedule.empty()))
    return wrong("a schedule is of several stages, and there is one; give "
                 "more");
  if (stages.ranks > 1)
    if (Status status = checkNamedRanks(stages, dealsPlaces(stages));
        !status.ok())
      return status;
  if (stages.ranks < 1 || (stages.ranks > stages.count && !stages.isDealt()))
    return wrong(std::to_string(stages.ranks) + " ranks for " +
                 std::to_string(stages.count) +
                 " stages; each rank has a stage at least, and a multiple of "
                 "the ranks can split the batch too, or the ranks of each "
                 "stage are named, which share its micro-batches");
  if (stages.ranks == 1 && !stages.schedule.empty())
    return wrong("a schedule is of several ranks, and there is one; give more");
  if ((stages.updateEvery || stages.inFlight || stages.slices) &&
      (stages.schedule.empty() || isTableFile(stages.schedule)))
    return wrong("gradients before an update, micro-batches in flight and "
                 "slices are of a schedule with a name, such as ampnet; leave "
                 "them out");
  if (!stages.batchAxes.empty() &&
      (stages.count == 1 ||
       stages.batchAxes.size() != static_cast<size_t>(stages.count) ||
       stages.slices > 1))
    return wrong("meshes are of each of several stages, without slices; leave "
                 "\"mesh\" out of the stages");
  if (stages.recomputes && (stages.count == 1 || stages.slices > 1))
    return wrong("backward passes compute again in a step of several stages, "
                 "without slices; leave \"recompute\" out, or give \"memory\"");
  if (!stages.recomputes && !stages.keptResults.empty())
    return wrong("\"keep_results\" is of backward passes that compute again; "
                 "give \"recompute\": true");
  if (stages.slices > mostStagesOfAStep / stages.count)
    return wrong("stages by slices are at most " +
                 std::to_string(mostStagesOfAStep) + "; give fewer slices");
  return Status::success();
}

Status Plan::checkStaged() const {
  const TrainingPlan &own = *training;
  if (Status status = checkStages(own.stages); !status.ok())
    return status;
  if (!own.isStaged())
    return Status::success();
  if (own.hasServer)
    return wrong(
        "stages are not taken beside a parameter server, which has all "
        "of them; give colocated");
  if (!own.isSplit() &&
      (own.zero != ZeroStage::None || own.groups > 1 || !algorithm.empty() ||
       own.statistics == BatchStatistics::Local ||
       !(own.buckets == BucketOptions::of(own.buckets.rule))))
    return wrong("stages are not taken beside an algorithm, ZeRO, buckets, "
                 "groups and local statistics where no ranks split the batch; "
                 "give a multiple of the ranks, or leave these out");
  if (own.stages.ranks == 1)
    return Status::success();
  schedule::Table table;
  if (Status status = own.makeTable(table); !status.ok())
    return status;
  if (own.stages.recomputes && own.splitsBackward())
    return wrong("the schedule has the gradients of inputs and of weights "
                 "apart, which would both compute the forward pass again; "
                 "give another schedule, or leave \"recompute\" out");
  return checkPlaces(own.stages, table);
}

bool StagePlan::isDealt() const {
  std::vector<uint8_t> isNamed(std::max<int64_t>(ranks, 0));
  for (const std::vector<int64_t> &own : places)
    for (int64_t rank : own)
      if (rank >= ranks || isNamed[rank]++)
        return false;
  return !places.empty();
}

std::vector<std::vector<int64_t>>
StagePlan::placesOf(const std::vector<int64_t> &replicas) {
  std::vector<std::vector<int64_t>> places;
  int64_t next = 0;
  for (int64_t count : replicas) {
    std::vector<int64_t> &own = places.emplace_back();
    for (int64_t i = 0; i < count; ++i)
      own.push_back(next++);
  }
  return places;
}

/// Brings the lines of a generated table to the ranks that the plan gives the
/// stages, if each line has one stage.
static void placeLines(const StagePlan &stages, schedule::Table &table) {
  const std::vector<std::vector<int32_t>> having = schedule::findRanks(table);
  if (table.ranks.size() != static_cast<size_t>(stages.ranks) ||
      having.size() != stages.places.size())
    return;
  size_t lines = 0;
  for (size_t stage = 0; stage < having.size(); ++stage) {
    lines += having[stage].size();
    if (having[stage].size() != stages.places[stage].size())
      return;
  }
  if (lines != table.ranks.size())
    return;
  std::vector<std::vector<schedule::Action>> placed(lines);
  for (size_t stage = 0; stage < having.size(); ++stage)
    for (size_t i = 0; i < having[stage].size(); ++i)
      placed[stages.places[stage][i]] =
          std::move(table.ranks[having[stage][i]]);
  table.ranks = std::move(placed);
}

int64_t StagePlan::chooseRanks(int64_t all) const {
  if (isTableFile(schedule)) {
    FileBytes bytes;
    schedule::Table table;
    // makeTable tells errors.
    if (FileBytes::read(schedule.c_str(), maxTextFile, bytes).ok() &&
        schedule::Table::parse(bytes.text(), table).ok())
      if (const auto lines = static_cast<int64_t>(table.ranks.size());
          lines > 1 && all % lines == 0)
        return lines;
  }
  return all % count ? all : std::min(all, count);
}

/// Refuses what training does not run.
static Status checkCells(const schedule::Table &table) {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t cell = 0; cell < table.ranks[rank].size(); ++cell)
      if (const schedule::Action &action = table.ranks[rank][cell];
          action.slice != schedule::kNone)
        return Status::badFile("rank " + std::to_string(rank) + ", cell " +
                               std::to_string(cell) + ", " + toString(action) +
                               ": slices are of the schedule terapipe, which "
                               "has a name; leave them out");
  return Status::success();
}

Status mlc::runtime::readTableFile(const StagePlan &stages,
                                   const std::string &remedy,
                                   schedule::Table &table) {
  FileBytes bytes;
  Status status = FileBytes::read(stages.schedule.c_str(), maxTextFile, bytes);
  if (status.ok())
    status = schedule::Table::parse(bytes.text(), table);
  const auto lines = static_cast<int64_t>(table.ranks.size());
  if (!status.ok() || lines == stages.ranks)
    return status;
  return Status::badFile("has " + std::to_string(lines) +
                         (lines == 1 ? " line" : " lines") +
                         ", one for each rank, and there are " +
                         std::to_string(stages.ranks) + " ranks; " + remedy);
}

/// Reads a table that somebody wrote, and checks that it trains these stages.
static Status readTable(const TrainingPlan &plan, schedule::Table &table) {
  const std::string &path = plan.stages.schedule;
  Status status = readTableFile(plan.stages, "start as many", table);
  if (status.ok())
    status = checkCells(table);
  schedule::CheckOptions options;
  options.stages = static_cast<int32_t>(plan.stages.count);
  options.microBatches = static_cast<int32_t>(plan.accumulate);
  options.isTraining = true;
  // Ranks go on while they send.
  options.isBuffered = true;
  if (status.ok())
    status = schedule::checkPromises(table, options);
  std::vector<schedule::StageVersions> versions;
  if (status.ok() && schedule::isAsynchronous(table))
    status = schedule::findVersions(table, versions);
  if (!status.ok())
    status.message = printable(path) + ": " + status.message;
  return status;
}

Status TrainingPlan::makeTable(schedule::Table &table) const {
  if (isTableFile(stages.schedule))
    return readTable(*this, table);
  const std::string name = !stages.schedule.empty()      ? stages.schedule
                           : stages.count > stages.ranks ? "interleaved-1f1b"
                                                         : "1f1b";
  schedule::ScheduleOptions options;
  options.name = name;
  options.stages = stages.count;
  options.ranks = stages.ranks;
  options.microBatches = accumulate;
  options.updateEvery = stages.updateEvery;
  options.inFlight = stages.inFlight;
  options.slices = stages.slices;
  // Schedules without replicas say so.
  if (stages.isDealt() && (dealsPlaces(stages) || stages.ranks > stages.count))
    for (const std::vector<int64_t> &ranks : stages.places)
      options.replicas.push_back(static_cast<int64_t>(ranks.size()));
  Status status = schedule::generate(options, table);
  if (status.ok() && stages.isDealt())
    placeLines(stages, table);
  // A stage and a slice make a stage.
  for (std::vector<schedule::Action> &actions : table.ranks)
    for (schedule::Action &action : actions) {
      if (action.slice == schedule::kNone)
        continue;
      action.stage = action.stage * static_cast<int32_t>(
                                        std::max<int64_t>(stages.slices, 1)) +
                     action.slice;
      action.slice = schedule::kNone;
    }
  return status;
}

std::vector<bool> TrainingPlan::stagesOf(int64_t rank) const {
  schedule::Table table;
  if (stages.ranks == 1 || !makeTable(table).ok())
    return std::vector<bool>(stages.countSliced(), true);
  const std::vector<MeshAxis> all = mesh();
  const std::vector<int64_t> at = coordinatesOf(all, rank);
  int64_t line = 0;
  for (size_t axis = 0; axis < all.size(); ++axis)
    if (all[axis].name == kStageAxis)
      line = at[axis];
  std::vector<bool> has(stages.countSliced());
  for (const schedule::Action &action : table.ranks[line])
    if (schedule::isCompute(action.kind))
      has[action.stage] = true;
  return has;
}

bool TrainingPlan::splitsBackward() const {
  schedule::Table table;
  if (stages.ranks == 1 || !makeTable(table).ok())
    return false;
  for (const std::vector<schedule::Action> &actions : table.ranks)
    for (const schedule::Action &action : actions)
      if (action.kind == schedule::ActionKind::InputGradient ||
          action.kind == schedule::ActionKind::WeightGradient)
        return true;
  return false;
}

/// The versions of the stages of an asynchronous schedule, else none.
static std::vector<schedule::StageVersions>
findVersions(const TrainingPlan &plan) {
  schedule::Table table;
  std::vector<schedule::StageVersions> all;
  if (plan.stages.ranks > 1 && plan.makeTable(table).ok() &&
      schedule::isAsynchronous(table))
    (void)schedule::findVersions(table, all);
  return all;
}

std::vector<int64_t> TrainingPlan::updatesOfStages() const {
  std::vector<int64_t> updates;
  for (const schedule::StageVersions &stage : findVersions(*this))
    updates.push_back(static_cast<int64_t>(stage.gradients.size()));
  updates.resize(stages.count, 1);
  return updates;
}

int64_t TrainingPlan::countUpdates() const {
  const std::vector<int64_t> all = updatesOfStages();
  return *std::max_element(all.begin(), all.end());
}

std::vector<int64_t> TrainingPlan::versionedStages() const {
  std::vector<int64_t> found;
  const std::vector<schedule::StageVersions> all = findVersions(*this);
  for (size_t stage = 0; stage < all.size(); ++stage)
    if (all[stage].slots > 1)
      found.push_back(static_cast<int64_t>(stage));
  return found;
}
