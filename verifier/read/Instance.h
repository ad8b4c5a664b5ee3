//===- Instance.h - A goal with numbers in it -------------------*- C++ -*-===//
//
// Concrete symbols, real parameters and tensors for both functions of a
// goal, and what the reference evaluator makes of them. The search for
// counterexamples, the synthesis of conditions and the tests of soundness all
// sample through this.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_INSTANCE_H
#define MLC_VERIFIER_READ_INSTANCE_H

#include "dialects/Evaluator/Evaluator.h"
#include "verifier/read/Goal.h"
#include "verifier/read/NeedsAtSizes.h"
#include <random>
#include <set>

namespace mlc::verifier {

using ParameterValues = std::map<std::string, double>;

/// Whether a parameter's value, or all elements of an argument, satisfy an
/// assumption.
bool holds(const RealAssumption &assumption, double value);
bool holds(ElementPredicate predicate, llvm::ArrayRef<double> numbers);

/// What a goal can vary.
struct Unknowns {
  /// Every symbol of dims, attributes and guards, also solved ones.
  std::set<std::string> symbols;
  std::set<std::string> parameters;
  /// Magnitudes of numbers in functions and conditions: something may happen
  /// there.
  std::set<int64_t> numbers;
  /// Those of them between 8 and 47 in index expressions and loops: tiles.
  std::set<int64_t> tiles;

  explicit Unknowns(const Goal &goal);
};

/// What running both sides showed.
struct Comparison {
  enum class Outcome {
    Undefined, // before has no value there (or is too large to evaluate)
    Unclear,   // after has none for a reason that only this domain has
    Equal,
    Different, // other values, other dims, or after undefined
  };
  Outcome outcome = Outcome::Undefined;
  /// Different: the element and its two values, or, when `reason` is set, why
  /// there is none after.
  unsigned result = 0;
  llvm::SmallVector<int64_t> element;
  double before = 0.0, after = 0.0;
  std::string reason;
  /// Elements of all results of the before side.
  int64_t numElements = 0;
};

/// Where elements of float arguments are drawn from, in multiples of 1/16.
enum class Spread {
  Ordinary, // between -2 and 2
  Positive, // above 0, at most 2: roots and logarithms are defined
  Mixed,    // each argument from one of both or, at times, up to 24 either way:
            // past 1 and e, where bounded functions stop being large
};

/// Where symbols are drawn from.
enum class SizeKind {
  Ordinary, // 0 to 7, and tiles
  Corner,   // hardly anything but 0 and 1, where borders, rests and windows
            // vanish together
  Numbers,  // around the numbers that are mentioned, and their multiples
  Beyond,   // one or two above all that is mentioned, the others ordinary
};

class Instance {
public:
  /// `one` is a case of `goal`. All three must outlive this.
  Instance(const Goal &goal, const Case &one, const Assumptions &assumptions,
           uint64_t seed);

  /// Gives symbols the values that `pick` gives (solved symbols follow); false
  /// when they do not satisfy the case's guards.
  bool setSymbols(const Unknowns &unknowns,
                  llvm::function_ref<int64_t(llvm::StringRef)> pick);
  /// Draws symbols that satisfy the guards; false when none were found.
  bool drawSymbols(const Unknowns &unknowns,
                   SizeKind kind = SizeKind::Ordinary);
  /// Draws real parameters within their assumptions; false when those leave
  /// no value.
  bool drawParameters(const Unknowns &unknowns);
  void setParameters(ParameterValues values) { reals = std::move(values); }

  /// Draws every argument's elements within its assumptions. False when sizes
  /// are negative or too large.
  bool drawTensors(Spread spread = Spread::Ordinary);
  /// Sizes of the arguments under the symbols.
  const std::vector<llvm::SmallVector<int64_t>> &getSizes() const {
    return sizes;
  }
  std::vector<std::vector<double>> &getNumbers() { return numbers; }
  const std::vector<std::vector<double>> &getNumbers() const { return numbers; }
  /// Takes the numbers of another instance of the same goal.
  void assign(const Instance &other);
  /// Whether parameters and elements satisfy the assumptions.
  bool isAdmitted() const;

  /// Evaluates both sides. In the modular domain float arguments are residues
  /// drawn afresh, not the numbers.
  Comparison compare(EvalDomain domain) const;
  /// As compare in the interval domain and, where that cannot decide an order,
  /// the rational one. What floats do not show either is unclear where
  /// integers become floats.
  Comparison compareReals() const;

  /// All inputs in a domain, and what a definition makes of them.
  llvm::Expected<std::vector<EvalTensor>> makeInputs(EvalDomain domain) const;
  llvm::Expected<std::vector<EvalTensor>> run(const Definition &definition,
                                              llvm::ArrayRef<EvalTensor> inputs,
                                              EvalDomain domain) const;

  const SymbolValues &getSymbols() const { return symbols; }
  const ParameterValues &getParameters() const { return reals; }
  const Goal &getGoal() const { return goal; }

private:
  /// What tensors beyond ordinary sizes may hold, so that they cost little.
  static constexpr int64_t mostElementsBeyond = int64_t(1) << 15;

  ParameterRange rangeOf(const std::string &parameter) const;
  bool isBeforeWellFormed() const;
  bool fixSizes(int64_t mostElements = int64_t(1) << 20);
  bool solveSymbols();
  bool repairSymbols(const Unknowns &unknowns,
                     llvm::function_ref<int64_t(llvm::StringRef)> pick);
  void drawNumbers(unsigned argument, Spread spread);
  llvm::Expected<EvalTensor> makeTensor(unsigned i, EvalDomain domain) const;

  const Goal &goal;
  const Case &one;
  const Assumptions &assumptions;
  uint64_t seed;
  std::mt19937_64 random;
  SymbolValues symbols;
  ParameterValues reals;
  std::vector<llvm::SmallVector<int64_t>> sizes; // of the arguments
  std::vector<std::vector<double>> numbers;      // of the arguments
};

/// Makes an instance on which the sides differ as small and plain as a bounded
/// greedy search gets it: symbols first, then parameters, then elements.
/// Returns what is different then.
Comparison minimize(Instance &instance, const Unknowns &unknowns,
                    Comparison difference);

/// Whether both sides can be evaluated without hashing in this domain.
bool isExactIn(const Goal &goal, EvalDomain domain);

/// Whether numbers can refute the goal: what an opaque operator computes
/// is not known here.
bool canEvaluate(const Goal &goal);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_INSTANCE_H
