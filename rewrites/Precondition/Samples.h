//===- Samples.h - Labelled instantiations of a goal ------------*- C++ -*-===//

#ifndef MLC_REWRITES_PRECONDITION_SAMPLES_H
#define MLC_REWRITES_PRECONDITION_SAMPLES_H

#include "verifier/Verifier.h"
#include "verifier/read/Instance.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::precondition {

/// Facts about all elements of an argument in one sample.
struct ElementFacts {
  bool positive = true, nonNegative = true, nonZero = true, allEqual = true;

  bool holds(ElementPredicate predicate) const;
};

struct Sample {
  verifier::SymbolValues symbols;
  verifier::ParameterValues reals;
  std::vector<ElementFacts> arguments;
  bool isValid = false;
  /// A symbol that occurs only as a dim is 0 or 1, so agreement may be a
  /// coincidence.
  bool isDegenerate = false;
};

/// Draws samples that satisfy the base assumptions and labels them.
class Sampler {
public:
  Sampler(const verifier::Goal &goal, const Assumptions &base,
          llvm::ArrayRef<unsigned> variedArguments, uint64_t seed);

  /// A fresh sample; nullopt if several tries found none.
  std::optional<Sample> draw();
  /// A sample close to `like`: one or two symbols differ.
  std::optional<Sample> drawNear(const Sample &like);
  /// The sample of a refutation, labelled invalid.
  Sample fromCounterexample(const Counterexample &example,
                            const Assumptions &assumed) const;

  const verifier::Unknowns &getUnknowns() const { return unknowns; }

private:
  using Symbols = std::map<std::string, int64_t>;

  Symbols drawThemed();
  Symbols mutate(const Symbols &like);
  std::optional<Sample> label(const Symbols &symbols);
  bool isReasonable(const verifier::Instance &instance) const;
  void drawSpecialParameters(verifier::Instance &instance);
  void drawElements(verifier::Instance &instance);
  std::optional<bool> compare(verifier::Instance &instance);
  bool isDegenerate(const verifier::SymbolValues &symbols) const;
  uint64_t pick(uint64_t n) { return random() % n; }

  const verifier::Goal &goal;
  const Assumptions &base;
  std::vector<unsigned> variedArguments;
  verifier::Unknowns unknowns;
  /// Symbols that stand alone as a dim of an argument.
  std::set<std::string> dims;
  bool isModular;
  std::mt19937_64 random;
};

} // namespace mlc::precondition

#endif // MLC_REWRITES_PRECONDITION_SAMPLES_H
