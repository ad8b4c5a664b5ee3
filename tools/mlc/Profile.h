//===- Profile.h - Measuring the steps of an artifact -----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PROFILE_H
#define MLC_TOOLS_MLC_PROFILE_H

#include "codegen/target/Target.h"
#include "runtime/Profile.h"
#include "tools/mlc/Session.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// The reference for steps: a device's rates, or why there are none.
struct Peak {
  std::string text;
  std::optional<runtime::Roofline> roofline;
  /// Whether its rate of contractions holds for float32 alone: on GPUs other
  /// types have others.
  bool isFloat32Only = false;
};

/// The roofline of `wanted` (a target's name; empty: the artifact's own) for a
/// run on `device` with `threads`, 0 for all cores. Errors: an unknown target.
llvm::Expected<Peak> findPeak(const Model &model, llvm::StringRef wanted,
                              llvm::StringRef device, unsigned threads);

struct Profile {
  Peak peak;
  std::vector<runtime::ProfiledStep> steps; ///< finished, the longest first

  void print(llvm::raw_ostream &os) const;
  llvm::json::Object toJson() const;
};

/// Runs a bound session with MLC_SESSION_PROFILE `runs` times; times are
/// medians.
llvm::Expected<Profile> measureSteps(const Model &model, Session &session,
                                     unsigned runs, Peak peak);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PROFILE_H
