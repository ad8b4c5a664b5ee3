//===- TimingCache.h - Measured times of operators --------------*- C++ -*-===//
//
// A file that `mlc calibrate` writes: seconds by operator signature (name,
// attributes and types, compared in full) on one device.
//
//   {"target": "cpu:x86-64-v4",
//    "timings": [{"operator": "mlc.conv {…} : (…) -> …", "seconds": 1e-4}]}
//
// With "learned" it also says what other operators take (LearnedCosts.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_COST_TIMINGCACHE_H
#define MLC_REWRITES_COST_TIMINGCACHE_H

#include "mlir/IR/Operation.h"
#include "rewrites/Cost/LearnedCosts.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>

namespace mlc {

/// All properties of an operator that its time depends on, as text that is the
/// same in every run.
std::string operatorSignature(mlir::Operation *op);

struct TimingCache {
  /// The target that was measured (its name).
  std::string target;
  /// Seconds by signature.
  std::map<std::string, double> timings;
  /// For operators that were not measured.
  std::optional<LearnedCosts> learned;

  std::optional<double> find(mlir::Operation *op) const;

  /// Errors say what is missing or wrong.
  static llvm::Expected<TimingCache> parse(llvm::StringRef json);
  /// Ends in a newline; sorted by signature.
  std::string write() const;
};

} // namespace mlc

#endif // MLC_REWRITES_COST_TIMINGCACHE_H
