//===- TermBank.h - Terms, and which of them are equal ----------*- C++ -*-===//
//
// The terms of a trail (rewrites/ProofLog/Trail.h) as operators at the end of
// one block, in classes of equal terms. Equalities are those stated and those
// that follow by congruence: the same operator with the same attributes on
// equal operands gives equal results. The bank also records refinements: a term
// refines another if it equals it wherever that is defined; it may be defined
// elsewhere too.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PROOFLOG_TERMBANK_H
#define MLC_REWRITES_PROOFLOG_TERMBANK_H

#include "dialects/Evaluator/EvaluatorTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/ProofLog/Trail.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <unordered_map>
#include <vector>

namespace mlc {

class TermBank {
public:
  /// The arguments and operators of `function`, which has one block.
  explicit TermBank(mlir::func::FuncOp function);

  size_t size() const { return terms.size(); }
  mlir::Value getValue(TermId term) const { return terms[term].value; }
  /// The terms that an operator of the bank was made with.
  llvm::ArrayRef<TermId> getOperands(mlir::Operation *op) const;
  /// The terms that the function returned.
  llvm::ArrayRef<TermId> getOutputs() const { return outputs; }

  /// Builds an operator before the function's return, with the locations of the
  /// operators that made the terms `origins`; its results become the next
  /// terms. Fails, with a reason, if it is not well formed.
  llvm::Expected<mlir::Operation *>
  add(mlir::Operation *pattern, llvm::ArrayRef<TermId> operands,
      llvm::ArrayRef<mlir::NamedAttribute> attributes,
      llvm::ArrayRef<TermId> origins);

  bool areEqual(TermId a, TermId b) const { return find(a) == find(b); }
  /// States that two terms are equal. Fails if their types differ.
  llvm::Error unite(TermId a, TermId b);
  /// Whether `to` is known to equal `from` wherever `from` is defined.
  bool refines(TermId to, TermId from) const;
  /// States that `to` refines `from`. Fails if their types differ.
  llvm::Error refine(TermId from, TermId to);

  /// Whether a term is, or equals one that is, computed only from literals.
  bool isConstant(TermId term) const {
    return witnesses[find(term)].has_value();
  }
  /// The value of such a term.
  llvm::Expected<EvalTensor> evaluate(TermId term);
  /// Whether an equal term is a literal with an infinity or a NaN.
  bool hasNoNumber(TermId term) const { return noNumbers[find(term)]; }

private:
  TermId witnessOf(TermId term) const { return witnesses[find(term)]->term; }

  struct Term {
    mlir::Value value;
    mutable TermId parent; // of the union-find; itself at a root
  };
  struct Node {
    mlir::Operation *op;
    std::vector<TermId> operands;
    TermId firstResult;
  };
  /// What congruence compares: operator, attributes and classes of operands.
  using Signature = std::vector<uintptr_t>;
  struct SignatureHash {
    size_t operator()(const Signature &signature) const {
      return llvm::hash_combine_range(signature.begin(), signature.end());
    }
  };

  TermId find(TermId term) const;
  llvm::Error checkTypes(TermId a, TermId b) const;
  void addTerm(mlir::Value value);
  void addNode(mlir::Operation *op, std::vector<TermId> operands);
  Signature signatureOf(const Node &node) const;
  /// Adds the node under its signature, or queues equalities of its results.
  void enter(unsigned node);
  /// Notes that the node's results are constants once its operands are.
  void noteConstant(unsigned node);
  void drain();

  mlir::func::FuncOp function;
  std::vector<Term> terms;
  std::vector<Node> nodes;
  std::vector<TermId> outputs;
  llvm::DenseMap<mlir::Operation *, unsigned> nodeOf;
  // By class, valid at its root: the nodes that read a term of it, ...
  std::vector<std::vector<unsigned>> readers;
  // ... the terms stated to refine it, ...
  std::vector<std::vector<TermId>> refinements;
  // ... and a term to compute it from, which is older than all terms computed
  // from it, so that evaluation ends.
  struct Witness {
    unsigned age;
    TermId term;
  };
  std::vector<std::optional<Witness>> witnesses;
  unsigned numWitnesses = 0;
  std::vector<bool> noNumbers; // by class
  std::unordered_map<Signature, unsigned, SignatureHash> table;
  // Pending work.
  std::vector<std::pair<TermId, TermId>> equalities;
  std::vector<unsigned> maybeConstant;
  llvm::DenseMap<TermId, EvalTensor> values;
};

} // namespace mlc

#endif // MLC_REWRITES_PROOFLOG_TERMBANK_H
