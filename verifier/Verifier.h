//===- Verifier.h - Are two functions equal, for all sizes? -----*- C++ -*-===//
//
// Read this header first. `verify` compares two functions over tensors whose
// dims, integer attributes and real parameters may be symbols, under a
// condition on those symbols, over the reals for floats and modulo 2^w for
// integers.
//
//   Proved    equal for every size that the condition admits; carries a proof
//             that the kernel (verifier/kernel, docs/Trust.md) has accepted,
//             and the obligations on integers that it rests on, as SMT-LIB
//   Refuted   carries sizes and tensors that the reference evaluator has run
//             through both functions, and the element that differs
//   Unknown   neither was found, with the reason; must not be treated as Proved
//
// The steps:
//
//   read/FromGraph, FromLinalg       a function becomes one Definition (index
//                                    notation)
//   read/Goal                    the assumptions become cases
//   search/Counterexample            searches small sizes with the evaluator
//   search/ByKernel, Elaborate       looks for a proof of every case, untrusted
//   read/CheckProof, kernel/         checks the proof
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_VERIFIER_H
#define MLC_VERIFIER_VERIFIER_H

#include "verifier/read/Certificate.h"
#include "verifier/read/Condition.h"
#include "verifier/read/FloatClass.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlc {

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

struct Counterexample {
  struct Argument {
    llvm::SmallVector<int64_t> dims;
    std::vector<double> elements; // row-major; of bools 0 and 1
  };
  std::map<std::string, int64_t> integers;
  std::map<std::string, double> reals;
  std::vector<Argument> arguments;
  unsigned result = 0;
  llvm::SmallVector<int64_t> element;
  double before = 0.0, after = 0.0;
  /// The whole counterexample in readable form, with the first elements of each
  /// argument.
  std::string text;
};

struct Verdict {
  enum class Kind { Proved, Refuted, Unknown };

  Kind kind = Kind::Unknown;
  FloatClass floatClass = FloatClass::ValueChanging; // Proved
  /// Proved: each side is defined where the other is, so either may replace the
  /// other.
  bool isTwoWay = false;
  Certificate certificate;       // Proved
  Counterexample counterexample; // Refuted
  std::string reason;            // Unknown
  double totalMs = 0.0, solverMs = 0.0;
  /// The used part of VerifierOptions' maxSteps and maxSolverWork.
  uint64_t steps = 0, solverWork = 0;

  bool isProved() const { return kind == Kind::Proved; }
  bool isRefuted() const { return kind == Kind::Refuted; }
  bool isUnknown() const { return kind == Kind::Unknown; }
};

llvm::StringRef name(Verdict::Kind kind); // "proved"

struct VerifierOptions {
  /// Work after which a proof attempt ends as Unknown: steps on normal forms,
  /// and Z3's own count (rlimit) for one obligation and for all. Counts keep a
  /// verdict independent of the machine and its load. With the defaults an
  /// attempt ends after about a minute.
  uint64_t maxSteps = 10000;
  uint64_t maxLemmaWork = 3000000;
  uint64_t maxSolverWork = 60000000;
  /// Random instantiations tried before a proof attempt, and after one that
  /// failed.
  unsigned trialsBefore = 6;
  unsigned trialsAfter = 60;
  uint64_t seed = 1;
  /// Make a counterexample small and plain before it is reported.
  bool minimizeCounterexample = false;
  /// Also prove with uninterpreted arithmetic, to find bit-exact rules.
  bool classifyFloats = true;
  /// Called with each proved obligation of the kernel: one SMT-LIB script to
  /// which Z3 answers "unsat".
  std::function<void(const std::string &script)> onObligation = {};

  /// Multiplies all work limits.
  void scaleWork(double factor) {
    for (uint64_t *count : {&maxSteps, &maxLemmaWork, &maxSolverWork})
      *count = static_cast<uint64_t>(*count * factor);
  }
};

//===----------------------------------------------------------------------===//
// The goal
//===----------------------------------------------------------------------===//

/// Whether `after` equals `before` for every size and value that `assumptions`
/// admit, wherever an element of `before` is defined. Both functions take the
/// same tensors by position. They hold operators of the mlc dialect, or linalg,
/// tensor, arith, math, affine and scf on tensors. Deterministic.
Verdict verify(mlir::func::FuncOp before, mlir::func::FuncOp after,
               const Assumptions &assumptions,
               const VerifierOptions &options = {});

} // namespace mlc

#endif // MLC_VERIFIER_VERIFIER_H
