//===- DefinitionParser.h - The parser of definitions -----------*- C++ -*-===//
//
// Private to DefinitionParse.cpp (header, stages, loops) and
// DefinitionExpression.cpp. One pass: the text goes straight into the builder.
// After the first error every function returns some value of the right type.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_DEFINITIONPARSER_H
#define MLC_DIALECTS_DEFINITION_DEFINITIONPARSER_H

#include "dialects/Definition/DefinitionText.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

class DefinitionParser {
public:
  DefinitionParser(llvm::StringRef text, const DefinitionArguments &arguments,
                   DefinitionBuilder &builder)
      : text(text), rest(text), arguments(arguments), builder(builder),
        indexType(mlir::IndexType::get(builder.getContext())) {}

  llvm::Error run();

private:
  /// An expression, or a number whose type is still open.
  struct Value {
    Expr expr;
    bool isLiteral = false;
    bool isInteger = false; // a literal without fraction
    double number = 0;
    int64_t integer = 0;
  };

  //===--- Text ----------------------------------------------------------===//

  bool failed() const { return !message.empty(); }
  void fail(const llvm::Twine &what);
  llvm::StringRef peek() { return rest = rest.ltrim(); }
  bool consume(llvm::StringRef token) {
    return !failed() && peek().starts_with(token) && rest.consume_front(token);
  }
  void expect(llvm::StringRef token) {
    if (!failed() && !consume(token))
      fail("expected '" + token + "'");
  }
  llvm::StringRef identifier();

  //===--- Names ---------------------------------------------------------===//

  void declare(llvm::StringRef name);
  static bool isWord(llvm::StringRef name);

  llvm::SmallVector<llvm::StringRef> names(llvm::StringRef what,
                                           size_t expected);

  void header();
  size_t numInputs() const { return builder.numInputs(); }

  //===--- Stages and loops ----------------------------------------------===//

  /// Parses an integer without loops, as in extents.
  IntExpr integerExpr();
  IntExpr extent();

  struct LoopHead {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::SmallVector<IntExpr> extents;
  };
  LoopHead loopHead(llvm::StringRef close, bool &hasBounds);

  /// Runs `body` with the loops in scope.
  Expr inLoops(const LoopHead &head, llvm::ArrayRef<Expr> variables,
               llvm::function_ref<Expr()> body);

  void stage();

  //===--- Types ---------------------------------------------------------===//

  /// Some expression of the type, to continue with after an error.
  Expr dummy(mlir::Type type) { return builder.constantInt(type, 0); }

  Expr coerce(const Value &value, mlir::Type type);
  /// The type that two operands share: a literal takes the other's type; two
  /// literals, one with a fraction, take the result's.
  mlir::Type commonType(const Value &a, const Value &b, mlir::Type ifLiterals);
  mlir::Type typeOf(const Value &a) {
    return a.isLiteral ? arguments.elementType : a.expr->type;
  }
  static Value value(Expr expr);

  //===--- Expressions ---------------------------------------------------===//

  Value expr();

  Value sumExpr();

  Value product();

  /// A node on top of two. Checks the height, because everything that walks an
  /// expression recurses.
  Value arithmetic(BinaryFn fn, const Value &a, const Value &b);
  static size_t numTerms(const Expr &e);
  /// Fails on a symbolic integer that is too large to walk.
  Value limited(Expr expr);

  Value factor();

  Value primary();

  Value negative(Value a);

  Value literal();

  Value realParameter(RealAttr real);

  Value element(llvm::StringRef name, TensorId tensor);

  Value reduction(llvm::StringRef name);

  //===--- Calls ---------------------------------------------------------===//

  mlir::Type typeNamed(llvm::StringRef name);

  Value call(llvm::StringRef name);

  Value selection(llvm::ArrayRef<Value> operands);

  Value unaryCall(UnaryFn fn, const Value &a);

  Value binaryCall(BinaryFn fn, const Value &a, const Value &b);

  /// Everything that walks an expression recurses, and a chain is as deep as it
  /// is long.
  static constexpr unsigned maxNodes = 2000;

  llvm::StringRef text, rest;
  const DefinitionArguments &arguments;
  DefinitionBuilder &builder;
  mlir::Type indexType;
  llvm::StringMap<Expr> loops;
  llvm::StringMap<IntExpr> integers;
  llvm::StringMap<RealAttr> reals;
  llvm::StringMap<TensorId> tensors;
  std::vector<llvm::SmallVector<IntExpr>> stageDims;
  llvm::DenseMap<unsigned, IntExpr> extents;
  std::string message;
  size_t errorAt = 0;
  unsigned depth = 0, numNodes = 0;
};

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_DEFINITIONPARSER_H
