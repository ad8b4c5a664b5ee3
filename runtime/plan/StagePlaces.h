//===- StagePlaces.h - The ranks that a plan gives stages -------*- C++ -*-===//

#ifndef MLC_RUNTIME_PLAN_STAGEPLACES_H
#define MLC_RUNTIME_PLAN_STAGEPLACES_H

#include "runtime/plan/Plan.h"

namespace mlc::runtime {

/// An error for numbers that contradict each other or are out of range: what of
/// the stages does not depend on the rest of a plan.
Status checkStages(const StagePlan &stages);
/// Whether a schedule is a table in a file, rather than a name.
bool isTableFile(const std::string &schedule);

/// Reads the table in the file that is the schedule. An error, which does not
/// name the file, if it has other ranks than the plan; `remedy` ends it.
Status readTableFile(const StagePlan &stages, const std::string &remedy,
                     schedule::Table &table);

/// Reads "0-3,6", ascending and each once.
Status parseRanks(std::string_view text, std::vector<int64_t> &ranks);
/// What parseRanks reads, with ranges.
std::string ranksText(const std::vector<int64_t> &ranks);

/// An error, naming stage or rank, if the plan's places name a rank that is not
/// there, leave one out or, with `isOnce`, name one for two stages.
Status checkNamedRanks(const StagePlan &stages, bool isOnce);

/// An error, naming the stage, if the plan's places are not those of the table.
Status checkPlaces(const StagePlan &stages, const schedule::Table &table);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_STAGEPLACES_H
