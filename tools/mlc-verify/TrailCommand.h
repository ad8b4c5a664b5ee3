//===- TrailCommand.h - mlc-verify --trail ----------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_VERIFY_TRAILCOMMAND_H
#define MLC_TOOLS_MLC_VERIFY_TRAILCOMMAND_H

#include "passes/Import/Import.h"
#include "verifier/Verifier.h"
#include <string>
#include <vector>

namespace mlc {

struct TrailQuestion {
  /// The model as it was given to `mlc optimize`, and what that wrote.
  std::string model, result;
  /// The dims that were fixed then.
  ImportOptions import;
  /// Files of rules that are not shipped; those that the trail uses are proved.
  std::vector<std::string> ruleFiles;
  VerifierOptions verifier;
};

struct TrailReport {
  /// Done: replayed. Differs: refused.
  Exit answer = Exit::Done;
  /// What is wrong, naming the file.
  std::string reason;
  /// Replayed: what one must believe to believe it, a line each.
  std::vector<std::string> restsOn;
  /// Of the least exact rule that was used.
  FloatClass floatClass = FloatClass::BitExact;
  /// Whether all rules that were used are proved in both directions; else the
  /// result may have values where the model is not defined.
  bool isTwoWay = true;
  size_t steps = 0, operators = 0;
  double seconds = 0;
};

/// Whether the trail in the result's metadata proves it equal to the model:
/// the model is imported, its constants folded, each step replayed, and the
/// chosen operators, folded, compared with what an import of the result makes.
TrailReport checkTrail(const TrailQuestion &question);

} // namespace mlc

#endif // MLC_TOOLS_MLC_VERIFY_TRAILCOMMAND_H
