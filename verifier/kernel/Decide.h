//===- Decide.h - Obligations and who decides them --------------*- C++ -*-===//
//
// The kernel's questions about integers: without quantifiers, over integers
// without bounds. Z3 decides them; each is one SMT-LIB script, so that another
// solver can be asked the same.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_DECIDE_H
#define MLC_VERIFIER_KERNEL_DECIDE_H

#include "verifier/kernel/Sum.h"
#include <functional>
#include <map>

namespace mlc::kernel {

/// A multiple of a condition's truth: weight * [formula].
struct Weighted {
  Integer weight;
  Formula formula;
};

class Decider {
public:
  /// `maxWork` is in Z3's own unit of work, for one question.
  explicit Decider(uint64_t maxWork) : maxWork(maxWork) {}

  /// Whether `goal` holds wherever all of `given` do. No means not known.
  bool holds(llvm::ArrayRef<Formula> given, const Formula &goal);
  /// Whether the sum is 0 there; modulo 2^width where width is not 0.
  bool isZeroSum(llvm::ArrayRef<Formula> given, llvm::ArrayRef<Weighted> sum,
                 unsigned width);
  /// Whether some integers satisfy all.
  bool canHold(llvm::ArrayRef<Formula> all);

  /// Called with each script that was answered as wanted ("unsat").
  std::function<void(const std::string &)> onProved;
  unsigned getNumAsked() const { return numAsked; }

private:
  enum class Answer { Never, Sometimes, Unknown };
  Answer ask(const std::string &script) const;
  bool isUnsatisfiable(const std::string &script);

  const uint64_t maxWork;
  std::map<std::string, bool> known; // by script: whether it is unsatisfiable
  unsigned numAsked = 0;
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_DECIDE_H
