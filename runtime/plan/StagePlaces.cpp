//===- StagePlaces.cpp - The ranks that a plan gives stages ---------------===//

#include "runtime/plan/StagePlaces.h"
#include "runtime/Text.h"
#include "runtime/schedule/StageRanks.h"
#include "runtime/schedule/Table.h"

#include <algorithm>
#include <charconv>

using namespace mlc::runtime;

/// Reads a number that is all of `text`.
static bool readNumber(std::string_view text, int64_t &number) {
  const char *end = text.data() + text.size();
  auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end && number >= 0 &&
         number < schedule::kMaxRanks;
}

Status mlc::runtime::parseRanks(std::string_view text,
                                std::vector<int64_t> &ranks) {
  for (std::string_view part : splitDims(text, ',')) {
    const size_t dash = part.find('-');
    int64_t first, last;
    if (!readNumber(part.substr(0, dash), first))
      return Status::badFile("expected ranks, as \"0-3,6\", not " +
                             jsonString(text));
    last = first;
    if (dash != std::string_view::npos &&
        (!readNumber(part.substr(dash + 1), last) || last < first))
      return Status::badFile("expected ranks, as \"0-3,6\", not " +
                             jsonString(text));
    if (!ranks.empty() && first <= ranks.back())
      return Status::badFile("rank " + std::to_string(first) +
                             " is there twice, or behind a higher one; name "
                             "ranks of a stage once, ascending");
    for (; first <= last; ++first)
      ranks.push_back(first);
  }
  return Status::success();
}

std::string mlc::runtime::ranksText(const std::vector<int64_t> &ranks) {
  std::string text;
  for (size_t i = 0, end = 0; i < ranks.size(); i = end) {
    for (end = i + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;)
      ++end;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (end - i > 1)
      text += "-" + std::to_string(ranks[end - 1]);
  }
  return text;
}

Status mlc::runtime::checkNamedRanks(const StagePlan &stages, bool isOnce) {
  if (stages.places.empty())
    return Status::success();
  constexpr size_t none = ~size_t(0);
  std::vector<size_t> stageOf(stages.ranks, none);
  for (size_t stage = 0; stage < stages.places.size(); ++stage)
    for (int64_t rank : stages.places[stage]) {
      if (rank >= stages.ranks)
        return Status::badFile("stage " + std::to_string(stage) +
                               " is on rank " + std::to_string(rank) +
                               ", and the mesh has " +
                               std::to_string(stages.ranks) +
                               " for stages, from 0; give \"stage\" more");
      if (isOnce && stageOf[rank] != none)
        return Status::badFile(
            "rank " + std::to_string(rank) + " is in the \"ranks\" of stages " +
            std::to_string(stageOf[rank]) + " and " + std::to_string(stage) +
            ", and the schedule gives it one; name it once, "
            "or take another schedule");
      stageOf[rank] = stage;
    }
  for (size_t rank = 0; rank < stageOf.size(); ++rank)
    if (stageOf[rank] == none)
      return Status::badFile("rank " + std::to_string(rank) +
                             " has no stage; name it in the \"ranks\" of one, "
                             "or take fewer");
  return Status::success();
}

Status mlc::runtime::checkPlaces(const StagePlan &stages,
                                 const schedule::Table &table) {
  const std::vector<std::vector<int32_t>> having = schedule::findRanks(table);
  // A stage's slices are on the same ranks.
  const int64_t slices = stages.countSliced() / stages.count;
  for (size_t stage = 0; stage < stages.places.size(); ++stage) {
    const std::vector<int32_t> &found = having[stage * slices];
    const std::vector<int64_t> run(found.begin(), found.end());
    if (run != stages.places[stage])
      return Status::badFile(
          "stage " + std::to_string(stage) + " is on \"ranks\": \"" +
          ranksText(stages.places[stage]) + "\", and the schedule runs it on " +
          ranksText(run) + "; name these, or another schedule");
  }
  return Status::success();
}
