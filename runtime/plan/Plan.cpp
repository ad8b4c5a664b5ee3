//===- Plan.cpp - How a program is split over ranks -----------------------===//

#include "runtime/plan/Plan.h"
#include "runtime/Blake3.h"
#include "runtime/Text.h"
#include "runtime/Training.h"
#include "runtime/transport/RankThread.h"
#include "runtime/transport/Schedule.h"

#include <algorithm>
#include <set>

namespace mlc::runtime {

static Status wrong(const std::string &what) {
  return Status::error(MLC_USAGE, what);
}

BucketOptions BucketOptions::of(BucketRule rule) {
  constexpr int64_t horovod = int64_t(64) << 20;
  return rule == BucketRule::DDP ? BucketOptions()
                                 : BucketOptions{rule, horovod, horovod};
}

bool matchesName(std::string_view pattern, std::string_view name) {
  if (pattern == name)
    return true;
  // Each * takes as little as possible; only the last place of one can change.
  size_t at = 0, star = std::string_view::npos, taken = 0;
  for (size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::vector<std::string_view> splitDims(std::string_view text, char separator) {
  std::vector<std::string_view> dims;
  for (;;) {
    const size_t end = text.find(separator);
    dims.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return dims;
    text.remove_prefix(end + 1);
  }
}

const TensorSharding *findSharding(const std::vector<TensorSharding> &all,
                                   std::string_view name) {
  const TensorSharding *found = nullptr;
  for (const TensorSharding &sharding : all)
    if (matchesName(sharding.pattern, name))
      found = &sharding;
  return found;
}

const TensorSharding *Plan::find(std::string_view name) const {
  return findSharding(shardings, name);
}

std::vector<MeshAxis> TrainingPlan::mesh() const {
  std::vector<MeshAxis> mesh = {{kDataAxis, static_cast<uint32_t>(ranks)}};
  if (stages.ranks > 1)
    mesh.insert(stages.isOutermost ? mesh.begin() : mesh.end(),
                {kStageAxis, static_cast<uint32_t>(stages.ranks)});
  mesh.insert(mesh.end(), axes.begin(), axes.end());
  return mesh;
}

int64_t TrainingPlan::countRanks() const {
  int64_t count = ranks * stages.ranks;
  for (const MeshAxis &axis : axes)
    count *= axis.size;
  return count + hasServer;
}

Status Plan::setTrainingMesh() {
  const bool isOuter = mesh.size() > 1 && mesh[0].name == kStageAxis;
  if (mesh.empty() || mesh[isOuter].name != kDataAxis)
    return wrong("training has the axis \"data\" first, with stages \"stage\" "
                 "directly before or after it, and then the axes of shardings");
  const bool hasStages =
      isOuter || (mesh.size() > 1 && mesh[1].name == kStageAxis);
  training->ranks = mesh[isOuter].size;
  training->stages.ranks = hasStages ? mesh[!isOuter].size : 1;
  // One rank for all stages is no axis.
  training->stages.isOutermost = isOuter && training->stages.ranks > 1;
  training->axes.assign(mesh.begin() + 1 + hasStages, mesh.end());
  for (const MeshAxis &axis : training->axes)
    if (axis.name == kStageAxis)
      return wrong(
          "the axis \"stage\" comes directly before or after \"data\"");
  return Status::success();
}

Status Plan::addAxis(std::string_view name, int64_t ranks) {
  const bool isName =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
               (c >= 'A' && c <= 'Z') || c == '_';
      });
  const std::string shown = printable(name);
  if (!isName)
    return wrong("the axis '" + shown +
                 "' has a name of other characters than letters, digits and _");
  if (ranks < 1)
    return wrong("the axis '" + shown + "' has " + std::to_string(ranks) +
                 " ranks; give at least 1");
  uint64_t all = static_cast<uint64_t>(ranks);
  for (const MeshAxis &axis : mesh) {
    if (axis.name == name)
      return wrong("has two axes '" + shown + "'; give each another name");
    all *= axis.size;
  }
  if (ranks > maxRanks || all > maxRanks)
    return wrong("has more than " + std::to_string(maxRanks) + " ranks");
  mesh.push_back({std::string(name), static_cast<uint32_t>(ranks)});
  return Status::success();
}

Status Plan::addSharding(std::string_view pattern,
                         const std::vector<std::string_view> &dims) {
  constexpr size_t most = 1 << 14; // each is compared with all others
  if (shardings.size() == most)
    return wrong("there are more than " + std::to_string(most) +
                 " tensors; name several as NAME*");
  for (const TensorSharding &other : shardings)
    if (other.pattern == pattern)
      return wrong("'" + printable(pattern) +
                   "' is named twice; say it once, with the axes of all its "
                   "dims");
  TensorSharding sharding{std::string(pattern), {}};
  std::set<std::string_view> used;
  for (std::string_view text : dims) {
    std::vector<std::string> &axes = sharding.axes.emplace_back();
    if (text == "-")
      continue;
    auto last = mesh.begin();
    for (std::string_view name : splitDims(text, '+')) {
      auto axis =
          std::find_if(mesh.begin(), mesh.end(),
                       [&](const MeshAxis &one) { return one.name == name; });
      const std::string shown = printable(name);
      if (mesh.empty())
        return wrong("there is no mesh with an axis '" + shown +
                     "'; give one, {\"" + shown + "\": RANKS}");
      if (axis == mesh.end())
        return wrong("'" + shown +
                     "' is no axis of the mesh; a dim that is whole is -");
      if (!used.insert(name).second)
        return wrong("'" + shown +
                     "' splits twice; it can split one dim, once");
      if (axis < last)
        return wrong("'" + last->name + "' stands before '" + shown +
                     "'; give them in the order of the mesh, " + shown + "+" +
                     last->name);
      last = axis;
      axes.emplace_back(name);
    }
  }
  shardings.push_back(std::move(sharding));
  return Status::success();
}

/// An error if the ranks of the mesh cannot use the algorithm.
static Status checkAlgorithm(const std::string &name, bool trains,
                             const std::vector<MeshAxis> &mesh) {
  if (name.empty())
    return Status::success();
  transport::Algorithm known;
  if (!transport::parseAlgorithm(name, known))
    return wrong("there is no algorithm '" + printable(name) + "'; there are " +
                 transport::algorithmNames());
  if (known == transport::Algorithm::Server)
    return trains ? Status::success()
                  : wrong("the algorithm server has a rank that computes "
                          "nothing, and here all do; give colocated");
  if (known == transport::Algorithm::Own)
    return Status::success();
  for (const MeshAxis &axis : mesh) {
    transport::Request sum{transport::Collective::AllReduce, known,
                           static_cast<int>(axis.size), 1};
    if (Status status = transport::checkRequest(sum, 0); !status.ok())
      return wrong("along the axis " + axis.name + ": " + status.message);
  }
  return Status::success();
}

Status Plan::check() const {
  if (Status status = checkAlgorithm(algorithm, training.has_value(), mesh);
      !status.ok())
    return status;
  if (training)
    return checkTraining();
  if (forward)
    return checkForward();
  return mesh.empty() && (!shardings.empty() || !algorithm.empty())
             ? wrong("is about the ranks of a mesh, and has no \"mesh\"; give "
                     "{\"AXIS\": "
                     "RANKS}")
             : Status::success();
}

Status Plan::checkTraining() const {
  const TrainingPlan &own = *training;
  if (own.ranks < 1 || own.countRanks() > maxRanks)
    return wrong("training is on 1 to " + std::to_string(maxRanks) + " ranks");
  if (own.zero > ZeroStage::Weights)
    return wrong("there is no stage " +
                 std::to_string(static_cast<int>(own.zero)) +
                 " of ZeRO; there are 0, 1, 2 and 3");
  if (own.accumulate < 1 || own.accumulate > mostBatchesOfAStep)
    return wrong("a step averages the gradients of 1 to " +
                 std::to_string(mostBatchesOfAStep) + " batches, not of " +
                 std::to_string(own.accumulate));
  if (Status status = checkStaged(); !status.ok())
    return status;
  if (Status status = checkShardings(); !status.ok())
    return status;
  if (Status status = transport::checkGroups(static_cast<uint64_t>(own.groups));
      !status.ok())
    return status;
  if (own.countRanks() == 1 && own.groups > 1)
    return wrong(
        "groups are of several ranks, and there is one; give more, or leave "
        "the groups out");
  if (own.ranks == 1 && !own.hasServer && own.zero != ZeroStage::None)
    return wrong(std::string("ZeRO splits states over ranks") +
                 (own.countRanks() > 1 ? " of \"data\"" : "") +
                 ", and there is one; give more, or leave zero out");
  if (own.prefetchLimit < 0 || own.staleness < 0)
    return wrong("a prefetch limit and a staleness count from 0");
  if (own.buckets.bytes < 1 || own.buckets.firstBytes < 1)
    return wrong("a bucket has at least one byte");
  if (own.countRanks() == 1 &&
      !(own.buckets == BucketOptions::of(own.buckets.rule)))
    return wrong("buckets are of several ranks, and there is one; give more, "
                 "or leave the bytes out");
  if (own.hasServer != (algorithm == "server"))
    return wrong("a parameter server is the algorithm server");
  if (!own.hasServer && own.staleness)
    return wrong("staleness is of the algorithm server; give that, or leave "
                 "the staleness out");
  if (own.prefetchLimit != defaultPrefetchLimit &&
      own.zero < ZeroStage::Gradients)
    return wrong("a prefetch limit is of ZeRO's stages 2 and 3; give one as "
                 "zero, or leave the limit out");
  if (own.hasServer && (own.zero != ZeroStage::None || own.groups > 1 ||
                        !(own.buckets == BucketOptions::of(own.buckets.rule))))
    return wrong("stages of ZeRO, buckets and groups are not taken beside the "
                 "algorithm server, which has all states and gets all "
                 "gradients; give colocated");
  return Status::success();
}

/// What shardings of training may name; "data" splits samples, and states by
/// the stage of ZeRO.
Status Plan::checkShardings() const {
  std::set<std::string> used;
  for (const TensorSharding &sharding : shardings)
    for (size_t dim = 0; dim < sharding.axes.size(); ++dim)
      for (const std::string &axis : sharding.axes[dim]) {
        used.insert(axis);
        const std::string name = "'" + printable(sharding.pattern) + "'";
        if (axis == kStageAxis)
          return wrong("stages have weights of their own, and split none, so "
                       "the axis stage is not taken for " +
                       name);
        if (axis == kDataAxis && (dim > 0 || sharding.axes[dim].size() > 1))
          return wrong("the axis data splits samples, the first dim of inputs, "
                       "and states as zero says; take another one for " +
                       name);
      }
  for (const std::vector<std::string> &axes : training->stages.batchAxes)
    used.insert(axes.begin(), axes.end());
  for (const MeshAxis &axis : training->axes)
    if (axis.size > 1 && used.count(axis.name) == 0)
      return wrong("the axis '" + axis.name +
                   "' splits nothing; name weights in \"shard\"");
  if (training->hasServer && !training->axes.empty())
    return wrong("a parameter server has whole weights; give colocated");
  return Status::success();
}

std::string Plan::hash() const {
  const std::string all = text();
  Blake3 hash;
  hash.update(all.data(), all.size());
  return toHex(hash.finish());
}

} // namespace mlc::runtime
