//===- Program.h - A function as one definition -----------------*- C++ -*-===//
//
// Both sides of a goal become a Definition over the function's arguments,
// with what they share and cannot look into (large constants, results of opaque
// operators) as further inputs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_PROGRAM_H
#define MLC_VERIFIER_READ_PROGRAM_H

#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verifier/read/ValueNumbers.h"
#include "verifier/read/WellFormed.h"

namespace mlc::verifier {

/// Inputs beyond the arguments; equal keys are equal tensors in both functions.
struct SharedInputs {
  struct Entry {
    std::string key;
    TensorShape shape;
    mlir::ElementsAttr constant; // null: uninterpreted
  };
  std::vector<Entry> entries;
  /// Of the values of all functions that were built over these.
  ValueNumbers numbers;
  unsigned numSides = 0;

  unsigned lookup(const std::string &key, const TensorShape &shape,
                  mlir::ElementsAttr constant);
};

/// Begins the name of a parameter that stands for elements that nobody has
/// written; its operands are their indices.
inline constexpr llvm::StringLiteral uninitializedPrefix = "%uninitialized_";

struct Program {
  Definition definition;
  unsigned numArguments = 0;
  /// What it needs beyond what its definition requires.
  std::vector<Need> needs;
  /// Stages whose reads no operator keeps in range.
  std::set<unsigned> openStages;
  /// Whether the definition's float operations are the function's, bit by bit.
  bool isLiteral = true;
  /// Why the function is beyond the verifier; empty otherwise.
  std::string failure;
};

class LinalgReader;

/// Builds a Program operator by operator.
class ProgramBuilder {
public:
  ProgramBuilder(mlir::func::FuncOp function, SharedInputs &shared);
  ~ProgramBuilder();

  mlir::MLIRContext *getContext() const;
  /// The function's definition, or why there is none.
  Program build();

  void set(mlir::Value value, TensorId tensor) { tensors[value] = tensor; }
  std::optional<TensorId> get(mlir::Value value);
  std::optional<TensorId> lookup(mlir::Value value) const;
  TensorShape shapeOf(TensorId tensor) const;
  /// Adds the stages of an operator on `operands`; returns its results.
  llvm::SmallVector<TensorId> append(const Definition &op,
                                     llvm::ArrayRef<TensorId> operands);
  TensorId appendConstant(mlir::ElementsAttr value);
  bool fail(const llvm::Twine &reason);
  bool hasFailed() const { return !failure.empty(); }
  /// What must hold for the function to be well formed.
  void require(Requirement requirement) {
    if (requirement.lhs != requirement.rhs)
      definition.requirements.push_back(std::move(requirement));
  }
  /// As `require`, for what is not one comparison of dims and attributes.
  void need(Need need) { needs.push_back(std::move(need)); }
  unsigned freshLoop() { return definition.numLoops++; }
  /// A stage whose loops were made by freshLoop; its reads are checked.
  TensorId addStage(Stage stage);
  /// A prefix for names that the other function must not share.
  std::string uniquePrefix() const { return std::to_string(side) + "_"; }

private:
  bool isWithinBounds();
  bool addArguments();
  bool addOperation(mlir::Operation *op);
  bool addRequirements();
  bool addOpaque(mlir::Operation *op);
  bool addReturn(mlir::func::ReturnOp result);
  bool checkNames(const Definition &definition);
  bool checkNames(llvm::ArrayRef<IntExpr> dims);
  bool checkMarkers();

  mlir::func::FuncOp function;
  SharedInputs &shared;
  unsigned side;
  Definition definition;
  std::vector<Need> needs;
  std::set<unsigned> openStages;
  llvm::DenseMap<mlir::Value, TensorId> tensors;
  std::unique_ptr<LinalgReader> linalg;
  std::string failure;
};

/// The dialects of functions that can be read.
mlir::DialectRegistry readDialects();

/// Calls back with every integer expression and the name of every parameter.
void walkNames(const Definition &definition,
               llvm::function_ref<void(IntExpr)> onInteger,
               llvm::function_ref<void(llvm::StringRef)> onParameter);

/// Why a name of the user's cannot be: it is one of the verifier's own.
std::string ownNameFailure(llvm::StringRef name);

/// Replaces symbols in all dims and index expressions.
void substitute(Definition &definition, const Substitution &substitution);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_PROGRAM_H
