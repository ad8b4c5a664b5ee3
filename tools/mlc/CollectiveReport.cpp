//===- CollectiveReport.cpp - The output of mlc collective ----------------===//

#include "tools/mlc/CollectiveReport.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::runtime::transport;
namespace json = llvm::json;

/// Sums over all ranks.
struct CollectiveReport::Totals {
  Request request;
  bool counts;      // the engine's own reports no bytes
  int64_t times;    // number of repetitions
  int64_t expected; // bytes
  int64_t sent = 0, messages = 0, lead = 0;
  double seconds = 0;
  std::string wrong; // ranks

  Totals(const TrialOptions &trial, const TrialResult &result)
      : request(requestOf(trial, static_cast<int>(result.ranks.size()))),
        counts(trial.algorithm != Algorithm::Own),
        times(trial.steps ? trial.steps : trial.repeat),
        expected(expectedElements(request) * times *
                 static_cast<int64_t>(mlc_dtype_size(trial.type))) {
    for (size_t rank = 0; rank < result.ranks.size(); ++rank) {
      const TrialResult::Rank &row = result.ranks[rank];
      sent += static_cast<int64_t>(row.sentBytes);
      messages += static_cast<int64_t>(row.sentMessages);
      lead = std::max(lead, row.lead);
      seconds = std::max(seconds, row.seconds);
      if (!row.right)
        wrong += (wrong.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
};

static void writeJson(json::Object all) {
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(all))) << '\n';
}

void CollectiveReport::printJson(const Totals &totals) const {
  json::Array sent;
  for (const TrialResult::Rank &row : result.ranks)
    sent.push_back(static_cast<int64_t>(row.sentBytes));
  json::Object all{{"collective", runtime::transport::name(trial.collective)},
                   {"algorithm", runtime::transport::name(trial.algorithm)},
                   {"engine", engine},
                   {"ranks", totals.request.ranks},
                   {"bytes", bytes},
                   {"type", mlc_dtype_name(trial.type)},
                   {"sent_bytes", std::move(sent)},
                   {"total_sent_bytes", totals.sent},
                   {"sent_messages", totals.messages},
                   {"seconds", totals.seconds},
                   {"right", totals.wrong.empty()}};
  if (trial.steps) {
    all["steps"] = trial.steps;
    all["staleness"] = trial.staleness;
    all["largest_lead"] = totals.lead;
  } else {
    all["repeat"] = trial.repeat;
  }
  if (totals.counts) {
    all["workers"] = workers(totals.request);
    all["formula"] = formula(totals.request);
    all["expected_bytes"] = totals.expected;
  }
  writeJson(std::move(all));
}

void CollectiveReport::printText(const Totals &totals) const {
  for (size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const TrialResult::Rank &row = result.ranks[rank];
    llvm::outs() << fmt::format(
        "rank {}: sent {} bytes in {} messages, received {}\n", rank,
        row.sentBytes, row.sentMessages, row.receivedBytes);
  }
  if (!totals.counts)
    llvm::outs() << "what the engine's own sends is not counted\n";
  else
    llvm::outs() << fmt::format(
        "all: sent {} bytes; {}{} is {} for N = {}, M = {}\n", totals.sent,
        totals.times > 1 ? fmt::format("{} times ", totals.times) : "",
        formula(totals.request), totals.expected, workers(totals.request),
        bytes);
  if (trial.steps)
    llvm::outs() << fmt::format(
        "no worker was more than {} clocks ahead; {} are allowed\n",
        totals.lead, trial.staleness);
  llvm::outs() << fmt::format("time: {:.3f} ms\n", totals.seconds * 1e3);
  if (totals.wrong.empty())
    llvm::outs() << "the result is right on all ranks\n";
}

llvm::Error CollectiveReport::print() const {
  const Totals totals(trial, result);
  if (asJson)
    printJson(totals);
  else
    printText(totals);
  if (!totals.wrong.empty())
    return fail(Exit::Differs, "the result is wrong on rank " + totals.wrong);
  if (totals.counts && totals.sent != totals.expected)
    return fail(Exit::Differs, fmt::format("{} bytes were sent, {} expected",
                                           totals.sent, totals.expected));
  return llvm::Error::success();
}

llvm::Error
CollectiveReport::printGroups(int ranks,
                              const GroupTrialOptions &options) const {
  if (asJson)
    writeJson(json::Object{{"engine", engine},
                           {"ranks", ranks},
                           {"groups", options.groups},
                           {"steps", options.steps},
                           {"right", true}});
  else
    llvm::outs() << fmt::format(
        "{} random collectives of {} groups on {} ranks: all results are "
        "right\n",
        options.steps, options.groups, ranks);
  return llvm::Error::success();
}
