//===- RuleProgram.h - A rule compiled for an e-graph -----------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_RULEPROGRAM_H
#define MLC_REWRITES_EGRAPH_RULEPROGRAM_H

#include "mlir/IR/Operation.h"
#include "rewrites/Rules/Rule.h"

namespace mlc::egraph {

/// An integer of a pattern. A bare symbol is bound at its first use; anything
/// else is an equation to solve.
struct IntPattern {
  IntExpr expr;
  int symbol = -1; // slot of a bare symbol
};

struct AttributePattern {
  enum class Kind { Exact, Integer, Dims, Real };
  mlir::StringAttr name;
  Kind kind = Kind::Exact;
  mlir::Attribute value;                   // Exact
  llvm::SmallVector<IntPattern, 4> values; // Integer (one), Dims
  unsigned real = 0;                       // Real: slot
};

/// The pattern for an argument of the rule.
struct ArgumentPattern {
  mlir::Type elementType;
  llvm::SmallVector<IntPattern, 4> dims;
};

/// Values are numbered: the function's arguments, then results of its
/// operators in order.
struct PatternOp {
  mlir::OperationName name;
  llvm::SmallVector<AttributePattern, 4> attributes;
  llvm::SmallVector<unsigned, 3> operands;
  unsigned firstResult = 0, numResults = 1;
};

/// The next step of the matcher, given the partial match.
struct PatternStep {
  enum class Kind {
    Root, // op: any node of its name
    Down, // op gives `value`, whose class is known
    Up,   // op reads `value`, whose class is known, as operand `operand`
  };
  Kind kind;
  unsigned op;
  unsigned value = 0, operand = 0;
};

/// An operator to build.
struct BuildOp {
  mlir::OperationName name;
  mlir::DictionaryAttr attributes;
  bool hasSymbols = false;
  llvm::SmallVector<unsigned, 3> operands; // values of the built side
  unsigned numResults = 1;
};

/// Chooses a symbol that only the built side has, such that operand `operand`
/// of built operator `op` gets the size that some other reader of the argument
/// `shared` has there.
struct ChoiceEquation {
  unsigned operand, dim;
  IntExpr size;
};
struct Choice {
  mlir::OperationName name; // of the readers
  unsigned shared;          // argument
  unsigned sharedOperand;   // index of `shared` among a reader's operands
  llvm::SmallVector<ChoiceEquation, 4> equations;
};

/// One direction of a rule.
class RuleProgram {
public:
  enum class Direction { Forward, Backward };

  /// Null if the rule cannot be used in this direction: it matches no operator,
  /// or the built side has symbols or arguments that nothing determines.
  static std::unique_ptr<RuleProgram>
  compile(Rule &rule, Direction direction = Direction::Forward);

  Rule *rule = nullptr;
  /// Whether both sides become one class; otherwise the built side refines the
  /// pattern. Unproved rules are used only in derivations, which treat rules as
  /// equations.
  bool mergesSides() const { return !rule->proved || rule->proved->isTwoWay; }
  llvm::SmallVector<ArgumentPattern, 4> arguments;
  llvm::SmallVector<PatternOp, 4> pattern;
  llvm::SmallVector<PatternStep, 4> steps;
  llvm::SmallVector<BuildOp, 8> built;
  /// Values that the sides return.
  llvm::SmallVector<unsigned, 2> patternResults, builtResults;
  std::vector<std::string> integers, reals; // names by slot
  std::optional<Choice> choice;
  unsigned numValues = 0;
  /// How many classes the pattern goes down from its first result; if parts are
  /// connected only by inputs, this is for the first part.
  unsigned depth = 0;

  /// The pattern operator and the result number that define a value, which is
  /// no argument.
  std::pair<unsigned, unsigned> giverOf(unsigned value) const;
  /// The same for the built side.
  std::pair<unsigned, unsigned> builderOf(unsigned value) const;
  /// Whether one match of operators may have several values of symbols.
  bool hasChoice() const { return choice || !rule->splits.empty(); }
  /// Several operators that share only inputs.
  bool isMultiOutput() const { return patternResults.size() > 1; }
  bool hasConditions() const {
    return !rule->assumptions.integers.empty() ||
           !rule->assumptions.reals.empty();
  }

private:
  bool readPattern(mlir::func::FuncOp function);
  void readBuilt(mlir::func::FuncOp function);
  bool orderSteps();
  unsigned depthOf(unsigned value) const;
  bool findChoice(mlir::func::FuncOp function);
  IntPattern integerPattern(IntExpr expr);
  unsigned slot(std::vector<std::string> &names, llvm::StringRef name);
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_RULEPROGRAM_H
