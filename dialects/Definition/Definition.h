//===- Definition.h - Operators in index notation ---------------*- C++ -*-===//
//
// A Definition states an operator once, as one writes it on paper:
//
//   Y[n,o,h,w] = sum_{c,u,v} X<0>[n, c, h*s + u - p, w*s + v - p] * W[o,c,u,v]
//
// It is a short ordered list of named tensor stages, each one loop nest.
// Shapes, linalg, values, logical meaning and costs are all derived from it.
//
// How to read a stage: for every point of its box (dims), the element is the
// body evaluated with loop i bound to coordinate i. A stage may be given in
// pieces, disjoint boxes that cover it (concatenation).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_DEFINITION_H
#define MLC_DIALECTS_DEFINITION_DEFINITION_H

#include "dialects/Definition/ScalarFunctions.h"
#include "dialects/Symbolic/Attributes.h"
#include "dialects/Symbolic/Enums.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <memory>
#include <vector>

namespace mlc {

enum class ReduceKind { Sum, Prod, Max, Min, Any, All };

/// A tensor that a Read names: an operand of the operator or an earlier stage.
struct TensorId {
  bool isStage;
  unsigned index;
  bool operator==(const TensorId &other) const {
    return isStage == other.isStage && index == other.index;
  }
};

/// A loop variable: `id` is unique in its Definition; it runs over [0, extent).
struct Loop {
  unsigned id;
  IntExpr extent;
};

struct ExprNode;

/// An immutable scalar expression over loops: index-typed (mlir::IndexType) or
/// of a tensor's element type. Cheap to copy; null when default-constructed.
class Expr {
public:
  enum class Kind {
    Loop,     // index: a loop variable
    Int,      // index: an IntExpr of dims and attributes
    Constant, // element type: a number
    Param,    // float: a named real parameter (rules only)
    Read,     // an element of a tensor
    Unary,
    Binary,
    Compare, // i1
    Select,  // condition, then, else
    Cast,    // also index <-> integer and float
    Reduce,  // body over loops of its own
  };

  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node(std::move(node)) {}

  explicit operator bool() const { return node != nullptr; }
  const ExprNode &operator*() const { return *node; }
  const ExprNode *operator->() const { return node.get(); }
  const ExprNode *get() const { return node.get(); }
  bool operator==(const Expr &other) const { return node == other.node; }

private:
  std::shared_ptr<const ExprNode> node;
};

struct ExprNode {
  ExprNode(Expr::Kind kind, mlir::Type type) : kind(kind), type(type) {}

  Expr::Kind kind;
  mlir::Type type;
  unsigned loop = 0;         // Loop
  IntExpr integer;           // Int
  double number = 0.0;       // Constant of a float type
  int64_t integerNumber = 0; // Constant of an integer or bool type
  std::string parameter;     // Param
  TensorId tensor{false, 0}; // Read
  bool guarded = false;      // Read: out of range gives operands.back()
  UnaryFn unary = UnaryFn::Neg;
  BinaryFn binary = BinaryFn::Add;
  ComparePredicate predicate = ComparePredicate::EQ;
  ReduceKind reduce = ReduceKind::Sum;
  llvm::SmallVector<Loop, 2> loops; // Reduce
  /// Read: the indices, and the out-of-range value when guarded. Others: the
  /// arguments in order.
  llvm::SmallVector<Expr, 3> operands;

  /// Read: the indices alone.
  llvm::ArrayRef<Expr> indices() const {
    return llvm::ArrayRef(operands).drop_back(guarded ? 1 : 0);
  }
};

/// One box of a stage at `offset`: one loop per dim, and the element in terms
/// of the loops (which count from 0 at the offset).
struct Piece {
  llvm::SmallVector<IntExpr> offset;
  llvm::SmallVector<Loop> loops;
  Expr body;
};

struct Stage {
  std::string name;
  mlir::Type elementType;
  llvm::SmallVector<IntExpr> dims;
  /// Usually one piece at offset 0. Several are disjoint and cover the stage.
  llvm::SmallVector<Piece, 1> pieces;
  /// Set if the stage is its source read in row-major order with other dims
  /// (reshape), so that storage can be shared. The body says the same.
  std::optional<TensorId> reinterprets;
  /// Set if the definition combines several operators and the stage is a result
  /// of one of them, rounded as such (DefinitionForms.h).
  bool endsOperator = false;
};

struct TensorShape {
  llvm::SmallVector<IntExpr> dims;
  mlir::Type elementType;
};

/// The dims, which have names, and the element type of a tensor.
TensorShape shapeOf(mlir::Value value);

/// A well-formedness condition `lhs predicate rhs` on dims and attributes.
struct Requirement {
  IntExpr lhs;
  ComparePredicate predicate;
  IntExpr rhs;
  std::string message;
};

struct Definition {
  llvm::SmallVector<TensorShape> inputs;
  std::vector<Stage> stages;
  llvm::SmallVector<unsigned> results; // stages, in result order
  llvm::SmallVector<Requirement> requirements;
  unsigned numLoops = 0;

  const TensorShape shapeOf(TensorId tensor) const {
    if (!tensor.isStage)
      return inputs[tensor.index];
    return {stages[tensor.index].dims, stages[tensor.index].elementType};
  }
};

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Builds a Definition. Misuse (ranks, types) is a programming error and
/// asserts; `require` states conditions that a model can violate.
class DefinitionBuilder {
public:
  using Body = std::function<Expr(llvm::ArrayRef<Expr>)>;

  DefinitionBuilder(mlir::MLIRContext *context,
                    llvm::ArrayRef<TensorShape> inputs);

  mlir::MLIRContext *getContext() const { return context; }
  unsigned numInputs() const { return definition.inputs.size(); }
  const TensorShape &input(unsigned i) const { return definition.inputs[i]; }
  llvm::ArrayRef<IntExpr> dims(unsigned i) const { return input(i).dims; }
  unsigned rank(unsigned i) const { return input(i).dims.size(); }
  mlir::Type elementType(unsigned i) const { return input(i).elementType; }

  /// Element of operand `i` at `indices`, which must be in range.
  Expr read(unsigned i, llvm::ArrayRef<Expr> indices) const;
  /// Element of operand `i`, or `otherwise` if an index is out of range.
  Expr readOr(unsigned i, llvm::ArrayRef<Expr> indices, Expr otherwise) const;
  /// Element of an earlier stage.
  Expr readStage(unsigned stage, llvm::ArrayRef<Expr> indices) const;
  Expr readStageOr(unsigned stage, llvm::ArrayRef<Expr> indices,
                   Expr otherwise) const;

  Expr integer(IntExpr value) const;
  Expr index(int64_t value) const;
  Expr constant(mlir::Type type, double value) const;
  Expr constantInt(mlir::Type type, int64_t value) const;
  /// The number of a RealAttr, a Param if it is symbolic.
  Expr real(mlir::Type type, RealAttr value) const;

  /// `kind` over fresh loops with these extents of body(loops).
  Expr reduce(ReduceKind kind, llvm::ArrayRef<IntExpr> extents,
              const Body &body);

  /// Adds a stage; returns its number.
  unsigned stage(llvm::StringRef name, llvm::ArrayRef<IntExpr> dims,
                 mlir::Type elementType, const Body &body);

  struct PieceSpec {
    llvm::SmallVector<IntExpr> offset, extents;
    Body body;
  };
  unsigned piecewiseStage(llvm::StringRef name, llvm::ArrayRef<IntExpr> dims,
                          mlir::Type elementType,
                          llvm::ArrayRef<PieceSpec> pieces);

  /// The row-major reinterpretation of operand `i` with other dims; requires
  /// equal numbers of elements.
  unsigned reinterpret(llvm::StringRef name, unsigned i,
                       llvm::ArrayRef<IntExpr> dims);

  void result(unsigned stage) { definition.results.push_back(stage); }

  void require(IntExpr lhs, ComparePredicate predicate, IntExpr rhs,
               const llvm::Twine &message);

  Definition take() { return std::move(definition); }

private:
  Expr readTensor(TensorId tensor, llvm::ArrayRef<Expr> indices,
                  Expr otherwise) const;
  llvm::SmallVector<Loop> freshLoops(llvm::ArrayRef<IntExpr> extents);
  llvm::SmallVector<Expr> variables(llvm::ArrayRef<Loop> loops) const;

  mlir::MLIRContext *context;
  Definition definition;
};

Expr unary(UnaryFn fn, Expr a);
Expr binary(BinaryFn fn, Expr a, Expr b);
Expr compare(ComparePredicate predicate, Expr a, Expr b);
Expr select(Expr condition, Expr then, Expr otherwise);
Expr cast(Expr a, mlir::Type type);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
/// Index expressions with dims.
Expr operator+(Expr a, IntExpr b);
Expr operator-(Expr a, IntExpr b);
Expr operator*(Expr a, IntExpr b);
Expr floorDiv(Expr a, IntExpr b);
Expr mod(Expr a, IntExpr b);

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Calls `callback` for every node of `expr`, parents first.
void walk(const Expr &expr,
          llvm::function_ref<void(const ExprNode &)> callback);

/// The same expression with its nodes replaced: `replace` returns null for a
/// node whose operands are to be rewritten.
Expr rewrite(const Expr &expr,
             llvm::function_ref<Expr(const ExprNode &)> replace);

/// Prints a definition as one would write it, in the syntax of
/// DefinitionText.h; for tests, docs and errors.
void print(const Definition &definition, llvm::raw_ostream &os);

llvm::StringRef name(ComparePredicate predicate); // "<="
llvm::StringRef name(ReduceKind kind);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_DEFINITION_H
