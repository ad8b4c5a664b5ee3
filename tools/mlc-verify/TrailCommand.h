//===- TrailCommand.h - mlc-verify --trail ----------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_VERIFY_TRAILCOMMAND_H
#define MLC_TOOLS_MLC_VERIFY_TRAILCOMMAND_H

#include "passes/Import/Import.h"
#include "verifier/Verifier.h"
#include <string>
#include <vector>

namespace mlc {

struct TrailGoal {
  /// The input model of `mlc optimize`, and its output.
  std::string model, result;
  /// The dims that were fixed in that run.
  ImportOptions import;
  /// Files of rules that are not shipped; the rules that the trail uses are
  /// proved.
  std::vector<std::string> ruleFiles;
  VerifierOptions verifier;
};

struct TrailReport {
  /// Done: the trail replays. Differs: it is refused.
  Exit answer = Exit::Done;
  /// The error, with the file's name.
  std::string reason;
  /// If it replays: what the result rests on, one line each.
  std::vector<std::string> restsOn;
  /// The class of the least exact rule used.
  FloatClass floatClass = FloatClass::BitExact;
  /// Whether all rules used are proved in both directions; if not, the result
  /// may have values where the model is undefined.
  bool isTwoWay = true;
  size_t steps = 0, operators = 0;
  double seconds = 0;
};

/// Whether the trail in the result's metadata proves it equal to the model.
/// Imports the model, folds constants, replays each step, and compares the
/// chosen, folded operators with an import of the result.
TrailReport checkTrail(const TrailGoal &goal);

} // namespace mlc

#endif // MLC_TOOLS_MLC_VERIFY_TRAILCOMMAND_H
