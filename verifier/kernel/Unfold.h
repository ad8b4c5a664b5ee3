//===- Unfold.h - From definitions to sums ----------------------*- C++ -*-===//
//
// Writes an element of a definition's result as a sum over inputs: stages are
// put in place of their reads, and nothing is simplified. Functions are total
// here; where they must be defined, Defined.h says.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_UNFOLD_H
#define MLC_VERIFIER_KERNEL_UNFOLD_H

#include "dialects/Definition/Definition.h"
#include "verifier/kernel/Sum.h"

namespace mlc::kernel {

/// The width of an integer type, whose elements are residues modulo 2^width;
/// 0 for floats (the reals), truth values (0 and 1 among them) and indices.
unsigned widthOf(mlir::Type type);

/// What is assumed of the elements of an input, or of a real parameter.
struct Assumed {
  bool isPositive = false, isNotNegative = false, isNotZero = false;
  bool isUniform = false; // of an input: all its elements are equal
  bool isPartial = false; // of an input: an element need not be defined
  unsigned width = 0;     // of an input's elements (widthOf)
};

/// What is assumed of values.
struct Assumptions {
  /// Floats are taken for their bits: functions of them, sums too, are any that
  /// give equal bits for equal bits, and a sum's order is part of it.
  bool isLiteral = false;
  std::vector<Assumed> inputs;
  std::map<std::string, Assumed> parameters;
};

/// Infinity, where a definition has it as a constant: a number larger than all
/// that are computed, of which only DropLowest (Proof.h) knows more.
inline constexpr llvm::StringLiteral infinityName = "%inf";

/// `value` must be so at every point of the variables where the guards hold and
/// all of `path` are 1.
struct Need {
  enum class Kind { NotZero, NotNegative, Positive, Defined };
  Kind kind;
  std::vector<Variable> variables;
  std::vector<Formula> guards;
  std::vector<Sum> path;
  Sum value;
  unsigned width = 0; // of the value
  /// Whether one element may decide a result whatever the others are: then it
  /// need not hold of a function that is defined.
  bool isOptional = false;
};

struct Unfolded {
  Sum value;
  bool dropsTerms = false; // what is multiplied by 0
  std::string failure;     // why there is none; empty otherwise
};

/// The element of stage `stage` at `indices`, which are in range. Integers of
/// the definition become those of the kernel by the names of their symbols.
Unfolded unfold(const Definition &definition, const Assumptions &assumptions,
                unsigned stage, llvm::ArrayRef<Integer> indices, Names &names);

/// A size expression of a definition.
Integer integerOf(IntExpr expr);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_UNFOLD_H
