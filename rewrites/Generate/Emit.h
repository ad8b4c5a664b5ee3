//===- Emit.h - A pattern as a rule.def -------------------------*- C++ -*-===//
//
// The types of a pattern's leaves are those of the leaf set in which it was
// found, or the most general ones: every dim a symbol of its own, then made
// equal as the operators and the results require.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_EMIT_H
#define MLC_REWRITES_GENERATE_EMIT_H

#include "dialects/Rule/Rule.h"
#include "rewrites/Generate/Pattern.h"
#include "verifier/Verifier.h"

namespace mlc::generate {

enum class Typing { General, LeafSet };

/// The ranks of a rule's tensors: as they were found; with a second spatial
/// dim; or, for element-wise operators alone, any other rank.
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

  /// A module with one rule.def of this name. Fails, silently, where the terms
  /// are not well formed under such types. `minimum`: symbols of leaves' dims
  /// are required to be at least this.
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
  /// Makes dims equal that must be; true when something changed.
  bool unify(Sides sides, llvm::SmallVectorImpl<Dims> &dims);

  mlir::MLIRContext *context;
  VariantBuilder builder;
  Shape shape;
};

/// `relu_of_concat_is_concat_of_relu`.
std::string ruleName(const Pattern &pattern);
/// `relu_of_concat`: for where no other rule starts so.
std::string shortRuleName(const Pattern &pattern);

/// States a condition in a rule; false when it is no conjunction of
/// disjunctions of comparisons.
bool addCondition(rule::DefOp def, const Assumptions &condition);

/// The rule as text of a file; arguments keep their names.
std::string ruleText(mlir::ModuleOp module);
/// Reads what ruleText wrote.
mlir::OwningOpRef<mlir::ModuleOp> parseRule(llvm::StringRef text,
                                            mlir::MLIRContext &context);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_EMIT_H
