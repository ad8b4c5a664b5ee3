//===- Vocabulary.h - Literals of conditions --------------------*- C++ -*-===//
//
// Literals over quantities. A quantity is a symbol, or an expression that
// occurs in both functions' types and attributes or is derived from one: output
// sizes, remainders, the operand of a maximum with 0 (a padding before
// clipping), the end of the last window.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PRECONDITION_VOCABULARY_H
#define MLC_REWRITES_PRECONDITION_VOCABULARY_H

#include "rewrites/Precondition/Samples.h"
#include "llvm/ADT/BitVector.h"

namespace mlc::precondition {

/// One predicate: on symbols, on a real parameter or on an argument's elements.
struct Literal {
  enum class Kind { Integer, Real, Elements };
  Kind kind = Kind::Integer;
  Condition condition;                                    // Integer
  RealAssumption real{"", ComparePredicate::EQ, 0.0};     // Real
  TensorAssumption tensor{0, ElementPredicate::Constant}; // Elements
  /// Its length for a reader.
  unsigned cost = 0;

  bool holds(const Sample &sample) const;
  void addTo(Assumptions &assumptions) const;
};

/// Literals with equal truth on all samples, the cheapest first.
struct LiteralClass {
  std::vector<Literal> literals;
  llvm::BitVector truth; // one bit for each sample
  unsigned cost() const { return literals.front().cost; }
};

/// The literals that conditions on a goal may use.
class Vocabulary {
public:
  Vocabulary(const verifier::Goal &goal, const verifier::Unknowns &unknowns,
             llvm::ArrayRef<unsigned> arguments);

  /// The literals, classified by their truth on the samples; literals that are
  /// always or never true are omitted. Cheapest first.
  std::vector<LiteralClass> classify(llvm::ArrayRef<Sample> samples) const;

private:
  void addQuantity(IntExpr expr);
  void addDerived(IntExpr expr);
  void addDerived(const Definition &definition);

  mlir::MLIRContext *context = nullptr;
  std::vector<IntExpr> quantities;
  unsigned numSymbols = 0;
  std::vector<std::string> parameters;
  std::vector<unsigned> arguments;
};

} // namespace mlc::precondition

#endif // MLC_REWRITES_PRECONDITION_VOCABULARY_H
