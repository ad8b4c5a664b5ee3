//===- Operators.h - Operators without their operands -----------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_OPERATORS_H
#define MLC_REWRITES_EGRAPH_OPERATORS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "rewrites/EGraph/Congruence.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <unordered_map>
#include <vector>

namespace mlc::egraph {

/// The operator that a node applies to its children.
struct Operator {
  enum class Kind {
    Argument,   // of the function; `index` says which
    Compute,    // an operator of a dialect; with several results, a tuple
    Projection, // result `index` of a tuple
  };
  Kind kind;
  std::optional<mlir::OperationName> name; // Compute
  mlir::DictionaryAttr attributes;         // Compute
  unsigned numResults = 1;
  unsigned index = 0; // Argument, Projection

  bool isTuple() const { return kind == Kind::Compute && numResults > 1; }
};

/// Interned operators, and their result types for given operand types.
/// Attributes are uniqued by MLIR, so operators are compared by pointers.
class OperatorTable {
public:
  explicit OperatorTable(mlir::MLIRContext *context) : context(context) {}
  ~OperatorTable();

  OperatorId argument(unsigned index);
  OperatorId projection(unsigned index);
  OperatorId compute(mlir::OperationName name, mlir::DictionaryAttr attributes,
                     unsigned numResults);
  const Operator &operator[](OperatorId id) const { return operators[id]; }

  /// An operation that represents a Compute operator on operands of these
  /// types; null if that is not well formed. It is in no function: only its
  /// name, attributes and types are meaningful.
  mlir::Operation *prototype(OperatorId id,
                             llvm::ArrayRef<mlir::Type> operands);
  /// Makes `op`, which must outlive the table, the prototype of equal
  /// operators.
  OperatorId add(mlir::Operation *op);

  mlir::MLIRContext *getContext() const { return context; }

private:
  using Key = llvm::SmallVector<const void *, 4>;
  struct KeyHash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key);
    }
  };

  OperatorId intern(const Operator &op);
  static Key prototypeKey(OperatorId id, llvm::ArrayRef<mlir::Type> operands);
  mlir::Value operandOf(mlir::Type type);

  mlir::MLIRContext *context;
  std::vector<Operator> operators;
  std::unordered_map<Key, OperatorId, KeyHash> ids;
  std::unordered_map<Key, mlir::Operation *, KeyHash> prototypes;
  /// Holds prototypes; its arguments are their operands.
  mlir::Block scratch;
  llvm::DenseMap<mlir::Type, mlir::Value> operandValues;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_OPERATORS_H
