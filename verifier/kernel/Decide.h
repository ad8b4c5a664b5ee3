//===- Decide.h - Obligations and who decides them --------------*- C++ -*-===//
//
// The kernel's queries about integers: without quantifiers, over integers
// without bounds. Z3 decides them; each is one SMT-LIB script, so that another
// solver can be asked the same.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_DECIDE_H
#define MLC_VERIFIER_KERNEL_DECIDE_H

#include "verifier/kernel/Sum.h"
#include <functional>
#include <map>

struct _Z3_context;

namespace mlc::kernel {

/// A multiple of a condition's truth: weight * [formula].
struct Weighted {
  Integer weight;
  Formula formula;
};

/// Whether, where all of `given` hold, `goal` does, or `sum` is 0, modulo
/// 2^width where width is not 0.
struct Obligation {
  llvm::ArrayRef<Formula> given;
  const Formula *goal = nullptr;
  llvm::ArrayRef<Weighted> sum = {};
  unsigned width = 0;
};
/// Where an obligation fails: sizes by name behind an 's', variables by number
/// behind a 'v'.
using Model = std::map<std::string, int64_t>;

class Decider {
public:
  /// In Z3's own unit of work, for one query and for all.
  explicit Decider(uint64_t maxWork, uint64_t maxWorkInAll = UINT64_MAX)
      : maxWork(maxWork), workLeft(maxWorkInAll), maxWorkInAll(maxWorkInAll) {}
  virtual ~Decider();
  Decider(const Decider &) = delete;

  /// Whether `goal` holds wherever all of `given` do. No means not known.
  bool holds(llvm::ArrayRef<Formula> given, const Formula &goal);
  /// Whether the sum is 0 there; modulo 2^width where width is not 0.
  bool isZeroSum(llvm::ArrayRef<Formula> given, llvm::ArrayRef<Weighted> sum,
                 unsigned width);

  /// Called with each script that was answered as wanted ("unsat"), also where
  /// the answer was known.
  std::function<void(const std::string &)> onProved;
  unsigned getNumAsked() const { return numAsked; }
  uint64_t getWork() const { return maxWorkInAll - workLeft; }
  double getMs() const { return ms; }

protected:
  /// For a search, which asks much that does not hold: answers come sooner and
  /// may depend on what was asked before.
  bool isHasty = false;
  virtual bool isKnownToFail(const Obligation &obligation) { return false; }
  virtual void learn(const Obligation &obligation, const Model &model) {}

private:
  enum class Answer { Never, Sometimes, Unknown };
  Answer ask(const std::string &script, std::map<std::string, int64_t> *values);
  bool isUnsatisfiable(class Script &script, const Obligation &obligation);

  const uint64_t maxWork;
  uint64_t workLeft;
  const uint64_t maxWorkInAll;
  struct _Z3_context *reused = nullptr;
  uint64_t workDone = 0; // in the reused context
  double ms = 0;
  std::map<std::string, bool> known; // by script: whether it is unsatisfiable
  unsigned numAsked = 0;
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_DECIDE_H
