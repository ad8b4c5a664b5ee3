//===- Remedies.cpp - How remedies of errors are followed -----------------===//

#include "tools/mlc/Remedies.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>

namespace mlc::cli {

/// `isPython`: by arguments of Python's functions.
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
  case Remedy::Kind::ListAll:
    return "mlc check --json lists all";
  }
  llvm_unreachable("unknown remedy");
}

std::string describeRemedy(const Remedy &remedy) {
  const char *spelling = std::getenv("MLC_SPELLING");
  return describe(remedy, spelling && llvm::StringRef(spelling) == "keywords");
}

} // namespace mlc::cli
