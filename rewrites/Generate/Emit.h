//===- Emit.h - A pattern as a rule.def -------------------------*- C++ -*-===//
//
// The types of a pattern's leaves are those of the leaf set in which it was
// found, or the most general ones: every dim starts as its own symbol; dims are
// then unified as operators and results require.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_EMIT_H
#define MLC_REWRITES_GENERATE_EMIT_H

#include "dialects/Rule/Rule.h"
#include "rewrites/Generate/Pattern.h"
#include "verifier/Verifier.h"

namespace mlc::generate {

enum class Typing { General, LeafSet };

/// The ranks of a rule's tensors: as found; with a second spatial dim; or, only
/// for element-wise operators, any other rank.
struct Shape {
  enum class Kind { AsFound, TwoDims, Rank };
  Kind kind = Kind::AsFound;
  unsigned rank = 0;
};

/// The other ranks that a pattern can be stated for.
std::vector<Shape> otherShapes(const Pattern &pattern);

class Emitter {
public:
  /// Loads the dialects into `context`.
  explicit Emitter(mlir::MLIRContext *context);

  /// A module with one rule.def of this name. Fails silently if the terms are
  /// not well formed under these types. Symbols of leaves' dims are required to
  /// be at least `minimum`.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  emit(const Pattern &pattern, Typing typing, llvm::StringRef name,
       unsigned minimum, Shape shape = {});

private:
  using Dims = llvm::SmallVector<IntExpr, 4>;
  struct Sides {
    mlir::func::FuncOp before, after;
  };

  Dims leafDims(const Pattern &pattern, const TermNode &node, Typing typing,
                unsigned leaf);
  mlir::LogicalResult buildSides(const Pattern &pattern,
                                 llvm::ArrayRef<Dims> dims, Sides sides);
  mlir::FailureOr<mlir::Value>
  buildTerm(const Pattern &pattern, uint8_t node, mlir::OpBuilder &builder,
            llvm::DenseMap<uint8_t, mlir::Value> &values,
            VariantBuilder::Constants constants);
  /// Unifies dims that must be equal; true if anything changed.
  bool unify(Sides sides, llvm::SmallVectorImpl<Dims> &dims);

  mlir::MLIRContext *context;
  VariantBuilder builder;
  Shape shape;
};

/// `relu_of_concat_is_concat_of_relu`.
std::string ruleName(const Pattern &pattern);
/// `relu_of_concat`: used if no other rule starts like this.
std::string shortRuleName(const Pattern &pattern);

/// States a condition in a rule; false if it is no conjunction of disjunctions
/// of comparisons.
bool addCondition(rule::DefOp def, const Assumptions &condition);

/// The rule as text of a file; arguments keep their names.
std::string ruleText(mlir::ModuleOp module);
/// Parses the output of ruleText.
mlir::OwningOpRef<mlir::ModuleOp> parseRule(llvm::StringRef text,
                                            mlir::MLIRContext &context);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_EMIT_H
