//===- Variants.h - Operators and leaves of graphs --------------*- C++ -*-===//
//
// Data: operators with their attribute variants, and leaf sets, i.e. leaves
// with symbolic types and sizes at which values are compared. The semantics and
// types of operators come from their Definitions and are not repeated here.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_VARIANTS_H
#define MLC_REWRITES_GENERATE_VARIANTS_H

#include "dialects/Definition/ScalarFunctions.h"
#include "dialects/Symbolic/Attributes.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace mlc::generate {

/// One operator of the mlc dialect inside a variant.
struct Step {
  std::string op; // without "mlc."
  /// "x", "y": the variant's operands. "%0": the result of step 0. "@name
  /// [dims]": a constant of these dims (parameters of a normalization, a bias);
  /// the same name and dims are the same constant.
  std::vector<std::string> operands;
  /// As in a file. Dims of the operands are the symbols X0, X1, ... and Y0,
  /// ...; X stands for all of X's dims.
  std::string attributes;
};

/// An operator with attributes over symbols: one node of a graph.
struct Variant {
  std::string op;   // the name for --ops; axes and attributes are merged
  std::string name; // unique, for names of rules
  unsigned arity;
  std::string leafSets; // letters of the leaf sets in which it is applied
  std::vector<Step> steps;
  bool isCommutative = false;
  /// It neither moves nor combines elements of one operand.
  bool isPointwise = false;
  /// The same with a second spatial dim, if `steps` have one. Empty if the
  /// steps work for any rank or have no spatial dim.
  std::vector<Step> lifted = {};
};

/// Values of symbols of dims and attributes, and of real parameters.
struct Assignment {
  llvm::StringMap<int64_t> integers;
  llvm::StringMap<double> reals;

  std::optional<int64_t> evaluate(IntExpr expr) const;
};

struct Leaf {
  std::string name;
  std::string dims; // "n, g * cg, h"
};

/// Leaves that are combined, and sizes.
struct LeafSet {
  char letter;
  std::string name;
  /// Leaves of equal dims are interchangeable.
  std::vector<Leaf> leaves;
  /// Instantiations. In the last one all leaves are positive, so that roots
  /// are defined.
  std::vector<Assignment> sizes;
};

/// All variants, in a fixed order: graphs refer to variants by index.
const std::vector<Variant> &allVariants();
const std::vector<LeafSet> &leafSets();

/// Names that --ops takes, sorted.
std::vector<std::string> operatorNames();

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_VARIANTS_H
