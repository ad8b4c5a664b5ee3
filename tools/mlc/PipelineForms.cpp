//===- PipelineForms.cpp - Ways to share a step among ranks ---------------===//

#include "tools/mlc/PipelineForms.h"
#include "planner/strategies/Strategies.h"
#include "runtime/schedule/Generate.h"
#include "tools/mlc/Failure.h"
#include <fmt/format.h>
#include <numeric>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;
namespace schedule = mlc::runtime::schedule;

/// The samples of a step and the numbers of micro-batches, of which a fixed
/// batch of the model leaves one.
llvm::Error PipelineForms::findSizes() {
  auto first = reader.read(0, 1);
  if (!first)
    return first.takeError();
  const int64_t fixed = (*first)->batch;
  sampleCount = request.samples ? request.samples : fixed;
  if (!sampleCount)
    return fail(Exit::Usage, request.model.model +
                                 ": the batch is open; give --samples, those "
                                 "of a step");
  if (fixed && sampleCount % fixed)
    return fail(Exit::Usage,
                fmt::format("{}: has batches of {} samples, which --samples={} "
                            "is no multiple of",
                            request.model.model, fixed, sampleCount));
  if (fixed) {
    microBatches = {sampleCount / fixed};
    return llvm::Error::success();
  }
  microBatches = request.microBatches.empty()
                     ? listMicroBatches(sampleCount, request.ranks)
                     : request.microBatches;
  for (int64_t count : microBatches)
    if (sampleCount % count)
      return fail(Exit::Usage,
                  fmt::format("--samples={} is no multiple of {} micro-batches",
                              sampleCount, count));
  return llvm::Error::success();
}

/// The schedules, with stages of a rank where there are several numbers.
std::vector<std::pair<std::string, int64_t>> PipelineForms::schedules() const {
  std::vector<std::pair<std::string, int64_t>> all;
  for (const schedule::ScheduleRow &row : schedule::allSchedules()) {
    const bool isWanted = llvm::is_contained(request.schedules, row.name);
    if (request.schedules.empty()
            ? !row.isSynchronous || row.hasSlices ||
                  llvm::StringRef(row.name) == "data-parallel"
            : !isWanted)
      continue;
    if (!row.hasChunks)
      all.push_back({row.name, 0});
    for (int64_t chunks : {2, 4})
      if (row.hasChunks)
        all.push_back({row.name, chunks});
  }
  return all;
}

PipelineProblem PipelineForms::problemOf(const Form &form,
                                         const Blocks &blocks) const {
  PipelineProblem problem;
  problem.blocks = blocks.costs;
  problem.memory = blocks.memory.share(form.zero, form.copies);
  problem.network = &network;
  problem.places.offsets.clear();
  for (int64_t copy = 0; copy < form.copies; ++copy)
    for (int64_t part = 0; part < form.parts; ++part)
      problem.places.offsets.push_back(copy * form.stride() + part);
  for (int64_t place = 0; place < form.places; ++place) {
    const int64_t first = place * form.distance();
    std::vector<int64_t> alike;
    for (int64_t offset : problem.places.offsets)
      alike.push_back(first + offset);
    problem.places.ranks.push_back(first);
    problem.kinds.push_back(blocks.slowest(alike));
  }
  problem.copies = form.copies;
  problem.stride = form.stride();
  problem.parts = form.parts;
  problem.microBatches = form.microBatches;
  return problem;
}

/// The memory of the device that has most.
double PipelineForms::largestMemory() const {
  double most = 0;
  const Cluster &cluster = network.getCluster();
  for (int64_t rank = 0; rank < request.ranks; ++rank) {
    const double bytes = cluster.deviceOf(int(rank)).memoryBytes.value;
    most = std::max(most, bytes > 0 ? bytes : 1e300);
  }
  return most;
}

/// Whether a device has memory for the states of a step that has one stage, and
/// for the intermediate results of each entry.
bool PipelineForms::mayFit(const StepMemory &memory) const {
  double states = 0, arena = 0;
  for (const StepMemory::State &state : memory.states)
    states += double(state.bytes);
  for (const StepMemory::Entry &entry : memory.entries)
    arena = std::max(arena, double(entry.arena));
  return states + arena <= largestMemory();
}

/// Numbers of ranks that weights are split over: within a node, as exchanges of
/// each operator are many.
std::vector<int64_t> PipelineForms::partCounts() const {
  if (!request.parts.empty() || !request.findShardings)
    return request.parts.empty() ? std::vector<int64_t>{1} : request.parts;
  std::vector<int> ranks(size_t(request.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  const int64_t most = network.countInNode(ranks);
  std::vector<int64_t> all;
  for (int64_t parts = 1; parts <= most; parts *= 2)
    all.push_back(parts);
  return all;
}

/// Adds a form, unless its micro-batches are too large.
llvm::Error PipelineForms::addForms(Form form, std::vector<Form> &forms) {
  const int64_t batch = sampleCount / form.microBatches / form.copies;
  auto large = tooLarge.find(form.parts);
  if (large != tooLarge.end() && batch >= large->second)
    return llvm::Error::success();
  auto blocks = reader.read(batch, form.parts);
  if (!blocks)
    return blocks.takeError();
  if ((*blocks)->costs.empty())
    return llvm::Error::success();
  StepMemory results = (*blocks)->recomputing().memory;
  results.states.clear();
  if (!mayFit(results)) {
    tooLarge.try_emplace(form.parts, batch);
    return llvm::Error::success();
  }
  const std::vector<StepCosts> &costs = (*blocks)->costs;
  double perSecond = 0;
  for (int64_t rank = 0; rank < form.places; ++rank)
    perSecond +=
        1 /
        std::max(toSeconds(costs[(*blocks)->kinds[size_t(rank)]].computing()),
                 1e-12);
  form.least = toTime(double(form.microBatches) / perSecond);
  const Time bound = PipelinePlanner(problemOf(form, **blocks), 0).bound();
  leastSpan = leastSpan ? std::min(leastSpan, bound) : bound;
  if (form.copies == 1 && form.parts == 1) {
    const Time own = costs.front().computing() * form.microBatches;
    onOneRank = onOneRank ? std::min(onOneRank, own) : own;
  }
  forms.push_back(form);
  return llvm::Error::success();
}

/// Ways to share a step among all ranks.
llvm::Error PipelineForms::listForms(std::vector<Form> &forms) {
  std::vector<int> ranks(size_t(request.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  const bool hasNodes = network.countInNode(ranks) < request.ranks;
  std::vector<Form> all;
  for (int64_t parts : partCounts())
    for (int64_t copies = 1; copies * parts <= request.ranks; ++copies)
      for (int64_t count : microBatches)
        for (bool isOutermost : {false, true}) {
          if (request.ranks % (copies * parts) || sampleCount / count % copies)
            continue;
          Form form;
          form.copies = copies;
          form.parts = parts;
          form.places = request.ranks / copies / parts;
          form.microBatches = count;
          form.isOutermost = isOutermost;
          if (!isOutermost || (hasNodes && copies > 1 && form.places > 1))
            all.push_back(form);
        }
  // Where a micro-batch is too large, larger ones are.
  auto batchOf = [&](const Form &form) {
    return sampleCount / form.microBatches / form.copies;
  };
  llvm::stable_sort(all, [&](const Form &a, const Form &b) {
    return batchOf(a) < batchOf(b);
  });
  std::vector<int64_t> batches;
  for (const Form &form : all)
    if (batches.empty() || batchOf(form) != batches.back())
      batches.push_back(batchOf(form));
  reader.expect(std::move(batches));
  for (const Form &form : all)
    if (llvm::Error error = addForms(form, forms))
      return error;
  llvm::stable_sort(
      forms, [](const Form &a, const Form &b) { return a.least < b.least; });
  return llvm::Error::success();
}

/// What ranks wait at least until the first of them has work, and after the
/// last one has: the share of a stage's work that the schedule leaves.
static double fillOf(llvm::StringRef name, int64_t chunks, int64_t places) {
  const auto stages = double(places - 1);
  if (name == "gpipe" || name == "1f1b")
    return stages;
  if (name == "zero-bubble")
    return stages / 3;
  return chunks > 1 ? stages / double(chunks) : 0;
}

/// Ways to run the form that need less and less memory, and more time.
std::vector<Form> PipelineForms::variantsOf(const Form &form) const {
  std::vector<Form> all;
  for (bool recomputes : {false, true})
    for (int zero = 0; zero <= (form.copies > 1 ? 1 : 0); ++zero) {
      if (request.recomputing ==
          (recomputes ? Recomputing::Never : Recomputing::Always))
        continue;
      Form own = form;
      own.recomputes = recomputes;
      own.zero = zero;
      // A forward pass is about a third.
      own.least += recomputes ? own.least / 3 : 0;
      all.push_back(own);
    }
  return all;
}

/// The memory that a rank needs at least, as ranks share all evenly.
static double leastMemory(const StepMemory &memory, const Candidate &way) {
  const auto places = double(way.form.places);
  const bool isAllInFlight =
      way.schedule == "gpipe" || way.schedule == "breadth-first";
  // Of a pipeline that drains as it fills, the first ranks have most.
  const auto flying =
      isAllInFlight ? double(way.form.microBatches)
                    : (std::min(double(way.form.microBatches), places) + 1) / 2;
  double states = 0, carried = 0, arena = 0;
  for (const StepMemory::State &state : memory.states)
    states += double(state.bytes);
  for (const StepMemory::Value &value : memory.values)
    if (value.source.kind == schedule::ActionKind::Forward)
      carried += double(value.bytes);
  for (const StepMemory::Entry &entry : memory.entries)
    if (!entry.entry.isUpdate())
      arena = std::max(arena, double(entry.arena));
  return (states + flying * carried) / places + arena;
}

/// All schedules with all ways to have the form, but for those that no device
/// has the memory for.
llvm::Error PipelineForms::addCandidates(const Form &form,
                                         std::vector<Candidate> &all) {
  auto read = blocksOf(form);
  if (!read)
    return read.takeError();
  const Blocks &blocks = **read, again = blocks.recomputing();
  blockCount = blocks.ends.size() + 1;
  std::vector<std::pair<std::string, int64_t>> names = schedules();
  if (form.places == 1)
    names = {{"1f1b", 0}};
  for (const Form &own : variantsOf(form)) {
    const StepMemory memory =
        (own.recomputes ? again : blocks).memory.share(own.zero, own.copies);
    for (const auto &[name, chunks] : names)
      // Stages with several ranks: as a dynamic program says, or equally many.
      for (int64_t stages = -1; stages < form.places; ++stages) {
        if (stages == 1 || (stages > 1 && form.places % stages) ||
            (stages >= 0 && !schedule::findSchedule(name)->hasReplicas) ||
            (stages >= 0 && form.places == 1))
          continue;
        Candidate way{own, name, chunks, stages, 0, 0};
        way.span =
            double(own.least) *
            (1 + fillOf(name, chunks, stages > 0 ? stages : form.places) /
                     double(form.microBatches));
        way.memory = leastMemory(memory, way);
        all.push_back(std::move(way));
      }
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Candidate>> PipelineForms::candidates() {
  std::vector<Form> forms;
  if (llvm::Error error = listForms(forms))
    return std::move(error);
  std::vector<Candidate> all;
  for (const Form &form : forms)
    if (llvm::Error error = addCandidates(form, all))
      return std::move(error);
  return all;
}

llvm::Expected<const Blocks *> PipelineForms::blocksOf(const Form &form) {
  return reader.read(sampleCount / form.microBatches / form.copies, form.parts);
}
