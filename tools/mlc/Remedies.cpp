//===- Remedies.cpp - The text of errors' remedies ------------------------===//

#include "tools/mlc/Remedies.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>

namespace mlc::cli {

/// `isPython`: as arguments of Python functions.
static std::string describe(const Remedy &remedy, bool isPython) {
  const std::string &name = remedy.subject;
  switch (remedy.kind) {
  case Remedy::Kind::FixDim:
    if (name.empty())
      return isPython ? "fix the dims it uses by dims={'NAME': SIZE}"
                      : "fix the dims it uses by --dim NAME=SIZE";
    return isPython ? "give dims={'" + name + "': SIZE}"
                    : "give --dim " + name + "=SIZE";
  case Remedy::Kind::GiveConstant:
    return "give it a constant";
  case Remedy::Kind::ChooseLoss:
    return isPython ? "give loss='mse' or loss='cross-entropy' with a target"
                    : "give --loss=mse or --loss=cross-entropy with a target";
  case Remedy::Kind::RenameTarget:
    return isPython ? "give another target_input"
                    : "give another --target-input";
  case Remedy::Kind::ChooseClassAxis:
    return isPython ? "give another class_axis" : "give another --class-axis";
  case Remedy::Kind::DropHalfWeights:
    return isPython ? "leave keep_half out" : "leave --keep-half out";
  case Remedy::Kind::ChangeBatch:
    return isPython ? "give another batch" : "give another --batch";
  case Remedy::Kind::Freeze:
    return isPython ? "give freeze=['" + name + "']" : "give --freeze=" + name;
  case Remedy::Kind::SumBetweenRanks:
    return isPython ? "give algorithm='colocated'"
                    : "give --algorithm=colocated";
  case Remedy::Kind::LocalStatistics:
    return isPython ? "give batch_statistics='local'"
                    : "give --batch-statistics=local";
  case Remedy::Kind::GlobalStatistics:
    return isPython ? "give batch_statistics='global'"
                    : "give --batch-statistics=global";
  case Remedy::Kind::DropMemoryBudget:
    return isPython ? "leave memory_budget out" : "leave --memory-budget out";
  case Remedy::Kind::UpdateTogether:
    return isPython
               ? "leave clip_norm and loss_scale out, or give a "
                 "synchronous pipeline"
               : "leave --clip-norm out, give --loss-scale=none, or give a "
                 "synchronous --pipeline";
  case Remedy::Kind::ListAll:
    return "mlc check --json lists all";
  }
  llvm_unreachable("unknown remedy");
}

/// Whether the Python package started this process.
static bool isPython() {
  const char *spelling = std::getenv("MLC_SPELLING");
  return spelling && llvm::StringRef(spelling) == "keywords";
}

std::string describeRemedy(const Remedy &remedy) {
  return describe(remedy, isPython());
}

std::string describeStart(int64_t ranks) {
  const std::string count = ranks ? std::to_string(ranks) : "N";
  // There a process joins the others only if it says so.
  if (isPython())
    return "start " + (ranks ? count : "several") +
           " processes with mlc launch -n " + count +
           ", and give each ranks=mlc.Ranks()";
  return "start it with mlc launch -n " + count + ", or give --ranks=" + count;
}

} // namespace mlc::cli
