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
//   Unknown   neither was found, and why; never to be taken for Proved
//
// How it goes (one file for each step):
//
//   FromGraph, FromLinalg   a function becomes one Definition (index notation)
//   Question                the assumptions become cases
//   Counterexample          searches small sizes with the evaluator
//   ByKernel, Elaborate     looks for a proof of every case, trusted in nothing
//   kernel/                 checks the proof
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_VERIFIER_H
#define MLC_VERIFIER_VERIFIER_H

#include "dialects/Interfaces/Definition.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlc {

//===----------------------------------------------------------------------===//
// What a rule assumes
//===----------------------------------------------------------------------===//

/// A predicate on symbolic integers: a comparison, a divisibility, or a
/// conjunction, disjunction or negation of predicates. Value type.
class Condition {
public:
  enum class Kind { Compare, Divides, AllOf, AnyOf, Not };

  /// lhs predicate rhs.
  static Condition compare(IntExpr lhs, ComparePredicate predicate,
                           IntExpr rhs);
  /// divisor > 0, and divisor divides value.
  static Condition divides(IntExpr divisor, IntExpr value);
  /// True when there are none.
  static Condition allOf(std::vector<Condition> parts);
  /// False when there are none.
  static Condition anyOf(std::vector<Condition> parts);
  static Condition negation(Condition part);

  Kind getKind() const { return kind; }
  ComparePredicate getPredicate() const { return predicate; }
  IntExpr getLhs() const { return lhs; } // Divides: the divisor
  IntExpr getRhs() const { return rhs; } // Divides: the value
  llvm::ArrayRef<Condition> getParts() const { return parts; }

  /// Truth for concrete symbols; nothing when a symbol is missing or a
  /// division is by zero.
  std::optional<bool>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf)
      const;
  void walkSymbols(llvm::function_ref<void(llvm::StringRef)> callback) const;
  /// `2 * p >= k - 1 and s divides H`.
  void print(llvm::raw_ostream &os) const;

private:
  Kind kind = Kind::AllOf;
  ComparePredicate predicate = ComparePredicate::EQ;
  IntExpr lhs, rhs;
  std::vector<Condition> parts;
};

/// What holds of every element of a tensor argument. `Finite` says nothing over
/// the reals, `Constant` (known when the rule is applied) nothing here.
struct TensorAssumption {
  unsigned argument; // of both functions
  ElementPredicate predicate;
  /// What messages call the argument (describeArgument); it says nothing.
  std::string name = {};
};

/// How messages call an argument: `%w`, as the text from which the function was
/// read does (dialects/Interfaces/ParseModule.h), else `argument 1`.
std::string describeArgument(mlir::func::FuncOp function, unsigned argument);

/// `parameter predicate bound` of a real parameter (RealAttr symbol).
struct RealAssumption {
  std::string parameter;
  ComparePredicate predicate;
  double bound;
};

struct Assumptions {
  std::vector<Condition> integers;
  std::vector<TensorAssumption> tensors;
  std::vector<RealAssumption> reals;
};
/// As a person would write it; empty when nothing is assumed.
std::string str(const Assumptions &assumptions);

//===----------------------------------------------------------------------===//
// What comes back
//===----------------------------------------------------------------------===//

/// How floats may differ, from the steps of the proof.
enum class FloatClass {
  BitExact,      // the same operations in the same order
  Reassociating, // ring axioms; no term is added or dropped
  ValueChanging, // a term is added, dropped or cancelled (0 * inf)
};

struct Certificate {
  /// What the kernel has accepted (kernel/Text.h).
  std::string proof;
  /// What the proof rests on beyond docs/Trust.md: one SMT-LIB script, in which
  /// each obligation is a (push) .. (check-sat) (pop) that must answer unsat.
  std::string smtlib;
  unsigned numLemmas = 0;

  /// Adds one: declarations and assertions that nothing satisfies.
  void add(llvm::StringRef title, llvm::StringRef assertions);
};

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
  /// All of it for people, with the first elements of each argument.
  std::string text;
};

struct Verdict {
  enum class Kind { Proved, Refuted, Unknown };

  Kind kind = Kind::Unknown;
  FloatClass floatClass = FloatClass::ValueChanging; // Proved
  Certificate certificate;                           // Proved
  Counterexample counterexample;                     // Refuted
  std::string reason;                                // Unknown
  double totalMs = 0.0, solverMs = 0.0;
  /// What was used of VerifierOptions' maxSteps and maxSolverWork.
  uint64_t steps = 0, solverWork = 0;

  bool isProved() const { return kind == Kind::Proved; }
  bool isRefuted() const { return kind == Kind::Refuted; }
  bool isUnknown() const { return kind == Kind::Unknown; }
};

llvm::StringRef name(Verdict::Kind kind);         // "proved"
llvm::StringRef name(FloatClass floatClass);      // "bit-exact"
llvm::StringRef name(ElementPredicate predicate); // "positive"

struct VerifierOptions {
  /// Work after which a proof is given up as Unknown: steps on normal forms,
  /// and Z3's own count (rlimit) for one obligation and for all. Counted, so
  /// that a verdict depends neither on the machine nor on its load. With the
  /// defaults a proof that is given up has taken about a minute.
  uint64_t maxSteps = 10000;
  uint64_t maxLemmaWork = 3000000;
  uint64_t maxSolverWork = 60000000;
  /// A safety stop by the clock, for one obligation and for everything. A
  /// reason says so where it has decided.
  unsigned lemmaTimeoutMs = 60000;
  unsigned timeoutMs = 600000;
  /// Random instantiations tried before and, more, after a proof was attempted
  /// without success.
  unsigned trialsBefore = 6;
  unsigned trialsAfter = 60;
  uint64_t seed = 1;
  /// Make what refutes small and plain before it is reported.
  bool minimizeCounterexample = false;
  /// Also prove with uninterpreted arithmetic, to find bit-exact rules.
  bool classifyFloats = true;
  /// Called with each obligation of the kernel, one SMT-LIB script, that Z3
  /// finds to be "unsat", as it must be.
  std::function<void(const std::string &script)> onObligation = {};

  /// Multiplies what is counted.
  void scaleWork(double factor) {
    for (uint64_t *count : {&maxSteps, &maxLemmaWork, &maxSolverWork})
      *count = static_cast<uint64_t>(*count * factor);
  }
};

//===----------------------------------------------------------------------===//
// The question
//===----------------------------------------------------------------------===//

/// Whether `after` gives what `before` gives for every size and value that
/// `assumptions` admit and for which `before` is defined. Both functions take
/// the same tensors by position. They hold operators of the mlc dialect, or
/// linalg, tensor, arith, math, affine and scf on tensors. Deterministic.
Verdict verify(mlir::func::FuncOp before, mlir::func::FuncOp after,
               const Assumptions &assumptions,
               const VerifierOptions &options = {});

} // namespace mlc

#endif // MLC_VERIFIER_VERIFIER_H
